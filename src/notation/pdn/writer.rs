//! Writes games, wrapped at 80 columns.

use std::fmt;

use super::{Game, GameResult, Line, MARKS, Ply, game_type};
use crate::board::Position;
use crate::notation::{fen, moves};
use crate::rules::reference;

const COLUMNS: usize = 80;

/// The text of games, which [`read`](super::read) turns into the same games. Lines are at most 80
/// columns wide unless a tag or a single word is wider.
///
/// Comments keep their words; a comment that contains `}` is written after a `;`. The moves must
/// be legal.
pub fn write(games: &[Game]) -> String {
    let texts: Vec<String> = games.iter().map(Game::to_string).collect();
    texts.join("\n")
}

impl fmt::Display for Game {
    /// The game in PDN, as [`write()`] writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.tags {
            write_tag(f, name, value)?;
        }
        match game_type::format(self.variant) {
            Some(text) => write_tag(f, "GameType", &text)?,
            None => write_tag(f, "Variant", self.variant.name())?,
        }
        if self.start != Position::start(self.variant) {
            write_tag(f, "SetUp", "1")?;
            write_tag(f, "FEN", &fen::format(&self.start))?;
        }
        let result = self.result.text(self.variant);
        if self.result != GameResult::Unknown {
            write_tag(f, "Result", result)?;
        }

        let mut movetext = Movetext::default();
        movetext.moves(&self.start, 1, &self.line);
        movetext.word(result);
        movetext.comments(&self.line.closing);
        write!(f, "\n{}", movetext.wrapped())
    }
}

fn write_tag(f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    writeln!(f, "[{name} \"{}\"]", value.replace('\n', " "))
}

/// The words of a movetext, to be divided into lines. One that ends in a line end ends its line.
#[derive(Default)]
struct Movetext {
    words: Vec<String>,
    /// Opening brackets to be set right before the next word.
    opened: usize,
}

impl Movetext {
    fn word(&mut self, word: &str) {
        let brackets = "(".repeat(std::mem::take(&mut self.opened));
        self.words.push(brackets + word);
    }

    fn close(&mut self) {
        match self.words.last_mut() {
            Some(last) if self.opened == 0 && !last.ends_with('\n') => last.push(')'),
            _ => self.word(")"),
        }
    }

    fn comments(&mut self, comments: &[String]) {
        for comment in comments {
            if comment.contains('}') {
                for line in comment.lines() {
                    self.word(&format!("; {line}\n"));
                }
            } else {
                let braced = format!("{{{comment}}}");
                braced.split_whitespace().for_each(|word| self.word(word));
            }
        }
    }

    /// The moves of a line that begins in a position with a move number.
    fn moves(&mut self, start: &Position, first_number: usize, line: &Line) {
        let mut position = *start;
        let mut number = first_number;
        // The second side's moves have a number only where the flow is interrupted.
        let mut interrupted = true;
        for ply in &line.moves {
            self.comments(&ply.comments_before);
            let first_side = position.side() == position.variant().first();
            if first_side {
                self.word(&format!("{number}."));
            } else if interrupted || !ply.comments_before.is_empty() {
                self.word(&format!("{number}..."));
            }
            self.annotated_move(&position, ply);
            self.comments(&ply.comments_after);
            for variation in &ply.variations {
                self.opened += 1;
                self.moves(&position, number, variation);
                self.comments(&variation.closing);
                self.close();
            }
            interrupted = !ply.comments_after.is_empty() || !ply.variations.is_empty();
            position = position.after(&ply.mv);
            number += usize::from(!first_side);
        }
    }

    fn annotated_move(&mut self, position: &Position, ply: &Ply) {
        let all = reference::legal_moves(position);
        let text = moves::format(position, &ply.mv, &all);
        let (mark, nags) = match ply.nags.split_first() {
            Some((&nag @ 1..=6, nags)) => (MARKS[usize::from(nag) - 1], nags),
            _ => ("", &ply.nags[..]),
        };
        self.word(&(text + mark));
        for nag in nags {
            self.word(&format!("${nag}"));
        }
    }

    fn wrapped(&self) -> String {
        let mut text = String::new();
        let mut column = 0;
        for word in &self.words {
            let width = word.trim_end_matches('\n').chars().count();
            if column > 0 && column + 1 + width > COLUMNS {
                text.push('\n');
                column = 0;
            } else if column > 0 {
                text.push(' ');
                column += 1;
            }
            text.push_str(word);
            column = if word.ends_with('\n') {
                0
            } else {
                column + width
            };
        }
        if column > 0 {
            text.push('\n');
        }
        text
    }
}
