//! Notation: positions, moves and games as text.
//!
//! * [`fen`]: positions as the PDN standard writes them, `W:W31,32:BK5`;
//! * [`hub`]: positions as the Hub protocol writes them, one character a square;
//! * [`moves`]: `32-28`, `28x19`, `c3:e5:g7`;
//! * [`pdn`]: whole games with tags, comments and variations.
//!
//! All four read generously and write one canonical form, and none of them ever guesses: text
//! that could mean two things is an error that names the offending token. Here is what they
//! share, the names of squares. A square is a number in the variant's own numbering, or, where
//! the variant has algebraic notation, a file letter and a rank digit; such variants read both.

pub mod fen;
pub mod hub;
pub mod moves;
pub mod pdn;

use crate::board::{Position, Square};
use crate::rules::{Notation, Variant};

/// Why a text is no position, neither in FEN nor in Hub form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPosition {
    #[error(transparent)]
    Fen(#[from] fen::FenError),
    #[error("in Hub form: {0}")]
    Hub(#[from] hub::HubError),
}

/// Reads a position in FEN or in Hub form. A text made of nothing but the letters of the Hub form,
/// without the `:` that every FEN has, is taken for that.
///
/// # Errors
/// That of the form the text is taken for.
pub fn parse_position(variant: Variant, text: &str) -> Result<Position, NotAPosition> {
    // A side alone is rather the beginning of a FEN.
    let bare = text.trim();
    if bare.len() > 1
        && bare
            .chars()
            .all(|c| matches!(c, 'w' | 'W' | 'b' | 'B' | 'e'))
    {
        return Ok(hub::parse(variant, bare)?);
    }
    Ok(fen::parse(variant, text)?)
}

/// The name of a square in the notation the variant's own standard uses: `32` or `c3`.
pub fn square_name(variant: Variant, square: Square) -> String {
    let mut name = String::new();
    push_square_name(&mut name, variant, square);
    name
}

/// Appends a [`square_name`].
fn push_square_name(text: &mut String, variant: Variant, square: Square) {
    let push_number = |text: &mut String, number: u8| {
        if number >= 10 {
            text.push(char::from(b'0' + number / 10));
        }
        text.push(char::from(b'0' + number % 10));
    };
    match variant.notation() {
        Notation::Numeric => push_number(text, square.number()),
        Notation::Algebraic => {
            let (rank, file) = variant.cell(square);
            text.push(char::from(b'a' + file));
            push_number(text, rank + 1);
        }
    }
}

/// Why a token is not a square of the variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SquareError {
    #[error("`{token}` is not a square")]
    Unknown { token: String },
    #[error("`{token}` is off the board of {variant}, whose squares are 1 to {}{}",
        variant.squares(), algebraic_corners(*variant))]
    OffBoard { token: String, variant: Variant },
    #[error("`{token}` is not a playing square of {variant}")]
    NotPlayed { token: String, variant: Variant },
    #[error("`{token}` is algebraic, and {variant} numbers its squares (1 to {})", variant.squares())]
    Numbered { token: String, variant: Variant },
}

fn algebraic_corners(variant: Variant) -> String {
    if !variant.has_algebraic() {
        return String::new();
    }
    let geometry = variant.geometry();
    let last_file = char::from(b'a' + geometry.files() - 1);
    format!(" or a1 to {last_file}{}", geometry.ranks())
}

/// Reads the name of a square: a number, leading zeros allowed, or for variants that have it
/// the algebraic name in small or capital letters.
///
/// # Errors
/// [`SquareError`] with the token and what is wrong with it.
pub fn parse_square(variant: Variant, token: &str) -> Result<Square, SquareError> {
    let unknown = || SquareError::Unknown { token: clip(token) };
    let off_board = || SquareError::OffBoard {
        token: clip(token),
        variant,
    };
    if is_number(token) {
        return match token.trim_start_matches('0').parse::<u8>() {
            Ok(number) if number <= variant.squares() => Ok(Square::new(number - 1)),
            _ => Err(off_board()),
        };
    }
    let letter = token.chars().next().ok_or_else(unknown)?;
    let digits = &token[letter.len_utf8()..];
    if !letter.is_ascii_alphabetic() || !is_number(digits) || digits.len() > 2 {
        return Err(unknown());
    }
    if !variant.has_algebraic() {
        return Err(SquareError::Numbered {
            token: clip(token),
            variant,
        });
    }
    let file = letter.to_ascii_lowercase() as u8 - b'a';
    let rank = digits.parse::<u8>().map_err(|_| unknown())?;
    let geometry = variant.geometry();
    if file >= geometry.files() || rank == 0 || rank > geometry.ranks() {
        return Err(off_board());
    }
    let square = variant.square_at(rank - 1, file);
    square.ok_or_else(|| SquareError::NotPlayed {
        token: clip(token),
        variant,
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// A token as error texts quote it: long ones are cut, and control characters made visible.
fn clip(token: &str) -> String {
    const LONGEST: usize = 40;
    let mut text = String::new();
    for (i, c) in token.chars().enumerate() {
        if i == LONGEST {
            text.push_str("...");
            break;
        }
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_in_either_form() {
        let start = Position::start(Variant::International);
        for text in [fen::format(&start), hub::format(&start)] {
            assert_eq!(parse_position(Variant::International, &text), Ok(start));
        }
        let error = |text| parse_position(Variant::English, text).unwrap_err();
        assert!(matches!(error("Wbbe"), NotAPosition::Hub(_)));
        assert!(matches!(error("W"), NotAPosition::Fen(_)));
        assert!(matches!(error("W:Wx:B"), NotAPosition::Fen(_)));
    }

    #[test]
    fn quoted_tokens_are_short_and_visible() {
        assert_eq!(clip("a1\0\u{1b}"), "a1\\u{0}\\u{1b}");
        assert_eq!(clip(&"é".repeat(41)), format!("{}...", "é".repeat(40)));
    }
}
