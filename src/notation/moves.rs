//! Moves as text: `32-28`, `28x19`, `c3:e5:g7`.
//!
//! [`format()`] writes the two end squares where they tell the move, and otherwise the whole route
//! of a capture, every square it stood on: from `B:W14,15,22,23:B10,11` in English draughts both
//! `10x17x26` and `10x19x26` are possible. A whole route is always enough: each step of it takes
//! exactly one piece, the only one on the line between two squares, so by induction it fixes what
//! is taken and whether a man is crowned on the way. Where several routes make the same move,
//! the one with the lowest squares is written.
//!
//! [`parse`] reads either form and what programs and people write besides: any of `-`, `x`, `:`,
//! `*` or (algebraic) nothing between the squares, a route with squares left out, the file alone
//! for the first square (`cd4`), `!` and `?` at the end. A text is tried as, in this order,
//!
//! 1. a whole route, so that `a1:c3` is the capture of one piece even if a longer one joins the
//!    same squares;
//! 2. a route with squares left out;
//! 3. the same, where also squares merely passed may be named;
//! 4. from, to and the captured squares, as the Hub protocol writes captures (`28x19x23`),
//!
//! and the first reading that fits any legal move decides. If it fits several, that is an error:
//! nothing is guessed. A sign of capture on a quiet move is no match either.

use super::{SquareError, clip, is_number, parse_square, square_name};
use crate::board::{Position, Square};
use crate::rules::{Move, Variant, reference};

/// Why a text is not a legal move of the position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    #[error("`{text}` is not a move: a move is written as its squares with `-` or `x` between")]
    NotAMove { text: String },
    #[error("in move `{text}`: {reason}")]
    Square { text: String, reason: SquareError },
    #[error("`{text}` is not a legal move; legal: {}", list(legal))]
    NoSuchMove { text: String, legal: Vec<String> },
    #[error("`{text}` is ambiguous: it can be {}", list(candidates))]
    Ambiguous {
        text: String,
        candidates: Vec<String>,
    },
}

fn list(moves: &[String]) -> String {
    if moves.is_empty() {
        "none".to_owned()
    } else {
        moves.join(", ")
    }
}

/// The text of a move, the shortest form that tells it from every other in `all`, the legal moves
/// of the position.
pub fn format(position: &Position, m: &Move, all: &[Move]) -> String {
    let variant = position.variant();
    let same_ends = all.iter().filter(|o| (o.from, o.to) == (m.from, m.to));
    let ends = vec![m.from, m.to];
    let squares = match m.routes.first() {
        Some(route) if same_ends.count() > 1 => route,
        _ => &ends,
    };
    let sign = if m.is_capture() {
        variant.capture_sign()
    } else {
        '-'
    };
    let names: Vec<String> = squares.iter().map(|&s| square_name(variant, s)).collect();
    names.join(&sign.to_string())
}

/// Reads a move that is legal in the position.
///
/// # Errors
/// [`MoveError`]; it lists the legal moves if the text is none of them, or those it could be.
pub fn parse(position: &Position, text: &str) -> Result<Move, MoveError> {
    let all = reference::legal_moves(position);
    find(position, text, &all).cloned()
}

/// [`parse`] where the legal moves of the position are known already.
///
/// # Errors
/// As [`parse`].
pub fn find<'a>(position: &Position, text: &str, all: &'a [Move]) -> Result<&'a Move, MoveError> {
    let variant = position.variant();
    let written = Written::read(variant, text)?;
    let formatted = |moves: &[&Move]| -> Vec<String> {
        moves.iter().map(|m| format(position, m, all)).collect()
    };
    let readings: [&dyn Fn(&Move) -> bool; 4] = [
        &|m| written.is_route_of(m),
        &|m| m.routes.iter().any(|route| written.abbreviates(route)),
        &|m| {
            let mut paths = m
                .routes
                .iter()
                .map(|route| path(variant, route, m.captured));
            paths.any(|path| written.abbreviates(&path))
        },
        &|m| written.lists_captures_of(m),
    ];
    for fits in readings {
        let candidates: Vec<&Move> = all
            .iter()
            .filter(|m| m.is_capture() || !written.capture)
            .filter(|m| fits(m))
            .collect();
        match candidates[..] {
            [] => {}
            [m] => return Ok(m),
            _ => {
                return Err(MoveError::Ambiguous {
                    text: clip(text.trim()),
                    candidates: formatted(&candidates),
                });
            }
        }
    }
    Err(MoveError::NoSuchMove {
        text: clip(text.trim()),
        legal: formatted(&all.iter().collect::<Vec<_>>()),
    })
}

