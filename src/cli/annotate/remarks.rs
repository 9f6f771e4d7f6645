//! What is said of moves and games.

use crownhead::notation::moves;
use crownhead::notation::pdn::Game;
use crownhead::probe::{Outcome, RankedMove};
use crownhead::review::{Fault, Reviewed};
use crownhead::rules::reference::legal_moves;
use crownhead::table::{Metric, Wdl};

use crate::cli::words;

/// The numeric annotation glyph for a fault: 2 `?`, 4 `??` or 6 `?!`.
pub fn mark(fault: Fault, r: &Reviewed) -> u8 {
    let result = |outcome: Option<Outcome>| outcome.map(|o| o.result);
    match fault {
        Fault::Delay { .. } => 6,
        Fault::Result
            if (result(r.before), result(r.after)) == (Some(Wdl::Win), Some(Wdl::Loss)) =>
        {
            4
        }
        Fault::Result => 2,
    }
}

/// What is said after a move: its fault, if it has one, and where it leads.
pub fn comment(r: &Reviewed) -> Option<String> {
    let now = words::short_outcome(!r.position.side(), &r.reached?);
    Some(match fault(r) {
        Some(fault) => format!("{fault}; now {now}"),
        None => now,
    })
}

/// Whether a comment is one that [`comment`] makes, or the result of a position alone.
pub fn is_own(comment: &str) -> bool {
    const FAULTS: [&str; 5] = [
        "throws away the win",
        "throws away the draw",
        "makes a win a loss",
        "takes ",
        "wins ",
    ];
    match comment.rsplit_once("; now ") {
        Some((fault, now)) => {
            FAULTS.iter().any(|start| fault.starts_with(start)) && words::is_short_outcome(now)
        }
        None => words::is_short_outcome(comment),
    }
}

/// The fault of a move in words: `throws away the win: 22-18 wins in 21 plies (11 moves)`.
pub fn fault(r: &Reviewed) -> Option<String> {
    let (before, after) = (r.before?, r.after?);
    let what = match r.fault? {
        Fault::Result => match (before.result, after.result) {
            (Wdl::Win, Wdl::Draw) => "throws away the win".to_owned(),
            (Wdl::Win, _) => "makes a win a loss".to_owned(),
            _ => "throws away the draw".to_owned(),
        },
        Fault::Delay { metric, plies } => {
            let plies = words::plies(plies);
            match metric {
                Metric::Dtc => format!("takes {plies} longer to the next capture or man's move"),
                _ => format!("wins {plies} later than it could"),
            }
        }
    };
    Some(match better(r, &before) {
        Some(better) => format!("{what}: {better}"),
        None => what,
    })
}

/// The best moves and what they do.
fn better(r: &Reviewed, best: &Outcome) -> Option<String> {
    const MOST: usize = 3;
    let legal = legal_moves(&r.position);
    let text = |m: &RankedMove| moves::format(&r.position, &m.played, &legal);
    let mut texts: Vec<String> = r.better.iter().take(MOST).map(text).collect();
    if r.better.len() > MOST {
        texts.push(format!("{} more", r.better.len() - MOST));
    }
    let last = texts.pop()?;
    let (all, many) = match texts.as_slice() {
        [] => (last, false),
        others => (format!("{} and {last}", others.join(", ")), true),
    };
    let verb = match (best.result, many) {
        (Wdl::Win, false) => "wins",
        (Wdl::Win, true) => "win",
        (_, false) => "draws",
        (_, true) => "draw",
    };
    Some(match best.dtw {
        Some(dtw) => format!("{all} {verb} in {}", words::plies_and_moves(dtw)),
        None => format!("{all} {verb}"),
    })
}

/// The number of a move, with one dot for the side that starts games of the variant, else three.
pub fn numbered(game: &Game, ply: usize) -> (usize, &'static str) {
    let second = usize::from(game.start.side() != game.variant.first());
    let number = 1 + (ply + second) / 2;
    let dots = if (ply + second).is_multiple_of(2) {
        "."
    } else {
        "..."
    };
    (number, dots)
}
