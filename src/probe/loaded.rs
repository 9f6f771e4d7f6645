use std::path::Path;

use super::{ProbeError, Tablebase};
use crate::board::{ByColor, Color};
use crate::index::{Slice, SliceIndex};
use crate::parallel;
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{Codes, Metric, SliceValues, Wdl, stored_sides};

/// Positions read by one task, a multiple of any block.
const CHUNK: u64 = 1 << 16;

/// Finished tables of one slice read back whole into memory, what they leave out included, so that
/// reading values cannot fail any more. Takes 2 bits a result and 16 bits a distance.
#[derive(Debug)]
pub struct LoadedSlice {
    rule_set: RuleSetId,
    slice: Slice,
    positions: u64,
    /// In chunks; of symmetric slices White's side only.
    results: ByColor<Vec<Codes>>,
    /// By metric.
    distances: [Option<ByColor<Vec<Vec<u16>>>>; 3],
}

impl LoadedSlice {
    /// Reads the WDL table and those of the other metrics asked for from below a tables directory.
    /// Tables of the slices that captures lead to must be there as well.
    ///
    /// # Errors
    /// If one is missing or damaged anywhere.
    pub fn read(
        tables: &Path,
        rule_set: RuleSetId,
        slice: Slice,
        metrics: &[Metric],
    ) -> Result<LoadedSlice, ProbeError> {
        let slice = slice.canonical();
        let tables = Tablebase::open(&[tables.join(rule_set.name())]);
        let positions = slice.positions(rule_set.rules().geometry);
        let mut results = ByColor::default();
        for &side in stored_sides(slice) {
            results[side] = chunks(positions, |first, count| {
                let mut values = vec![Wdl::Draw; count];
                with_rules!(rule_set, R => {
                    tables.results_of::<R>(slice, side, first, &mut values)?;
                });
                let mut codes = Codes::default();
                codes.reset(count);
                for (place, &result) in values.iter().enumerate() {
                    codes.set(place, result as u8);
                }
                Ok(codes)
            })?;
        }
        let mut distances = [const { None }; 3];
        for &metric in metrics.iter().filter(|&&metric| metric != Metric::Wdl) {
            let mut plies = ByColor::default();
            for &side in stored_sides(slice) {
                plies[side] = chunks(positions, |first, count| {
                    let mut values = vec![0; count];
                    with_rules!(rule_set, R => {
                        tables.distances_of::<R>(slice, metric, side, first, &mut values)?;
                    });
                    Ok(values)
                })?;
            }
            distances[metric as usize] = Some(plies);
        }
        Ok(LoadedSlice {
            rule_set,
            slice,
            positions,
            results,
            distances,
        })
    }

    /// Calls `read` with a stored side and number for each position.
    fn each(&self, side: Color, first: u64, count: usize, mut read: impl FnMut(usize, Color, u64)) {
        if side == Color::White || !self.slice.is_symmetric() {
            for place in 0..count {
                read(place, side, first + place as u64);
            }
            return;
        }
        with_rules!(self.rule_set, R => {
            let index = SliceIndex::<<R as Rules>::Geometry>::new(self.slice);
            for place in 0..count {
                let board = index.unrank(first + place as u64, side);
                read(place, Color::White, index.rank(&board.flipped()));
            }
        });
    }
}

/// Makes the values of all positions in parallel, chunk by chunk.
fn chunks<T: Send>(
    positions: u64,
    read: impl Fn(u64, usize) -> Result<T, ProbeError> + Sync,
) -> Result<Vec<T>, ProbeError> {
    let chunks = parallel::map(positions.div_ceil(CHUNK), &|chunk| {
        let first = chunk * CHUNK;
        read(first, (positions - first).min(CHUNK) as usize)
    });
    chunks.into_iter().collect()
}

impl SliceValues for LoadedSlice {
    fn slice(&self) -> Slice {
        self.slice
    }

    fn positions(&self) -> u64 {
        self.positions
    }

    fn has(&self, metric: Metric) -> bool {
        metric == Metric::Wdl || self.distances[metric as usize].is_some()
    }

    fn results(&self, side: Color, first: u64, out: &mut [Wdl]) {
        self.each(side, first, out.len(), |place, side, position| {
            let chunk = &self.results[side][(position / CHUNK) as usize];
            let code = chunk.get((position % CHUNK) as usize);
            out[place] = Wdl::of(code.into()).expect("results are checked while loading");
        });
    }

    /// # Panics
    /// If the metric was not loaded.
    fn distances(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]) {
        let distances = self.distances[metric as usize].as_ref();
        let distances = distances.expect("distances are asked only of metrics that `has` affirms");
        self.each(side, first, out.len(), |place, side, position| {
            let chunk = &distances[side][(position / CHUNK) as usize];
            out[place] = chunk[(position % CHUNK) as usize];
        });
    }
}
