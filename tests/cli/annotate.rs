//! `annotate`.

use std::fs;

use crownhead::notation::pdn;
use predicates::prelude::*;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::support::{crownhead, fails_naming, json, stdout, with_tables};

/// Only g1-e3 wins; g1-f2 draws, g1-d4 loses.
const RUSSIAN: &str =
    "[White \"A\"]\n[Black \"B\"]\n[GameType \"25\"]\n[FEN \"W:WKg1:Bb8,e5\"]\n\n";

fn file(text: impl AsRef<[u8]>) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    file
}

/// The annotated games and the summary.
fn annotated(text: &str) -> (String, String) {
    let file = file(text);
    let mut command = with_tables(["annotate"]);
    let output = command
        .arg(file.path())
        .assert()
        .success()
        .get_output()
        .clone();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// The text with line ends made blanks.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_win_thrown_away_is_marked() {
    let (games, summary) = annotated(&format!("{RUSSIAN}1. g1-f2 e5-f4 1/2-1/2"));
    let text = flowing(&games);
    assert!(text.contains("{White wins in 13 plies} 1. g1-f2? {throws away the win: g1-e3 wins in 13 plies (7 moves); now a draw}"), "{games}");
    assert!(text.ends_with("1/2-1/2"), "{games}");
    for part in [
        "Game 1: A - B, Russian draughts, 1/2-1/2",
        "2 plies, the tables know 2",
        "White's 1. g1-f2? throws away the win: g1-e3 wins in 13 plies (7 moves)",
        "now a draw",
    ] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    let (games, summary) = annotated(&format!("{RUSSIAN}1. g1-d4 e5:c3 0-1"));
    assert!(
        flowing(&games).contains("1. g1-d4?? {makes a win a loss"),
        "{games}"
    );
    assert!(games.contains("{Black has won}"), "{games}");
    assert!(summary.contains("at the end: Black has won"), "{summary}");
}

#[test]
fn a_slower_win_is_marked_and_a_good_move_is_not() {
    let game = "[GameType \"21\"]\n[FEN \"W:WK18,22:B3\"]\n1. 18-23 3-8 2. 23-27 *";
    let (games, summary) = annotated(game);
    let text = flowing(&games);
    assert!(text.contains("18-23 {White wins in 6 plies}"), "{games}");
    assert!(
        text.contains("23-27?! {wins 4 plies later than it could: 22-17 and 22-18 win in 5 plies (3 moves); now White wins in 8 plies}"),
        "{games}"
    );
    assert_eq!(summary.matches("White's").count(), 1, "{summary}");
    assert!(!summary.contains("Black's"), "{summary}");
}

