//! The index: every position of a slice has a number, every number below the count a position.
//!
//! A [`Slice`] is a material balance. Within a slice the men stand outermost: all placements of
//! the kings for one configuration of the men (a *men block*) lie together, because a man's move
//! is irreversible and a block is therefore the unit the solver works on.
//!
//! ```text
//! number = block * (placements of kings) + rank(White's kings) * C(free, black kings) + rank(Black's kings)
//! ```
//!
//! Sets are ranked by the combinatorial number system over the squares still free, in the order
//! of the geometry's bits. There are no gaps: no man ever stands on its promotion row, and as a
//! white man may stand on Black's promotion row where a black one cannot, blocks are first split
//! by how many white men do.
//!
//! Ranking costs a population count for every piece; all arithmetic is in `u64`, which holds any
//! slice of up to [`MAX_PIECES`] pieces on every geometry (a test multiplies them out in `u128`).

mod binomial;
mod slice;
mod slice_index;
mod subsets;

pub use binomial::{binomial, rank, unrank};
pub use slice::{MAX_PIECES, ParseSliceError, Slice};
pub use slice_index::SliceIndex;
pub use subsets::Subsets;
