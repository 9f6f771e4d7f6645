use std::fs;
use std::sync::Mutex;

use super::*;
use crate::table::testing::Pattern;
use crate::table::{Profile, SliceValues, table_path};

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
