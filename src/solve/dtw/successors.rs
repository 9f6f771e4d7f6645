use std::collections::HashMap;
use std::sync::Arc;

use crate::board::{Board, ByColor, Color, Geometry, Word};
use crate::index::{Slice, rank};
use crate::rules::{Goal, Rules};
use crate::solve::distances::{DtwDistances, UNKNOWN};
use crate::solve::planes::{PlaneWord, solver_orientation};

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// The distances to win of the slices that later ones may ask for.
pub struct DtwStore<G: Geometry> {
    slices: HashMap<Slice, Arc<DtwDistances<G>>>,
}

impl<G: Geometry<Word: PlaneWord>> Default for DtwStore<G> {
    fn default() -> Self {
        DtwStore {
            slices: HashMap::new(),
        }
    }
}

impl<G: Geometry<Word: PlaneWord>> DtwStore<G> {
    pub fn new() -> Self {
        DtwStore::default()
    }

    pub fn insert(&mut self, distances: Arc<DtwDistances<G>>) {
        self.slices.insert(distances.index().slice(), distances);
    }

    /// Forgets a slice, given in either orientation.
    pub fn remove(&mut self, slice: Slice) {
        self.slices.remove(&solver_orientation(slice));
    }

    /// The distances of a slice, given in either orientation.
    pub fn get(&self, slice: Slice) -> Option<&Arc<DtwDistances<G>>> {
        self.slices.get(&solver_orientation(slice))
    }
}

/// Whether the side to move has lost, given its distance: games end on the same side's move, so
/// lost positions are an even number of plies from the end, or an odd one if having no move wins.
#[inline(always)]
pub fn is_loss<R: Rules>(plies: u16) -> bool {
    plies != UNKNOWN && plies.is_multiple_of(2) == matches!(R::SET.goal, Goal::Normal)
}

/// Where the positions with some men and numbers of kings lie.
struct Place<'s, G: Geometry> {
    men: ByColor<G::Word>,
    kings: [u32; 2],
    /// None if the game is over.
    block: Option<Block<'s, G>>,
}

struct Block<'s, G: Geometry> {
    distances: &'s DtwDistances<G>,
    /// Number of its first position.
    first: u64,
    free: G::Word,
    /// The slice is held with colours exchanged.
    turned: bool,
}

const SLOTS: usize = 512;

/// Finds the distances of positions in solved slices and blocks, and remembers where recently
/// asked men configurations lie: the successors of a block fall into a few dozen of them.
pub struct Successors<'s, R: Rules> {
    store: &'s DtwStore<R::Geometry>,
    slots: Vec<Place<'s, R::Geometry>>,
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>> Successors<'s, R> {
    pub fn new(store: &'s DtwStore<R::Geometry>) -> Self {
        let slots = (0..SLOTS).map(|_| Place {
            men: ByColor::default(),
            kings: [u32::MAX; 2],
            block: None,
        });
        Successors {
            store,
            slots: slots.collect(),
        }
    }

    /// The distance of a position after a move; [`UNKNOWN`] if drawn or not known yet.
    ///
    /// # Panics
    /// If its slice is not in the store.
    #[inline]
    pub fn plies(&mut self, board: &Board<R::Geometry>) -> u16 {
        let place = self.place(board.men, board.kings.0.map(|set| set.count_ones()));
        let Some(block) = &place.block else {
            return 0;
        };
        let (kings, side) = match block.turned {
            true => (board.kings.map(R::Geometry::turn).swapped(), !board.side),
            false => (board.kings, board.side),
        };
        let [white, black] = kings.0;
        let placements = block.distances.index().black_placements();
        let number =
            block.first + rank(white, block.free) * placements + rank(black, block.free & !white);
        block.distances.get(side, number)
    }

    #[inline(always)]
    fn place(&mut self, men: ByColor<W<R>>, kings: [u32; 2]) -> &Place<'s, R::Geometry> {
        let fold = |word: W<R>| {
            let word = word.to_u128();
            word as u64 ^ (word >> 64) as u64
        };
        let mixed = (fold(men[Color::White]).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ fold(men[Color::Black]).wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
        .wrapping_add(u64::from(kings[0] * 16 + kings[1]))
        .wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let slot = &mut self.slots[(mixed >> (64 - SLOTS.trailing_zeros())) as usize];
        if slot.men != men || slot.kings != kings {
            *slot = find::<R>(self.store, men, kings);
        }
        slot
    }
}

fn find<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    store: &'s DtwStore<R::Geometry>,
    men: ByColor<W<R>>,
    kings: [u32; 2],
) -> Place<'s, R::Geometry> {
    let slice = Slice::new(
        men.map(|set| set.count_ones() as u8),
        ByColor(kings.map(|n| n as u8)),
    );
    let arrived = !R::SET.has_kings() && kings != [0, 0];
    let contested = slice.filter(|slice| slice.is_contested() && !arrived);
    let block = contested.map(|slice| {
        let distances = store
            .get(slice)
            .unwrap_or_else(|| panic!("{slice} is asked for before it is solved"));
        let turned = distances.index().slice() != slice;
        let men = match turned {
            true => men.map(R::Geometry::turn).swapped(),
            false => men,
        };
        let index = distances.index();
        Block {
            distances,
            first: index.block_rank(men) * index.block_len(),
            free: R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]),
            turned,
        }
    });
    Place { men, kings, block }
}
