//! Inputs that broke other programs, and what this one makes of them.

use std::fs;

use crownhead::board::Color;

use crate::common;
use crate::support::{crownhead, generate, json, stdout, with_shipped, with_tables};

/// Answers of a batch without the FEN in front.
fn batch(variant: &str, lines: &str) -> Vec<String> {
    let mut command = with_shipped(["probe", variant, "--batch", "-"]);
    let answers = stdout(command.write_stdin(lines));
    let answer = |line: &str| line.split_once(';').unwrap().1.to_owned();
    answers.lines().map(answer).collect()
}

#[test]
fn a_man_crowned_in_mid_capture_goes_on_as_a_king() {
    let moves = stdout(&mut crownhead(["moves", "russian", "W:Wh6:Bg7,c5,d2"]));
    assert_eq!(moves.lines().collect::<Vec<_>>(), ["h6:e1"]);
}

/// Two captures begin and end on the same squares and take different pieces: one loses, one draws.
#[test]
fn captures_with_the_same_ends_are_told_apart() {
    let report = json(&mut with_shipped([
        "probe",
        "english",
        "B:W23,22,15,14:B11,10",
        "--json",
    ]));
    assert_eq!(report["result"], "draw");
    let moves = report["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 4);
    let result = |text: &str| {
        let m = moves.iter().find(|m| m["move"] == text);
        m.unwrap_or_else(|| panic!("{text} in {report}"))["result"]
            .as_str()
            .unwrap()
    };
    let mut results = [result("10x19x26"), result("10x17x26")];
    results.sort_unstable();
    assert_eq!(results, ["draw", "loss"]);
}

/// Colours exchanged and the board turned: the answer is the same.
#[test]
fn equal_material_mirrors() {
    let mut asked = String::new();
    for white in (5..=32).step_by(3) {
        for black in (1..=28).step_by(2).filter(|&black| black != white) {
            for kind in ["K", ""] {
                asked += &format!("W:W{kind}{white}:B{kind}{black}\n");
                asked += &format!("B:W{kind}{}:B{kind}{}\n", 33 - black, 33 - white);
            }
        }
    }
    let answers = stdout(with_tables(["probe", "english", "--batch", "-"]).write_stdin(asked));
    let values: Vec<&str> = answers
        .lines()
        .map(|line| line.split_once(';').unwrap().1)
        .collect();
    assert!(values.len() > 400 && values.iter().any(|v| v.starts_with("win")));
    for pair in values.chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
}

#[test]
fn taking_the_last_piece_wins_at_once() {
    assert_eq!(batch("international", "W:W28:B23\n"), ["win;1;1"]);
    // So does leaving the opponent without a piece from the start.
    assert_eq!(
        batch("international", "B:W50:B\nW:W50:B\n"),
        ["loss;0;0", "win;1;1"]
    );
}

#[test]
fn bad_positions_are_named_and_the_batch_goes_on() {
    let answers = batch(
        "international",
        "W:WK4,WK5,55:B4\nW:W4:B49\nB:W50:B\n\n[FEN \"W:W:W31,32:B1,2\"]\n",
    );
    assert!(
        answers[0].starts_with("error: ") && answers[0].contains("WK5"),
        "{answers:?}"
    );
    assert!(
        answers[1].starts_with("error: ") && answers[1].contains('4'),
        "{answers:?}"
    );
    assert_eq!(answers[2], "loss;0;0");
    // Read, but there is no table of so many pieces: an error, never a draw.
    assert!(answers[3].contains("MMvMM.wdl"), "{answers:?}");
    assert_eq!(answers.len(), 4);
    assert!(answers.iter().all(|a| !a.contains("draw")));
}

#[test]
fn untidy_files_read_as_clean_ones() {
    let untidy = " W:WK11:BK2,K6.\r\n\r\nW : WK32 : BK5 .\r\n\r\n  \r\nB:W22,K5:BK15,K6.";
    let clean = "W:WK11:BK2,K6\nW:WK32:BK5\nB:W22,K5:BK15,K6\n";
    let answers = batch("english", untidy);
    assert_eq!(answers, batch("english", clean));
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().all(|a| !a.contains("error")), "{answers:?}");
}

/// A drawn position has no distance, and a distance of 1 is 1.
#[test]
fn distances_mean_what_they_say() {
    let answers = batch(
        "english",
        "W:WK32:BK5\nW:W14,22:B11,26\nW:WK14:BK10\nW:WK32,K31:BK28\n",
    );
    assert_eq!(answers[0], "draw;;");
    assert_eq!(answers[1], "draw;;");
    assert_eq!(answers[2], "win;1;1");
    assert!(answers[3].starts_with("win;"), "{answers:?}");
}

