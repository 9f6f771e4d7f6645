//! The words of a row, as far as captures and man moves settle them.

use super::W;
use super::lists::ManMove;
use crate::board::{ByColor, Color, Geometry, Word, each_direction};
use crate::index::rank;
use crate::rules::Rules;
use crate::solve::adjacency::Adjacency;
use crate::solve::capture::{
    Captures, ManStrike, Ray, RaySquare, Strikes, Taken, Tallies, Tally, Victim,
};
use crate::solve::cpu::{Cpu, Task};
use crate::solve::distances::{BlockDistances, Narrow};
use crate::solve::lookup::{Lookup, Pieces, no_move};
use crate::solve::planes::{PlaneWord, Planes};
use crate::solve::store::Store;
use crate::solve::sweep::{Row, Settled};
use crate::table::Wdl;

/// What a thread needs to ask for successors, and room for what follows from a row.
pub struct Seeker<'s, R: Rules, C> {
    pub lookup: Lookup<'s, R, C>,
    pub tallies: Tallies<W<R>>,
    pub lines: Vec<[W<R>; 8]>,
    pub rays: Vec<Ray<W<R>>>,
    pub squares: Vec<RaySquare<W<R>>>,
    pub victims: Vec<Victim<W<R>>>,
    /// First words of the rows the man moves of each side lead to.
    pub rows: ByColor<Vec<usize>>,
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Seeker<'s, R, C> {
    pub fn new(cpu: C, store: &'s Store<R::Geometry>) -> Self {
        Seeker {
            lookup: Lookup::new(cpu, store),
            tallies: Vec::new(),
            lines: Vec::new(),
            rays: Vec::new(),
            squares: Vec::new(),
            victims: Vec::new(),
            rows: ByColor::new(Vec::new(), Vec::new()),
        }
    }
}

/// The men of a block and what follows from them.
pub struct Scene<'b, 's, R: Rules, C> {
    pub cpu: C,
    pub fast_king: bool,
    pub men: ByColor<W<R>>,
    pub white: &'b Adjacency<W<R>>,
    pub black: &'b Adjacency<W<R>>,
    pub man_moves: &'b ByColor<Vec<ManMove<'s, R>>>,
    pub taken: &'b [Taken<'s, R>],
    pub columns_list: &'b [u32],
    pub man_strikes: &'b [ManStrike<'s, R>],
    pub fast_taken: &'b [Wdl],
}

/// Settles the words of a group of rows for both sides to move; marks for each the rows from which
/// sweeps can start.
pub struct SettleRows<'t, 's, R: Rules, C> {
    /// Where to enter the distances of what the next ply decides, all others of the rows as zero.
    pub distances: Option<&'t BlockDistances<'t, R::Geometry, Narrow>>,
    pub scene: &'t Scene<'t, 's, R, C>,
    pub seeker: &'t mut Seeker<'s, R, C>,
    /// The number of the first row.
    pub first: usize,
    pub white: Row<'t, W<R>>,
    pub black: Row<'t, W<R>>,
}

impl<R, C> Task for SettleRows<'_, '_, R, C>
where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    type Output = ByColor<u64>;

    #[inline(always)]
    fn run(mut self) -> ByColor<u64> {
        let scene = self.scene;
        let columns = scene.black.sets.len();
        let layered = self.distances.is_some();
        let mut marks = ByColor::new(0, 0);
        for i in 0..self.white.words() / columns {
            let words = i * columns..(i + 1) * columns;
            let mut white = self.white.part(words.clone());
            let mut black = self.black.part(words);
            let row = self.first + i;
            let starts = scene.settle_row(self.seeker, row, &mut white, &mut black, layered);
            for side in Color::BOTH {
                marks[side] |= u64::from(starts[side]) << i;
            }
            if let Some(distances) = self.distances {
                for (column, &others) in scene.black.sets.iter().enumerate() {
                    let kings = (scene.white.sets[row], others);
                    let decided = ByColor::new(white.decided(column), black.decided(column));
                    // SAFETY: a thread settles rows it alone works on, and whoever solves the slice
                    // has the distances for himself.
                    unsafe { distances.start(row, kings, decided) };
                }
            }
        }
        marks
    }
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Scene<'_, 's, R, C> {
    /// Settles the words of a row; says for each side to move whether sweeps can start from it.
    #[inline(always)]
    fn settle_row(
        &self,
        seeker: &mut Seeker<'s, R, C>,
        row: usize,
        white_words: &mut Row<'_, W<R>>,
        black_words: &mut Row<'_, W<R>>,
        layered: bool,
    ) -> ByColor<bool> {
        let kings = self.white.sets[row];
        self.cast_rays(seeker, kings);
        self.find_rows(seeker, kings);
        self.list_victims(seeker, kings);
        let mut starts = ByColor::new(false, false);
        let Seeker {
            lookup,
            tallies,
            lines,
            rays,
            squares,
            victims,
            rows,
        } = seeker;
        let strikes = Strikes {
            taken: self.taken,
            columns_list: self.columns_list,
            men: self.man_strikes,
            victims,
            rays,
            squares,
            results: self.fast_taken,
            columns: self.black.sets.len(),
        };
        for (column, &others) in self.black.sets.iter().enumerate() {
            if (kings & others).any() {
                white_words.enter(layered, column, Settled::default());
                black_words.enter(layered, column, Settled::default());
                continue;
            }
            let pieces = Pieces {
                men: self.men,
                kings: ByColor::new(kings, others),
            };
            let first = (row, &rows[Color::White][..]);
            let word = self.captures(lookup, (tallies, lines), pieces, column, Color::White);
            let white = self.settle_word(word, &strikes, first, Planes::default());
            // The moves of a fast man lead to words with White to move just settled.
            let white_results = Planes {
                win: white.ended.win | white.next.win,
                loss: white.ended.loss | white.next.loss,
            };
            let first = (row, &rows[Color::Black][..]);
            let word = self.captures(lookup, (tallies, lines), pieces, column, Color::Black);
            let black = self.settle_word(word, &strikes, first, white_results);
            starts[Color::White] |= white_words.enter(layered, column, white);
            starts[Color::Black] |= black_words.enter(layered, column, black);
        }
        starts
    }

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
        room: (&'a mut Tallies<W<R>>, &'a mut Vec<[W<R>; 8]>),
        pieces: Pieces<W<R>>,
        column: usize,
        side: Color,
    ) -> Captures<'a, 's, R, C> {
        Captures {
            cpu: self.cpu,
            fast_king: self.fast_king,
            lookup,
            total: Tally::default(),
            tallies: room.0,
            lines: room.1,
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
        (row, rows): (usize, &[usize]),
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
        if quiet.is_empty() {
            let next = Planes {
                win: captures.any & captures.win,
                loss: captures.any & !captures.safe,
            };
            return Settled {
                next,
                ..Settled::default()
            };
        }
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
    #[inline(always)]
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
