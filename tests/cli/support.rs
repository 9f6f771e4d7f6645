//! What all these tests share: the program, with tables or without, and what it says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

pub const EXE: &str = env!("CARGO_BIN_EXE_crownhead");

/// The program in a directory without tables.
pub fn crownhead<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(EXE);
    command
        .args(args)
        .env_remove("CROWNHEAD_TABLES")
        .current_dir(env!("CARGO_TARGET_TMPDIR"));
    command
}

/// The tables of three pieces of a few variants, made once.
pub fn tables() -> &'static Path {
    static TABLES: LazyLock<PathBuf> = LazyLock::new(|| {
        let tables = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
        let _ = fs::remove_dir_all(&tables);
        for variant in ["english", "russian", "breakthrough", "poddavki"] {
            generate(&tables, &[variant, "--pieces", "3"]).success();
        }
        tables
    });
    &TABLES
}

/// The program with these tables.
pub fn with_tables<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = crownhead(args);
    command.env("CROWNHEAD_TABLES", tables());
    command
}

/// The program with the tables that come with the source.
pub fn with_shipped<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = crownhead(args);
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables");
    command.env("CROWNHEAD_TABLES", shipped);
    command
}

pub fn generate(tables: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = crownhead(["generate"]);
    command.args(args).arg("--tables").arg(tables).assert()
}

pub fn stdout(command: &mut Command) -> String {
    let output = command.assert().success().get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

pub fn json(command: &mut Command) -> Value {
    serde_json::from_str(&stdout(command)).unwrap()
}

/// Fails with exit code 1, and the message names all of these.
pub fn fails_naming(command: &mut Command, tokens: &[&str]) {
    let mut failed = command.assert().code(1).stdout("");
    for token in tokens {
        failed = failed.stderr(predicate::str::contains(*token));
    }
}

/// The visible files of a rule set's tables with their bytes.
pub fn files(tables: &Path, rule_set: &str) -> BTreeMap<String, Vec<u8>> {
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
