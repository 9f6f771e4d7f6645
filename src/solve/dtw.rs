//! Distance to win: plies to the end of the game, for slices whose results are known.
//!
//! A man's move or a capture leads to a block or slice whose distances are known, so each of them
//! bounds the distance of the position before: a win takes at most one ply more than the loss it
//! leads to, a loss at least one more than the win. These bounds are found position by position
//! with the move generator; that is where the time goes. Then plies are counted up block by block
//! in word form, as for the distance to conversion: in ply `n` a position is won if its bound is
//! `n` or a king move leads to a position lost before, and lost if its bound is not above `n` and
//! all its king moves lead to positions won before.
//!
//! Where men can also step sideways (Turkish) the blocks of a level depend on each other. Each is
//! then solved again while a neighbour changes, a distance not known yet being infinite. Distances
//! only shrink on the way; as every move costs a ply, the equations between them have one
//! solution among the finite ones, so this ends at the true distances in whatever order blocks
//! are taken.

mod conversions;
mod layers;
mod successors;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use self::conversions::{ManMoves, WordSteps, bound, distance};
use self::layers::{BlackKings, Words};
pub use self::successors::DtwStore;
use self::successors::Successors;
use super::SolveError;
use super::adjacency::Adjacency;
use super::cpu::Portable;
use super::distances::{DtwDistances, UNKNOWN};
use super::levels::{Crew, levels};
use super::plan;
use super::planes::{Fast, PlaneSlice, PlaneWord};
use super::progress::Progress;
use crate::board::{Board, ByColor, Color, Geometry, Word};
use crate::parallel::{self, PerThread};
use crate::rules::{Rules, movegen};

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// Fills in the distances to win of a slice whose results are known; draws stay [`UNKNOWN`].
/// The store holds the distances of the slices it leads to, and these very distances, all
/// [`UNKNOWN`] ([`DtwDistances::unknown`]).
/// `progress` is told of positions done, from any thread.
///
/// # Errors
/// If a slice is missing from the store.
///
/// # Panics
/// If a distance does not fit 16 bits.
pub fn solve_dtw<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    store: &DtwStore<R::Geometry>,
    slice: &PlaneSlice<R::Geometry>,
    distances: &DtwDistances<R::Geometry>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), SolveError> {
    SolveError::if_missing::<R>(slice.slice(), |needed| store.get(needed).is_some())?;
    let blocks = slice.blocks().blocks();
    let positions = plan::stored_positions(R::ID, slice.slice());
    let progress = Progress::new(progress, positions, blocks);
    let solver = || BlockSolver::<R>::new(store, slice, distances);
    if blocks == 1 && slice.fast() == Fast::King {
        solver().solve(0, true);
        progress.add(1);
        return Ok(());
    }
    // Distances to win take about ten times as long as results.
    let crew = Crew::new(&progress, 10 * slice.block_words(), solver);
    for level in &levels(slice) {
        crew.solve_level::<R>(slice, level, |solver, (block, _)| {
            solver.solve(block, false)
        });
    }
    Ok(())
}

