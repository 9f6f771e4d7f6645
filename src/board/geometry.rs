use std::fmt;

use super::Word;

/// Names a geometry where a type parameter is not at hand (files, error texts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum GeometryId {
    /// 8x8, the 32 dark squares.
    Board8x8 = 0,
    /// 10x10, the 50 dark squares.
    Board10x10 = 1,
    /// 12x12, the 72 dark squares.
    Board12x12 = 2,
    /// 10 files by 8 ranks, the 40 dark squares.
    Board10x8 = 3,
    /// 8x8, all 64 squares.
    BoardAll8x8 = 4,
}

impl GeometryId {
    pub const fn files(self) -> u8 {
        match self {
            GeometryId::Board8x8 | GeometryId::BoardAll8x8 => 8,
            GeometryId::Board10x10 | GeometryId::Board10x8 => 10,
            GeometryId::Board12x12 => 12,
        }
    }

    pub const fn ranks(self) -> u8 {
        match self {
            GeometryId::Board8x8 | GeometryId::BoardAll8x8 | GeometryId::Board10x8 => 8,
            GeometryId::Board10x10 => 10,
            GeometryId::Board12x12 => 12,
        }
    }

    /// Whether every cell is a playing square, or only those of one colour.
    pub const fn all_cells(self) -> bool {
        matches!(self, GeometryId::BoardAll8x8)
    }

    /// Playing squares in one rank.
    pub const fn per_rank(self) -> u8 {
        if self.all_cells() {
            self.files()
        } else {
            self.files() / 2
        }
    }

    pub const fn squares(self) -> u8 {
        self.per_rank() * self.ranks()
    }

    /// The `i`-th playing square counted rank by rank from White's bottom left corner,
    /// as (rank, file), on the board whose bottom left corner is a playing square.
    pub const fn cell(self, i: u8) -> (u8, u8) {
        let (rank, column) = (i / self.per_rank(), i % self.per_rank());
        if self.all_cells() {
            (rank, column)
        } else {
            (rank, 2 * column + rank % 2)
        }
    }
}

impl fmt::Display for GeometryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}x{}, {} squares",
            self.files(),
            self.ranks(),
            self.squares()
        )
    }
}

/// A compass direction as White sees the board, clockwise from north, so that the opposite is
/// `d ^ 4`. On a board of one colour the even directions (rows and columns) reach the next
/// playing square, two cells away.
pub type Dir = usize;

/// A set of directions, bit `d` for direction `d`, seen from White.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dirs(pub u8);

impl Dirs {
    pub const N: Dir = 0;
    pub const NE: Dir = 1;
    pub const E: Dir = 2;
    pub const SE: Dir = 3;
    pub const S: Dir = 4;
    pub const SW: Dir = 5;
    pub const W: Dir = 6;
    pub const NW: Dir = 7;

    pub const NONE: Dirs = Dirs(0);
    pub const DIAGONAL_FORWARD: Dirs = Dirs(1 << Dirs::NE | 1 << Dirs::NW);
    pub const DIAGONAL: Dirs = Dirs(0b1010_1010);
    pub const ORTHOGONAL: Dirs = Dirs(0b0101_0101);
    pub const FORWARD_AND_SIDEWAYS: Dirs = Dirs(1 << Dirs::N | 1 << Dirs::E | 1 << Dirs::W);
    pub const ALL: Dirs = Dirs(0xff);

    #[inline(always)]
    pub const fn contains(self, d: Dir) -> bool {
        self.0 >> d & 1 != 0
    }

    /// The set turned by 180 degrees: the same directions for Black.
    #[inline(always)]
    pub const fn reversed(self) -> Dirs {
        Dirs(self.0.rotate_left(4))
    }

    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = Dir> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = rest.trailing_zeros() as Dir;
            let any = rest != 0;
            rest &= rest.wrapping_sub(1);
            any.then_some(first)
        })
    }
}

/// Runs a block for each direction of a constant set with the direction a constant, so that every
/// step in it is a rotation by a constant.
macro_rules! each_direction {
    ($dirs:expr, $d:ident => $body:block) => {
        $crate::board::each_direction!(@ 0 1 2 3 4 5 6 7, $dirs, $d, $body)
    };
    (@ $($n:literal)*, $dirs:expr, $d:ident, $body:block) => {
        $({
            let $d: $crate::board::Dir = $n;
            if $dirs.contains($d) $body
        })*
    };
}
pub(crate) use each_direction;