/// What is written reads as the same games, comments and variations of the original included.
#[test]
fn annotated_games_are_the_same_games() {
    let game = format!(
        "{RUSSIAN}{{hm}} 1. g1-e3 {{good}} e5-d4 $5 (1... e5-f4 2. e3:g5) 2. e3:c5 b8-c7 *"
    );
    let original = pdn::read(&game, None).unwrap().remove(0);
    let (games, summary) = annotated(&game);
    let again = pdn::read(&games, None).unwrap().remove(0);
    let moves = |game: &pdn::Game| {
        game.line
            .moves
            .iter()
            .map(|p| p.mv.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(moves(&again), moves(&original));
    assert_eq!(
        (again.start, again.result, &again.tags),
        (original.start, original.result, &original.tags)
    );
    let comments = |ply: &pdn::Ply| ply.comments_after.join(" ");
    assert!(comments(&again.line.moves[0]).ends_with("good"), "{games}");
    assert_eq!(again.line.moves[1].nags[0], 5);
    let variation = &again.line.moves[1].variations[0];
    assert!(
        comments(&variation.moves[0]).contains("White wins in"),
        "{games}"
    );
    assert!(summary.contains("at the end: White"), "{summary}");
}

#[test]
fn positions_out_of_reach_are_passed_over_and_missing_tables_named_once() {
    let game = "[GameType \"25\"]\n1. c3-d4 d6-c5 2. b2-c3 *\n\n[GameType \"24\"]\n[FEN \"W:WK4:BK30\"]\n1. 4-8 30-27 *";
    let (games, summary) = annotated(game);
    assert!(!games.contains('{'), "{games}");
    assert!(summary.contains("the tables know 0"), "{summary}");
    assert!(
        summary.contains("4 positions have more pieces"),
        "{summary}"
    );
    let none = "no tables of spanish";
    assert_eq!(summary.matches(none).count(), 1, "{summary}");
    assert!(!summary.contains("missing"), "{summary}");
    // Three pieces where there are tables of three, but not these.
    let tables = tempfile::tempdir().unwrap();
    crate::support::generate(tables.path(), &["english", "--slice", "KKvK", "--quiet"]).success();
    let file = file(
        "[GameType \"21\"]\n[FEN \"W:WK1:BK32,K31\"]\n1. 1-6 31-27 2. 6-1 32-28 *\n\n[GameType \"21\"]\n[FEN \"W:WK1:B3,K31\"]\n1. 1-6 31-27 2. 6-1 27-31 *",
    );
    let mut command = crownhead(["annotate", "--summary", "--tables"]);
    let summary = stdout(command.arg(tables.path()).arg(file.path()));
    assert_eq!(summary.matches("english/KMvK.wdl").count(), 1, "{summary}");
    assert!(summary.contains("4 plies, the tables know 4"), "{summary}");
    assert!(!summary.contains("more pieces"), "{summary}");
}

/// A second run says the same once more, and nothing twice; comments of people stay.
#[test]
fn annotating_again_changes_nothing() {
    let game = format!(
        "{RUSSIAN}{{a study}} 1. g1-f2 {{hm}} e5-f4 (1... e5-d4 {{or this}}) 2. f2-g1 1/2-1/2\n"
    );
    let (once, summary) = annotated(&game);
    let (twice, again) = annotated(&once);
    assert_eq!((twice, again), (once.clone(), summary));
    for comment in ["a study", "hm", "or this"] {
        assert_eq!(once.matches(comment).count(), 1, "{once}");
    }
    // Tables that know less leave what others have said.
    let tables = tempfile::tempdir().unwrap();
    crate::support::generate(tables.path(), &["russian", "--slice", "KvK", "--quiet"]).success();
    let file = file(&once);
    let mut command = crownhead(["annotate", "--tables"]);
    let kept = stdout(command.arg(tables.path()).arg(file.path()));
    assert_eq!(flowing(&kept), flowing(&once));
}

#[test]
fn without_any_table_there_is_nothing_to_tell() {
    let file = file(format!("{RUSSIAN}1. g1-f2 *"));
    for option in [&["--summary"][..], &["--json"], &[]] {
        let mut command = crownhead(["annotate", "--tables", "no-tables"]);
        command.args(option).arg(file.path());
        fails_naming(&mut command, &["russian", "`no-tables`", "--tables"]);
    }
}

#[test]
fn games_in_json() {
    let file = file(format!("{RUSSIAN}1. g1-f2 e5-f4 1/2-1/2"));
    let report = json(with_tables(["annotate", "--json"]).arg(file.path()));
    let game = &report[0];
    assert_eq!(
        (&game["variant"], &game["white"]),
        (&"russian".into(), &"A".into())
    );
    let moves = game["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 2);
    assert_eq!(
        (&moves[0]["move"], &moves[0]["fault"]),
        (&"g1-f2".into(), &"result".into())
    );
    assert_eq!(moves[0]["before"]["dtw"], 13);
    assert_eq!(moves[0]["after"]["result"], "draw");
    assert_eq!(moves[0]["better"], serde_json::json!(["g1-e3"]));
    assert_eq!(
        (&moves[1]["side"], &moves[1]["fault"]),
        (&"B".into(), &Value::Null)
    );
}

#[test]
fn the_variant_comes_from_the_tag_or_the_argument() {
    let tagless = "[FEN \"W:WKg1:Bb8,e5\"]\n1. g1-f2 *";
    let mut command = with_tables(["annotate", "russian", "-"]);
    assert!(stdout(command.write_stdin(tagless)).contains("g1-f2?"));
    let mut command = with_tables(["annotate", "-"]);
    let hint = "crownhead annotate VARIANT -";
    fails_naming(command.write_stdin(tagless), &["GameType", hint]);
    let unknown = format!("[GameType \"99\"]{tagless}");
    let mut command = with_tables(["annotate", "-"]);
    fails_naming(command.write_stdin(&*unknown), &["line 1", hint]);
    let mut command = with_tables(["annotate", "russian", "-"]);
    assert!(stdout(command.write_stdin(unknown)).contains("g1-f2?"));
    let mut command = with_tables(["annotate", "rusian", "-"]);
    fails_naming(command.write_stdin(tagless), &["rusian", "russian"]);
}

#[test]
fn games_that_are_none_are_told_with_their_place() {
    let bad = file("[GameType \"25\"]\n\n1. c3-d4\n2. h2-h8 *\n");
    let path = bad.path().to_str().unwrap();
    fails_naming(
        &mut with_tables(["annotate", path]),
        &[path, "line 4, column 4", "`h2-h8`"],
    );
    fails_naming(
        &mut with_tables(["annotate", "nowhere.pdn"]),
        &["nowhere.pdn"],
    );
    let utf_16: Vec<u8> = "\u{feff}[White \"A\"]"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let utf_16 = file(utf_16);
    fails_naming(
        with_tables(["annotate"]).arg(utf_16.path()),
        &[utf_16.path().to_str().unwrap(), "line 1, byte 1", "UTF-8"],
    );
    let empty = file("\n");
    fails_naming(with_tables(["annotate"]).arg(empty.path()), &["no game"]);
    // Latin-1, as old collections are.
    let latin = file(b"[White \"M\xfcller\"]\n[GameType \"25\"]\n1. c3-d4 *".as_slice());
    let mut command = with_tables(["annotate"]);
    command
        .arg(latin.path())
        .assert()
        .success()
        .stdout(predicate::str::contains("Müller"));
}

/// A game that cannot be read costs no other.
#[test]
fn the_other_games_of_a_file_are_annotated() {
    let good = |names: &str| {
        format!("[White \"{names}\"]\n[GameType \"25\"]\n[FEN \"W:WKa1:BKh8\"]\n\n1. a1-b2 *\n\n")
    };
    let unknown = "[White \"second\"]\n[GameType \"77\"]\n\n1. a1-b2 *\n\n";
    let illegal = good("fourth").replace("a1-b2", "a1-a2");
    let unended = "[White \"last\"]\n[GameType \"25\"]\n\n1. c3-d4 {";
    let text = [
        &good("first"),
        unknown,
        &good("third"),
        &illegal,
        &good("fifth"),
        unended,
    ]
    .concat();
    let games = file(&text);
    let mut command = with_tables(["annotate"]);
    let told = command
        .arg(games.path())
        .assert()
        .code(1)
        .get_output()
        .clone();
    let (out, errors) = (
        String::from_utf8(told.stdout).unwrap(),
        String::from_utf8(told.stderr).unwrap(),
    );
    for name in ["first", "third", "fifth"] {
        assert!(out.contains(name), "{name} in {out}");
    }
    for name in ["second", "fourth", "last"] {
        assert!(!out.contains(name), "{name} in {out}");
    }
    let mut at = 0;
    for place in ["line 8", "line 22", "line 33"] {
        at += errors[at..]
            .find(place)
            .unwrap_or_else(|| panic!("{place} in order in {errors}"));
    }
}
