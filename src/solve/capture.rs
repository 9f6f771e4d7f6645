//! Captures for a whole word of positions at once.
//!
//! All pieces but the fast one are given; the fast piece, which is Black's, stands on any square
//! of a mask. A capture is followed with the set of fast-piece squares for which it is possible:
//! where the path or a landing square would meet the fast piece, its square leaves the set (or,
//! for White, the capture branches into one that takes the fast piece there). So a capture of
//! fixed pieces costs one walk and one look-up for the whole word. When the fast piece itself
//! captures, all squares from which it takes a given piece in a given direction share the rest of
//! the capture, and the mask is just a label for them.

use super::cpu::{Cpu, Task};
use super::lookup::{Found, Lookup, Pieces};
use super::planes::{PlaneWord, Planes};
use crate::board::{ByColor, Color, Dir, Dirs, Geometry, Word, each_direction};
use crate::rules::{Choice, Landing, Promotion, Removal, Rules};
use crate::table::Wdl;

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// What some moves lead to, for each square of the fast piece.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally<W> {
    /// A move exists.
    pub any: W,
    /// A move wins.
    pub win: W,
    /// A move does not lose.
    pub safe: W,
}

impl<W: Word> Tally<W> {
    /// Adds, on the squares of `mask`, a move to positions with these results for the opponent.
    #[inline(always)]
    pub fn add(&mut self, mask: W, successors: Planes<W>) {
        self.any |= mask;
        self.win |= mask & successors.loss;
        self.safe |= mask & !successors.win;
    }
}

/// The part the fast piece plays in a capture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It stands somewhere on the mask, untouched.
    Bystander,
    /// It has been taken on the one square of the mask.
    Taken,
    /// It is capturing; the mask holds the squares it came from.
    Capturer,
}

/// A capture under way.
#[derive(Clone, Copy)]
struct Jump<W> {
    /// The square left; empty if the fast piece moves.
    from: W,
    at: W,
    /// Moves as a king from here on.
    king: bool,
    /// It was a king when it started.
    was_king: bool,
    /// Fixed pieces taken so far.
    captured: W,
    mask: W,
    role: Role,
    /// Kings among the pieces taken, first taken highest: bits for the Italian rule.
    order: u32,
    /// Directions in which it may go on.
    dirs: Dirs,
}

/// See [`Captures::land`].
struct Land<'t, 'a, 's, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    captures: &'t mut Captures<'a, 's, R, C>,
    jump: Jump<W<R>>,
    victim: W<R>,
    victim_king: bool,
    dir: Dir,
}

impl<R, C> Task for Land<'_, '_, '_, R, C>
where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    type Output = W<R>;

    #[inline(always)]
    fn run(self) -> W<R> {
        self.captures
            .land_inlined(self.jump, self.victim, self.victim_king, self.dir)
    }
}

/// See [`Captures::finish`].
struct Finish<'t, 'a, 's, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    captures: &'t mut Captures<'a, 's, R, C>,
    jump: Jump<W<R>>,
    to: W<R>,
    king: bool,
}

impl<R, C> Task for Finish<'_, '_, '_, R, C>
where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.captures.finish_inlined(&self.jump, self.to, self.king);
    }
}

/// See [`Captures::go_on`].
struct GoOn<'t, 'a, 's, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    captures: &'t mut Captures<'a, 's, R, C>,
    jump: &'t Jump<W<R>>,
}

impl<R, C> Task for GoOn<'_, '_, '_, R, C>
where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    type Output = W<R>;

    #[inline(always)]
    fn run(self) -> W<R> {
        self.captures.go_on_inlined(self.jump)
    }
}

/// Squares from which a piece could take something.
#[derive(Clone, Copy, Default)]
struct Threats<W> {
    /// Empty squares from which a king could.
    kings: W,
    /// The same with the pieces that stand at the end of those lines.
    kings_beyond: W,
    men: W,
}

