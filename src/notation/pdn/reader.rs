//! Builds games from tokens, playing every move.

use super::game_type::{self, GameType};
use super::lexer::{Fault, Lexer, Placed, Token};
use super::{Game, GameResult, Line, MAX_DEPTH, PdnError, PdnProblem, Ply};
use crate::board::Position;
use crate::notation::moves::MoveError;
use crate::notation::{fen, moves};
use crate::rules::{Move, Variant};

/// Reads all games of a text. `variant` is what is played in games whose tags do not say, or not in
/// a way that is understood.
///
/// # Errors
/// [`PdnError`] with the place of the first thing that cannot be read.
pub fn read(text: &str, variant: Option<Variant>) -> Result<Vec<Game>, PdnError> {
    read_each(text, variant).into_iter().collect()
}

/// Reads the games of a text one by one: after what cannot be read it goes on with the next tags
/// that begin a game.
pub fn read_each(text: &str, variant: Option<Variant>) -> Vec<Result<Game, PdnError>> {
    let mut reader = Reader {
        lexer: Lexer::new(text),
        ahead: None,
        variant,
        flipped: false,
    };
    let mut games = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(game) = reader.game().transpose() {
        games.push(game.map_err(|fault| {
            line += text[at..fault.at].matches('\n').count();
            at = fault.at;
            reader.skip_game(at);
            let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            PdnError {
                line,
                column: text[line_start..at].chars().count() + 1,
                token: fault.token,
                problem: fault.problem,
            }
        }));
    }
    games
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    /// The token to come, if it has been looked at.
    ahead: Option<Placed<'a>>,
    variant: Option<Variant>,
    /// The game is written with the board turned and colours exchanged.
    flipped: bool,
}

/// The tags of a game; those with a meaning apart, each with its place.
#[derive(Default)]
struct Header {
    tags: Vec<(String, String)>,
    game_type: Option<(usize, String)>,
    variant: Option<(usize, String)>,
    fen: Option<(usize, String)>,
    result: Option<(usize, String)>,
    set_up: Option<(usize, String)>,
}

impl Header {
    /// False if there is such a tag already.
    fn add(&mut self, at: usize, name: &str, value: String) -> bool {
        let place = match name.to_ascii_lowercase().as_str() {
            "gametype" => &mut self.game_type,
            "variant" => &mut self.variant,
            "fen" => &mut self.fen,
            "result" => &mut self.result,
            "setup" => &mut self.set_up,
            _ => {
                let is_new = self.tags.iter().all(|(n, _)| n != name);
                self.tags.push((name.to_owned(), value));
                return is_new;
            }
        };
        place.replace((at, value)).is_none()
    }
}

impl<'a> Reader<'a> {
    /// Goes on behind a byte, at a line with a tag that follows one with none.
    fn skip_game(&mut self, at: usize) {
        let text = self.lexer.text();
        let is_tag = |line: &str| line.trim_start().starts_with('[');
        let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let (mut at, mut after_tag) = (begin, true);
        for line in text[begin..].split_inclusive('\n') {
            if is_tag(line) && !after_tag {
                break;
            }
            after_tag = is_tag(line) || after_tag && line.trim().is_empty();
            at += line.len();
        }
        self.lexer.go_to(at);
        self.ahead = None;
    }

