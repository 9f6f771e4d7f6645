use std::io::Write;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crownhead::board::{Color, Position};
use crownhead::notation::{fen, moves, parse_position};
use crownhead::probe::{Outcome, ProbeError, RankedMove, Tablebase};
use crownhead::rules::RuleSetId;
use crownhead::rules::reference::legal_moves;
use crownhead::table::Wdl;

use super::{Failure, TablesArg, VariantArg, batch, diagram, words, write_json};

/// Tell the result of a position, its distances, and rank its moves
///
/// Distances are in plies, moves of one side. What a move is worth is told for the side that makes
/// it. Games without an end are draws; no table counts repetitions or move limits.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    variant: VariantArg,
    /// The position, as FEN or in Hub form
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    fen: Option<String>,
    /// Answer the positions of FILE, one a line (`-`: standard input), with one line each
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    batch: Option<PathBuf>,
    #[command(flatten)]
    tables: TablesArg,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  crownhead probe russian \"W:WKa1,Kc1:BKf8\"
  crownhead probe english W:WK18,22:B3 --json
  crownhead probe international --batch positions.txt > answers.txt

A batch answers FEN;win|draw|loss;dtc;dtw. A field is empty where no table knows. A bad line, or one
whose table is missing, is answered `error: REASON` in the second field, and the batch goes on.
  dtc  plies to the next conversion: a capture or a move of a man
  dtw  plies to the end of the game";

#[derive(Serialize)]
struct Report {
    variant: &'static str,
    fen: String,
    material: String,
    result: String,
    /// Plies.
    dtc: Option<u16>,
    /// Plies.
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
        let variant = self.variant.get()?;
        let tables = self.tables.open();
        if let Some(path) = self.batch {
            return batch::answer(variant, &tables, &path, out);
        }
        let position = parse_position(variant, &self.fen.unwrap_or_default())?;
        if self.json {
            return write_json(out, &Answer::of(&tables, position)?.report());
        }
        write_answer(out, &tables, &position)
    }
}

/// What tables know of a position.
struct Answer {
    position: Position,
    outcome: Outcome,
    /// Each with its text.
    moves: Vec<(String, RankedMove)>,
}

impl Answer {
    fn of(tables: &Tablebase, position: Position) -> Result<Answer, ProbeError> {
        let outcome = tables.probe(&position)?;
        let ranked = tables.rank_moves(&position)?;
        let legal = legal_moves(&position);
        let text = |m: &RankedMove| moves::format(&position, &m.played, &legal);
        Ok(Answer {
            position,
            outcome,
            moves: ranked.into_iter().map(|m| (text(&m), m)).collect(),
        })
    }

    fn report(&self) -> Report {
        let row = |(text, m): &(String, RankedMove)| Row {
            r#move: text.clone(),
            result: m.outcome.result.to_string(),
            dtc: m.outcome.dtc,
            dtw: m.outcome.dtw,
            conversion: m.played.is_conversion(),
            rank: m.rank,
        };
        Report {
            variant: self.position.variant().name(),
            fen: fen::format(&self.position),
            material: material(&self.position),
            result: self.outcome.result.to_string(),
            dtc: self.outcome.dtc,
            dtw: self.outcome.dtw,
            moves: self.moves.iter().map(row).collect(),
        }
    }

    /// `White to move: White wins in 21 plies (11 moves)`.
    fn verdict(&self) -> String {
        let side = self.position.side();
        let outcome = words::outcome(side, &self.outcome);
        if self.moves.is_empty() {
            return format!("{side} to move has no move: {outcome}");
        }
        match (self.outcome.dtw, self.outcome.dtc) {
            (Some(_), Some(dtc)) => {
                format!("{side} to move: {outcome}; {}", words::conversion(dtc))
            }
            _ => format!("{side} to move: {outcome}"),
        }
    }
}

/// Kings first, White left, as slices are named; a side may be empty.
fn material(position: &Position) -> String {
    let side = |color| {
        let count = |set: u128| set.count_ones() as usize;
        "K".repeat(count(position.kings(color))) + &"M".repeat(count(position.men(color)))
    };
    format!("{}v{}", side(Color::White), side(Color::Black))
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The answer for people.
pub fn write_answer(
    out: &mut dyn Write,
    tables: &Tablebase,
    position: &Position,
) -> Result<(), Failure> {
    let answer = Answer::of(tables, *position)?;
    let variant = position.variant();
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}, {}",
        variant.title(),
        material(position)
    )?;
    writeln!(out, "{}", fen::format(position))?;
    diagram::draw(out, position)?;
    writeln!(out, "{BOLD}{}{BOLD:#}", answer.verdict())?;
    for result in [Wdl::Win, Wdl::Draw, Wdl::Loss] {
        write_moves(out, result, &answer.moves)?;
    }
    if variant.rule_set() == RuleSetId::Frisian {
        writeln!(
            out,
            "{DIM}No account is taken of the rule that a king moves at most three times in a row.{DIM:#}"
        )?;
    }
    Ok(())
}

/// One of the distances of an outcome.
type Distance = fn(&Outcome) -> Option<u16>;

/// The moves of one result, best first.
fn write_moves(
    out: &mut dyn Write,
    result: Wdl,
    moves: &[(String, RankedMove)],
) -> Result<(), Failure> {
    let these = || moves.iter().filter(|(_, m)| m.outcome.result == result);
    let (adjective, color) = match result {
        Wdl::Win => ("winning", AnsiColor::Green),
        Wdl::Draw => ("drawing", AnsiColor::Yellow),
        Wdl::Loss => ("losing", AnsiColor::Red),
    };
    let count = these().count() as u64;
    if count == 0 {
        return Ok(());
    }
    let style = color.on_default();
    let title = words::counted(count, "move", "moves").replacen(' ', &format!(" {adjective} "), 1);
    let known = |distance: Distance| these().any(|(_, m)| distance(&m.outcome).is_some());
    let columns: Vec<(&str, Distance)> = [
        ("plies to the end", (|o| o.dtw) as Distance),
        ("to a conversion", |o| o.dtc),
    ]
    .into_iter()
    .filter(|&(_, distance)| known(distance))
    .collect();
    let texts = these().map(|(text, _)| text.chars().count());
    let width = texts.max().unwrap_or(0).max(title.len() - 2);
    write!(out, "\n{style}{title:<0$}{style:#}", width + 2)?;
    for (name, _) in &columns {
        write!(out, "  {name}")?;
    }
    writeln!(out)?;
    for (text, m) in these() {
        if columns.is_empty() {
            writeln!(out, "  {text}")?;
            continue;
        }
        write!(out, "  {text:<width$}")?;
        for (name, distance) in &columns {
            let plies = distance(&m.outcome).map_or("-".to_owned(), |p| p.to_string());
            write!(out, "  {plies:>0$}", name.len())?;
        }
        writeln!(out)?;
    }
    Ok(())
}
