//! One men block: the positions that king moves connect.
//!
//! First every word is settled as far as captures and man moves settle it, from solved slices and
//! solved blocks; then quiet king moves are iterated to the fixed point (see [`sweep`]).

use rayon::prelude::*;

use super::adjacency::Adjacency;
use super::capture::{Captures, Ray, RaySquare, Strikes, Tally, promotion_row};
use super::cpu::{Cpu, Task};
use super::distances::Distances;
use super::lookup::{Lookup, Pieces, no_move};
use super::planes::{PlaneSlice, PlaneWord, Planes};
use super::store::Store;
use super::sweep::{self, Changed, Row, Settled, Sides};
use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::rank;
use crate::rules::Rules;
use crate::table::Wdl;

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// A thread's tools for solving blocks of one slice.
pub struct BlockSolver<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C, const FAST_KING: bool>
{
    cpu: C,
    store: &'s Store<R::Geometry>,
    slice: &'s PlaneSlice<R::Geometry>,
    seeker: Seeker<'s, R>,
    white: Adjacency<W<R>>,
    black: Adjacency<W<R>>,
    man_moves: ByColor<Vec<ManMove<W<R>>>>,
    sides: ByColor<Sides<W<R>>>,
    changed: Changed,
    /// Results with Black to move after a white king has taken the fast king, by row and column;
    /// empty if Black has no other piece.
    fast_taken: Vec<Wdl>,
}

/// What a thread needs to ask for successors, and room for what follows from a row.
struct Seeker<'s, R: Rules> {
    lookup: Lookup<'s, R>,
    tallies: Vec<(u64, Tally<W<R>>)>,
    rays: Vec<Ray<W<R>>>,
    squares: Vec<RaySquare<W<R>>>,
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>> Seeker<'s, R> {
    fn new(store: &'s Store<R::Geometry>) -> Self {
        Seeker {
            lookup: Lookup::new(store),
            tallies: Vec::new(),
            rays: Vec::new(),
            squares: Vec::new(),
        }
    }
}

