use super::Variant;
use crate::board::{ByColor, Color, Piece, Position, Square};

/// A legal move of a [`Position`], in the variant's own squares.
///
/// Two moves are the same if they agree in `from`, `to`, `captured` and `promotes`; the routes by
/// which a capture reaches its end do not make it another move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub from: Square,
    pub to: Square,
    /// The pieces taken; empty for a quiet move.
    pub captured: u128,
    /// What moves, before any promotion.
    pub piece: Piece,
    /// The move ends with a man becoming a king.
    pub promotes: bool,
    /// Every route of a capture: the squares stood on, `from` first, `to` last. Where a flying
    /// king goes straight on to the next capture, the square right behind the captured piece is
    /// named. A quiet move has the one route `[from, to]`.
    pub routes: Vec<Vec<Square>>,
}

impl Move {
    pub fn is_capture(&self) -> bool {
        self.captured != 0
    }

    /// The same move on the board of a variant turned round, see [`Position::flipped`].
    pub fn flipped(&self, variant: Variant) -> Move {
        let turn = |square: Square| Square::new(variant.squares() - 1 - square.index());
        let captured = Square::of(self.captured).map(|s| turn(s).bit());
        let route = |route: &Vec<Square>| route.iter().map(|&s| turn(s)).collect();
        let mut routes: Vec<Vec<Square>> = self.routes.iter().map(route).collect();
        routes.sort();
        Move {
            from: turn(self.from),
            to: turn(self.to),
            captured: captured.fold(0, |set, bit| set | bit),
            routes,
            ..*self
        }
    }

    /// A capture or any move of a man: what cannot be taken back (see DTC).
    pub fn is_conversion(&self) -> bool {
        self.is_capture() || self.piece == Piece::Man
    }
}

impl Position {
    /// The position after a move that is legal in this one. In Breakthrough a man that arrives
    /// appears as a king, and the game is over.
    pub fn after(&self, m: &Move) -> Position {
        let us = self.side();
        let mut men = ByColor::new(self.men(Color::White), self.men(Color::Black));
        let mut kings = ByColor::new(self.kings(Color::White), self.kings(Color::Black));
        men[!us] &= !m.captured;
        kings[!us] &= !m.captured;
        men[us] &= !m.from.bit();
        kings[us] &= !m.from.bit();
        if m.piece == Piece::King || m.promotes {
            kings[us] |= m.to.bit();
        } else {
            men[us] |= m.to.bit();
        }
        Position::after_move(self.variant(), men, kings, !us)
    }
}