/// The First Position of English checkers: the winner gets on, and needs 93 plies.
#[test]
fn a_win_makes_progress() {
    let position = "W:W6,11:B3,K25";
    let report = json(&mut with_shipped(["line", "english", position, "--json"]));
    assert_eq!(report["result"], "win");
    assert_eq!(report["end"], "over");
    assert_eq!(report["moves"].as_array().unwrap().len(), 93);
}

/// A smaller table that a capture leads to is named when it is missing.
#[test]
fn a_missing_smaller_table_is_named() {
    let tables = tempfile::tempdir().unwrap();
    let pairs = ["russian", "--pieces", "2", "--metric", "wdl", "--quiet"];
    generate(tables.path(), &pairs).success();
    fs::remove_file(tables.path().join("russian/KvK.wdl")).unwrap();
    // A capture of one of two kings.
    let mut probe = crownhead(["probe", "russian", "W:WKa1:BKd4,Kb6"]);
    probe.env("CROWNHEAD_TABLES", tables.path());
    let failed = probe.assert().code(1).get_output().clone();
    let message = String::from_utf8(failed.stderr).unwrap();
    assert!(message.contains("russian/KvK.wdl"), "{message}");
    assert!(failed.stdout.is_empty());
}

/// Trailing separators, empty parts, quotes, relative and missing directories.
#[test]
fn lists_of_directories_are_read_kindly() {
    let tables = tempfile::tempdir().unwrap();
    let here = tables.path();
    let pairs = ["russian", "--pieces", "2", "--metric", "wdl", "--quiet"];
    generate(&here.join("found"), &pairs).success();
    fs::create_dir(here.join("other")).unwrap();
    fs::write(here.join("other/notes.txt"), "no table").unwrap();
    let list = std::env::join_paths(["", "found", "\"other\"", "absent", "", ""]).unwrap();
    let mut info = crownhead(["info"]);
    info.env("CROWNHEAD_TABLES", list).current_dir(here);
    let report = stdout(&mut info);
    for line in [
        "found: 3 tables",
        "other: 0 tables",
        "absent: ",
        "other/notes.txt`: not a table",
    ] {
        assert!(report.contains(line), "{line} in {report}");
    }
}

/// Published endings, answered as a batch from the tables that come with the source.
#[test]
fn known_endings_of_few_pieces_are_answered() {
    let mut answered = 0;
    for row in common::rows("endings.csv") {
        let answer = batch(&row[0], &row[1]).remove(0);
        if !answer.starts_with("error: ") {
            check(&row, &answer);
            answered += 1;
        } else {
            let out_of_reach = ["generate it with", "pieces on the board"];
            assert!(
                out_of_reach.iter().any(|text| answer.contains(text)),
                "{answer}"
            );
        }
    }
    assert!(answered >= 10, "{answered}");
}

/// A row of the data and the answer without the FEN.
fn check(row: &csv::StringRecord, answer: &str) {
    let [variant, fen, result, depth, metric] = [0, 1, 2, 3, 4].map(|i| &row[i]);
    let fields: Vec<&str> = answer.split(';').collect();
    assert_eq!(fields[0], result, "{variant} {fen}");
    match metric {
        "dtw_plies" => assert_eq!(fields[2], depth, "{variant} {fen}"),
        // That list counts the converting move as two or three plies.
        "mtc_plies_kingsrow" => {
            let (dtc, depth): (u16, u16) = (fields[1].parse().unwrap(), depth.parse().unwrap());
            assert!((1..=2).contains(&(depth - dtc)), "{fen}: {dtc}, {depth}");
        }
        _ => assert!(result != "draw" || fields[1].is_empty(), "{answer}"),
    }
}

/// The others, from tables of their own slices.
#[test]
#[ignore = "solves slices of five pieces: minutes even when optimised"]
fn known_endings_of_up_to_five_pieces_are_answered() {
    let tables = tempfile::tempdir().unwrap();
    let mut answered = 0;
    for row in common::rows("endings.csv") {
        let [variant, fen, metric] = [0, 1, 4].map(|i| &row[i]);
        let position = common::position(variant.parse().unwrap(), fen);
        if position.occupied().count_ones() > 5 {
            continue;
        }
        let side = |color| {
            let count = |set: u128| set.count_ones() as usize;
            "K".repeat(count(position.kings(color))) + &"M".repeat(count(position.men(color)))
        };
        let slice = format!("{}v{}", side(Color::White), side(Color::Black));
        let metrics = if metric == "dtw_plies" {
            "wdl,dtw"
        } else {
            "wdl,dtc"
        };
        let args = [variant, "--slice", &slice, "--metric", metrics, "--quiet"];
        generate(tables.path(), &args).success();

        let mut probe = crownhead(["probe", variant, "--batch", "-"]);
        probe.env("CROWNHEAD_TABLES", tables.path());
        let answer = stdout(probe.write_stdin(fen));
        check(&row, answer.trim_end().split_once(';').unwrap().1);
        answered += 1;
    }
    assert!(answered > 15, "{answered}");
}
