//! The reference solver: counts and longest distances of all slices of up to three pieces, known
//! endings, and the same values from either move generator.

mod common;

use std::path::Path;

use common::{position, rows};
use crownhead::board::{ByColor, Color, Position};
use crownhead::index::Slice;
use crownhead::rules::reference::legal_moves;
use crownhead::rules::{RuleSetId, Rules, Variant};
use crownhead::solve::reference::{Solved, Value, by_bitboards, by_mailbox};
use crownhead::table::Wdl;
use crownhead::with_rules;

/// Compares with `slice_counts/stats_NAME_3.csv` (distance to win) and `..._3_dtc.csv`.
fn compare_counts<R: Rules>(solved: &Solved<R>, name: &str) {
    type Distance = fn(&Value) -> u16;
    let distances: [(&str, Distance); 2] = [("", |v| v.dtw), ("_dtc", |v| v.dtc)];
    for (suffix, distance) in distances {
        let file = format!("slice_counts/stats_{name}_3{suffix}.csv");
        let rows = rows(&file);
        assert!(!rows.is_empty(), "{file}");
        for row in rows {
            let count = |i: usize| row[i].parse::<u8>().unwrap();
            let slice = Slice::new(
                ByColor::new(count(2), count(4)),
                ByColor::new(count(3), count(5)),
            )
            .unwrap();
            let side = match (&row[6] == "W") == slice.is_canonical() {
                true => Color::White,
                false => Color::Black,
            };
            let values = solved.slice(slice).unwrap().with(side);
            let number = |result| values.iter().filter(|v| v.result == result).count();
            let longest = |result| {
                let decided = values.iter().filter(|v| v.result == result);
                decided
                    .map(distance)
                    .max()
                    .map_or(String::new(), |n| n.to_string())
            };
            let got = [
                values.len().to_string(),
                number(Wdl::Win).to_string(),
                number(Wdl::Draw).to_string(),
                number(Wdl::Loss).to_string(),
                longest(Wdl::Win),
                longest(Wdl::Loss),
            ];
            let expected = [7, 8, 9, 10, 11, 13].map(|i| row[i].to_owned());
            assert_eq!(got, expected, "{file} {slice}, {} to move", &row[6]);
        }
    }
}

/// Compares with the known endings of up to three pieces.
fn compare_endings<R: Rules>(solved: &Solved<R>, variant: Variant) {
    for row in rows("endings.csv") {
        if row[0].parse() != Ok(variant) {
            continue;
        }
        let position = position(variant, &row[1]);
        if position.occupied().count_ones() > 3 {
            continue;
        }
        let value = solved.value(&position.to_board()).unwrap();
        assert_eq!(value.result.to_string(), row[2], "{variant} {}", &row[1]);
        if &row[4] == "dtw_plies" {
            assert_eq!(value.dtw.to_string(), row[3], "{variant} {}", &row[1]);
        }
    }
}

fn check(name: &str) {
    let variant: Variant = name.parse().unwrap();
    with_rules!(variant.rule_set(), R => {
        let solved = Solved::<R>::up_to(3, by_bitboards::<R>);
        compare_counts(&solved, name);
        compare_endings(&solved, variant);
        if variant.name() == "spanish" {
            compare_counts(&solved, "portuguese");
        }
        if variant.name() == "frisian" {
            compare_counts(&solved, "frysk");
        }
    });
}

macro_rules! checks {
    ($($test:ident: $name:literal;)*) => {
        $(#[test] fn $test() { check($name); })*

        #[test]
        fn every_file_of_counts_is_used() {
            let mut names = vec!["portuguese", "frysk", $($name),*];
            names.sort();
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/slice_counts");
            let mut found: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter_map(|file| Some(file.strip_prefix("stats_")?.strip_suffix("_3.csv")?.into()))
                .collect();
            found.sort();
            assert_eq!(found, names);
        }
    };
}

checks! {
    antidraughts: "antidraughts";
    brazilian: "brazilian";
    breakthrough: "breakthrough";
    canadian: "canadian";
    czech: "czech";
    english: "english";
    english_losing: "english-giveaway";
    frisian: "frisian";
    international: "international";
    italian: "italian";
    killer: "killer";
    poddavki: "russian-giveaway";
    pool: "pool";
    russian: "russian";
    spanish: "spanish";
    thai: "thai";
    turkish: "turkish";
}

/// English K v K, published: 992 positions, 34 of them lost in the longest way.
#[test]
fn english_king_against_king() {
    type R = crownhead::rules::English;
    let solved = Solved::<R>::up_to(2, by_bitboards::<R>);
    let values = solved
        .slice("KvK".parse().unwrap())
        .unwrap()
        .with(Color::White);
    let number = |result| values.iter().filter(|v| v.result == result).count();
    assert_eq!(
        [Wdl::Win, Wdl::Draw, Wdl::Loss].map(number),
        [230, 654, 108]
    );
    assert_eq!(values.iter().filter(|v| v.dtw == 11).count(), 34);
}

/// The slow generator gives the same values for all rule sets.
fn either_generator(pieces: usize) {
    for &id in RuleSetId::ALL {
        with_rules!(id, R => {
            let fast = Solved::<R>::up_to(pieces, by_bitboards::<R>);
            let slow = Solved::<R>::up_to(pieces, by_mailbox::<R>);
            for slice in Slice::all_canonical(pieces, id.rules().has_kings()) {
                for side in Color::BOTH {
                    let values = |solved: &Solved<R>| solved.slice(slice).unwrap().with(side).to_vec();
                    assert!(values(&fast) == values(&slow), "{id} {slice}");
                }
            }
        });
    }
}

#[test]
fn either_generator_for_two_pieces() {
    either_generator(2);
}

#[test]
#[ignore = "takes some minutes"]
fn either_generator_for_three_pieces() {
    either_generator(3);
}

/// What is not a position of any slice: a side without pieces, a man arrived in Breakthrough.
#[test]
fn ended_games() {
    fn value(position: &Position) -> Option<Value> {
        with_rules!(position.variant().rule_set(), R => {
            Solved::<R>::up_to(2, by_bitboards::<R>).value(&position.to_board())
        })
    }
    let ended = |result| {
        Some(Value {
            result,
            dtc: 0,
            dtw: 0,
        })
    };
    let without_pieces = |variant| value(&position(variant, "B:W50:B"));
    assert_eq!(without_pieces(Variant::International), ended(Wdl::Loss));
    assert_eq!(without_pieces(Variant::Antidraughts), ended(Wdl::Win));

    let start = position(Variant::Breakthrough, "W:W8:B30");
    assert_eq!(
        value(&start).map(|v| (v.result, v.dtw)),
        Some((Wdl::Win, 1))
    );
    let arrived = start.after(&legal_moves(&start)[0]);
    assert_eq!(value(&arrived), ended(Wdl::Loss));
    // More pieces than were solved.
    assert_eq!(value(&Position::start(Variant::English)), None);
}
