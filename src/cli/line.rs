use std::io::Write;

use serde::Serialize;

use super::{Failure, TablesArg, VariantArg, write_json};
use crownhead::board::{Color, Position};
use crownhead::notation::pdn::{Game, GameResult, Line, Ply};
use crownhead::notation::{fen, moves, parse_position};
use crownhead::probe::{BestLine, LineEnd, Outcome, RankedMove};
use crownhead::rules::reference::legal_moves;
use crownhead::table::Wdl;

/// Play best moves to the end of the game, as PDN with distances
///
/// Where tables are missing the moves up to there are printed, and which table to add. Distances
/// are in plies, moves of one side: dtw to the end of the game, dtc to the next conversion.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead line english \"W:W6,11:B3,K25\"
  crownhead line russian \"W:WKa1,Kc1:BKf8\" --json")]
pub struct Args {
    #[command(flatten)]
    variant: VariantArg,
    /// The position, as FEN or in Hub form
    fen: String,
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
    result: Option<String>,
    dtc: Option<u16>,
    dtw: Option<u16>,
    moves: Vec<Row>,
    /// `over`, `draw`, or nothing if the tables do not lead to the end.
    end: Option<&'static str>,
}

#[derive(Serialize)]
struct Row {
    r#move: String,
    /// The position after the move.
    fen: String,
    result: String,
    dtc: Option<u16>,
    dtw: Option<u16>,
    conversion: bool,
}

impl Args {
    /// Of a line that cannot go on, what was found is printed before the failure is told.
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant = self.variant.get()?;
        let start = parse_position(variant, &self.fen)?;
        let (moves, whole, failure) = match self.tables.open().line(&start) {
            Ok(BestLine {
                outcome,
                moves,
                end,
            }) => (moves, Some((outcome, end)), None),
            Err(failure) if failure.moves.is_empty() => return Err(failure.into()),
            Err(failure) => (failure.moves.clone(), None, Some(failure)),
        };
        if self.json {
            write_json(out, &report(&start, &moves, whole))?;
        } else {
            write!(out, "{}", game(start, &moves, whole))?;
        }
        failure.map_or(Ok(()), |failure| Err(failure.into()))
    }
}

fn report(start: &Position, moves: &[RankedMove], whole: Option<(Outcome, LineEnd)>) -> Report {
    let mut position = *start;
    let row = |m: &RankedMove| {
        let before = position;
        position = before.after(&m.played);
        Row {
            r#move: moves::format(&before, &m.played, &legal_moves(&before)),
            fen: fen::format(&position),
            result: m.outcome.result.to_string(),
            dtc: m.outcome.dtc,
            dtw: m.outcome.dtw,
            conversion: m.played.is_conversion(),
        }
    };
    let first = whole
        .map(|(outcome, _)| outcome)
        .or(moves.first().map(|m| m.outcome));
    Report {
        variant: start.variant().name(),
        fen: fen::format(start),
        moves: moves.iter().map(row).collect(),
        result: first.map(|outcome| outcome.result.to_string()),
        dtc: first.and_then(|outcome| outcome.dtc),
        dtw: first.and_then(|outcome| outcome.dtw),
        end: whole.map(|(_, end)| match end {
            LineEnd::GameOver => "over",
            LineEnd::Draw => "draw",
        }),
    }
}

/// The line as a game, each move with the distances of the way it is on.
fn game(start: Position, moves: &[RankedMove], whole: Option<(Outcome, LineEnd)>) -> Game {
    let plies = moves.iter().map(|m| Ply {
        comments_after: distances(&m.outcome).into_iter().collect(),
        ..m.played.clone().into()
    });
    Game {
        tags: Vec::new(),
        variant: start.variant(),
        start,
        line: Line {
            moves: plies.collect(),
            closing: Vec::new(),
        },
        result: whole.map_or(GameResult::Unknown, |(outcome, _)| {
            match (outcome.result, start.side()) {
                (Wdl::Draw, _) => GameResult::Draw,
                (Wdl::Win, Color::White) | (Wdl::Loss, Color::Black) => GameResult::WhiteWins,
                (Wdl::Win, Color::Black) | (Wdl::Loss, Color::White) => GameResult::BlackWins,
            }
        }),
    }
}

/// Plies to the end and to a conversion, this move counted.
fn distances(outcome: &Outcome) -> Option<String> {
    let named = [("dtw", outcome.dtw), ("dtc", outcome.dtc)];
    let known = named
        .into_iter()
        .filter_map(|(name, plies)| Some(format!("{name} {}", plies?)));
    let text = known.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then_some(text)
}
