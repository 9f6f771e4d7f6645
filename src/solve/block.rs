//! One men block: the positions that king moves connect.
//!
//! First every word is settled as far as captures and man moves settle it, from solved slices and
//! solved blocks; then quiet king moves are iterated to the fixed point (see [`sweep`]).

use super::adjacency::Adjacency;
use super::capture::{
    Captures, Columns, ManStrike, Ray, RaySquare, Strikes, Taken, Tally, Victim, promotion_row,
};
use super::cpu::{Cpu, Task};
use super::distances::Distances;
use super::levels::Block;
use super::lookup::{Found, Lookup, Pieces, no_move};
use super::planes::{Fast, PlaneSlice, PlaneWord, Planes};
use super::store::Store;
use super::sweep::{self, Row, Rows, Settled, Sides};
use crate::board::{ByColor, Color, Geometry, Word, each_direction};
use crate::index::{Subsets, rank};
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

/// See [`BlockSolver::solve`].
struct SolveBlock<'t, 's, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    solver: &'t mut BlockSolver<'s, R, C>,
    block: Block<R::Geometry>,
    distances: Option<&'t Distances<R::Geometry>>,
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

/// What a thread needs to ask for successors, and room for what follows from a row.
struct Seeker<'s, R: Rules, C> {
    lookup: Lookup<'s, R, C>,
    tallies: Vec<(u64, Tally<W<R>>)>,
    rays: Vec<Ray<W<R>>>,
    squares: Vec<RaySquare<W<R>>>,
    victims: Vec<Victim<W<R>>>,
    /// First words of the rows the man moves of each side lead to.
    rows: ByColor<Vec<usize>>,
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Seeker<'s, R, C> {
    fn new(cpu: C, store: &'s Store<R::Geometry>) -> Self {
        Seeker {
            lookup: Lookup::new(cpu, store),
            tallies: Vec::new(),
            rays: Vec::new(),
            squares: Vec::new(),
            victims: Vec::new(),
            rows: ByColor::new(Vec::new(), Vec::new()),
        }
    }
}

