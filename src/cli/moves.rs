use std::io::Write;

use serde::Serialize;

use super::{Failure, write_json};
use crate::board::Square;
use crate::notation::{fen, hub, moves, parse_position, square_name};
use crate::rules::Variant;
use crate::rules::reference::legal_moves;

/// List the legal moves of a position, one a line
#[derive(Debug, clap::Args)]
pub struct Args {
    variant: String,
    fen: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    variant: &'static str,
    fen: String,
    /// The position in Hub form.
    hub: String,
    moves: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    r#move: String,
    from: String,
    to: String,
    captured: Vec<String>,
    promotes: bool,
    conversion: bool,
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant: Variant = self.variant.parse()?;
        let position = parse_position(variant, &self.fen)?;
        let legal = legal_moves(&position);
        let name = |square| square_name(variant, square);
        let rows = legal.iter().map(|m| Row {
            r#move: moves::format(&position, m, &legal),
            from: name(m.from),
            to: name(m.to),
            captured: Square::of(m.captured).map(name).collect(),
            promotes: m.promotes,
            conversion: m.is_conversion(),
        });
        if self.json {
            let report = Report {
                variant: variant.name(),
                fen: fen::format(&position),
                hub: hub::format(&position),
                moves: rows.collect(),
            };
            return write_json(out, &report);
        }
        for row in rows {
            writeln!(out, "{}", row.r#move)?;
        }
        Ok(())
    }
}
