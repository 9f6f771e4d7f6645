use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use super::lock::SliceLock;
use super::plan::{self, Plan};
use super::settings::{LEAST_CACHE, Settings};
use super::{SliceSolver, SolveError};
use crate::index::Slice;
use crate::probe::{DEFAULT_CACHE, LoadedSlice, ProbeError};
use crate::rules::RuleSetId;
use crate::table::{Header, Manifest, Metric, TableError, spooled_table, table_path, write_table};

/// What the driver tells while it is at work.
#[derive(Debug)]
pub enum Event<'a> {
    /// The tables of a slice were there already, or another process has finished them.
    Kept(Slice),
    /// A table that is kept was not listed in the manifest: it is now, as its checksums are right.
    Entered {
        slice: Slice,
        path: &'a Path,
    },
    /// A damaged table of the slice is made anew.
    Replacing {
        slice: Slice,
        path: &'a Path,
    },
    /// Another process is solving a slice that must be finished first.
    Waiting(Slice),
    Started(Slice),
    /// So many more positions of the slice are done.
    Progress(u64),
    /// The tables of a slice are written, one header for each.
    Finished {
        slice: Slice,
        headers: &'a [Header],
        time: Duration,
    },
}

/// Why generation stopped. Tables finished before stay; running again goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    #[error(transparent)]
    Table(#[from] TableError),
    /// Tables made before cannot be read back.
    #[error(transparent)]
    Load(#[from] ProbeError),
    #[error(transparent)]
    Solve(#[from] SolveError),
    #[error("{slice} needs {needed} bytes of memory, {allowed} are allowed: raise --memory")]
    Memory {
        slice: Slice,
        needed: u64,
        allowed: u64,
    },
    #[error("cannot lock {slice} in `{}`: {source}", tables.display())]
    Lock {
        slice: Slice,
        tables: PathBuf,
        source: io::Error,
    },
}

/// Solves every slice of a plan that has no finished tables yet, and writes them.
///
/// A finished table is never solved again, whoever wrote it: a run that was killed continues where
/// it stopped, and several processes on one directory share the work, each taking slices that no
/// other has locked. It must be the file that the manifest lists, though; what is read back must
/// have the values its header has the hash of. Only a table whose header is damaged, or that is cut
/// off, is replaced: no other file, nor a table of a newer version.
///
/// Only slices that the rest of the plan depends on stay in memory; they are read back from their
/// tables where that is where they are. Everything keeps to the limit of memory, but for the
/// program itself and pages of files that the system can drop.
///
/// # Errors
/// [`GenerateError`]. A file that can neither be kept nor replaced, and a memory limit that is too
/// small, are told before any work is done; values that are not those of their header when they
/// are read back.
pub fn generate(
    plan: &Plan,
    solver: &mut dyn SliceSolver,
    settings: &Settings,
    report: &(dyn Fn(Event) + Sync),
) -> Result<(), GenerateError> {
    let mut metrics = settings.metrics.clone();
    metrics.push(Metric::Wdl);
    metrics.sort();
    metrics.dedup();
    let rule_set = plan.rule_set();
    let dependencies = plan.slices().iter();
    let dependencies =
        dependencies.map(|&slice| (slice, plan::dependencies(rule_set.rules(), slice)));
    let mut generation = Generation {
        rule_set,
        settings,
        metrics,
        dependencies: dependencies.collect(),
        remaining: plan.slices().to_vec(),
        known: HashSet::new(),
        cache: LEAST_CACHE,
        solver,
        report,
    };
    generation.drop_finished()?;
    for &slice in &generation.remaining {
        // Of some, metrics are still to be made.
        generation.check_kept(slice, &generation.found(slice)?)?;
    }
    generation.remove_leftovers();
    generation.share_memory()?;
    while let Some((slice, _lock)) = generation.take_slice()? {
        generation.make(slice)?;
    }
    Ok(())
}

/// A metric of a slice, and the header of its table if that is there: sound, and of the length it
/// says.
type Found = (Metric, Option<Header>);

struct Generation<'a> {
    rule_set: RuleSetId,
    settings: &'a Settings,
    /// Tables to write, results among them.
    metrics: Vec<Metric>,
    dependencies: HashMap<Slice, Vec<Slice>>,
    /// Slices without finished tables as far as is known, in order.
    remaining: Vec<Slice>,
    /// Slices whose values the solver has.
    known: HashSet<Slice>,
    /// Bytes of decoded blocks that are kept while tables are read.
    cache: u64,
    solver: &'a mut dyn SliceSolver,
    report: &'a (dyn Fn(Event) + Sync),
}

impl Generation<'_> {
    /// The next slice to make, locked; none when all are finished.
    fn take_slice(&mut self) -> Result<Option<(Slice, SliceLock)>, GenerateError> {
        loop {
            let Some(&first) = self.remaining.first() else {
                return Ok(None);
            };
            for &slice in &self.remaining {
                if self.is_ready(slice)
                    && let Some(lock) = self.lock(slice, SliceLock::try_take)?
                {
                    if self.is_finished(slice)? {
                        break;
                    }
                    return Ok(Some((slice, lock)));
                }
            }
            let before = self.remaining.len();
            self.drop_finished()?;
            // All that is ready is being made by others. The first slice always is ready.
            if self.remaining.len() == before {
                (self.report)(Event::Waiting(first));
                let lock = self.lock(first, SliceLock::wait)?;
                if !self.is_finished(first)? {
                    return Ok(Some((first, lock)));
                }
                self.drop_finished()?;
            }
        }
    }

    fn lock<T>(
        &self,
        slice: Slice,
        how: impl Fn(&Path, RuleSetId, Slice) -> io::Result<T>,
    ) -> Result<T, GenerateError> {
        how(&self.settings.tables, self.rule_set, slice).map_err(|source| GenerateError::Lock {
            slice,
            tables: self.settings.tables.clone(),
            source,
        })
    }

    /// All slices below are finished: to read a table takes those that its captures lead to.
    fn is_ready(&self, slice: Slice) -> bool {
        let below = Plan::closure(self.rule_set, &[slice]);
        let mut below = below.slices().iter();
        !below.any(|&other| other != slice && self.remaining.contains(&other))
    }

    /// Solves a slice and writes its tables.
    fn make(&mut self, slice: Slice) -> Result<(), GenerateError> {
        let start = Instant::now();
        // What was written since work began is checked, too. A finished table stays what it is,
        // whatever profile it has.
        let found = self.found(slice)?;
        self.check_kept(slice, &found)?;
        for (metric, _) in found.iter().filter(|(_, header)| header.is_none()) {
            let path = &self.path(slice, *metric);
            if path.symlink_metadata().is_ok() {
                (self.report)(Event::Replacing { slice, path });
            }
        }
        self.make_room(slice);
        for needed in self.dependencies[&slice].clone() {
            if self.known.insert(needed) {
                let (tables, metrics) = (&self.settings.tables, self.settings.loaded_metrics());
                let cache = self.cache;
                let values = LoadedSlice::read(tables, self.rule_set, needed, metrics, cache)?;
                self.solver.load(&values)?;
            }
        }
        (self.report)(Event::Started(slice));
        let report = self.report;
        let progress = |positions| report(Event::Progress(positions));
        let values = self.solver.solve(slice, &progress)?;
        let headers = found
            .into_iter()
            .map(|(metric, finished)| {
                let Settings {
                    tables, profile, ..
                } = self.settings;
                match finished {
                    Some(header) => Ok(header),
                    None => {
                        write_table(tables, self.rule_set, values, metric, *profile, self.cache)
                    }
                }
            })
            .collect::<Result<Vec<_>, TableError>>()?;
        self.known.insert(slice);
        self.remaining.retain(|&other| other != slice);
        self.forget(|generation, known| {
            let mut rest = generation.remaining.iter();
            !rest.any(|other| generation.dependencies[other].contains(&known))
        });
        (self.report)(Event::Finished {
            slice,
            headers: &headers,
            time: start.elapsed(),
        });
        Ok(())
    }

    /// Forgets what is not needed for this slice if the memory limit asks for it; it can be read
    /// back from its tables.
    fn make_room(&mut self, slice: Slice) {
        let known: u64 = self
            .known
            .iter()
            .map(|&s| self.solver.resident_bytes(s))
            .sum();
        if self
            .settings
            .memory
            .is_some_and(|allowed| known + self.bytes_for(slice) > allowed)
        {
            self.forget(|generation, known| !generation.dependencies[&slice].contains(&known));
        }
    }

    fn forget(&mut self, useless: impl Fn(&Self, Slice) -> bool) {
        let known = self.known.iter().copied();
        let useless: Vec<Slice> = known.filter(|&slice| useless(self, slice)).collect();
        for slice in useless {
            self.known.remove(&slice);
            self.solver.forget(slice);
        }
    }

    /// Memory for a slice with all it depends on: while the last of these is read back, or while
    /// the slice is solved and written.
    fn bytes_for(&self, slice: Slice) -> u64 {
        let needed = &self.dependencies[&slice];
        let resident = |&s: &Slice| self.solver.resident_bytes(s);
        let around: u64 = needed.iter().map(resident).sum();
        let settings = self.settings;
        let threads = rayon::current_num_threads() as u64;
        let loading = needed.iter().map(|&s| {
            settings.reading_bytes(self.rule_set, s, self.cache, threads)
                + self.solver.loading_bytes(s)
        });
        let writing = settings.writing_bytes(self.rule_set, slice, self.cache, threads);
        let making = resident(&slice) + self.solver.working_bytes(slice) + writing;
        around + making.max(loading.max().unwrap_or(0))
    }

    /// Gives what the greediest slice leaves of the memory to the prober's cache.
    fn share_memory(&mut self) -> Result<(), GenerateError> {
        let Some(allowed) = self.settings.memory else {
            self.cache = DEFAULT_CACHE;
            return Ok(());
        };
        let hungriest = self.remaining.iter().map(|&s| (self.bytes_for(s), s));
        match hungriest.max_by_key(|&(needed, _)| needed) {
            Some((needed, slice)) if needed > allowed => Err(GenerateError::Memory {
                slice,
                needed,
                allowed,
            }),
            // A solver with scratch files takes what is left itself.
            Some((_, slice)) if self.solver.scratch_bytes(slice) > 0 => Ok(()),
            Some((needed, _)) => {
                self.cache = DEFAULT_CACHE.min(LEAST_CACHE + allowed - needed);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn drop_finished(&mut self) -> Result<(), TableError> {
        for slice in self.remaining.clone() {
            let found = self.found(slice)?;
            if found.iter().all(|(_, header)| header.is_some()) {
                self.check_kept(slice, &found)?;
                self.remaining.retain(|&other| other != slice);
                (self.report)(Event::Kept(slice));
            }
        }
        Ok(())
    }

    /// Tables that are kept are those the manifest lists, or are entered there if they are sound.
    fn check_kept(&self, slice: Slice, found: &[Found]) -> Result<(), TableError> {
        let kept = found.iter().filter(|(_, header)| header.is_some());
        let kept: Vec<PathBuf> = kept.map(|(metric, _)| self.path(slice, *metric)).collect();
        let directory = self.settings.tables.join(self.rule_set.name());
        for path in Manifest::check_or_enter(&directory, &kept)? {
            (self.report)(Event::Entered { slice, path });
        }
        Ok(())
    }

    /// Removes what writers that were stopped have left, of whatever slice, unless it is being made.
    fn remove_leftovers(&self) {
        let Settings { tables, .. } = self.settings;
        let entries = fs::read_dir(tables.join(self.rule_set.name()));
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let table = name.to_str().and_then(spooled_table);
            let slice = table.and_then(|table| table.split('.').next()?.parse().ok());
            let lock = slice.map(|slice| SliceLock::try_take(tables, self.rule_set, slice));
            if let Some(Ok(Some(_lock))) = lock {
                // What cannot be removed is written over next time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn is_finished(&self, slice: Slice) -> Result<bool, TableError> {
        let found = self.found(slice)?;
        Ok(found.iter().all(|(_, header)| header.is_some()))
    }

    /// What is there of the tables of a slice. What is neither such a table nor a damaged one is an
    /// error.
    fn found(&self, slice: Slice) -> Result<Vec<Found>, TableError> {
        let finished = |metric| match Header::read(&self.path(slice, metric)) {
            Ok(header) => {
                let is = (header.rule_set, header.slice, header.metric);
                if is == (self.rule_set, slice, metric) {
                    return Ok(Some(header));
                }
                Err(TableError::InTheWay {
                    path: self.path(slice, metric),
                    what: format!(
                        "is {}.{} of {}",
                        header.slice, header.metric, header.rule_set
                    ),
                })
            }
            Err(TableError::CorruptHeader { .. }) => Ok(None),
            Err(TableError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let path = self.path(slice, metric);
                match path.is_symlink() {
                    false => Ok(None),
                    true => Err(TableError::InTheWay {
                        path,
                        what: "is a link to nothing".to_owned(),
                    }),
                }
            }
            Err(TableError::NotATable { path, .. }) => Err(TableError::InTheWay {
                path,
                what: "is no table".to_owned(),
            }),
            Err(error) => Err(error),
        };
        let metrics = self.metrics.iter();
        metrics
            .map(|&metric| Ok((metric, finished(metric)?)))
            .collect()
    }

    fn path(&self, slice: Slice, metric: Metric) -> PathBuf {
        table_path(&self.settings.tables, self.rule_set, slice, metric)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Mutex;

    use super::*;
    use crate::table::testing::Pattern;
    use crate::table::{Profile, SliceValues};

    const RULES: RuleSetId = RuleSetId::English;

    /// Gives made-up values, and insists that everything a slice depends on is known.
    struct FakeSolver {
        known: HashSet<Slice>,
        solved: Vec<Slice>,
        loaded: usize,
        most_known: usize,
        values: Option<Pattern>,
        /// Gives up at this slice.
        fails_at: Option<Slice>,
    }

    impl FakeSolver {
        fn new() -> Self {
            FakeSolver {
                known: HashSet::new(),
                solved: Vec::new(),
                loaded: 0,
                most_known: 0,
                values: None,
                fails_at: None,
            }
        }
    }

    impl SliceSolver for FakeSolver {
        fn solve(
            &mut self,
            slice: Slice,
            progress: &(dyn Fn(u64) + Sync),
        ) -> Result<&dyn SliceValues, SolveError> {
            for needed in plan::dependencies(RULES.rules(), slice) {
                assert!(self.known.contains(&needed), "{slice} needs {needed}");
            }
            if self.fails_at == Some(slice) {
                return Err(SolveError {
                    rule_set: RULES,
                    slice,
                    reason: "told to".to_owned(),
                });
            }
            self.known.insert(slice);
            self.most_known = self.most_known.max(self.known.len());
            self.solved.push(slice);
            progress(1);
            Ok(self.values.insert(Pattern::new(RULES, &slice.to_string())))
        }

        fn load(&mut self, values: &dyn SliceValues) -> Result<(), SolveError> {
            let expected = Pattern::new(RULES, &values.slice().to_string());
            let mut results = vec![crate::table::Wdl::Draw; values.positions() as usize];
            values.results(crate::board::Color::White, 0, &mut results);
            let mut positions = (0..).zip(results);
            assert!(positions.all(|(p, r)| r == expected.result(crate::board::Color::White, p)));
            self.known.insert(values.slice());
            self.loaded += 1;
            Ok(())
        }

        fn forget(&mut self, slice: Slice) {
            assert!(self.known.remove(&slice));
        }

        /// Beside which all else hardly counts.
        fn resident_bytes(&self, _: Slice) -> u64 {
            1 << 40
        }

        fn working_bytes(&self, _: Slice) -> u64 {
            10
        }

        fn loading_bytes(&self, _: Slice) -> u64 {
            10
        }

        fn rate(&self, _: usize) -> f64 {
            1.0
        }
    }

    fn run(
        solver: &mut FakeSolver,
        tables: &Path,
        pieces: usize,
        memory: Option<u64>,
    ) -> Result<Vec<String>, GenerateError> {
        run_telling(solver, tables, pieces, memory, &|_| ())
    }

    /// Calls `tell` with each event in words, which are returned.
    fn run_telling(
        solver: &mut FakeSolver,
        tables: &Path,
        pieces: usize,
        memory: Option<u64>,
        tell: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<String>, GenerateError> {
        let told = Mutex::new(Vec::new());
        let settings = Settings {
            tables: tables.to_owned(),
            metrics: vec![Metric::Dtw],
            memory,
            // Made-up values do not follow from each other.
            profile: Profile::Full,
        };
        let plan = Plan::complete(RULES, pieces);
        generate(&plan, solver, &settings, &|event| {
            let text = match event {
                Event::Kept(slice) => format!("kept {slice}"),
                Event::Waiting(slice) => format!("waiting {slice}"),
                Event::Entered { path, .. } => {
                    format!("entered {}", path.file_name().unwrap().display())
                }
                Event::Replacing { path, .. } => {
                    format!("replacing {}", path.file_name().unwrap().display())
                }
                Event::Started(slice) => format!("started {slice}"),
                Event::Progress(_) => return,
                Event::Finished { slice, headers, .. } => {
                    assert_eq!(headers.len(), 2);
                    format!("finished {slice}")
                }
            };
            tell(&text);
            told.lock().unwrap().push(text);
        })?;
        Ok(told.into_inner().unwrap())
    }

    fn files(tables: &Path) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(tables.join("english")).unwrap();
        let entries = entries.map(|e| e.unwrap()).filter(|e| e.path().is_file());
        let mut files: Vec<_> = entries
            .map(|e| {
                (
                    e.file_name().into_string().unwrap(),
                    fs::read(e.path()).unwrap(),
                )
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn a_stopped_run_goes_on_where_it_stopped() {
        let whole = tempfile::tempdir().unwrap();
        let mut solver = FakeSolver::new();
        run(&mut solver, whole.path(), 3, None).unwrap();
        assert_eq!(solver.solved, Plan::complete(RULES, 3).slices());
        assert!(solver.known.is_empty(), "nothing is needed any more");

        let stopped = tempfile::tempdir().unwrap();
        for &slice in Plan::complete(RULES, 3).slices() {
            let mut solver = FakeSolver::new();
            solver.fails_at = Some(slice);
            let error = run(&mut solver, stopped.path(), 3, None).unwrap_err();
            assert!(matches!(error, GenerateError::Solve(_)));
            assert!(
                solver.solved.len() <= 1,
                "only the slice that failed before is new"
            );
        }
        let told = run(&mut FakeSolver::new(), stopped.path(), 3, None).unwrap();
        assert!(
            told[..told.len() - 2].iter().all(|t| t.starts_with("kept")),
            "{told:?}"
        );
        assert_eq!(files(stopped.path()), files(whole.path()));
    }

    #[test]
    fn damaged_and_half_written_tables_are_made_again() {
        let directory = tempfile::tempdir().unwrap();
        run(&mut FakeSolver::new(), directory.path(), 2, None).unwrap();
        let before = files(directory.path());
        let path = table_path(directory.path(), RULES, "KvM".parse().unwrap(), Metric::Dtw);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        fs::write(path.with_file_name(".KvM.dtw.0.tmp"), b"half").unwrap();
        let told = run(&mut FakeSolver::new(), directory.path(), 2, None).unwrap();
        assert_eq!(
            told,
            [
                "kept KvK",
                "kept MvM",
                "replacing KvM.dtw",
                "started KvM",
                "finished KvM"
            ]
        );
        assert_eq!(files(directory.path()), before);
    }

    /// What is no table of this slice, or of a version to come, is not written over; that is told
    /// before anything is solved.
    #[test]
    fn only_damaged_tables_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        run(&mut FakeSolver::new(), directory.path(), 2, None).unwrap();
        let path = |name: &str| directory.path().join("english").join(name);
        let sound = fs::read(path("KvM.dtw")).unwrap();
        let mut newer = sound.clone();
        newer[8..10].copy_from_slice(&u16::MAX.to_le_bytes());
        let foreign = fs::read(path("KvM.wdl")).unwrap();
        fs::remove_file(path("KvK.dtw")).unwrap();
        for (bytes, why) in [
            (&newer, "newer crownhead"),
            (&foreign, "is KvM.wdl of english"),
            (&b"notes".to_vec(), "is no table"),
        ] {
            fs::write(path("KvM.dtw"), bytes).unwrap();
            let mut solver = FakeSolver::new();
            let error = run(&mut solver, directory.path(), 2, None).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("KvM.dtw") && text.contains(why), "{text}");
            assert!(solver.solved.is_empty());
            assert_eq!(&fs::read(path("KvM.dtw")).unwrap(), bytes);
        }
    }

    /// A link whose file is away, as on a disk that is not mounted, is not replaced; what is left of a
    /// table after its first bytes is.
    #[cfg(unix)]
    #[test]
    fn links_stay_and_stumps_go() {
        let directory = tempfile::tempdir().unwrap();
        run(&mut FakeSolver::new(), directory.path(), 2, None).unwrap();
        let path = directory.path().join("english").join("KvM.dtw");
        let sound = fs::read(&path).unwrap();
        for stump in [&sound[..0], &sound[..5], &sound[..9]] {
            fs::write(&path, stump).unwrap();
            let told = run(&mut FakeSolver::new(), directory.path(), 2, None).unwrap();
            assert!(told.contains(&"replacing KvM.dtw".to_owned()), "{told:?}");
            assert_eq!(fs::read(&path).unwrap(), sound);
        }
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("away", &path).unwrap();
        let error = run(&mut FakeSolver::new(), directory.path(), 2, None).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("KvM.dtw") && text.contains("link"), "{text}");
        assert!(path.is_symlink());
    }

    /// To read the tables a slice leads to takes those that they lead to, which another process may
    /// be making.
    #[test]
    fn a_slice_waits_for_all_below() {
        let directory = tempfile::tempdir().unwrap();
        run(&mut FakeSolver::new(), directory.path(), 3, None).unwrap();
        let path = |name: &str| directory.path().join("english").join(name);
        for name in ["KvK.wdl", "KvK.dtw", "MMvM.wdl", "MMvM.dtw"] {
            fs::remove_file(path(name)).unwrap();
        }
        let lock = SliceLock::try_take(directory.path(), RULES, "KvK".parse().unwrap());
        let lock = Mutex::new(lock.unwrap());
        assert!(lock.lock().unwrap().is_some());
        let mut solver = FakeSolver::new();
        run_telling(&mut solver, directory.path(), 3, None, &|text| {
            if text == "waiting KvK" {
                *lock.lock().unwrap() = None;
            }
        })
        .unwrap();
        assert_eq!(
            solver.solved,
            ["KvK".parse().unwrap(), "MMvM".parse().unwrap()]
        );
    }

    /// Another process may have written part of a slice since work began.
    #[test]
    fn what_appears_meanwhile_is_checked_too() {
        let directory = tempfile::tempdir().unwrap();
        run(&mut FakeSolver::new(), directory.path(), 2, None).unwrap();
        let path = |name: &str| directory.path().join("english").join(name);
        fs::remove_file(path("KvM.dtw")).unwrap();
        let sound = fs::read(path("KvM.wdl")).unwrap();
        fs::remove_file(path("KvM.wdl")).unwrap();
        fs::remove_file(path("KvK.dtw")).unwrap();
        let mut foreign = sound.clone();
        *foreign.last_mut().unwrap() ^= 1;
        let mut solver = FakeSolver::new();
        // While KvK is being solved, KvM.wdl comes from somewhere.
        let told = run_telling(&mut solver, directory.path(), 2, None, &|text| {
            if text == "started KvK" {
                fs::write(path("KvM.wdl"), &foreign).unwrap();
            }
        });
        let error = told.unwrap_err();
        assert!(error.to_string().contains("KvM.wdl"), "{error}");
        assert_eq!(solver.solved, ["KvK".parse().unwrap()]);
    }

    #[test]
    fn several_runs_share_the_work() {
        let directory = tempfile::tempdir().unwrap();
        let plan = Plan::complete(RULES, 3);
        let solved: usize = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let mut solver = FakeSolver::new();
                        run(&mut solver, directory.path(), 3, None).unwrap();
                        solver.solved.len()
                    })
                })
                .collect();
            runs.into_iter().map(|run| run.join().unwrap()).sum()
        });
        assert_eq!(solved, plan.slices().len(), "each slice is solved once");
        let alone = tempfile::tempdir().unwrap();
        run(&mut FakeSolver::new(), alone.path(), 3, None).unwrap();
        assert_eq!(files(directory.path()), files(alone.path()));
    }

    #[test]
    fn memory_is_limited() {
        let directory = tempfile::tempdir().unwrap();
        let free = &mut FakeSolver::new();
        run(free, directory.path(), 4, None).unwrap();
        let error = run(
            &mut FakeSolver::new(),
            &directory.path().join("none"),
            4,
            Some(12),
        );
        let Err(GenerateError::Memory { needed, .. }) = error else {
            panic!("12 bytes cannot do");
        };
        let tight = tempfile::tempdir().unwrap();
        let solver = &mut FakeSolver::new();
        run(solver, tight.path(), 4, Some(needed)).unwrap();
        assert!(solver.loaded > 0 && solver.most_known < free.most_known);
        assert_eq!(files(tight.path()), files(directory.path()));
    }
}
