use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::planes::{Fast, PlaneSlice, PlaneWord};
use super::progress::Progress;
use crate::board::{ByColor, Color, Dirs, Geometry, Word};
use crate::parallel::{self, PerThread};
use crate::rules::Rules;

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// A men block: its number and its men.
pub type Block<G> = (u64, ByColor<<G as Geometry>::Word>);

/// The blocks of a slice by the number of steps their men still have to go. A man's step forward
/// leads to a block of an earlier level; blocks of one level are independent of each other, unless
/// men can step sideways.
pub fn levels<G: Geometry<Word: PlaneWord>>(slice: &PlaneSlice<G>) -> Vec<Vec<Block<G>>> {
    let mut levels: Vec<Vec<Block<G>>> = Vec::new();
    for (block, men) in slice.blocks().all_men().enumerate() {
        let mut level = 0;
        for rank in 0..G::RANKS {
            let steps = ByColor::new(G::RANKS - 1 - rank, rank);
            for color in Color::BOTH {
                level += (men[color] & G::RANK[rank]).count_ones() as usize * steps[color];
            }
        }
        while levels.len() <= level {
            levels.push(Vec::new());
        }
        levels[level].push((block as u64, men));
    }
    levels.retain(|level| !level.is_empty());
    levels
}

/// Words of a level whose results are found before other threads have woken up.
const FEW_WORDS: usize = 4096;

/// One solver for each thread, kept for all levels.
pub struct Crew<'p, S, N> {
    solvers: PerThread<S, N>,
    /// Blocks so few that other threads are left asleep.
    few: usize,
    progress: &'p Progress<'p>,
}

impl<'p, S: Send, N: Fn() -> S + Sync> Crew<'p, S, N> {
    /// `block_work`: for how many words results are found in the time that a block of the slice
    /// takes.
    pub fn new(progress: &'p Progress<'p>, block_work: usize, new: N) -> Self {
        Crew {
            solvers: PerThread::new(new),
            few: FEW_WORDS / block_work.max(1),
            progress,
        }
    }

    /// Solves all blocks of a level, on all threads. `solve` says whether anything changed; where
    /// men can step sideways a block is solved again after one it leads to changed.
    pub fn solve_level<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
        &self,
        slice: &PlaneSlice<R::Geometry>,
        level: &[Block<R::Geometry>],
        solve: impl Fn(&mut S, Block<R::Geometry>) -> bool + Sync,
    ) {
        if !R::SET.has_lateral_moves() {
            self.solve_each(level, |solver, block| {
                solve(solver, block);
            });
            return;
        }
        let mut due = level.to_vec();
        while !due.is_empty() {
            let again: Vec<AtomicBool> = level.iter().map(|_| AtomicBool::new(false)).collect();
            self.solve_each(&due, |solver, (block, men)| {
                if solve(solver, (block, men)) {
                    blocks_beside::<R>(slice, (block, men), |neighbour| {
                        if let Ok(i) = level.binary_search_by_key(&neighbour, |b| b.0) {
                            again[i].store(true, Relaxed);
                        }
                    });
                }
            });
            let marked = level
                .iter()
                .zip(&again)
                .filter(|(_, again)| again.load(Relaxed));
            due = marked.map(|(&block, _)| block).collect();
        }
    }

    /// Applies `solve` to blocks, on all threads unless they are few.
    pub fn solve_each<B: Copy + Sync>(&self, blocks: &[B], solve: impl Fn(&mut S, B) + Sync) {
        if blocks.len() <= self.few {
            self.solvers
                .with(|solver| blocks.iter().for_each(|&block| solve(solver, block)));
            self.progress.add(blocks.len() as u64);
            return;
        }
        let chunk = (blocks.len() / (8 * rayon::current_num_threads())).clamp(1, 256);
        parallel::for_each(blocks.len().div_ceil(chunk) as u64, &|i| {
            let first = i as usize * chunk;
            let end = blocks.len().min(first + chunk);
            self.solvers
                .with(|solver| blocks[first..end].iter().for_each(|&b| solve(solver, b)));
            self.progress.add((end - first) as u64);
        });
    }
}

/// The blocks from which a man's step sideways leads to this one, and the block itself where the
/// fast man can make such a step.
fn blocks_beside<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    slice: &PlaneSlice<R::Geometry>,
    (block, men): Block<R::Geometry>,
    mut f: impl FnMut(u64),
) {
    let empty: W<R> = R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]);
    if slice.fast() == Fast::Man {
        f(block);
    }
    for side in Color::BOTH {
        for to in men[side].bits() {
            for d in [Dirs::E, Dirs::W] {
                let from = R::Geometry::step(to, d) & empty;
                if from.any() {
                    let mut before = men;
                    before[side] ^= to | from;
                    f(slice.blocks().block_rank(before));
                }
            }
        }
    }
}
