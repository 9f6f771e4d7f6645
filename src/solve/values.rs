//! Solved slices as tables see them, and back.
//!
//! Tables number the positions of a slice in its canonical orientation, the solver keeps words in
//! an orientation of its own. Both run through the men blocks with the kings innermost, and sets
//! are ranked in numeric order, so nothing is ranked position by position:
//!
//! * In the same orientation a row of the solver is a row of the table. The placements of Black's
//!   kings in order are, for each placement of all but the lowest, the lowest one on the squares
//!   below: a word read from its low end.
//! * Turned, White's kings of the table are Black's of the solver. A row of the table then has one
//!   word per solver row and the same bit in each; where a placement of the table's black kings
//!   lies as a solver row is worked out once for each block.
//!
//! Cost: two to twenty nanoseconds a position; the most where blocks have few positions.

mod layout;
mod read_back;

use std::sync::Arc;

use self::layout::Layout;
use super::distances::{DtcDistances, DtwDistances};
use super::planes::{Fast, PlaneSlice, PlaneWord, Planes};
use crate::board::{Color, Geometry, Word};
use crate::index::{Slice, unrank};

use crate::table::{Metric, SliceValues, Wdl};

/// What the solver found out about a slice.
pub struct SolvedSlice<G: Geometry> {
    planes: Arc<PlaneSlice<G>>,
    dtc: Option<Arc<DtcDistances<G>>>,
    dtw: Option<Arc<DtwDistances<G>>>,
    layout: Layout<G>,
}

impl<G: Geometry<Word: PlaneWord>> SolvedSlice<G> {
    /// Results, and distances to conversion and to win as far as they are known.
    pub fn new(
        planes: Arc<PlaneSlice<G>>,
        dtc: Option<Arc<DtcDistances<G>>>,
        dtw: Option<Arc<DtwDistances<G>>>,
    ) -> Self {
        SolvedSlice {
            layout: Layout::of(&planes),
            planes,
            dtc,
            dtw,
        }
    }

    /// The distances to conversion, if nobody else has them.
    pub fn into_dtc(self) -> Option<DtcDistances<G>> {
        self.dtc.and_then(Arc::into_inner)
    }
}

impl<G: Geometry<Word: PlaneWord>> SliceValues for SolvedSlice<G> {
    fn slice(&self) -> Slice {
        self.layout.index.slice()
    }

    fn positions(&self) -> u64 {
        self.layout.index.len()
    }

    fn has(&self, metric: Metric) -> bool {
        match metric {
            Metric::Wdl => true,
            Metric::Dtc => self.dtc.is_some(),
            Metric::Dtw => self.dtw.is_some(),
        }
    }

    fn results(&self, side: Color, first: u64, out: &mut [Wdl]) {
        let out = Output { skip: 0, rest: out };
        let planes = &*self.planes;
        match (planes.fast(), self.layout.turned) {
            (Fast::Man, _) => self.layout.men_results(planes, side, first, out),
            (Fast::King, false) => self.layout.straight_results(planes, side, first, out),
            (Fast::King, true) => self.layout.turned_results(planes, side, first, out),
        }
    }

    /// # Panics
    /// If the distances of this metric are not known.
    fn distances(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]) {
        let side = (side, first);
        match (metric, &self.dtc, &self.dtw) {
            (Metric::Dtc, Some(dtc), _) => self.layout.distances(dtc, side, out),
            (Metric::Dtw, _, Some(dtw)) => self.layout.distances(dtw, side, out),
            _ => panic!("no {metric} of {}", self.slice()),
        }
    }
}

/// The sets of `size` squares of `free` in order of rank, from a given one on.
fn placements<W: Word>(from: u64, size: usize, free: W) -> impl Iterator<Item = W> {
    // The order is numeric. With the other bits filled in, adding the lowest bit carries over the
    // run of squares it begins; what has disappeared starts anew at the bottom.
    std::iter::successors(Some(unrank(from, size, free)), move |&set| {
        let filled = set | !free;
        let carried = filled.wrapping_sub(W::ZERO.wrapping_sub(set.lowest())) & free;
        let missing = set.count_ones() - carried.count_ones();
        let bottom = free.bits().take(missing as usize);
        carried
            .any()
            .then(|| bottom.fold(carried, |set, square| set | square))
    })
}

/// A range of results being filled.
struct Output<'o> {
    /// Positions to pass over before the range begins.
    skip: usize,
    rest: &'o mut [Wdl],
}

impl Output<'_> {
    fn is_full(&self) -> bool {
        self.rest.is_empty()
    }

    /// The results of a word on these squares.
    #[inline(always)]
    fn word<W: Word>(&mut self, planes: Planes<W>, mut squares: W) {
        let count = squares.count_ones() as usize;
        if self.skip >= count {
            self.skip -= count;
            return;
        }
        for _ in 0..self.skip {
            squares = squares.without_lowest();
        }
        let count = (count - self.skip).min(self.rest.len());
        self.skip = 0;
        let (now, later) = std::mem::take(&mut self.rest).split_at_mut(count);
        for (out, square) in now.iter_mut().zip(squares.bits()) {
            *out = result(planes, square);
        }
        self.rest = later;
    }

    #[inline(always)]
    fn one(&mut self, result: impl FnOnce() -> Wdl) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if let Some((out, rest)) = std::mem::take(&mut self.rest).split_first_mut() {
            *out = result();
            self.rest = rest;
        }
    }
}

/// As [`Planes::at`], without branches.
#[inline(always)]
fn result<W: Word>(planes: Planes<W>, square: W) -> Wdl {
    const RESULTS: [Wdl; 4] = [Wdl::Draw, Wdl::Loss, Wdl::Win, Wdl::Win];
    let bit = |plane: W| usize::from((plane & square).any());
    RESULTS[bit(planes.win) * 2 + bit(planes.loss)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_in_order_of_rank() {
        for free in [0b1011_0110_1101u32, u32::MAX, 0xf000_0001] {
            for size in 0..=3 {
                let sets: Vec<u32> = placements(0, size, free).collect();
                let count = crate::index::binomial(free.count_ones() as usize, size);
                assert_eq!(sets.len() as u64, count);
                assert!(
                    (0..)
                        .zip(&sets)
                        .all(|(i, &set)| unrank(i, size, free) == set)
                );
            }
        }
    }
}
