use rayon::prelude::*;

use super::block::BlockSolver;
use super::distances::Distances;
use super::planes::{Fast, PlaneSlice, PlaneWord};
use super::store::Store;
use crate::board::{ByColor, Color, Geometry, Word};
use crate::rules::Rules;

/// Solves a slice whose successors, and which itself, are in the store. Fills in distances to
/// conversion if asked for.
pub fn solve<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    store: &Store<R::Geometry>,
    slice: &PlaneSlice<R::Geometry>,
    distances: Option<&Distances<R::Geometry>>,
) {
    match slice.fast() {
        Fast::King => solve_with::<R, true>(store, slice, distances),
        Fast::Man => solve_with::<R, false>(store, slice, distances),
    }
}

fn solve_with<R: Rules<Geometry: Geometry<Word: PlaneWord>>, const FAST_KING: bool>(
    store: &Store<R::Geometry>,
    slice: &PlaneSlice<R::Geometry>,
    distances: Option<&Distances<R::Geometry>>,
) {
    let blocks = slice.blocks().blocks();
    if blocks == 1 {
        BlockSolver::<R, FAST_KING>::new(store, slice).solve(0, distances, true);
        return;
    }
    for level in levels::<R::Geometry>(slice) {
        let run = |blocks: &[u64], distances: Option<&Distances<R::Geometry>>| -> bool {
            let chunk = (blocks.len() / (8 * rayon::current_num_threads())).clamp(1, 256);
            blocks
                .par_chunks(chunk)
                .map_init(
                    || BlockSolver::<R, FAST_KING>::new(store, slice),
                    |solver, blocks| {
                        let mut changed = false;
                        for &block in blocks {
                            changed |= solver.solve(block, distances, false);
                        }
                        changed
                    },
                )
                .reduce(|| false, |a, b| a | b)
        };
        if R::SET.has_lateral_moves() {
            while run(&level, None) {}
            if distances.is_some() {
                run(&level, distances);
            }
        } else {
            run(&level, distances);
        }
    }
}

/// The blocks of a slice by the number of steps its men still have to go; a man's step forward
/// leads to a block of an earlier level.
pub(super) fn levels<G: Geometry<Word: PlaneWord>>(slice: &PlaneSlice<G>) -> Vec<Vec<u64>> {
    let steps = |men: ByColor<G::Word>| -> usize {
        (0..G::RANKS)
            .map(|rank| {
                let on = |color: Color| (men[color] & G::RANK[rank]).count_ones() as usize;
                on(Color::White) * (G::RANKS - 1 - rank) + on(Color::Black) * rank
            })
            .sum()
    };
    let mut levels: Vec<Vec<u64>> = Vec::new();
    for block in 0..slice.blocks().blocks() {
        let level = steps(slice.blocks().block_unrank(block));
        if levels.len() <= level {
            levels.resize(level + 1, Vec::new());
        }
        levels[level].push(block);
    }
    levels
}
