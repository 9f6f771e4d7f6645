use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{
    DtcDistances, DtwDistances, DtwStore, PlaneSlice, PlaneWord, SolvedSlice, Store, solve,
    solve_dtw,
};
use crate::board::Geometry;
use crate::index::Slice;
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{Metric, SliceValues};

/// Why a slice was not solved.
#[derive(Debug, thiserror::Error)]
#[error("cannot solve {slice} of {rule_set}: {reason}")]
pub struct SolveError {
    pub rule_set: RuleSetId,
    pub slice: Slice,
    pub reason: String,
}

impl SolveError {
    /// The error that says which slice is missing, if one is that this one leads to or is.
    pub(super) fn if_missing<R: Rules>(
        slice: Slice,
        is_there: impl Fn(Slice) -> bool,
    ) -> Result<(), SolveError> {
        let needed = super::plan::dependencies(&R::SET, slice).into_iter();
        match needed.chain([slice]).find(|&needed| !is_there(needed)) {
            None => Ok(()),
            Some(needed) => Err(SolveError {
                rule_set: R::ID,
                slice: slice.canonical(),
                reason: format!("it needs {needed}, which must be solved or loaded first"),
            }),
        }
    }
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

    /// Takes over values solved earlier: results, and distances to win if it was made for these.
    fn load(&mut self, values: &dyn SliceValues) -> Result<(), SolveError>;

    /// Drops what is known of a slice: none that needs it is to be solved any more.
    fn forget(&mut self, slice: Slice);

    /// The bytes of memory a slice must occupy while it is known.
    fn resident_bytes(&self, slice: Slice) -> u64;

    /// The bytes of temporary files a slice occupies while it is known.
    fn scratch_bytes(&self, _: Slice) -> u64 {
        0
    }

    /// The bytes used in addition while a slice is being solved.
    fn working_bytes(&self, slice: Slice) -> u64;

    /// The bytes used in addition while a slice is being loaded.
    fn loading_bytes(&self, slice: Slice) -> u64;

    /// Positions solved in a second, roughly.
    fn rate(&self, threads: usize) -> f64;
}

/// The solver with which tables of a rule set are made, distances of these metrics included.
/// `scratch`: results that have no room in memory may go to files.
pub fn solver(
    rule_set: RuleSetId,
    metrics: &[Metric],
    scratch: Option<Scratch>,
) -> Box<dyn SliceSolver> {
    with_rules!(rule_set, R => Box::new(WordSolver::<R>::new(metrics, scratch)))
}

/// Where to keep results that have no room in memory.
#[derive(Clone, Debug)]
pub struct Scratch {
    pub directory: PathBuf,
    /// The most bytes to use in memory; all results go to files if none.
    pub memory: Option<u64>,
}

