use std::path::PathBuf;

use super::plan::Plan;
use crate::index::Slice;
use crate::probe::LoadedSlice;
use crate::rules::RuleSetId;
use crate::table::{Metric, Profile, writing_bytes};

/// Where and what to generate.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The tables directory.
    pub tables: PathBuf,
    /// Tables to write. Results are always written: distances mean nothing without them.
    pub metrics: Vec<Metric>,
    /// The most bytes of memory to use, unlimited if none.
    pub memory: Option<u64>,
    /// What the tables are written for.
    pub profile: Profile,
}

impl Settings {
    /// Bytes that writing the tables of a slice takes, one metric after the other, with a prober's
    /// cache of so many bytes.
    pub(super) fn writing_bytes(
        &self,
        rule_set: RuleSetId,
        slice: Slice,
        cache: u64,
        threads: u64,
    ) -> u64 {
        let of = |&metric| writing_bytes(rule_set, slice, metric, self.profile, cache, threads);
        let metrics = self.metrics.iter().chain([&Metric::Wdl]);
        metrics.map(of).max().unwrap_or(0)
    }

    /// Bytes that reading the tables of a slice back takes, beside what the solver does.
    pub(super) fn reading_bytes(
        &self,
        rule_set: RuleSetId,
        slice: Slice,
        cache: u64,
        threads: u64,
    ) -> u64 {
        let values = LoadedSlice::bytes(rule_set, slice, self.loaded_metrics());
        values + cache + threads * LoadedSlice::BYTES_PER_THREAD
    }

    /// Metrics of earlier slices that later ones need.
    pub(super) fn loaded_metrics(&self) -> &'static [Metric] {
        match self.metrics.contains(&Metric::Dtw) {
            true => &[Metric::Dtw],
            false => &[],
        }
    }

    /// What is left of the memory for a solver that can keep results elsewhere: reading and writing
    /// tables goes first.
    pub fn solver_memory(&self, plan: &Plan, threads: usize) -> Option<u64> {
        let rule_set = plan.rule_set();
        let threads = threads as u64;
        let tables = plan.slices().iter().map(|&slice| {
            let writing = self.writing_bytes(rule_set, slice, LEAST_CACHE, threads);
            writing.max(self.reading_bytes(rule_set, slice, LEAST_CACHE, threads))
        });
        let tables = tables.max().unwrap_or(0);
        self.memory.map(|memory| memory.saturating_sub(tables))
    }
}

/// The least bytes of decoded blocks to keep while tables are read.
pub(super) const LEAST_CACHE: u64 = 4 << 20;
