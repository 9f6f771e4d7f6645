use std::collections::HashSet;

use serde::Serialize;

use super::plan::{self, Plan};
use super::{Settings, SliceSolver};
use crate::index::Slice;
use crate::probe::DEFAULT_CACHE;
use crate::table::Metric;

/// What a plan would take.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Estimate {
    /// Stored positions.
    pub positions: u64,
    /// Bytes of memory at the worst moment, if all that is needed again is kept there.
    pub memory: u64,
    /// Bytes of results in temporary files at the worst moment, if they are to go there.
    pub scratch: u64,
    /// Bytes of all tables, roughly.
    pub tables: u64,
    /// Bytes of a table in the making beside the others at the worst moment, roughly: several ways
    /// of encoding it are on the disk at once.
    pub unfinished: u64,
    /// Time, roughly.
    pub seconds: f64,
}

/// Bytes a stored position takes in a table, roughly: what the four-piece sets of English and
/// Russian draughts take at most. Other sets can be much smaller.
const fn bytes_per_position(metric: Metric) -> f64 {
    match metric {
        Metric::Wdl => 0.08,
        Metric::Dtc => 0.12,
        Metric::Dtw => 0.35,
    }
}

/// As many ways of encoding a table, and the table they are put together to, are on the disk at
/// once.
const WAYS_AT_ONCE: f64 = 4.0;

/// Works out what [`generate`](super::generate) would take, from nothing.
pub fn estimate(
    plan: &Plan,
    solver: &dyn SliceSolver,
    settings: &Settings,
    threads: usize,
) -> Estimate {
    let metrics = &settings.metrics;
    // Room for all decoded values, if they are few.
    let cache = DEFAULT_CACHE.min(2 * plan.positions());
    let positions = plan.positions();
    let written = Metric::ALL
        .iter()
        .filter(|&&m| m == Metric::Wdl || metrics.contains(&m));
    let per_position: f64 = written.clone().map(|&m| bytes_per_position(m)).sum();
    let of_largest_metric = written.map(|&m| bytes_per_position(m)).fold(0.0, f64::max);
    let slices = plan.slices().iter();
    let largest = slices
        .map(|&slice| plan::stored_positions(plan.rule_set(), slice))
        .max();
    Estimate {
        positions,
        memory: peak(
            plan,
            |s| solver.resident_bytes(s),
            |s| {
                let writing = settings.writing_bytes(plan.rule_set(), s, cache, threads as u64);
                solver.working_bytes(s) + writing
            },
        ),
        scratch: peak(plan, |s| solver.scratch_bytes(s), |_| 0),
        tables: (positions as f64 * per_position) as u64,
        unfinished: (WAYS_AT_ONCE * largest.unwrap_or(0) as f64 * of_largest_metric) as u64,
        seconds: positions as f64 / solver.rate(threads),
    }
}

/// Goes through the plan as the driver does: a slice stays in memory until no later one needs it.
fn peak(
    plan: &Plan,
    resident_bytes: impl Fn(Slice) -> u64,
    working_bytes: impl Fn(Slice) -> u64,
) -> u64 {
    let rules = plan.rule_set().rules();
    let mut needed = HashSet::new();
    let mut last_uses: Vec<Vec<Slice>> = Vec::new();
    // Backwards, the first use met is the last one made.
    for &slice in plan.slices().iter().rev() {
        let mut uses = plan::dependencies(rules, slice);
        uses.retain(|&used| needed.insert(used));
        if needed.insert(slice) {
            uses.push(slice);
        }
        last_uses.push(uses);
    }
    let mut resident = 0;
    let mut peak = 0;
    for (&slice, uses) in plan.slices().iter().zip(last_uses.iter().rev()) {
        resident += resident_bytes(slice);
        peak = peak.max(resident + working_bytes(slice));
        resident -= uses.iter().map(|&s| resident_bytes(s)).sum::<u64>();
    }
    peak
}
