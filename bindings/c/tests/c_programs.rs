//! C programs, compiled with the `cc` of the machine, against the header and both forms of the
//! library. Their expectations come from the slow solver.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crownhead::board::{Color, Position};
use crownhead::index::{Slice, SliceIndex};
use crownhead::notation::fen;
use crownhead::rules::{English, Rules, Variant};
use crownhead::solve::reference::{Solved, by_mailbox};
use crownhead::table::Wdl;

/// The root of the repository, with the tables that come along: English ones of four pieces.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lines `FEN;result;dtc;dtw` for positions of all slices of three pieces.
fn expectations() -> String {
    let solved = Solved::<English>::up_to(3, by_mailbox::<English>);
    let mut lines = String::new();
    for slice in Slice::all(3, true) {
        let index = SliceIndex::<<English as Rules>::Geometry>::new(slice);
        for number in (0..index.len()).step_by((index.len() / 60) as usize) {
            let side = Color::BOTH[number as usize % 2];
            let board = index.unrank(number, side);
            let value = solved.value(&board).unwrap();
            let position = Position::from_board(Variant::English, &board);
            let plies = |plies: u16| match value.result {
                Wdl::Draw => -1,
                _ => i32::from(plies),
            };
            lines += &format!(
                "{};{};{};{}\n",
                fen::format(&position),
                value.result as u8,
                plies(value.dtc),
                plies(value.dtw)
            );
        }
    }
    lines
}

/// Where cargo has put the library that belongs to this very test.
fn library_directory() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Compiles a program; linked with the shared library, or with the static one whole.
fn compile(source: &Path, program: &Path, shared: bool) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let libraries = library_directory();
    let mut cc = Command::new("cc");
    cc.args([
        "-std=c11",
        "-D_POSIX_C_SOURCE=200809L",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-I",
    ]);
    cc.arg(here).arg(source).arg("-o").arg(program);
    if shared {
        cc.arg("-L").arg(&libraries).arg("-lcrownhead_c");
        cc.arg(format!("-Wl,-rpath,{}", libraries.display()));
    } else {
        cc.arg(libraries.join("libcrownhead_c.a"));
    }
    cc.args(["-lpthread", "-lm"]);
    if cfg!(target_os = "linux") {
        cc.args(["-ldl", "-lrt", "-lgcc_s"]);
    }
    let compiled = cc.output().expect("`cc`, a C compiler, is needed");
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{cc:?}\n{said}");
}

/// What a program prints that is run in the root of the repository.
fn run(program: &Path, arguments: &[&Path]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("CROWNHEAD_TABLES");
    let ran = command.current_dir(root()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{command:?}: {}\n{said}", ran.status);
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn four_threads_get_the_right_answers() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let expected = scratch.path().join("expected.txt");
    fs::write(&expected, expectations()).unwrap();
    for shared in [true, false] {
        let program = scratch.path().join(format!("probe-{shared}"));
        compile(&here.join("tests/probe.c"), &program, shared);
        let arguments = [Path::new("tables"), Path::new("english"), &expected];
        let said = run(&program, &arguments);
        assert!(said.contains(env!("CARGO_PKG_VERSION")), "{said}");
    }
}

/// Blocks of C in the documents that are whole programs print what the text says.
#[test]
fn programs_in_the_documents_run() {
    let scratch = tempfile::tempdir().unwrap();
    for (document, programs) in [("README.md", 1), ("docs/engines.md", 2)] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let blocks = text.split("```c\n").skip(1);
        let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
        let found: Vec<&str> = blocks.filter(|block| block.contains("int main")).collect();
        assert_eq!(found.len(), programs, "{document}");
        for block in found {
            let source = scratch.path().join("program.c");
            let program = scratch.path().join("program");
            fs::write(&source, block).unwrap();
            compile(&source, &program, true);
            let said = run(&program, &[]);
            let told = block
                .lines()
                .find_map(|line| line.split_once("// prints: "));
            assert_eq!(said.trim_end(), told.unwrap().1, "{document}");
        }
    }
}

/// The file for pkg-config names this version and the library that is built.
#[test]
fn the_package_description_fits() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(here.join("crownhead.pc")).unwrap();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name}"))
            .trim()
            .to_owned()
    };
    assert_eq!(field("Version:"), env!("CARGO_PKG_VERSION"));
    assert!(field("Libs:").ends_with("-lcrownhead_c"));
    assert!(library_directory().join("libcrownhead_c.a").exists());
}
