use std::io::Write;
use std::ops::ControlFlow;

use clap::ValueEnum;
use serde::Serialize;

use crownhead::notation::{fen, moves};
use crownhead::rules::reference::legal_moves;
use crownhead::stats::{Find, Quarry, Remark, mine};

use super::variant::slice;
use super::{Failure, TablesArg, VariantArg, write_json};

/// Find the remarkable positions of a slice
///
/// Prints `FEN;result;dtc;dtw;REMARK`, a line for each position, as it finds them: result and
/// distances (in plies) for the side to move, empty where no table knows. The order is always the
/// same. A slice that is its own mirror image, such as KMvKM, is searched with White to move only.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    variant: VariantArg,
    /// The slice: White's kings and men, v, Black's, such as KKMvKM
    #[arg(long, value_name = "S")]
    slice: String,
    /// What is to be found
    #[arg(long = "where", value_name = "WHAT")]
    quarry: What,
    /// Stop after N positions
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Leave out positions in which either side could capture if it were to move
    #[arg(long)]
    peaceful: bool,
    /// Print JSON objects, one a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tables: TablesArg,
}

const AFTER_HELP: &str = "\
Examples:
  crownhead mine english --slice KMvK --where longest
  crownhead mine russian --slice KKvKM --where zugzwang --peaceful --limit 20
  crownhead mine italian --slice KMvKM --where only-move --json

The remark on a zugzwang is the result that passing would give, and `mutual` where whoever has to
move loses; on an only move it is that move.";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// The side to move would do better if it could pass
    Zugzwang,
    /// The longest wins of the slice: by dtw where there is such a table, else by dtc
    Longest,
    /// Exactly one of several legal moves wins
    OnlyMove,
}

#[derive(Serialize)]
struct Row<'a> {
    variant: &'static str,
    fen: String,
    material: &'a str,
    result: String,
    dtc: Option<u16>,
    dtw: Option<u16>,
    #[serde(flatten)]
    remark: JsonRemark,
}

#[derive(Serialize)]
#[serde(untagged)]
enum JsonRemark {
    Zugzwang { passed: String, mutual: bool },
    Longest {},
    OnlyMove { r#move: String },
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant = self.variant.get()?;
        let slice = slice(variant, &self.slice)?;
        let tables = self.tables.open();
        let quarry = match self.quarry {
            What::Zugzwang => Quarry::Zugzwang,
            What::Longest => Quarry::Longest,
            What::OnlyMove => Quarry::OnlyMove,
        };
        let mut left = self.limit.unwrap_or(u64::MAX);
        if left == 0 {
            return Ok(());
        }
        let material = slice.to_string();
        let mut written = Ok(());
        mine(
            &tables,
            variant,
            slice,
            quarry,
            self.peaceful,
            &mut |find| {
                written = match self.json {
                    true => write_json(out, &row(&find, &material)),
                    false => write_line(out, &find),
                };
                left -= 1;
                match written.is_err() || left == 0 {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            },
        )?;
        written
    }
}

fn row<'a>(find: &Find, material: &'a str) -> Row<'a> {
    Row {
        variant: find.position.variant().name(),
        fen: fen::format(&find.position),
        material,
        result: find.outcome.result.to_string(),
        dtc: find.outcome.dtc,
        dtw: find.outcome.dtw,
        remark: match &find.remark {
            Remark::Zugzwang { passed, mutual } => JsonRemark::Zugzwang {
                passed: passed.to_string(),
                mutual: *mutual,
            },
            Remark::Longest => JsonRemark::Longest {},
            Remark::OnlyMove(_) => JsonRemark::OnlyMove {
                r#move: remark(find),
            },
        },
    }
}

fn write_line(out: &mut dyn Write, find: &Find) -> Result<(), Failure> {
    let plies = |p: Option<u16>| p.map_or(String::new(), |p| p.to_string());
    let (dtc, dtw) = (plies(find.outcome.dtc), plies(find.outcome.dtw));
    let (fen, result) = (fen::format(&find.position), find.outcome.result);
    writeln!(out, "{fen};{result};{dtc};{dtw};{}", remark(find))?;
    Ok(())
}

fn remark(find: &Find) -> String {
    match &find.remark {
        Remark::Zugzwang { passed, mutual } => {
            let mutual = if *mutual { ", mutual" } else { "" };
            format!("{passed} by passing{mutual}")
        }
        Remark::Longest => String::new(),
        Remark::OnlyMove(m) => moves::format(&find.position, m, &legal_moves(&find.position)),
    }
}
