//! The tables that come with the repository: complete, whole, small, and what the generator makes.
//! Tables that a user has added are left alone.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use crownhead::index::Slice;
use crownhead::rules::RuleSetId;
use crownhead::table::{Header, Metric, table_path};
use crownhead::verify::verify_checksums;

const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tables");

/// The shipped tables of a rule set: all of up to four pieces or up to three.
fn shipped(rule_set: RuleSetId) -> Vec<PathBuf> {
    let pieces = match rule_set {
        RuleSetId::English | RuleSetId::Russian | RuleSetId::Brazilian | RuleSetId::Italian => 4,
        _ => 3,
    };
    let slices = (2..=pieces).flat_map(|n| Slice::all_canonical(n, rule_set.rules().has_kings()));
    let paths =
        |slice| Metric::ALL.map(|metric| table_path(Path::new(SHIPPED), rule_set, slice, metric));
    slices.flat_map(paths).collect()
}

#[test]
fn sets_are_complete_and_every_byte_is_as_it_was_written() {
    let mut bytes = 0;
    for &rule_set in RuleSetId::ALL {
        let paths = shipped(rule_set);
        verify_checksums(&paths).unwrap();
        for path in paths {
            let header = Header::read(&path).unwrap();
            let place = table_path(
                Path::new(SHIPPED),
                header.rule_set,
                header.slice,
                header.metric,
            );
            assert_eq!(place, path);
            bytes += header.file_len;
        }
    }
    assert!(bytes <= 8_000_000, "{bytes} bytes are too many to ship");
}

/// A changed solver, encoder or format shows here: then the shipped tables are to be made anew.
#[test]
fn generating_again_gives_the_same_bytes() {
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shipped");
    let _ = fs::remove_dir_all(&fresh);
    Command::new(env!("CARGO_BIN_EXE_crownhead"))
        .args(["generate", "english", "--pieces", "4", "--tables"])
        .arg(&fresh)
        .assert()
        .success();
    for path in shipped(RuleSetId::English) {
        let made = fresh.join(path.strip_prefix(SHIPPED).unwrap());
        let same = fs::read(made).unwrap() == fs::read(&path).unwrap();
        assert!(same, "{} differs", path.display());
    }
}
