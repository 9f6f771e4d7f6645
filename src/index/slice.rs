use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use super::binomial;
use crate::board::{Board, ByColor, Color, Geometry, GeometryId, Word};

/// The most pieces of both sides together that a slice can have.
pub const MAX_PIECES: usize = 10;

/// A material balance: how many men and kings each side has. At least one piece is on the board.
///
/// Written kings first, White left: `KKMvKM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    men: ByColor<u8>,
    kings: ByColor<u8>,
}

impl Slice {
    /// None if there are no pieces at all or more than [`MAX_PIECES`].
    #[inline]
    pub fn new(men: ByColor<u8>, kings: ByColor<u8>) -> Option<Slice> {
        let ([white, black], [white_kings, black_kings]) = (men.0, kings.0);
        let pieces = [white, black, white_kings, black_kings].map(u32::from);
        let pieces: u32 = pieces.iter().sum();
        (1..=MAX_PIECES as u32)
            .contains(&pieces)
            .then_some(Slice { men, kings })
    }

    /// The slice of a position; none as for [`Slice::new`].
    #[inline(always)]
    pub fn of<G: Geometry>(board: &Board<G>) -> Option<Slice> {
        let count = |set: G::Word| set.count_ones() as u8;
        Slice::new(board.men.map(count), board.kings.map(count))
    }

    #[inline(always)]
    pub fn men(&self, color: Color) -> usize {
        usize::from(self.men[color])
    }

    #[inline(always)]
    pub fn kings(&self, color: Color) -> usize {
        usize::from(self.kings[color])
    }

    #[inline]
    pub fn pieces(&self, color: Color) -> usize {
        self.men(color) + self.kings(color)
    }

    pub fn total(&self) -> usize {
        self.pieces(Color::White) + self.pieces(Color::Black)
    }

    /// Both sides have a piece; otherwise the game is over and no table is needed.
    pub fn is_contested(&self) -> bool {
        Color::BOTH.into_iter().all(|color| self.pieces(color) > 0)
    }

    /// The slice with colours exchanged.
    #[inline]
    pub fn flipped(&self) -> Slice {
        Slice {
            men: self.men.swapped(),
            kings: self.kings.swapped(),
        }
    }

    /// Both sides have the same material: the two sides to move mirror each other.
    #[inline]
    pub fn is_symmetric(&self) -> bool {
        *self == self.flipped()
    }

    /// The orientation under which the slice is filed: White has more pieces, or as many and at
    /// least as many kings.
    #[inline]
    pub fn is_canonical(&self) -> bool {
        let strength = |color| (self.pieces(color), self.kings(color));
        strength(Color::White) >= strength(Color::Black)
    }

    pub fn canonical(&self) -> Slice {
        if self.is_canonical() {
            *self
        } else {
            self.flipped()
        }
    }

    /// Every contested slice of exactly `pieces` pieces, in both orientations, in an order in
    /// which each slice comes after those its promotions lead to.
    pub fn all(pieces: usize, with_kings: bool) -> Vec<Slice> {
        let mut slices = Vec::new();
        for men in 0..=pieces {
            for white_men in 0..=men {
                for white_kings in 0..=pieces - men {
                    let black = (men - white_men, pieces - men - white_kings);
                    let small = |n: usize| n as u8;
                    let slice = Slice::new(
                        ByColor::new(small(white_men), small(black.0)),
                        ByColor::new(small(white_kings), small(black.1)),
                    );
                    slices.extend(slice.filter(|s| s.is_contested()));
                }
            }
        }
        slices.retain(|s| with_kings || s.kings == ByColor::new(0, 0));
        slices
    }

    /// As [`Slice::all`], canonical orientations only.
    pub fn all_canonical(pieces: usize, with_kings: bool) -> Vec<Slice> {
        let mut slices = Slice::all(pieces, with_kings);
        slices.retain(Slice::is_canonical);
        slices
    }

    /// Positions of the slice for one side to move, by the closed form.
    pub fn positions(&self, geometry: GeometryId) -> u64 {
        let row = usize::from(geometry.per_rank());
        let squares = usize::from(geometry.squares());
        let middle = squares - 2 * row;
        let [white, black] = self.men.0.map(usize::from);
        let men: u64 = (0..=white.min(row))
            .flat_map(|i| (0..=black.min(row)).map(move |j| (i, j)))
            .map(|(i, j)| {
                if white - i > middle || black - j > middle - (white - i) {
                    return 0;
                }
                binomial(row, i)
                    * binomial(row, j)
                    * binomial(middle, white - i)
                    * binomial(middle - (white - i), black - j)
            })
            .sum();
        let free = squares - white - black;
        let [white, black] = self.kings.0.map(usize::from);
        men * binomial(free, white) * binomial(free - white, black)
    }

