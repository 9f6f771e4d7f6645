//! Cuts PDN text into tokens.

use super::{MARKS, PdnProblem};
use crate::notation::clip;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Tag {
        name: &'a str,
        value: String,
    },
    /// Its words, with one blank between; may be empty.
    Comment(String),
    /// What stands between the strokes of `/FEN "..."/`, without the `FEN`.
    SetUp(&'a str),
    Open,
    Close,
    Nag(u8),
    /// A move, a move number, both without a blank between them, or a result.
    Word(&'a str),
}

/// A token, and the byte at which it begins.
pub(super) type Placed<'a> = (usize, Token<'a>);

/// A problem, the byte at which it is and the token there.
#[derive(Debug)]
pub(super) struct Fault {
    pub at: usize,
    pub token: String,
    pub problem: PdnProblem,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Lexer { text, at }
    }

    /// All of the text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Goes on at a byte that begins a character.
    pub fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Takes the next `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let taken = &self.rest()[..length];
        self.at += length;
        taken
    }

    /// Takes everything up to the first character that `ends` it.
    fn take_until(&mut self, ends: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest().find(ends).unwrap_or(self.rest().len());
        self.take(length)
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take_until(|c| !c.is_whitespace());
            let line_begins = self.at == 0 || self.text[..self.at].ends_with(['\n', '\u{feff}']);
            if !line_begins || !self.rest().starts_with('%') {
                return;
            }
            self.take_until(|c| c == '\n');
        }
    }

    /// The next token; none at the end of the text.
    pub fn next(&mut self) -> Result<Option<Placed<'a>>, Fault> {
        self.skip_blanks();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Ok(None);
        };
        let token = match first {
            '[' => self.tag(),
            '{' => self.comment(),
            ';' => Ok(comment(&self.take_until(|c| c == '\n')[1..])),
            '/' => self.set_up(),
            '(' => Ok(self.bracketed_mark().unwrap_or_else(|| {
                self.take(1);
                Token::Open
            })),
            ')' => {
                self.take(1);
                Ok(Token::Close)
            }
            '$' => {
                self.take(1);
                let number = self.take_until(|c| !c.is_ascii_digit());
                let nag = number.parse().map(Token::Nag);
                nag.map_err(|_| PdnProblem::UnknownAnnotation)
            }
            '!' | '?' => mark(self.take_until(|c| !matches!(c, '!' | '?'))),
            '"' | ']' | '}' => {
                self.take(1);
                Err(PdnProblem::Unexpected)
            }
            _ => Ok(Token::Word(self.take_until(ends_word))),
        };
        match token {
            Ok(token) => Ok(Some((start, token))),
            Err(problem) => Err(self.fault(start, problem)),
        }
    }

    /// A problem at a byte; its token is what stands there, up to a blank.
    pub fn fault(&self, at: usize, problem: PdnProblem) -> Fault {
        let text = &self.text[at..];
        // At least one character, then as far as a word goes.
        let first = text.chars().next().map_or(0, char::len_utf8);
        let length = text[first..]
            .find(ends_word)
            .map_or(text.len(), |end| first + end);
        let token = match &text[..length] {
            "" => "the end of the text".to_owned(),
            token => clip(token),
        };
        Fault { at, token, problem }
    }

    fn tag(&mut self) -> Result<Token<'a>, PdnProblem> {
        self.take(1);
        self.take_until(|c| !is_blank(c));
        let name = self.take_until(|c| c.is_whitespace() || matches!(c, '"' | '[' | ']'));
        self.take_until(|c| !is_blank(c));
        if name.is_empty() || !self.rest().starts_with('"') {
            return Err(PdnProblem::MalformedTag);
        }
        self.take(1);
        let mut value = String::new();
        loop {
            value += self.take_until(|c| matches!(c, '"' | '\\' | '\n'));
            let mut rest = self.rest().chars();
            match (rest.next(), rest.next()) {
                (Some('"'), _) => break,
                (Some('\\'), Some(escaped @ ('"' | '\\'))) => {
                    value.push(escaped);
                    self.take(2);
                }
                (Some('\\'), _) => value += self.take(1),
                _ => return Err(PdnProblem::MalformedTag),
            }
        }
        self.take(1);
        self.take_until(|c| !is_blank(c));
        if !self.rest().starts_with(']') {
            return Err(PdnProblem::MalformedTag);
        }
        self.take(1);
        Ok(Token::Tag { name, value })
    }

    fn comment(&mut self) -> Result<Token<'a>, PdnProblem> {
        let text = self.take_until(|c| c == '}');
        if self.rest().is_empty() {
            return Err(PdnProblem::OpenComment);
        }
        self.take(1);
        Ok(comment(&text[1..]))
    }

    fn set_up(&mut self) -> Result<Token<'a>, PdnProblem> {
        self.take(1);
        let inside = self.take_until(|c| c == '/');
        if self.rest().is_empty() {
            return Err(PdnProblem::MalformedSetUp);
        }
        self.take(1);
        let fen = inside.trim_start().strip_prefix("FEN");
        fen.map(Token::SetUp).ok_or(PdnProblem::MalformedSetUp)
    }

    /// `(!)` and the like are annotations, not variations.
    fn bracketed_mark(&mut self) -> Option<Token<'a>> {
        let inside = &self.rest()[1..];
        let mark_of = |m: &&str| inside.strip_prefix(*m).is_some_and(|t| t.starts_with(')'));
        let (nag, mark) = (1..).zip(MARKS).find(|(_, m)| mark_of(m))?;
        self.take(mark.len() + 2);
        Some(Token::Nag(nag))
    }
}

fn comment(text: &str) -> Token<'_> {
    Token::Comment(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn mark(text: &str) -> Result<Token<'_>, PdnProblem> {
    match (1..).zip(MARKS).find(|(_, mark)| *mark == text) {
        Some((nag, _)) => Ok(Token::Nag(nag)),
        None => Err(PdnProblem::UnknownAnnotation),
    }
}

/// A blank that does not end the line.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\n'
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || "[](){};\"$!?".contains(c)
}
