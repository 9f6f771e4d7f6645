//! `probe` of one position.

use std::fs;

use predicates::prelude::*;
use serde_json::Value;

use crate::common;
use crate::support::{crownhead, fails_naming, generate, json, stdout, with_tables};

#[test]
fn probe_tells_result_distances_and_ranks_moves() {
    let fen = "W:WK32:B1,15";
    let report = json(&mut with_tables(["probe", "russian", fen, "--json"]));
    assert_eq!(report["variant"], "russian");
    assert_eq!(report["material"], "KvMM");
    assert_eq!(
        (&report["result"], &report["dtw"]),
        (&"win".into(), &13.into())
    );
    let moves = report["moves"].as_array().unwrap();
    assert_eq!(moves[0]["dtw"], 13);
    let order = |m: &Value| {
        let result = match m["result"].as_str().unwrap() {
            "win" => 0,
            "draw" => 1,
            _ => 2,
        };
        (result, m["dtw"].as_u64().filter(|_| result == 0))
    };
    assert!(moves.is_sorted_by_key(order), "{moves:?}");
    for pair in moves.windows(2) {
        let same = pair[0]["rank"] == pair[1]["rank"];
        assert_eq!(
            same,
            ["result", "dtc", "dtw"]
                .iter()
                .all(|&k| pair[0][k] == pair[1][k])
        );
    }
    assert!(
        moves
            .iter()
            .all(|m| m["conversion"].is_boolean() && m["move"].is_string())
    );
}

/// The text for people, whole: board, verdict, moves in groups. No colour and no blank at the end
/// of a line where the output is no terminal.
#[test]
fn probe_draws_the_board_and_groups_the_moves() {
    let text = stdout(&mut with_tables(["probe", "russian", "W:WKg1:Bb8,e5"]));
    let expected = "\
Russian draughts, KvMM
W:WKg1:Bb8,e5
     ┌────────────────────────┐
   8 │    ⛂     ·     ·     · │
   7 │ ·     ·     ·     ·    │
   6 │    ·     ·     ·     · │
   5 │ ·     ·     ⛂     ·    │
   4 │    ·     ·     ·     · │
   3 │ ·     ·     ·     ·    │
   2 │    ·     ·     ·     · │
   1 │ ·     ·     ·     ⛁    │
     └────────────────────────┘
       a  b  c  d  e  f  g  h
White to move: White wins in 13 plies (7 moves); next capture or man's move in 2 plies

1 winning move  plies to the end  to a conversion
  g1-e3                       13                2

5 drawing moves
  g1-a7
  g1-b6
  g1-c5
  g1-f2
  g1-h2

1 losing move  plies to the end  to a conversion
  g1-d4                       2                2
";
    assert_eq!(text, expected);
}

/// Each variant's board as it lies: mirrored or not, numbered from where the variant does.
#[test]
fn boards_are_drawn_as_they_lie() {
    let rows = |variant, fen: &str| {
        let text = stdout(&mut crownhead(["probe", variant, fen]));
        let rows = text.lines().filter(|line| line.contains('│'));
        rows.map(|row| row.trim().to_owned()).collect::<Vec<_>>()
    };
    // A side without pieces needs no tables.
    let italian = rows("italian", "W:W:BK1,K32");
    assert_eq!(italian[0], "1 │ ⛃     ·     ·     ·    │ 4");
    assert_eq!(italian[7], "29 │    ·     ·     ·     ⛃ │ 32");
    let spanish = rows("spanish", "B:WK1,K32:B");
    assert_eq!(spanish[0], "32 │ ⛁     ·     ·     ·    │ 29");
    assert_eq!(spanish[7], "4 │    ·     ·     ·     ⛁ │ 1");
    let turkish = rows("turkish", "B:Wa2,Kh1:B");
    assert_eq!(turkish[6], "2 │ ⛀  ·  ·  ·  ·  ·  ·  · │");
    assert_eq!(turkish[7], "1 │ ·  ·  ·  ·  ·  ·  ·  ⛁ │");
    let international = rows("international", "B:W6,50:B");
    assert_eq!(international.len(), 10);
    assert_eq!(international[0], "1 │    ·     ·     ·     ·     · │ 5");
    assert_eq!(international[1], "6 │ ⛀     ·     ·     ·     ·    │ 10");
    assert_eq!(international[9], "46 │ ·     ·     ·     ·     ⛀    │ 50");
    let canadian = rows("canadian", "B:WK1:B");
    assert_eq!(canadian.len(), 12);
    assert!(canadian[0].starts_with("1 │    ⛁") && canadian[0].ends_with("│ 6"));
    let sri_lankan = rows("srilankan", "B:WK1:B");
    assert!(sri_lankan[0].starts_with("1 │ ⛁"), "{sri_lankan:?}");
    let spantsireti = rows("spantsireti", "B:WKj8,i1:B");
    assert_eq!(spantsireti.len(), 8);
    assert_eq!(spantsireti[0], "8 │    ·     ·     ·     ·     ⛁ │");
    assert_eq!(spantsireti[7], "1 │ ·     ·     ·     ·     ⛀    │");
}

