//! The `GameType` tag: `type,first,files,ranks,notation,corner`.
//!
//! `first` is the side that starts, W or B. The notation is A or S (algebraic) or N (numeric) and
//! the corner of the first square as the side that starts sees it: 0 bottom left, 1 bottom right,
//! 2 top left, 3 top right. The last field is 0 if the bottom left corner is a playing square.

use super::PdnProblem;
use crate::board::{Color, Square};
use crate::rules::{Notation, Variant};

/// The long form for a variant that has a number.
pub(super) fn format(variant: Variant) -> Option<String> {
    let number = variant.game_type()?;
    Some(format!("{number},{}", fields(variant).join(",")))
}

/// A variant as a game type presents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GameType {
    pub variant: Variant,
    /// The other side starts than does here. Squares are numbered as the side that starts sees
    /// them, so this is the game with colours exchanged and the board turned.
    pub flipped: bool,
}

/// Reads the short or the long form.
pub(super) fn parse(value: &str) -> Result<GameType, PdnProblem> {
    let mut given = value.split(',').map(str::trim);
    let number = given.next().and_then(|n| n.parse::<u8>().ok());
    let variant = number
        .and_then(|n| Variant::ALL.iter().find(|v| v.game_type() == Some(n)))
        .copied()
        .ok_or(PdnProblem::UnknownGameType)?;
    let given: Vec<&str> = given.collect();
    let expected = fields(variant);
    let algebraic = |field: &str| matches!(field, "A0" | "S0") && variant.has_algebraic();
    let agrees = |i: usize, field: &str| match i {
        NOTATION => field == numeric(variant) || algebraic(field),
        _ => field == expected[i],
    };
    match given.len() {
        0 => Ok(GameType {
            variant,
            flipped: false,
        }),
        4 | 5 => {
            let mut others = (0..given.len()).filter(|&i| !agrees(i, given[i]));
            match (others.next(), others.next()) {
                (None, _) => Ok(GameType {
                    variant,
                    flipped: false,
                }),
                // The PDN standard has Black start, see docs/RULES.md.
                (Some(FIRST), None) if variant == Variant::Thai && given[FIRST] == "B" => {
                    Ok(GameType {
                        variant,
                        flipped: true,
                    })
                }
                _ => Err(PdnProblem::OtherGameType {
                    variant,
                    expected: format(variant).unwrap_or_default(),
                }),
            }
        }
        _ => Err(PdnProblem::UnknownGameType),
    }
}

/// The place of the side that starts among the fields after the number.
const FIRST: usize = 0;
/// The place of the notation among the fields after the number.
const NOTATION: usize = 3;

fn fields(variant: Variant) -> [String; 5] {
    let geometry = variant.geometry();
    let notation = match variant.notation() {
        Notation::Numeric => numeric(variant),
        Notation::Algebraic => "A0".to_owned(),
    };
    let corner_is_played = variant.square_at(0, 0).is_some();
    [
        variant.first().letter().to_string(),
        geometry.files().to_string(),
        geometry.ranks().to_string(),
        notation,
        u8::from(!corner_is_played).to_string(),
    ]
}

fn numeric(variant: Variant) -> String {
    let from_top = variant.cell(Square::new(0)).0 > 0;
    // Top left for one side is bottom right for the other.
    let corner = if from_top == (variant.first() == Color::White) {
        2
    } else {
        1
    };
    format!("N{corner}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_forms_of_the_standard() {
        for text in [
            "20,W,10,10,N2,0",
            "21,B,8,8,N1,0",
            "22,W,8,8,N2,1",
            "23,B,8,8,N1,0",
            "24,W,8,8,N1,1",
            "25,W,8,8,A0,0",
            "26,W,8,8,A0,0",
            "27,W,12,12,N2,0",
            "28,W,8,8,N1,1",
            "29,W,8,8,A0,0",
            "30,W,8,8,A0,0",
            "40,W,10,10,N2,0",
            "41,W,10,8,A0,0",
        ] {
            let read = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!(!read.flipped);
            assert_eq!(format(read.variant).as_deref(), Some(text));
        }
    }

    #[test]
    fn reading() {
        let read = |variant, flipped| Ok(GameType { variant, flipped });
        for text in ["25", " 25, W, 8, 8, N2 ", "25,W,8,8,S0,0"] {
            assert_eq!(parse(text), read(Variant::Russian, false), "{text}");
        }
        assert_eq!(parse("31,W,8,8,N2,0"), read(Variant::Thai, false));
        assert_eq!(parse("31,B,8,8,N2,0"), read(Variant::Thai, true));
        for bad in [
            "",
            "50",
            "x",
            "20,",
            "20,W",
            "20,W,10,10,N2,0,0",
            "-20",
            "999999999999",
        ] {
            assert_eq!(parse(bad), Err(PdnProblem::UnknownGameType), "{bad}");
        }
        for other in [
            "20,B,10,10,N2,0",
            "31,B,8,8,N1,0",
            "20,W,10,10,N1,0",
            "20,W,10,10,A0,0",
            "24,W,8,8,N2,1",
        ] {
            let error = parse(other).expect_err(other);
            assert!(matches!(error, PdnProblem::OtherGameType { .. }), "{other}");
        }
    }
}
