use std::ops::Range;

use super::Side;
use super::codes::Codes;
use super::rows::{Rows, fast_piece};
use crate::board::{Board, Color, Dirs, Geometry, Word};
use crate::index::SliceIndex;
use crate::rules::Rules;
use crate::rules::movegen::{FastPiece, capture_squares};

/// Which positions a table does not store, because the prober can do without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Those in which the side to move can capture.
    pub captures: bool,
    /// Those in which the opponent could capture if he were to move.
    pub threats: bool,
}

/// The squares of the fast piece on which the side to move has a capture.
type CaptureSquares<G> = fn(&Board<G>, FastPiece) -> <G as Geometry>::Word;

/// The positions of one slice and side to move, in blocks, and which of them are stored. The rule
/// set is in it as data, so that codecs are compiled once for each geometry.
#[derive(Clone, Debug)]
pub(super) struct Domain<G: Geometry> {
    pub index: SliceIndex<G>,
    pub side: Color,
    pub fast: FastPiece,
    pub king_moves: Dirs,
    /// White's.
    man_moves: Dirs,
    flying: bool,
    left_out: LeftOut,
    captures: CaptureSquares<G>,
    /// Positions in a block.
    pub block: u64,
}

impl<G: Geometry> Domain<G> {
    pub fn new<R: Rules<Geometry = G>>(side: &Side, block: u64) -> Self {
        Domain {
            index: SliceIndex::new(side.slice),
            side: side.side,
            fast: fast_piece(side.slice),
            king_moves: R::SET.king_moves,
            man_moves: R::SET.man_moves,
            flying: R::SET.flying,
            left_out: side.left_out,
            captures: capture_squares::<R>,
            block,
        }
    }

    pub fn blocks(&self) -> u64 {
        self.index.len().div_ceil(self.block)
    }

    pub fn range(&self, block: u64) -> Range<u64> {
        let first = block * self.block;
        first..self.index.len().min(first + self.block)
    }

    /// In which directions a piece moves, and whether over any distance.
    pub fn moves(&self, piece: FastPiece) -> (Dirs, bool) {
        match (piece.king, piece.color) {
            (true, _) => (self.king_moves, self.flying),
            (false, Color::White) => (self.man_moves, false),
            (false, Color::Black) => (self.man_moves.reversed(), false),
        }
    }

    /// The squares of the fast piece for which a position is left out.
    #[inline]
    pub fn left_out(&self, fixed: &Board<G>) -> G::Word {
        let mut squares = G::Word::ZERO;
        if self.left_out.captures {
            squares |= (self.captures)(fixed, self.fast);
        }
        if self.left_out.threats {
            squares |= self.threats(fixed);
        }
        squares
    }

    /// The squares of the fast piece for which the opponent could capture if he were to move.
    #[inline]
    pub fn threats(&self, fixed: &Board<G>) -> G::Word {
        let turned = Board {
            side: !fixed.side,
            ..*fixed
        };
        (self.captures)(&turned, self.fast)
    }

    /// Gives the codes of positions from number `first` on that are left out the code 3.
    pub fn leave_out(&self, first: u64, codes: &mut Codes) {
        let mut place = 0;
        for row in Rows::new(&self.index, self.side, first..first + codes.len() as u64) {
            let out = self.left_out(&row.fixed);
            for square in row.squares.bits() {
                if (out & square).any() {
                    codes.set(place, 3);
                }
                place += 1;
            }
        }
    }
}
