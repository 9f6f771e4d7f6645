//! The solver: retrograde analysis of a slice, men block by men block, a word of positions at a
//! time.

mod adjacency;
mod block;
mod capture;
mod distances;
mod dtw;
mod lookup;
mod planes;
pub mod reference;
mod slice;
mod store;
mod sweep;
mod values;

pub use distances::{Distances, UNKNOWN};
pub use dtw::{DtwStore, solve_dtw};
pub use planes::{Fast, PlaneSlice, PlaneWord, Planes, solver_orientation};
pub use slice::solve;
pub use store::Store;
pub use values::SolvedSlice;
