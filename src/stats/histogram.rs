use super::CHUNK;
use crate::board::Color;
use crate::index::Slice;
use crate::parallel;
use crate::probe::{ProbeError, Tablebase};
use crate::rules::{RuleSetId, with_rules};
use crate::table::{Metric, Wdl, stored_sides};

/// How many positions are won and lost in how many plies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// By plies, as far as there are any.
    pub wins: Vec<u64>,
    /// Likewise.
    pub losses: Vec<u64>,
}

impl Histogram {
    /// Counts the positions of another one too.
    pub fn add(&mut self, other: &Histogram) {
        for (mine, others) in [
            (&mut self.wins, &other.wins),
            (&mut self.losses, &other.losses),
        ] {
            mine.resize(mine.len().max(others.len()), 0);
            mine.iter_mut().zip(others).for_each(|(m, o)| *m += o);
        }
    }

    fn count(&mut self, result: Wdl, plies: u16) {
        let counts = match result {
            Wdl::Win => &mut self.wins,
            Wdl::Draw => return,
            Wdl::Loss => &mut self.losses,
        };
        let plies = usize::from(plies);
        if plies >= counts.len() {
            counts.resize(plies + 1, 0);
        }
        counts[plies] += 1;
    }
}

/// The distances of a slice, both sides to move; of a symmetric slice White to move only, since
/// every position with Black to move is one of those with colours exchanged.
///
/// # Errors
/// As [`Tablebase::probe`]; the table of the metric must be there.
pub fn histogram(
    tables: &Tablebase,
    rule_set: RuleSetId,
    slice: Slice,
    metric: Metric,
) -> Result<Histogram, ProbeError> {
    let slice = slice.canonical();
    let positions = slice.positions(rule_set.rules().geometry);
    let mut all = Histogram::default();
    for &side in stored_sides(slice) {
        let parts = parallel::map(positions.div_ceil(CHUNK), &|chunk| {
            let first = chunk * CHUNK;
            let count = (positions - first).min(CHUNK) as usize;
            count_chunk(tables, rule_set, slice, metric, side, first, count)
        });
        for part in parts {
            all.add(&part?);
        }
    }
    Ok(all)
}

fn count_chunk(
    tables: &Tablebase,
    rule_set: RuleSetId,
    slice: Slice,
    metric: Metric,
    side: Color,
    first: u64,
    count: usize,
) -> Result<Histogram, ProbeError> {
    let mut results = vec![Wdl::Draw; count];
    let mut plies = vec![0; count];
    with_rules!(rule_set, R => {
        tables.results_of::<R>(slice, side, first, &mut results)?;
        tables.distances_of::<R>(slice, metric, side, first, &mut plies)?;
    });
    let mut histogram = Histogram::default();
    for (result, plies) in results.into_iter().zip(plies) {
        histogram.count(result, plies);
    }
    Ok(histogram)
}
