//! One men block: the positions that king moves connect.
//!
//! First every word is settled as far as captures and man moves settle it, from solved slices and
//! solved blocks; then quiet king moves are iterated to the fixed point (see [`sweep`]).

use rayon::prelude::*;

use super::adjacency::Adjacency;
use super::capture::{
    Captures, Columns, ManStrike, Ray, RaySquare, Strikes, Taken, Tally, promotion_row,
};
use super::cpu::{Cpu, Task};
use super::distances::Distances;
use super::levels::Block;
use super::lookup::{Found, Lookup, Pieces, no_move};
use super::planes::{PlaneSlice, PlaneWord, Planes};
use super::store::Store;
use super::sweep::{self, Row, Rows, Settled, Sides};
use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::{Subsets, rank};
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

/// What a thread needs to ask for successors, and room for what follows from a row.
struct Seeker<'s, R: Rules> {
    lookup: Lookup<'s, R>,
    tallies: Vec<(u64, Tally<W<R>>)>,
    rays: Vec<Ray<W<R>>>,
    squares: Vec<RaySquare<W<R>>>,
    /// First words of the rows the man moves of each side lead to.
    rows: ByColor<Vec<usize>>,
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>> Seeker<'s, R> {
    fn new(store: &'s Store<R::Geometry>) -> Self {
        Seeker {
            lookup: Lookup::new(store),
            tallies: Vec::new(),
            rays: Vec::new(),
            squares: Vec::new(),
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

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu, const FAST_KING: bool>
    BlockSolver<'s, R, C, FAST_KING>
{
    pub fn new(cpu: C, store: &'s Store<R::Geometry>, slice: &'s PlaneSlice<R::Geometry>) -> Self {
        let words = slice.block_words();
        BlockSolver {
            cpu,
            store,
            slice,
            seeker: Seeker::new(store),
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
            fast_king: FAST_KING,
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
    fn mirrored(&self, block: u64, men: ByColor<W<R>>) -> Option<u64> {
        if !self.slice.slice().is_symmetric() || !FAST_KING || R::SET.has_lateral_moves() {
            return None;
        }
        let twin = self
            .slice
            .blocks()
            .block_rank(men.map(R::Geometry::turn).swapped());
        (twin != block).then_some(twin)
    }

    fn prepare(&mut self, men: ByColor<W<R>>) {
        let free = R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]);
        let slice = self.slice.slice();
        let (dirs, flying) = (R::SET.king_moves, R::SET.flying);
        self.white
            .build::<R::Geometry>(slice.kings(Color::White), free, dirs, flying);
        let others = slice.kings(Color::Black).saturating_sub(1);
        self.black.build::<R::Geometry>(others, free, dirs, flying);
        self.columns_list.clear();
        for side in Color::BOTH {
            self.list_man_moves(men, side, free);
        }
        self.list_man_strikes(men, free);
        self.taken.clear();
        if FAST_KING {
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
                    victims: victim,
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
                    victims: free,
                    found,
                    columns,
                });
            }
        }
    }

    /// Lists where white men may take the fast piece.
    fn list_man_strikes(&mut self, men: ByColor<W<R>>, free: W<R>) {
        self.man_strikes.clear();
        if FAST_KING && !R::SET.man_takes_king {
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
                kings[1] -= u32::from(FAST_KING);
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
                if FAST_KING {
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
        let scene = Scene::<R, C, FAST_KING> {
            cpu: self.cpu,
            men,
            white: &self.white,
            black: &self.black,
            man_moves: &self.man_moves,
            taken: &self.taken,
            columns_list: &self.columns_list,
            man_strikes: &self.man_strikes,
            fast_taken: &self.fast_taken,
        };
        let settle = |seeker: &mut Seeker<'s, R>, row, white_words, black_words| {
            let task = SettleRow::<R, C, FAST_KING> {
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

/// Lists the columns of another block for those of this one, one king more on `more`.
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
struct Scene<'b, 's, R: Rules, C, const FAST_KING: bool> {
    cpu: C,
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
struct SettleRow<'t, 's, R: Rules, C, const FAST_KING: bool> {
    /// Keep apart what the next ply decides.
    layered: bool,
    scene: &'t Scene<'t, 's, R, C, FAST_KING>,
    seeker: &'t mut Seeker<'s, R>,
    row: usize,
    white: Row<'t, W<R>>,
    black: Row<'t, W<R>>,
}

impl<R, C, const FAST_KING: bool> Task for SettleRow<'_, '_, R, C, FAST_KING>
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
                    changed.0 |= self.white.enter(self.layered, column, settled);
                } else {
                    changed.1 |= self.black.enter(self.layered, column, settled);
                }
            }
        }
        changed
    }
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu, const FAST_KING: bool>
    Scene<'_, '_, R, C, FAST_KING>
{
    /// Finds the rows that the man moves of this row lead to.
    #[inline(always)]
    fn find_rows(&self, seeker: &mut Seeker<R>, kings: W<R>) {
        if !FAST_KING {
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
            taken: self.taken,
            columns_list: self.columns_list,
            men: self.man_strikes,
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
        let mut moves = self.man_moves(seeker, pieces, side, column, quiet);
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
        column: usize,
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
                let word = seeker.rows[side][i] + column;
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
