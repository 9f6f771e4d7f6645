//! What is said of moves and games.

use crownhead::notation::moves;
use crownhead::notation::pdn::Game;
use crownhead::probe::{Outcome, RankedMove};
use crownhead::review::{Fault, Review, Reviewed};
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

/// The fault of a move in words: `throws away the win: 22-18 wins in 21 plies (11 moves)`.
fn fault(r: &Reviewed) -> Option<String> {
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

/// What a player wants to know of the games.
pub fn summary(games: &[Game], reviews: &[Review]) -> String {
    let mut text = String::new();
    for (number, (game, review)) in (1..).zip(games.iter().zip(reviews)) {
        text += &format!("Game {number}: {}\n", title(game));
        let known = review.moves.iter().filter(|r| r.after.is_some()).count() as u64;
        let moves = words::counted(review.moves.len() as u64, "ply", "plies");
        text += &format!("  {moves}, the tables know {known}\n");
        for (ply, r) in review.moves.iter().enumerate() {
            let (Some(fault), Some(reached)) = (fault(r), r.reached) else {
                continue;
            };
            let side = r.position.side();
            let played = played(game, ply, r);
            text += &format!("  {side}'s {played} {fault}\n");
            let now = words::outcome(!side, &reached);
            text += &format!("      now {now}\n");
        }
        if known > 0 && review.moves.iter().all(|r| r.fault.is_none()) {
            text += "  no mistake among these\n";
        }
        if let Some(end) = review.moves.last().and_then(|r| Some((r, r.reached?))) {
            let now = words::outcome(!end.0.position.side(), &end.1);
            text += &format!("  at the end: {now}\n");
        }
    }
    let mut without = Vec::new();
    for (game, _) in games.iter().zip(reviews).filter(|(_, r)| r.reach == 0) {
        let rule_set = game.variant.rule_set();
        if !without.contains(&rule_set) {
            without.push(rule_set);
            text += &format!(
                "there are no tables of {rule_set}: `crownhead generate {rule_set} --pieces 4` makes some\n"
            );
        }
    }
    let within_reach = reviews.iter().filter(|r| r.reach > 0);
    let too_many: usize = within_reach.map(|r| r.too_many).sum();
    if too_many > 0 {
        let positions = words::counted(too_many as u64, "position has", "positions have");
        text += &format!("{positions} more pieces than the tables\n");
    }
    let mut missing: Vec<String> = Vec::new();
    for &(rule_set, slice, metric) in reviews.iter().flat_map(|r| &r.missing) {
        let table = format!("{rule_set}/{slice}.{metric}");
        if !missing.contains(&table) {
            missing.push(table);
        }
    }
    if !missing.is_empty() {
        text += &format!(
            "missing: {}; `crownhead generate` makes them\n",
            missing.join(" ")
        );
    }
    text
}

/// Who played what, as far as the tags tell.
fn title(game: &Game) -> String {
    let tag = |name: &str| {
        let mut tags = game.tags.iter();
        let found =
            tags.find(|(n, value)| n.eq_ignore_ascii_case(name) && !value.trim().is_empty());
        found.map(|(_, value)| value.trim())
    };
    let players = match (tag("White"), tag("Black")) {
        (None, None) => String::new(),
        (white, black) => format!("{} - {}, ", white.unwrap_or("?"), black.unwrap_or("?")),
    };
    format!(
        "{players}{}, {}",
        game.variant.title(),
        game.result.text(game.variant)
    )
}

/// `12. 22-18?` or, of the side that moves second, `12... 3-7?`.
fn played(game: &Game, ply: usize, r: &Reviewed) -> String {
    let (number, dots) = numbered(game, ply);
    let text = move_text(game, ply, r);
    let mark = match r.fault.map(|fault| mark(fault, r)) {
        Some(2) => "?",
        Some(4) => "??",
        Some(6) => "?!",
        _ => "",
    };
    format!("{number}{dots} {text}{mark}")
}

fn move_text(game: &Game, ply: usize, r: &Reviewed) -> String {
    moves::format(
        &r.position,
        &game.line.moves[ply].mv,
        &legal_moves(&r.position),
    )
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
