use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::{RuleSet, RuleSetId};
use crate::board::{Color, GeometryId, Square};

/// What is computed of a variant's squares once, as every position read or written asks for it.
struct Squares {
    cells: Vec<(u8, u8)>,
    rule_set_index: Vec<u8>,
}

/// In the order of [`Variant::ALL`].
static SQUARES: LazyLock<Vec<Squares>> =
    LazyLock::new(|| Variant::ALL.iter().map(|&v| Squares::of(v)).collect());

/// How a variant writes its squares when nothing else is asked for. Both forms are read for the
/// variants that have an algebraic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// Numbers from 1.
    Numeric,
    /// File letter and rank number, `a1` at White's left.
    Algebraic,
}

/// Where square number 1 lies and how numbering runs, as White sees the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbering {
    /// Row by row from the top, each from the left.
    FromTopLeft,
    /// Row by row from the bottom, each from the right (Spanish, Portuguese).
    FromBottomRight,
}

struct Presentation {
    name: &'static str,
    title: &'static str,
    aliases: &'static [&'static str],
    rule_set: RuleSetId,
    /// The bottom right corner is a playing square instead of the bottom left one.
    mirrored: bool,
    numbering: Numbering,
    notation: Notation,
    /// Between the squares of a capture, as the variant's own standard writes it.
    capture_sign: char,
    first: Color,
    /// Rows of men of each side at the start, counted from its own edge.
    men_rows: std::ops::Range<u8>,
    /// Number in the PDN `GameType` tag.
    game_type: Option<u8>,
}

macro_rules! variants {
    ($($variant:ident: $name:literal, $title:literal, $aliases:expr, $rules:ident, $mirrored:literal,
       $numbering:ident, $notation:ident, $sign:literal, $first:ident, $rows:expr, $game_type:expr;)*) => {
        /// A draughts variant as people know it: a rule set and a presentation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Variant { $($variant),* }

        impl Variant {
            pub const ALL: &'static [Variant] = &[$(Variant::$variant),*];

            fn presentation(self) -> &'static Presentation {
                match self {
                    $(Variant::$variant => {
                        const P: Presentation = Presentation {
                            name: $name,
                            title: $title,
                            aliases: &$aliases,
                            rule_set: RuleSetId::$rules,
                            mirrored: $mirrored,
                            numbering: Numbering::$numbering,
                            notation: Notation::$notation,
                            capture_sign: $sign,
                            first: Color::$first,
                            men_rows: $rows,
                            game_type: $game_type,
                        };
                        &P
                    })*
                }
            }
        }
    };
}

// Numbering, notation and starting side: PDN 3.0 GameType table, with DESIGN choices recorded in
// docs/RULES.md where sources disagree (Thai: White starts).
variants! {
    English: "english", "English draughts (American straight checkers)",
        ["checkers", "american", "straight", "english-draughts", "draughts"],
        English, false, FromTopLeft, Numeric, 'x', Black, 0..3, Some(21);
    Russian: "russian", "Russian draughts", ["shashki", "rus"],
        Russian, false, FromTopLeft, Algebraic, ':', White, 0..3, Some(25);
    Brazilian: "brazilian", "Brazilian draughts", ["brasilian", "damas-brasil"],
        Brazilian, false, FromTopLeft, Algebraic, 'x', White, 0..3, Some(26);
    International: "international", "International draughts",
        ["10x10", "polish", "intl", "fmjd"],
        International, false, FromTopLeft, Numeric, 'x', White, 0..4, Some(20);
    Canadian: "canadian", "Canadian draughts", ["12x12"],
        Canadian, false, FromTopLeft, Numeric, 'x', White, 0..5, Some(27);
    Italian: "italian", "Italian draughts", ["dama", "dama-italiana"],
        Italian, true, FromTopLeft, Numeric, 'x', White, 0..3, Some(22);
    Spanish: "spanish", "Spanish draughts", ["damas", "damas-espanolas"],
        Spanish, true, FromBottomRight, Numeric, 'x', White, 0..3, Some(24);
    Portuguese: "portuguese", "Portuguese draughts (damas classicas)", ["damas-classicas"],
        Spanish, true, FromBottomRight, Numeric, 'x', White, 0..3, Some(28);
    Czech: "czech", "Czech draughts", [],
        Czech, false, FromTopLeft, Algebraic, 'x', White, 0..3, Some(29);
    Pool: "pool", "American pool checkers", ["american-pool", "pool-checkers"],
        Pool, false, FromTopLeft, Numeric, 'x', Black, 0..3, Some(23);
    Jamaican: "jamaican", "Jamaican draughts", [],
        Pool, true, FromTopLeft, Algebraic, 'x', Black, 0..3, None;
    Thai: "thai", "Thai draughts (makhos)", ["makhos", "mak-hot"],
        Thai, false, FromTopLeft, Numeric, 'x', White, 0..2, Some(31);
    Turkish: "turkish", "Turkish draughts", ["turkish-dama", "turk-damasi"],
        Turkish, false, FromTopLeft, Algebraic, 'x', White, 1..3, Some(30);
    Frisian: "frisian", "Frisian draughts", ["frysk-dammen"],
        Frisian, false, FromTopLeft, Numeric, 'x', White, 0..4, Some(40);
    Frysk: "frysk", "Frysk! (Frisian with five men)", ["frysk!"],
        Frisian, false, FromTopLeft, Numeric, 'x', White, 0..1, Some(97);
    Killer: "killer", "Killer draughts", [],
        Killer, false, FromTopLeft, Numeric, 'x', White, 0..4, None;
    Breakthrough: "breakthrough", "Breakthrough draughts", ["bt"],
        Breakthrough, false, FromTopLeft, Numeric, 'x', White, 0..4, Some(96);
    Antidraughts: "antidraughts", "Antidraughts (losing international)",
        ["losing", "suicide", "anti", "international-losing"],
        Antidraughts, false, FromTopLeft, Numeric, 'x', White, 0..4, Some(98);
    Poddavki: "poddavki", "Poddavki (Russian giveaway)", ["russian-giveaway", "russian-losing"],
        Poddavki, false, FromTopLeft, Algebraic, ':', White, 0..3, None;
    EnglishLosing: "english-losing", "English losing draughts",
        ["english-giveaway", "suicide-checkers", "anti-checkers"],
        EnglishLosing, false, FromTopLeft, Numeric, 'x', Black, 0..3, None;
    SriLankan: "srilankan", "Sri Lankan draughts", ["sri-lankan"],
        Canadian, true, FromTopLeft, Numeric, 'x', White, 0..5, None;
    Spantsireti: "spantsireti", "Spantsireti", ["10x8"],
        Spantsireti, false, FromTopLeft, Algebraic, ':', White, 0..3, Some(41);
}

