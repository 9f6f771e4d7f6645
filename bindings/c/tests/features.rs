//! The C library is built on crownhead without solver and program. A build of the whole workspace
//! does not show that this compiles, for there other packages ask for everything.

use std::process::Command;

#[test]
fn the_small_library_compiles_without_warnings() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "check",
        "-p",
        "crownhead-c",
        "--lib",
        "--offline",
        "--color",
        "never",
    ]);
    let checked = cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}");
    assert!(!said.contains("warning"), "{said}");
}
