//! Tables: what is known of a slice, on disk and on its way there.
//!
//! One file holds one metric of one canonical slice: `<rule set>/<SLICE>.wdl`, `.dtc` or `.dtw`
//! below a tables directory. Positions are stored in the order of
//! [`SliceIndex`](crate::index::SliceIndex), all positions with White to move, then all with Black
//! to move (left out where it mirrors White's), in blocks of 16384 that are compressed with zstd
//! one by one, so that a position costs the decoding of one block. A result takes 2 bits before
//! compression, a distance 8 or 16. Distances say nothing by themselves: whether a position is won
//! or lost stands in the WDL table.
//!
//! * [`write_table`] streams any [`SliceValues`] into a file that appears complete or not at all.
//! * [`TableFile`] maps a file and answers from it, [`LoadedSlice`] reads it back whole.
//! * [`Header`] carries the counts of results and the longest positions, so statistics cost no
//!   pass over the values.
//!
//! Header, every block and the whole content have checksums of their own.

mod error;
mod header;
mod loaded;
mod reader;
#[cfg(test)]
pub(crate) mod testing;
mod value;
mod writer;

pub use error::TableError;
pub use header::{Census, FORMAT_VERSION, Header, Longest};
pub use loaded::LoadedSlice;
pub use reader::TableFile;
pub use value::{Metric, SliceValues, Wdl};
pub use writer::{table_path, write_table};
