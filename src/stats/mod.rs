//! What whole slices hold: how their distances are distributed, and where the remarkable
//! positions are.
//!
//! Both read a slice from its tables chunk by chunk, on all threads of the current pool, and give
//! the same answer in the same order whatever their number.

mod histogram;
mod mining;

pub use histogram::{Histogram, histogram};
pub use mining::{Find, Quarry, Remark, mine};

use crate::board::{Color, Position};
use crate::index::{Slice, SliceIndex};
use crate::rules::{Rules, Variant, with_rules};

/// Positions read by one task.
const CHUNK: u64 = 1 << 14;

/// The position that a canonical slice has under a number, as the variant presents it; `flipped`
/// with colours exchanged and the board turned.
pub fn position_of(
    variant: Variant,
    slice: Slice,
    number: u64,
    side: Color,
    flipped: bool,
) -> Position {
    with_rules!(variant.rule_set(), R => {
        let index = SliceIndex::<<R as Rules>::Geometry>::new(slice);
        let board = index.unrank(number, side);
        let board = if flipped { board.flipped() } else { board };
        Position::from_board(variant, &board)
    })
}
