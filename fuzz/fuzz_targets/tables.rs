#![no_main]
//! Table files of arbitrary bytes, through every way they are read.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crownhead::board::{Color, Position};
use crownhead::index::SliceIndex;
use crownhead::probe::{LoadedSlice, Tablebase};
use crownhead::rules::{RuleSetId, Rules, Variant};
use crownhead::solve::{Plan, Settings, generate, solver};
use crownhead::table::{Codes, Metric, Profile, TableFile, table_path};
use crownhead::verify::{verify_checksums, verify_sample, verify_slice};
use crownhead::with_rules;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// Blocks and positions looked at in one table.
const LOOKS: u64 = 12;
/// Slices up to so many positions are read and verified whole.
const SMALL: u64 = 4000;

fuzz_target!(|input: &[u8]| {
    if let Some(bytes) = crownhead_fuzz::file(input) {
        blocks(&bytes);
        probes(&bytes);
    }
});

/// Places from the first to the last, as many as are looked at.
fn places(count: u64) -> impl Iterator<Item = u64> {
    let step = (count / LOOKS).max(1) as usize;
    (0..count).step_by(step).chain(count.checked_sub(1))
}

fn blocks(bytes: &[u8]) {
    let Ok(file) = TableFile::from_bytes(Path::new("fuzzed"), bytes.to_vec()) else {
        return;
    };
    let _ = file.check_pages();
    let mut codes = Codes::default();
    let mut plies = Vec::new();
    for &side in file.header().sides() {
        for block in places(file.blocks(side)).chain([u64::MAX]) {
            let _ = file.results(side, block, &mut codes);
            let first = block.saturating_mul(file.block_positions(side));
            let rest = file.header().positions.saturating_sub(first);
            codes.reset(rest.min(file.block_positions(side)) as usize);
            for won in (0..codes.len()).step_by(3) {
                codes.set(won, 2);
            }
            let _ = file.distances(side, block, &codes, &mut plies);
        }
    }
}

/// A directory with sound English tables of three pieces.
fn sound() -> &'static TempDir {
    static SOUND: OnceLock<TempDir> = OnceLock::new();
    SOUND.get_or_init(|| {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let directory = directory.expect("there is room for small tables");
        let settings = Settings {
            tables: directory.path().to_owned(),
            metrics: vec![Metric::Dtc, Metric::Dtw],
            memory: None,
            profile: Profile::Small,
        };
        let plan = Plan::complete(RuleSetId::English, 3);
        let mut solver = solver(RuleSetId::English, &settings.metrics, None);
        generate(&plan, &mut *solver, &settings, &|_| ()).expect("tables can be made");
        directory
    })
}

fn probes(bytes: &[u8]) {
    let Ok(file) = TableFile::from_bytes(Path::new("fuzzed"), bytes.to_vec()) else {
        return;
    };
    let header = file.header().clone();
    let directory = sound().path();
    let path = table_path(directory, header.rule_set, header.slice, header.metric);
    let kept = fs::read(&path).ok();
    let parent = path.parent().expect("tables lie in directories");
    fs::create_dir_all(parent).expect("a directory can be made");
    fs::write(&path, bytes).expect("the table can be written");
    let variant = Variant::ALL.iter().find(|v| v.rule_set() == header.rule_set);
    let variant = *variant.expect("every rule set is played");
    let tables = Tablebase::with_cache(&[directory], 1 << 20);
    with_rules!(header.rule_set, R => {
        let index = SliceIndex::<<R as Rules>::Geometry>::new(header.slice);
        for number in places(header.positions) {
            for side in Color::BOTH {
                let position = Position::from_board(variant, &index.unrank(number, side));
                let _ = tables.probe_wdl_cached(&position);
                let _ = tables.probe_wdl(&position);
                let _ = tables.probe(&position);
                let _ = tables.rank_moves(&position);
            }
        }
    });
    let _ = verify_checksums(&[&path]);
    let _ = verify_sample(&tables, variant, header.slice, &Metric::ALL, LOOKS);
    if header.positions <= SMALL {
        let metrics = &[header.metric];
        let _ = LoadedSlice::read(directory, header.rule_set, header.slice, metrics, 1 << 20);
        let _ = verify_slice(&tables, variant, header.slice);
    }
    match kept {
        Some(kept) => fs::write(&path, kept).expect("the table can be written"),
        None => fs::remove_file(&path).expect("the table can be removed"),
    }
}
