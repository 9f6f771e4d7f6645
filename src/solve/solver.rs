use crate::index::Slice;
use crate::rules::RuleSetId;
use crate::table::SliceValues;

/// Why a slice was not solved.
#[derive(Debug, thiserror::Error)]
#[error("cannot solve {slice} of {rule_set}: {reason}")]
pub struct SolveError {
    pub rule_set: RuleSetId,
    pub slice: Slice,
    pub reason: String,
}

/// Solves one slice after another of one rule set and keeps what later slices need.
pub trait SliceSolver {
    /// Solves a canonical slice. All its [dependencies](super::plan::dependencies) are known,
    /// either solved or loaded, and not forgotten. Distances are those of the metrics the solver
    /// was made for. `progress` may be told of positions done, from any thread, at any rate.
    fn solve(
        &mut self,
        slice: Slice,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<&dyn SliceValues, SolveError>;

    /// Takes over values solved earlier.
    fn load(&mut self, values: &dyn SliceValues);

    /// Drops what is known of a slice: none that needs it is to be solved any more.
    fn forget(&mut self, slice: Slice);

    /// The bytes a slice occupies while it is known.
    fn resident_bytes(&self, slice: Slice) -> u64;

    /// The bytes used in addition while a slice is being solved.
    fn working_bytes(&self, slice: Slice) -> u64;

    /// Positions solved in a second by one thread, roughly.
    fn rate(&self) -> f64;
}
