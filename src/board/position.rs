use std::fmt;
use std::sync::LazyLock;

use super::{Board8x8, Board10x8, Board10x10, Board12x12, BoardAll8x8};
use super::{ByColor, Color, Geometry, GeometryId, Word};
use crate::rules::Variant;

/// A square of some variant's board: its number in that variant minus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// The square with a number one above `index`.
    ///
    /// # Panics
    /// If no geometry has that many squares.
    #[inline]
    pub const fn new(index: u8) -> Square {
        assert!(index < 72);
        Square(index)
    }

    #[inline]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The number as printed on the board, from 1.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    #[inline]
    pub const fn bit(self) -> u128 {
        1 << self.0
    }

    /// The squares of a set, in order of their numbers.
    pub fn of(set: u128) -> impl Iterator<Item = Square> {
        set.bits().map(|bit| Square(bit.trailing_zeros() as u8))
    }
}

/// What stands on a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Piece {
    Man,
    King,
}

/// A position of a variant: what FEN describes. Bit `n - 1` of a set is square `n` in the
/// variant's own numbering.
///
/// Always a position that can occur on a board: there is a piece (one side may have none), no square
/// is used twice, no man stands on its own promotion row, and there are no kings where the variant
/// has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    variant: Variant,
    men: ByColor<u128>,
    kings: ByColor<u128>,
    side: Color,
}

/// Why a set of pieces is not a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    #[error("square number {number} is off the board of {variant} (1 to {})", variant.squares())]
    OffBoard { variant: Variant, number: u8 },
    #[error("square number {number} is used twice")]
    Occupied { number: u8 },
    #[error("a {} man on its own promotion row (square number {number})", color.to_string().to_lowercase())]
    ManOnPromotionRow { color: Color, number: u8 },
    #[error("a king on square number {number}: {variant} has no kings, a man that arrives wins")]
    NoKings { variant: Variant, number: u8 },
    #[error("a board without any piece")]
    NoPieces,
}

impl Position {
    /// # Errors
    /// The first offence against what the type promises.
    pub fn new(
        variant: Variant,
        men: ByColor<u128>,
        kings: ByColor<u128>,
        side: Color,
    ) -> Result<Position, PositionError> {
        let first = |set: u128| Square::of(set).next().map(Square::number);
        let mut used = 0u128;
        for set in men.0.into_iter().chain(kings.0) {
            if let Some(number) = first(set & used) {
                return Err(PositionError::Occupied { number });
            }
            used |= set;
        }
        if used == 0 {
            return Err(PositionError::NoPieces);
        }
        if let Some(number) = first(used & !((1 << variant.squares()) - 1)) {
            return Err(PositionError::OffBoard { variant, number });
        }
        for color in Color::BOTH {
            if let Some(number) = first(men[color] & variant.promotion_row(color)) {
                return Err(PositionError::ManOnPromotionRow { color, number });
            }
        }
        match first(kings.0[0] | kings.0[1]) {
            Some(number) if !variant.rules().has_kings() => {
                Err(PositionError::NoKings { variant, number })
            }
            _ => Ok(Position {
                variant,
                men,
                kings,
                side,
            }),
        }
    }

    /// The position in which a game of the variant starts.
    pub fn start(variant: Variant) -> Position {
        Position {
            variant,
            men: ByColor(Color::BOTH.map(|c| variant.starting_men(c))),
            kings: ByColor::default(),
            side: variant.first(),
        }
    }

    /// A position reached by a legal move, which may end the game in ways [`Position::new`] rejects.
    pub(crate) fn after_move(
        variant: Variant,
        men: ByColor<u128>,
        kings: ByColor<u128>,
        side: Color,
    ) -> Position {
        Position {
            variant,
            men,
            kings,
            side,
        }
    }

    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The side to move.
    pub fn side(&self) -> Color {
        self.side
    }

    pub fn men(&self, color: Color) -> u128 {
        self.men[color]
    }

    pub fn kings(&self, color: Color) -> u128 {
        self.kings[color]
    }

    pub fn pieces(&self, color: Color) -> u128 {
        self.men[color] | self.kings[color]
    }

    pub fn occupied(&self) -> u128 {
        self.pieces(Color::White) | self.pieces(Color::Black)
    }

    pub fn piece_at(&self, square: Square) -> Option<(Color, Piece)> {
        Color::BOTH.into_iter().find_map(|color| {
            if self.men[color] & square.bit() != 0 {
                Some((color, Piece::Man))
            } else if self.kings[color] & square.bit() != 0 {
                Some((color, Piece::King))
            } else {
                None
            }
        })
    }

    /// The same pieces with the given side to move.
    pub fn with_side(self, side: Color) -> Position {
        Position { side, ..self }
    }

