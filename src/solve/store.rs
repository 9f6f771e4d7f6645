use std::sync::Arc;

use super::planes::{PlaneSlice, PlaneWord, solver_orientation};
use crate::board::{Color, Geometry};
use crate::index::{MAX_PIECES, Slice};

/// The solved slices that later ones may ask for, in word form.
pub struct Store<G: Geometry> {
    /// By material in solver orientation, see [`place`].
    slices: Vec<Option<Arc<PlaneSlice<G>>>>,
}

/// Bits for each number of a material balance.
const DIGIT: u32 = (MAX_PIECES + 1).next_power_of_two().trailing_zeros();

/// The place of a material balance; none if there are too many pieces for any slice.
#[inline(always)]
fn place(men: [u32; 2], kings: [u32; 2]) -> Option<usize> {
    let small = (men[0] | kings[0] | men[1] | kings[1]) >> DIGIT == 0;
    let place = (men[0] << DIGIT | kings[0]) << DIGIT | men[1];
    small.then_some((place << DIGIT | kings[1]) as usize)
}

fn place_of(slice: Slice) -> usize {
    let slice = solver_orientation(slice);
    let men = Color::BOTH.map(|c| slice.men(c) as u32);
    place(men, Color::BOTH.map(|c| slice.kings(c) as u32)).expect("a slice has few pieces")
}

impl<G: Geometry<Word: PlaneWord>> Default for Store<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G: Geometry<Word: PlaneWord>> Store<G> {
    pub fn new() -> Self {
        Store {
            slices: (0..1 << (4 * DIGIT)).map(|_| None).collect(),
        }
    }

    pub fn insert(&mut self, slice: Arc<PlaneSlice<G>>) {
        let place = place_of(slice.slice());
        self.slices[place] = Some(slice);
    }

    pub fn remove(&mut self, slice: Slice) {
        self.slices[place_of(slice)] = None;
    }

    /// The slice with this material, and whether it is held with colours exchanged.
    #[inline]
    pub fn get(&self, men: [u32; 2], kings: [u32; 2]) -> Option<(&PlaneSlice<G>, bool)> {
        let at = |men, kings| self.slices[place(men, kings)?].as_deref();
        let turned = || at([men[1], men[0]], [kings[1], kings[0]]);
        at(men, kings)
            .map(|s| (s, false))
            .or_else(|| turned().map(|s| (s, true)))
    }

    /// Whether a slice, given in either orientation, is there.
    pub fn contains(&self, slice: Slice) -> bool {
        self.slices[place_of(slice)].is_some()
    }
}
