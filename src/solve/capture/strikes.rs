//! Captures of and by the fast piece that take one piece and end, from lists made once for a block
//! or a row; what goes on is walked.

use super::{Captures, Jump, Role, Threats, W};
use crate::board::{ByColor, Color, Dir, Geometry, Word, each_direction};
use crate::rules::{Choice, Landing, Promotion, Removal, Rules};
use crate::solve::cpu::Cpu;
use crate::solve::lookup::{Found, no_move};
use crate::solve::planes::{PlaneWord, Planes};
use crate::table::Wdl;

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
            None => no_move::<R>(),
        }
    }
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Captures<'_, '_, R, C> {
    /// Captures of the fast king by white kings that threaten nothing else.
    #[inline(always)]
    pub(super) fn kings_take_fast(
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
    pub(super) fn men_take_fast(
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
    pub(super) fn fast_man_captures(&mut self, mask: W<R>, empty: W<R>) {
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
    pub(super) fn short_captures(&mut self, mask: W<R>, empty: W<R>, strikes: &Strikes<'_, '_, R>) {
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
        // What is taken last, and what first of several.
        let (mut simple, mut goes_on) = ([W::<R>::ZERO; 8], [W::<R>::ZERO; 8]);
        each_direction!(R::SET.king_captures, d => {
            let jumped = open[d] & R::Geometry::step(mask, d);
            let mut hot = W::<R>::ZERO;
            each_direction!(R::SET.king_captures, onward => {
                if onward != d ^ 4 {
                    hot |= threats[onward];
                }
            });
            goes_on[d] = jumped & R::Geometry::step(hot, d ^ 4);
            simple[d] = jumped & !goes_on[d];
        });
        if R::SET.choice == Choice::Free {
            self.short_captures_of_one(&simple, strikes);
        }
        for d in R::SET.king_captures.iter() {
            for victim in goes_on[d].bits() {
                let from = R::Geometry::step(victim, d ^ 4);
                let jump = self.start(W::<R>::ZERO, true, from, Role::Capturer);
                self.take(&jump, victim, d);
            }
        }
        if R::SET.choice != Choice::Free {
            self.short_captures_of_one(&simple, strikes);
        }
    }

    /// Captures by a short fast king that end with the piece first taken, by direction.
    #[inline(always)]
    fn short_captures_of_one(&mut self, taken: &[W<R>; 8], strikes: &Strikes<'_, '_, R>) {
        let victims = taken.iter().fold(W::<R>::ZERO, |all, &set| all | set);
        for victim in strikes.victims {
            let piece = victim.piece;
            if (piece & victims).is_empty() {
                continue;
            }
            let mut landings = W::<R>::ZERO;
            each_direction!(R::SET.king_captures, d => {
                landings |= R::Geometry::step(taken[d] & piece, d);
            });
            let there = self.after_taking(victim, landings, strikes);
            let jump = self.start(W::<R>::ZERO, true, W::<R>::ZERO, Role::Capturer);
            let tally = self.tally(&Jump {
                captured: piece,
                order: u32::from(victim.king),
                ..jump
            });
            each_direction!(R::SET.king_captures, d => {
                if (taken[d] & piece).any() {
                    let from = R::Geometry::step(piece, d ^ 4);
                    tally.add(from, choose(there, R::Geometry::step(piece, d)));
                }
            });
        }
    }

    /// Captures by a fast king that flies.
    #[inline(always)]
    pub(super) fn flying_captures(
        &mut self,
        mask: W<R>,
        empty: W<R>,
        strikes: &Strikes<'_, '_, R>,
    ) {
        // From where something can be taken, and from where one of several pieces.
        let (mut once, mut several) = (W::<R>::ZERO, W::<R>::ZERO);
        self.lines.clear();
        for victim in strikes.victims {
            let mut lines = [W::<R>::ZERO; 8];
            each_direction!(R::SET.king_captures, d => {
                lines[d] = R::Geometry::slide(victim.piece, d, empty);
            });
            let takers = takers::<R>(&lines);
            several |= once & takers;
            once |= takers;
            self.lines.push(lines);
        }
        if (once & mask).is_empty() {
            return;
        }
        // What is taken first of several, by direction, and whether a piece can be the only one.
        let mut goes_on = [W::<R>::ZERO; 8];
        for (i, victim) in strikes.victims.iter().enumerate() {
            let lines = &self.lines[i];
            let hot = match R::SET.removal {
                Removal::AtEnd => several | once & !takers::<R>(lines),
                Removal::AtOnce => {
                    let others = self.pieces.of(Color::White) ^ victim.piece;
                    self.threats(others, empty, true).kings
                }
            };
            each_direction!(R::SET.king_captures, d => {
                if (landing_squares::<R>(victim, lines, d) & hot).any() {
                    goes_on[d] |= victim.piece;
                }
            });
        }
        if R::SET.choice == Choice::Free {
            self.flying_captures_of_one(mask, &goes_on, strikes);
        }
        for (i, victim) in strikes.victims.iter().enumerate() {
            let lines = self.lines[i];
            for d in R::SET.king_captures.iter() {
                let from = lines[d ^ 4] & mask;
                if (goes_on[d] & victim.piece).any() && from.any() {
                    let jump = self.start(W::<R>::ZERO, true, from, Role::Capturer);
                    self.take(&jump, victim.piece, d);
                }
            }
        }
        if R::SET.choice != Choice::Free {
            self.flying_captures_of_one(mask, &goes_on, strikes);
        }
    }

    /// Captures by a flying fast king that end with the piece first taken, of which those that go
    /// on are given by direction.
    #[inline(always)]
    fn flying_captures_of_one(
        &mut self,
        mask: W<R>,
        goes_on: &[W<R>; 8],
        strikes: &Strikes<'_, '_, R>,
    ) {
        for (i, victim) in strikes.victims.iter().enumerate() {
            let lines = self.lines[i];
            let mut simple = [(W::<R>::ZERO, W::<R>::ZERO); 8];
            let mut landings = W::<R>::ZERO;
            each_direction!(R::SET.king_captures, d => {
                let from = lines[d ^ 4] & mask;
                if from.any() && (goes_on[d] & victim.piece).is_empty() {
                    let to = match R::SET.landing {
                        Landing::NextAfterKing if victim.king => {
                            lines[d] & R::Geometry::step(victim.piece, d)
                        }
                        _ => landing_squares::<R>(victim, &lines, d),
                    };
                    if to.any() {
                        simple[d] = (from, to);
                        landings |= to;
                    }
                }
            });
            if landings.is_empty() {
                continue;
            }
            let there = self.after_taking(victim, landings, strikes);
            let jump = Jump {
                captured: victim.piece,
                order: u32::from(victim.king),
                ..self.start(W::<R>::ZERO, true, W::<R>::ZERO, Role::Capturer)
            };
            let tally = self.tally(&jump);
            each_direction!(R::SET.king_captures, d => {
                let (from, to) = simple[d];
                if from.any() {
                    tally.add(from, choose(there, to));
                }
            });
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
}

/// From where a flying king can take a piece with these lines of empty squares beside it.
#[inline(always)]
fn takers<R: Rules>(lines: &[W<R>; 8]) -> W<R> {
    let mut takers = W::<R>::ZERO;
    each_direction!(R::SET.king_captures, d => {
        if lines[d].any() {
            takers |= lines[d ^ 4];
        }
    });
    takers
}

/// Where a flying king can land behind a piece, to take another from there.
#[inline(always)]
fn landing_squares<R: Rules>(victim: &Victim<W<R>>, lines: &[W<R>; 8], d: Dir) -> W<R> {
    match R::SET.landing {
        Landing::Next => lines[d] & R::Geometry::step(victim.piece, d),
        _ => lines[d],
    }
}

/// What the capturer makes of the positions after landing on one of `squares`.
#[inline(always)]
pub(super) fn choose<W: Word>(there: Planes<W>, squares: W) -> Planes<W> {
    let all = |yes: bool| if yes { W::ALL } else { W::ZERO };
    Planes {
        loss: all((there.loss & squares).any()),
        win: all((squares & !there.win).is_empty()),
    }
}
