use super::view::View;
use super::{WordOf, with_view};
use crate::board::{Board, Color, Geometry, Word, each_direction};
use crate::rules::Rules;

/// The piece that is left out of a board when a whole row of positions is looked at: those that
/// differ only in its square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastPiece {
    pub color: Color,
    pub king: bool,
}

/// The empty squares of `fixed` on which the fast piece must stand for the side to move to have a
/// capture: [`has_capture`](super::has_capture) for all squares at once.
#[inline]
pub fn capture_squares<R: Rules>(fixed: &Board<R::Geometry>, fast: FastPiece) -> WordOf<R> {
    with_view!(R, fixed, view => view.capture_squares(fast.color == fixed.side, fast.king))
}

impl<R: Rules, const BLACK: bool> View<R, BLACK> {
    #[inline(always)]
    fn capture_squares(&self, own: bool, king: bool) -> WordOf<R> {
        let mut squares = self.captures_of_fixed();
        if own {
            squares |= self.captures_by_fast(king);
        } else {
            squares |= self.captures_of_fast(king);
        }
        squares & self.empty
    }

    /// A fixed piece takes a fixed piece, unless the fast one stands in the way.
    #[inline(always)]
    fn captures_of_fixed(&self) -> WordOf<R> {
        let enemies = self.their_men | self.their_kings;
        let mut squares = WordOf::<R>::ZERO;
        let mut landings = WordOf::<R>::ZERO;
        if self.men.any() {
            let targets = self.men_targets();
            each_direction!(Self::MAN_CAPTURES, d => {
                let victims = R::Geometry::step(self.men, d) & targets;
                landings |= R::Geometry::step(victims, d) & self.empty;
            });
        }
        if R::SET.flying {
            for king in self.kings.bits() {
                each_direction!(Self::KING_CAPTURES, d => {
                    let ray = R::Geometry::slide(king, d, self.empty);
                    let victim = R::Geometry::step(king | ray, d) & enemies;
                    let landing = R::Geometry::step(victim, d) & self.empty;
                    if landing.any() {
                        squares |= !(ray | landing);
                    }
                });
            }
        } else if self.kings.any() {
            each_direction!(Self::KING_CAPTURES, d => {
                let victims = R::Geometry::step(self.kings, d) & enemies;
                landings |= R::Geometry::step(victims, d) & self.empty;
            });
        }
        // The fast piece can block one landing square, not two.
        if landings.several() {
            WordOf::<R>::ALL
        } else if landings.any() {
            squares | !landings
        } else {
            squares
        }
    }

    /// The fast piece, of the side to move, takes a fixed piece.
    #[inline(always)]
    fn captures_by_fast(&self, king: bool) -> WordOf<R> {
        let mut squares = WordOf::<R>::ZERO;
        if king {
            let targets = self.their_men | self.their_kings;
            each_direction!(Self::KING_CAPTURES, d => {
                let victims = targets & R::Geometry::step(self.empty, d ^ 4);
                let before = R::Geometry::step(victims, d ^ 4) & self.empty;
                squares |= before;
                if R::SET.flying {
                    squares |= R::Geometry::slide(before, d ^ 4, self.empty);
                }
            });
        } else {
            let targets = self.men_targets();
            each_direction!(Self::MAN_CAPTURES, d => {
                let victims = targets & R::Geometry::step(self.empty, d ^ 4);
                squares |= R::Geometry::step(victims, d ^ 4) & self.empty;
            });
        }
        squares
    }

    /// The fast piece, of the opponent, is taken.
    #[inline(always)]
    fn captures_of_fast(&self, king: bool) -> WordOf<R> {
        let mut squares = WordOf::<R>::ZERO;
        if !king || R::SET.man_takes_king {
            each_direction!(Self::MAN_CAPTURES, d => {
                squares |= R::Geometry::step(self.men, d) & R::Geometry::step(self.empty, d ^ 4);
            });
        }
        if self.kings.any() {
            each_direction!(Self::KING_CAPTURES, d => {
                let mut reached = self.kings;
                if R::SET.flying {
                    reached |= R::Geometry::slide(self.kings, d, self.empty);
                }
                squares |= R::Geometry::step(reached, d) & R::Geometry::step(self.empty, d ^ 4);
            });
        }
        squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Slice, SliceIndex};
    use crate::rules::movegen::has_capture;
    use crate::rules::{RuleSetId, with_rules};

    /// Takes each piece of each kind out of many positions and puts it on every empty square.
    fn agrees_with_single_positions<R: Rules>() {
        let mut random = 0x2545_F491_4F6C_DD1Du64;
        for slice in Slice::all(4, R::SET.has_kings()) {
            let index = SliceIndex::<R::Geometry>::new(slice);
            for side in [Color::White, Color::Black].repeat(40) {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let board = index.unrank((random >> 20) % index.len(), side);
                for (color, king) in Color::BOTH
                    .into_iter()
                    .flat_map(|c| [(c, false), (c, true)])
                {
                    let set = if king {
                        board.kings[color]
                    } else {
                        board.men[color]
                    };
                    let mut fixed = board;
                    let kind = if king {
                        &mut fixed.kings
                    } else {
                        &mut fixed.men
                    };
                    kind[color] = set.without_lowest();
                    if set.is_empty() {
                        continue;
                    }
                    let squares = capture_squares::<R>(&fixed, FastPiece { color, king });
                    for square in (R::Geometry::BOARD & !fixed.occupied()).bits() {
                        let mut whole = fixed;
                        let kind = if king {
                            &mut whole.kings
                        } else {
                            &mut whole.men
                        };
                        kind[color] |= square;
                        assert_eq!(
                            (squares & square).any(),
                            has_capture::<R>(&whole),
                            "{} {whole}",
                            R::ID
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn rows_agree_with_single_positions() {
        for &id in RuleSetId::ALL {
            with_rules!(id, R => agrees_with_single_positions::<R>());
        }
    }
}