    /// The same position seen from the other side: board turned, colours and move exchanged.
    pub fn flipped(self) -> Position {
        let unused = 128 - u32::from(self.variant.squares());
        let turn = |set: u128| set.reverse_bits() >> unused;
        Position {
            men: self.men.map(turn).swapped(),
            kings: self.kings.map(turn).swapped(),
            side: !self.side,
            ..self
        }
    }

    /// The same placement in the bit layout of the geometry, for the fast code.
    ///
    /// # Panics
    /// If `G` is not the variant's geometry.
    pub fn to_board<G: Geometry>(&self) -> Board<G> {
        assert_eq!(G::ID, self.variant.geometry());
        let layout = Layout::of(self.variant);
        let convert = |set: u128| {
            Square::of(set).fold(G::Word::ZERO, |word, square| {
                let bit = layout.bits[usize::from(square.index())];
                word | G::Word::ONE << u32::from(bit)
            })
        };
        Board {
            men: self.men.map(convert),
            kings: self.kings.map(convert),
            side: self.side,
        }
    }

    /// The inverse of [`Position::to_board`]. Unlike [`Position::new`] it also accepts what a
    /// finished game of a variant without kings looks like (a crowned man).
    pub fn from_board<G: Geometry>(variant: Variant, board: &Board<G>) -> Position {
        Position {
            variant,
            men: board.men.map(|set| variant.squares_of::<G>(set)),
            kings: board.kings.map(|set| variant.squares_of::<G>(set)),
            side: board.side,
        }
    }
}

impl Variant {
    /// A set of squares in the bit layout of the geometry, renumbered as the variant does.
    ///
    /// # Panics
    /// If `G` is not the variant's geometry.
    pub fn squares_of<G: Geometry>(self, set: G::Word) -> u128 {
        assert_eq!(G::ID, self.geometry());
        let layout = Layout::of(self);
        let bits = (set & G::BOARD)
            .bits()
            .map(|bit| bit.trailing_zeros() as usize);
        bits.fold(0, |squares, bit| squares | 1 << layout.squares[bit])
    }
}

/// Where a variant's squares are in the bits of its geometry.
struct Layout {
    /// By square.
    bits: [u8; 72],
    /// By bit.
    squares: [u8; 128],
}

impl Layout {
    fn of(variant: Variant) -> &'static Layout {
        static LAYOUTS: LazyLock<Vec<Layout>> =
            LazyLock::new(|| Variant::ALL.iter().map(|&v| Layout::new(v)).collect());
        &LAYOUTS[variant as usize]
    }

    fn new(variant: Variant) -> Layout {
        let all_bits = match variant.geometry() {
            GeometryId::Board8x8 => Board8x8::BIT,
            GeometryId::Board10x10 => Board10x10::BIT,
            GeometryId::Board12x12 => Board12x12::BIT,
            GeometryId::Board10x8 => Board10x8::BIT,
            GeometryId::BoardAll8x8 => BoardAll8x8::BIT,
        };
        let mut layout = Layout {
            bits: [0; 72],
            squares: [0; 128],
        };
        for square in 0..variant.squares() {
            let bit = all_bits[usize::from(variant.rule_set_index(Square::new(square)))];
            layout.bits[usize::from(square)] = bit;
            layout.squares[usize::from(bit)] = square;
        }
        layout
    }
}

/// A position in the bit layout of a geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board<G: Geometry> {
    pub men: ByColor<G::Word>,
    pub kings: ByColor<G::Word>,
    pub side: Color,
}

impl<G: Geometry> Board<G> {
    #[inline(always)]
    pub fn pieces(&self, color: Color) -> G::Word {
        self.men[color] | self.kings[color]
    }

    #[inline(always)]
    pub fn occupied(&self) -> G::Word {
        self.pieces(Color::White) | self.pieces(Color::Black)
    }

    /// The same position seen from the other side: board turned, colours and move exchanged.
    #[inline(always)]
    pub fn flipped(&self) -> Board<G> {
        Board {
            men: self.men.map(G::turn).swapped(),
            kings: self.kings.map(G::turn).swapped(),
            side: !self.side,
        }
    }
}

impl<G: Geometry> fmt::Display for Board<G> {
    /// A diagram, White at the bottom, for failing tests.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = G::ID;
        for rank in (0..id.ranks()).rev() {
            for file in 0..id.files() {
                let cell = (0..id.squares()).find(|&i| id.cell(i) == (rank, file));
                let sign = cell.map_or(' ', |i| {
                    let bit = G::Word::ONE << u32::from(G::BIT[i as usize]);
                    match bit {
                        b if (self.men[Color::White] & b).any() => 'w',
                        b if (self.kings[Color::White] & b).any() => 'W',
                        b if (self.men[Color::Black] & b).any() => 'b',
                        b if (self.kings[Color::Black] & b).any() => 'B',
                        _ => '.',
                    }
                });
                write!(f, "{sign}")?;
            }
            writeln!(f)?;
        }
        write!(f, "{} to move", self.side)
    }
}