/// The squares of a route and those passed between them, without the captured ones.
fn path(variant: Variant, route: &[Square], captured: u128) -> Vec<Square> {
    let mut path = vec![route[0]];
    for leg in route.windows(2) {
        let (mut at, end) = (variant.cell(leg[0]), variant.cell(leg[1]));
        while at != end {
            let toward =
                |from: u8, to: u8| from.saturating_add_signed((to as i8 - from as i8).signum());
            at = (toward(at.0, end.0), toward(at.1, end.1));
            // Cells of the other colour lie between the squares of a row or column.
            path.extend(
                variant
                    .square_at(at.0, at.1)
                    .filter(|s| captured & s.bit() == 0),
            );
        }
    }
    path
}

/// The squares of a move as its text names them.
struct Written {
    from: From,
    /// The squares after the first; at least one.
    then: Vec<Square>,
    /// A sign of capture is used.
    capture: bool,
}

enum From {
    Square(Square),
    /// Only the file, counted from 0, and the variant to look squares up in.
    File(u8, Variant),
}

impl From {
    fn is(&self, square: Square) -> bool {
        match *self {
            From::Square(s) => s == square,
            From::File(file, variant) => variant.cell(square).1 == file,
        }
    }
}

impl Written {
    fn read(variant: Variant, text: &str) -> Result<Written, MoveError> {
        const CAPTURE_SIGNS: [char; 5] = ['x', 'X', ':', '*', '×'];
        let text = text.trim();
        let not_a_move = || MoveError::NotAMove { text: clip(text) };
        let bad_square = |reason| MoveError::Square {
            text: clip(text),
            reason,
        };
        let squares = text.trim_end_matches(['!', '?']).trim_end();
        let mut names = Vec::new();
        for part in squares.split(|c| c == '-' || CAPTURE_SIGNS.contains(&c)) {
            let part = part.trim();
            if part.is_empty() {
                return Err(not_a_move());
            }
            names.extend(split_names(part));
        }
        let (first, rest) = names.split_first().ok_or_else(not_a_move)?;
        if rest.is_empty() {
            return Err(not_a_move());
        }
        let from = match file_alone(variant, first) {
            Some(file) => From::File(file, variant),
            None => From::Square(parse_square(variant, first).map_err(bad_square)?),
        };
        let then = rest.iter().map(|name| parse_square(variant, name));
        Ok(Written {
            from,
            then: then.collect::<Result<_, _>>().map_err(bad_square)?,
            capture: squares.contains(CAPTURE_SIGNS),
        })
    }

    fn is_route_of(&self, m: &Move) -> bool {
        let From::Square(from) = self.from else {
            return false;
        };
        m.routes
            .iter()
            .any(|route| route[0] == from && route[1..] == self.then)
    }

    /// The ends agree, and the squares between occur in the route in this order.
    fn abbreviates(&self, route: &[Square]) -> bool {
        let ([first, inner @ .., last], [named @ .., end]) = (route, &self.then[..]) else {
            return false;
        };
        let mut inner = inner.iter();
        self.from.is(*first) && last == end && named.iter().all(|s| inner.any(|i| i == s))
    }

    fn lists_captures_of(&self, m: &Move) -> bool {
        let captured = self.then[1..].iter().fold(0, |set, s| set | s.bit());
        self.from.is(m.from)
            && self.then[0] == m.to
            && self.then.len() - 1 == captured.count_ones() as usize
            && captured == m.captured
    }
}

/// Cuts `c3d4` or `cd4` before each letter; leaves numbers whole.
fn split_names(part: &str) -> Vec<&str> {
    let mut cuts: Vec<usize> = part
        .char_indices()
        .filter(|(i, c)| *i > 0 && c.is_ascii_alphabetic())
        .map(|(i, _)| i)
        .collect();
    cuts.insert(0, 0);
    cuts.push(part.len());
    cuts.windows(2).map(|w| &part[w[0]..w[1]]).collect()
}

