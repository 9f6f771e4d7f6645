//! What a player wants to know of his games: the mistakes, each in a line.

use crownhead::notation::moves;
use crownhead::notation::pdn::Game;
use crownhead::probe::Tablebase;
use crownhead::review::{Review, Reviewed};
use crownhead::rules::RuleSetId;
use crownhead::rules::reference::legal_moves;

use super::remarks::{fault, mark, numbered};
use crate::cli::missing::{missing_tables, no_tables};
use crate::cli::words;

/// Of all games, then what tables could not tell.
pub fn summary(tables: &Tablebase, games: &[Game], reviews: &[Review]) -> String {
    let games = games.iter().zip(reviews);
    let each = (1..).zip(games.clone());
    let mut text: String = each
        .map(|(number, (game, review))| of_game(number, game, review))
        .collect();
    for rule_set in without_tables(games) {
        text += &no_tables(tables, rule_set);
        text.push('\n');
    }
    text += &out_of_reach(tables, reviews);
    text
}

fn of_game(number: usize, game: &Game, review: &Review) -> String {
    let known = review.moves.iter().filter(|r| r.after.is_some()).count();
    let plies = words::counted(review.moves.len() as u64, "ply", "plies");
    let mut text = format!(
        "Game {number}: {}\n  {plies}, the tables know {known}\n",
        title(game)
    );
    for (ply, r) in review.moves.iter().enumerate() {
        if let (Some(fault), Some(reached)) = (fault(r), r.reached) {
            let side = r.position.side();
            let now = words::outcome(!side, &reached);
            let played = played(game, ply, r);
            text += &format!("  {side}'s {played} {fault}\n      now {now}\n");
        }
    }
    if known > 0 && review.moves.iter().all(|r| r.fault.is_none()) {
        text += "  no mistake among these\n";
    }
    if let Some((last, end)) = review.moves.last().and_then(|r| Some((r, r.reached?))) {
        let end = words::outcome(!last.position.side(), &end);
        text += &format!("  at the end: {end}\n");
    }
    text
}

/// Who played what, as far as the tags tell.
fn title(game: &Game) -> String {
    let tag = |name: &str| {
        let value = game.tag(name)?.chars();
        let printable: String = value.filter(|c| !c.is_control()).collect();
        Some(printable.trim().to_owned()).filter(|name| !name.is_empty())
    };
    let unknown = || "?".to_owned();
    let players = match (tag("White"), tag("Black")) {
        (None, None) => String::new(),
        (white, black) => format!(
            "{} - {}, ",
            white.unwrap_or_else(unknown),
            black.unwrap_or_else(unknown)
        ),
    };
    let result = game.result.text(game.variant);
    format!("{players}{}, {result}", game.variant.title())
}

/// `12. 22-18?` or, of the side that moves second, `12... 3-7?`.
fn played(game: &Game, ply: usize, r: &Reviewed) -> String {
    let (number, dots) = numbered(game, ply);
    let mv = &game.line.moves[ply].mv;
    let text = moves::format(&r.position, mv, &legal_moves(&r.position));
    let mark = match r.fault.map(|fault| mark(fault, r)) {
        Some(2) => "?",
        Some(4) => "??",
        Some(6) => "?!",
        _ => "",
    };
    format!("{number}{dots} {text}{mark}")
}

/// Rule sets of which there is no table at all, each once.
pub fn without_tables<'a>(games: impl Iterator<Item = (&'a Game, &'a Review)>) -> Vec<RuleSetId> {
    let mut rule_sets = Vec::new();
    for (game, _) in games.filter(|(_, review)| review.reach == 0) {
        let rule_set = game.variant.rule_set();
        if !rule_sets.contains(&rule_set) {
            rule_sets.push(rule_set);
        }
    }
    rule_sets
}

/// Positions with too many pieces, counted, and missing tables, each named once.
fn out_of_reach(tables: &Tablebase, reviews: &[Review]) -> String {
    let mut text = String::new();
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
        text += &missing_tables(tables, &missing);
        text.push('\n');
    }
    text
}
