use std::io::Write;

use serde::Serialize;

use super::{Failure, VariantArg, write_json};
use crownhead::board::Square;
use crownhead::notation::{fen, hub, moves, parse_position, square_name};
use crownhead::rules::reference::legal_moves;

/// List the legal moves of a position, one a line
///
/// Moves are written as the variant's players do: the two end squares, and the whole route of a
/// capture where the ends do not tell it from another.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead moves international \"W:W31-50:B1-20\"
  crownhead moves russian W:Wh6:Bg7,c5,d2 --json")]
pub struct Args {
    #[command(flatten)]
    variant: VariantArg,
    /// The position, as FEN or in Hub form
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
        let variant = self.variant.get()?;
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
