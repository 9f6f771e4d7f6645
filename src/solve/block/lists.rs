//! What is listed once for a block: where captures and man moves lead.

use super::{BlockSolver, W};
use crate::board::{ByColor, Color, Geometry, Word};
use crate::rules::Rules;
use crate::solve::capture::{Columns, ManStrike, Taken, promotion_row};
use crate::solve::cpu::{Cpu, Task};
use crate::solve::lookup::{Found, Lookup};
use crate::solve::planes::PlaneWord;
use crate::table::Wdl;

/// A step of a fixed man to a square free of men.
pub struct ManMove<'s, R: Rules> {
    pub from: W<R>,
    pub to: W<R>,
    pub promotes: bool,
    /// Where the results lie, with a fast king.
    pub found: Found<'s, R::Geometry>,
    pub columns: Columns,
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> BlockSolver<'s, R, C> {
    #[inline(always)]
    pub(super) fn prepare(&mut self, men: ByColor<W<R>>) {
        let free = R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]);
        let slice = self.slice.slice();
        let (dirs, flying) = (R::SET.king_moves, R::SET.flying);
        self.white
            .build::<R::Geometry>(self.cpu, slice.kings(Color::White), free, dirs, flying);
        let others = slice.kings(Color::Black).saturating_sub(1);
        self.black
            .build::<R::Geometry>(self.cpu, others, free, dirs, flying);
        self.columns_list.clear();
        for side in Color::BOTH {
            self.list_man_moves(men, side, free);
        }
        self.list_man_strikes(men, free);
        self.taken.clear();
        if self.fast_king {
            let [white, black] = Color::BOTH.map(|c| slice.kings(c) as u32);
            for victim in men[Color::White].bits() {
                let after = ByColor::new(men[Color::White] ^ victim, men[Color::Black]);
                let found = *self.seeker.lookup.find(after, [white, black], false);
                let columns = list_columns(
                    &found,
                    &self.black.sets,
                    W::<R>::ZERO,
                    &mut self.columns_list,
                );
                self.taken.push(Taken {
                    men: victim,
                    king: false,
                    found,
                    columns,
                });
            }
            if white > 0 {
                let found = *self.seeker.lookup.find(men, [white - 1, black], false);
                let columns = if found.is_direct() {
                    Columns::Same
                } else {
                    Columns::None
                };
                self.taken.push(Taken {
                    men: W::<R>::ZERO,
                    king: true,
                    found,
                    columns,
                });
            }
        }
    }

    /// Lists where white men may take the fast piece.
    #[inline(always)]
    fn list_man_strikes(&mut self, men: ByColor<W<R>>, free: W<R>) {
        self.man_strikes.clear();
        if self.fast_king && !R::SET.man_takes_king {
            return;
        }
        let kings = Color::BOTH.map(|c| self.slice.slice().kings(c) as u32);
        for man in men[Color::White].bits() {
            for dir in R::SET.man_captures.iter() {
                let fast = R::Geometry::step(man, dir) & free;
                let to = R::Geometry::step(fast, dir) & free;
                if to.is_empty() {
                    continue;
                }
                let mut after = men;
                let mut kings = kings;
                after[Color::White] ^= man;
                kings[1] -= u32::from(self.fast_king);
                if (to & R::Geometry::TOP).is_empty() {
                    after[Color::White] |= to;
                } else {
                    kings[0] += 1;
                }
                let found = if kings[0] > 0 && !R::SET.has_kings() {
                    Found::Nothing
                } else {
                    *self.seeker.lookup.find(after, kings, false)
                };
                self.man_strikes.push(ManStrike {
                    man,
                    fast,
                    to,
                    dir,
                    found,
                });
            }
        }
    }

    #[inline(always)]
    fn list_man_moves(&mut self, men: ByColor<W<R>>, side: Color, free: W<R>) {
        let moves = &mut self.man_moves[side];
        moves.clear();
        let forward = R::SET.man_moves;
        let dirs = if side == Color::White {
            forward
        } else {
            forward.reversed()
        };
        let kings = Color::BOTH.map(|c| self.slice.slice().kings(c) as u32);
        for from in men[side].bits() {
            for d in dirs.iter() {
                let to = R::Geometry::step(from, d) & free;
                if to.is_empty() {
                    continue;
                }
                let promotes = (to & promotion_row::<R>(side)).any();
                let (mut found, mut columns) = (Found::Nothing, Columns::None);
                if self.fast_king {
                    let mut after = men;
                    let mut kings = kings;
                    after[side] ^= from;
                    if promotes {
                        kings[side as usize] += 1;
                    } else {
                        after[side] |= to;
                    }
                    found = *self.seeker.lookup.find(after, kings, false);
                    let crowned = promotes && side == Color::Black;
                    let more = if crowned { to } else { W::<R>::ZERO };
                    columns = list_columns(&found, &self.black.sets, more, &mut self.columns_list);
                }
                moves.push(ManMove {
                    from,
                    to,
                    promotes,
                    found,
                    columns,
                });
            }
        }
    }

    /// Fills in [`BlockSolver::fast_taken`].
    #[inline(always)]
    pub(super) fn look_up_fast_taken(&mut self, men: ByColor<W<R>>) {
        self.fast_taken.clear();
        let slice = self.slice.slice();
        let alone = slice.pieces(Color::Black) == 1;
        if self.fast_king && !alone && slice.kings(Color::White) > 0 {
            self.cpu.run(FastTaken::<R, C> {
                men,
                white: &self.white.sets,
                black: &self.black.sets,
                lookup: &mut self.seeker.lookup,
                results: &mut self.fast_taken,
            });
        }
    }
}

/// Lists the columns of another block for those of this one, one king more on `more`.
#[inline(always)]
fn list_columns<G: Geometry<Word: PlaneWord>>(
    found: &Found<'_, G>,
    sets: &[G::Word],
    more: G::Word,
    list: &mut Vec<u32>,
) -> Columns {
    if !found.is_direct() {
        return Columns::None;
    }
    if more.is_empty() && sets.len() == 1 {
        // No king but the fast one, here as there.
        return Columns::Same;
    }
    let first = list.len() as u32;
    for &set in sets {
        let forbidden = (set & more).any();
        list.push(if forbidden {
            0
        } else {
            found.column(set | more) as u32
        });
    }
    Columns::Listed(first)
}

/// Looks up the results after a white king has taken the fast king.
struct FastTaken<'t, 's, R: Rules, C> {
    men: ByColor<W<R>>,
    white: &'t [W<R>],
    black: &'t [W<R>],
    lookup: &'t mut Lookup<'s, R, C>,
    results: &'t mut Vec<Wdl>,
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Task for FastTaken<'_, '_, R, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let counts = [self.white[0].count_ones(), self.black[0].count_ones()];
        let found = self.lookup.find(self.men, counts, false);
        for &white in self.white {
            for &others in self.black {
                self.results.push(if (white & others).any() {
                    Wdl::Draw
                } else {
                    found.result::<R>(Color::Black, ByColor::new(white, others))
                });
            }
        }
    }
}
