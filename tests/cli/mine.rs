//! `mine`: what is found against a search of every position through the library.

use std::collections::BTreeSet;

use crownhead::board::{Color, Position};
use crownhead::index::Slice;
use crownhead::notation::{fen, moves};
use crownhead::probe::Tablebase;
use crownhead::rules::Variant;
use crownhead::rules::reference::legal_moves;
use crownhead::stats::position_of;
use crownhead::table::Wdl;

use crate::support::{fails_naming, json, stdout, tables, with_tables};

fn mined(variant: &str, slice: &str, what: &str, more: &[&str]) -> Vec<String> {
    let mut command = with_tables(["mine", variant, "--slice", slice, "--where", what]);
    let text = stdout(command.args(more));
    text.lines().map(str::to_owned).collect()
}

/// Every position of a slice, both sides to move; of a symmetric one White to move.
fn positions(variant: Variant, slice: &str) -> Vec<Position> {
    let slice: Slice = slice.parse().unwrap();
    let sides = if slice.is_symmetric() { 1 } else { 2 };
    let numbers = 0..slice.positions(variant.geometry());
    let canonical = slice.canonical();
    let flipped = canonical != slice;
    numbers
        .flat_map(|number| {
            let sides = Color::BOTH.into_iter().take(sides);
            sides.map(move |side| position_of(variant, canonical, number, side, flipped))
        })
        .collect()
}

/// A line of the answer.
fn line(tables: &Tablebase, position: &Position, remark: &str) -> String {
    let outcome = tables.probe(position).unwrap();
    let plies = |p: Option<u16>| p.map_or(String::new(), |p| p.to_string());
    let (dtc, dtw) = (plies(outcome.dtc), plies(outcome.dtw));
    let fen = fen::format(position);
    format!("{fen};{};{dtc};{dtw};{remark}", outcome.result)
}

fn is_peaceful(position: &Position) -> bool {
    Color::BOTH.into_iter().all(|side| {
        let legal = legal_moves(&position.with_side(side));
        legal.iter().all(|m| !m.is_capture())
    })
}

fn same(found: &[String], expected: Vec<String>) {
    assert!(!expected.is_empty());
    let set = |lines: &[String]| lines.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(set(found), set(&expected));
    assert_eq!(found.len(), expected.len());
}

const SLICES: [(Variant, &str); 4] = [
    (Variant::English, "KvK"),
    (Variant::English, "KvM"),
    (Variant::English, "MvK"),
    (Variant::Russian, "KKvM"),
];

#[test]
fn zugzwangs_are_those_who_would_rather_pass() {
    let tables = Tablebase::open(&[tables()]);
    for (variant, slice) in SLICES {
        let mut expected = Vec::new();
        for position in positions(variant, slice) {
            let result = tables.probe_wdl(&position).unwrap();
            let others = tables
                .probe_wdl(&position.with_side(!position.side()))
                .unwrap();
            let passed = others.reversed();
            if passed > result {
                let both = result == Wdl::Loss && others == Wdl::Loss;
                let mutual = if both { ", mutual" } else { "" };
                expected.push(line(
                    &tables,
                    &position,
                    &format!("{passed} by passing{mutual}"),
                ));
            }
        }
        same(&mined(variant.name(), slice, "zugzwang", &[]), expected);
    }
}

#[test]
fn only_moves_are_the_only_ones_that_win() {
    let tables = Tablebase::open(&[tables()]);
    for (variant, slice) in SLICES {
        let mut expected = Vec::new();
        for position in positions(variant, slice) {
            let legal = legal_moves(&position);
            let wins = |m: &&_| tables.probe_wdl(&position.after(m)).unwrap() == Wdl::Loss;
            let winning: Vec<_> = legal.iter().filter(wins).collect();
            if let ([only], true) = (&winning[..], legal.len() > 1) {
                let text = moves::format(&position, only, &legal);
                expected.push(line(&tables, &position, &text));
            }
        }
        same(&mined(variant.name(), slice, "only-move", &[]), expected);
    }
}

#[test]
fn the_longest_wins_are_all_found() {
    let tables = Tablebase::open(&[tables()]);
    for (variant, slice) in SLICES {
        let all = positions(variant, slice);
        let dtw = |position: &Position| {
            let outcome = tables.probe(position).unwrap();
            outcome.dtw.filter(|_| outcome.result == Wdl::Win)
        };
        let most = all.iter().filter_map(dtw).max();
        let expected = all.iter().filter(|p| dtw(p) == most);
        let expected = expected
            .map(|position| line(&tables, position, ""))
            .collect();
        same(&mined(variant.name(), slice, "longest", &[]), expected);
    }
}

#[test]
fn the_order_is_fixed_and_a_limit_takes_the_first() {
    let all = mined("english", "KMvK", "only-move", &[]);
    let one_thread = with_tables(["mine", "english", "--slice", "KMvK", "--where", "only-move"])
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(one_thread.stdout)
            .unwrap()
            .lines()
            .collect::<Vec<_>>(),
        all
    );
    let first = mined("english", "KMvK", "only-move", &["--limit", "7"]);
    assert_eq!(first, all[..7]);
    assert!(mined("english", "KMvK", "only-move", &["--limit", "0"]).is_empty());
}

#[test]
fn captures_can_be_left_out() {
    let all = mined("russian", "KvMM", "zugzwang", &[]);
    let peaceful = mined("russian", "KvMM", "zugzwang", &["--peaceful"]);
    let calm = |line: &&String| {
        let fen = line.split(';').next().unwrap();
        is_peaceful(&fen::parse(Variant::Russian, fen).unwrap())
    };
    let expected: Vec<String> = all.iter().filter(calm).cloned().collect();
    assert_eq!(peaceful, expected);
    assert!(!peaceful.is_empty() && peaceful.len() < all.len());
}

#[test]
fn finds_in_json() {
    let lines = mined("english", "KvM", "zugzwang", &["--limit", "2"]);
    let found = mined("english", "KvM", "zugzwang", &["--json", "--limit", "2"]);
    for (line, object) in lines.iter().zip(found) {
        let object: serde_json::Value = serde_json::from_str(&object).unwrap();
        let fields: Vec<&str> = line.split(';').collect();
        assert_eq!(
            (&object["fen"], &object["result"]),
            (&fields[0].into(), &fields[1].into())
        );
        assert_eq!(
            (&object["variant"], &object["material"]),
            (&"english".into(), &"KvM".into())
        );
        assert!(object["mutual"].is_boolean() && object["passed"].is_string());
        assert!(object["dtw"].is_null() == fields[3].is_empty());
    }
    let mut only = with_tables(["mine", "english", "--slice", "KvM", "--where", "only-move"]);
    let object = json(only.args(["--limit", "1", "--json"]));
    assert!(object["move"].is_string(), "{object}");
}

#[test]
fn what_cannot_be_mined_is_told() {
    let mine =
        |variant, slice| with_tables(["mine", variant, "--slice", slice, "--where", "longest"]);
    fails_naming(
        &mut mine("english", "KKKvK"),
        &["english/KKKvK", "generate"],
    );
    fails_naming(&mut mine("english", "KKK-K"), &["`KKK-K`", "KKKvK"]);
    fails_naming(&mut mine("breakthrough", "KvM"), &["`KvM`", "no kings"]);
    fails_naming(&mut mine("inglish", "KvM"), &["english"]);
    with_tables(["mine", "english", "--slice", "KvM", "--where", "beauty"])
        .assert()
        .code(2);
}
