//! From rules to finished tables.
//!
//! * [`plan`]: which slices a wish needs, and in which order;
//! * [`SliceSolver`]: what turns a slice into values, given those it leads to;
//! * [`generate`]: the driver that takes a plan to files, resumes, and shares a directory.

mod generate;
mod lock;
pub mod plan;
mod solver;

pub use generate::{Event, GenerateError, Settings, generate};
pub use plan::Plan;
pub use solver::{SliceSolver, SolveError};
