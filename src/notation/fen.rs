//! Positions in FEN, as PDN 3.0 defines it for draughts: `W:W31,32,K40:B1,K2`.
//!
//! The side to move comes first, then for each colour the letter and its squares, a king marked
//! by `K`. [`format()`] writes one canonical form: no blanks, White before Black, each side's
//! squares in the order of their numbers or, where they are written algebraically, of the alphabet
//! (`a1,a7,b2`), men and kings mixed, no dot at the end.
//!
//! [`parse`] reads what programs really write. Blanks, quotes, a final dot, a `[FEN "..."]`
//! around the text, small letters; colours in any order, empty, missing or in several pieces
//! (`W:W:W31:B1`, the side to move written twice by old programs, is an empty first piece);
//! leading zeros and ranges (`31-50`, `K4-8`: all kings). Sections of counters that some sites
//! append (`:H0`, `:F1`, `:+0+0`) are checked for their form and skipped, since positions here
//! carry no counters.

use std::borrow::Cow;

use super::{SquareError, clip, is_number, parse_square, push_square_name};
use crate::board::{ByColor, Color, Piece, Position, Square};
use crate::rules::{Notation, Variant};

/// Why a text is not the FEN of a position of the variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FenError {
    #[error("missing side to move: a FEN begins with `W:` or `B:`, this one with `{found}`")]
    MissingSide { found: String },
    #[error(
        "`{token}` is not a section of a FEN: after the side to move come `W` and `B`, each followed by its squares"
    )]
    UnknownSection { token: String },
    #[error(transparent)]
    Square(#[from] SquareError),
    #[error(
        "`{token}` is not a square: a colour letter stands only at the head of its section, after a `:`"
    )]
    StrayColor { token: String },
    #[error("a square is missing: nothing stands between two commas or after `K`, in `{section}`")]
    MissingSquare { section: String },
    #[error("`{token}` is not a range of squares: it is written low-high, with numbers")]
    BadRange { token: String },
    #[error("square `{token}` is used twice")]
    UsedTwice { token: String },
    #[error(
        "`{token}` is a captured piece not yet taken off (a ghost): only positions between moves are read"
    )]
    Ghost { token: String },
    #[error("a king, `{token}`: {variant} has no kings, a man that arrives wins")]
    NoKings { token: String, variant: Variant },
    /// All such men, as written.
    #[error("men on their own promotion row: {}", describe_men(men))]
    MenOnPromotionRow { men: Vec<(Color, String)> },
    #[error("a board without any piece")]
    NoPieces,
}

fn describe_men(men: &[(Color, String)]) -> String {
    let each = men
        .iter()
        .map(|(color, token)| format!("{color} `{token}`"));
    each.collect::<Vec<_>>().join(", ")
}

/// The canonical FEN of a position.
pub fn format(position: &Position) -> String {
    let mut text = String::with_capacity(32);
    text.push(position.side().letter());
    for color in Color::BOTH {
        text.push(':');
        text.push(color.letter());
        let mut separator = None;
        for_each_in_order(position.variant(), position.pieces(color), |square| {
            text.extend(separator.replace(','));
            if position.kings(color) & square.bit() != 0 {
                text.push('K');
            }
            push_square_name(&mut text, position.variant(), square);
        });
    }
    text
}

/// Calls `f` with the squares of a set in the order in which they are written.
fn for_each_in_order(variant: Variant, set: u128, mut f: impl FnMut(Square)) {
    match variant.notation() {
        Notation::Numeric => Square::of(set).for_each(f),
        Notation::Algebraic => {
            let mut squares: Vec<Square> = Square::of(set).collect();
            squares.sort_unstable_by_key(|&square| {
                let (rank, file) = variant.cell(square);
                (file, rank)
            });
            squares.into_iter().for_each(&mut f);
        }
    }
}

/// Reads a FEN. A side without pieces is allowed, a board without pieces is not.
///
/// # Errors
/// [`FenError`] with the offending token and the reason; of men on their promotion rows all are
/// named, otherwise the first offence.
pub fn parse(variant: Variant, text: &str) -> Result<Position, FenError> {
    let mut sections = bare(text).split(':').map(str::trim);
    let first = sections.next().unwrap_or_default();
    let Some(side) = color_of(first) else {
        return Err(FenError::MissingSide { found: clip(first) });
    };
    let mut pieces = Pieces::new(variant);
    for section in sections {
        let head = section.get(..1).unwrap_or_default();
        match color_of(head) {
            Some(color) => pieces.read_list(color, section[1..].trim())?,
            None if is_counter(section) => {}
            None => {
                return Err(FenError::UnknownSection {
                    token: clip(section),
                });
            }
        }
    }
    pieces.into_position(side)
}

