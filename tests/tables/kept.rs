//! What is kept and built on must be what the manifest lists, and have the values its header tells.

use std::fs;
use std::path::Path;

use crownhead::board::{Board8x8, Color};
use crownhead::index::SliceIndex;
use crownhead::probe::{LoadedSlice, ProbeError};
use crownhead::rules::movegen::has_capture;
use crownhead::rules::{English, RuleSetId};
use crownhead::solve::{GenerateError, Plan, Settings, generate, solver};
use crownhead::table::{
    Manifest, Metric, Profile, SliceValues, TableError, Wdl, table_path, write_table,
};

use super::common::generate_metrics;
use super::verification::Changed;
use super::{sign, slice};

const RULES: RuleSetId = RuleSetId::English;

/// Generates slices with all they depend on.
fn run(tables: &Path, slices: &[&str], metrics: &[Metric]) -> Result<(), GenerateError> {
    let settings = Settings {
        tables: tables.to_owned(),
        metrics: metrics.to_vec(),
        memory: None,
        profile: Profile::Fast,
    };
    let slices: Vec<_> = slices.iter().map(|name| slice(name)).collect();
    let plan = Plan::closure(RULES, &slices);
    let mut solver = solver(RULES, metrics, None);
    generate(&plan, &mut *solver, &settings, &|_| ())
}

fn load(tables: &Path, name: &str) -> Result<LoadedSlice, ProbeError> {
    LoadedSlice::read(tables, RULES, slice(name), &[], 1 << 20)
}

/// Writes the table of KvM with one won position called drawn, all checksums and hashes right.
fn forge(from: &Path, to: &Path) {
    let values = load(from, "KvM").unwrap();
    let index = SliceIndex::<Board8x8>::new(slice("KvM"));
    let mut results = vec![Wdl::Draw; values.positions() as usize];
    values.results(Color::White, 0, &mut results);
    let won = (0..).zip(&results).find(|&(position, &result)| {
        result == Wdl::Win && !has_capture::<English>(&index.unrank(position, Color::White))
    });
    let changed = Changed {
        values: &values,
        results: vec![(Color::White, won.unwrap().0, Wdl::Draw)],
        plies: None,
    };
    write_table(to, RULES, &changed, Metric::Wdl, Profile::Fast, 0).unwrap();
}

#[test]
fn a_forged_table_is_neither_kept_nor_built_on() {
    let tables = tempfile::tempdir().unwrap();
    let tables = tables.path();
    generate_metrics(tables, RULES, 2, Profile::Fast, &[Metric::Wdl]);
    let path = table_path(tables, RULES, slice("KvM"), Metric::Wdl);
    let sound = fs::read(&path).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    forge(tables, elsewhere.path());
    let forged = table_path(elsewhere.path(), RULES, slice("KvM"), Metric::Wdl);
    fs::copy(forged, &path).unwrap();
    let forged = fs::read(&path).unwrap();
    assert!(load(tables, "KvM").is_ok(), "it is sound in itself");

    let wdl = &[Metric::Wdl][..];
    // Kept, built on, and kept while another metric is made.
    for (name, metrics) in [("KvM", wdl), ("KKvM", wdl), ("KvM", &[Metric::Dtc])] {
        let error = run(tables, &[name], metrics).unwrap_err();
        let GenerateError::Table(TableError::NotAsListed { path: named }) = &error else {
            panic!("{error}");
        };
        assert_eq!(named, &path);
        assert!(error.to_string().contains("MANIFEST"), "{error}");
    }
    assert!(!path.with_file_name("KKvM.wdl").exists());
    assert!(!path.with_file_name("KvM.dtc").exists());
    assert_eq!(fs::read(&path).unwrap(), forged, "it is left to its owner");
    // As the message says.
    fs::remove_file(&path).unwrap();
    run(tables, &["KKvM"], wdl).unwrap();
    assert_eq!(fs::read(&path).unwrap(), sound);
}

/// What no manifest tells, the hash of the values does, as what a table leaves out follows from
/// smaller ones.
#[test]
fn values_that_a_header_does_not_tell_are_not_built_on() {
    let tables = tempfile::tempdir().unwrap();
    let tables = tables.path();
    generate_metrics(tables, RULES, 3, Profile::Fast, &[Metric::Wdl]);
    let is_refused = |name: &str| match load(tables, name) {
        Err(ProbeError::Table(TableError::Values { path, .. })) => {
            path.ends_with(name.to_owned() + ".wdl")
        }
        _ => false,
    };
    let path = table_path(tables, RULES, slice("KKvM"), Metric::Wdl);
    let sound = fs::read(&path).unwrap();
    // The hash of the values with White to move.
    let mut foreign = sound.clone();
    foreign[72 + 48] ^= 1;
    sign(&mut foreign);
    fs::write(&path, foreign).unwrap();
    assert!(is_refused("KKvM"));
    fs::remove_file(path.with_file_name(Manifest::NAME)).unwrap();
    run(tables, &["KKvM"], &[Metric::Wdl]).unwrap();
    let error = run(tables, &["KKKvM"], &[Metric::Wdl]).unwrap_err();
    assert!(matches!(error, GenerateError::Load(_)), "{error}");

    fs::write(&path, sound).unwrap();
    load(tables, "KKvM").unwrap();
    forge(tables, tables);
    assert!(is_refused("KKvM"), "a capture leads to the forged table");
}

/// Copies in a directory below are not what is checked, so they are not what is built on.
#[test]
fn a_copy_further_down_is_not_built_on() {
    let tables = tempfile::tempdir().unwrap();
    let tables = tables.path();
    generate_metrics(tables, RULES, 2, Profile::Fast, &[Metric::Wdl]);
    run(tables, &["KKvM"], &[Metric::Wdl]).unwrap();
    let path = table_path(tables, RULES, slice("KKvM"), Metric::Wdl);
    let sound = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    forge(tables, elsewhere.path());
    let copy = path.with_file_name("BACKUP").join("KvM.wdl");
    fs::create_dir(copy.parent().unwrap()).unwrap();
    fs::copy(
        table_path(elsewhere.path(), RULES, slice("KvM"), Metric::Wdl),
        copy,
    )
    .unwrap();
    run(tables, &["KKvM"], &[Metric::Wdl]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), sound);
}
