use super::captures::CaptureList;
use super::view::View;
use super::{WordOf, apply, for_each_move, with_view};
use crate::board::{Board, Color, Position};
use crate::rules::{Rules, with_rules};

/// The number of legal moves; quiet ones are counted without being made.
#[inline]
pub fn count_moves<R: Rules>(board: &Board<R::Geometry>) -> u64 {
    with_view!(R, board, view => {
        if view.is_over() {
            0
        } else if view.has_capture() {
            let mut list = CaptureList::<WordOf<R>>::new();
            view.captures(&mut list);
            list.count()
        } else {
            view.count_quiet_moves()
        }
    })
}

/// The number of sequences of exactly `depth` legal moves.
pub fn perft<R: Rules>(board: &Board<R::Geometry>, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => count_moves::<R>(board),
        _ => {
            let mut nodes = 0;
            for_each_move::<R>(board, |m| {
                nodes += perft::<R>(&apply::<R>(board, &m), depth - 1)
            });
            nodes
        }
    }
}

/// [`perft`] of a position of any variant.
pub fn perft_of(position: &Position, depth: u32) -> u64 {
    with_rules!(position.variant().rule_set(), R => perft::<R>(&position.to_board(), depth))
}