/// Change of (rank, file) in cells for one step in each direction on a board of one colour.
const DARK_STEPS: [(i32, i32); 8] = [
    (2, 0),
    (1, 1),
    (0, 2),
    (-1, 1),
    (-2, 0),
    (-1, -1),
    (0, -2),
    (1, -1),
];
/// The same on a board that uses every cell.
const ALL_STEPS: [(i32, i32); 8] = [
    (1, 0),
    (1, 1),
    (0, 1),
    (-1, 1),
    (-1, 0),
    (-1, -1),
    (0, -1),
    (1, -1),
];

/// A board shape with its bit layout: the bit of a cell is linear in rank and file, modulo the
/// word size, so every step is a rotation.
pub trait Geometry:
    Copy + Clone + fmt::Debug + Default + PartialEq + Eq + Send + Sync + 'static
{
    type Word: Word;
    const ID: GeometryId;
    /// Number of playing squares.
    const SQUARES: usize;
    const RANKS: usize;
    /// All playing squares.
    const BOARD: Self::Word;
    /// The playing squares of each rank, White's first rank first; unused entries are zero.
    const RANK: [Self::Word; 12];
    /// Rotation that performs one step in each direction.
    const OFFSET: [u32; 8];
    /// Squares on which a step in each direction can end.
    const TARGET: [Self::Word; 8];
    /// Bit number of the `i`-th square in the order of [`GeometryId::cell`].
    const BIT: [u8; 72];
    /// Rotation that completes `reverse_bits` to a turn of the board by 180 degrees.
    const TURN: u32;

    /// Where White's men are crowned.
    const TOP: Self::Word = Self::RANK[Self::RANKS - 1];
    /// Where Black's men are crowned.
    const BOTTOM: Self::Word = Self::RANK[0];

    /// All pieces of `set` moved one step; those that would leave the board disappear.
    #[inline(always)]
    fn step(set: Self::Word, d: Dir) -> Self::Word {
        set.rotate_left(Self::OFFSET[d]) & Self::TARGET[d]
    }

    /// All squares reached from `set` in direction `d` over squares of `empty` (not including
    /// `set` itself, nor the blocker at the end).
    #[inline(always)]
    fn slide(set: Self::Word, d: Dir, empty: Self::Word) -> Self::Word {
        let one = Self::OFFSET[d];
        let mut through = empty & Self::TARGET[d];
        let mut reached = through & set.rotate_left(one);
        reached |= through & reached.rotate_left(one);
        through &= through.rotate_left(one);
        let two = one * 2 % Self::Word::BITS;
        reached |= through & reached.rotate_left(two);
        through &= through.rotate_left(two);
        let four = one * 4 % Self::Word::BITS;
        reached |= through & reached.rotate_left(four);
        if Self::RANKS > 8 {
            through &= through.rotate_left(four);
            reached |= through & reached.rotate_left(one * 8 % Self::Word::BITS);
        }
        reached
    }

    /// The board turned by 180 degrees.
    #[inline(always)]
    fn turn(set: Self::Word) -> Self::Word {
        set.reverse_bits().rotate_left(Self::TURN)
    }
}

macro_rules! geometry {
    ($(#[$doc:meta])* $name:ident, $word:ty, |$rank:ident, $file:ident| $layout:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl $name {
            const fn bit($rank: i32, $file: i32) -> u32 {
                ($layout).rem_euclid(<$word>::BITS as i32) as u32
            }

            const fn steps() -> [(i32, i32); 8] {
                if GeometryId::$name.all_cells() { ALL_STEPS } else { DARK_STEPS }
            }

            const fn targets() -> [$word; 8] {
                let mut targets = [0; 8];
                let id = GeometryId::$name;
                let mut i = 0;
                while i < id.squares() {
                    let (rank, file) = id.cell(i);
                    let mut d = 0;
                    while d < 8 {
                        let (dr, df) = Self::steps()[d];
                        let (r, f) = (rank as i32 - dr, file as i32 - df);
                        if r >= 0 && f >= 0 && r < id.ranks() as i32 && f < id.files() as i32 {
                            targets[d] |= 1 << Self::bit(rank as i32, file as i32);
                        }
                        d += 1;
                    }
                    i += 1;
                }
                targets
            }

            const fn ranks() -> [$word; 12] {
                let mut ranks = [0; 12];
                let id = GeometryId::$name;
                let mut i = 0;
                while i < id.squares() {
                    let (rank, file) = id.cell(i);
                    ranks[rank as usize] |= 1 << Self::bit(rank as i32, file as i32);
                    i += 1;
                }
                ranks
            }
        }

        impl Geometry for $name {
            type Word = $word;
            const ID: GeometryId = GeometryId::$name;
            const SQUARES: usize = GeometryId::$name.squares() as usize;
            const RANKS: usize = GeometryId::$name.ranks() as usize;
            const RANK: [$word; 12] = Self::ranks();
            const BOARD: $word = {
                let mut board = 0;
                let mut rank = 0;
                while rank < 12 {
                    board |= Self::RANK[rank];
                    rank += 1;
                }
                board
            };
            const OFFSET: [u32; 8] = {
                let mut offset = [0; 8];
                let mut d = 0;
                while d < 8 {
                    // Differences of the layout function between cells far from the edge.
                    let (dr, df) = Self::steps()[d];
                    let here = Self::bit(4, 4) as i32;
                    let there = Self::bit(4 + dr, 4 + df) as i32;
                    offset[d] = (there - here).rem_euclid(<$word>::BITS as i32) as u32;
                    d += 1;
                }
                offset
            };
            const TARGET: [$word; 8] = Self::targets();
            const BIT: [u8; 72] = {
                let mut bits = [0; 72];
                let mut i = 0;
                while i < GeometryId::$name.squares() {
                    let (rank, file) = GeometryId::$name.cell(i);
                    bits[i as usize] = Self::bit(rank as i32, file as i32) as u8;
                    i += 1;
                }
                bits
            };
            const TURN: u32 = {
                let last = GeometryId::$name.cell(GeometryId::$name.squares() - 1);
                (Self::bit(last.0 as i32, last.1 as i32) + 1) % <$word>::BITS
            };
        }
    };
}

