use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use super::planes::{Fast, PlaneSlice, PlaneWord};
use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::{SliceIndex, binomial, rank};

/// Distances of the positions of a slice in plies, in index order of its solver orientation.
pub struct Distances<G: Geometry> {
    index: SliceIndex<G>,
    fast: Fast,
    plies: ByColor<Vec<AtomicU16>>,
}

impl<G: Geometry<Word: PlaneWord>> Distances<G> {
    pub fn new(slice: &PlaneSlice<G>) -> Self {
        let index = SliceIndex::new(slice.slice());
        let zeros = || (0..index.len()).map(|_| AtomicU16::new(0)).collect();
        Distances {
            fast: slice.fast(),
            plies: ByColor::new(zeros(), zeros()),
            index,
        }
    }

    pub fn index(&self) -> &SliceIndex<G> {
        &self.index
    }

    #[inline(always)]
    pub fn get(&self, side: Color, number: u64) -> u16 {
        self.plies[side][number as usize].load(Relaxed)
    }

    #[inline(always)]
    pub fn set(&self, side: Color, number: u64, plies: u16) {
        self.plies[side][number as usize].store(plies, Relaxed);
    }

    /// Access to the positions of one block, given the fixed men.
    pub fn block(&self, men: ByColor<G::Word>) -> BlockDistances<'_, G> {
        let first = match self.fast {
            Fast::King => self.index.block_rank(men) * self.index.block_len(),
            Fast::Man => 0,
        };
        let free = G::BOARD & !(men[Color::White] | men[Color::Black]);
        BlockDistances {
            distances: self,
            men,
            first,
            free,
        }
    }
}

/// The part of [`Distances`] that belongs to one men block.
pub struct BlockDistances<'d, G: Geometry> {
    distances: &'d Distances<G>,
    men: ByColor<G::Word>,
    first: u64,
    free: G::Word,
}

impl<G: Geometry<Word: PlaneWord>> BlockDistances<'_, G> {
    /// Enters a distance for all squares of the fast piece in `squares`. Each position is entered
    /// once, when its fast piece is the lowest of its kind.
    #[inline(always)]
    pub fn record(
        &self,
        side: Color,
        row: usize,
        white: G::Word,
        others: G::Word,
        squares: G::Word,
        plies: u32,
    ) {
        // A slice would need a longest distance a hundred times the longest known one.
        let plies = u16::try_from(plies).expect("distances fit 16 bits");
        let index = &self.distances.index;
        match self.distances.fast {
            Fast::King => {
                let free = self.free & !white;
                let mut first = self.first + row as u64 * index.black_placements();
                for (i, king) in others.bits().enumerate() {
                    let below = free & king.wrapping_sub(G::Word::ONE);
                    first += binomial(below.count_ones() as usize, i + 2);
                }
                for square in (squares & others.below_lowest()).bits() {
                    self.distances.set(side, first + rank(square, free), plies);
                }
            }
            Fast::Man => {
                let [white, black] = self.men.0;
                for square in (squares & black.below_lowest()).bits() {
                    let number = index.block_rank(ByColor::new(white, black | square));
                    self.distances.set(side, number, plies);
                }
            }
        }
    }
}
