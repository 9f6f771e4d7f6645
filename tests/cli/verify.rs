//! `verify`.

use std::fs;
use std::process::Command as Process;
use std::time::Duration;

use predicates::prelude::*;

use crate::support::{crownhead, fails_naming, generate, with_tables};

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
    let memory = &["--memory", "1K"];
    fails_naming(&mut verify(memory), &["bytes of memory", "--memory"]);
    // The number told is enough for all slices.
    let refused = verify(memory).output().unwrap().stderr;
    let refused = String::from_utf8(refused).unwrap();
    let needed = refused.split_once("takes ").unwrap().1;
    let needed = needed.split(' ').next().unwrap();
    verify(&["--memory", needed]).assert().success();
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
    fails_naming(&mut verify(&["--slice", "KMvM"]), &["KMvM"]);
}

/// What is there is verified, whatever is missing; that is an error if more was asked for.
#[test]
fn sets_with_gaps_are_verified_as_far_as_they_go() {
    let tables = tempfile::tempdir().unwrap();
    let args = ["english", "--slice", "KMvM", "--metric", "wdl"];
    generate(tables.path(), &args).success();
    let verify = |args: &[&str]| {
        let mut verify = crownhead(["verify", "english", "--tables"]);
        verify.arg(tables.path()).args(args).assert()
    };
    let has = predicate::str::contains::<&str>;
    let whole = || has("KMvM ").and(has("KvK "));
    let gaps = || has("2 tables are missing").and(has("english/MMvK.wdl english/MMvM.wdl"));
    verify(&[]).success().stdout(whole().and(gaps()));
    verify(&["--pieces", "2"])
        .success()
        .stdout(has("KMvM ").not());
    let asked = verify(&["--pieces", "3"]).code(1).stdout(whole());
    asked.stderr(gaps());
    verify(&["--pieces", "4"])
        .code(1)
        .stderr(has("tables are missing"));

    // A table that is needed, whether a manifest tells of it or not.
    fs::remove_file(tables.path().join("english/KKvM.wdl")).unwrap();
    let manifest = tables.path().join("english/MANIFEST");
    let lines = fs::read_to_string(&manifest).unwrap();
    let rest = || has("KMvK ").and(has("KMvM ").not());
    let told = || {
        has("english/KKvM.wdl").and(has(
            "not verified, as that takes some of these: english/KMvM.wdl\n",
        ))
    };
    let listed = verify(&[]).code(1).stdout(rest());
    listed.stderr(told().and(has("listed in MANIFEST: english/KKvM.wdl\n")));
    let without = lines.lines().filter(|line| !line.ends_with("KKvM.wdl"));
    let without: String = without.map(|line| line.to_owned() + "\n").collect();
    fs::write(&manifest, without).unwrap();
    let unlisted = verify(&[]).code(1).stdout(rest());
    unlisted.stderr(told().and(has("MANIFEST").not()));
    let alone = verify(&["--slice", "KMvM"]).code(1).stdout("");
    alone.stderr(has("english/KKvM.wdl"));
    // Bytes are compared of any table.
    verify(&["--checksums"]).success().stdout(has("KMvM "));

    // Nothing needs this one, but a manifest lists it.
    fs::remove_file(tables.path().join("english/KMvM.wdl")).unwrap();
    let lost = verify(&[]).code(1).stdout(has("KMvK "));
    lost.stderr(has("listed in MANIFEST: english/KMvM.wdl\n"));
}

/// Results need results around, distances to the end those, too; distances to a conversion nothing
/// more.
#[test]
fn a_gap_stands_in_the_way_of_what_needs_it() {
    let tables = tempfile::tempdir().unwrap();
    generate(tables.path(), &["english", "--pieces", "2"]).success();
    let lose = |name: &str| {
        fs::remove_file(tables.path().join("english").join(name)).unwrap();
        let manifest = tables.path().join("english/MANIFEST");
        let lines = fs::read_to_string(&manifest).unwrap();
        let rest = lines.lines().filter(|line| !line.ends_with(name));
        let rest: String = rest.map(|line| line.to_owned() + "\n").collect();
        fs::write(&manifest, rest).unwrap();
    };
    let verify = |args: &[&str]| {
        let mut verify = crownhead(["verify", "english", "--tables"]);
        verify.arg(tables.path()).args(args).assert()
    };
    let has = predicate::str::contains::<&str>;
    let values = |text| predicate::str::is_match(text).unwrap();
    let all = || values("KvM +5,208 values are right");
    lose("KvK.dtc");
    let one = verify(&["--slice", "KvM"]).success();
    one.stdout(all().and(has(
        "2 tables taken as they are, as MANIFEST lists them: english/KvK.wdl",
    )));
    verify(&[])
        .success()
        .stdout(all().and(has("what is there is right; 1 table is missing")));

    lose("KvK.dtw");
    let some = verify(&[]).code(1);
    // The distances of KvM are right, too, for all that is known.
    let rests =
        has("rests on 1 table taken as they are, as MANIFEST lists them: english/KvM.dtw\n");
    let some = some.stdout(rests.and(values("KvM +3,472 values")).and(has("MvM ")));
    some.stderr(has(
        "not verified, as that takes some of these: english/KvM.dtw\n",
    ));
    let one = verify(&["--slice", "KvM"]).code(1).stdout("");
    one.stderr(has("english/KvK.dtw"));
    let bytes = verify(&["--checksums"]).success();
    bytes.stdout(has("all checksums are right; 2 tables are missing"));
}

