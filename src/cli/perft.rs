use std::io::Write;

use super::Failure;
use crate::board::Position;
use crate::notation::parse_position;
use crate::rules::{Variant, movegen, with_rules};

/// Count the move sequences of every length up to DEPTH
///
/// A move counts once for each (from, to, captured pieces, final kind of the piece).
#[derive(Debug, clap::Args)]
pub struct Args {
    variant: String,
    #[arg(allow_negative_numbers = true)]
    depth: u8,
    /// The position to count from [default: the start of a game]
    #[arg(long)]
    fen: Option<String>,
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant: Variant = self.variant.parse()?;
        let position = match self.fen {
            Some(fen) => parse_position(variant, &fen)?,
            None => Position::start(variant),
        };
        for depth in self.depth.min(1)..=self.depth {
            let nodes = with_rules!(variant.rule_set(), R => {
                movegen::perft::<R>(&position.to_board(), depth.into())
            });
            writeln!(out, "{depth} {nodes}")?;
            out.flush()?;
        }
        Ok(())
    }
}
