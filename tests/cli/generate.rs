//! `generate`: what it leaves on the disk, however it is run or stopped.

use std::fs;
use std::path::Path;
use std::process::Command as Process;
use std::time::Duration;

use predicates::prelude::*;
use serde_json::Value;

use crate::support::{EXE, crownhead, files, generate, json};

#[test]
fn generated_tables_are_kept_and_probed() {
    let tables = tempfile::tempdir().unwrap();
    let args = ["russian", "--pieces", "2", "--probe", "W:WKa1:BKh8"];
    let first = generate(tables.path(), &args).success();
    let text = String::from_utf8(first.get_output().stdout.clone()).unwrap();
    assert!(text.contains("KvK KvM MvM\n"), "{text}");
    assert!(
        text.contains("White to move: Black wins in 2 plies (1 move)"),
        "{text}"
    );
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

/// Told before anything is solved.
#[test]
fn a_directory_in_place_of_a_table_is_refused() {
    let tables = tempfile::tempdir().unwrap();
    let place = tables.path().join("russian/MvM.wdl");
    fs::create_dir_all(&place).unwrap();
    let refused = generate(tables.path(), &["russian", "--pieces", "2"]).code(1);
    refused.stderr(predicate::str::contains(place.to_str().unwrap()));
    assert!(
        files(tables.path(), "russian").is_empty(),
        "nothing is solved"
    );
}

#[test]
fn finished_tables_stay_when_metrics_are_added() {
    let tables = tempfile::tempdir().unwrap();
    let results = ["english", "--pieces", "2", "--metric", "wdl"];
    generate(tables.path(), &results).success();
    let table = |slice: &str| fs::read(tables.path().join("english").join(slice)).unwrap();
    let slices = ["KvK.wdl", "KvM.wdl", "MvM.wdl"];
    let before = slices.map(table);
    let more = [
        "english",
        "--pieces",
        "2",
        "--metric",
        "wdl,dtc",
        "--profile",
        "full",
    ];
    generate(tables.path(), &more).success();
    assert!(
        slices.map(table) == before,
        "of another profile, yet finished"
    );
    assert!(tables.path().join("english/KvM.dtc").exists());
    let mut verify = crownhead(["verify", "english", "--tables"]);
    verify.arg(tables.path()).assert().success();
}

/// Also of metrics that are not asked for any more.
#[test]
fn what_a_killed_writer_left_is_removed() {
    let tables = tempfile::tempdir().unwrap();
    let directory = tables.path().join("english");
    fs::create_dir_all(&directory).unwrap();
    let left = directory.join(".KKvM.dtw.2.tmp");
    let other = directory.join(".notes.tmp");
    fs::write(&left, "encoded").unwrap();
    fs::write(&other, "mine").unwrap();
    generate(
        tables.path(),
        &["english", "--pieces", "2", "--metric", "wdl"],
    )
    .success();
    assert!(!left.exists());
    assert!(other.exists(), "that is no table in the making");
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
    for key in ["memory", "scratch", "tables", "unfinished", "seconds"] {
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
        ("memory", &["--memory", "32M", "--scratch", scratch], false),
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

/// A manifest that was deleted, as is asked of who has a damaged one, is made anew from the tables,
/// if these are sound.
#[test]
fn kept_tables_are_listed_again() {
    let tables = tempfile::tempdir().unwrap();
    let args = ["english", "--pieces", "2"];
    generate(tables.path(), &args).success();
    let before = files(tables.path(), "english");
    let manifest = tables.path().join("english/MANIFEST");
    let verified = || {
        let mut verify = crownhead(["verify", "english", "--checksums", "--tables"]);
        verify.arg(tables.path()).assert()
    };
    for damaged in [&b"0000 KvK.wdl\n"[..], b"\xff\xfe"] {
        fs::write(&manifest, damaged).unwrap();
        for refused in [verified(), generate(tables.path(), &args)] {
            let told = predicate::str::contains("MANIFEST").and(predicate::str::contains("delete"));
            refused.code(1).stderr(told);
        }
        assert_eq!(fs::read(&manifest).unwrap(), damaged);
        fs::remove_file(&manifest).unwrap();
        verified()
            .code(1)
            .stderr(predicate::str::contains("not listed in the MANIFEST"));
        let entered = generate(tables.path(), &args).success();
        let told = "KvM.dtc` was not listed in MANIFEST: entered, its checksums are right";
        entered.stdout(predicate::str::contains(told));
        verified().success();
        assert_eq!(files(tables.path(), "english"), before);
    }
    fs::remove_file(&manifest).unwrap();
    let table = tables.path().join("english/KvM.wdl");
    let mut damaged = fs::read(&table).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&table, damaged).unwrap();
    let refused = generate(tables.path(), &args).code(1);
    refused.stderr(predicate::str::contains("KvM.wdl"));
}

/// A pipe in the place of a file is never waited for.
#[cfg(unix)]
#[test]
fn pipes_are_no_tables() {
    let tables = tempfile::tempdir().unwrap();
    let english = tables.path().join("english");
    fs::create_dir_all(english.join(".locks")).unwrap();
    let pipe = |name: &str| {
        let made = Process::new("mkfifo").arg(english.join(name)).status();
        assert!(made.unwrap().success());
    };
    let run = || {
        let mut command = crownhead(["generate", "english", "--slice", "KvK", "--tables"]);
        let command = command.arg(tables.path());
        command.timeout(Duration::from_secs(60)).assert()
    };
    pipe(".locks/KvK");
    run().code(1).stderr(predicate::str::contains("KvK"));
    fs::remove_file(english.join(".locks/KvK")).unwrap();
    pipe("MANIFEST");
    run().code(1).stderr(predicate::str::contains("MANIFEST"));
    fs::remove_file(english.join("MANIFEST")).unwrap();
    pipe("KvK.wdl");
    run().code(1).stderr(predicate::str::contains("KvK.wdl"));
    fs::remove_file(english.join("KvK.wdl")).unwrap();
    run().success();
    assert!(english.join("KvK.wdl").is_file());
}
