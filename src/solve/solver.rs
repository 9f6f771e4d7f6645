use super::reference::{Solved, Value, Values, by_bitboards};
use crate::board::{ByColor, Color};
use crate::index::{Slice, SliceIndex};
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{Metric, SliceValues, Wdl};

/// Why a slice was not solved.
#[derive(Debug, thiserror::Error)]
#[error("cannot solve {slice} of {rule_set}: {reason}")]
pub struct SolveError {
    pub rule_set: RuleSetId,
    pub slice: Slice,
    pub reason: String,
}

/// Solves one slice after another of one rule set and keeps what later slices need.
pub trait SliceSolver: Send {
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

    /// Positions solved in a second, roughly.
    fn rate(&self, threads: usize) -> f64;
}

/// The solver with which tables of a rule set are made.
pub fn solver(rule_set: RuleSetId) -> Box<dyn SliceSolver> {
    with_rules!(rule_set, R => Box::new(Solved::<R>::new()))
}

impl<R: Rules> SliceSolver for Solved<R> {
    fn solve(
        &mut self,
        slice: Slice,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<&dyn SliceValues, SolveError> {
        let values = Solved::solve(self, slice, by_bitboards::<R>);
        progress(super::plan::stored_positions(R::ID, slice));
        Ok(self.slices.entry(slice).insert_entry(values).into_mut())
    }

    fn load(&mut self, values: &dyn SliceValues) {
        let count = values.positions() as usize;
        let of_side = |side: Color| {
            let mut results = vec![Wdl::Draw; count];
            values.results(side, 0, &mut results);
            let distances = |metric| {
                let mut plies = vec![0; count];
                if values.has(metric) {
                    values.distances(metric, side, 0, &mut plies);
                }
                plies
            };
            let plies = distances(Metric::Dtc)
                .into_iter()
                .zip(distances(Metric::Dtw));
            let each = results.into_iter().zip(plies);
            each.map(|(result, (dtc, dtw))| Value { result, dtc, dtw })
                .collect()
        };
        let loaded = Values {
            index: SliceIndex::new(values.slice()),
            values: ByColor(Color::BOTH.map(of_side)),
        };
        self.slices.insert(values.slice(), loaded);
    }

    fn forget(&mut self, slice: Slice) {
        self.slices.remove(&slice);
    }

    fn resident_bytes(&self, slice: Slice) -> u64 {
        2 * slice.positions(R::SET.geometry) * size_of::<Value>() as u64
    }

    /// All moves of the slice are kept while it is solved: 8 bytes for each, about 10 a position.
    fn working_bytes(&self, slice: Slice) -> u64 {
        2 * slice.positions(R::SET.geometry) * 100
    }

    /// It works in one thread.
    fn rate(&self, _: usize) -> f64 {
        300_000.0
    }
}
