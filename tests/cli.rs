//! The program as people and scripts use it: every command, its errors and exit codes, and what
//! it leaves on the disk.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

const EXE: &str = env!("CARGO_BIN_EXE_crownhead");

/// The program in a directory without tables.
fn crownhead<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(EXE);
    command
        .args(args)
        .env_remove("CROWNHEAD_TABLES")
        .current_dir(env!("CARGO_TARGET_TMPDIR"));
    command
}

/// The program with the tables of three pieces of a few variants, made once.
fn with_tables<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    static TABLES: LazyLock<PathBuf> = LazyLock::new(|| {
        let tables = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
        let _ = fs::remove_dir_all(&tables);
        for variant in ["english", "russian", "breakthrough", "poddavki"] {
            generate(&tables, &[variant, "--pieces", "3"]).success();
        }
        tables
    });
    let mut command = crownhead(args);
    command.env("CROWNHEAD_TABLES", &*TABLES);
    command
}

fn generate(tables: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = crownhead(["generate"]);
    command.args(args).arg("--tables").arg(tables).assert()
}

fn stdout(command: &mut Command) -> String {
    let output = command.assert().success().get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

fn json(command: &mut Command) -> Value {
    serde_json::from_str(&stdout(command)).unwrap()
}

/// Fails with exit code 1, and the message names all of these.
fn fails_naming(command: &mut Command, tokens: &[&str]) {
    let mut failed = command.assert().code(1).stdout("");
    for token in tokens {
        failed = failed.stderr(predicate::str::contains(*token));
    }
}

/// The visible files of a rule set's tables with their bytes.
fn files(tables: &Path, rule_set: &str) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(tables.join(rule_set))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

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
    ] {
        crownhead(args.iter().copied()).assert().code(2);
    }
    crownhead(["--help"]).assert().code(0);
    let nothing_asked = crownhead(["generate", "russian"]).assert().code(2);
    nothing_asked.stderr(predicate::str::contains("--pieces <N>|--slice <S>"));
}

#[test]
fn generated_tables_are_kept_and_probed() {
    let tables = tempfile::tempdir().unwrap();
    let args = ["russian", "--pieces", "2", "--probe", "W:WKa1:BKh8"];
    let first = generate(tables.path(), &args).success();
    let text = String::from_utf8(first.get_output().stdout.clone()).unwrap();
    assert!(text.contains("KvK KvM MvM\n"), "{text}");
    assert!(text.contains("KvK: White to move loses"), "{text}");
    let before = files(tables.path(), "russian");
    // The manifest is one of them.
    assert_eq!(before.len(), 10);
    let again = generate(tables.path(), &["russian", "--pieces", "2", "--json"]).success();
    let text = String::from_utf8(again.get_output().stdout.clone()).unwrap();
    let events: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let names: Vec<&str> = events
        .iter()
        .map(|e| e["event"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["plan", "kept", "kept", "kept", "done"]);
    assert_eq!(files(tables.path(), "russian"), before);
    let fen = "W:WKa1:BKh8";
    let mut probe = crownhead(["probe", "russian", fen, "--json", "--tables"]);
    assert_eq!(json(probe.arg(tables.path()))["dtw"], 2);
}

#[test]
fn a_slice_brings_what_it_depends_on_and_only_the_metrics_asked_for() {
    let tables = tempfile::tempdir().unwrap();
    let args = [
        "english",
        "--slice",
        "MvKM",
        "--metric",
        "dtc",
        "--quiet",
        "--threads",
        "1",
    ];
    generate(tables.path(), &args).success().stdout("");
    let names = files(tables.path(), "english").into_keys();
    let names: Vec<String> = names.filter(|name| name != "MANIFEST").collect();
    let expected = ["KKvK", "KKvM", "KMvK", "KMvM", "KvK", "KvM", "MvM"];
    let expected = expected
        .iter()
        .flat_map(|s| [format!("{s}.dtc"), format!("{s}.wdl")]);
    assert_eq!(names, expected.collect::<Vec<_>>());
}

#[test]
fn an_estimate_writes_nothing() {
    let tables = tempfile::tempdir().unwrap();
    let args = ["english", "--pieces", "6", "--estimate", "--json"];
    let output = generate(tables.path(), &args)
        .success()
        .get_output()
        .clone();
    let estimate: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(estimate["positions"].as_u64().unwrap() > 2_000_000_000);
    for key in ["memory", "scratch", "tables", "seconds"] {
        assert!(estimate[key].is_number(), "{key}");
    }
    assert_eq!(fs::read_dir(tables.path()).unwrap().count(), 0);
}

#[test]
fn too_little_memory_is_refused_before_work_starts() {
    let tables = tempfile::tempdir().unwrap();
    generate(
        tables.path(),
        &["english", "--pieces", "4", "--memory", "100K"],
    )
    .code(1)
    .stderr(predicate::str::contains("--memory"));
    assert!(!tables.path().join("english/KvK.wdl").exists());
}

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
    let text = stdout(&mut with_tables(["probe", "russian", fen]));
    assert!(text.contains("White to move wins, 13 plies"), "{text}");
    assert_eq!(text.lines().count(), 3 + moves.len());
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
fn batches_are_answered_line_by_line() {
    let input = "W:WK32:B1,15\r\n\n \"B : W K a1 , h6 : B\" .\nW:WK99:B1\nW:WKa1:BKh2.\n\
                 W:WKa1,Kc1,Kb8:BKf8\nW:WK4:BKa3";
    let mut batch = with_tables(["probe", "russian", "--batch", "-"]);
    let text = stdout(batch.write_stdin(input));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert!(lines.iter().all(|fields| fields.len() == 4), "{text}");
    assert_eq!(lines[0][1..], ["win", "2", "13"]);
    assert_eq!(lines[1], ["B:WKa1,h6:B", "loss", "0", "0"]);
    assert!(lines[2][1].starts_with("error: ") && lines[2][1].contains("99"));
    assert_eq!(lines[3][1..], ["draw", "", ""]);
    assert!(lines[4][1].starts_with("error: ") && lines[4][1].contains("KKKvK"));
    assert_eq!(lines[5], ["W:WKh8:BKa3", "draw", "", ""]);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), input).unwrap();
    let path = file.path().to_str().unwrap();
    assert_eq!(
        stdout(&mut with_tables(["probe", "russian", "--batch", path])),
        text
    );
}