/// The text without what may surround it: blanks, quotes, a dot, a PDN tag.
fn bare(text: &str) -> &str {
    fn blank_or_quote(c: char) -> bool {
        c.is_whitespace() || matches!(c, '"' | '\'' | '\u{feff}')
    }
    let text = text.trim_matches(blank_or_quote);
    let in_tag = text
        .strip_prefix('[')
        .and_then(|t| t.strip_suffix(']'))
        .map(str::trim_start)
        .filter(|t| t.get(..3).is_some_and(|n| n.eq_ignore_ascii_case("FEN")))
        .map(|t| &t[3..]);
    let text = in_tag.unwrap_or(text).trim_matches(blank_or_quote);
    let text = text.strip_suffix('.').unwrap_or(text);
    text.trim_matches(blank_or_quote)
}

fn color_of(letter: &str) -> Option<Color> {
    match letter {
        "W" | "w" => Some(Color::White),
        "B" | "b" => Some(Color::Black),
        _ => None,
    }
}

/// `H` and a number of plies, `F` and a move number, or Frisian king moves `+n[square]+n[square]`
/// with n up to 3 and a square of two digits.
fn is_counter(section: &str) -> bool {
    let king_moves = |text: &str| {
        matches!(text.len(), 1 | 3) && is_number(text) && matches!(text.as_bytes()[0], b'0'..=b'3')
    };
    match section.split_at_checked(1) {
        Some(("H" | "F", count)) => is_number(count),
        Some(("+", counts)) => counts
            .split_once('+')
            .is_some_and(|(white, black)| king_moves(white) && king_moves(black)),
        _ => false,
    }
}

/// The pieces read so far, each with the token that put it there.
struct Pieces<'a> {
    variant: Variant,
    placed: Vec<(Color, Piece, Square, Cow<'a, str>)>,
    used: u128,
    /// The first token that is a plain number, and the first like `G3`.
    number: Option<&'a str>,
    capital_g: Option<&'a str>,
}