/// A step of a fixed man to a square free of men.
struct ManMove<'s, R: Rules> {
    from: W<R>,
    to: W<R>,
    promotes: bool,
    /// Where the results lie, with a fast king.
    found: Found<'s, R::Geometry>,
    columns: Columns,
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
        distances: Option<&Distances<R::Geometry>>,
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
        distances: Option<&Distances<R::Geometry>>,
        parallel: bool,
    ) -> bool {
        let mirrored = self.mirrored(block, men).filter(|_| distances.is_none());
        if mirrored.is_some_and(|twin| twin < block) {
            return false;
        }
        self.prepare(men);
        self.look_up_fast_taken(men);
        self.settle(men, distances.is_some(), parallel);
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
            Some(distances) => {
                let of_block = distances.block(men);
                let (white, black) = (&self.white.sets, &self.black.sets);
                words.layers(
                    &mut self.sides,
                    &mut self.rows,
                    |side, row, column, new, plies| {
                        of_block.record(side, row, white[row], black[column], new, plies);
                    },
                );
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

    #[inline(always)]
    fn prepare(&mut self, men: ByColor<W<R>>) {
        let free = R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]);
        let slice = self.slice.slice();
        let (dirs, flying) = (R::SET.king_moves, R::SET.flying);
        self.white
            .build::<R::Geometry>(self.cpu, slice.kings(Color::White), free, dirs, flying);
        let others = slice.kings(Color::Black).saturating_sub(1);
        self.black
            .build::<R::Geometry>(self.cpu, others, free, dirs, flying);
        self.columns_list.clear();
        for side in Color::BOTH {
            self.list_man_moves(men, side, free);
        }
        self.list_man_strikes(men, free);
        self.taken.clear();
        if self.fast_king {
            let [white, black] = Color::BOTH.map(|c| slice.kings(c) as u32);
            for victim in men[Color::White].bits() {
                let after = ByColor::new(men[Color::White] ^ victim, men[Color::Black]);
                let found = self.seeker.lookup.find(after, [white, black], false);
                let columns = list_columns(
                    &found,
                    &self.black.sets,
                    W::<R>::ZERO,
                    &mut self.columns_list,
                );
                self.taken.push(Taken {
                    men: victim,
                    king: false,
                    found,
                    columns,
                });
            }
            if white > 0 {
                let found = self.seeker.lookup.find(men, [white - 1, black], false);
                let columns = if found.is_direct() {
                    Columns::Same
                } else {
                    Columns::None
                };
                self.taken.push(Taken {
                    men: W::<R>::ZERO,
                    king: true,
                    found,
                    columns,
                });
            }
        }
    }

    /// Lists where white men may take the fast piece.
    #[inline(always)]
    fn list_man_strikes(&mut self, men: ByColor<W<R>>, free: W<R>) {
        self.man_strikes.clear();
        if self.fast_king && !R::SET.man_takes_king {
            return;
        }
        let kings = Color::BOTH.map(|c| self.slice.slice().kings(c) as u32);
        for man in men[Color::White].bits() {
            for dir in R::SET.man_captures.iter() {
                let fast = R::Geometry::step(man, dir) & free;
                let to = R::Geometry::step(fast, dir) & free;
                if to.is_empty() {
                    continue;
                }
                let mut after = men;
                let mut kings = kings;
                after[Color::White] ^= man;
                kings[1] -= u32::from(self.fast_king);
                if (to & R::Geometry::TOP).is_empty() {
                    after[Color::White] |= to;
                } else {
                    kings[0] += 1;
                }
                let found = if kings[0] > 0 && !R::SET.has_kings() {
                    Found::Nothing
                } else {
                    self.seeker.lookup.find(after, kings, false)
                };
                self.man_strikes.push(ManStrike {
                    man,
                    fast,
                    to,
                    dir,
                    found,
                });
            }
        }
    }

    #[inline(always)]
    fn list_man_moves(&mut self, men: ByColor<W<R>>, side: Color, free: W<R>) {
        let moves = &mut self.man_moves[side];
        moves.clear();
        let forward = R::SET.man_moves;
        let dirs = if side == Color::White {
            forward
        } else {
            forward.reversed()
        };
        let kings = Color::BOTH.map(|c| self.slice.slice().kings(c) as u32);
        for from in men[side].bits() {
            for d in dirs.iter() {
                let to = R::Geometry::step(from, d) & free;
                if to.is_empty() {
                    continue;
                }
                let promotes = (to & promotion_row::<R>(side)).any();
                let (mut found, mut columns) = (Found::Nothing, Columns::None);
                if self.fast_king {
                    let mut after = men;
                    let mut kings = kings;
                    after[side] ^= from;
                    if promotes {
                        kings[side as usize] += 1;
                    } else {
                        after[side] |= to;
                    }
                    found = self.seeker.lookup.find(after, kings, false);
                    let crowned = promotes && side == Color::Black;
                    let more = if crowned { to } else { W::<R>::ZERO };
                    columns = list_columns(&found, &self.black.sets, more, &mut self.columns_list);
                }
                moves.push(ManMove {
                    from,
                    to,
                    promotes,
                    found,
                    columns,
                });
            }
        }
    }

    /// Fills in [`BlockSolver::fast_taken`].
    #[inline(always)]
    fn look_up_fast_taken(&mut self, men: ByColor<W<R>>) {
        self.fast_taken.clear();
        let slice = self.slice.slice();
        let alone = slice.pieces(Color::Black) == 1;
        if self.fast_king && !alone && slice.kings(Color::White) > 0 {
            self.cpu.run(FastTaken::<R, C> {
                men,
                white: &self.white.sets,
                black: &self.black.sets,
                lookup: &mut self.seeker.lookup,
                results: &mut self.fast_taken,
            });
        }
    }

    /// Settles every word of the block as far as captures and man moves do.
    #[inline(always)]
    fn settle(&mut self, men: ByColor<W<R>>, layered: bool, parallel: bool) {
        let columns = self.slice.columns();
        let ByColor([white_side, black_side]) = &mut self.sides;
        let ByColor([white_changed, black_changed]) = &mut self.rows.changed;
        let rows = white_side
            .rows_mut(columns)
            .zip(black_side.rows_mut(columns))
            .zip(white_changed)
            .zip(black_changed)
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
        let settle = |seeker: &mut Seeker<'s, R, C>, row, white_words, black_words| {
            let task = SettleRow::<R, C> {
                scene: &scene,
                layered,
                seeker,
                row,
                white: white_words,
                black: black_words,
            };
            scene.cpu.run(task)
        };
        if parallel {
            let seekers = PerThread::new(|| Seeker::new(self.cpu, self.store));
            parallel::for_each_of(rows.collect(), &|_,
                                                    (
                row,
                (((white, black), white_changed), black_changed),
            )| {
                (*white_changed, *black_changed) =
                    seekers.with(|seeker| settle(seeker, row, white, black));
            });
        } else {
            for (row, (((white, black), white_changed), black_changed)) in rows {
                (*white_changed, *black_changed) = settle(&mut self.seeker, row, white, black);
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

/// Lists the columns of another block for those of this one, one king more on `more`.
#[inline(always)]
fn list_columns<G: Geometry<Word: PlaneWord>>(
    found: &Found<'_, G>,
    sets: &[G::Word],
    more: G::Word,
    list: &mut Vec<u32>,
) -> Columns {
    if !found.is_direct() {
        return Columns::None;
    }
    let first = list.len() as u32;
    list.extend(sets.iter().map(|&set| {
        if (set & more).any() {
            0
        } else {
            found.column(set | more) as u32
        }
    }));
    Columns::Listed(first)
}

/// Looks up the results after a white king has taken the fast king.
struct FastTaken<'t, 's, R: Rules, C> {
    men: ByColor<W<R>>,
    white: &'t [W<R>],
    black: &'t [W<R>],
    lookup: &'t mut Lookup<'s, R, C>,
    results: &'t mut Vec<Wdl>,
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Task for FastTaken<'_, '_, R, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let counts = [self.white[0].count_ones(), self.black[0].count_ones()];
        let found = self.lookup.find(self.men, counts, false);
        for &white in self.white {
            for &others in self.black {
                self.results.push(if (white & others).any() {
                    Wdl::Draw
                } else {
                    found.result::<R>(Color::Black, ByColor::new(white, others))
                });
            }
        }
    }
}

/// Fills in the block in which the colours are exchanged.
struct Mirror<'t, G: Geometry> {
    slice: &'t PlaneSlice<G>,
    block: u64,
    twin: u64,
    /// The men of `block`.
    men: ByColor<G::Word>,
}

