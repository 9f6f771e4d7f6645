//! What is wrong is named, and told from wrong usage.

use predicates::prelude::*;

use crate::support::{crownhead, fails_naming};

#[test]
fn what_is_wrong_is_named() {
    let moves = |variant, fen| crownhead(["moves", variant, fen]);
    fails_naming(&mut moves("rusian", "W:W1:B2"), &["rusian", "russian"]);
    fails_naming(&mut moves("international", "W:WK4,55:B4"), &["`55`"]);
    fails_naming(
        &mut moves("international", "W:W4:B49"),
        &["`4`", "`49`", "promotion"],
    );
    fails_naming(
        &mut moves("international", "W31:B4"),
        &["W31", "side to move"],
    );
    fails_naming(
        &mut crownhead(["probe", "russian", "W:WKa1:BKa1"]),
        &["a1", "twice"],
    );
    let generate = |slice| crownhead(["generate", "breakthrough", "--slice", slice]);
    fails_naming(&mut generate("MvX"), &["MvX"]);
    fails_naming(&mut generate("KvM"), &["KvM", "no kings"]);
    fails_naming(
        &mut crownhead(["probe", "russian", "--batch", "nowhere"]),
        &["nowhere"],
    );
    let directory = env!("CARGO_TARGET_TMPDIR");
    fails_naming(
        &mut crownhead(["probe", "russian", "--batch", directory]),
        &[directory],
    );
    crownhead(["info", "nowhere"])
        .assert()
        .code(1)
        .stdout(predicate::str::contains("nowhere"));
}

#[test]
fn wrong_usage_is_told_apart() {
    for args in [
        &[][..],
        &["generate", "russian"],
        &["generate", "russian", "--pieces", "11"],
        &["generate", "russian", "--pieces", "3", "--metric", "dtm"],
        &["generate", "russian", "--pieces", "3", "--memory", "much"],
        &["probe", "russian"],
        &["generate", "russian", "--pieces", "-1"],
        &["generate", "russian", "--pieces", "3", "--slice", "KvK"],
        &["generate", "russian", "--pieces", "3", "--threads", "65535"],
        &["perft", "russian", "deep"],
        &["perft", "russian", "-1"],
        &["stats", "russian", "--csv", "--json"],
        &["solve"],
        &["generate", "russian", "--pieces", "2", "--tables", ""],
        &["probe", "russian", "W:WKa1:BKh8", "--tables", ":"],
        &["info", ""],
    ] {
        crownhead(args.iter().copied()).assert().code(2);
    }
    let memory = crownhead([
        "generate",
        "russian",
        "--pieces",
        "2",
        "--memory",
        "99999999T",
    ])
    .assert();
    memory
        .code(2)
        .stderr(predicate::str::contains("more than any computer has"));
    crownhead(["--help"]).assert().code(0);
    let nothing_asked = crownhead(["generate", "russian"]).assert().code(2);
    nothing_asked.stderr(predicate::str::contains("--pieces <N>|--slice <S>"));
}
