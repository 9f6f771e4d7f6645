use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crownhead::notation::pdn::{self, Game, Line};
use crownhead::notation::{fen, moves};
use crownhead::probe::{Outcome, ProbeError, RankedMove, Tablebase};
use crownhead::review::{Fault, Review, Reviewed, review};
use crownhead::rules::Variant;
use crownhead::rules::reference::legal_moves;
use crownhead::table::{Metric, Wdl};

use super::variant::VariantNames;
use super::{Failure, TablesArg, words, write_json};

/// Tell of each move of a game what it keeps and what it throws away
///
/// Writes the games again, with the result after each move that tables know in a comment, mistakes
/// marked `?` (a win or a draw thrown away), `??` (a win made a loss) and `?!` (a win that takes
/// longer than it has to). A summary of the mistakes goes to standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, allow_missing_positional = true)]
pub struct Args {
    /// The variant of games whose tags do not tell it
    #[arg(value_parser = VariantNames, hide_possible_values = true)]
    variant: Option<String>,
    /// A file of games in PDN (`-`: standard input)
    #[arg(value_name = "GAME.pdn")]
    games: PathBuf,
    /// Print the summary, not the games
    #[arg(long)]
    summary: bool,
    /// Print a JSON array, an object for each game
    #[arg(long, conflicts_with = "summary")]
    json: bool,
    #[command(flatten)]
    tables: TablesArg,
}

const AFTER_HELP: &str = "\
Examples:
  crownhead annotate game.pdn > annotated.pdn
  crownhead annotate --summary russian games.pdn
  crownhead annotate --json game.pdn

Positions with more pieces than the tables are passed over. A win takes longer by the distance to
the end of the game (dtw, in plies), or, without such tables, by that to the next conversion (dtc)
when the move itself is none.";

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant = self.variant.as_deref().map(str::parse::<Variant>);
        let text = read(&self.games)?;
        let mut games = pdn::read(&text, variant.transpose()?)
            .map_err(|error| format!("`{}`: {error}", self.games.display()))?;
        if games.is_empty() {
            return Err(format!("`{}`: there is no game in it", self.games.display()).into());
        }
        let tables = self.tables.open();
        let mut reviews = Vec::new();
        for game in &games {
            reviews.push(review(&tables, &game.start, &game.line)?);
        }
        if self.json {
            let reports = games.iter().zip(&reviews).map(|(g, r)| Report::of(g, r));
            return write_json(out, &reports.collect::<Vec<_>>());
        }
        let summary = summary(&games, &reviews);
        if self.summary {
            out.write_all(summary.as_bytes())?;
            return Ok(());
        }
        for (game, review) in games.iter_mut().zip(&reviews) {
            annotate(&tables, &mut game.line, review)?;
        }
        out.write_all(pdn::write(&games).as_bytes())?;
        out.flush()?;
        anstream::eprint!("{summary}");
        Ok(())
    }
}

/// Text that is not UTF-8 is taken for Latin-1, which many collections are in.
fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        fs::read(path).map(|read| bytes = read)
    };
    read.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|&b| char::from(b)).collect()))
}

/// Adds marks and comments to the moves of a line and of its variations.
fn annotate(tables: &Tablebase, line: &mut Line, reviewed: &Review) -> Result<(), ProbeError> {
    if let (Some(ply), Some(r)) = (line.moves.first_mut(), reviewed.moves.first()) {
        let before = r
            .before
            .map(|o| words::short_outcome(r.position.side(), &o));
        ply.comments_before.extend(before);
    }
    for (ply, r) in line.moves.iter_mut().zip(&reviewed.moves) {
        let nag = r.fault.map(|fault| mark(fault, r));
        ply.nags.extend(nag.filter(|nag| !ply.nags.contains(nag)));
        ply.comments_after.splice(0..0, comment(r));
        for variation in &mut ply.variations {
            let review = review(tables, &r.position, variation)?;
            annotate(tables, variation, &review)?;
        }
    }
    Ok(())
}

/// The numeric annotation glyph for a fault: 2 `?`, 4 `??` or 6 `?!`.
fn mark(fault: Fault, r: &Reviewed) -> u8 {
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
fn comment(r: &Reviewed) -> Option<String> {
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
fn summary(games: &[Game], reviews: &[Review]) -> String {
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
fn numbered(game: &Game, ply: usize) -> (usize, &'static str) {
    let second = usize::from(game.start.side() != game.variant.first());
    let number = 1 + (ply + second) / 2;
    let dots = if (ply + second).is_multiple_of(2) {
        "."
    } else {
        "..."
    };
    (number, dots)
}

/// A game in JSON.
#[derive(Serialize)]
struct Report<'a> {
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
    fn of<'a>(game: &'a Game, review: &Review) -> Report<'a> {
        let tag = |name: &str| {
            let found = game.tags.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.as_str())
        };
        let moves = review.moves.iter().enumerate();
        let missing = review.missing.iter();
        Report {
            variant: game.variant.name(),
            fen: fen::format(&game.start),
            white: tag("White"),
            black: tag("Black"),
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
