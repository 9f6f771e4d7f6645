//! The program: the library's abilities as commands.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::Cli::read().run()
}
