use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::block::BlockSolver;
use super::cpu::{Avx2, Avx512, Cpu, Portable};
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
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(cpu) = Avx512::detect() {
            return solve_on::<R, _, FAST_KING>(cpu, store, slice, distances);
        }
        if let Some(cpu) = Avx2::detect() {
            return solve_on::<R, _, FAST_KING>(cpu, store, slice, distances);
        }
    }
    solve_on::<R, _, FAST_KING>(Portable, store, slice, distances);
}

fn solve_on<R, C, const FAST_KING: bool>(
    cpu: C,
    store: &Store<R::Geometry>,
    slice: &PlaneSlice<R::Geometry>,
    distances: Option<&Distances<R::Geometry>>,
) where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    let new_solver = || BlockSolver::<R, C, FAST_KING>::new(cpu, store, slice);
    let levels = levels::<R::Geometry>(slice);
    if let [Level { blocks, .. }] = &levels[..]
        && let [(block, men)] = blocks[..]
    {
        new_solver().solve(block, men, distances, true);
        return;
    }
    // One solver a thread, kept for all levels.
    let solvers: Vec<_> = (0..rayon::current_num_threads())
        .map(|_| Mutex::new(None))
        .collect();
    let run = |blocks: &[(u64, ByColor<_>)], distances: Option<&Distances<R::Geometry>>| -> bool {
        let chunk = (blocks.len() / (8 * solvers.len())).clamp(1, 256);
        blocks
            .par_chunks(chunk)
            .map(|blocks| {
                let thread = rayon::current_thread_index().unwrap_or(0);
                let mut solver = solvers[thread]
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                let solver = solver.get_or_insert_with(new_solver);
                blocks.iter().fold(false, |changed, &(block, men)| {
                    solver.solve(block, men, distances, false) | changed
                })
            })
            .reduce(|| false, |a, b| a | b)
    };
    for Level { blocks, .. } in &levels {
        if R::SET.has_lateral_moves() {
            // Men that step sideways connect the blocks of a level: again until nothing changes.
            while run(blocks, None) {}
            if distances.is_some() {
                run(blocks, distances);
            }
        } else {
            run(blocks, distances);
        }
    }
}

/// Blocks that do not depend on each other.
struct Level<W> {
    /// Their numbers and men.
    blocks: Vec<(u64, ByColor<W>)>,
}

/// The blocks of a slice by the number of steps its men still have to go; a man's step forward
/// leads to a block of an earlier level.
fn levels<G: Geometry<Word: PlaneWord>>(slice: &PlaneSlice<G>) -> Vec<Level<G::Word>> {
    let mut levels: Vec<Level<G::Word>> = Vec::new();
    for (block, men) in slice.blocks().all_men().enumerate() {
        let steps = |color: Color, rank: usize| match color {
            Color::White => G::RANKS - 1 - rank,
            Color::Black => rank,
        };
        let mut level = 0;
        for rank in 0..G::RANKS {
            for color in Color::BOTH {
                let men = men[color] & G::RANK[rank];
                if men.any() {
                    level += men.count_ones() as usize * steps(color, rank);
                }
            }
        }
        while levels.len() <= level {
            levels.push(Level { blocks: Vec::new() });
        }
        levels[level].blocks.push((block as u64, men));
    }
    levels.retain(|level| !level.blocks.is_empty());
    levels
}
