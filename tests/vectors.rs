//! Files that every later version must read, or refuse by version: kept for ever.

use std::path::Path;

use crownhead::board::{Board, Board8x8};
use crownhead::index::SliceIndex;
use crownhead::rules::English;
use crownhead::rules::movegen::has_capture;
use crownhead::solve::reference::{Solved, by_bitboards};
use crownhead::table::{Codec, Codes, Metric, TableFile, Wdl};

/// The files as they were written, read block by block, hold what the reference solver finds.
#[test]
fn vectors_are_read() {
    let solved = Solved::<English>::up_to(3, by_bitboards::<English>);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let names = [
        ("KvK.wdl", Codec::Rows),
        ("KvM.wdl", Codec::Rows),
        ("KMvK.wdl", Codec::Rows),
        ("KMvM.wdl", Codec::Runs),
        ("KvM.dtc", Codec::Distances),
        ("KvM.dtw", Codec::Distances),
        // One side to move follows from the other.
        ("KKvM.dtc", Codec::Distances),
        ("KKvM.dtw", Codec::Distances),
        ("small/KMvK.wdl", Codec::Mixed),
    ];
    for (name, codec) in names {
        let file = TableFile::open(&directory.join(name)).unwrap();
        file.check_pages().unwrap();
        let header = file.header();
        let values = solved.slice(header.slice).unwrap();
        let index = SliceIndex::<Board8x8>::new(header.slice);
        let mut codecs = header
            .stored
            .0
            .iter()
            .flatten()
            .filter_map(|stored| stored.codec);
        assert_eq!(codecs.next(), Some(codec), "{name}");
        for &side in header.sides() {
            let expected = values.with(side);
            for block in 0..file.blocks(side) {
                let first = (block * file.block_positions(side)) as usize;
                let end = expected
                    .len()
                    .min(first + file.block_positions(side) as usize);
                let expected = &expected[first..end];
                let stored = |place: usize| {
                    let board = index.unrank((first + place) as u64, side);
                    let turned = Board {
                        side: !side,
                        ..board
                    };
                    let threat = header.leaves_out_threats() && has_capture::<English>(&turned);
                    !has_capture::<English>(&board) && !threat
                };
                let mut codes = Codes::default();
                if header.metric == Metric::Wdl {
                    file.results(side, block, &mut codes).unwrap();
                    for (place, value) in expected.iter().enumerate() {
                        let found = Wdl::of(codes.get(place).into());
                        assert!(!stored(place) || found == Some(value.result), "{name}");
                    }
                    continue;
                }
                codes.reset(expected.len());
                for (place, value) in expected.iter().enumerate().filter(|(p, _)| stored(*p)) {
                    codes.set(place, value.result as u8);
                }
                let mut plies = Vec::new();
                file.distances(side, block, &codes, &mut plies).unwrap();
                for (place, value) in expected.iter().enumerate() {
                    let distance = match header.metric {
                        Metric::Dtw => value.dtw,
                        _ => value.dtc,
                    };
                    let known = stored(place) && value.result != Wdl::Draw;
                    assert!(!known || plies[place] == distance, "{name} {place}");
                }
            }
        }
    }
}
