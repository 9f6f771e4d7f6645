//! Captures for a whole word of positions at once.
//!
//! All pieces but the fast one are given; the fast piece, which is Black's, stands on any square
//! of a mask. A capture is followed with the set of fast-piece squares for which it is possible:
//! where the path or a landing square would meet the fast piece, its square leaves the set (or,
//! for White, the capture branches into one that takes the fast piece there). So a capture of
//! fixed pieces costs one walk and one look-up for the whole word. When the fast piece itself
//! captures, all squares from which it takes a given piece in a given direction share the rest of
//! the capture, and the mask is just a label for them.

mod strikes;
mod walk;

pub use strikes::{Columns, ManStrike, Ray, RaySquare, Strikes, Taken, Victim};

use super::cpu::Cpu;
use super::lookup::{Lookup, Pieces};
use super::planes::{PlaneWord, Planes};
use crate::board::{Color, Dir, Dirs, Geometry, Word, each_direction};
use crate::rules::{Choice, Promotion, Removal, Rules};

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

/// Tallies by priority, in no order.
pub type Tallies<W> = Vec<(u64, Tally<W>)>;

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

/// Squares from which a piece could take something.
#[derive(Clone, Copy, Default)]
struct Threats<W> {
    /// Empty squares from which a king could.
    kings: W,
    /// The same with the pieces that stand at the end of those lines.
    kings_beyond: W,
    men: W,
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
    pub tallies: &'a mut Tallies<W<R>>,
    /// For each victim of a fast king that flies the lines of empty squares from it, by direction.
    pub lines: &'a mut Vec<[W<R>; 8]>,
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
        let men_become_kings = R::SET.promotion == Promotion::Run;
        let kings = self.pieces.kings[self.side].any() || men_become_kings;
        let victims = self.pieces.of(!self.side);
        let threats = if self.pieces.of(self.side).any() {
            self.threats(victims, empty, kings)
        } else {
            Threats::default()
        };
        // Where a single win will do those come first that cost least, where captures are ranked
        // those that may be long.
        if R::SET.choice == Choice::Free {
            self.strike(mask, empty, &threats, strikes);
            self.walk(mask, &threats);
        } else {
            self.walk(mask, &threats);
            self.strike(mask, empty, &threats, strikes);
        }
        self.best()
    }

    /// Captures by fixed pieces of other fixed pieces, at least to begin with.
    #[inline(always)]
    fn walk(&mut self, mask: W<R>, threats: &Threats<W<R>>) {
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
    }

    /// Captures by and of the fast piece.
    #[inline(always)]
    fn strike(
        &mut self,
        mask: W<R>,
        empty: W<R>,
        threats: &Threats<W<R>>,
        strikes: &Strikes<'_, '_, R>,
    ) {
        match self.side {
            Color::White => {
                let idle_kings = self.pieces.kings[Color::White] & !threats.kings_beyond;
                let idle_men = self.pieces.men[Color::White] & !threats.men;
                self.kings_take_fast(idle_kings, mask, threats, strikes);
                self.men_take_fast(idle_men, mask, threats, strikes);
            }
            Color::Black if !self.fast_king => self.fast_man_captures(mask, empty),
            Color::Black if R::SET.flying => self.flying_captures(mask, empty, strikes),
            Color::Black => self.short_captures(mask, empty, strikes),
        }
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

    /// From where pieces of `side` can take one of `victims`; `kings`: kings, too.
    #[inline(always)]
    fn threats(&self, victims: W<R>, empty: W<R>, kings: bool) -> Threats<W<R>> {
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
        if kings {
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
        }
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

    /// Where the results of a capture like this are added up.
    #[inline(always)]
    fn tally(&mut self, jump: &Jump<W<R>>) -> &mut Tally<W<R>> {
        let (_, place) = self.tally_for(jump);
        self.tally_at(place)
    }

    /// The squares of its mask on which a capture like this can matter still, for none goes before
    /// it and none like it wins, and the place of its tally.
    #[inline(always)]
    fn tally_for(&mut self, jump: &Jump<W<R>>) -> (W<R>, usize) {
        if R::SET.choice == Choice::Free {
            return (jump.mask & !self.total.win, 0);
        }
        let own = self.priority(jump);
        let mut mask = jump.mask;
        let mut place = self.tallies.len();
        for (i, (priority, tally)) in self.tallies.iter().enumerate() {
            if *priority > own {
                mask &= !tally.any;
            } else if *priority == own {
                mask &= !tally.win;
                place = i;
            }
        }
        if place == self.tallies.len() {
            self.tallies.push((own, Tally::default()));
        }
        (mask, place)
    }

    /// The tally at a place.
    #[inline(always)]
    fn tally_at(&mut self, place: usize) -> &mut Tally<W<R>> {
        if R::SET.choice == Choice::Free {
            &mut self.total
        } else {
            &mut self.tallies[place].1
        }
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

/// The row on which a side's men are crowned.
#[inline(always)]
pub fn promotion_row<R: Rules>(side: Color) -> W<R> {
    match side {
        Color::White => R::Geometry::TOP,
        Color::Black => R::Geometry::BOTTOM,
    }
}