/// The block solver with the results it has to remember.
struct WordSolver<R: Rules> {
    with_dtc: bool,
    with_dtw: bool,
    store: Store<R::Geometry>,
    dtw_store: DtwStore<R::Geometry>,
    scratch: Option<Scratch>,
    /// Slices in memory rather than in files.
    in_memory: HashSet<Slice>,
    /// What was solved last.
    solved: Option<SolvedSlice<R::Geometry>>,
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>> WordSolver<R> {
    fn new(metrics: &[Metric], scratch: Option<Scratch>) -> Self {
        WordSolver {
            with_dtc: metrics.contains(&Metric::Dtc),
            with_dtw: metrics.contains(&Metric::Dtw),
            store: Store::new(),
            dtw_store: DtwStore::new(),
            scratch,
            in_memory: HashSet::new(),
            solved: None,
        }
    }

    /// Room for the results of a slice.
    fn new_planes(&mut self, slice: Slice) -> Result<PlaneSlice<R::Geometry>, SolveError> {
        let bytes = PlaneSlice::<R::Geometry>::bytes;
        if let Some(scratch) = &self.scratch {
            let known = self.in_memory.iter().map(|&s| bytes(s)).sum::<u64>();
            let needed = known + bytes(slice) + self.working_bytes(slice);
            if scratch.memory.is_none_or(|allowed| needed > allowed) {
                let directory = &scratch.directory;
                return PlaneSlice::new_in(slice, directory).map_err(|error| SolveError {
                    rule_set: R::ID,
                    slice,
                    reason: format!(
                        "{} bytes of scratch files in `{}`: {error}",
                        bytes(slice),
                        directory.display()
                    ),
                });
            }
        }
        let planes = PlaneSlice::new(slice).map_err(Self::no_memory(slice, bytes(slice)))?;
        self.in_memory.insert(slice);
        Ok(planes)
    }

    fn no_memory(slice: Slice, bytes: u64) -> impl Fn(io::Error) -> SolveError {
        move |error| SolveError {
            rule_set: R::ID,
            slice,
            reason: format!("{bytes} bytes of memory: {error}; --scratch keeps results in files"),
        }
    }

    /// Bytes of the distances of one metric.
    fn distance_bytes(slice: Slice) -> u64 {
        2 * slice.positions(R::SET.geometry) * size_of::<u16>() as u64
    }
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>> SliceSolver for WordSolver<R> {
    fn solve(
        &mut self,
        slice: Slice,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<&dyn SliceValues, SolveError> {
        let spare = self.solved.take().and_then(SolvedSlice::into_dtc);
        let planes = Arc::new(self.new_planes(slice)?);
        self.store.insert(planes.clone());
        let no_memory = Self::no_memory(slice, Self::distance_bytes(slice));
        let dtc = self.with_dtc.then(|| match spare {
            Some(spare) => spare.renewed(&planes),
            None => DtcDistances::new(&planes),
        });
        let mut dtc = dtc.transpose().map_err(&no_memory)?;
        // Distances to win take about ten times as long as results.
        let parts = if self.with_dtw { [1, 9] } else { [10, 0] };
        let told = &AtomicU64::new(0);
        let part = |tenths| {
            move |positions: u64| {
                let before = told.fetch_add(positions * tenths, Relaxed);
                progress((before + positions * tenths) / 10 - before / 10);
            }
        };
        solve::<R>(&self.store, &planes, dtc.as_mut(), &part(parts[0]))?;
        let dtw = self.with_dtw.then(|| DtwDistances::unknown(&planes));
        let dtw = dtw.transpose().map_err(&no_memory)?.map(Arc::new);
        if let Some(dtw) = &dtw {
            self.dtw_store.insert(dtw.clone());
            solve_dtw::<R>(&self.dtw_store, &planes, dtw, &part(parts[1]))?;
        }
        Ok(self
            .solved
            .insert(SolvedSlice::new(planes, dtc.map(Arc::new), dtw)))
    }

    fn load(&mut self, values: &dyn SliceValues) -> Result<(), SolveError> {
        let mut planes = self.new_planes(values.slice())?;
        planes.fill(values);
        if self.with_dtw {
            let bytes = Self::distance_bytes(values.slice());
            let distances = DtwDistances::from_values(&planes, values);
            let distances = distances.map_err(Self::no_memory(values.slice(), bytes))?;
            self.dtw_store.insert(Arc::new(distances));
        }
        self.store.insert(Arc::new(planes));
        Ok(())
    }

    fn forget(&mut self, slice: Slice) {
        self.store.remove(slice);
        self.dtw_store.remove(slice);
        self.in_memory.remove(&slice);
    }

    fn resident_bytes(&self, slice: Slice) -> u64 {
        let distances = if self.with_dtw {
            Self::distance_bytes(slice)
        } else {
            0
        };
        let in_memory = self.scratch.is_none();
        distances
            + if in_memory {
                PlaneSlice::<R::Geometry>::bytes(slice)
            } else {
                0
            }
    }

    fn scratch_bytes(&self, slice: Slice) -> u64 {
        let in_memory = self.scratch.is_none();
        if in_memory {
            0
        } else {
            PlaneSlice::<R::Geometry>::bytes(slice)
        }
    }

    /// Distances to conversion, and what each thread knows of the block it is solving.
    fn working_bytes(&self, slice: Slice) -> u64 {
        let distances = if self.with_dtc {
            Self::distance_bytes(slice)
        } else {
            0
        };
        let block = PlaneSlice::<R::Geometry>::block_bytes(slice);
        let threads = rayon::current_num_threads() as u64;
        distances + threads * (6 * block + (1 << 20))
    }

    fn loading_bytes(&self, slice: Slice) -> u64 {
        rayon::current_num_threads() as u64 * PlaneSlice::<R::Geometry>::filling_bytes(slice)
    }

    fn rate(&self, threads: usize) -> f64 {
        let small_words = R::Geometry::SQUARES <= 32;
        // As measured on one core for the sets of four and five pieces, see benches/RESULTS.md.
        let one = match (self.with_dtw, small_words) {
            (true, _) => 5e6,
            (false, true) => 40e6,
            (false, false) => 20e6,
        };
        one * threads as f64
    }
}
