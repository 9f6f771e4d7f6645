//! Positions in the form of the Hub protocol, version 2: the side to move (`W` or `B`), then one
//! character for every square in the order of the variant's numbers: `w` and `b` men, `W` and `B`
//! kings, `e` empty. 51 characters on the 10x10 board.

use crate::board::{ByColor, Color, Piece, Position, PositionError, Square};
use crate::rules::Variant;

/// Why a text is not a position in Hub form. Columns count characters from 1, the side to move;
/// square `n` stands in column `n + 1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HubError {
    #[error("column 1: missing side to move: `W` or `B` comes first{}", found_instead(*found))]
    MissingSide { found: Option<char> },
    #[error("column {column}: `{found}` is not a piece: squares are written w, W, b, B or e")]
    UnknownPiece { column: usize, found: char },
    #[error("column {column}: the text {}; {variant} has {} columns: the side and {} squares",
        if *column > usize::from(variant.squares()) + 1 { "goes on" } else { "ends" },
        variant.squares() + 1, variant.squares())]
    Length { column: usize, variant: Variant },
    #[error("column {column}: {reason}")]
    NotAPosition {
        column: usize,
        reason: PositionError,
    },
    #[error("a board without any piece")]
    NoPieces,
}

fn found_instead(found: Option<char>) -> String {
    found.map_or(String::new(), |c| format!(", not `{c}`"))
}

/// The position in Hub form.
pub fn format(position: &Position) -> String {
    let squares =
        (0..position.variant().squares()).map(|i| match position.piece_at(Square::new(i)) {
            None => 'e',
            Some((Color::White, Piece::Man)) => 'w',
            Some((Color::White, Piece::King)) => 'W',
            Some((Color::Black, Piece::Man)) => 'b',
            Some((Color::Black, Piece::King)) => 'B',
        });
    std::iter::once(position.side().letter())
        .chain(squares)
        .collect()
}

/// Reads a position in Hub form; blanks around it are ignored. A side without pieces is allowed,
/// a board without pieces is not.
///
/// # Errors
/// [`HubError`] with the column of the first offence.
pub fn parse(variant: Variant, text: &str) -> Result<Position, HubError> {
    let mut chars = text.trim().chars();
    let side = match chars.next() {
        Some('W') => Color::White,
        Some('B') => Color::Black,
        found => return Err(HubError::MissingSide { found }),
    };
    let mut men = ByColor::<u128>::default();
    let mut kings = ByColor::<u128>::default();
    for index in 0..variant.squares() {
        let column = usize::from(index) + 2;
        let bit = Square::new(index).bit();
        match chars.next() {
            Some('e') => {}
            Some('w') => men[Color::White] |= bit,
            Some('b') => men[Color::Black] |= bit,
            Some('W') => kings[Color::White] |= bit,
            Some('B') => kings[Color::Black] |= bit,
            Some(found) => return Err(HubError::UnknownPiece { column, found }),
            None => return Err(HubError::Length { column, variant }),
        }
    }
    if chars.next().is_some() {
        let column = usize::from(variant.squares()) + 2;
        return Err(HubError::Length { column, variant });
    }
    Position::new(variant, men, kings, side).map_err(|reason| match reason {
        PositionError::OffBoard { number, .. }
        | PositionError::Occupied { number }
        | PositionError::ManOnPromotionRow { number, .. }
        | PositionError::NoKings { number, .. } => {
            let column = usize::from(number) + 1;
            HubError::NotAPosition { column, reason }
        }
        PositionError::NoPieces => HubError::NoPieces,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::fen;

    #[test]
    fn start_position() {
        let text = format(&Position::start(Variant::International));
        assert_eq!(text.len(), 51);
        assert_eq!(text, "Wbbbbbbbbbbbbbbbbbbbbeeeeeeeeeewwwwwwwwwwwwwwwwwwww");
        assert_eq!(format(&Position::start(Variant::English)).len(), 33);
        assert_eq!(format(&Position::start(Variant::Turkish)).len(), 65);
    }

    #[test]
    fn kings_and_blanks() {
        let text = "BWeeeeeeeeeeeeeeeeeeeeeeeeeeeebBe";
        let position = parse(Variant::English, &format!("  {text}\r\n")).unwrap_err();
        assert!(matches!(
            position,
            HubError::NotAPosition { column: 31, .. }
        ));
        let text = text.replace("bB", "wB");
        let position = parse(Variant::English, &text).unwrap();
        assert_eq!(fen::format(&position), "B:WK1,30:BK31");
        assert_eq!(format(&position), text);
    }

    #[track_caller]
    fn fails(text: &str, parts: &[&str]) {
        let error = parse(Variant::English, text).expect_err(text).to_string();
        for part in parts {
            assert!(error.contains(part), "{text}: `{part}` is not in: {error}");
        }
    }

    #[test]
    fn errors_name_the_column() {
        fails("", &["column 1:", "missing side"]);
        fails("w", &["column 1:", "`w`"]);
        fails("Wee", &["column 4:", "ends", "33"]);
        fails(&format!("W{}", "e".repeat(33)), &["column 34:", "goes on"]);
        fails(&format!("W{}", "e".repeat(32)), &["without any piece"]);
        fails("Weexe", &["column 4:", "`x`"]);
        fails("Weé", &["column 3:", "`é`"]);
        fails(
            &format!("Wew{}", "e".repeat(30)),
            &["column 3:", "promotion row"],
        );
    }
}