    /// The order in which slices are solved and listed: by pieces, then by men, then strongest
    /// White first.
    pub fn sort_key(&self) -> impl Ord + use<> {
        let men = self.men(Color::White) + self.men(Color::Black);
        (
            self.total(),
            men,
            Reverse(self.pieces(Color::White)),
            Reverse(self.kings(Color::White)),
        )
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |color| "K".repeat(self.kings(color)) + &"M".repeat(self.men(color));
        f.pad(&format!("{}v{}", side(Color::White), side(Color::Black)))
    }
}

/// A text that is not the name of a slice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a slice: write White's kings (K) and men (M), `v`, then Black's, \
     at most {MAX_PIECES} pieces with both sides present, for instance KKMvKM"
)]
pub struct ParseSliceError(pub String);

impl FromStr for Slice {
    type Err = ParseSliceError;

    fn from_str(text: &str) -> Result<Slice, ParseSliceError> {
        let error = || ParseSliceError(text.to_owned());
        let (white, black) = text.split_once(['v', 'V']).ok_or_else(error)?;
        let count = |side: &str, letter: char| {
            side.chars()
                .filter(|c| c.to_ascii_uppercase() == letter)
                .count()
                .min(255) as u8
        };
        if !(white.chars().chain(black.chars())).all(|c| "KkMm".contains(c)) {
            return Err(error());
        }
        let men = ByColor::new(count(white, 'M'), count(black, 'M'));
        let kings = ByColor::new(count(white, 'K'), count(black, 'K'));
        Slice::new(men, kings)
            .filter(Slice::is_contested)
            .ok_or_else(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for slice in Slice::all(5, true) {
            assert_eq!(slice.to_string().parse(), Ok(slice));
        }
        assert_eq!("kkmvm".parse::<Slice>().unwrap().to_string(), "KKMvM");
        for bad in ["", "v", "Kv", "vK", "KKvX", "KKKKKKvKKKKK", "KvKvK", "KK"] {
            assert!(bad.parse::<Slice>().is_err(), "{bad}");
        }
    }

    /// Schaeffer's counts of English positions by number of pieces, one-sided ones included.
    #[test]
    fn counts_are_schaeffers() {
        let counts = (1..=8usize).map(|pieces| {
            let mut total = 0;
            for men in 0..=pieces {
                for white_men in 0..=men {
                    for white_kings in 0..=pieces - men {
                        let men = ByColor::new(white_men as u8, (men - white_men) as u8);
                        let kings = pieces as u8 - men.0[0] - men.0[1];
                        let kings = ByColor::new(white_kings as u8, kings - white_kings as u8);
                        total += Slice::new(men, kings)
                            .unwrap()
                            .positions(GeometryId::Board8x8);
                    }
                }
            }
            total
        });
        let published = [
            120,
            6_972,
            261_224,
            7_092_774,
            148_688_232,
            2_503_611_964,
            34_779_531_480,
            406_309_208_481,
        ];
        assert!(counts.eq(published));
    }

    #[test]
    fn counts_with_both_sides_present() {
        let count = |geometry, pieces| -> u64 {
            Slice::all(pieces, true)
                .iter()
                .map(|s| s.positions(geometry))
                .sum()
        };
        assert_eq!(count(GeometryId::Board8x8, 5), 139_450_808);
        assert_eq!(count(GeometryId::Board8x8, 6), 2_426_085_676);
        assert_eq!(count(GeometryId::Board8x8, 7), 34_243_113_624);
        assert_eq!(count(GeometryId::Board10x10, 4), 41_971_200);
        assert_eq!(count(GeometryId::Board10x10, 5), 1_570_600_750);
        assert_eq!(count(GeometryId::Board10x10, 6), 46_198_758_750);
    }

    /// The arithmetic of [`Slice::positions`] in `u128` for the largest slices: no overflow.
    #[test]
    fn no_slice_overflows() {
        for geometry in [GeometryId::Board12x12, GeometryId::BoardAll8x8] {
            for slice in Slice::all(MAX_PIECES, true) {
                let squares = u128::from(geometry.squares());
                let bound = (0..MAX_PIECES as u128)
                    .map(|i| squares - i)
                    .product::<u128>();
                let factorial = |n: usize| (1..=n as u128).product::<u128>();
                let orders: u128 = Color::BOTH
                    .into_iter()
                    .map(|c| factorial(slice.men(c)) * factorial(slice.kings(c)))
                    .product();
                let count = u128::from(slice.positions(geometry));
                assert!(
                    count <= bound / orders && bound / orders < 1 << 63,
                    "{slice}"
                );
            }
        }
    }
}
