use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    crownhead::cli::Cli::parse().run()
}
