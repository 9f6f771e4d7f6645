//! Asking tables: the result of a position, its distances, and its moves in order of merit.
//!
//! A [`Tablebase`] is opened on directories. It reads the headers of the tables found there
//! ([`Inventory`]) and maps a table when it is first asked. A position is turned to the canonical
//! orientation of its slice, numbered, and looked up; where the rules alone decide (no piece, no
//! move, every move a capture into slices that are there) they do. What cannot be answered is a
//! [`ProbeError`]: unknown is never a draw.

mod bulk;
mod cache;
mod inventory;
mod line;
mod loaded;
pub(crate) mod look_ahead;
mod outcome;
mod paths;
mod ranking;
mod search;
mod stretches;
mod tablebase;
mod tables;
pub(crate) mod threats;
mod zeroed;

pub use cache::CacheStatistics;
pub use inventory::{CodecShare, Coverage, Ignored, Inventory, Place};
pub use line::{BestLine, LineEnd, LineError};
pub use loaded::{LoadedSlice, SliceResults};
pub use outcome::Outcome;
pub use paths::{PATHS_VARIABLE, table_paths};
pub use ranking::RankedMove;
pub use tablebase::{DEFAULT_CACHE, ProbeError, Tablebase};
