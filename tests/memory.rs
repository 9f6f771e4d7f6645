//! What generation takes of memory, counted where it is asked for.
//!
//! A program of its own: the allocator is that of the whole program. What zstd allocates by itself
//! is not seen here.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crownhead::rules::RuleSetId;
use crownhead::solve::{GenerateError, Plan, Settings, generate, solver};
use crownhead::table::{Metric, Profile};

/// Counts the bytes in use, and the most there were at once.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is done by the system's allocator; this only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(
            IN_USE.fetch_add(layout.size(), Relaxed) + layout.size(),
            Relaxed,
        );
        // SAFETY: what the caller promises of the layout holds.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(
            IN_USE.fetch_add(layout.size(), Relaxed) + layout.size(),
            Relaxed,
        );
        // SAFETY: as above. The default would touch all of it.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer is one that the system's allocator gave for this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// With the least memory that is accepted, from nothing, or from where a run had stopped.
fn keeps_to_its_memory(
    tables: &Path,
    rules: RuleSetId,
    pieces: usize,
    metrics: &[Metric],
    profile: Profile,
) {
    let plan = Plan::complete(rules, pieces);
    let run = |memory| {
        let settings = Settings {
            tables: tables.to_owned(),
            metrics: metrics.to_vec(),
            memory: Some(memory),
            profile,
        };
        let before = IN_USE.load(Relaxed);
        MOST.store(before, Relaxed);
        generate(
            &plan,
            &mut *solver(rules, metrics, None),
            &settings,
            &|_| (),
        )?;
        Ok::<usize, GenerateError>(MOST.load(Relaxed) - before)
    };
    let needed = |error| match error {
        Err(GenerateError::Memory { needed, .. }) => needed,
        other => panic!("{other:?}"),
    };
    let least = needed(run(1));
    assert_eq!(needed(run(least - 1)), least);
    let used = run(least).unwrap() as u64;
    assert!(
        used <= least,
        "{rules} {metrics:?} {profile}: {used} of {least}"
    );
    // It is no idle bound.
    assert!(
        used > least / 16,
        "{rules} {metrics:?} {profile}: {used} of {least}"
    );

    // The last slice again, whose successors are read back.
    let last = plan.slices().last().unwrap();
    fs::remove_file(tables.join(format!("{rules}/{last}.wdl"))).unwrap();
    let least = needed(run(1));
    let used = run(least).unwrap() as u64;
    assert!(
        used <= least,
        "{rules} {metrics:?} {profile}, again: {used} of {least}"
    );
}

#[test]
fn generation_keeps_to_its_memory() {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    threads.unwrap().install(|| {
        for (rules, pieces, metrics, profile) in [
            (RuleSetId::Russian, 3, &Metric::ALL[..], Profile::Fast),
            (RuleSetId::English, 4, &[Metric::Wdl], Profile::Small),
            (RuleSetId::English, 3, &Metric::ALL, Profile::Small),
            (RuleSetId::International, 3, &Metric::ALL, Profile::Full),
        ] {
            let tables = tempfile::tempdir().unwrap();
            keeps_to_its_memory(tables.path(), rules, pieces, metrics, profile);
        }
    });
}
