use std::io::Write;

use super::{Failure, VariantArg};
use crownhead::board::Position;
use crownhead::notation::parse_position;
use crownhead::rules::movegen::perft_of;

/// Count the move sequences of every length up to DEPTH
///
/// A move counts once for each (from, to, captured pieces, final kind of the piece).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead perft english 9
  crownhead perft russian 6 --fen W:Wh6:Bg7,c5,d2")]
pub struct Args {
    #[command(flatten)]
    variant: VariantArg,
    /// The longest sequences to count, in plies
    #[arg(allow_negative_numbers = true)]
    depth: u8,
    /// The position to count from [default: the start of a game]
    #[arg(long)]
    fen: Option<String>,
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant = self.variant.get()?;
        let position = match self.fen {
            Some(fen) => parse_position(variant, &fen)?,
            None => Position::start(variant),
        };
        for depth in self.depth.min(1)..=self.depth {
            let nodes = perft_of(&position, depth.into());
            writeln!(out, "{depth} {nodes}")?;
            out.flush()?;
        }
        Ok(())
    }
}