/// A thread's tools for the blocks of one slice.
struct BlockSolver<'s, R: Rules> {
    store: &'s DtwStore<R::Geometry>,
    slice: &'s PlaneSlice<R::Geometry>,
    distances: &'s DtwDistances<R::Geometry>,
    successors: Successors<'s, R>,
    white: Adjacency<W<R>>,
    black: Adjacency<W<R>>,
    sides: ByColor<Words<W<R>>>,
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>> BlockSolver<'s, R> {
    fn new(
        store: &'s DtwStore<R::Geometry>,
        slice: &'s PlaneSlice<R::Geometry>,
        distances: &'s DtwDistances<R::Geometry>,
    ) -> Self {
        let words = || match slice.fast() {
            Fast::King => Words::new(slice.rows(), slice.columns()),
            Fast::Man => Words::new(0, 1),
        };
        BlockSolver {
            store,
            slice,
            distances,
            successors: Successors::new(store),
            white: Adjacency::new(),
            black: Adjacency::new(),
            sides: ByColor::new(words(), words()),
        }
    }

    /// Solves a block; returns whether a distance changed.
    fn solve(&mut self, block: u64, parallel: bool) -> bool {
        let men = self.slice.blocks().block_unrank(block);
        match self.slice.fast() {
            Fast::King => self.solve_kings(block, men, parallel),
            Fast::Man => self.solve_men(block, men),
        }
    }

    fn solve_kings(&mut self, block: u64, men: ByColor<W<R>>, parallel: bool) -> bool {
        let free = R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]);
        let kings = |side| self.slice.slice().kings(side);
        let (dirs, flying) = (R::SET.king_moves, R::SET.flying);
        self.white
            .build::<R::Geometry>(Portable, kings(Color::White), free, dirs, flying);
        self.black
            .build::<R::Geometry>(Portable, kings(Color::Black) - 1, free, dirs, flying);

        let scene = Scene {
            slice: self.slice,
            first: block as usize * self.slice.block_words(),
            men,
            free,
            man_moves: ManMoves::new::<R>(self.distances.index(), men),
            distances: self.distances,
            white: &self.white,
            black: &self.black,
        };
        let columns = self.slice.columns();
        for side in Color::BOTH {
            let rows = self.sides[side].rows_mut(columns).enumerate();
            if parallel {
                let tools = PerThread::new(|| Successors::new(self.store));
                parallel::for_each_of(rows.collect(), &|_, (row, words)| {
                    tools.with(|successors| scene.enter_row(successors, side, row, words));
                });
            } else {
                rows.for_each(|(row, words)| {
                    scene.enter_row(&mut self.successors, side, row, words)
                });
            }
        }

        let geometry = layers::Block::<R> {
            free,
            white: &self.white,
            black: &self.black,
            parallel,
        };
        let distances = self.distances.block(men);
        let changed = AtomicBool::new(false);
        geometry.solve(&mut self.sides, |side, row, column, squares, plies| {
            let (white, black) = (self.white.sets[row], self.black.sets[column]);
            if distances.update(side, row, (white, black), squares, plies.into()) {
                changed.store(true, Relaxed);
            }
        });
        changed.into_inner()
    }

    /// A slice without kings: the moves of all men but the fast one lead to blocks of earlier
    /// levels, those of the fast one to squares nearer to its promotion row.
    fn solve_men(&mut self, block: u64, men: ByColor<W<R>>) -> bool {
        let mut changed = false;
        let planes = ByColor(Color::BOTH.map(|side| self.slice.load(side, block as usize)));
        let decided = |side| planes[side].win | planes[side].loss;
        for rank in R::Geometry::RANK {
            for side in Color::BOTH {
                for fast in (decided(side) & rank).bits() {
                    let mut board = Board {
                        men,
                        kings: ByColor::default(),
                        side,
                    };
                    board.men[Color::Black] |= fast;
                    let number = self.distances.index().block_rank(board.men);
                    let before = self.distances.get(side, number);
                    // The position is met once for each black man.
                    if !R::SET.has_lateral_moves() && before != UNKNOWN {
                        continue;
                    }
                    let won = (planes[side].win & fast).any();
                    let plies = distance(&mut self.successors, self.distances, &board, won);
                    changed |= plies != UNKNOWN && self.distances.enter(side, number, plies.into());
                }
            }
        }
        changed
    }
}

/// A block while its positions are entered.
struct Scene<'b, R: Rules> {
    slice: &'b PlaneSlice<R::Geometry>,
    /// Its first word.
    first: usize,
    men: ByColor<W<R>>,
    free: W<R>,
    man_moves: ManMoves<W<R>>,
    distances: &'b DtwDistances<R::Geometry>,
    white: &'b Adjacency<W<R>>,
    black: &'b Adjacency<W<R>>,
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>> Scene<'_, R> {
    /// Enters the won and lost positions of a row with their bounds.
    fn enter_row(
        &self,
        successors: &mut Successors<R>,
        side: Color,
        row: usize,
        mut words: layers::Row<W<R>>,
    ) {
        words.clear();
        let mut steps = WordSteps::new();
        let white = self.white.sets[row];
        for (column, &others) in self.black.sets.iter().enumerate() {
            if (white & others).any() {
                continue;
            }
            let word = self.first + row * self.slice.columns() + column;
            let planes = self.slice.load(side, word);
            let decided = (planes.win | planes.loss) & others.below_lowest();
            if decided.any() {
                let index = self.distances.index();
                steps.fill(index, &self.man_moves, side, white, others);
            }
            for square in decided.bits() {
                let black = BlackKings {
                    all: others | square,
                    free: self.free,
                    lowest: (column, square),
                };
                let board = Board {
                    men: self.men,
                    kings: ByColor::new(white, black.all),
                    side,
                };
                let won = (planes.win & square).any();
                let bound = bound(
                    successors,
                    self.distances,
                    &self.man_moves,
                    &steps,
                    &board,
                    square,
                    won,
                );
                let known = bound.plies != UNKNOWN;
                if !bound.any && !movegen::has_move::<R>(&board) {
                    words.ends(won, 0, column, square);
                } else if bound.captures {
                    if known {
                        words.ends(won, bound.plies, column, square);
                    }
                } else if won {
                    words.wins(known.then_some(bound.plies), &black);
                } else if known {
                    words.loses(bound.plies, &black);
                }
            }
        }
        words.sort();
    }
}
