//! Distances of the positions of a slice in plies.

mod plies;

use std::io;

pub use self::plies::{Narrow, Plies, Wide};
use super::planes::{Fast, PlaneSlice, PlaneWord};
use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::{SliceIndex, binomial};
use crate::parallel;
use crate::table::{Metric, SliceValues, Wdl};

/// Stands for the distance to win of a draw, and of a position whose distance is not known yet.
pub const UNKNOWN: u16 = u16::MAX;
/// The longest distance that can be recorded: one more must still differ from [`UNKNOWN`].
/// It is two hundred times the longest known one.
const LONGEST: u32 = UNKNOWN as u32 - 2;

/// Positions read from a table at a time.
const BATCH: u64 = 1 << 16;

/// A distance as it is kept.
#[inline(always)]
fn checked(plies: u32) -> u16 {
    assert!(
        plies <= LONGEST,
        "a distance of {plies} plies, tables hold {LONGEST}"
    );
    plies as u16
}

/// Distances of the positions of a slice in plies, in index order of its solver orientation.
pub struct Distances<G: Geometry, P> {
    index: SliceIndex<G>,
    fast: Fast,
    plies: ByColor<P>,
}

/// Distances to conversion; zero for draws and what is not known yet.
pub type DtcDistances<G> = Distances<G, Narrow>;
/// Distances to win; [`UNKNOWN`] for draws and what is not known yet.
pub type DtwDistances<G> = Distances<G, Wide>;

impl<G: Geometry<Word: PlaneWord>, P: Plies> Distances<G, P> {
    fn zeros(slice: &PlaneSlice<G>) -> io::Result<Self> {
        let index = SliceIndex::new(slice.slice());
        let all = || P::zeros(index.len() as usize);
        Ok(Distances {
            fast: slice.fast(),
            plies: ByColor::new(all()?, all()?),
            index,
        })
    }

    pub fn index(&self) -> &SliceIndex<G> {
        &self.index
    }

    #[inline(always)]
    pub fn get(&self, side: Color, number: u64) -> u16 {
        self.plies[side].get(number as usize)
    }

    /// Access to the positions of one block, given the fixed men.
    pub fn block(&self, men: ByColor<G::Word>) -> BlockDistances<'_, G, P> {
        let [white, black] = men.0;
        let (first, free) = match self.fast {
            Fast::King => {
                let first = self.index.block_rank(men) * self.index.block_len();
                (first, G::BOARD & !(white | black))
            }
            Fast::Man => {
                let squares = G::BOARD & !G::BOTTOM & !white & black.below_lowest();
                let men = ByColor::new(white, black | squares.lowest());
                let first = squares.any().then(|| self.index.block_rank(men));
                (first.unwrap_or(0), squares)
            }
        };
        BlockDistances {
            distances: self,
            first,
            free,
        }
    }
}

impl<G: Geometry<Word: PlaneWord>> DtcDistances<G> {
    /// None known.
    ///
    /// # Errors
    /// If the system does not give the memory.
    pub fn new(slice: &PlaneSlice<G>) -> io::Result<Self> {
        Distances::zeros(slice)
    }

    /// The same, in the memory of distances that are needed no longer, as to get memory from the
    /// system costs more. Anything may be in it; a block's is set when it is solved.
    ///
    /// # Errors
    /// If the system does not give the memory.
    pub fn renewed(self, slice: &PlaneSlice<G>) -> io::Result<Self> {
        let index = SliceIndex::new(slice.slice());
        let [white, black] = self.plies.0;
        let renewed = |plies: Narrow| plies.renewed(index.len() as usize);
        Ok(Distances {
            fast: slice.fast(),
            plies: ByColor::new(renewed(white)?, renewed(black)?),
            index,
        })
    }
}

impl<G: Geometry<Word: PlaneWord>> DtwDistances<G> {
    /// None known.
    ///
    /// # Errors
    /// If the system does not give the memory.
    pub fn unknown(slice: &PlaneSlice<G>) -> io::Result<Self> {
        let distances = Self::zeros(slice)?;
        for side in Color::BOTH {
            distances.plies[side].fill(UNKNOWN);
        }
        Ok(distances)
    }

    /// Distances to win as a finished table has them, [`UNKNOWN`] for draws.
    ///
    /// # Errors
    /// As [`Distances::new`].
    pub fn from_values(slice: &PlaneSlice<G>, values: &dyn SliceValues) -> io::Result<Self> {
        let distances = Distances::unknown(slice)?;
        let canonical = SliceIndex::<G>::new(values.slice());
        let turned = values.slice() != slice.slice();
        parallel::for_each(canonical.len().div_ceil(BATCH), &|batch| {
            let first = batch * BATCH;
            let count = BATCH.min(canonical.len() - first) as usize;
            let (mut results, mut plies) = (vec![Wdl::Draw; count], vec![0; count]);
            for side in Color::BOTH {
                values.results(side, first, &mut results);
                values.distances(Metric::Dtw, side, first, &mut plies);
                for (i, (&result, &plies)) in results.iter().zip(&plies).enumerate() {
                    if result == Wdl::Draw {
                        continue;
                    }
                    let number = first + i as u64;
                    if turned {
                        let board = canonical.unrank(number, side).flipped();
                        distances.set(board.side, distances.index.rank(&board), plies);
                    } else {
                        distances.set(side, number, plies);
                    }
                }
            }
        });
        Ok(distances)
    }

    #[inline(always)]
    pub fn set(&self, side: Color, number: u64, plies: u16) {
        self.plies[side].set(number as usize, plies);
    }

