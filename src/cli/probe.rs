use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::{Failure, TablesArg, write_json};
use crate::board::{Color, Position};
use crate::notation::{fen, moves, parse_position};
use crate::probe::{Outcome, ProbeError, RankedMove, Tablebase};
use crate::rules::Variant;
use crate::rules::reference::legal_moves;
use crate::table::Wdl;

/// Tell the result of a position, its distances, and rank its moves
#[derive(Debug, clap::Args)]
pub struct Args {
    variant: String,
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    fen: Option<String>,
    /// Read a position a line from FILE (`-`: standard input), print `FEN;result;dtc;dtw` lines
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    batch: Option<PathBuf>,
    #[command(flatten)]
    tables: TablesArg,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    variant: &'static str,
    fen: String,
    material: String,
    result: String,
    dtc: Option<u16>,
    dtw: Option<u16>,
    moves: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    r#move: String,
    result: String,
    dtc: Option<u16>,
    dtw: Option<u16>,
    conversion: bool,
    rank: usize,
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant: Variant = self.variant.parse()?;
        let tables = self.tables.open();
        if let Some(path) = self.batch {
            return if path.as_os_str() == "-" {
                answer_batch(variant, &tables, "standard input", io::stdin().lock(), out)
            } else {
                let name = format!("`{}`", path.display());
                let file = File::open(&path).map_err(|e| format!("cannot open {name}: {e}"))?;
                answer_batch(variant, &tables, &name, BufReader::new(file), out)
            };
        }
        let position = parse_position(variant, &self.fen.unwrap_or_default())?;
        if self.json {
            return write_json(out, &report(&tables, &position)?);
        }
        write_answer(out, &tables, &position)
    }
}

fn report(tables: &Tablebase, position: &Position) -> Result<Report, ProbeError> {
    let outcome = tables.probe(position)?;
    let ranked = tables.rank_moves(position)?;
    let legal = legal_moves(position);
    let row = |m: &RankedMove| Row {
        r#move: moves::format(position, &m.played, &legal),
        result: m.outcome.result.to_string(),
        dtc: m.outcome.dtc,
        dtw: m.outcome.dtw,
        conversion: m.played.is_conversion(),
        rank: m.rank,
    };
    Ok(Report {
        variant: position.variant().name(),
        fen: fen::format(position),
        material: material(position),
        result: outcome.result.to_string(),
        dtc: outcome.dtc,
        dtw: outcome.dtw,
        moves: ranked.iter().map(row).collect(),
    })
}

/// Kings first, White left, as slices are named; a side may be empty.
fn material(position: &Position) -> String {
    let side = |color| {
        let count = |set: u128| set.count_ones() as usize;
        "K".repeat(count(position.kings(color))) + &"M".repeat(count(position.men(color)))
    };
    format!("{}v{}", side(Color::White), side(Color::Black))
}

/// The answer for people.
pub(super) fn write_answer(
    out: &mut dyn Write,
    tables: &Tablebase,
    position: &Position,
) -> Result<(), Failure> {
    let report = report(tables, position)?;
    writeln!(out, "{} {}", report.variant, report.fen)?;
    let verdict = match tables.probe(position)?.result {
        Wdl::Win => format!("{} to move wins", position.side()),
        Wdl::Draw => format!("{} to move, a draw", position.side()),
        Wdl::Loss => format!("{} to move loses", position.side()),
    };
    write!(out, "{}: {verdict}", report.material)?;
    if let Some(plies) = report.dtw {
        write!(out, ", {} to the end of the game", in_plies(plies))?;
    }
    if let Some(plies) = report.dtc {
        write!(out, ", {} to a conversion", in_plies(plies))?;
    }
    writeln!(out)?;
    if report.moves.is_empty() {
        return Ok(writeln!(out, "no legal move")?);
    }
    let number = |plies: Option<u16>| plies.map_or("-".to_owned(), |p| p.to_string());
    let texts = report.moves.iter().map(|row| row.r#move.chars().count());
    let width = texts.max().unwrap_or(0).max(4);
    writeln!(out, "{:<width$}  result  dtw  dtc", "move")?;
    for row in &report.moves {
        writeln!(
            out,
            "{:<width$}  {:<6}  {:>3}  {:>3}",
            row.r#move,
            row.result,
            number(row.dtw),
            number(row.dtc)
        )?;
    }
    Ok(())
}

fn in_plies(plies: u16) -> String {
    match plies {
        1 => "1 ply".to_owned(),
        _ => format!("{plies} plies"),
    }
}

/// Answers every line that is not blank with one line; a bad line is told in its place.
fn answer_batch(
    variant: Variant,
    tables: &Tablebase,
    name: &str,
    mut input: impl BufRead,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut line = Vec::new();
    let mut read = |line: &mut Vec<u8>| {
        let length = input.read_until(b'\n', line);
        length.map_err(|error| format!("cannot read {name}: {error}"))
    };
    while read(&mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if !text.is_empty() {
            match answer(variant, tables, text) {
                Ok((fen, outcome)) => {
                    let plies = |p: Option<u16>| p.map_or(String::new(), |p| p.to_string());
                    let (dtc, dtw) = (plies(outcome.dtc), plies(outcome.dtw));
                    writeln!(out, "{fen};{};{dtc};{dtw}", outcome.result)?;
                }
                Err(failure) => {
                    let reason = field(&failure.to_string());
                    writeln!(out, "{};error: {reason};;", field(text))?;
                }
            }
        }
        line.clear();
    }
    Ok(())
}

/// A text as a field of a line: semicolons and line ends would shift the fields, and who gave
/// megabytes for a position need not have them back.
fn field(text: &str) -> String {
    const LONGEST: usize = 1000;
    let replaced = text.chars().map(|c| match c {
        ';' => ',',
        c if c.is_control() => ' ',
        c => c,
    });
    replaced.take(LONGEST).collect()
}

fn answer(variant: Variant, tables: &Tablebase, text: &str) -> Result<(String, Outcome), Failure> {
    let position = parse_position(variant, text)?;
    Ok((fen::format(&position), tables.probe(&position)?))
}
