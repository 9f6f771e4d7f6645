use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::lock::SliceLock;
use super::plan::{self, Plan};
use super::{SliceSolver, SolveError};
use crate::index::Slice;
use crate::rules::RuleSetId;
use crate::table::{Header, LoadedSlice, Metric, TableError, table_path, write_table};

/// Where and what to generate.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The tables directory.
    pub tables: PathBuf,
    /// Tables to write. Results are always written: distances mean nothing without them.
    pub metrics: Vec<Metric>,
    /// The most bytes values may occupy, unlimited if none.
    pub memory: Option<u64>,
}

/// What the driver tells while it is at work.
#[derive(Debug)]
pub enum Event<'a> {
    /// The tables of a slice were there already, or another process has finished them.
    Kept(Slice),
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
/// other has locked. Only slices that the rest of the plan depends on stay in memory; they are
/// read back from their tables where that is where they are.
///
/// # Errors
/// [`GenerateError`]; a memory limit that is too small is told before any work is done.
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
        tables: &settings.tables,
        metrics,
        memory: settings.memory,
        dependencies: dependencies.collect(),
        remaining: plan.slices().to_vec(),
        known: HashSet::new(),
        solver,
        report,
    };
    generation.drop_finished();
    generation.check_memory()?;
    while let Some((slice, _lock)) = generation.take_slice()? {
        generation.make(slice)?;
    }
    Ok(())
}

struct Generation<'a> {
    rule_set: RuleSetId,
    tables: &'a Path,
    metrics: Vec<Metric>,
    memory: Option<u64>,
    dependencies: HashMap<Slice, Vec<Slice>>,
    /// Slices without finished tables as far as is known, in order.
    remaining: Vec<Slice>,
    /// Slices whose values the solver has.
    known: HashSet<Slice>,
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
                    if self.is_finished(slice) {
                        break;
                    }
                    return Ok(Some((slice, lock)));
                }
            }
            let before = self.remaining.len();
            self.drop_finished();
            // All that is ready is being made by others. The first slice always is ready.
            if self.remaining.len() == before {
                (self.report)(Event::Waiting(first));
                let lock = self.lock(first, SliceLock::wait)?;
                if !self.is_finished(first) {
                    return Ok(Some((first, lock)));
                }
                self.drop_finished();
            }
        }
    }

    fn lock<T>(
        &self,
        slice: Slice,
        how: impl Fn(&Path, RuleSetId, Slice) -> io::Result<T>,
    ) -> Result<T, GenerateError> {
        how(self.tables, self.rule_set, slice).map_err(|source| GenerateError::Lock {
            slice,
            tables: self.tables.to_owned(),
            source,
        })
    }

    fn is_ready(&self, slice: Slice) -> bool {
        let needs = &self.dependencies[&slice];
        !needs.iter().any(|needed| self.remaining.contains(needed))
    }

    /// Solves a slice and writes its tables.
    fn make(&mut self, slice: Slice) -> Result<(), GenerateError> {
        let start = Instant::now();
        self.make_room(slice);
        for needed in self.dependencies[&slice].clone() {
            if self.known.insert(needed) {
                let values = LoadedSlice::read(self.tables, self.rule_set, needed, &self.metrics)?;
                self.solver.load(&values);
            }
        }
        (self.report)(Event::Started(slice));
        let report = self.report;
        let progress = |positions| report(Event::Progress(positions));
        let values = self.solver.solve(slice, &progress)?;
        let headers = self
            .metrics
            .iter()
            .map(|&metric| write_table(self.tables, self.rule_set, values, metric))
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

    /// Memory for a slice with all it depends on.
    fn bytes_for(&self, slice: Slice) -> u64 {
        let needed = self.dependencies[&slice].iter().chain([&slice]);
        let resident: u64 = needed.map(|&s| self.solver.resident_bytes(s)).sum();
        resident + self.solver.working_bytes(slice)
    }

    fn check_memory(&self) -> Result<(), GenerateError> {
        let Some(allowed) = self.memory else {
            return Ok(());
        };
        let hungriest = self.remaining.iter().map(|&s| (self.bytes_for(s), s));
        match hungriest.max_by_key(|&(needed, _)| needed) {
            Some((needed, slice)) if needed > allowed => Err(GenerateError::Memory {
                slice,
                needed,
                allowed,
            }),
            _ => Ok(()),
        }
    }

    fn drop_finished(&mut self) {
        let (finished, remaining): (Vec<_>, Vec<_>) = self
            .remaining
            .iter()
            .partition(|&&slice| self.is_finished(slice));
        self.remaining = remaining;
        for slice in finished {
            (self.report)(Event::Kept(slice));
        }
    }

    /// All tables of the slice are there, with sound headers and of the length these say.
    fn is_finished(&self, slice: Slice) -> bool {
        self.metrics.iter().all(|&metric| {
            let path = table_path(self.tables, self.rule_set, slice, metric);
            Header::read(&path).is_ok_and(|header| {
                (header.rule_set, header.slice, header.metric) == (self.rule_set, slice, metric)
            })
        })
    }
}
