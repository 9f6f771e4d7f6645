use std::ops::Range;

use crate::board::{Board, ByColor, Color, Geometry, Word};
use crate::index::{Slice, SliceIndex};
use crate::rules::movegen::FastPiece;

/// Consecutive positions of a slice that differ only in the square of the fast piece, which goes
/// up through `squares`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<G: Geometry> {
    /// The other pieces.
    pub fixed: Board<G>,
    pub squares: G::Word,
}

/// The rows that make up a range of positions, in index order.
///
/// The fast piece is the one whose steps change the index least: the lowest black king, without
/// black kings the lowest white one, without any the lowest black man.
pub(super) struct Rows<'i, G: Geometry> {
    index: &'i SliceIndex<G>,
    fast: FastPiece,
    side: Color,
    /// Positions still to come.
    left: Range<u64>,
    /// The current row, whole, and the squares of it still to come.
    row: Row<G>,
}

/// The fast piece of a slice.
pub(super) fn fast_piece(slice: Slice) -> FastPiece {
    let kings = |color: Color| slice.kings(color) > 0;
    match (kings(Color::White), kings(Color::Black)) {
        (_, true) => FastPiece {
            color: Color::Black,
            king: true,
        },
        (true, false) => FastPiece {
            color: Color::White,
            king: true,
        },
        (false, false) => FastPiece {
            color: Color::Black,
            king: false,
        },
    }
}

/// The next slower piece of a slice.
pub(super) fn slower_piece(slice: Slice) -> Option<FastPiece> {
    let fast = fast_piece(slice);
    let kinds = [
        (Color::Black, true),
        (Color::White, true),
        (Color::Black, false),
        (Color::White, false),
    ];
    let mut pieces = kinds
        .into_iter()
        .map(|(color, king)| FastPiece { color, king });
    pieces.find(|&piece| {
        let kind = if piece.king {
            slice.kings(piece.color)
        } else {
            slice.men(piece.color)
        };
        kind > usize::from(piece == fast)
    })
}

impl<'i, G: Geometry> Rows<'i, G> {
    /// The rows of a range inside the slice.
    pub fn new(index: &'i SliceIndex<G>, side: Color, range: Range<u64>) -> Self {
        let mut rows = Rows {
            index,
            fast: fast_piece(index.slice()),
            side,
            left: range,
            row: Row {
                fixed: Board {
                    men: ByColor::default(),
                    kings: ByColor::default(),
                    side,
                },
                squares: G::Word::ZERO,
            },
        };
        if !rows.left.is_empty() {
            rows.seek();
        }
        rows
    }

    /// Makes the row that begins or goes on with the first position left.
    fn seek(&mut self) {
        let board = self.index.unrank(self.left.start, self.side);
        let FastPiece { color, king } = self.fast;
        let set = if king {
            board.kings[color]
        } else {
            board.men[color]
        };
        let fast = set.lowest();
        self.row.fixed = board;
        self.set_others(set ^ fast);
        self.row.squares &= !fast.wrapping_sub(G::Word::ONE);
    }

    /// The squares the fast pieces of this board may use, others of its kind included.
    fn free(&self) -> G::Word {
        let Board { men, kings, .. } = self.row.fixed;
        let men_squares = men[Color::White] | men[Color::Black];
        match self.fast {
            FastPiece {
                color: Color::Black,
                king: true,
            } => G::BOARD & !men_squares & !kings[Color::White],
            FastPiece { king: true, .. } => G::BOARD & !men_squares,
            FastPiece { king: false, .. } => G::BOARD & !G::BOTTOM & !men[Color::White],
        }
    }

    /// Places the other pieces of the fast one's kind and opens their row.
    fn set_others(&mut self, others: G::Word) {
        let FastPiece { color, king } = self.fast;
        let fixed = &mut self.row.fixed;
        let kind = if king {
            &mut fixed.kings
        } else {
            &mut fixed.men
        };
        kind[color] = others;
        self.row.squares = self.free() & others.below_lowest();
    }

    /// Opens the next row.
    fn advance(&mut self) {
        let FastPiece { color, king } = self.fast;
        let fixed = &self.row.fixed;
        let others = if king {
            fixed.kings[color]
        } else {
            fixed.men[color]
        };
        // The lowest square of all must stay free for the fast piece.
        if let Some(others) = next_set(others, self.free().without_lowest()) {
            return self.set_others(others);
        }
        let count = others.count_ones();
        if self.next_placement() {
            self.set_others(lowest_set(count, self.free().without_lowest()));
        } else {
            self.seek();
        }
    }

