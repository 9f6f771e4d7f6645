mod remarks;
mod report;
mod summary;

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crownhead::notation::pdn::{self, Game, Line, PdnError, PdnProblem};
use crownhead::probe::{ProbeError, Tablebase};
use crownhead::review::{Review, review};
use crownhead::rules::Variant;

use self::remarks::{comment, is_own, mark};
use self::report::Report;
use self::summary::{summary, without_tables};
use super::missing::no_tables;
use super::variant::VariantNames;
use super::{Failure, TablesArg, words, write_json};

/// Tell of each move of a game what it keeps and what it throws away
///
/// Writes the games again, with the result after each move that tables know in a comment, mistakes
/// marked `?` (a win or a draw thrown away), `??` (a win made a loss) and `?!` (a win that takes
/// longer than it has to). Comments of an earlier run are replaced. A summary of the mistakes goes to
/// standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, allow_missing_positional = true)]
pub struct Args {
    /// The variant of games whose tags do not tell it in a way that is understood
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
        let (mut games, mut unread) = (Vec::new(), Vec::new());
        for game in pdn::read_each(&text, variant.transpose()?) {
            match game {
                Ok(game) => games.push(game),
                Err(error) => unread.push(self.unread(&error)),
            }
        }
        if games.is_empty() {
            let none = format!("`{}`: there is no game in it", self.games.display());
            return Err(unread.into_iter().next().unwrap_or(none).into());
        }
        self.tell(games, out)?;
        if unread.is_empty() {
            Ok(())
        } else {
            Err(unread.join("\n").into())
        }
    }

    /// Why a game is not read, and what would help.
    fn unread(&self, error: &PdnError) -> String {
        let unknown = matches!(
            error.problem,
            PdnProblem::UnknownGameType
                | PdnProblem::MissingVariant
                | PdnProblem::UnknownVariant(_)
        );
        let path = self.games.display();
        let hint = match unknown {
            true => format!(" (`crownhead annotate VARIANT {path}` names it)"),
            false => String::new(),
        };
        format!("`{path}`: {error}{hint}")
    }

    fn tell(&self, mut games: Vec<Game>, out: &mut dyn Write) -> Result<(), Failure> {
        let tables = self.tables.open();
        let mut reviews = Vec::new();
        for game in &games {
            reviews.push(review(&tables, &game.start, &game.line)?);
        }
        if reviews.iter().all(|review| review.reach == 0) {
            let rule_sets = without_tables(games.iter().zip(&reviews)).into_iter();
            let each = rule_sets.map(|rule_set| no_tables(&tables, rule_set));
            return Err(each.collect::<Vec<_>>().join("\n").into());
        }
        if self.json {
            let reports = games.iter().zip(&reviews).map(|(g, r)| Report::of(g, r));
            return write_json(out, &reports.collect::<Vec<_>>());
        }
        let summary = summary(&tables, &games, &reviews);
        if self.summary {
            out.write_all(summary.as_bytes())?;
            return Ok(());
        }
        for (game, review) in games.iter_mut().zip(&reviews) {
            annotate(&tables, &mut game.line, review)?;
        }
        out.write_all(pdn::write(&games).as_bytes())?;
        out.flush()?;
        // The games are written, whether or not anybody reads this.
        let _ = write!(anstream::stderr(), "{summary}");
        Ok(())
    }
}

/// Text that is not UTF-8 is taken for Latin-1, which many collections are in. UTF-16 is neither.
fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        fs::read(path).map(|read| bytes = read)
    };
    read.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    if let Some(fault) = words::not_text(&bytes, 1, true) {
        return Err(format!("`{}`, {fault}", path.display()).into());
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|&b| char::from(b)).collect()))
}

/// Puts a comment, if there is one, before the others and in place of those that an earlier run has
/// left.
fn replace(comments: &mut Vec<String>, new: Option<String>) {
    if let Some(new) = new {
        comments.retain(|comment| !is_own(comment));
        comments.insert(0, new);
    }
}

/// Adds marks and comments to the moves of a line and of its variations.
fn annotate(tables: &Tablebase, line: &mut Line, reviewed: &Review) -> Result<(), ProbeError> {
    if let (Some(ply), Some(r)) = (line.moves.first_mut(), reviewed.moves.first()) {
        let before = r
            .before
            .map(|o| words::short_outcome(r.position.side(), &o));
        replace(&mut ply.comments_before, before);
    }
    for (ply, r) in line.moves.iter_mut().zip(&reviewed.moves) {
        let nag = r.fault.map(|fault| mark(fault, r));
        ply.nags.extend(nag.filter(|nag| !ply.nags.contains(nag)));
        replace(&mut ply.comments_after, comment(r));
        for variation in &mut ply.variations {
            let review = review(tables, &r.position, variation)?;
            annotate(tables, variation, &review)?;
        }
    }
    Ok(())
}