geometry!(
    /// 8x8, 32 squares without a gap in a `u32`: north-east is a rotation by 1, north-west by 7.
    Board8x8, u32, |rank, file| 4 * rank - 3 * file);
geometry!(
    /// 10x10, 50 squares in a `u64`, one spare bit for every two ranks.
    Board10x10, u64, |rank, file| (11 * rank + file) / 2);
geometry!(
    /// 12x12, 72 squares in a `u128`.
    Board12x12, u128, |rank, file| (13 * rank + file) / 2);
geometry!(
    /// 10 files by 8 ranks, 40 squares in a `u64`.
    Board10x8, u64, |rank, file| (11 * rank + file) / 2);
geometry!(
    /// 8x8 with all 64 squares in use.
    BoardAll8x8, u64, |rank, file| 8 * rank + file);

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_match_coordinates<G: Geometry>() {
        let id = G::ID;
        let steps = if id.all_cells() {
            ALL_STEPS
        } else {
            DARK_STEPS
        };
        let bit_at = |rank: i32, file: i32| {
            (0..id.squares())
                .find(|&i| id.cell(i) == (rank as u8, file as u8))
                .map(|i| G::Word::ONE << u32::from(G::BIT[i as usize]))
        };
        assert_eq!(
            G::BOARD.count_ones() as usize,
            G::SQUARES,
            "squares share no bit"
        );
        for i in 0..id.squares() {
            let (rank, file) = id.cell(i);
            let bit = G::Word::ONE << u32::from(G::BIT[i as usize]);
            assert!((G::RANK[rank as usize] & bit).any());
            let turned = bit_at(
                i32::from(id.ranks() - 1 - rank),
                i32::from(id.files() - 1 - file),
            );
            assert_eq!(Some(G::turn(bit)), turned);
            for (d, (dr, df)) in steps.into_iter().enumerate() {
                let (r, f) = (i32::from(rank) + dr, i32::from(file) + df);
                let inside = (0..i32::from(id.ranks())).contains(&r)
                    && (0..i32::from(id.files())).contains(&f);
                let expected = if inside {
                    bit_at(r, f).unwrap()
                } else {
                    G::Word::ZERO
                };
                assert_eq!(G::step(bit, d), expected, "{id} square {i} direction {d}");

                let mut ray = G::Word::ZERO;
                let mut at = bit;
                while G::step(at, d).any() {
                    at = G::step(at, d);
                    ray |= at;
                }
                assert_eq!(G::slide(bit, d, G::BOARD), ray);
                for blocker in ray.bits() {
                    let mut short = G::Word::ZERO;
                    let mut at = G::step(bit, d);
                    while at != blocker {
                        short |= at;
                        at = G::step(at, d);
                    }
                    assert_eq!(G::slide(bit, d, G::BOARD & !blocker), short);
                }
            }
        }
    }

    #[test]
    fn layouts() {
        steps_match_coordinates::<Board8x8>();
        steps_match_coordinates::<Board10x10>();
        steps_match_coordinates::<Board12x12>();
        steps_match_coordinates::<Board10x8>();
        steps_match_coordinates::<BoardAll8x8>();
    }
}
