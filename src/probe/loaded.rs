use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::look_ahead::SliceDistances;
use super::{ProbeError, Tablebase};
use crate::board::{ByColor, Color};
use crate::index::{Slice, SliceIndex};
use crate::parallel;
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{
    Codes, HASH_CHUNK, Metric, SliceValues, TableError, Wdl, hash_chunk, hash_values, stored_sides,
};

/// Positions read by one task, a multiple of any block and of the codes of a byte.
pub(super) const CHUNK: u64 = 1 << 16;

/// All results of one slice, what its table leaves out included, in two bits each.
#[derive(Debug)]
pub struct SliceResults {
    /// Of symmetric slices White's side only.
    codes: ByColor<Codes>,
}

impl SliceResults {
    /// Asks the tables for every result of a canonical slice, on all threads.
    ///
    /// # Errors
    /// As [`Tablebase::probe`]; also if the system does not give the memory.
    pub fn read<R: Rules>(tables: &Tablebase, slice: Slice) -> Result<SliceResults, ProbeError> {
        let table = tables.table(R::ID, slice, Metric::Wdl);
        let table = table.ok_or_else(|| tables.missing(R::ID, slice, Metric::Wdl))?;
        let positions = slice.positions(R::SET.geometry);
        let mut codes: ByColor<Codes> = ByColor::default();
        for &side in stored_sides(slice) {
            let room = codes[side].try_reset(positions);
            room.map_err(TableError::io("read into memory", &table.path))?;
            let chunks = codes[side].bytes_mut().chunks_mut(CHUNK as usize / 4);
            let chunks: Vec<Mutex<&mut [u8]>> = chunks.map(Mutex::new).collect();
            let read = parallel::map(chunks.len() as u64, &|i| {
                let first = i * CHUNK;
                let count = (positions - first).min(CHUNK) as usize;
                let mut part = Codes::default();
                tables.codes_of::<R>(slice, side, first, count, &mut part)?;
                let chunk = chunks[i as usize].lock();
                let mut chunk = chunk.unwrap_or_else(PoisonError::into_inner);
                chunk.copy_from_slice(part.bytes());
                Ok(())
            });
            read.into_iter().collect::<Result<(), ProbeError>>()?;
        }
        Ok(SliceResults { codes })
    }

    /// The bytes all results of a slice take.
    pub fn bytes(rule_set: RuleSetId, slice: Slice) -> u64 {
        let positions = slice.positions(rule_set.rules().geometry);
        positions.div_ceil(4) * stored_sides(slice).len() as u64
    }

    /// The result of a position with a side to move that is stored.
    ///
    /// # Panics
    /// If there is no such position.
    #[inline(always)]
    pub fn get(&self, side: Color, position: u64) -> Wdl {
        let code = self.codes[side].get(position as usize);
        Wdl::of(code.into()).expect("results are checked while reading")
    }
}

/// Finished tables of one slice read back whole into memory, what they leave out included, so that
/// reading values cannot fail any more. Takes 2 bits a result and 16 bits a distance.
#[derive(Debug)]
pub struct LoadedSlice {
    rule_set: RuleSetId,
    slice: Slice,
    positions: u64,
    results: SliceResults,
    /// By metric.
    distances: [Option<SliceDistances>; 3],
}

impl LoadedSlice {
    /// Bytes each thread has of the values whose hash is compared: a result in one, a distance in
    /// two and once more as it is hashed.
    pub const BYTES_PER_THREAD: u64 = 5 * HASH_CHUNK;

    /// Reads the WDL table and those of the other metrics asked for from below a tables directory.
    /// Tables of the slices that captures lead to must be there as well. So many bytes of decoded
    /// blocks are kept meanwhile.
    ///
    /// # Errors
    /// If one is missing or damaged anywhere, or does not have the values its header has the hash
    /// of.
    pub fn read(
        tables: &Path,
        rule_set: RuleSetId,
        slice: Slice,
        metrics: &[Metric],
        cache: u64,
    ) -> Result<LoadedSlice, ProbeError> {
        let slice = slice.canonical();
        let tables = Tablebase::with_cache(&[tables.join(rule_set.name())], cache);
        let positions = slice.positions(rule_set.rules().geometry);
        let results = with_rules!(rule_set, R => SliceResults::read::<R>(&tables, slice)?);
        let mut distances = [const { None }; 3];
        for &metric in metrics.iter().filter(|&&metric| metric != Metric::Wdl) {
            distances[metric as usize] = Some(with_rules!(rule_set, R => {
                SliceDistances::read::<R>(&tables, &results, slice, metric)?
            }));
        }
        let loaded = LoadedSlice {
            rule_set,
            slice,
            positions,
            results,
            distances,
        };
        loaded.check_hashes(&tables)?;
        Ok(loaded)
    }

    /// Compares all values with the hashes in the headers of their tables, on all threads.
    fn check_hashes(&self, tables: &Tablebase) -> Result<(), TableError> {
        for metric in Metric::ALL.into_iter().filter(|&metric| self.has(metric)) {
            let Some(table) = tables.table(self.rule_set, self.slice, metric) else {
                continue;
            };
            for &side in stored_sides(self.slice) {
                let chunks = parallel::map(self.positions.div_ceil(HASH_CHUNK), &|chunk| {
                    let first = chunk * HASH_CHUNK;
                    let count = (self.positions - first).min(HASH_CHUNK) as usize;
                    let mut results = vec![Wdl::Draw; count];
                    self.results(side, first, &mut results);
                    let mut plies = vec![0; if metric == Metric::Wdl { 0 } else { count }];
                    if metric != Metric::Wdl {
                        self.distances(metric, side, first, &mut plies);
                    }
                    hash_chunk(metric, &results, &plies)
                });
                let told = table.header.stored[side].as_ref().map(|stored| stored.hash);
                if told.is_some_and(|told| told != hash_values(chunks)) {
                    let path = table.path.clone();
                    return Err(TableError::Values { path, side });
                }
            }
        }
        Ok(())
    }

    /// The bytes that results and distances of these metrics take.
    pub fn bytes(rule_set: RuleSetId, slice: Slice, metrics: &[Metric]) -> u64 {
        let distances = metrics.iter().filter(|&&metric| metric != Metric::Wdl);
        let plies = SliceDistances::bytes(rule_set, slice);
        SliceResults::bytes(rule_set, slice) + distances.count() as u64 * plies
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
pub(super) fn each_chunk<T: Send>(
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
            out[place] = self.results.get(side, position);
        });
    }

    /// # Panics
    /// If the metric was not loaded.
    fn distances(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]) {
        let distances = self.distances[metric as usize].as_ref();
        let distances = distances.expect("distances are asked only of metrics that `has` affirms");
        self.each(side, first, out.len(), |place, side, position| {
            out[place] = distances.get(side, position);
        });
    }
}
