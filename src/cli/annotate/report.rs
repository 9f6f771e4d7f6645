//! Judged games in JSON.

use serde::Serialize;

use crownhead::notation::pdn::Game;
use crownhead::notation::{fen, moves};
use crownhead::probe::Outcome;
use crownhead::review::{Fault, Review, Reviewed};
use crownhead::rules::reference::legal_moves;

use super::remarks::numbered;

/// A game in JSON.
#[derive(Serialize)]
pub struct Report<'a> {
    variant: &'static str,
    /// Where the game starts.
    fen: String,
    white: Option<&'a str>,
    black: Option<&'a str>,
    result: &'static str,
    moves: Vec<Row>,
    /// Positions with more pieces than the tables.
    too_many_pieces: usize,
    /// Tables that would have been needed.
    missing: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    number: usize,
    side: char,
    r#move: String,
    /// Before the move.
    fen: String,
    /// Outcomes of the side that moves, before the move and with it.
    before: Option<Value>,
    after: Option<Value>,
    /// `result` or `delay`.
    fault: Option<&'static str>,
    /// The plies a delay costs, and by which distance.
    plies: Option<u16>,
    metric: Option<&'static str>,
    /// The best moves, where there is a fault.
    better: Vec<String>,
}

#[derive(Serialize)]
struct Value {
    result: String,
    dtc: Option<u16>,
    dtw: Option<u16>,
}

impl Report<'_> {
    pub fn of<'a>(game: &'a Game, review: &Review) -> Report<'a> {
        let moves = review.moves.iter().enumerate();
        let missing = review.missing.iter();
        Report {
            variant: game.variant.name(),
            fen: fen::format(&game.start),
            white: game.tag("White"),
            black: game.tag("Black"),
            result: game.result.text(game.variant),
            moves: moves.map(|(ply, r)| Row::of(game, ply, r)).collect(),
            too_many_pieces: review.too_many,
            missing: missing
                .map(|(set, slice, metric)| format!("{set}/{slice}.{metric}"))
                .collect(),
        }
    }
}

impl Row {
    fn of(game: &Game, ply: usize, r: &Reviewed) -> Row {
        let legal = legal_moves(&r.position);
        let text = |m| moves::format(&r.position, m, &legal);
        let value = |outcome: Outcome| Value {
            result: outcome.result.to_string(),
            dtc: outcome.dtc,
            dtw: outcome.dtw,
        };
        let (fault, delay) = match r.fault {
            None => (None, None),
            Some(Fault::Result) => (Some("result"), None),
            Some(Fault::Delay { metric, plies }) => (Some("delay"), Some((metric, plies))),
        };
        Row {
            number: numbered(game, ply).0,
            side: r.position.side().letter(),
            r#move: text(&game.line.moves[ply].mv),
            fen: fen::format(&r.position),
            before: r.before.map(value),
            after: r.after.map(value),
            fault,
            plies: delay.map(|(_, plies)| plies),
            metric: delay.map(|(metric, _)| metric.name()),
            better: r.better.iter().map(|m| text(&m.played)).collect(),
        }
    }
}
