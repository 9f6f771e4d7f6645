//! Tables: what is known of a slice, on disk and on its way there.

mod value;

pub use value::{Metric, SliceValues, Wdl};
