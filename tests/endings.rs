//! Known endings of up to six pieces, solved here with everything they depend on.

mod common;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use common::{position, rows};
use crownhead::board::{Board, Color, Geometry};
use crownhead::index::{Slice, SliceIndex};
use crownhead::rules::{International, Rules, Variant};
use crownhead::solve::{
    DtcDistances, DtwDistances, DtwStore, Plan, PlaneSlice, PlaneWord, SolvedSlice, Store, solve,
    solve_dtw,
};
use crownhead::table::{Metric, SliceValues, Wdl};
use crownhead::with_rules;

/// Which distances to work out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Metrics {
    dtc: bool,
    dtw: bool,
}

/// These slices and all they depend on; distances to conversion of these alone.
fn solve_all<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    slices: &[Slice],
    metrics: Metrics,
) -> HashMap<Slice, SolvedSlice<R::Geometry>> {
    let (mut store, mut dtw_store) = (Store::new(), DtwStore::new());
    let mut solve_one = |&slice: &Slice| {
        let planes = Arc::new(PlaneSlice::new(slice).expect("memory"));
        store.insert(planes.clone());
        let mut dtc = (metrics.dtc && slices.contains(&slice))
            .then(|| DtcDistances::new(&planes).expect("memory"));
        solve::<R>(&store, &planes, dtc.as_mut(), &|_| ()).expect("all it leads to is there");
        let dtw = metrics
            .dtw
            .then(|| Arc::new(DtwDistances::unknown(&planes).expect("memory")));
        if let Some(dtw) = &dtw {
            dtw_store.insert(dtw.clone());
            solve_dtw::<R>(&dtw_store, &planes, dtw, &|_| ()).expect("all it leads to is there");
        }
        (slice, SolvedSlice::new(planes, dtc.map(Arc::new), dtw))
    };
    let plan = Plan::closure(R::ID, slices);
    plan.slices().iter().map(&mut solve_one).collect()
}

/// A row of the data.
struct Ending<G: Geometry> {
    fen: String,
    /// As its slice is filed.
    board: Board<G>,
    slice: Slice,
    result: Wdl,
    /// Plies, if the data say.
    depth: Option<u16>,
    metrics: Metrics,
}

impl<G: Geometry<Word: PlaneWord>> Ending<G> {
    fn read(variant: Variant, row: &csv::StringRecord) -> Option<Self> {
        let named = row[0].parse() == Ok(variant);
        let position = named.then(|| position(variant, &row[1]))?;
        let board = position.to_board::<G>();
        let slice = Slice::of(&board)?;
        Some(Ending {
            fen: row[1].to_owned(),
            slice: slice.canonical(),
            board: if slice.is_canonical() {
                board
            } else {
                board.flipped()
            },
            result: match &row[2] {
                "win" => Wdl::Win,
                "draw" => Wdl::Draw,
                "loss" => Wdl::Loss,
                other => panic!("`{other}` is no result"),
            },
            depth: row[3].parse().ok(),
            metrics: Metrics {
                dtc: &row[4] == "mtc_plies_kingsrow",
                dtw: &row[4] == "dtw_plies",
            },
        })
    }

    fn check(&self, values: &SolvedSlice<G>) {
        let number = SliceIndex::<G>::new(self.slice).rank(&self.board);
        let (side, fen) = (self.board.side, &self.fen);
        let mut result = [Wdl::Draw];
        values.results(side, number, &mut result);
        assert_eq!(result[0], self.result, "{fen}");
        let distance = |metric| {
            let mut plies = [0];
            values.distances(metric, side, number, &mut plies);
            plies[0]
        };
        let Some(depth) = self.depth else { return };
        if self.metrics.dtw {
            assert_eq!(distance(Metric::Dtw), depth, "{fen}");
        }
        if self.metrics.dtc {
            // The list counts the converting move as 3 if the winner makes it, as 2 otherwise, and
            // names the position that takes longest.
            let known = [depth - 1, depth - 2];
            assert!(known.contains(&distance(Metric::Dtc)), "{fen}");
            assert!(longest(values) < depth, "{fen}");
        }
    }
}

/// The longest distance to conversion of a slice.
fn longest<G: Geometry<Word: PlaneWord>>(values: &SolvedSlice<G>) -> u16 {
    let mut longest = 0;
    let (mut results, mut plies) = (vec![Wdl::Draw; 1 << 20], vec![0; 1 << 20]);
    for side in Color::BOTH {
        let mut first = 0;
        while first < values.positions() {
            let len = results.len().min((values.positions() - first) as usize);
            values.results(side, first, &mut results[..len]);
            values.distances(Metric::Dtc, side, first, &mut plies[..len]);
            let decided = results[..len].iter().zip(&plies[..len]);
            let decided = decided.filter(|(result, _)| **result != Wdl::Draw);
            longest = decided.map(|(_, &plies)| plies).fold(longest, u16::max);
            first += len as u64;
        }
    }
    longest
}

/// Checks every ending of a variant with so many pieces; returns how many there were.
fn check<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    variant: Variant,
    pieces: RangeInclusive<usize>,
) -> usize {
    check_rows::<R>(
        variant,
        &rows("endings.csv").iter().collect::<Vec<_>>(),
        pieces,
    )
}

/// The same for some rows of the data.
fn check_rows<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    variant: Variant,
    rows: &[&csv::StringRecord],
    pieces: RangeInclusive<usize>,
) -> usize {
    let endings = rows.iter().filter_map(|row| Ending::read(variant, row));
    let endings: Vec<Ending<R::Geometry>> = endings
        .filter(|ending| pieces.contains(&ending.slice.total()))
        .collect();
    for (dtc, dtw) in [(false, false), (true, false), (false, true)] {
        let metrics = Metrics { dtc, dtw };
        let some = || endings.iter().filter(|ending| ending.metrics == metrics);
        let slices: Vec<Slice> = some().map(|ending| ending.slice).collect();
        // Six pieces of a large board have no room in memory beside others.
        let together = if pieces.contains(&6) { 1 } else { usize::MAX };
        for slices in slices.chunks(together) {
            let solved = solve_all::<R>(slices, metrics);
            let known = some().filter(|ending| slices.contains(&ending.slice));
            known.for_each(|ending| ending.check(&solved[&ending.slice]));
        }
    }
    endings.len()
}

#[test]
fn endings_of_up_to_four_pieces() {
    let number = |variant: Variant, pieces| with_rules!(variant.rule_set(), R => check::<R>(variant, 2..=pieces));
    assert_eq!(number(Variant::English, 4), 4);
    assert_eq!(number(Variant::Russian, 4), 5);
    assert_eq!(number(Variant::International, 3), 2);
    assert_eq!(number(Variant::Frisian, 3), 1);
}

#[test]
#[ignore = "takes some minutes"]
fn endings_of_five_pieces() {
    let number = |variant: Variant, pieces| with_rules!(variant.rule_set(), R => check::<R>(variant, pieces));
    assert_eq!(number(Variant::English, 5..=5), 2);
    assert_eq!(number(Variant::Russian, 5..=5), 1);
    assert_eq!(number(Variant::International, 4..=5), 7);
}

#[test]
#[ignore = "solves some slices of six pieces: 12 GB of memory, minutes even when optimised"]
fn endings_of_six_pieces_by_conversion() {
    let variant = Variant::International;
    let rows = rows("endings.csv");
    let longest: Vec<_> = rows
        .iter()
        .filter(|row| &row[4] == "mtc_plies_kingsrow")
        .collect();
    assert_eq!(check_rows::<International>(variant, &longest, 6..=6), 2);
}