struct ManMove<W> {
    from: W,
    to: W,
    promotes: bool,
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu, const FAST_KING: bool>
    BlockSolver<'s, R, C, FAST_KING>
{
    pub fn new(cpu: C, store: &'s Store<R::Geometry>, slice: &'s PlaneSlice<R::Geometry>) -> Self {
        let words = slice.block_words();
        let changed = || vec![false; slice.rows()];
        BlockSolver {
            cpu,
            store,
            slice,
            seeker: Seeker::new(store),
            white: Adjacency::new(),
            black: Adjacency::new(),
            man_moves: ByColor::new(Vec::new(), Vec::new()),
            sides: ByColor::new(Sides::new(words), Sides::new(words)),
            changed: ByColor::new(changed(), changed()),
            fast_taken: Vec::new(),
        }
    }

    /// Solves a block and stores its results, and distances to conversion if asked for.
    /// `parallel`: share the rows of the block out over the threads. Returns whether anything
    /// stored changed, which can only be false where a block is solved again.
    pub fn solve(
        &mut self,
        block: u64,
        men: ByColor<W<R>>,
        distances: Option<&Distances<R::Geometry>>,
        parallel: bool,
    ) -> bool {
        self.prepare(men);
        self.look_up_fast_taken(men);
        if distances.is_some() {
            self.settle::<true>(men, parallel);
        } else {
            self.settle::<false>(men, parallel);
        }
        let words = sweep::Block::<R, C> {
            cpu: self.cpu,
            free: R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]),
            white: &self.white,
            black: &self.black,
            fast_king: FAST_KING,
            parallel,
        };
        match distances {
            None => words.results(&mut self.sides, &mut self.changed),
            Some(distances) => {
                let of_block = distances.block(men);
                let (white, black) = (&self.white.sets, &self.black.sets);
                words.layers(
                    &mut self.sides,
                    &mut self.changed,
                    |side, row, column, new, plies| {
                        of_block.record(side, row, white[row], black[column], new, plies);
                    },
                );
            }
        }
        self.write(block)
    }

    fn prepare(&mut self, men: ByColor<W<R>>) {
        let free = R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]);
        let slice = self.slice.slice();
        let (dirs, flying) = (R::SET.king_moves, R::SET.flying);
        self.white
            .build::<R::Geometry>(slice.kings(Color::White), free, dirs, flying);
        let others = slice.kings(Color::Black).saturating_sub(1);
        self.black.build::<R::Geometry>(others, free, dirs, flying);
        for side in Color::BOTH {
            let moves = &mut self.man_moves[side];
            moves.clear();
            let forward = R::SET.man_moves;
            let dirs = if side == Color::White {
                forward
            } else {
                forward.reversed()
            };
            for from in men[side].bits() {
                for d in dirs.iter() {
                    let to = R::Geometry::step(from, d) & free;
                    if to.any() {
                        let promotes = (to & promotion_row::<R>(side)).any();
                        moves.push(ManMove { from, to, promotes });
                    }
                }
            }
        }
    }

    /// Fills in [`BlockSolver::fast_taken`].
    fn look_up_fast_taken(&mut self, men: ByColor<W<R>>) {
        self.fast_taken.clear();
        let slice = self.slice.slice();
        let alone = slice.pieces(Color::Black) == 1;
        if FAST_KING && !alone && slice.kings(Color::White) > 0 {
            self.cpu.run(FastTaken::<R> {
                men,
                white: &self.white.sets,
                black: &self.black.sets,
                lookup: &mut self.seeker.lookup,
                results: &mut self.fast_taken,
            });
        }
    }

    /// Settles every word of the block as far as captures and man moves do.
    fn settle<const LAYERED: bool>(&mut self, men: ByColor<W<R>>, parallel: bool) {
        let columns = self.slice.columns();
        let ByColor([white_side, black_side]) = &mut self.sides;
        let ByColor([white_changed, black_changed]) = &mut self.changed;
        let rows = white_side
            .rows_mut(columns)
            .zip(black_side.rows_mut(columns))
            .zip(white_changed)
            .zip(black_changed)
            .enumerate();
        let scene = Scene::<R, C, FAST_KING> {
            cpu: self.cpu,
            men,
            white: &self.white,
            black: &self.black,
            man_moves: &self.man_moves,
            fast_taken: &self.fast_taken,
        };
        let settle = |seeker: &mut Seeker<'_, R>, row, white_words, black_words| {
            let task = SettleRow::<R, C, FAST_KING, LAYERED> {
                scene: &scene,
                seeker,
                row,
                white: white_words,
                black: black_words,
            };
            scene.cpu.run(task)
        };
        if parallel {
            let rows: Vec<_> = rows.collect();
            rows.into_par_iter().for_each_init(
                || Seeker::new(self.store),
                |seeker, (row, (((white, black), white_changed), black_changed))| {
                    (*white_changed, *black_changed) = settle(seeker, row, white, black);
                },
            );
        } else {
            for (row, (((white, black), white_changed), black_changed)) in rows {
                (*white_changed, *black_changed) = settle(&mut self.seeker, row, white, black);
            }
        }
    }

    /// Stores the results of the block; returns whether any is new.
    fn write(&self, block: u64) -> bool {
        let first = block as usize * self.slice.block_words();
        let mut changed = false;
        for side in Color::BOTH {
            let words = &self.sides[side];
            for i in 0..self.slice.block_words() {
                let mut planes = Planes {
                    win: words.win[i],
                    loss: words.loss[i],
                };
                if planes.win == W::<R>::ALL {
                    planes = Planes::default();
                }
                if R::SET.has_lateral_moves() {
                    changed |= self.slice.load(side, first + i) != planes;
                }
                self.slice.store(side, first + i, planes);
            }
        }
        changed
    }
}

/// Looks up the results after a white king has taken the fast king.
struct FastTaken<'t, 's, R: Rules> {
    men: ByColor<W<R>>,
    white: &'t [W<R>],
    black: &'t [W<R>],
    lookup: &'t mut Lookup<'s, R>,
    results: &'t mut Vec<Wdl>,
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>> Task for FastTaken<'_, '_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for &white in self.white {
            for &others in self.black {
                self.results.push(if (white & others).any() {
                    Wdl::Draw
                } else {
                    let kings = ByColor::new(white, others);
                    self.lookup.single(
                        Color::Black,
                        &Pieces {
                            men: self.men,
                            kings,
                        },
                    )
                });
            }
        }
    }
}

