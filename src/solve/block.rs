//! One men block: the positions that king moves connect.
//!
//! First every word is settled as far as captures and man moves settle it, from solved slices and
//! solved blocks; then quiet king moves are iterated to the fixed point (see [`sweep`]).

mod lists;
mod mirror;
mod settle;

use self::lists::ManMove;
use self::mirror::Mirror;
use self::settle::{Scene, Seeker, SettleRows};
use super::adjacency::Adjacency;
use super::capture::{ManStrike, Taken};
use super::cpu::{Cpu, Task};
use super::distances::{BlockDistances, DtcDistances, Narrow};
use super::levels::Block;
use super::planes::{Fast, PlaneSlice, PlaneWord, Planes};
use super::store::Store;
use super::sweep::{self, Decided, GROUP, Rows, Sides};
use crate::board::{ByColor, Color, Geometry};
use crate::parallel::{self, PerThread};
use crate::rules::Rules;
use crate::table::Wdl;

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// A thread's tools for solving blocks of one slice.
pub struct BlockSolver<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    cpu: C,
    /// The fast piece is a king.
    fast_king: bool,
    store: &'s Store<R::Geometry>,
    slice: &'s PlaneSlice<R::Geometry>,
    seeker: Seeker<'s, R, C>,
    white: Adjacency<W<R>>,
    black: Adjacency<W<R>>,
    man_moves: ByColor<Vec<ManMove<'s, R>>>,
    taken: Vec<Taken<'s, R>>,
    sides: ByColor<Sides<W<R>>>,
    rows: Rows,
    columns_list: Vec<u32>,
    man_strikes: Vec<ManStrike<'s, R>>,
    /// Results with Black to move after a white king has taken the fast king, by row and column;
    /// empty if Black has no other piece.
    fast_taken: Vec<Wdl>,
}

/// Enters distances as they are found.
struct Record<'t, G: Geometry> {
    block: BlockDistances<'t, G, Narrow>,
    white: &'t [G::Word],
    black: &'t [G::Word],
}

impl<G: Geometry<Word: PlaneWord>> Decided<G::Word> for Record<'_, G> {
    #[inline(always)]
    fn decided(&self, side: Color, row: usize, column: usize, squares: G::Word, plies: u32) {
        let kings = (self.white[row], self.black[column]);
        // SAFETY: a thread decides words of rows it alone works on, and whoever solves the slice has
        // the distances for himself.
        unsafe { self.block.record(side, row, kings, squares, plies) };
    }
}