    /// Enters a distance; returns whether it was another before.
    ///
    /// # Panics
    /// If the distance does not fit: a wrapped one would be a wrong answer.
    #[inline(always)]
    pub fn enter(&self, side: Color, number: u64, plies: u32) -> bool {
        let plies = checked(plies);
        let changed = self.get(side, number) != plies;
        self.set(side, number, plies);
        changed
    }
}

/// The part of [`Distances`] that belongs to one men block.
pub struct BlockDistances<'d, G: Geometry, P> {
    distances: &'d Distances<G, P>,
    /// The number of the first position.
    first: u64,
    /// Squares of the fast piece, other kings aside.
    free: G::Word,
}

impl<G: Geometry<Word: PlaneWord>> BlockDistances<'_, G, Narrow> {
    /// Has the processor fetch where the first distances of the block are to be entered.
    #[inline(always)]
    pub fn prefetch(&self) {
        for plies in &self.distances.plies.0 {
            plies.prefetch(self.first as usize);
        }
    }

    /// Enters a distance of one ply for some squares of the fast piece, by side to move, and zero for
    /// all others of the word.
    ///
    /// # Safety
    /// No other thread may use the distances of the same row meanwhile.
    #[inline(always)]
    pub unsafe fn start(&self, row: usize, kings: (G::Word, G::Word), squares: ByColor<G::Word>) {
        if (kings.0 & kings.1).any() {
            // No positions belong to the word.
            return;
        }
        let run = self.run(row, kings);
        if run.squares.is_empty() {
            return;
        }
        let first = run.first as usize;
        for side in Color::BOTH {
            let squares = squares[side] & run.squares;
            // SAFETY: the positions of a run are of one row, so the caller promises this.
            unsafe { self.distances.plies[side].start(first, run.squares, squares) };
        }
    }

    /// Enters a distance for all squares of the fast piece in `squares`, none of which has another.
    ///
    /// # Safety
    /// No other thread may use the distances of the same row and side meanwhile.
    ///
    /// # Panics
    /// If the distance does not fit: a wrapped one would be a wrong answer.
    #[inline(always)]
    pub unsafe fn record(
        &self,
        side: Color,
        row: usize,
        kings: (G::Word, G::Word),
        squares: G::Word,
        plies: u32,
    ) {
        let plies = checked(plies);
        if (squares & kings.1.below_lowest()).is_empty() {
            // Entered where another king is the fast one.
            return;
        }
        let run = self.run(row, kings);
        let (first, squares) = (run.first as usize, squares & run.squares);
        // SAFETY: the positions of a run are of one row, so the caller promises this.
        unsafe { self.distances.plies[side].fill(first, run.squares, squares, plies) };
    }
}

impl<G: Geometry<Word: PlaneWord>> BlockDistances<'_, G, Wide> {
    /// Enters a distance for all squares of the fast piece in `squares`; returns whether one was
    /// another before.
    ///
    /// # Panics
    /// If the distance does not fit: a wrapped one would be a wrong answer.
    #[inline(always)]
    pub fn update(
        &self,
        side: Color,
        row: usize,
        kings: (G::Word, G::Word),
        squares: G::Word,
        plies: u32,
    ) -> bool {
        let run = self.run(row, kings);
        let mut changed = false;
        for square in (squares & run.squares).bits() {
            let number = run.first + run.place(square) as u64;
            changed |= self.distances.enter(side, number, plies);
        }
        changed
    }
}

impl<G: Geometry<Word: PlaneWord>, P> BlockDistances<'_, G, P> {
    /// The positions of a word, each counted once: when its fast piece is the lowest of its kind.
    /// `row` is the place of White's kings.
    #[inline(always)]
    fn run(&self, row: usize, (white, others): (G::Word, G::Word)) -> Run<G::Word> {
        let index = &self.distances.index;
        match self.distances.fast {
            Fast::King => {
                let free = self.free & !white;
                let mut first = self.first + row as u64 * index.black_placements();
                for (i, king) in others.bits().enumerate() {
                    let below = free & king.wrapping_sub(G::Word::ONE);
                    first += binomial(below.count_ones() as usize, i + 2);
                }
                Run {
                    first,
                    squares: free & others.below_lowest(),
                }
            }
            Fast::Man => Run {
                first: self.first,
                squares: self.free,
            },
        }
    }
}

/// Positions with consecutive numbers that differ in the square of the fast piece.
struct Run<W> {
    /// The number of the first.
    first: u64,
    /// The squares, of which the lowest comes first.
    squares: W,
}

impl<W: Word> Run<W> {
    #[inline(always)]
    fn place(&self, square: W) -> usize {
        (self.squares & square.wrapping_sub(W::ONE)).count_ones() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board8x8;

    #[test]
    fn the_longest_distance_is_kept() {
        let slice = PlaneSlice::<Board8x8>::new("KvK".parse().unwrap()).unwrap();
        let distances = Distances::unknown(&slice).unwrap();
        assert!(distances.enter(Color::White, 5, LONGEST));
        assert!(!distances.enter(Color::White, 5, LONGEST));
        assert_eq!(u32::from(distances.get(Color::White, 5)), LONGEST);
        assert_eq!(distances.get(Color::Black, 5), UNKNOWN);
    }

    #[test]
    #[should_panic = "a distance of 65534 plies"]
    fn a_longer_one_is_refused() {
        let slice = PlaneSlice::<Board8x8>::new("KvK".parse().unwrap()).unwrap();
        Distances::unknown(&slice)
            .unwrap()
            .enter(Color::White, 5, LONGEST + 1);
    }
}
