//! What positions, results and distances are in words.

use crownhead::board::Color;
use crownhead::probe::Outcome;
use crownhead::table::Wdl;

/// `1 ply`, `21 plies`.
pub fn plies(number: u16) -> String {
    counted(number.into(), "ply", "plies")
}

/// `21 plies (11 moves)`: the moves are those of the side that makes the first.
pub fn plies_and_moves(number: u16) -> String {
    let moves = u64::from(number.div_ceil(2));
    format!("{} ({})", plies(number), counted(moves, "move", "moves"))
}

/// A number with its noun.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", super::grouped(number))
}

/// The side that has won, if one has.
pub fn winner(side: Color, result: Wdl) -> Option<Color> {
    match result {
        Wdl::Win => Some(side),
        Wdl::Draw => None,
        Wdl::Loss => Some(!side),
    }
}

/// `White wins in 21 plies (11 moves)`, for an outcome as `side` sees it.
pub fn outcome(side: Color, outcome: &Outcome) -> String {
    outcome_with(side, outcome, plies_and_moves)
}

/// `White wins in 21 plies`.
pub fn short_outcome(side: Color, outcome: &Outcome) -> String {
    outcome_with(side, outcome, plies)
}

fn outcome_with(side: Color, outcome: &Outcome, distance: fn(u16) -> String) -> String {
    let Some(winner) = winner(side, outcome.result) else {
        return "a draw".to_owned();
    };
    match (outcome.dtw, outcome.dtc) {
        (Some(0), _) => format!("{winner} has won"),
        (Some(dtw), _) => format!("{winner} wins in {}", distance(dtw)),
        (None, Some(dtc)) => format!("{winner} wins; {}", conversion(dtc)),
        (None, None) => format!("{winner} wins"),
    }
}

/// What a distance to conversion means.
pub fn conversion(dtc: u16) -> String {
    match dtc {
        0 => "the game is over".to_owned(),
        _ => format!("next capture or man's move in {}", plies(dtc)),
    }
}