    /// Places the pieces that are not of the fast one's kind anew, the fastest of them first; false
    /// if the next placement has another count of white men on their first rank, which is seldom.
    fn next_placement(&mut self) -> bool {
        let slice = self.index.slice();
        let FastPiece { color, king } = self.fast;
        let fixed = &mut self.row.fixed;
        let [white, black] = fixed.men.0;
        let by_black_king = king && color == Color::Black;
        if by_black_king {
            let free = G::BOARD & !(white | black);
            if let Some(kings) = next_set(fixed.kings[Color::White], free) {
                fixed.kings[Color::White] = kings;
                return true;
            }
        }
        let black_free = |white: G::Word| G::BOARD & !G::BOTTOM & !white;
        let next_black = if king {
            next_set(black, black_free(white))
        } else {
            None
        };
        if let Some(black) = next_black {
            fixed.men[Color::Black] = black;
        } else {
            let middle = G::BOARD & !G::BOTTOM & !G::TOP;
            let (on_row, elsewhere) = (white & G::BOTTOM, white & !G::BOTTOM);
            let next = match next_set(elsewhere, middle) {
                Some(elsewhere) => Some(on_row | elsewhere),
                None => next_set(on_row, G::BOTTOM)
                    .map(|on_row| on_row | lowest_set(elsewhere.count_ones(), middle)),
            };
            let Some(white) = next else {
                return false;
            };
            fixed.men[Color::White] = white;
            if king {
                let count = slice.men(Color::Black) as u32;
                fixed.men[Color::Black] = lowest_set(count, black_free(white));
            }
        }
        if by_black_king {
            let [white, black] = fixed.men.0;
            let count = slice.kings(Color::White) as u32;
            fixed.kings[Color::White] = lowest_set(count, G::BOARD & !(white | black));
        }
        true
    }
}

/// The lowest squares of some free ones.
fn lowest_set<W: Word>(count: u32, free: W) -> W {
    let squares = free.bits().take(count as usize);
    squares.fold(W::ZERO, |set, square| set | square)
}

/// The set after this one among all sets of its size on the squares `free`.
fn next_set<W: Word>(set: W, free: W) -> Option<W> {
    let mut lowest = W::ZERO;
    let mut bottom = free;
    for square in set.bits() {
        let up_to = square | square.wrapping_sub(W::ONE);
        let next = (free & !up_to).lowest();
        if next.any() && (set & next).is_empty() {
            return Some(set & !up_to | next | lowest);
        }
        lowest |= bottom.lowest();
        bottom = bottom.without_lowest();
    }
    None
}

impl<G: Geometry> Iterator for Rows<'_, G> {
    type Item = Row<G>;

    #[inline]
    fn next(&mut self) -> Option<Row<G>> {
        if self.left.is_empty() {
            return None;
        }
        if self.row.squares.is_empty() {
            self.advance();
        }
        let mut row = self.row;
        let count = u64::from(row.squares.count_ones());
        let left = self.left.end - self.left.start;
        if count > left {
            let mut squares = row.squares;
            for _ in 0..left {
                squares = squares.without_lowest();
            }
            row.squares ^= squares;
        }
        self.left.start += count.min(left);
        self.row.squares = G::Word::ZERO;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Board8x8, Board12x12, BoardAll8x8};

    fn rows_are_the_index<G: Geometry>(pieces: usize, stride: u64) {
        for slice in Slice::all_canonical(pieces, true) {
            let index = SliceIndex::<G>::new(slice);
            let FastPiece { color, king } = fast_piece(slice);
            for first in (0..index.len()).step_by(stride as usize) {
                let range = first..index.len().min(first + 700);
                let mut number = first;
                for row in Rows::new(&index, Color::Black, range.clone()) {
                    for square in row.squares.bits() {
                        let mut board = row.fixed;
                        let kind = if king {
                            &mut board.kings
                        } else {
                            &mut board.men
                        };
                        kind[color] |= square;
                        assert_eq!(
                            index.unrank(number, Color::Black),
                            board,
                            "{slice} {number}"
                        );
                        number += 1;
                    }
                }
                assert_eq!(number, range.end);
            }
        }
    }

    #[test]
    fn rows_follow_the_index() {
        rows_are_the_index::<Board8x8>(2, 300);
        rows_are_the_index::<Board8x8>(5, 60_001);
        rows_are_the_index::<Board12x12>(3, 2_003);
        rows_are_the_index::<BoardAll8x8>(4, 300_007);
    }
}
