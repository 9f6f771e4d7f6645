//! Games in PDN, the Portable Draughts Notation: tags, then moves with comments, variations and
//! numeric annotation glyphs (NAGs), then the result.
//!
//! [`read`] takes a text of any number of games and plays every move, variations included, so a
//! [`Game`] holds legal moves only. [`write()`] and `Display` write it so that reading gives the same
//! [`Game`] again. What the fields of a game say is not repeated in its tags: the reader takes
//! `GameType`, `Variant`, `FEN`, `SetUp` and `Result` out of them and the writer puts them back. The
//! result at the end of the moves counts, unless that is `*`; a tag that tells no result is kept.
//!
//! * The variant is that of the `GameType` tag, `25` or in the long form `25,W,8,8,A0,0`, which
//!   must then agree in every field with how this crate sees the variant (numbering and first
//!   side above all: reading squares by another numbering would give another game). Of Thai
//!   games, in which here White starts, those of the standard, in which Black does
//!   (`31,B,8,8,N2,0`), are read too: the board is turned. Variants
//!   without a PDN number are written, and read, with a `Variant` tag that holds their name.
//! * A game may start from the position of a `FEN` tag or of a set-up before the first move,
//!   `/FEN "..."/`.
//! * Comments are `{...}` or from `;` to the end of the line; how blanks and lines divide their
//!   words is not kept. Lines that begin with `%` are skipped. Move numbers are not checked.
//! * Annotations `!` and `?` are kept as the NAGs 1 to 6 that stand for them.
//!
//! Reading is linear in the length of the text, save for the generation of moves; variations
//! nested deeper than [`MAX_DEPTH`] are refused, so hostile text cannot exhaust the stack.

mod game_type;
mod lexer;
mod reader;
mod writer;

pub use reader::{read, read_each};
pub use writer::write;

use super::fen::FenError;
use super::moves::MoveError;
use crate::board::Position;
use crate::rules::{Move, UnknownVariant, Variant};

/// The deepest nesting of variations that is read.
pub const MAX_DEPTH: usize = 64;

/// A game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// Name and value of each tag, in the order of the file, except those that the other fields
    /// say.
    pub tags: Vec<(String, String)>,
    pub variant: Variant,
    pub start: Position,
    pub line: Line,
    pub result: GameResult,
}

/// Moves one after another: a game, or a variation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub moves: Vec<Ply>,
    /// Comments at the end that belong to no move: after the result, after a variation, or where
    /// there are no moves.
    pub closing: Vec<String>,
}

/// A move with what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    pub mv: Move,
    /// Comments at the beginning of a line or after the variations of the move before.
    pub comments_before: Vec<String>,
    /// Numeric annotation glyphs; 1 to 6 stand for `!`, `?`, `!!`, `??`, `!?`, `?!`.
    pub nags: Vec<u8>,
    pub comments_after: Vec<String>,
    /// Lines that could have been played instead of this move.
    pub variations: Vec<Line>,
}

impl Game {
    /// The value of a tag, whatever its capitals.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let mut tags = self.tags.iter();
        let (_, value) = tags.find(|(n, _)| n.eq_ignore_ascii_case(name))?;
        Some(value)
    }
}

impl From<Move> for Ply {
    /// A move without annotations.
    fn from(mv: Move) -> Ply {
        Ply {
            mv,
            comments_before: Vec::new(),
            nags: Vec::new(),
            comments_after: Vec::new(),
            variations: Vec::new(),
        }
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameResult {
    WhiteWins,
    BlackWins,
    Draw,
    /// `0-0`: no points for either side.
    Neither,
    /// `*`: not finished, or not known.
    #[default]
    Unknown,
}

impl GameResult {
    /// As the variant writes it: International and Canadian count `2-0`, `1-1`, `0-2`, the others
    /// `1-0`, `1/2-1/2`, `0-1`.
    pub fn text(self, variant: Variant) -> &'static str {
        let two_points = matches!(variant, Variant::International | Variant::Canadian);
        match self {
            GameResult::WhiteWins if two_points => "2-0",
            GameResult::WhiteWins => "1-0",
            GameResult::BlackWins if two_points => "0-2",
            GameResult::BlackWins => "0-1",
            GameResult::Draw if two_points => "1-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::Neither => "0-0",
            GameResult::Unknown => "*",
        }
    }

    /// Reads either way of counting.
    fn parse(text: &str) -> Option<GameResult> {
        match text {
            "2-0" | "1-0" => Some(GameResult::WhiteWins),
            "0-2" | "0-1" => Some(GameResult::BlackWins),
            "1-1" | "1/2-1/2" => Some(GameResult::Draw),
            "0-0" => Some(GameResult::Neither),
            "*" => Some(GameResult::Unknown),
            _ => None,
        }
    }
}

/// Where and why a text is not PDN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}, at `{token}`: {problem}")]
pub struct PdnError {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What stands there, cut if long.
    pub token: String,
    pub problem: PdnProblem,
}

/// What is wrong at some place of a PDN text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PdnProblem {
    #[error("a tag is written `[Name \"value\"]`, on one line")]
    MalformedTag,
    #[error("this tag is given twice")]
    DuplicateTag,
    #[error("the game type is not the number of a variant, alone or as in `20,W,10,10,N2,0`")]
    UnknownGameType,
    #[error("{variant} is read as game type {expected}")]
    OtherGameType { variant: Variant, expected: String },
    #[error("neither a GameType tag nor anything else says which variant is played")]
    MissingVariant,
    #[error(transparent)]
    UnknownVariant(#[from] UnknownVariant),
    #[error(transparent)]
    Fen(#[from] FenError),
    #[error("a set-up is written `/FEN \"...\"/`")]
    MalformedSetUp,
    #[error("a set-up can only stand before the first move of a game")]
    MisplacedSetUp,
    #[error("this comment has no end")]
    OpenComment,
    #[error("this does not belong here")]
    Unexpected,
    #[error("an annotation is one of !, ?, !!, ??, !?, ?! or `$` and a number up to 255")]
    UnknownAnnotation,
    #[error("there is no move before this for it to belong to")]
    NoMoveBefore,
    #[error("variations are nested deeper than {MAX_DEPTH}")]
    TooDeep,
    #[error("this variation has no end")]
    OpenVariation,
    #[error("a result inside a variation")]
    ResultInVariation,
    #[error(transparent)]
    Move(#[from] MoveError),
}

/// The annotations that stand for the NAGs 1 to 6.
const MARKS: [&str; 6] = ["!", "?", "!!", "??", "!?", "?!"];