#[test]
fn a_finished_game_is_told_as_such() {
    let verdict = |variant, fen: &str| {
        let text = stdout(&mut crownhead(["probe", variant, fen]));
        let mut lines = text.lines().filter(|line| line.contains("to move"));
        lines.next().unwrap_or_default().to_owned()
    };
    let over = "Black to move has no move: White has won";
    assert_eq!(verdict("international", "B:W50:B"), over);
    let reversed = "Black to move has no move: Black has won";
    assert_eq!(verdict("antidraughts", "B:W50:B"), reversed);
    let frisian = stdout(&mut crownhead(["probe", "frisian", "B:W50:B"]));
    assert!(frisian.contains("three times in a row"), "{frisian}");
}

#[test]
fn the_rules_answer_where_no_table_is_needed() {
    let outcome = |variant, fen| {
        let report = json(&mut crownhead(["probe", variant, fen, "--json"]));
        (
            report["result"].as_str().unwrap().to_owned(),
            report["dtw"].as_u64(),
        )
    };
    assert_eq!(
        outcome("international", "B:W50:B"),
        ("loss".to_owned(), Some(0))
    );
    assert_eq!(
        outcome("antidraughts", "B:W50:B"),
        ("win".to_owned(), Some(0))
    );
    assert_eq!(
        outcome("international", "W:W50:B"),
        ("win".to_owned(), Some(1))
    );
    // The only move takes the last piece.
    assert_eq!(outcome("russian", "W:Wc3:Bd4"), ("win".to_owned(), Some(1)));
    assert_eq!(
        outcome("poddavki", "W:Wc3:Bd4"),
        ("loss".to_owned(), Some(1))
    );
    assert_eq!(
        outcome("english", "W:WK4,8:B3"),
        ("loss".to_owned(), Some(0))
    );
}

#[test]
fn unknown_is_an_error_and_never_a_draw() {
    let mut probe = with_tables(["probe", "russian", "W:WKa1,Kc1,Kb8:BKf8"]);
    fails_naming(&mut probe, &["KKKvK", "generate"]);
    let mut probe = with_tables(["probe", "spanish", "W:WK1:BK32"]);
    fails_naming(&mut probe, &["spanish/KvK"]);
    fails_naming(
        &mut with_tables(["probe", "english", "B:W21-32:B1-12"]),
        &["24 pieces"],
    );
    // A capture leads to a slice that is not there.
    let mut probe = with_tables(["probe", "russian", "W:WKa1,Kc1,Kh2,Kh4:Bd4,g7,Ka7"]);
    fails_naming(&mut probe, &["KKKKvK"]);
}

#[test]
fn known_endings_are_answered() {
    let mut answered = 0;
    for row in common::rows("endings.csv") {
        let [variant, fen, result, depth, metric] = [0, 1, 2, 3, 4].map(|i| &row[i]);
        let variant_value = variant.parse().unwrap();
        let pieces = common::position(variant_value, fen).occupied().count_ones();
        if pieces > 3 || !["english", "russian"].contains(&variant) {
            continue;
        }
        let report = json(&mut with_tables(["probe", variant, fen, "--json"]));
        assert_eq!(report["result"], result, "{fen}");
        if metric == "dtw_plies" {
            assert_eq!(report["dtw"].to_string(), depth, "{fen}");
        }
        answered += 1;
    }
    assert!(answered >= 2);
}

#[test]
fn damage_is_named_and_stays_where_it_is() {
    let tables = tempfile::tempdir().unwrap();
    generate(tables.path(), &["english", "--pieces", "2"]).success();
    let path = |name: &str| tables.path().join("english").join(name);
    let probe = |fen| {
        let mut probe = crownhead(["probe", "english", fen, "--tables"]);
        probe.arg(tables.path());
        probe
    };
    let (kings, mixed, men) = ("W:WK1:BK13", "W:WK1:B13", "W:W8:B3");
    fs::remove_file(path("KvK.wdl")).unwrap();
    fails_naming(&mut probe(kings), &["KvK.wdl", "english"]);
    let bytes = fs::read(path("MvM.wdl")).unwrap();
    fs::write(path("MvM.wdl"), &bytes[..bytes.len() - 1]).unwrap();
    fails_naming(&mut probe(men), &["MvM.wdl"]);
    crownhead(["info", tables.path().to_str().unwrap()])
        .assert()
        .success()
        .stdout(predicate::str::contains("MvM.wdl` is damaged"));
    let mut bytes = fs::read(path("KvM.dtw")).unwrap();
    bytes[300] ^= 1;
    fs::write(path("KvM.dtw"), &bytes).unwrap();
    fails_naming(&mut probe(mixed), &["KvM.dtw", "damaged"]);
    // What is gone or has not its full length is made again.
    fs::remove_file(path("KvM.dtw")).unwrap();
    generate(tables.path(), &["english", "--pieces", "2"]).success();
    probe(kings).assert().success();
    probe(mixed).assert().success();
    probe(men).assert().success();
}