/// What follows from the block and the row for captures of and by the fast king.
pub struct Strikes<'a, 's, R: Rules> {
    /// Where the results lie after the fast king has taken a white piece.
    pub taken: &'a [Taken<'s, R>],
    /// What [`Columns::Listed`] points into.
    pub columns_list: &'a [u32],
    pub men: &'a [ManStrike<'s, R>],
    pub rays: &'a [Ray<W<R>>],
    pub squares: &'a [RaySquare<W<R>>],
    /// What the fast king may take.
    pub victims: &'a [Victim<W<R>>],
    /// Results with Black to move and the fast king gone, by row and column; empty if Black has
    /// no other piece.
    pub results: &'a [Wdl],
    pub columns: usize,
}

/// A line from a white king over squares without men and white kings.
pub struct Ray<W> {
    pub king: W,
    pub dir: u8,
    /// Its squares, nearest first: a range of [`Strikes::squares`].
    pub first: u32,
    pub end: u32,
}

pub struct RaySquare<W> {
    pub square: W,
    /// The placement of White's kings after landing here.
    pub row: u32,
}

/// A white piece of a row.
pub struct Victim<W> {
    pub piece: W,
    pub king: bool,
    /// Where the results lie after it is taken: a place in [`Strikes::taken`].
    pub taken: u32,
    /// The first word of the row there, if words correspond.
    pub row: usize,
}

/// Where the results lie after the fast king has taken a white piece.
pub struct Taken<'s, R: Rules> {
    /// The man taken.
    pub men: W<R>,
    /// A king is taken, whichever it is.
    pub king: bool,
    pub found: Found<'s, R::Geometry>,
    /// Where the columns there for those here are listed.
    pub columns: Columns,
}

/// The columns of another block for those of this one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// The words do not correspond.
    None,
    /// The same.
    Same,
    /// Listed from this place on.
    Listed(u32),
}

impl Columns {
    #[inline(always)]
    pub fn of(self, column: usize, list: &[u32]) -> Option<usize> {
        match self {
            Columns::None => None,
            Columns::Same => Some(column),
            Columns::Listed(first) => Some(list[first as usize + column] as usize),
        }
    }
}

/// A white man that can take the fast piece, all other pieces apart.
pub struct ManStrike<'s, R: Rules> {
    pub man: W<R>,
    pub fast: W<R>,
    pub to: W<R>,
    pub dir: Dir,
    /// Where the results lie after that, if it is all.
    pub found: Found<'s, R::Geometry>,
}

impl<R: Rules> Strikes<'_, '_, R> {
    #[inline(always)]
    fn after(&self, row: u32, column: usize) -> Wdl {
        match self.results.get(row as usize * self.columns + column) {
            Some(&result) => result,
            None => super::lookup::no_move::<R>(),
        }
    }
}

