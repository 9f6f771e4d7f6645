//! The command line: one file per subcommand. Commands write to the output they are given and
//! return their errors; only [`Cli::run`] turns errors into messages and exit codes.
//!
//! Exit codes: 0 done, 1 what was asked for is wrong or missing, 2 the command line is no use of
//! the program. A reader that closes the pipe early is no error.

mod annotate;
mod batch;
mod diagram;
mod generate;
mod info;
mod input;
mod line;
mod manual;
mod mine;
mod missing;
mod moves;
mod perft;
mod probe;
mod stats;
mod variant;
mod variants;
mod verify;
mod words;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crownhead::probe::{Tablebase, table_paths};
use crownhead::table::Metric;

use self::variant::VariantArg;

/// Endgame tablebases for every draughts variant
///
/// Given a position with few pieces, tables tell exactly who wins and in how many plies (moves of
/// one side), and what every move is worth. `generate` makes tables, `probe`, `annotate` and `mine`
/// ask them.
#[derive(Debug, Parser)]
#[command(name = "crownhead", version, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  crownhead generate russian --pieces 3
  crownhead probe russian \"W:WKa1,Kc1:BKf8\"
  crownhead annotate game.pdn

Positions are written as FEN: the side to move, then the squares of each side, K before a king.
Tables are looked for in --tables DIR, else in the directories of CROWNHEAD_TABLES, else in `tables`.
Colours are used on a terminal, unless NO_COLOR is set.

Exit codes: 0 done, 1 what was asked for is wrong or missing, 2 wrong usage.";

/// Ends the help of every command.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 wrong or missing, 2 wrong usage.";

#[derive(Debug, Subcommand)]
enum Command {
    Probe(probe::Args),
    Line(line::Args),
    Annotate(annotate::Args),
    Mine(mine::Args),
    Stats(stats::Args),
    Info(info::Args),
    Generate(generate::Args),
    Verify(verify::Args),
    Variants(variants::Args),
    Moves(moves::Args),
    Perft(perft::Args),
    Completions(manual::Completions),
    Man(manual::Man),
}

/// What a command failed with; the text is for people.
type Failure = Box<dyn Error + Send + Sync>;

/// Bytes gathered before they are written out.
const BUFFER: usize = 1 << 16;

const ERROR: Style = AnsiColor::Red.on_default().bold();

impl Cli {
    /// The whole command line, from which help, completions and manual pages are made.
    pub fn definition() -> clap::Command {
        Cli::command().mut_subcommands(|command| {
            let help = command.get_after_help().cloned().unwrap_or_default();
            command.after_help(format!("{help}\n\n{EXIT_CODES}"))
        })
    }

    /// Ends the program if there is nothing to run.
    pub fn read() -> Cli {
        let matches = Cli::definition().get_matches();
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    pub fn run(self) -> ExitCode {
        let mut out = BufWriter::with_capacity(BUFFER, AutoStream::auto(io::stdout()));
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
                let text = words::printable(&failure.to_string());
                // Where that cannot be said the exit code still tells.
                let _ = writeln!(anstream::stderr(), "{ERROR}error:{ERROR:#} {cause}{text}");
                ExitCode::FAILURE
            }
        }
    }
}

impl Command {
    fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Command::Probe(args) => args.run(out),
            Command::Line(args) => args.run(out),
            Command::Annotate(args) => args.run(out),
            Command::Mine(args) => args.run(out),
            Command::Stats(args) => args.run(out),
            Command::Info(args) => args.run(out),
            Command::Generate(args) => args.run(out),
            Command::Verify(args) => args.run(out),
            Command::Variants(args) => args.run(out),
            Command::Moves(args) => args.run(out),
            Command::Perft(args) => args.run(out),
            Command::Completions(args) => args.run(out),
            Command::Man(args) => args.run(out),
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
    #[arg(long, value_name = "DIR", value_parser = directories())]
    tables: Vec<OsString>,
}

impl TablesArg {
    fn open(&self) -> Tablebase {
        Tablebase::open(&table_paths(&self.tables))
    }

    /// With so many bytes for decoded blocks.
    fn open_with(&self, cache: u64) -> Tablebase {
        Tablebase::with_cache(&table_paths(&self.tables), cache)
    }
}

/// Reads a list of directories that is not empty, for clap: a variable of a script that is not set
/// must not lead to other tables.
fn directories() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|list| {
        let some = std::env::split_paths(&list).any(|path| !path.as_os_str().is_empty());
        some.then_some(list)
            .ok_or("it is empty; name a directory of tables")
    })
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

/// Reads a number of bytes with an optional K, M, G or T (powers of 1024), for clap.
fn bytes(text: &str) -> Result<u64, String> {
    let upper = text.to_ascii_uppercase();
    let upper = upper.strip_suffix('B').unwrap_or(&upper);
    let upper = upper.strip_suffix('I').unwrap_or(upper);
    let end = upper.find(|c: char| !c.is_ascii_digit());
    let (digits, unit) = upper.split_at(end.unwrap_or(upper.len()));
    let power = ["", "K", "M", "G", "T"].iter().position(|&u| u == unit);
    let (Some(power), false) = (power, digits.is_empty()) else {
        return Err("write a size as 500M or 8G".to_owned());
    };
    let number = digits.parse::<u64>().ok();
    let size = number.and_then(|number| number.checked_mul(1 << (10 * power)));
    size.ok_or(
        "that is more than any computer has; leave the option out to set no limit".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_read() {
        assert_eq!(bytes("8G"), Ok(8 << 30));
        assert_eq!(bytes("500m"), Ok(500 << 20));
        assert_eq!(bytes("1KiB"), Ok(1024));
        assert_eq!(bytes("123"), Ok(123));
        for bad in ["", "G", "8X", "-1", "1.5G"] {
            assert!(bytes(bad).is_err_and(|e| e.contains("8G")), "{bad}");
        }
        for large in ["99999999999T", "99999999999999999999"] {
            assert!(
                bytes(large).is_err_and(|e| e.contains("more than")),
                "{large}"
            );
        }
    }
}
