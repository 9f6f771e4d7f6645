use std::fs;
use std::path::Path;

use crownhead::board::{Board8x8, Color};
use crownhead::index::SliceIndex;
use crownhead::rules::movegen::has_capture;
use crownhead::rules::{English, RuleSetId};
use crownhead::table::{Codec, Codes, Metric, Profile, TableError, TableFile, table_path};

use super::{generate_into, sign, slice};

/// All results of a WDL table as its blocks hold them.
fn all_results(path: &Path, bytes: &[u8]) -> Result<Vec<u8>, TableError> {
    let file = TableFile::from_bytes(path, bytes.to_vec())?;
    let mut all = Vec::new();
    let mut codes = Codes::default();
    for &side in file.header().sides() {
        for block in 0..file.blocks(side) {
            file.results(side, block, &mut codes)?;
            all.extend(codes.iter());
        }
    }
    Ok(all)
}

/// All distances likewise, as if every position were won: some blocks then have the wrong length.
fn all_distances(path: &Path, bytes: &[u8], wdl: &TableFile) -> Result<Vec<u16>, TableError> {
    let file = TableFile::from_bytes(path, bytes.to_vec())?;
    let mut all = Vec::new();
    let index = SliceIndex::<Board8x8>::new(file.header().slice);
    for &side in file.header().sides() {
        let mut results = Vec::new();
        let mut codes = Codes::default();
        for block in 0..wdl.blocks(side) {
            wdl.results(side, block, &mut codes)?;
            results.extend(codes.iter());
        }
        for block in 0..file.blocks(side) {
            let first = block * file.block_positions(side);
            let count = (file.header().positions - first).min(file.block_positions(side));
            codes.reset(count as usize);
            for place in 0..count {
                let board = index.unrank(first + place, side);
                if !has_capture::<English>(&board) {
                    codes.set(place as usize, results[(first + place) as usize]);
                }
            }
            let mut plies = Vec::new();
            file.distances(side, block, &codes, &mut plies)?;
            all.extend(plies);
        }
    }
    Ok(all)
}

/// Every flipped bit and every truncation is noticed; no wrong value is ever returned.
#[test]
fn damage_is_noticed() {
    damage_is_noticed_in(Profile::Fast, &[Metric::Wdl, Metric::Dtc]);
    damage_is_noticed_in(Profile::Small, &[Metric::Wdl]);
}

fn damage_is_noticed_in(profile: Profile, metrics: &[Metric]) {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 3, profile);
    for name in ["KvK", "KvM", "KKvM", "KMvM"] {
        for &metric in metrics {
            let path = table_path(directory.path(), RuleSetId::English, slice(name), metric);
            let wdl = path.with_extension("wdl");
            let wdl = TableFile::open(&wdl).unwrap();
            let read = |bytes: &[u8]| -> Result<Vec<u16>, TableError> {
                match metric {
                    Metric::Wdl => Ok(all_results(&path, bytes)?
                        .into_iter()
                        .map(u16::from)
                        .collect()),
                    _ => all_distances(&path, bytes, &wdl),
                }
            };
            let whole = fs::read(&path).unwrap();
            read(&whole).unwrap();
            // Large files get a sample of their bytes, and all of the header.
            let stride = if whole.len() > 2000 { 37 } else { 1 };
            for at in (0..whole.len()).filter(|at| *at < 284 || at % stride == 0) {
                for bit in 0..8 {
                    let mut damaged = whole.clone();
                    damaged[at] ^= 1 << bit;
                    assert!(
                        read(&damaged).is_err(),
                        "{name}.{metric} byte {at} bit {bit}"
                    );
                }
            }
            for len in (0..whole.len()).step_by(stride) {
                assert!(read(&whole[..len]).is_err(), "{name}.{metric} length {len}");
            }
        }
    }
}

/// Headers with a right checksum over wrong fields, as only malice makes them, and sections whose
/// checksums were made to fit: reading ends, in an error or in values.
#[test]
fn forgery_does_no_harm() {
    for profile in [Profile::Fast, Profile::Small] {
        forgery_does_no_harm_to(profile);
    }
}

fn forgery_does_no_harm_to(profile: Profile) {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 3, profile);
    for name in ["KvM", "KKvM", "KMvK"] {
        let path = table_path(
            directory.path(),
            RuleSetId::English,
            slice(name),
            Metric::Wdl,
        );
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len() - 4).filter(|at| !(280..284).contains(at)) {
            for value in [0, 1, 3, 0x7f, 0xff] {
                let mut forged = whole.clone();
                forged[at] = value;
                sign(&mut forged);
                let _ = all_results(&path, &forged);
            }
        }
    }
}

#[test]
fn a_newer_version_says_so() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 2, Profile::Fast);
    let path = table_path(
        directory.path(),
        RuleSetId::English,
        slice("KvK"),
        Metric::Wdl,
    );
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 9;
    let error = TableFile::from_bytes(&path, bytes).unwrap_err();
    assert!(matches!(error, TableError::Version { version: 9, .. }));
    assert!(error.to_string().contains("newer crownhead"), "{error}");
}

/// A block that refers to the other side to move needs it, in blocks of the same size.
#[test]
fn what_is_referred_to_must_be_there() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 3, Profile::Small);
    let path = table_path(
        directory.path(),
        RuleSetId::English,
        slice("KMvK"),
        Metric::Wdl,
    );
    let whole = fs::read(&path).unwrap();
    let header = TableFile::open(&path).unwrap().header().clone();
    for side in [Color::White, Color::Black] {
        assert_eq!(header.stored[side].unwrap().codec, Some(Codec::Mixed));
    }
    // White's codec, with Black's blocks as they were.
    for (codec, parameter) in [(0, 1u32), (5, 512)] {
        let mut forged = whole.clone();
        forged[72 + 64] = codec;
        forged[72 + 68..72 + 72].copy_from_slice(&parameter.to_le_bytes());
        sign(&mut forged);
        let error = TableFile::from_bytes(&path, forged).unwrap_err();
        assert!(
            matches!(error, TableError::CorruptHeader { .. }),
            "{codec}: {error}"
        );
    }
}
