//! The fast move generator: whole-board shifts on bitboards, compiled once per rule set.
//!
//! Every function is generic over [`Rules`], whose [`SET`](Rules::SET) is a constant, and works
//! inside on a view of the position in which the side to move is a constant too; so each direction
//! is a rotation by a constant and no rule is looked up while moves are made.
//!
//! * Quiet moves of all men in one direction are one shift, those of all flying kings one fill;
//!   counting them is counting bits.
//! * Captures are found for all men at once in the same way, then followed piece by piece. A
//!   flying king is followed on *all* its landing squares together, as a set: squares from which
//!   it would go on differ in nothing but the route, and routes are not moves. A finished capture
//!   is therefore a fan: one set of captured pieces with several squares to end on.
//! * Which captures may be played is an order of preference, [`Priority`]: a number that is built
//!   up piece by piece while a capture is followed; only the highest survive.
//!
//! A capture of n pieces takes n levels of recursion; long ones (six pieces and more) remember the
//! states they have been through, so that a crowded board costs the number of different captured
//! sets, not the number of routes.

mod captures;
mod perft;
mod priority;
mod rows;
mod view;

pub use perft::{count_moves, perft, perft_of};
pub use priority::Priority;
pub use rows::{FastPiece, capture_squares};

use self::captures::CaptureList;
use self::view::View;
use super::Rules;
use crate::board::{Board, Color, Geometry, Word};

/// The word of a rule set's geometry.
pub type WordOf<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// A legal move in the bit layout of the geometry.
///
/// Two moves are the same if they agree in `from`, `to`, `captured` and `promotes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoardMove<W> {
    /// One bit.
    pub from: W,
    /// One bit; the same as `from` for a capture that comes back to where it began.
    pub to: W,
    /// The pieces taken; empty for a quiet move.
    pub captured: W,
    /// A king moved.
    pub king: bool,
    /// The move ends with a man becoming a king.
    pub promotes: bool,
}

impl<W: Word> BoardMove<W> {
    #[inline(always)]
    pub fn is_capture(&self) -> bool {
        self.captured.any()
    }

    /// A capture or any move of a man: what cannot be taken back (see DTC).
    #[inline(always)]
    pub fn is_conversion(&self) -> bool {
        self.is_capture() || !self.king
    }
}

/// Runs an expression with `$view` being the position seen by its side to move, a constant.
macro_rules! with_view {
    ($R:ty, $board:expr, $view:ident => $body:expr) => {
        match $board.side {
            Color::White => {
                let $view = View::<$R, false>::new($board);
                $body
            }
            Color::Black => {
                let $view = View::<$R, true>::new($board);
                $body
            }
        }
    };
}
use with_view;

/// A receiver of moves. The generator calls it through a pointer: it is large, and compiled once
/// for a rule set rather than once for each caller.
type Receiver<'f, R> = &'f mut dyn FnMut(BoardMove<WordOf<R>>);

/// Calls `f` with every legal move, each once, in no particular order.
#[inline]
pub fn for_each_move<R: Rules>(
    board: &Board<R::Geometry>,
    mut f: impl FnMut(BoardMove<WordOf<R>>),
) {
    if !send_captures::<R>(board, &mut f) {
        send_quiet_moves::<R>(board, &mut f);
    }
}

/// Calls `f` with every legal capture.
#[inline]
pub fn for_each_capture<R: Rules>(
    board: &Board<R::Geometry>,
    mut f: impl FnMut(BoardMove<WordOf<R>>),
) {
    send_captures::<R>(board, &mut f);
}

/// Calls `f` with every quiet move, legal only if there is no capture ([`has_capture`]).
#[inline]
pub fn for_each_quiet<R: Rules>(
    board: &Board<R::Geometry>,
    mut f: impl FnMut(BoardMove<WordOf<R>>),
) {
    send_quiet_moves::<R>(board, &mut f);
}

/// Returns whether there are captures.
#[inline(never)]
fn send_captures<R: Rules>(board: &Board<R::Geometry>, f: Receiver<R>) -> bool {
    with_view!(R, board, view => {
        if view.is_over() || !view.has_capture() {
            return false;
        }
        let mut list = CaptureList::new();
        view.captures(&mut list);
        list.for_each(f);
        true
    })
}

#[inline(never)]
fn send_quiet_moves<R: Rules>(board: &Board<R::Geometry>, mut f: Receiver<R>) {
    with_view!(R, board, view => if !view.is_over() { view.quiet_moves(&mut f) })
}

/// Whether the side to move can, and so must, capture.
#[inline(never)]
pub fn has_capture<R: Rules>(board: &Board<R::Geometry>) -> bool {
    with_view!(R, board, view => !view.is_over() && view.has_capture())
}

/// Whether the side to move has any legal move.
#[inline(never)]
pub fn has_move<R: Rules>(board: &Board<R::Geometry>) -> bool {
    with_view!(R, board, view => !view.is_over() && (view.has_quiet_move() || view.has_capture()))
}

/// The position after a move that is legal in this one. In Breakthrough a man that arrives appears
/// as a king, and the game is over.
#[inline(always)]
pub fn apply<R: Rules>(board: &Board<R::Geometry>, m: &BoardMove<WordOf<R>>) -> Board<R::Geometry> {
    let us = board.side;
    let mut after = Board {
        side: !us,
        ..*board
    };
    after.men[!us] &= !m.captured;
    after.kings[!us] &= !m.captured;
    // `from` may equal `to`, so clear before setting.
    if m.king {
        after.kings[us] = after.kings[us] & !m.from | m.to;
    } else {
        after.men[us] &= !m.from;
        if m.promotes {
            after.kings[us] |= m.to;
        } else {
            after.men[us] |= m.to;
        }
    }
    after
}