/// The file, counted from 0, if the name is nothing but its letter.
fn file_alone(variant: Variant, name: &str) -> Option<u8> {
    let &[letter] = name.as_bytes() else {
        return None;
    };
    if !variant.has_algebraic() || is_number(name) {
        return None;
    }
    let file = letter.to_ascii_lowercase().checked_sub(b'a')?;
    (file < variant.geometry().files()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::fen;
    use Variant::{English, International, Russian};

    fn position(variant: Variant, text: &str) -> Position {
        fen::parse(variant, text).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    fn legal(position: &Position) -> Vec<String> {
        let all = reference::legal_moves(position);
        all.iter().map(|m| format(position, m, &all)).collect()
    }

    #[track_caller]
    fn reads(position: &Position, texts: &[&str], canonical: &str) {
        let all = reference::legal_moves(position);
        for text in texts {
            match find(position, text, &all) {
                Ok(m) => assert_eq!(format(position, m, &all), canonical, "{text}"),
                Err(e) => panic!("{e}"),
            }
        }
    }

    #[track_caller]
    fn fails(position: &Position, text: &str, message: &str) {
        assert_eq!(parse(position, text).expect_err(text).to_string(), message);
    }

    #[test]
    fn short_form_where_it_is_enough() {
        let p = position(International, "W:W28,32:B23");
        assert_eq!(legal(&p), ["28x19"]);
        let p = position(Russian, "W:Wh6:Bg7,c5,d2");
        assert_eq!(legal(&p), ["h6:e1"]);
        reads(
            &p,
            &["h6:f8:b4:e1", "h6xe1", "h6:b4:e1", "H6e1", "he1", "h6-e1!?"],
            "h6:e1",
        );
        // Not stood on, only passed.
        reads(&p, &["h6:f8:d6:e1"], "h6:e1");
    }

    #[test]
    fn whole_route_where_ends_are_not_enough() {
        let p = position(English, "B:W23,22,15,14:B11,10");
        let moves = legal(&p);
        assert!(moves.contains(&"10x19x26".to_owned()), "{moves:?}");
        assert!(moves.contains(&"10x17x26".to_owned()), "{moves:?}");
        assert_eq!(moves.len(), 4);
        fails(
            &p,
            "10x26",
            "`10x26` is ambiguous: it can be 10x17x26, 10x19x26",
        );
        // By the pieces taken.
        reads(&p, &["10x26x15x23", "10x26x23x15"], "10x19x26");
        reads(&p, &["10x26x14x22"], "10x17x26");
    }

    #[test]
    fn many_ways_to_write_a_quiet_move() {
        let p = Position::start(Russian);
        let forms = [
            "c3-d4",
            "c3d4",
            "cd4",
            "C3D4",
            " c3 - d4 ",
            "c3-d4!",
            "cd4?!",
            "22-18",
        ];
        reads(&p, &forms, "c3-d4");
        reads(&p, &["ab4"], "a3-b4");
        let p = Position::start(International);
        reads(&p, &["32-28", "032-28"], "32-28");
    }

    #[test]
    fn file_alone_can_be_ambiguous() {
        let p = position(Russian, "W:Wc3,KC5:Bh8");
        fails(&p, "cd4", "`cd4` is ambiguous: it can be c5-d4, c3-d4");
    }

    #[test]
    fn one_piece_taken_has_priority_over_a_loop() {
        let p = position(Russian, "W:We5:Bb4,b6,d4,d6,f6");
        assert_eq!(legal(&p), ["e5:g7", "e5:c7:a5:c3:e5:g7"]);
        reads(&p, &["e5:g7", "e5g7"], "e5:g7");
        reads(
            &p,
            &["e5:c3:g7", "e5:a5:g7", "e5:c3:a5:c7:e5:g7"],
            "e5:c7:a5:c3:e5:g7",
        );
        let error = parse(&p, "eg7").unwrap_err();
        assert!(
            matches!(error, MoveError::Ambiguous { candidates, .. } if candidates == legal(&p))
        );
    }

    #[test]
    fn errors() {
        let p = position(International, "W:W6:B45");
        fails(&p, "6-2", "`6-2` is not a legal move; legal: 6-1");
        fails(&p, "6x1", "`6x1` is not a legal move; legal: 6-1");
        let blocked = position(International, "W:W46:B41,37");
        fails(
            &blocked,
            "46-41",
            "`46-41` is not a legal move; legal: none",
        );
        fails(
            &p,
            "6-51",
            "in move `6-51`: `51` is off the board of international, whose squares are 1 to 50",
        );
        for text in ["", "-", "6", "6-", "-6", "6--1", "!", "a", "é"] {
            let error = parse(&p, text).expect_err(text);
            assert!(
                matches!(error, MoveError::NotAMove { .. }),
                "{text}: {error}"
            );
        }
        for text in ["6-é", "cd", "a1-b2", "6-1x", "6 1-2"] {
            parse(&p, text).expect_err(text);
        }
    }
}