/// Resolves the captures of one side in one word.
pub struct Captures<'a, 's, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    pub cpu: C,
    /// The fast piece is a king, not a man.
    pub fast_king: bool,
    pub lookup: &'a mut Lookup<'s, R, C>,
    /// The tally of all captures, for rule sets that do not rank them.
    pub total: Tally<W<R>>,
    /// Tallies by priority, for rule sets that do.
    pub tallies: &'a mut Vec<(u64, Tally<W<R>>)>,
    pub pieces: Pieces<W<R>>,
    pub side: Color,
    /// The number of the placement of Black's other kings.
    pub column: usize,
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Captures<'_, '_, R, C> {
    /// What the captures of `side` lead to, with the fast piece on the squares of `mask`, which
    /// are empty.
    #[inline(always)]
    pub fn resolve(&mut self, mask: W<R>, strikes: &Strikes<'_, '_, R>) -> Tally<W<R>> {
        if R::SET.choice != Choice::Free {
            self.tallies.clear();
        }
        let empty = R::Geometry::BOARD & !self.pieces.all();
        let threats = self.threats(self.pieces.of(!self.side), empty);
        let men = self.pieces.men[self.side];
        let kings = self.pieces.kings[self.side];
        for (own, king) in [
            (men & threats.men, false),
            (kings & threats.kings_beyond, true),
        ] {
            for from in own.bits() {
                self.go_on(&self.start(from, king, mask, Role::Bystander));
            }
        }
        match self.side {
            Color::White => {
                let idle = kings & !threats.kings_beyond;
                self.kings_take_fast(idle, mask, &threats, strikes);
                self.men_take_fast(men & !threats.men, mask, &threats, strikes);
            }
            Color::Black if !self.fast_king => self.fast_man_captures(mask, empty),
            Color::Black if R::SET.flying => self.flying_captures(mask, empty, strikes),
            Color::Black => self.short_captures(mask, empty, strikes),
        }
        self.best()
    }

    #[inline(always)]
    fn start(&self, from: W<R>, king: bool, mask: W<R>, role: Role) -> Jump<W<R>> {
        Jump {
            from,
            at: from,
            king,
            was_king: king,
            captured: W::<R>::ZERO,
            mask,
            role,
            order: 0,
            dirs: Dirs::ALL,
        }
    }

    /// From where pieces of `side` can take one of `victims`.
    #[inline(always)]
    fn threats(&self, victims: W<R>, empty: W<R>) -> Threats<W<R>> {
        let mut threats = Threats::default();
        if victims.is_empty() {
            return threats;
        }
        let for_men = if R::SET.man_takes_king {
            victims
        } else {
            victims & self.pieces.men[!self.side]
        };
        // Pieces taken at once no longer block, nor does the square the piece came from: to see
        // too much is safe here.
        let through = match R::SET.removal {
            Removal::AtEnd => empty,
            Removal::AtOnce => empty | self.pieces.kings[self.side] | self.pieces.of(!self.side),
        };
        each_direction!(R::SET.king_captures, d => {
            let open = victims & R::Geometry::step(through, d ^ 4);
            let near = R::Geometry::step(open, d ^ 4);
            if R::SET.flying {
                let far = R::Geometry::slide(open, d ^ 4, through);
                threats.kings |= far;
                threats.kings_beyond |= near | far | R::Geometry::step(far, d ^ 4);
            } else {
                threats.kings |= near;
                threats.kings_beyond |= near;
            }
        });
        let takes = |d: Dir| {
            let open = for_men & R::Geometry::step(through, d ^ 4);
            R::Geometry::step(open, d ^ 4)
        };
        if self.side == Color::White {
            each_direction!(R::SET.man_captures, d => {
                threats.men |= takes(d);
            });
        } else {
            each_direction!(R::SET.man_captures, d => {
                threats.men |= takes(d ^ 4);
            });
        }
        threats
    }

    /// Captures of the fast king by white kings that threaten nothing else.
    #[inline(always)]
    fn kings_take_fast(
        &mut self,
        idle: W<R>,
        mask: W<R>,
        threats: &Threats<W<R>>,
        strikes: &Strikes<'_, '_, R>,
    ) {
        if !self.fast_king || idle.is_empty() {
            return;
        }
        let others = self.pieces.kings[Color::Black];
        let first_only = R::SET.landing != Landing::Any;
        for ray in strikes.rays {
            if (ray.king & idle).is_empty() {
                continue;
            }
            let squares = &strikes.squares[ray.first as usize..ray.end as usize];
            let open = if others.is_empty() {
                squares.len()
            } else {
                squares
                    .iter()
                    .position(|s| (s.square & others).any())
                    .unwrap_or(squares.len())
            };
            let squares = &squares[..open];
            let (mut win, mut safe, mut goes_on) = (false, false, false);
            for i in (1..open).rev() {
                let fast = squares[i - 1].square;
                goes_on |= (squares[i].square & threats.kings).any();
                if goes_on {
                    if (fast & mask).any() {
                        let jump = self.start(ray.king, true, fast, Role::Taken);
                        self.land(jump, fast, self.fast_king, ray.dir as Dir);
                    }
                    continue;
                }
                let result = strikes.after(squares[i].row, self.column);
                if first_only {
                    (win, safe) = (result == Wdl::Loss, result != Wdl::Win);
                } else {
                    win |= result == Wdl::Loss;
                    safe |= result != Wdl::Win;
                }
                let jump = self.start(ray.king, true, fast, Role::Taken);
                let tally = self.tally(&Jump { order: 1, ..jump });
                tally.any |= fast;
                tally.win |= if win { fast } else { W::<R>::ZERO };
                tally.safe |= if safe { fast } else { W::<R>::ZERO };
            }
        }
    }

    /// Captures of the fast piece by white men that threaten nothing else.
    #[inline(always)]
    fn men_take_fast(
        &mut self,
        idle: W<R>,
        mask: W<R>,
        threats: &Threats<W<R>>,
        strikes: &Strikes<'_, '_, R>,
    ) {
        let kings = self.pieces.kings;
        let occupied = kings[Color::White] | kings[Color::Black];
        for strike in strikes.men {
            let ManStrike {
                man,
                fast,
                to,
                dir,
                found,
            } = strike;
            if (*man & idle).is_empty() || (*fast & mask).is_empty() || (*to & occupied).any() {
                continue;
            }
            let jump = self.start(*man, false, *fast, Role::Taken);
            let arrives = (*to & R::Geometry::TOP).any();
            let goes_on = match R::SET.promotion {
                Promotion::Halt if arrives => false,
                Promotion::Run if arrives => (*to & threats.kings).any(),
                _ => (*to & threats.men).any(),
            };
            if goes_on {
                self.land(jump, *fast, self.fast_king, *dir);
                continue;
            }
            let result = if arrives && !R::SET.has_kings() {
                Wdl::Loss
            } else {
                let white = if arrives {
                    kings[Color::White] | *to
                } else {
                    kings[Color::White]
                };
                found.result::<R>(Color::Black, ByColor::new(white, kings[Color::Black]))
            };
            self.tally(&jump).add(*fast, Planes::splat(result));
        }
    }

    /// Captures by the fast man.
    #[inline(always)]
    fn fast_man_captures(&mut self, mask: W<R>, empty: W<R>) {
        let victims = if R::SET.man_takes_king {
            self.pieces.of(Color::White)
        } else {
            self.pieces.men[Color::White]
        };
        for d in R::SET.man_captures.reversed().iter() {
            let behind = R::Geometry::step(empty, d ^ 4);
            let before = R::Geometry::step(empty & mask, d);
            for victim in (victims & behind & before).bits() {
                let from = R::Geometry::step(victim, d ^ 4);
                let jump = self.start(W::<R>::ZERO, false, from, Role::Capturer);
                self.take(&jump, victim, d);
            }
        }
    }

    /// Captures by a fast king that makes short jumps.
    #[inline(always)]
    fn short_captures(&mut self, mask: W<R>, empty: W<R>, strikes: &Strikes<'_, '_, R>) {
        let all = self.pieces.of(Color::White);
        // What can be taken in each direction, and from where.
        let (mut open, mut threats) = ([W::<R>::ZERO; 8], [W::<R>::ZERO; 8]);
        let mut any = W::<R>::ZERO;
        each_direction!(R::SET.king_captures, d => {
            open[d] = all & R::Geometry::step(empty, d ^ 4);
            threats[d] = R::Geometry::step(open[d], d ^ 4);
            any |= threats[d] & mask;
        });
        if any.is_empty() {
            return;
        }
        // Captures that end with this piece.
        let mut simple = [W::<R>::ZERO; 8];
        let mut victims = W::<R>::ZERO;
        each_direction!(R::SET.king_captures, d => {
            let jumped = open[d] & R::Geometry::step(mask, d);
            let mut hot = W::<R>::ZERO;
            each_direction!(R::SET.king_captures, onward => {
                if onward != d ^ 4 {
                    hot |= threats[onward];
                }
            });
            let goes_on = jumped & R::Geometry::step(hot, d ^ 4);
            simple[d] = jumped & !goes_on;
            victims |= simple[d];
            for victim in goes_on.bits() {
                let from = R::Geometry::step(victim, d ^ 4);
                let jump = self.start(W::<R>::ZERO, true, from, Role::Capturer);
                self.take(&jump, victim, d);
            }
        });
        for victim in strikes.victims {
            let piece = victim.piece;
            if (piece & victims).is_empty() {
                continue;
            }
            let mut landings = W::<R>::ZERO;
            each_direction!(R::SET.king_captures, d => {
                landings |= R::Geometry::step(simple[d] & piece, d);
            });
            let there = self.after_taking(victim, landings, strikes);
            let jump = self.start(W::<R>::ZERO, true, W::<R>::ZERO, Role::Capturer);
            let tally = self.tally(&Jump {
                captured: piece,
                order: u32::from(victim.king),
                ..jump
            });
            each_direction!(R::SET.king_captures, d => {
                if (simple[d] & piece).any() {
                    let from = R::Geometry::step(piece, d ^ 4);
                    tally.add(from, choose(there, R::Geometry::step(piece, d)));
                }
            });
        }
    }

    /// Captures by a fast king that flies.
    #[inline(always)]
    fn flying_captures(&mut self, mask: W<R>, empty: W<R>, strikes: &Strikes<'_, '_, R>) {
        let all = self.pieces.of(Color::White);
        for victim in strikes.victims {
            let piece = victim.piece;
            let threats = self.threats(all ^ piece, empty);
            // Captures that end with this piece: from which squares, onto which.
            let mut simple = [(W::<R>::ZERO, W::<R>::ZERO); 8];
            let mut landings = W::<R>::ZERO;
            for d in R::SET.king_captures.iter() {
                let behind = R::Geometry::step(piece, d) & empty;
                let before = R::Geometry::step(piece, d ^ 4) & empty;
                if behind.is_empty() || before.is_empty() {
                    continue;
                }
                let mut from = before | R::Geometry::slide(before, d ^ 4, empty);
                from &= mask;
                let mut to = behind;
                if R::SET.landing != Landing::Next {
                    to |= R::Geometry::slide(behind, d, empty);
                }
                if (to & threats.kings).any() {
                    if from.any() {
                        let jump = self.start(W::<R>::ZERO, true, from, Role::Capturer);
                        self.take(&jump, piece, d);
                    }
                    continue;
                }
                if R::SET.landing == Landing::NextAfterKing && victim.king {
                    to = behind;
                }
                simple[d] = (from, to);
                landings |= to;
            }
            if landings.is_empty() {
                continue;
            }
            let there = self.after_taking(victim, landings, strikes);
            let jump = Jump {
                captured: piece,
                order: u32::from(victim.king),
                ..self.start(W::<R>::ZERO, true, W::<R>::ZERO, Role::Capturer)
            };
            let tally = self.tally(&jump);
            for d in R::SET.king_captures.iter() {
                let (from, to) = simple[d];
                tally.add(from, choose(there, to));
            }
        }
    }

    /// Results with White to move after the fast king has taken a piece and stands on a square of
    /// `mask`.
    #[inline(always)]
    fn after_taking(
        &self,
        victim: &Victim<W<R>>,
        mask: W<R>,
        strikes: &Strikes<'_, '_, R>,
    ) -> Planes<W<R>> {
        let taken = &strikes.taken[victim.taken as usize];
        match taken.columns.of(self.column, strikes.columns_list) {
            Some(column) => taken.found.word(Color::White, victim.row + column),
            None => {
                let [white, others] = self.pieces.kings.0;
                taken
                    .found
                    .planes::<R>(Color::White, white & !victim.piece, others, mask)
            }
        }
    }

    /// Takes the fixed piece `victim` in direction `d`, and goes on. Returns the squares of the
    /// fast piece for which that is possible.
    #[inline(always)]
    fn take(&mut self, jump: &Jump<W<R>>, victim: W<R>, d: Dir) -> W<R> {
        let is_king = (victim & self.pieces.kings[!self.side]).any();
        let captured = jump.captured | victim;
        self.land(Jump { captured, ..*jump }, victim, is_king, d)
    }

    /// Goes on with a capture from where it stands. Returns the squares of the fast piece for
    /// which it can.
    ///
    /// Captures recur through here, so this is where the code for the processor is entered anew.
    fn go_on(&mut self, jump: &Jump<W<R>>) -> W<R> {
        self.cpu.run(GoOn {
            captures: self,
            jump,
        })
    }

    #[inline(always)]
    fn go_on_inlined(&mut self, jump: &Jump<W<R>>) -> W<R> {
        let mut went = W::<R>::ZERO;
        let dirs = self.dirs(jump.king);
        for d in Dirs(dirs.0 & jump.dirs.0).iter() {
            went |= if jump.king && R::SET.flying {
                self.ray(jump, d)
            } else {
                self.hop(jump, d)
            };
        }
        went
    }

    /// One jump of a man or a short king.
    #[inline(always)]
    fn hop(&mut self, jump: &Jump<W<R>>, d: Dir) -> W<R> {
        let victim = R::Geometry::step(jump.at, d);
        if (victim & self.pieces.of(!self.side) & !jump.captured).any() {
            let spared = !jump.king && !R::SET.man_takes_king;
            if spared && (victim & self.pieces.kings[!self.side]).any() {
                return W::<R>::ZERO;
            }
            return self.take(jump, victim, d);
        }
        if self.may_take_fast(jump) && (victim & jump.mask).any() {
            let jump = Jump {
                mask: victim,
                role: Role::Taken,
                ..*jump
            };
            return self.land(jump, victim, self.fast_king, d);
        }
        W::<R>::ZERO
    }

    /// One jump of a flying king.
    #[inline(always)]
    fn ray(&mut self, jump: &Jump<W<R>>, d: Dir) -> W<R> {
        let empty = R::Geometry::BOARD & !self.blocked(jump);
        let passed = R::Geometry::slide(jump.at, d, empty);
        let stop = R::Geometry::step(jump.at | passed, d) & !passed;
        let mut mask = jump.mask;
        let mut went = W::<R>::ZERO;
        if jump.role == Role::Bystander {
            if self.may_take_fast(jump) {
                for fast in (mask & passed).bits() {
                    let jump = Jump {
                        mask: fast,
                        role: Role::Taken,
                        ..*jump
                    };
                    went |= self.land(jump, fast, self.fast_king, d);
                }
            }
            mask &= !passed;
        }
        if mask.any() && (stop & self.pieces.of(!self.side) & !jump.captured).any() {
            went |= self.take(&Jump { mask, ..*jump }, stop, d);
        }
        went
    }

    /// Lands behind a piece just taken, on every square allowed, and goes on from there.
    /// Returns the squares of the fast piece for which there is a landing square.
    fn land(&mut self, jump: Jump<W<R>>, victim: W<R>, victim_king: bool, dir: Dir) -> W<R> {
        let cpu = self.cpu;
        cpu.run(Land {
            captures: self,
            jump,
            victim,
            victim_king,
            dir,
        })
    }

    #[inline(always)]
    fn land_inlined(
        &mut self,
        mut jump: Jump<W<R>>,
        victim: W<R>,
        victim_king: bool,
        d: Dir,
    ) -> W<R> {
        let blocked = self.blocked(&jump);
        let first = R::Geometry::step(victim, d);
        if first.is_empty() || (first & blocked).any() {
            return W::<R>::ZERO;
        }
        if jump.role == Role::Bystander {
            jump.mask &= !first;
            if jump.mask.is_empty() {
                return jump.mask;
            }
        }
        jump.order = jump.order << 1 | u32::from(victim_king);
        if jump.king && R::SET.flying {
            self.land_flying(&jump, first, blocked, victim_king, d);
            return jump.mask;
        }
        let arrives = !jump.king && (first & promotion_row::<R>(self.side)).any();
        let halts = arrives && R::SET.promotion == Promotion::Halt;
        let runs = arrives && R::SET.promotion == Promotion::Run;
        let went = if halts {
            W::<R>::ZERO
        } else {
            let dirs = onward::<R>(d);
            self.go_on(&Jump {
                at: first,
                king: jump.king || runs,
                dirs,
                ..jump
            })
        };
        let stays = jump.mask & !went;
        if stays.any() {
            self.finish(
                &Jump {
                    mask: stays,
                    ..jump
                },
                first,
                jump.king || arrives,
            );
        }
        jump.mask
    }

    #[inline(always)]
    fn land_flying(
        &mut self,
        jump: &Jump<W<R>>,
        first: W<R>,
        blocked: W<R>,
        victim_king: bool,
        d: Dir,
    ) {
        let empty = R::Geometry::BOARD & !blocked;
        let mut squares = first;
        if R::SET.landing != Landing::Next {
            squares |= R::Geometry::slide(first, d, empty);
        }
        // From which of them it may go on. An untouched fast piece of the opponent could be taken
        // from anywhere.
        let hot = if self.may_take_fast(jump) {
            squares
        } else {
            let left = self.pieces.of(!self.side) & !jump.captured;
            squares & self.threats(left, empty).kings
        };
        let mut went = W::<R>::ZERO;
        let mut mask = jump.mask;
        let mut at = first;
        // Straight on from the nearest square only: from the others it is the same capture.
        let mut dirs = onward::<R>(d);
        let mut rest = hot;
        while rest.any() && mask.any() {
            if (rest & at).any() {
                went |= self.go_on(&Jump {
                    at,
                    mask,
                    dirs,
                    ..*jump
                });
                rest &= !at;
            }
            dirs = Dirs(dirs.0 & !(1 << d | 1 << (d ^ 4)));
            at = R::Geometry::step(at, d);
            if jump.role == Role::Bystander {
                mask &= !at;
            }
        }
        // Where some landing square lets the capture go on, one of those must be chosen.
        let mut stays = jump.mask & !went;
        if stays.is_empty() {
            return;
        }
        if R::SET.landing == Landing::NextAfterKing && victim_king {
            squares = first;
        }
        if jump.role == Role::Capturer && self.fast_king {
            return self.finish(
                &Jump {
                    mask: stays,
                    ..*jump
                },
                squares,
                true,
            );
        }
        let mut at = first;
        while (at & squares).any() && stays.any() {
            self.finish(
                &Jump {
                    mask: stays,
                    ..*jump
                },
                at,
                true,
            );
            at = R::Geometry::step(at, d);
            if jump.role == Role::Bystander {
                stays &= !at;
            }
        }
    }

    /// A capture that ends on a square of `to` (one square, unless the fast king captures).
    fn finish(&mut self, jump: &Jump<W<R>>, to: W<R>, king: bool) {
        let cpu = self.cpu;
        cpu.run(Finish {
            captures: self,
            jump: *jump,
            to,
            king,
        });
    }

    #[inline(always)]
    fn finish_inlined(&mut self, jump: &Jump<W<R>>, to: W<R>, king: bool) {
        let us = self.side;
        let mut pieces = self.pieces;
        pieces.men[!us] &= !jump.captured;
        pieces.kings[!us] &= !jump.captured;
        if jump.role != Role::Capturer {
            pieces.men[us] &= !jump.from;
            pieces.kings[us] &= !jump.from;
            if king {
                pieces.kings[us] |= to;
            } else {
                pieces.men[us] |= to;
            }
        }
        let successors = if king && !R::SET.has_kings() {
            Planes::splat(Wdl::Loss)
        } else {
            match jump.role {
                Role::Bystander if self.fast_king => self.lookup.with_king(!us, &pieces, jump.mask),
                Role::Bystander => self.lookup.with_man(!us, &pieces, jump.mask),
                Role::Taken => Planes::splat(self.lookup.single(!us, &pieces)),
                Role::Capturer => {
                    let there = if king {
                        self.lookup.with_king(!us, &pieces, to)
                    } else {
                        self.lookup.with_man(!us, &pieces, to)
                    };
                    choose(there, to)
                }
            }
        };
        let mask = jump.mask;
        self.tally(jump).add(mask, successors);
    }

    /// Where the results of a capture like this are added up.
    #[inline(always)]
    fn tally(&mut self, jump: &Jump<W<R>>) -> &mut Tally<W<R>> {
        if R::SET.choice == Choice::Free {
            return &mut self.total;
        }
        let priority = self.priority(jump);
        let place = match self.tallies.iter().position(|(p, _)| *p == priority) {
            Some(place) => place,
            None => {
                self.tallies.push((priority, Tally::default()));
                self.tallies.len() - 1
            }
        };
        &mut self.tallies[place].1
    }

    /// The rank of a finished capture under the rule set's choice rule: higher goes first.
    #[inline(always)]
    fn priority(&self, jump: &Jump<W<R>>) -> u64 {
        let taken_fast = u64::from(jump.role == Role::Taken);
        let count = |set: W<R>| u64::from((jump.captured & set).count_ones());
        let kings = count(self.pieces.kings[!self.side]) + taken_fast * u64::from(self.fast_king);
        let men = count(self.pieces.men[!self.side]) + taken_fast * u64::from(!self.fast_king);
        let with_king = u64::from(jump.was_king);
        match R::SET.choice {
            Choice::Free => 0,
            Choice::Most => men + kings,
            Choice::MostThenKings => (men + kings) << 8 | kings,
            Choice::Value => (100 * men + 199 * kings) << 1 | with_king,
            Choice::KingFirst => with_king,
            Choice::Italian if jump.was_king => {
                (men + kings) << 48 | 1 << 40 | kings << 32 | u64::from(jump.order)
            }
            Choice::Italian => (men + kings) << 48,
        }
    }

    /// Combines the tallies: on each square only the captures of the highest priority count.
    #[inline(always)]
    fn best(&mut self) -> Tally<W<R>> {
        if R::SET.choice == Choice::Free {
            return self.total;
        }
        self.tallies
            .sort_unstable_by_key(|(priority, _)| std::cmp::Reverse(*priority));
        let mut best = Tally::<W<R>>::default();
        for (_, tally) in self.tallies.iter() {
            best.win |= tally.win & !best.any;
            best.safe |= tally.safe & !best.any;
            best.any |= tally.any;
        }
        best
    }

    #[inline(always)]
    fn may_take_fast(&self, jump: &Jump<W<R>>) -> bool {
        self.side == Color::White
            && jump.role == Role::Bystander
            && (!self.fast_king || jump.king || R::SET.man_takes_king)
    }

    /// Squares that stop the capturing piece, the untouched fast piece aside.
    #[inline(always)]
    fn blocked(&self, jump: &Jump<W<R>>) -> W<R> {
        let fixed = self.pieces.all() & !jump.from;
        match R::SET.removal {
            Removal::AtOnce => fixed & !jump.captured,
            Removal::AtEnd if jump.role == Role::Taken => fixed | jump.mask,
            Removal::AtEnd => fixed,
        }
    }

    #[inline(always)]
    fn dirs(&self, king: bool) -> Dirs {
        let white = if king {
            R::SET.king_captures
        } else {
            R::SET.man_captures
        };
        if self.side == Color::White {
            white
        } else {
            white.reversed()
        }
    }
}

/// What the capturer makes of the positions after landing on one of `squares`.
#[inline(always)]
fn choose<W: Word>(there: Planes<W>, squares: W) -> Planes<W> {
    let all = |yes: bool| if yes { W::ALL } else { W::ZERO };
    Planes {
        loss: all((there.loss & squares).any()),
        win: all((squares & !there.win).is_empty()),
    }
}

/// Directions in which a capture may go on after a jump in direction `d`.
#[inline(always)]
fn onward<R: Rules>(d: Dir) -> Dirs {
    // A piece that stays on the board until the end blocks the way back anyway.
    if R::SET.may_reverse && R::SET.removal == Removal::AtOnce {
        Dirs::ALL
    } else {
        Dirs(!(1 << (d ^ 4)))
    }
}

/// The row on which a side's men are crowned.
#[inline(always)]
pub fn promotion_row<R: Rules>(side: Color) -> W<R> {
    match side {
        Color::White => R::Geometry::TOP,
        Color::Black => R::Geometry::BOTTOM,
    }
}
