//! The board: geometries, bitboards, sides and positions, without any rule of play.
//!
//! Two views of a position live here, each for one job.
//!
//! * [`Position`] is what people and files exchange: a variant, a side to move and piece sets
//!   numbered as that variant numbers its squares (bit `n - 1` is square `n`). It is not generic.
//! * [`Board`] is what the move generator and the solver compute with: bitboards in the layout of
//!   a [`Geometry`], where a step in any direction is one rotation and one mask.
//!
//! A geometry's layout is linear: the bit of a cell is `a * rank + b * file` modulo the word size,
//! so a step in a compass direction is a rotation by a constant. The constants are chosen so that
//! all 32 squares of the 8x8 board fit a `u32` without gaps, which halves the memory of the solver
//! and doubles the lanes of its vector loops.

mod color;
mod geometry;
mod position;
mod word;

pub use color::{ByColor, Color};
pub(crate) use geometry::each_direction;
pub use geometry::{
    Board8x8, Board10x8, Board10x10, Board12x12, BoardAll8x8, Dir, Dirs, Geometry, GeometryId,
};
pub use position::{Board, Piece, Position, PositionError, Square};
pub use word::{Bits, Word};