/// However a directory is given, what its manifest lists and is not there is told, each once.
#[test]
fn lost_tables_are_noticed_wherever_they_were() {
    let tables = tempfile::tempdir().unwrap();
    let nested = tables.path().join("more/set");
    generate(&nested, &["english", "--pieces", "2"]).success();
    // Another place with the same tables, under a name of its own.
    let other = tables.path().join("other");
    fs::create_dir(&other).unwrap();
    for entry in fs::read_dir(nested.join("english")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, other.join(path.file_name().unwrap())).unwrap();
        }
    }
    for directory in [nested.join("english"), other.clone()] {
        for metric in ["dtc", "dtw"] {
            fs::remove_file(directory.join(format!("MvM.{metric}"))).unwrap();
        }
    }
    let told = "listed in MANIFEST: english/MvM.dtc english/MvM.dtw\n";
    let places = [nested.join("english"), other, tables.path().join("more")];
    for place in places {
        let mut verify = crownhead(["verify", "english", "--tables"]);
        let all = verify.arg(place).assert().code(1);
        all.stderr(predicate::str::contains(told));
        fails_naming(verify.args(["--slice", "MvM"]), &["2 tables", told]);
    }
    // Nothing but its name and the manifest tell what this one is.
    let empty = tables.path().join("empty/english");
    fs::create_dir_all(&empty).unwrap();
    let nested = nested.join("english");
    fs::copy(nested.join("MANIFEST"), empty.join("MANIFEST")).unwrap();
    let both = std::env::join_paths([nested, empty]).unwrap();
    let mut verify = crownhead(["verify", "english", "--slice", "MvM", "--tables"]);
    fails_naming(verify.arg(both), &["2 tables", told]);
}

/// With `--pieces` a file that can only be a table of more is no hindrance.
#[test]
fn files_of_larger_slices_are_passed_over() {
    let tables = tempfile::tempdir().unwrap();
    generate(tables.path(), &["english", "--pieces", "2"]).success();
    let verify = |pieces: &str| {
        let mut verify = crownhead(["verify", "english", "--pieces", pieces, "--tables"]);
        verify.arg(tables.path());
        verify
    };
    fs::write(tables.path().join("english/KKvM.wdl"), "no table").unwrap();
    verify("2").assert().success();
    fails_naming(&mut verify("3"), &["KKvM.wdl"]);
}

