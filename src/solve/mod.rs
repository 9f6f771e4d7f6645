//! The solver: retrograde analysis of a slice, men block by men block, a word of positions at a
//! time; and the way from a wish to finished tables.
//!
//! * [`plan`]: which slices a wish needs, and in which order;
//! * [`SliceSolver`]: what turns a slice into values, given those it leads to;
//! * [`generate`]: the driver that takes a plan to files, resumes, and shares a directory.

mod adjacency;
mod block;
mod capture;
mod cells;
mod cpu;
mod distances;
mod dtw;
mod estimate;
mod generate;
mod levels;
mod lock;
mod lookup;
pub mod plan;
mod planes;
mod progress;
pub mod reference;
mod settings;
mod slice;
mod solver;
mod store;
mod sweep;
mod values;

pub use distances::{Distances, DtcDistances, DtwDistances, UNKNOWN};
pub use dtw::{DtwStore, solve_dtw};
pub use estimate::{Estimate, estimate};
pub use generate::{Event, GenerateError, generate};
pub use plan::Plan;
pub use planes::{Fast, PlaneSlice, PlaneWord, Planes, solver_orientation};
pub use settings::Settings;
pub use slice::solve;
pub use solver::{Scratch, SliceSolver, SolveError, solver};
pub use store::Store;
pub use values::SolvedSlice;