    fn peek(&mut self) -> Result<Option<&Placed<'a>>, Fault> {
        if self.ahead.is_none() {
            self.ahead = self.lexer.next()?;
        }
        Ok(self.ahead.as_ref())
    }

    /// Takes the comments that come next.
    fn comments(&mut self) -> Result<Vec<String>, Fault> {
        let mut comments = Vec::new();
        while let Some((_, Token::Comment(text))) = self.peek()? {
            if !text.is_empty() {
                comments.push(text.clone());
            }
            self.ahead = None;
        }
        Ok(comments)
    }

    /// The next game; none if nothing but comments is left.
    fn game(&mut self) -> Result<Option<Game>, Fault> {
        let mut header = Header::default();
        let mut comments = self.comments()?;
        let Some(&(begin, _)) = self.peek()? else {
            return Ok(None);
        };
        while let Some((at, Token::Tag { name, value })) = self.peek()?.cloned() {
            self.ahead = None;
            if !header.add(at, name, value) {
                return Err(self.lexer.fault(at, PdnProblem::DuplicateTag));
            }
            comments.extend(self.comments()?);
        }
        let GameType { variant, flipped } = self.game_type_of(begin, &mut header)?;
        self.flipped = flipped;
        let mut start = match &header.fen {
            Some((at, text)) => self.position(variant, *at, text)?,
            None if flipped => Position::start(variant).flipped(),
            None => Position::start(variant),
        };
        while let Some((at, Token::SetUp(text))) = self.peek()?.cloned() {
            self.ahead = None;
            start = self.position(variant, at, text)?;
            comments.extend(self.comments()?);
        }
        let mut line = self.line(start, 0, comments)?;
        let mut result = self.result()?.unwrap_or_default();
        // What is not told at the end may be told by the tag.
        if let (GameResult::Unknown, Some((_, text))) = (result, header.result) {
            match GameResult::parse(text.trim()) {
                Some(told) => result = told,
                None => header.tags.push(("Result".to_owned(), text)),
            }
        }
        line.closing.extend(self.comments()?);
        Ok(Some(Game {
            tags: header.tags,
            variant,
            start,
            line,
            result,
        }))
    }

    /// What the tags say, or else the caller, also where they name nothing that is known. Beside
    /// `GameType`, `Variant` is a tag like any other.
    fn game_type_of(&self, begin: usize, header: &mut Header) -> Result<GameType, Fault> {
        let plain = |variant| GameType {
            variant,
            flipped: false,
        };
        let (begin, told) = match (&header.game_type, header.variant.take()) {
            (Some((at, text)), name) => {
                let name = name.map(|(_, name)| ("Variant".to_owned(), name));
                header.tags.extend(name);
                (*at, game_type::parse(text))
            }
            (None, Some((at, name))) => {
                let variant = name.parse::<Variant>();
                (at, variant.map(plain).map_err(PdnProblem::from))
            }
            (None, None) => (begin, Err(PdnProblem::MissingVariant)),
        };
        match (told, self.variant) {
            // Understood, and not as variants are played here: the moves would be taken for others.
            (Err(problem @ PdnProblem::OtherGameType { .. }), _) => {
                Err(self.lexer.fault(begin, problem))
            }
            (Err(_), Some(variant)) => Ok(plain(variant)),
            (told, _) => told.map_err(|problem| self.lexer.fault(begin, problem)),
        }
    }

    fn position(&self, variant: Variant, at: usize, text: &str) -> Result<Position, Fault> {
        let read = match self.flipped {
            true => fen::parse(variant, &with_colors_exchanged(text)).map(Position::flipped),
            false => fen::parse(variant, text),
        };
        read.map_err(|error| self.lexer.fault(at, error.into()))
    }

    /// The move of a text.
    fn move_of(&self, position: &Position, text: &str) -> Result<Move, MoveError> {
        if self.flipped {
            let found = moves::parse(&position.flipped(), text)?;
            return Ok(found.flipped(position.variant()));
        }
        moves::parse(position, text)
    }

    /// The result, if it comes next.
    fn result(&mut self) -> Result<Option<GameResult>, Fault> {
        let result = match self.peek()? {
            Some((_, Token::Word(word))) => GameResult::parse(word),
            _ => None,
        };
        if result.is_some() {
            self.ahead = None;
        }
        Ok(result)
    }

    /// Moves from a position to the end of a variation, of which `)` is taken, or at depth 0 to
    /// the end of a game, of which nothing is taken. `comments` are those before it.
    fn line(
        &mut self,
        start: Position,
        depth: usize,
        mut comments: Vec<String>,
    ) -> Result<Line, Fault> {
        let mut line = Line::default();
        let mut position = start;
        // Where the last move was played.
        let mut before = start;
        loop {
            let Some(&(at, ref token)) = self.peek()? else {
                if depth > 0 {
                    return Err(self.lexer.fault(self.end(), PdnProblem::OpenVariation));
                }
                break;
            };
            let token = token.clone();
            let fault = |reader: &Self, problem| Err(reader.lexer.fault(at, problem));
            if depth == 0 {
                match token {
                    Token::Tag { .. } => break,
                    Token::Word(word) if GameResult::parse(word).is_some() => break,
                    _ => {}
                }
            }
            self.ahead = None;
            match token {
                Token::Comment(text) if text.is_empty() => {}
                Token::Comment(text) => match line.moves.last_mut() {
                    Some(ply) if ply.variations.is_empty() => ply.comments_after.push(text),
                    _ => comments.push(text),
                },
                Token::Nag(nag) => match line.moves.last_mut() {
                    Some(ply) => ply.nags.push(nag),
                    None => return fault(self, PdnProblem::NoMoveBefore),
                },
                Token::Open if depth == MAX_DEPTH => return fault(self, PdnProblem::TooDeep),
                Token::Open => {
                    let Some(ply) = line.moves.last_mut() else {
                        return fault(self, PdnProblem::NoMoveBefore);
                    };
                    // Comments between two variations.
                    ply.comments_after.append(&mut comments);
                    let variation = self.line(before, depth + 1, Vec::new())?;
                    ply.variations.push(variation);
                }
                Token::Close if depth > 0 => break,
                Token::Word(word) if GameResult::parse(word).is_some() => {
                    return fault(self, PdnProblem::ResultInVariation);
                }
                Token::Word(word) => {
                    let text = without_number(word);
                    if text.is_empty() {
                        continue;
                    }
                    let mv = match self.move_of(&position, text) {
                        Ok(mv) => mv,
                        Err(error) => return fault(self, error.into()),
                    };
                    before = position;
                    position = position.after(&mv);
                    line.moves.push(Ply {
                        comments_before: std::mem::take(&mut comments),
                        ..Ply::from(mv)
                    });
                }
                Token::SetUp(_) => return fault(self, PdnProblem::MisplacedSetUp),
                Token::Tag { .. } => return fault(self, PdnProblem::OpenVariation),
                Token::Close => return fault(self, PdnProblem::Unexpected),
            }
        }
        line.closing = comments;
        Ok(line)
    }

    fn end(&self) -> usize {
        self.lexer.text().len()
    }
}

/// A FEN with numbered squares whose colour letters are exchanged.
fn with_colors_exchanged(fen: &str) -> String {
    let exchanged = fen.chars().map(|c| match c {
        'W' | 'w' => 'B',
        'B' | 'b' => 'W',
        c => c,
    });
    exchanged.collect()
}

/// The move in a word, without a move number or dots before it: `12.32-28`, `12...`, `12`.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.is_empty() || rest.starts_with('.') {
        rest.trim_start_matches('.')
    } else {
        word
    }
}