#[test]
fn hostile_lines_do_not_stop_a_batch() {
    let mut input = b"W:WKa1\0:BKf8\n\xff\xfe;W\n".to_vec();
    input.extend(b"W:WKa1".iter().chain(&b",K2".repeat(1_000_000)));
    input.extend(b"\n\xef\xbb\xbfB:WKa1:B");
    let text = stdout(with_tables(["probe", "russian", "--batch", "-"]).write_stdin(input));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    for (line, token) in lines
        .iter()
        .zip(["`a1\\u{0}`", "side to move", "`2` is used"])
    {
        assert!(line.contains(token), "{token}: {line}");
        assert_eq!(line.matches(';').count(), 3, "{line}");
        assert!(line.len() < 2000 && !line.contains('\0'), "{line}");
    }
    assert_eq!(lines[3], "B:WKa1:B;loss;0;0");
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

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_told() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let child = Process::new(EXE)
        .arg("variants")
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("cannot write the output"), "{message}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_but_not_in_a_circle() {
    use std::os::unix::fs::symlink;
    let base = tempfile::tempdir().unwrap();
    let path = |name: &str| base.path().join(name);
    generate(&path("elsewhere"), &["russian", "--pieces", "2"]).success();
    fs::create_dir(path("tables")).unwrap();
    symlink(path("elsewhere/russian"), path("tables/russian")).unwrap();
    symlink(path("tables"), path("tables/russian/up")).unwrap();
    symlink(path("tables/self.wdl"), path("tables/self.wdl")).unwrap();
    symlink(base.path(), path("tables/out")).unwrap();
    symlink("/dev/zero", path("tables/endless.wdl")).unwrap();
    let made = Process::new("mkfifo").arg(path("tables/pipe.wdl")).status();
    assert!(made.unwrap().success());
    let mut info = crownhead(["info", "--json", path("tables").to_str().unwrap()]);
    let report = json(info.timeout(Duration::from_secs(20)));
    assert_eq!(report["places"][0]["tables"], 9, "{report}");
    let reasons: Vec<_> = report["ignored"].as_array().unwrap().iter().collect();
    assert_eq!(reasons.len(), 5, "{report}");
    let reason = |name: &str| {
        let path = path("tables").join(name);
        let found = reasons.iter().find(|r| r["path"] == path.to_str().unwrap());
        found.unwrap()["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason("pipe.wdl").contains("regular file"));
    assert!(reason("endless.wdl").contains("regular file"));
    assert!(reason("out").contains("above"));
    assert!(reason("russian/up").contains("already"));
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
    let text = stdout(&mut with_tables(["stats", "russian", "--pieces", "2"]));
    assert_eq!(text.lines().count(), 1 + 2 * 8);
    let mut more = with_tables(["stats", "russian", "--pieces", "4", "--csv"]);
    more.assert()
        .code(1)
        .stderr(predicate::str::contains("KKKvK"));
    fails_naming(
        &mut with_tables(["stats", "italian", "--json"]),
        &["italian", "KvK.wdl"],
    );
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

#[test]
fn tables_are_verified() {
    let tables = tempfile::tempdir().unwrap();
    let args = ["english", "--pieces", "3", "--profile", "small"];
    generate(tables.path(), &args).success();
    let verify = |args: &[&str]| {
        let mut verify = crownhead(["verify", "english", "--tables"]);
        verify.arg(tables.path()).args(args);
        verify
    };
    for args in [
        &[][..],
        &["--checksums"],
        &["--sample", "50"],
        &["--slice", "KMvK"],
    ] {
        let right = predicate::str::contains("KMvK").and(predicate::str::contains("are right"));
        verify(args).assert().success().stdout(right);
    }
    let list = tables.path().join("english/list.csv");
    fs::write(&list, "W:W8:B3;win;13\nW:W8:B3;draw;\n").unwrap();
    let against = ["--against", list.to_str().unwrap()];
    fails_naming(
        &mut verify(&against),
        &["line 2", "draw in the list", "win 13"],
    );
    // A file out of place, then a table that is missing.
    fails_naming(&mut verify(&[]), &["list.csv"]);
    fs::remove_file(&list).unwrap();
    fs::remove_file(tables.path().join("english/KMvM.wdl")).unwrap();
    fails_naming(&mut verify(&[]), &["KMvM.wdl", "missing"]);
    fails_naming(&mut verify(&["--slice", "KMvM"]), &["KMvM"]);
}

#[test]
fn the_inventory_tells_of_every_place() {
    let base = tempfile::tempdir().unwrap();
    let path = |name: &str| base.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("other")).unwrap();
    fs::write(path("other/notes.txt"), "hello").unwrap();
    fs::write(path("other/KvK.wdl"), "no table").unwrap();
    generate(Path::new(&path("good")), &["russian", "--pieces", "2"]).success();
    let list = format!(
        "{}::\"{}\":{}:",
        path("good"),
        path("other"),
        path("absent")
    );
    let mut info = crownhead(["info", "--json"]);
    let report = json(info.env("CROWNHEAD_TABLES", &list));
    let places = report["places"].as_array().unwrap();
    assert_eq!(places.len(), 3);
    assert_eq!(places[0]["tables"], 9);
    assert_eq!(places[1]["tables"], 0);
    assert!(places[2]["error"].is_string());
    assert_eq!(report["ignored"].as_array().unwrap().len(), 2);
    assert_eq!(report["sets"][0]["complete"], 2);
    let text = stdout(crownhead(["info"]).env("CROWNHEAD_TABLES", &list));
    for part in ["good: 9 tables", "absent: ", "notes.txt", "up to 2 pieces"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    fs::remove_file(path("good/russian/KvM.dtc")).unwrap();
    let text = stdout(&mut crownhead(["info", &path("good")]));
    assert!(text.contains("missing (1): KvM"), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Process::new(EXE)
        .args(["perft", "english", "7"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stderr, b"");
}

fn start_generating(tables: &Path) -> std::process::Child {
    Process::new(EXE)
        .args([
            "generate", "english", "--pieces", "3", "--quiet", "--tables",
        ])
        .arg(tables)
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_generator_goes_on_and_ends_with_the_same_bytes() {
    let tables = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let mut child = start_generating(tables.path());
        std::thread::sleep(Duration::from_millis(3 + 37 * round % 101));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(start_generating(tables.path()).wait().unwrap().success());
    let undisturbed = tempfile::tempdir().unwrap();
    generate(
        undisturbed.path(),
        &["english", "--pieces", "3", "--threads", "1"],
    )
    .success();
    assert_eq!(
        files(tables.path(), "english"),
        files(undisturbed.path(), "english")
    );
}

/// Threads, memory and processor leave no trace in the bytes.
#[test]
fn the_same_bytes_by_every_way() {
    let directory = tempfile::tempdir().unwrap();
    let scratch = directory.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let scratch = scratch.to_str().unwrap();
    let made = |name: &str, args: &[&str], portable: bool| {
        let tables = directory.path().join(name);
        let mut command = crownhead(["generate", "turkish", "--slice", "KMvM", "--tables"]);
        command.arg(&tables).args(args);
        if portable {
            command.env("CROWNHEAD_CPU", "portable");
        }
        command.assert().success();
        files(&tables, "turkish")
    };
    let plain = made("plain", &["--threads", "1"], false);
    assert!(plain.len() > 9);
    let ways: [(&str, &[&str], bool); 4] = [
        ("threads", &["--threads", "4"], false),
        ("portable", &[], true),
        ("files", &["--scratch", scratch], false),
        ("memory", &["--memory", "20M", "--scratch", scratch], false),
    ];
    for (name, args, portable) in ways {
        assert!(made(name, args, portable) == plain, "{name}");
    }
    assert_eq!(
        fs::read_dir(scratch).unwrap().count(),
        0,
        "scratch files vanish"
    );
}

#[test]
fn two_generators_share_a_directory() {
    let tables = tempfile::tempdir().unwrap();
    let children = [(); 3].map(|()| start_generating(tables.path()));
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let alone = tempfile::tempdir().unwrap();
    generate(alone.path(), &["english", "--pieces", "3"]).success();
    assert_eq!(
        files(tables.path(), "english"),
        files(alone.path(), "english")
    );
}
