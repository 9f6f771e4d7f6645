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

use crate::board::Square;
use crate::rules::{Notation, Variant};

/// The name of a square in the notation the variant's own standard uses: `32` or `c3`.
pub fn square_name(variant: Variant, square: Square) -> String {
    match variant.notation() {
        Notation::Numeric => square.number().to_string(),
        Notation::Algebraic => {
            let (rank, file) = variant.cell(square);
            format!("{}{}", char::from(b'a' + file), rank + 1)
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

/// A token as error texts quote it: long ones are cut.
fn clip(token: &str) -> String {
    const LONGEST: usize = 40;
    match token.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &token[..end]),
        None => token.to_owned(),
    }
}