/// See [`BlockSolver::solve`].
struct SolveBlock<'t, 's, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    solver: &'t mut BlockSolver<'s, R, C>,
    block: Block<R::Geometry>,
    distances: Option<&'t DtcDistances<R::Geometry>>,
    parallel: bool,
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Task for SolveBlock<'_, '_, R, C> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.solver
            .solve_inlined(self.block, self.distances, self.parallel)
    }
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> BlockSolver<'s, R, C> {
    pub fn new(cpu: C, store: &'s Store<R::Geometry>, slice: &'s PlaneSlice<R::Geometry>) -> Self {
        let words = slice.block_words();
        BlockSolver {
            cpu,
            fast_king: slice.fast() == Fast::King,
            store,
            slice,
            seeker: Seeker::new(cpu, store),
            white: Adjacency::new(),
            black: Adjacency::new(),
            man_moves: ByColor::new(Vec::new(), Vec::new()),
            taken: Vec::new(),
            sides: ByColor::new(Sides::new(words), Sides::new(words)),
            rows: Rows::new(slice.rows()),
            columns_list: Vec::new(),
            man_strikes: Vec::new(),
            fast_taken: Vec::new(),
        }
    }

    /// Solves a block and stores its results, and distances to conversion if asked for.
    /// `parallel`: share the rows of the block out over the threads. Returns whether anything
    /// stored changed, which can only be false where a block is solved again.
    pub fn solve(
        &mut self,
        block: Block<R::Geometry>,
        distances: Option<&DtcDistances<R::Geometry>>,
        parallel: bool,
    ) -> bool {
        let cpu = self.cpu;
        cpu.run(SolveBlock {
            solver: self,
            block,
            distances,
            parallel,
        })
    }

    #[inline(always)]
    fn solve_inlined(
        &mut self,
        (block, men): Block<R::Geometry>,
        distances: Option<&DtcDistances<R::Geometry>>,
        parallel: bool,
    ) -> bool {
        let mirrored = self.mirrored(block, men).filter(|_| distances.is_none());
        if mirrored.is_some_and(|twin| twin < block) {
            return false;
        }
        // Small blocks lie far apart. Until something is to be stored there is much to look up.
        self.slice.prefetch(block);
        let distances = distances.map(|distances| distances.block(men));
        if let Some(distances) = &distances {
            distances.prefetch();
        }
        self.prepare(men);
        self.look_up_fast_taken(men);
        self.settle(men, distances.as_ref(), parallel);
        let words = sweep::Block::<R, C> {
            cpu: self.cpu,
            free: R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]),
            white: &self.white,
            black: &self.black,
            fast_king: self.fast_king,
            parallel,
        };
        match distances {
            None => words.results(&mut self.sides, &mut self.rows),
            Some(block) => {
                let record = Record {
                    block,
                    white: &self.white.sets,
                    black: &self.black.sets,
                };
                words.layers(&mut self.sides, &mut self.rows, &record);
            }
        }
        let changed = self.write(block);
        if let Some(twin) = mirrored.filter(|&twin| twin > block) {
            self.cpu.run(Mirror {
                slice: self.slice,
                block,
                twin,
                men,
            });
        }
        changed
    }

    /// The block with the men turned and colours exchanged, if it belongs to the same slice: it
    /// need not be solved again.
    #[inline(always)]
    fn mirrored(&self, block: u64, men: ByColor<W<R>>) -> Option<u64> {
        if !self.slice.slice().is_symmetric() || !self.fast_king || R::SET.has_lateral_moves() {
            return None;
        }
        let twin = self
            .slice
            .blocks()
            .block_rank(men.map(R::Geometry::turn).swapped());
        (twin != block).then_some(twin)
    }

    /// Settles every word of the block as far as captures and man moves do.
    #[inline(always)]
    fn settle(
        &mut self,
        men: ByColor<W<R>>,
        distances: Option<&BlockDistances<'_, R::Geometry, Narrow>>,
        parallel: bool,
    ) {
        let words = GROUP * self.slice.columns();
        let ByColor([white_side, black_side]) = &mut self.sides;
        let ByColor([white_changed, black_changed]) = &mut self.rows.changed;
        let changed = white_changed.groups_mut().iter_mut();
        let groups = white_side
            .rows_mut(words)
            .zip(black_side.rows_mut(words))
            .zip(changed.zip(black_changed.groups_mut()))
            .enumerate();
        let scene = Scene::<R, C> {
            cpu: self.cpu,
            fast_king: self.fast_king,
            men,
            white: &self.white,
            black: &self.black,
            man_moves: &self.man_moves,
            taken: &self.taken,
            columns_list: &self.columns_list,
            man_strikes: &self.man_strikes,
            fast_taken: &self.fast_taken,
        };
        let settle = |seeker: &mut Seeker<'s, R, C>, group, white_words, black_words| {
            scene.cpu.run(SettleRows::<R, C> {
                scene: &scene,
                distances,
                seeker,
                first: group * GROUP,
                white: white_words,
                black: black_words,
            })
        };
        if parallel {
            let seekers = PerThread::new(|| Seeker::new(self.cpu, self.store));
            parallel::for_each_of(
                groups.collect(),
                &|_, (group, ((white, black), changed))| {
                    let marks = seekers.with(|seeker| settle(seeker, group, white, black));
                    (*changed.0, *changed.1) = marks.0.into();
                },
            );
        } else {
            for (group, ((white, black), changed)) in groups {
                let marks = settle(&mut self.seeker, group, white, black);
                (*changed.0, *changed.1) = marks.0.into();
            }
        }
    }

    /// Stores the results of the block; returns whether any is new.
    #[inline(always)]
    fn write(&self, block: u64) -> bool {
        let first = block as usize * self.slice.block_words();
        let mut changed = false;
        for side in Color::BOTH {
            let words = &self.sides[side];
            for i in 0..self.slice.block_words() {
                let planes = Planes {
                    win: words.win[i],
                    loss: words.loss[i],
                };
                if R::SET.has_lateral_moves() {
                    changed |= self.slice.load(side, first + i) != planes;
                }
                self.slice.store(side, first + i, planes);
            }
        }
        changed
    }
}
