//! The command line: one file per subcommand. Commands write to the output they are given and
//! return their errors; only [`Cli::run`] turns errors into messages and exit codes.
//!
//! Exit codes: 0 done, 1 what was asked for is wrong or missing, 2 the command line is no use of
//! the program. A reader that closes the pipe early is no error.

mod generate;
mod info;
mod line;
mod moves;
mod perft;
mod probe;
mod stats;
mod variants;
mod verify;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::probe::{Tablebase, table_paths};
use crate::table::Metric;

/// Endgame tablebases for every draughts variant.
#[derive(Debug, Parser)]
#[command(name = "crownhead", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Variants(variants::Args),
    Moves(moves::Args),
    Perft(perft::Args),
    Generate(generate::Args),
    Probe(probe::Args),
    Line(line::Args),
    Stats(stats::Args),
    Info(info::Args),
    Verify(verify::Args),
}

/// What a command failed with; the text is for people.
type Failure = Box<dyn Error + Send + Sync>;

impl Cli {
    pub fn run(self) -> ExitCode {
        let mut out = BufWriter::new(io::stdout());
        let done = self.command.run(&mut out);
        match done.and_then(|()| Ok(out.flush()?)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) if is_broken_pipe(&*failure) => ExitCode::SUCCESS,
            Err(failure) => {
                // What was written before the failure comes first; if that fails too, the first
                // failure is the one to tell.
                let _ = out.flush();
                // Every other I/O error comes with its own words.
                let cause = if failure.is::<io::Error>() {
                    "cannot write the output: "
                } else {
                    ""
                };
                eprintln!("error: {cause}{failure}");
                ExitCode::FAILURE
            }
        }
    }
}

impl Command {
    fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Command::Variants(args) => args.run(out),
            Command::Moves(args) => args.run(out),
            Command::Perft(args) => args.run(out),
            Command::Generate(args) => args.run(out),
            Command::Probe(args) => args.run(out),
            Command::Line(args) => args.run(out),
            Command::Stats(args) => args.run(out),
            Command::Info(args) => args.run(out),
            Command::Verify(args) => args.run(out),
        }
    }
}

fn is_broken_pipe(failure: &(dyn Error + Send + Sync + 'static)) -> bool {
    let error = failure.downcast_ref::<io::Error>();
    error.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// Where tables are looked for.
#[derive(Debug, Args)]
struct TablesArg {
    /// Directories of tables, searched with all below them (repeatable, each may be a list)
    /// [default: those of CROWNHEAD_TABLES, else `tables`]
    #[arg(long, value_name = "DIR")]
    tables: Vec<OsString>,
}

impl TablesArg {
    fn open(&self) -> Tablebase {
        Tablebase::open(&table_paths(&self.tables))
    }
}

/// Writes a value as JSON and ends the line.
fn write_json(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<(), Failure> {
    // Through a text, so that a broken pipe stays an I/O error.
    writeln!(out, "{}", serde_json::to_string(value)?)?;
    Ok(())
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Reads the name of a metric, for clap.
fn metric(text: &str) -> Result<Metric, String> {
    let known = Metric::ALL.iter().find(|m| m.name() == text);
    known
        .copied()
        .ok_or("the metrics are wdl, dtc and dtw".to_owned())
}