impl Variant {
    /// The canonical name, as used on the command line and in file names.
    pub fn name(self) -> &'static str {
        self.presentation().name
    }

    /// A name for people.
    pub fn title(self) -> &'static str {
        self.presentation().title
    }

    pub fn aliases(self) -> &'static [&'static str] {
        self.presentation().aliases
    }

    pub fn rule_set(self) -> RuleSetId {
        self.presentation().rule_set
    }

    pub fn rules(self) -> &'static RuleSet {
        self.rule_set().rules()
    }

    pub fn geometry(self) -> GeometryId {
        self.rules().geometry
    }

    /// The side that makes the first move of a game.
    pub fn first(self) -> Color {
        self.presentation().first
    }

    pub fn notation(self) -> Notation {
        self.presentation().notation
    }

    /// Whether algebraic squares are read for this variant.
    pub fn has_algebraic(self) -> bool {
        self.notation() == Notation::Algebraic
    }

    pub fn capture_sign(self) -> char {
        self.presentation().capture_sign
    }

    /// The number in the PDN `GameType` tag, where one is in use.
    pub fn game_type(self) -> Option<u8> {
        self.presentation().game_type
    }

    /// Squares on the board.
    pub fn squares(self) -> u8 {
        self.geometry().squares()
    }

    /// (rank, file) of a square as White sees this variant's board, both from 0 at the bottom left.
    #[inline]
    pub fn cell(self, square: Square) -> (u8, u8) {
        SQUARES[self as usize].cells[usize::from(square.index())]
    }

    /// The square of a cell; none if that cell is not a playing square.
    pub fn square_at(self, rank: u8, file: u8) -> Option<Square> {
        (0..self.squares())
            .map(Square::new)
            .find(|&s| self.cell(s) == (rank, file))
    }

    /// The place of a square in the order of [`GeometryId::cell`]: the number under which the
    /// rule set knows it, whatever the presentation.
    #[inline]
    pub fn rule_set_index(self, square: Square) -> u8 {
        SQUARES[self as usize].rule_set_index[usize::from(square.index())]
    }

    /// The promotion row of a side, as a set of squares.
    #[inline]
    pub fn promotion_row(self, color: Color) -> u128 {
        let geometry = self.geometry();
        // Numbers run row by row: the top row has the first ones or the last.
        let first = (1 << geometry.per_rank()) - 1;
        let top_is_first = self.presentation().numbering == Numbering::FromTopLeft;
        match top_is_first == (color == Color::White) {
            true => first,
            false => first << (geometry.squares() - geometry.per_rank()),
        }
    }

    /// Squares of the men of a side in the starting position.
    pub fn starting_men(self, color: Color) -> u128 {
        let rows = self.presentation().men_rows.clone();
        let ranks = self.geometry().ranks();
        self.squares_where(|s| {
            let rank = self.cell(s).0;
            rows.contains(&if color == Color::White {
                rank
            } else {
                ranks - 1 - rank
            })
        })
    }

    fn squares_where(self, is_in: impl Fn(Square) -> bool) -> u128 {
        let squares = (0..self.squares()).map(Square::new);
        squares
            .filter(|&s| is_in(s))
            .fold(0, |set, s| set | s.bit())
    }
}