/// One slice is verified given those it leads to, which must be the files that are listed.
#[test]
fn what_a_slice_rests_on_is_told_and_compared_with_the_manifest() {
    let (tables, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let args = ["english", "--slice", "KKvM", "--metric", "wdl"];
    generate(tables.path(), &args).success();
    generate(others.path(), &[&args[..], &["--profile", "full"]].concat()).success();
    let verify = |args: &[&str]| {
        let mut verify = crownhead(["verify", "english", "--tables"]);
        verify.arg(tables.path()).args(args);
        verify
    };
    let rests = predicate::str::contains("rests on 3 tables").and(predicate::str::contains("KvM"));
    let one = ["--slice", "KKvM"];
    verify(&one).assert().success().stdout(rests);
    let all = || predicate::str::contains("rests on").not();
    verify(&[]).assert().success().stdout(all());
    // A sound file of another set.
    fs::copy(
        others.path().join("english/KvM.wdl"),
        tables.path().join("english/KvM.wdl"),
    )
    .unwrap();
    for how in [&[][..], &["--sample", "10"]] {
        let refused = &["english/KvM.wdl", "MANIFEST"];
        fails_naming(verify(&one).args(how), refused);
    }
    let bytes = verify(&["--slice", "KKvM", "--checksums"]).assert();
    bytes.success().stdout(all());
    // Nor is it kept.
    let refused = generate(tables.path(), &args).code(1);
    refused.stderr(predicate::str::contains("english/KvM.wdl"));
}

/// What is wrong among the tables of one rule set is told to who verifies that one.
#[test]
fn rule_sets_are_verified_each_by_itself() {
    let tables = tempfile::tempdir().unwrap();
    for rule_set in ["english", "russian"] {
        generate(tables.path(), &[rule_set, "--pieces", "2"]).success();
    }
    let at = |name: &str| tables.path().join(name);
    let verify = |rule_set| {
        let mut verify = crownhead(["verify", rule_set, "--tables"]);
        verify.arg(tables.path());
        verify
    };
    fs::write(at("russian/KvK.dtw"), "no table").unwrap();
    verify("english").assert().success();
    fails_naming(&mut verify("russian"), &["russian/KvK.dtw"]);
    // The table of another rule set.
    fs::copy(at("english/KvM.wdl"), at("russian/KvM.wdl")).unwrap();
    let exchanged = [
        "russian/KvM.wdl",
        "header says english",
        "directory russian",
    ];
    fails_naming(verify("russian").args(["--slice", "KvM"]), &exchanged);
    let mut probe = crownhead(["probe", "russian", "W:WKa1:Bc7", "--tables"]);
    fails_naming(probe.arg(tables.path()), &exchanged);
    verify("english").assert().success();
    // What lies outside may be of any.
    fs::write(at("KvK.dtw"), "no table").unwrap();
    fails_naming(&mut verify("english"), &["KvK.dtw"]);
}

/// A list may have positions in either form, and says where it is no text.
#[test]
fn lists_are_read_as_positions_are() {
    let list = tempfile::NamedTempFile::new().unwrap();
    let verify = |text: &[u8]| {
        fs::write(list.path(), text).unwrap();
        let mut verify = with_tables(["verify", "english", "--against"]);
        verify.arg(list.path());
        verify
    };
    let hub = format!("Weebeeeew{}", "e".repeat(24));
    let text = format!("W:W8:B3;win;13\n\n{hub};win;13\n");
    verify(text.as_bytes()).assert().success();
    let places = ["line 2, byte 6: not UTF-8"];
    fails_naming(&mut verify(b"W:W8:B3;win;13\nW:W8:\xfc"), &places);
    fails_naming(&mut verify(b"Wewb;win;13\n"), &["line 1"]);
}

/// Standard input, a pipe by its name, and a directory.
#[test]
fn lists_come_from_anywhere() {
    let against = |list: &str| {
        let mut verify = with_tables(["verify", "english", "--against", list]);
        verify.timeout(Duration::from_secs(60));
        verify
    };
    let agree = |name: &str| predicate::str::contains(format!("2 positions agree with {name}"));
    let lines = "W:W8:B3;win;13\nW:W8:B3;win;\n";
    let read = against("-").write_stdin(lines).assert().success();
    read.stdout(agree("standard input"));
    let wrong = &["standard input: line 1", "draw in the list"];
    fails_naming(against("-").write_stdin("W:W8:B3;draw;\n"), wrong);
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    fails_naming(&mut against(&at("")), &[&at(""), "directory"]);
    fails_naming(&mut against(&at("none")), &[&at("none")]);
    #[cfg(unix)]
    {
        let pipe = at("pipe");
        let made = Process::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        std::thread::scope(|scope| {
            scope.spawn(|| fs::write(&pipe, lines).unwrap());
            let read = against(&pipe).assert().success();
            read.stdout(agree(&format!("`{pipe}`")));
        });
    }
}

/// A file that is not taken for a table proves nothing, and does not go unnoticed.
#[test]
fn files_that_are_not_used_are_told_slice_by_slice() {
    let tables = tempfile::tempdir().unwrap();
    generate(tables.path(), &["english", "--pieces", "2"]).success();
    let verify = || {
        let mut verify = crownhead(["verify", "english", "--slice", "KvM", "--tables"]);
        verify.arg(tables.path());
        verify
    };
    verify().assert().success();
    let table = tables.path().join("english/KvM.dtw");
    let sound = fs::read(&table).unwrap();

    let mut damaged = sound.clone();
    damaged[60] ^= 1;
    fs::write(&table, damaged).unwrap();
    fails_naming(&mut verify(), &["KvM.dtw", "header"]);
    fs::copy(tables.path().join("english/KvM.dtc"), &table).unwrap();
    fails_naming(&mut verify(), &["KvM.dtw", "KvM.dtc"]);
    fs::remove_file(&table).unwrap();
    fails_naming(&mut verify(), &["KvM.dtw", "MANIFEST"]);
    fs::write(&table, sound).unwrap();
    verify().assert().success();
}
