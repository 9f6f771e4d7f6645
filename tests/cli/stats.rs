//! `stats`.

use predicates::prelude::*;
use serde_json::Value;

use crate::common;
use crate::support::{fails_naming, json, stdout, with_tables};

/// Counts and distances as published, rows and columns in the order the files have; and the
/// positions named as longest are what they are said to be.
#[test]
fn statistics_equal_the_published_ones() {
    for (variant, file) in [
        ("english", "english"),
        ("russian", "russian"),
        ("breakthrough", "breakthrough"),
        ("poddavki", "russian-giveaway"),
    ] {
        let mut stats = with_tables(["stats", variant, "--pieces", "3", "--csv"]);
        let text = stdout(&mut stats);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns = "variant,metric,slice,white_men,white_kings,black_men,black_kings,to_move,\
            positions,wins,draws,losses,longest_win,longest_win_fen,longest_loss,longest_loss_fen";
        assert_eq!(text.lines().next(), Some(columns));
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        let expected = ["", "_dtc"]
            .map(|metric| common::rows(&format!("slice_counts/stats_{file}_3{metric}.csv")));
        let expected = expected.concat();
        assert_eq!(rows.len(), expected.len());
        let mut batch = String::new();
        let mut distances = Vec::new();
        for (row, expected) in rows.iter().zip(&expected) {
            assert_eq!(&row[0], variant);
            assert_eq!(&row[1], &expected[1]);
            let shifted = (3..13).chain([14]);
            for column in shifted {
                assert_eq!(row[column], expected[column - 1], "{row:?}");
            }
            for (column, result) in [(12, "win"), (14, "loss")] {
                assert_eq!(row[column].is_empty(), row[column + 1].is_empty());
                if !row[column].is_empty() {
                    batch += &format!("{}\n", &row[column + 1]);
                    distances.push((row[1].to_owned(), result, row[column].to_owned()));
                }
            }
        }
        let mut probe = with_tables(["probe", variant, "--batch", "-"]);
        let answers = stdout(probe.write_stdin(batch));
        assert_eq!(answers.lines().count(), distances.len());
        for (answer, (metric, result, plies)) in answers.lines().zip(distances) {
            let fields: Vec<&str> = answer.split(';').collect();
            let distance = if metric == "dtc" {
                fields[2]
            } else {
                fields[3]
            };
            assert_eq!((fields[1], distance), (result, plies.as_str()), "{answer}");
        }
    }
}

#[test]
fn statistics_have_other_forms() {
    let all = json(&mut with_tables(["stats", "russian", "--json"]));
    let all = all.as_array().unwrap();
    let only = json(&mut with_tables([
        "stats", "russian", "--metric", "dtc", "--json",
    ]));
    let dtc: Vec<&Value> = all.iter().filter(|row| row["metric"] == "dtc").collect();
    assert_eq!(only.as_array().unwrap().iter().collect::<Vec<_>>(), dtc);
    assert_eq!(all.len(), 2 * dtc.len());
    let mut more = with_tables(["stats", "russian", "--pieces", "4", "--csv"]);
    more.assert()
        .code(1)
        .stderr(predicate::str::contains("KKKvK"));
    fails_naming(
        &mut with_tables(["stats", "italian", "--json"]),
        &["no tables of italian", "crownhead generate italian"],
    );
}

/// One line for each slice in its canonical orientation and each side to move; a histogram that
/// counts each of their wins and losses once.
#[test]
fn statistics_for_people() {
    let text = stdout(&mut with_tables(["stats", "russian", "--pieces", "2"]));
    let slices = text
        .lines()
        .filter(|line| line.contains("Mv") || line.contains("Kv"));
    let words = slices.map(|line| {
        line.split_whitespace()
            .take(3)
            .collect::<Vec<_>>()
            .join(" ")
    });
    let expected = [
        "KvK either 992",
        "KvM White 868",
        "KvM Black 868",
        "MvM either 760",
    ];
    assert_eq!(words.collect::<Vec<_>>(), expected);
    assert!(
        text.contains("Longest win to the end of the game: "),
        "{text}"
    );
    assert!(
        text.contains("Longest win to the next capture or man's move: "),
        "{text}"
    );
    let number = |text: &str| text.replace(',', "").parse::<u64>().unwrap();
    let (_, histogram) = text.split_once("losses\n").unwrap();
    let mut counted = [0, 0];
    for line in histogram.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert!(fields[0].contains('-') && fields.len() <= 4, "{line}");
        counted[0] += number(fields[1]);
        counted[1] += number(fields[2]);
    }
    let rows = json(&mut with_tables([
        "stats", "russian", "--metric", "dtw", "--pieces", "2", "--json",
    ]));
    let once = |row: &&Value| match row["slice"].as_str().unwrap() {
        "KvK" | "MvM" => row["to_move"] == "W",
        slice => slice == "KvM",
    };
    let sum = |key: &str| {
        let rows = rows.as_array().unwrap().iter().filter(once);
        rows.map(|row| row[key].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(counted, [sum("wins"), sum("losses")]);
}

#[test]
fn statistics_of_single_slices() {
    let rows = json(&mut with_tables([
        "stats", "english", "--slice", "MvK", "--json",
    ]));
    let slices = rows.as_array().unwrap().iter();
    let slices: Vec<&str> = slices.map(|row| row["slice"].as_str().unwrap()).collect();
    assert_eq!(slices, ["KvM", "KvM", "MvK", "MvK"].repeat(2));
    fails_naming(
        &mut with_tables(["stats", "english", "--slice", "2k-m"]),
        &["`2k-m`", "KKvM"],
    );
    let mut dtc = with_tables(["stats", "english", "--slice", "KvM", "--metric", "dtc"]);
    assert!(stdout(&mut dtc).contains("Plies to the next capture or man's move (dtc)"));
    let mut wdl = with_tables(["stats", "english", "--metric", "wdl", "--histogram"]);
    wdl.assert()
        .code(1)
        .stderr(predicate::str::contains("dtw or dtc"));
}
