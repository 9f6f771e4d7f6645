//! `variants`, `moves` and `perft`.

use crate::support::{crownhead, fails_naming, json, stdout};

#[test]
fn variants_are_listed() {
    let names = json(&mut crownhead(["variants", "--json"]));
    let names = names.as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 22);
    let text = stdout(&mut crownhead(["variants"]));
    let lines = text.lines().map(|line| line.split(' ').next().unwrap());
    assert_eq!(lines.collect::<Vec<_>>(), names);
}

#[test]
fn moves_are_listed_in_the_variants_notation() {
    let moves = |variant, fen| stdout(&mut crownhead(["moves", variant, fen]));
    assert_eq!(moves("russian", "W:Wh6:Bg7,c5,d2"), "h6:e1\n");
    let english = moves("checkers", "B:W23,22,15,14:B11,10");
    for text in ["10x19x26", "10x17x26"] {
        assert!(english.lines().any(|line| line == text), "{english}");
    }
    assert_eq!(moves("international", "B:W50:B"), "");
    let report = json(&mut crownhead([
        "moves",
        "russian",
        "W:Wh6:Bg7,c5,d2",
        "--json",
    ]));
    assert_eq!(report["fen"], "W:Wh6:Bc5,d2,g7");
    let only = &report["moves"][0];
    assert_eq!(only["captured"].as_array().unwrap().len(), 3);
    assert_eq!((&only["from"], &only["to"]), (&"h6".into(), &"e1".into()));
    assert_eq!(
        (&only["promotes"], &only["conversion"]),
        (&true.into(), &true.into())
    );
}

#[test]
fn perft_prints_a_line_for_each_depth() {
    let text = stdout(&mut crownhead(["perft", "international", "5"]));
    assert_eq!(text, "1 9\n2 81\n3 658\n4 4265\n5 27117\n");
    assert_eq!(stdout(&mut crownhead(["perft", "english", "0"])), "0 1\n");
    let fen = "W:Wh6:Bg7,c5,d2";
    let text = stdout(&mut crownhead(["perft", "russian", "1", "--fen", fen]));
    assert_eq!(text, "1 1\n");
}

#[test]
fn positions_are_read_in_hub_form_too() {
    let hub = format!("W{}we", "e".repeat(30));
    let report = json(&mut crownhead(["moves", "english", &hub, "--json"]));
    assert_eq!(report["fen"], "W:W31:B");
    assert_eq!(report["hub"], hub.as_str());
    fails_naming(
        &mut crownhead(["moves", "english", &hub[..20]]),
        &["column 21", "ends"],
    );
}
