//! Published endings of four and more pieces, asked of the program.

mod common;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use assert_cmd::Command;
use crownhead::board::Color;

/// The program with the English tables (results and distances to conversion) that two men against
/// two can lead to, made once.
fn crownhead(args: &[&str]) -> Command {
    static TABLES: LazyLock<PathBuf> = LazyLock::new(|| {
        let tables = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("endings");
        let _ = fs::remove_dir_all(&tables);
        let mut generate = Command::new(env!("CARGO_BIN_EXE_crownhead"));
        generate
            .args("generate english --slice MMvMM --metric wdl,dtc --quiet --tables".split(' '));
        generate.arg(&tables).assert().success();
        tables
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_crownhead"));
    command.args(args).env("CROWNHEAD_TABLES", &*TABLES);
    command
}

fn stdout(command: &mut Command) -> String {
    let output = command.assert().success().get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(&mut crownhead(args))).unwrap()
}

/// Two captures begin and end on the same squares and take different pieces: one loses, one draws.
#[test]
fn captures_with_the_same_ends_are_told_apart() {
    let report = json(&["probe", "english", "B:W23,22,15,14:B11,10", "--json"]);
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

/// The First Position of English checkers, with distances to conversion alone: the winner gets on.
#[test]
fn a_win_makes_progress() {
    let report = json(&["line", "english", "W:W6,11:B3,K25", "--json"]);
    assert_eq!(
        (&report["result"], &report["end"]),
        (&"win".into(), &"over".into())
    );
    let moves = report["moves"].as_array().unwrap();
    // The loser does not see beyond the next conversion, so the game may be short.
    assert_eq!(moves.len() % 2, 1);
    let quiet = moves.iter().filter(|m| m["conversion"] == false).count();
    assert!(quiet > 0 && quiet < moves.len(), "{report}");
}

/// Published endings, answered as a batch from tables of their own slices.
#[test]
#[ignore = "solves slices of five pieces: minutes even when optimised"]
fn known_endings_of_up_to_five_pieces_are_answered() {
    let tables = tempfile::tempdir().unwrap();
    let mut answered = 0;
    for row in common::rows("endings.csv") {
        let [variant, fen, result, depth, metric] = [0, 1, 2, 3, 4].map(|i| &row[i]);
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
        let mut generate = crownhead(&["generate", variant, "--slice", &slice]);
        generate.args(["--metric", metrics, "--quiet", "--tables"]);
        generate.arg(tables.path()).assert().success();

        let mut probe = crownhead(&["probe", variant, "--batch", "-"]);
        probe.env("CROWNHEAD_TABLES", tables.path());
        let answer = stdout(probe.write_stdin(fen));
        let fields: Vec<&str> = answer.trim_end().split(';').collect();
        assert_eq!(fields[1], result, "{variant} {fen}");
        match metric {
            "dtw_plies" => assert_eq!(fields[3], depth, "{variant} {fen}"),
            // That list counts the converting move as two or three plies.
            "mtc_plies_kingsrow" => {
                let (dtc, depth): (u16, u16) = (fields[2].parse().unwrap(), depth.parse().unwrap());
                assert!((1..=2).contains(&(depth - dtc)), "{fen}: {dtc}, {depth}");
            }
            _ => assert!(result != "draw" || fields[2].is_empty(), "{answer}"),
        }
        answered += 1;
    }
    assert!(answered > 15, "{answered}");
}
