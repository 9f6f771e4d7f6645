mod present;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::lock::SliceLock;
use super::plan::{self, Plan};
use super::settings::{LEAST_CACHE, Settings};
use super::{SliceSolver, SolveError};
use crate::index::Slice;
use crate::probe::{DEFAULT_CACHE, LoadedSlice, ProbeError};
use crate::rules::RuleSetId;
use crate::table::{Header, Metric, TableError, write_table};

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
}
