//! Files as they are on disk: what they give back, damage, forgery, and what verification finds.

#[path = "../common/mod.rs"]
mod common;
mod damage;
mod kept;
mod one_side;
mod values;
mod verification;

use std::fs;
use std::path::PathBuf;

use common::generate_into;

use crownhead::index::Slice;
use crownhead::probe::Tablebase;
use crownhead::rules::{RuleSetId, Variant};
use crownhead::table::Profile;

fn variant(rule_set: RuleSetId) -> Variant {
    *Variant::ALL
        .iter()
        .find(|v| v.rule_set() == rule_set)
        .unwrap()
}

fn slice(name: &str) -> Slice {
    name.parse().unwrap()
}

/// Makes all checksums of a file of one page of content right.
fn sign(bytes: &mut [u8]) {
    const HEADER: usize = 284;
    let end = bytes.len() - 4;
    if end > HEADER && end - HEADER <= 4096 {
        let page = crc32fast::hash(&bytes[HEADER..end]).to_le_bytes();
        bytes[end..].copy_from_slice(&page);
        let all = crc32fast::hash(&page).to_le_bytes();
        bytes[48..52].copy_from_slice(&all);
    }
    let header = crc32fast::hash(&bytes[..HEADER - 4]).to_le_bytes();
    bytes[HEADER - 4..HEADER].copy_from_slice(&header);
}

#[test]
fn statistics_of_the_cache() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 2, Profile::Fast);
    let tables = Tablebase::with_cache(&[directory.path()], 1 << 20);
    let position =
        crownhead::notation::fen::parse(variant(RuleSetId::English), "W:WK1:BK32").unwrap();
    assert_eq!(tables.probe_wdl_cached(&position).unwrap(), None);
    let result = tables.probe_wdl(&position).unwrap();
    assert_eq!(tables.probe_wdl_cached(&position).unwrap(), Some(result));
    let used = tables.cache_statistics();
    assert_eq!((used.hits, used.decodes), (1, 1));
    assert!(used.bytes > 0 && used.bytes <= used.budget);
}

#[test]
fn manifests_list_every_table() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::Breakthrough, 2, Profile::Fast);
    let set: PathBuf = directory.path().join("breakthrough");
    let manifest = fs::read_to_string(set.join("MANIFEST")).unwrap();
    let names: Vec<&str> = manifest
        .lines()
        .map(|l| l.split("  ").nth(1).unwrap())
        .collect();
    assert_eq!(names, ["MvM.dtc", "MvM.dtw", "MvM.wdl"]);
}