impl Squares {
    fn of(variant: Variant) -> Squares {
        let squares = || (0..variant.squares()).map(Square::new);
        let cells: Vec<(u8, u8)> = squares().map(|s| Squares::cell(variant, s)).collect();
        Squares {
            rule_set_index: cells
                .iter()
                .map(|&cell| Squares::index(variant, cell))
                .collect(),
            cells,
        }
    }

    fn cell(variant: Variant, square: Square) -> (u8, u8) {
        let p = variant.presentation();
        let geometry = variant.geometry();
        let (ranks, files) = (geometry.ranks(), geometry.files());
        let (row, column) = (
            square.index() / geometry.per_rank(),
            square.index() % geometry.per_rank(),
        );
        let (rank, from_left) = match p.numbering {
            Numbering::FromTopLeft => (ranks - 1 - row, column),
            Numbering::FromBottomRight => (row, geometry.per_rank() - 1 - column),
        };
        if geometry.all_cells() {
            return (rank, from_left);
        }
        // On an unmirrored board rank and file have the same parity.
        let parity = if p.mirrored {
            (rank + files - 1) % 2
        } else {
            rank % 2
        };
        (rank, 2 * from_left + parity)
    }

    fn index(variant: Variant, (rank, file): (u8, u8)) -> u8 {
        let geometry = variant.geometry();
        let file = if variant.presentation().mirrored {
            geometry.files() - 1 - file
        } else {
            file
        };
        let column = if geometry.all_cells() { file } else { file / 2 };
        rank * geometry.per_rank() + column
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no variant's name or alias.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown variant `{name}`; did you mean {}?", nearest.join(", "))]
pub struct UnknownVariant {
    pub name: String,
    /// The canonical names most like it, best first.
    pub nearest: Vec<&'static str>,
}

impl FromStr for Variant {
    type Err = UnknownVariant;

    /// Reads a name or alias; capitals, blanks and underscores do not matter.
    fn from_str(text: &str) -> Result<Variant, UnknownVariant> {
        let wanted = text.trim().to_lowercase().replace([' ', '_'], "-");
        let names = |v: Variant| std::iter::once(v.name()).chain(v.aliases().iter().copied());
        if let Some(&variant) = Variant::ALL
            .iter()
            .find(|v| names(**v).any(|n| n == wanted))
        {
            return Ok(variant);
        }
        let mut scored: Vec<(usize, &'static str)> = Variant::ALL
            .iter()
            .map(|&v| {
                (
                    names(v)
                        .map(|n| edit_distance(&wanted, n))
                        .min()
                        .unwrap_or(0),
                    v.name(),
                )
            })
            .collect();
        scored.sort();
        let nearest = scored.into_iter().take(3).map(|(_, name)| name).collect();
        Err(UnknownVariant {
            name: text.to_owned(),
            nearest,
        })
    }
}

/// Levenshtein distance between two short texts.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_at(variant: Variant, name: &str) -> u8 {
        let bytes = name.as_bytes();
        variant
            .square_at(bytes[1] - b'1', bytes[0] - b'a')
            .expect("a playing square")
            .number()
    }

    #[test]
    fn numbering_follows_the_design() {
        assert_eq!(number_at(Variant::English, "b8"), 1);
        assert_eq!(number_at(Variant::English, "g1"), 32);
        assert_eq!(number_at(Variant::Italian, "a8"), 1);
        assert_eq!(number_at(Variant::Italian, "h1"), 32);
        assert_eq!(number_at(Variant::Spanish, "h1"), 1);
        assert_eq!(number_at(Variant::Spanish, "a8"), 32);
        assert_eq!(number_at(Variant::Turkish, "a8"), 1);
        assert_eq!(number_at(Variant::Turkish, "h1"), 64);
        assert_eq!(
            Variant::International.square_at(9, 1).map(Square::number),
            Some(1)
        );
        assert_eq!(
            Variant::International.square_at(0, 8).map(Square::number),
            Some(50)
        );
        assert_eq!(
            Variant::Canadian.square_at(11, 1).map(Square::number),
            Some(1)
        );
    }

    #[test]
    fn every_square_has_its_own_place() {
        for &variant in Variant::ALL {
            let seen = (0..variant.squares())
                .map(|i| variant.rule_set_index(Square::new(i)))
                .fold(0u128, |seen, i| seen | 1 << i);
            assert_eq!(seen.count_ones(), u32::from(variant.squares()), "{variant}");
        }
    }

    #[test]
    fn men_are_crowned_on_the_far_row() {
        for &variant in Variant::ALL {
            let last = variant.geometry().ranks() - 1;
            for (color, rank) in [(Color::White, last), (Color::Black, 0)] {
                let row = variant.squares_where(|s| variant.cell(s).0 == rank);
                assert_eq!(variant.promotion_row(color), row, "{variant}");
            }
        }
    }

    #[test]
    fn names_are_read_kindly() {
        assert_eq!("Checkers".parse(), Ok(Variant::English));
        assert_eq!("sri lankan".parse(), Ok(Variant::SriLankan));
        let error = "rusian".parse::<Variant>().unwrap_err();
        assert_eq!(error.nearest[0], "russian");
    }
}
