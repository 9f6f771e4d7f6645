use std::io::Write;

use serde::Serialize;

use super::{Failure, write_json};
use crownhead::rules::{Notation, Variant};

/// List the variants: name, board, notation, who starts
///
/// Boards are told as files x ranks / playing squares. JSON also has the aliases, the rule set, whose
/// tables variants may share, and the number of the PDN GameType tag.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead variants
  crownhead variants --json")]
pub struct Args {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    title: &'static str,
    aliases: &'static [&'static str],
    /// Variants of one rule set share their tables.
    rule_set: &'static str,
    files: u8,
    ranks: u8,
    squares: u8,
    notation: &'static str,
    /// Who moves first: `W` or `B`.
    first: char,
    game_type: Option<u8>,
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let rows: Vec<Row> = Variant::ALL
            .iter()
            .map(|&variant| Row::of(variant))
            .collect();
        if self.json {
            return write_json(out, &rows);
        }
        for row in rows {
            let board = format!("{}x{}/{}", row.files, row.ranks, row.squares);
            writeln!(
                out,
                "{:<15} {:<9} {:<10} {} first   {}",
                row.name, board, row.notation, row.first, row.title
            )?;
        }
        Ok(())
    }
}

impl Row {
    fn of(variant: Variant) -> Row {
        let geometry = variant.geometry();
        Row {
            name: variant.name(),
            title: variant.title(),
            aliases: variant.aliases(),
            rule_set: variant.rule_set().name(),
            files: geometry.files(),
            ranks: geometry.ranks(),
            squares: variant.squares(),
            notation: match variant.notation() {
                Notation::Numeric => "numeric",
                Notation::Algebraic => "algebraic",
            },
            first: variant.first().letter(),
            game_type: variant.game_type(),
        }
    }
}
