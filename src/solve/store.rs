use std::collections::HashMap;
use std::sync::Arc;

use super::planes::{PlaneSlice, PlaneWord};
use crate::board::{Color, Geometry};
use crate::index::Slice;

/// The solved slices that later ones may ask for, in word form.
#[derive(Default)]
pub struct Store<G: Geometry> {
    slices: HashMap<u32, Arc<PlaneSlice<G>>>,
}

impl<G: Geometry<Word: PlaneWord>> Store<G> {
    pub fn new() -> Self {
        Store {
            slices: HashMap::new(),
        }
    }

    pub fn insert(&mut self, slice: Arc<PlaneSlice<G>>) {
        self.slices.insert(key_of(slice.slice()), slice);
    }

    pub fn remove(&mut self, slice: Slice) {
        self.slices
            .remove(&key_of(super::planes::solver_orientation(slice)));
    }

    /// The slice with this material, and whether it is held with colours exchanged.
    #[inline]
    pub fn get(&self, men: [u32; 2], kings: [u32; 2]) -> Option<(&PlaneSlice<G>, bool)> {
        let direct = self.slices.get(&key(men, kings)).map(|s| (&**s, false));
        direct.or_else(|| {
            let turned = key([men[1], men[0]], [kings[1], kings[0]]);
            self.slices.get(&turned).map(|s| (&**s, true))
        })
    }

    pub fn get_slice(&self, slice: Slice) -> Option<&Arc<PlaneSlice<G>>> {
        self.slices
            .get(&key_of(super::planes::solver_orientation(slice)))
    }
}

fn key(men: [u32; 2], kings: [u32; 2]) -> u32 {
    men[0] << 24 | kings[0] << 16 | men[1] << 8 | kings[1]
}

fn key_of(slice: Slice) -> u32 {
    let count = |n: usize| n as u32;
    key(
        Color::BOTH.map(|c| count(slice.men(c))),
        Color::BOTH.map(|c| count(slice.kings(c))),
    )
}