impl<G: Geometry<Word: PlaneWord>> Task for Mirror<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let slice = self.slice;
        let (columns, words) = (slice.columns(), slice.block_words());
        let free = G::BOARD & !(self.men[Color::White] | self.men[Color::Black]);
        let twin_free = G::turn(free);
        let (from, mut to) = (self.block as usize * words, self.twin as usize * words);
        let kings = slice.slice().kings(Color::White);
        let others: Vec<G::Word> = Subsets::new(kings - 1, twin_free).collect();
        for white in Subsets::new(kings, twin_free) {
            // White's kings in the twin are Black's here.
            let black = G::turn(white);
            let fast = black.lowest();
            let column = from + rank(black ^ fast, free) as usize;
            for &others in &others {
                let squares = twin_free & !white & !others;
                for side in Color::BOTH {
                    let mut planes = Planes::default();
                    if (white & others).is_empty() {
                        for square in squares.bits() {
                            let row = rank(G::turn(others | square), free) as usize;
                            let there = slice.load(!side, column + row * columns);
                            let if_fast = |plane: G::Word| {
                                if (plane & fast).any() {
                                    square
                                } else {
                                    G::Word::ZERO
                                }
                            };
                            planes.win |= if_fast(there.win);
                            planes.loss |= if_fast(there.loss);
                        }
                    }
                    slice.store(side, to, planes);
                }
                to += 1;
            }
        }
    }
}

/// The men of a block and what follows from them.
struct Scene<'b, 's, R: Rules, C> {
    cpu: C,
    fast_king: bool,
    men: ByColor<W<R>>,
    white: &'b Adjacency<W<R>>,
    black: &'b Adjacency<W<R>>,
    man_moves: &'b ByColor<Vec<ManMove<'s, R>>>,
    taken: &'b [Taken<'s, R>],
    columns_list: &'b [u32],
    man_strikes: &'b [ManStrike<'s, R>],
    fast_taken: &'b [Wdl],
}

/// Settles the words of a row for both sides to move; says for each whether any result is final.
struct SettleRow<'t, 's, R: Rules, C> {
    /// Keep apart what the next ply decides.
    layered: bool,
    scene: &'t Scene<'t, 's, R, C>,
    seeker: &'t mut Seeker<'s, R, C>,
    row: usize,
    white: Row<'t, W<R>>,
    black: Row<'t, W<R>>,
}