impl<'a> Pieces<'a> {
    fn new(variant: Variant) -> Pieces<'a> {
        Pieces {
            variant,
            placed: Vec::new(),
            used: 0,
            number: None,
            capital_g: None,
        }
    }

    fn read_list(&mut self, color: Color, list: &'a str) -> Result<(), FenError> {
        if list.is_empty() {
            return Ok(());
        }
        for token in list.split(',').map(str::trim) {
            let (piece, squares) = match token.strip_prefix(['K', 'k']) {
                Some(rest) => (Piece::King, rest.trim_start()),
                None => (Piece::Man, token),
            };
            if squares.is_empty() {
                return Err(FenError::MissingSquare {
                    section: clip(list),
                });
            }
            if piece == Piece::King && !self.variant.rules().has_kings() {
                return Err(FenError::NoKings {
                    token: clip(token),
                    variant: self.variant,
                });
            }
            match squares.split_once('-') {
                Some((low, high)) => {
                    self.read_range(color, piece, token, low.trim_end(), high.trim_start())?;
                }
                None => {
                    let square = self.read_square(squares)?;
                    self.place(color, piece, square, squares.into())?;
                }
            }
        }
        Ok(())
    }

    fn read_square(&mut self, token: &'a str) -> Result<Square, FenError> {
        let error = match parse_square(self.variant, token) {
            Ok(square) => {
                if is_number(token) {
                    self.number.get_or_insert(token);
                } else if token.starts_with('G') {
                    self.capital_g.get_or_insert(token);
                }
                return Ok(square);
            }
            Err(error) => error,
        };
        let letter_is = |letters: &[char]| token.starts_with(letters);
        let algebraic = self.variant.has_algebraic();
        Err(
            if letter_is(&['G', 'P', 'p']) || !algebraic && letter_is(&['g']) {
                FenError::Ghost { token: clip(token) }
            } else if letter_is(&['W', 'w']) || !algebraic && letter_is(&['B', 'b']) {
                FenError::StrayColor { token: clip(token) }
            } else {
                error.into()
            },
        )
    }

    fn read_range(
        &mut self,
        color: Color,
        piece: Piece,
        token: &str,
        low: &'a str,
        high: &'a str,
    ) -> Result<(), FenError> {
        if !is_number(low) || !is_number(high) {
            return Err(FenError::BadRange { token: clip(token) });
        }
        let (first, last) = (self.read_square(low)?, self.read_square(high)?);
        if first > last {
            return Err(FenError::BadRange { token: clip(token) });
        }
        (first.index()..=last.index())
            .map(Square::new)
            .try_for_each(|square| {
                self.place(color, piece, square, square.number().to_string().into())
            })
    }

    fn place(
        &mut self,
        color: Color,
        piece: Piece,
        square: Square,
        token: Cow<'a, str>,
    ) -> Result<(), FenError> {
        if self.used & square.bit() != 0 {
            let token = clip(&token);
            return Err(FenError::UsedTwice { token });
        }
        self.used |= square.bit();
        self.placed.push((color, piece, square, token));
        Ok(())
    }

    fn into_position(self, side: Color) -> Result<Position, FenError> {
        // `G3` is the square g3 in capitals, unless the squares are numbers: then it is a ghost.
        if let (Some(_), Some(token)) = (self.number, self.capital_g) {
            let token = clip(token);
            return Err(FenError::Ghost { token });
        }
        if self.placed.is_empty() {
            return Err(FenError::NoPieces);
        }
        let mut men = ByColor::<u128>::default();
        let mut kings = ByColor::<u128>::default();
        let mut misplaced = Vec::new();
        for (color, piece, square, token) in self.placed {
            match piece {
                Piece::King => kings[color] |= square.bit(),
                Piece::Man => men[color] |= square.bit(),
            }
            let crowned = self.variant.promotion_row(color) & square.bit() != 0;
            if piece == Piece::Man && crowned {
                misplaced.push((color, clip(&token)));
            }
        }
        if !misplaced.is_empty() {
            return Err(FenError::MenOnPromotionRow { men: misplaced });
        }
        // Everything the type promises has been checked above, with better words.
        Ok(Position::new(self.variant, men, kings, side).expect("a checked position"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a text reads as, in canonical form.
    #[track_caller]
    fn reads(variant: Variant, text: &str, canonical: &str) {
        match parse(variant, text) {
            Ok(position) => assert_eq!(format(&position), canonical, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }

    #[track_caller]
    fn fails(variant: Variant, text: &str, parts: &[&str]) {
        let error = parse(variant, text).expect_err(text).to_string();
        for part in parts {
            assert!(error.contains(part), "{text}: `{part}` is not in: {error}");
        }
    }

    use Variant::{Breakthrough, English, International, Russian, Spantsireti, Turkish};

    #[test]
    fn start_positions() {
        let start = |v| format(&Position::start(v));
        reads(English, "B:W21-32:B1-12", &start(English));
        reads(International, "W:W31-50:B1-20", &start(International));
        reads(
            Russian,
            "W:Wa1,c1,e1,g1,b2,d2,f2,h2,a3,c3,e3,g3:Bb8,d8,f8,h8,a7,c7,e7,g7,b6,d6,f6,h6",
            &start(Russian),
        );
        assert_eq!(
            start(Russian),
            "W:Wa1,a3,b2,c1,c3,d2,e1,e3,f2,g1,g3,h2:Ba7,b6,b8,c7,d6,d8,e7,f6,f8,g7,h6,h8"
        );
        reads(Russian, "W:W21-32:B1-12", &start(Russian));
    }

    #[test]
    fn canonical_order_is_by_number_or_alphabet() {
        reads(International, "W:BK29,3:WK1", "W:WK1:B3,K29");
        reads(Russian, "W:WKa1,Kc1:BKf8", "W:WKa1,Kc1:BKf8");
        reads(Russian, "W:Wa7,b6,c5:BKb8", "W:Wa7,b6,c5:BKb8");
        reads(Russian, "W:Wc3,Ka1,h6,a5:BKb8", "W:WKa1,a5,c3,h6:BKb8");
        reads(Turkish, "B:Ba2:WKg7,a3", "B:Wa3,Kg7:Ba2");
        reads(Spantsireti, "W:WKj8,i1:Ba7", "W:Wi1,Kj8:Ba7");
    }

    #[test]
    fn generous_reading() {
        let canonical = "W:WK11:BK2,K6";
        for text in [
            "W:WK11:BK2,K6.",
            "W:WK11:BK2,K6.\r\n",
            "  W : W K11 : B K2 , K 6 . ",
            "w:bk2,k06:wk011",
            "\"W:WK11:BK2,K6\"",
            "\"W:WK11:BK2,K6.\"\r\n",
            "[FEN \"W:WK11:BK2,K6.\"]",
            "[fen 'W:W:WK11:BK2,K6']",
            "W:W:WK11:BK2,K6",
            "W:BK2:WK11:BK6",
            "W:WK11:BK2,K6:H0:F1",
            "W:WK11:BK2,K6:H12:F30:+0+0",
            "W:WK11:BK2,K6:+1+320",
        ] {
            reads(International, text, canonical);
        }
        reads(
            International,
            "W:WK4-8:B31 - 33",
            "W:WK4,K5,K6,K7,K8:B31,32,33",
        );
        reads(International, "W:W:W31,32:B1,2", "W:W31,32:B1,2");
        reads(International, "W:WK1:B5:W7", "W:WK1,7:B5");
        reads(International, "W:WK4:B20", "W:WK4:B20");
        reads(Russian, "W: W A1, KC1 :B kG7", "W:Wa1,Kc1:BKg7");
        reads(Russian, "W:WG1:BKb8", "W:Wg1:BKb8");
    }

    #[test]
    fn a_side_may_be_empty() {
        reads(International, "B:W50:B", "B:W50:B");
        reads(International, "W:B:W50", "W:W50:B");
        reads(International, "W:B10", "W:W:B10");
        fails(International, "W:W:B", &["without any piece"]);
        fails(International, "W", &["without any piece"]);
    }

    #[test]
    fn errors_name_token_and_reason() {
        fails(
            International,
            "W:WK4,WK5,55:B4",
            &["`WK5`", "colour letter"],
        );
        fails(International, "W:WK4,K5,55:B4", &["`55`", "1 to 50"]);
        fails(International, "W:W0:B4", &["`0`", "off the board"]);
        fails(International, "W:W4:B49", &["`4`", "`49`", "promotion row"]);
        fails(Russian, "W:W1:Ba1,c1", &["`1`", "`a1`", "`c1`"]);
        fails(International, "W:W1-20:B31", &["`1`", "`5`"]);
        fails(Russian, "W:Wa2:Bb8", &["`a2`", "playing square"]);
        fails(Russian, "W:Wi1:Bb8", &["`i1`", "a1 to h8"]);
        fails(International, "W:Wa1:B4", &["`a1`", "numbers its squares"]);
        fails(International, "W:W31,x:B4", &["`x`"]);
        fails(International, "W:W31,31:B4", &["`31`", "twice"]);
        fails(International, "W:W31:BK30-32", &["`31`", "twice"]);
        fails(International, "W:W1-999999999999:B4", &["`999999999999`"]);
        fails(International, "W:W40-31:B4", &["`40-31`", "low-high"]);
        fails(Russian, "W:Wa1-c1:Bb6", &["`a1-c1`", "numbers"]);
        fails(International, "W:W3 1:B4", &["`3 1`"]);
        fails(International, "W:W31,:B4", &["`31,`"]);
        fails(International, "W:WK:B4", &["`K`"]);
        fails(International, "W31:B4", &["missing side", "`W31`"]);
        fails(International, "?:W31:B4", &["missing side", "`?`"]);
        fails(International, "", &["missing side"]);
        fails(International, "W:W31:X4", &["`X4`", "section"]);
        fails(International, "W:W31::B4", &["``", "section"]);
        fails(International, "W:W31:B4:H", &["`H`"]);
        fails(International, "W:W31:B4:+4+0", &["`+4+0`"]);
        fails(International, "W:W31,G22:B4", &["`G22`", "ghost"]);
        fails(International, "W:W31:BP22", &["`P22`", "ghost"]);
        fails(Russian, "W:W32,G3:B4", &["`G3`", "ghost"]);
        fails(Breakthrough, "W:WK31:B14", &["`K31`", "no kings"]);
        fails(International, "W:Wé:B4", &["`é`"]);
        fails(International, "é:W31:B4", &["`é`"]);
        fails(International, "W:é31:B4", &["`é31`"]);
    }
}
