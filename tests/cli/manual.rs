//! Help, completions and manual pages.

use predicates::prelude::*;

use crate::support::{crownhead, fails_naming, stdout};

const COMMANDS: [&str; 13] = [
    "probe",
    "line",
    "annotate",
    "mine",
    "stats",
    "info",
    "generate",
    "verify",
    "variants",
    "moves",
    "perft",
    "completions",
    "man",
];

#[test]
fn completions_know_commands_and_variants() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&mut crownhead(["completions", shell]));
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
        // The other scripts complete no positional arguments.
        if ["bash", "zsh"].contains(&shell) {
            assert!(script.contains("spantsireti"), "{shell}");
        }
    }
    crownhead(["completions", "csh"]).assert().code(2);
}

#[test]
fn manual_pages_of_all_commands() {
    let page = stdout(&mut crownhead(["man"]));
    assert!(page.contains(".TH crownhead 1"), "{page}");
    for command in COMMANDS {
        assert!(page.contains(command), "{command}");
        let page = stdout(&mut crownhead(["man", command]));
        assert!(
            page.contains(&format!(".TH crownhead-{command} 1")),
            "{page}"
        );
    }
    fails_naming(&mut crownhead(["man", "solve"]), &["`solve`", "probe"]);
    // Not a command of its own, and so not among them.
    let help = crownhead(["man", "help"]).assert().code(1);
    help.stderr(predicate::str::contains("completions, man\n"));
}

/// Every command's help shows how it is used and what it exits with.
#[test]
fn help_has_examples() {
    let codes = predicate::str::contains("Exit codes: 0 done");
    for command in COMMANDS {
        let example = predicate::str::contains(format!("  crownhead {command}"));
        let help = crownhead([command, "--help"]).assert().success();
        help.stdout(example).stdout(codes.clone());
    }
    crownhead(["--help"]).assert().success().stdout(codes);
}
