//! `verify`.

use std::fs;

use predicates::prelude::*;

use crate::support::{crownhead, fails_naming, generate};

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
