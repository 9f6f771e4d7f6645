//! Inputs that broke other programs.

use crate::support::{crownhead, fails_naming, json, stdout, with_tables};

/// The man is crowned on f8 in mid-capture and must go on as a king.
#[test]
fn a_capture_goes_on_after_the_crowning() {
    let mut moves = crownhead(["moves", "russian", "W:Wh6:Bg7,c5,d2"]);
    assert_eq!(stdout(&mut moves), "h6:e1\n");
}

/// Two captures with the same ends take different pieces.
#[test]
fn captures_with_the_same_ends_are_told_apart() {
    let mut moves = crownhead(["moves", "english", "B:W23,22,15,14:B11,10"]);
    let text = stdout(&mut moves);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(
        lines.contains(&"10x19x26") && lines.contains(&"10x17x26"),
        "{text}"
    );
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
fn no_guess_is_made_at_a_bad_position() {
    let moves = |fen| crownhead(["moves", "international", fen]);
    fails_naming(&mut moves("W:WK4,WK5,55:B4"), &["`WK5`"]);
    fails_naming(&mut moves("W:WK4,K5,55:B4"), &["`55`", "1 to 50"]);
    fails_naming(&mut moves("W:W4:B49"), &["`4`", "`49`"]);
    moves("W:WK4:B20").assert().success();
}

#[test]
fn a_side_without_pieces_has_lost() {
    let report = json(&mut crownhead([
        "probe",
        "international",
        "B:W50:B",
        "--json",
    ]));
    assert_eq!(
        (&report["result"], &report["dtw"]),
        (&"loss".into(), &0.into())
    );
}

#[test]
fn the_side_to_move_written_twice_is_written_once() {
    let tag = "[FEN \"W:W:W31,32:B1,2\"]";
    let report = json(&mut crownhead(["moves", "international", tag, "--json"]));
    assert_eq!(report["fen"], "W:W31,32:B1,2");
}

#[test]
fn an_untidy_file_reads_as_a_clean_one() {
    let clean = "W:WK11:BK2,K6\nB:W31:B1,2\nW:WK4:B20\n";
    let untidy = "\r\n W : W K11 : B K2 , K6 .\r\n\r\n\"B:W31:B1,2.\"\r\n  \r\nW:B20:WK04.";
    let answers =
        |text: &str| stdout(with_tables(["probe", "english", "--batch", "-"]).write_stdin(text));
    assert_eq!(answers(untidy), answers(clean));
    assert_eq!(answers(clean).lines().count(), 3);
    assert!(!answers(clean).contains("error"), "{}", answers(clean));
}

/// Draws have no distance, and 1 is a distance like any other.
#[test]
fn distances_are_what_they_say() {
    let asked = "W:WK1:BK32\nW:W11:B7\n";
    let answers = stdout(with_tables(["probe", "english", "--batch", "-"]).write_stdin(asked));
    assert_eq!(answers, "W:WK1:BK32;draw;;\nW:W11:B7;win;1;1\n");
}

/// Captures that lead to a table that is not there: its name, neither a draw nor a crash.
#[test]
fn a_missing_table_behind_a_capture_is_named() {
    let fen = "W:WKa1,Kc1,Kh2,Kh4:Bd4,g7,Ka7";
    fails_naming(&mut with_tables(["probe", "russian", fen]), &["KKKKvK.wdl"]);
}