impl<R, C> Task for SettleRow<'_, '_, R, C>
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
        scene.find_rows(self.seeker, kings);
        scene.list_victims(self.seeker, kings);
        let mut changed = (false, false);
        let Seeker {
            lookup,
            tallies,
            rays,
            squares,
            victims,
            rows,
        } = self.seeker;
        let strikes = Strikes {
            taken: scene.taken,
            columns_list: scene.columns_list,
            men: scene.man_strikes,
            victims,
            rays,
            squares,
            results: scene.fast_taken,
            columns: scene.black.sets.len(),
        };
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
            // White first: the moves of a fast man lead to words with White to move just settled.
            let mut white_results = Planes::default();
            for side in Color::BOTH {
                let word = scene.captures(lookup, tallies, pieces, column, side);
                let rows = &rows[side];
                let settled = scene.settle_word(word, &strikes, self.row, rows, white_results);
                if side == Color::White {
                    white_results = Planes {
                        win: settled.ended.win | settled.next.win,
                        loss: settled.ended.loss | settled.next.loss,
                    };
                    changed.0 |= self.white.enter(self.layered, column, settled);
                } else {
                    changed.1 |= self.black.enter(self.layered, column, settled);
                }
            }
        }
        changed
    }
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Scene<'_, 's, R, C> {
    /// Finds the rows that the man moves of this row lead to.
    #[inline(always)]
    fn find_rows(&self, seeker: &mut Seeker<R, C>, kings: W<R>) {
        if !self.fast_king {
            return;
        }
        for side in Color::BOTH {
            let rows = &mut seeker.rows[side];
            rows.clear();
            for m in &self.man_moves[side] {
                let crowned = m.promotes && side == Color::White;
                let white = if crowned { kings | m.to } else { kings };
                rows.push(m.found.row(white));
            }
        }
    }

    /// Lists what the fast king may take in this row.
    #[inline(always)]
    fn list_victims(&self, seeker: &mut Seeker<R, C>, kings: W<R>) {
        seeker.victims.clear();
        for (i, taken) in self.taken.iter().enumerate() {
            let pieces = if taken.king { kings } else { taken.men };
            for piece in pieces.bits() {
                seeker.victims.push(Victim {
                    piece,
                    king: taken.king,
                    taken: i as u32,
                    row: taken.found.row(kings & !piece),
                });
            }
        }
    }

    /// Lists the lines along which White's kings can take the fast king.
    #[inline(always)]
    fn cast_rays(&self, seeker: &mut Seeker<R, C>, kings: W<R>) {
        seeker.rays.clear();
        seeker.squares.clear();
        let free = R::Geometry::BOARD & !(self.men[Color::White] | self.men[Color::Black]);
        let empty = free & !kings;
        for king in kings.bits() {
            for d in R::SET.king_captures.iter() {
                let first = seeker.squares.len();
                let mut square = R::Geometry::step(king, d) & empty;
                while square.any() {
                    // Nothing lands on the nearest square.
                    let nearest = seeker.squares.len() == first;
                    let row = if nearest {
                        0
                    } else {
                        rank((kings ^ king) | square, free) as u32
                    };
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
    fn captures<'a>(
        &self,
        lookup: &'a mut Lookup<'s, R, C>,
        tallies: &'a mut Vec<(u64, Tally<W<R>>)>,
        pieces: Pieces<W<R>>,
        column: usize,
        side: Color,
    ) -> Captures<'a, 's, R, C> {
        Captures {
            cpu: self.cpu,
            fast_king: self.fast_king,
            lookup,
            total: Tally::default(),
            tallies,
            pieces,
            side,
            column,
        }
    }

    /// Settles one word; `rows`: the first words of the rows its man moves lead to.
    #[inline(always)]
    fn settle_word(
        &self,
        mut word: Captures<'_, 's, R, C>,
        strikes: &Strikes<'_, 's, R>,
        row: usize,
        rows: &[usize],
        white_results: Planes<W<R>>,
    ) -> Settled<W<R>> {
        let (pieces, side, column) = (word.pieces, word.side, word.column);
        let empty = R::Geometry::BOARD & !pieces.all();
        let mask = if self.fast_king {
            empty
        } else {
            empty & !R::Geometry::BOTTOM
        };
        let captures = word.resolve(mask, strikes);
        let lookup = word.lookup;
        let quiet = mask & !captures.any;
        let mut moves = self.man_moves(lookup, &pieces, side, (rows, column), quiet);
        if !self.fast_king && side == Color::Black {
            self.fast_man_moves(lookup, &pieces, quiet, white_results, &mut moves);
        }
        let no_king_move = self.kings_stuck(&pieces, side, row, column, empty);
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
        lookup: &mut Lookup<'s, R, C>,
        pieces: &Pieces<W<R>>,
        side: Color,
        (rows, column): (&[usize], usize),
        quiet: W<R>,
    ) -> Tally<W<R>> {
        let mut moves = Tally::default();
        let occupied = pieces.all();
        for (i, m) in self.man_moves[side].iter().enumerate() {
            let mask = quiet & !m.to;
            if (m.to & occupied).any() || mask.is_empty() {
                continue;
            }
            if let Some(column) = m.columns.of(column, self.columns_list) {
                let word = rows[i] + column;
                moves.add(mask, m.found.word(!side, word));
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
                if self.fast_king {
                    lookup.with_king(!side, &after, mask)
                } else {
                    lookup.with_man(!side, &after, mask)
                }
            };
            moves.add(mask, successors);
        }
        moves
    }

    /// The quiet moves of the fast man, which is Black's.
    fn fast_man_moves(
        &self,
        lookup: &mut Lookup<'s, R, C>,
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
            lookup.with_king(Color::White, pieces, crowned)
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
        if side == Color::White || !self.fast_king {
            return fixed;
        }
        let mut mobile = W::<R>::ZERO;
        each_direction!(R::SET.king_moves, d => {
            mobile |= R::Geometry::step(empty, d);
        });
        fixed & !mobile
    }
}