/// The men of a block and what follows from them.
struct Scene<'b, R: Rules, C, const FAST_KING: bool> {
    cpu: C,
    men: ByColor<W<R>>,
    white: &'b Adjacency<W<R>>,
    black: &'b Adjacency<W<R>>,
    man_moves: &'b ByColor<Vec<ManMove<W<R>>>>,
    fast_taken: &'b [Wdl],
}

/// Settles the words of a row for both sides to move; says for each whether any result is final.
struct SettleRow<'t, 's, R: Rules, C, const FAST_KING: bool, const LAYERED: bool> {
    scene: &'t Scene<'t, R, C, FAST_KING>,
    seeker: &'t mut Seeker<'s, R>,
    row: usize,
    white: Row<'t, W<R>>,
    black: Row<'t, W<R>>,
}

impl<R, C, const FAST_KING: bool, const LAYERED: bool> Task
    for SettleRow<'_, '_, R, C, FAST_KING, LAYERED>
where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    type Output = (bool, bool);

    #[inline(always)]
    fn run(mut self) -> (bool, bool) {
        let scene = self.scene;
        let kings = scene.white.sets[self.row];
        scene.cast_rays(self.seeker, kings);
        let mut changed = (false, false);
        for (column, &others) in scene.black.sets.iter().enumerate() {
            if (kings & others).any() {
                self.white.forbid(column);
                self.black.forbid(column);
                continue;
            }
            let pieces = Pieces {
                men: scene.men,
                kings: ByColor::new(kings, others),
            };
            let place = (self.row, column);
            // White first: the moves of a fast man lead to words with White to move just settled.
            let mut white_results = Planes::default();
            for side in Color::BOTH {
                let settled = scene.settle_word(self.seeker, &pieces, side, place, white_results);
                if side == Color::White {
                    white_results = Planes {
                        win: settled.ended.win | settled.next.win,
                        loss: settled.ended.loss | settled.next.loss,
                    };
                    changed.0 |= self.white.enter::<LAYERED>(column, settled);
                } else {
                    changed.1 |= self.black.enter::<LAYERED>(column, settled);
                }
            }
        }
        changed
    }
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu, const FAST_KING: bool>
    Scene<'_, R, C, FAST_KING>
{
    /// Lists the lines along which White's kings can take the fast king.
    #[inline(always)]
    fn cast_rays(&self, seeker: &mut Seeker<R>, kings: W<R>) {
        seeker.rays.clear();
        seeker.squares.clear();
        let free = R::Geometry::BOARD & !(self.men[Color::White] | self.men[Color::Black]);
        let empty = free & !kings;
        for king in kings.bits() {
            for d in R::SET.king_captures.iter() {
                let first = seeker.squares.len();
                let mut square = R::Geometry::step(king, d) & empty;
                while square.any() {
                    let row = rank((kings ^ king) | square, free) as u32;
                    seeker.squares.push(RaySquare { square, row });
                    if !R::SET.flying && seeker.squares.len() - first == 2 {
                        break;
                    }
                    square = R::Geometry::step(square, d) & empty;
                }
                let end = seeker.squares.len();
                if end - first < 2 {
                    seeker.squares.truncate(first);
                    continue;
                }
                let (first, end) = (first as u32, end as u32);
                seeker.rays.push(Ray {
                    king,
                    dir: d as u8,
                    first,
                    end,
                });
            }
        }
    }

    #[inline(always)]
    fn settle_word(
        &self,
        seeker: &mut Seeker<R>,
        pieces: &Pieces<W<R>>,
        side: Color,
        (row, column): (usize, usize),
        white_results: Planes<W<R>>,
    ) -> Settled<W<R>> {
        let empty = R::Geometry::BOARD & !pieces.all();
        let mask = if FAST_KING {
            empty
        } else {
            empty & !R::Geometry::BOTTOM
        };
        let strikes = Strikes {
            rays: &seeker.rays,
            squares: &seeker.squares,
            results: self.fast_taken,
            columns: self.black.sets.len(),
        };
        let captures = Captures::<R, C, FAST_KING> {
            cpu: self.cpu,
            lookup: &mut seeker.lookup,
            tallies: &mut seeker.tallies,
            pieces: *pieces,
            side,
            column,
        }
        .resolve(mask, &strikes);
        let quiet = mask & !captures.any;
        let mut moves = self.man_moves(seeker, pieces, side, quiet);
        if !FAST_KING && side == Color::Black {
            self.fast_man_moves(seeker, pieces, quiet, white_results, &mut moves);
        }
        let no_king_move = self.kings_stuck(pieces, side, row, column, empty);
        let stuck = quiet & !moves.any & no_king_move;
        let ended = match no_move::<R>() {
            Wdl::Win => Planes {
                win: stuck,
                loss: W::<R>::ZERO,
            },
            _ => Planes {
                win: W::<R>::ZERO,
                loss: stuck,
            },
        };
        let win = (captures.any & captures.win) | moves.win;
        let loss = (captures.any & !captures.safe) | (moves.any & no_king_move & !moves.safe);
        let open = quiet & !stuck;
        Settled {
            ended,
            next: Planes { win, loss },
            open,
            doomed: open & !moves.safe,
        }
    }

    /// The quiet moves of the fixed men.
    #[inline(always)]
    fn man_moves(
        &self,
        seeker: &mut Seeker<R>,
        pieces: &Pieces<W<R>>,
        side: Color,
        quiet: W<R>,
    ) -> Tally<W<R>> {
        let mut moves = Tally::default();
        let occupied = pieces.all();
        for m in &self.man_moves[side] {
            let mask = quiet & !m.to;
            if (m.to & occupied).any() || mask.is_empty() {
                continue;
            }
            let mut after = *pieces;
            after.men[side] ^= m.from;
            let successors = if m.promotes && !R::SET.has_kings() {
                Planes::splat(Wdl::Loss)
            } else {
                if m.promotes {
                    after.kings[side] |= m.to;
                } else {
                    after.men[side] |= m.to;
                }
                if FAST_KING {
                    seeker.lookup.with_king(!side, &after, mask)
                } else {
                    seeker.lookup.with_man(!side, &after, mask)
                }
            };
            moves.add(mask, successors);
        }
        moves
    }

    /// The quiet moves of the fast man, which is Black's.
    fn fast_man_moves(
        &self,
        seeker: &mut Seeker<R>,
        pieces: &Pieces<W<R>>,
        quiet: W<R>,
        white_results: Planes<W<R>>,
        moves: &mut Tally<W<R>>,
    ) {
        let empty = R::Geometry::BOARD & !pieces.all();
        let crowned = empty & R::Geometry::BOTTOM;
        let mut there = Planes {
            win: white_results.win & !R::Geometry::BOTTOM,
            loss: white_results.loss & !R::Geometry::BOTTOM,
        };
        let after = if R::SET.has_kings() {
            seeker.lookup.with_king(Color::White, pieces, crowned)
        } else {
            Planes::splat(Wdl::Loss)
        };
        there.win |= after.win & crowned;
        there.loss |= after.loss & crowned;
        for d in R::SET.man_moves.reversed().iter() {
            // Where the man stands, seen from where it goes.
            let before = |to: W<R>| R::Geometry::step(to & empty, d ^ 4) & quiet;
            moves.any |= before(empty);
            moves.win |= before(there.loss);
            moves.safe |= before(!there.win);
        }
    }

    /// Squares of the fast piece on which no king of `side` can move.
    #[inline(always)]
    fn kings_stuck(
        &self,
        pieces: &Pieces<W<R>>,
        side: Color,
        row: usize,
        column: usize,
        empty: W<R>,
    ) -> W<R> {
        let steps = match side {
            Color::White => self.white.steps[row] & !pieces.kings[Color::Black],
            Color::Black => self.black.steps[column] & !pieces.kings[Color::White],
        };
        // The fast piece can stand on one square only.
        if steps.several() {
            return W::<R>::ZERO;
        }
        let fixed = if steps.any() { steps } else { W::<R>::ALL };
        if side == Color::White || !FAST_KING {
            return fixed;
        }
        let mobile = R::SET.king_moves.iter().fold(W::<R>::ZERO, |mobile, d| {
            mobile | R::Geometry::step(empty, d)
        });
        fixed & !mobile
    }
}
