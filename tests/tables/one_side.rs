//! Distances of which one side to move is stored and the other follows by a look-ahead.

use std::fs;
use std::path::{Path, PathBuf};

use crownhead::board::{ByColor, Color, Position};
use crownhead::index::{Slice, SliceIndex};
use crownhead::probe::{ProbeError, Tablebase};
use crownhead::rules::movegen::{count_moves, has_capture};
use crownhead::rules::{English, RuleSetId};
use crownhead::solve::reference::{Solved, by_bitboards};
use crownhead::table::{Header, Metric, Profile, SliceValues, TableError, TableFile, Wdl};
use crownhead::table::{table_path, write_table};

use super::verification::Changed;
use super::{generate_into, sign, slice, variant};

const RULES: RuleSetId = RuleSetId::English;

fn path(directory: &Path, name: &str, metric: Metric) -> PathBuf {
    table_path(directory, RULES, slice(name), metric)
}

fn following(header: &Header) -> Option<Color> {
    Color::BOTH.into_iter().find(|&side| header.follows(side))
}

/// Version and sides say it, so that a reader that does not know refuses the file for its version;
/// what they cannot mean is refused.
#[test]
fn headers_say_which_side_follows() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RULES, 3, Profile::Small);
    let read = |name, metric| fs::read(path(directory.path(), name, metric)).unwrap();
    let parse = |mut bytes: Vec<u8>, changes: &[(usize, u8)]| {
        changes.iter().for_each(|&(at, byte)| bytes[at] = byte);
        sign(&mut bytes);
        TableFile::from_bytes(Path::new("forged"), bytes)
    };
    for name in ["KvK", "MvM"] {
        assert_eq!(read(name, Metric::Dtw)[8], 2);
        let forged = parse(read(name, Metric::Dtw), &[(8, 3), (15, 2)]);
        assert!(matches!(forged, Err(TableError::CorruptHeader { .. })));
    }
    for metric in [Metric::Dtc, Metric::Dtw] {
        let bytes = read("KMvK", metric);
        let file = parse(bytes.clone(), &[]).unwrap();
        let side = following(file.header()).unwrap();
        let stored = file.header().stored[side].unwrap();
        assert_eq!(
            (stored.codec, stored.bytes(), file.blocks(side)),
            (None, 0, 0)
        );
        assert!(file.blocks(!side) > 0);
        assert_eq!((bytes[8], bytes[15]), (3, 1 << !side as u8));
        let record = 72 + 104 * side as usize;
        let codec = 64 + record;
        for changes in [
            &[(8, 2)][..],
            &[(14, Metric::Wdl as u8)],
            &[(15, 0)],
            &[(15, 4)],
            &[(codec, 4)],
            &[(codec + 4, 1)],
            &[(codec + 8, 1)],
        ] {
            let forged = parse(bytes.clone(), changes);
            assert!(
                matches!(forged, Err(TableError::CorruptHeader { .. })),
                "{changes:?}"
            );
        }
    }
    // Results are of the version that their codec asks for: mixed contexts came with version 3.
    assert_eq!(read("KMvM", Metric::Wdl)[8], 2);
    let mixed = read("KMvK", Metric::Wdl);
    assert_eq!(mixed[8], 3);
    let forged = parse(mixed, &[(8, 2)]);
    assert!(matches!(forged, Err(TableError::CorruptHeader { .. })));
}

/// A value that looking ahead does not give, or a table that this takes and that is not there: then
/// both sides are stored.
#[test]
fn what_is_not_found_is_stored() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RULES, 3, Profile::Small);
    let solved = Solved::<English>::up_to(3, by_bitboards::<English>);
    let values = solved.slice(slice("KMvK")).unwrap();
    let index = SliceIndex::new(slice("KMvK"));
    let write = |values: &dyn SliceValues, metric| {
        write_table(
            directory.path(),
            RULES,
            values,
            metric,
            Profile::Small,
            1 << 22,
        )
        .unwrap()
    };
    for metric in [Metric::Dtc, Metric::Dtw] {
        let header = write(values, metric);
        let side = following(&header).unwrap();
        let quiet_win = (0..index.len()).find(|&position| {
            let board = index.unrank(position, side);
            values.with(side)[position as usize].result == Wdl::Win
                && !has_capture::<English>(&board)
        });
        let changed = Changed {
            values,
            results: Vec::new(),
            plies: Some((side, quiet_win.unwrap(), 41)),
        };
        let header = write(&changed, metric);
        assert_eq!(following(&header), None);
        assert!(
            Color::BOTH
                .iter()
                .all(|&side| header.stored[side].unwrap().bytes() > 0)
        );
    }
    for name in ["KvK", "KvM"] {
        fs::remove_file(path(directory.path(), name, Metric::Wdl)).unwrap();
    }
    let kept = write(values, Metric::Dtc);
    assert_eq!(following(&kept), None);
}

/// A look-ahead that leads to a slice without distances tells of which they are missing.
#[test]
fn a_missing_table_is_told() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RULES, 3, Profile::Small);
    let header = |slice: &Slice| {
        Header::read(&table_path(directory.path(), RULES, *slice, Metric::Dtw)).unwrap()
    };
    let crowned = |slice: &Slice| {
        let side = following(&header(slice))?;
        let change = |count: usize, by: isize| count.checked_add_signed(by).map(|n| n as u8);
        let mut men = ByColor(Color::BOTH.map(|side| slice.men(side) as u8));
        let mut kings = ByColor(Color::BOTH.map(|side| slice.kings(side) as u8));
        men[side] = change(slice.men(side), -1)?;
        kings[side] = change(slice.kings(side), 1)?;
        Some((side, Slice::new(men, kings)?.canonical()))
    };
    let slices = Slice::all_canonical(3, true);
    let mut led = slices.iter().filter_map(|s| Some((*s, crowned(s)?)));
    let (from, (side, to)) = led.next().expect("some men are on a side that follows");
    // Results that are known stay known, whichever table a distance lacks.
    for missing in [Metric::Dtw, Metric::Wdl] {
        fs::remove_file(table_path(directory.path(), RULES, to, missing)).unwrap();
        let tables = Tablebase::open(&[directory.path()]);
        let index = SliceIndex::new(from);
        let mut lacking = 0;
        for position in 0..index.len() {
            let read = tables.distances_of::<English>(from, Metric::Dtw, side, position, &mut [0]);
            let Err(error) = read else {
                continue;
            };
            let ProbeError::Missing { slice, metric, .. } = error else {
                panic!("{error}");
            };
            assert_eq!((slice, metric), (to, missing));
            let board = index.unrank(position, side);
            let position = Position::from_board(variant(RULES), &board);
            if missing == Metric::Wdl && tables.probe_wdl(&position).is_err() {
                continue;
            }
            let outcome = tables.probe(&position).unwrap();
            assert!(outcome.dtw.is_none());
            assert!(missing == Metric::Wdl || outcome.dtc.is_some());
            assert!(count_moves::<English>(&board) > 0);
            lacking += 1;
        }
        assert!(lacking > 0 && lacking < index.len(), "{missing}");
    }
}
