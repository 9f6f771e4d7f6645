//! The fixed point of quiet king moves within a block.
//!
//! White's moves change the row (the placement of White's kings), Black's change the column or
//! the square of the fast king within the word; so words with White to move draw on words with
//! Black to move in other rows, and those with Black to move on words of the same row. The two
//! halves alternate, rows that cannot have changed are passed over, and within a half all rows are
//! independent of each other.

use rayon::prelude::*;

use super::adjacency::Adjacency;
use super::planes::Planes;
use crate::board::{ByColor, Color, Dirs, Geometry, Word};

/// What is known of the words of a block with one side to move. A word in which fixed pieces
/// collide is won on every square: to the opponent that is a move that does not exist.
pub struct Sides<W> {
    pub win: Vec<W>,
    pub loss: Vec<W>,
    /// Found by the current layer, to be committed with the next.
    next_win: Vec<W>,
    next_loss: Vec<W>,
    /// Undecided quiet positions.
    open: Vec<W>,
    /// Those of them in which all moves other than king moves lose.
    doomed: Vec<W>,
}

/// One row of [`Sides`].
pub struct Row<'a, W> {
    win: &'a mut [W],
    loss: &'a mut [W],
    next_win: &'a mut [W],
    next_loss: &'a mut [W],
    open: &'a mut [W],
    doomed: &'a mut [W],
}

impl<W: Word> Sides<W> {
    pub fn new(words: usize) -> Self {
        let zeros = || vec![W::ZERO; words];
        Sides {
            win: zeros(),
            loss: zeros(),
            next_win: zeros(),
            next_loss: zeros(),
            open: zeros(),
            doomed: zeros(),
        }
    }

    pub fn rows_mut(&mut self, columns: usize) -> impl Iterator<Item = Row<'_, W>> {
        self.win
            .chunks_mut(columns)
            .zip(self.loss.chunks_mut(columns))
            .zip(self.next_win.chunks_mut(columns))
            .zip(self.next_loss.chunks_mut(columns))
            .zip(self.open.chunks_mut(columns))
            .zip(self.doomed.chunks_mut(columns))
            .map(
                |(((((win, loss), next_win), next_loss), open), doomed)| Row {
                    win,
                    loss,
                    next_win,
                    next_loss,
                    open,
                    doomed,
                },
            )
    }
}

impl<W: Word> Row<'_, W> {
    /// Marks a word that no position belongs to.
    pub fn forbid(&mut self, column: usize) {
        self.put(
            column,
            Planes {
                win: W::ALL,
                loss: W::ZERO,
            },
            Planes::default(),
            W::ZERO,
            W::ZERO,
        );
    }

    /// Enters what captures and man moves settle: what has ended, what the next ply decides, and
    /// the positions still open.
    pub fn set(&mut self, column: usize, ended: Planes<W>, next: Planes<W>, open: W, doomed: W) {
        self.put(column, ended, next, open, doomed);
    }

    fn put(&mut self, column: usize, now: Planes<W>, next: Planes<W>, open: W, doomed: W) {
        self.win[column] = now.win;
        self.loss[column] = now.loss;
        self.next_win[column] = next.win;
        self.next_loss[column] = next.loss;
        self.open[column] = open;
        self.doomed[column] = doomed;
    }

    /// Makes what was found final. Returns whether there was anything.
    fn commit(&mut self, mut found: impl FnMut(usize, W)) -> bool {
        let mut any = false;
        for i in 0..self.win.len() {
            let new = self.next_win[i] | self.next_loss[i];
            if new.is_empty() {
                continue;
            }
            any = true;
            found(i, new);
            self.win[i] |= self.next_win[i];
            self.loss[i] |= self.next_loss[i];
            self.open[i] &= !new;
            self.doomed[i] &= !new;
            self.next_win[i] = W::ZERO;
            self.next_loss[i] = W::ZERO;
        }
        any
    }
}

/// The block the words belong to.
pub struct Block<'b, G: Geometry> {
    /// Squares without men.
    pub free: G::Word,
    pub white: &'b Adjacency<G::Word>,
    pub black: &'b Adjacency<G::Word>,
    /// Directions of quiet king moves.
    pub dirs: Dirs,
    pub flying: bool,
    pub fast_king: bool,
    pub parallel: bool,
}

impl<G: Geometry> Block<'_, G> {
    fn columns(&self) -> usize {
        self.black.sets.len()
    }

    fn rows(&self) -> usize {
        self.white.sets.len()
    }

    /// Applies `f` to the rows asked for, each with its number; returns for which it was true.
    fn each_row(
        &self,
        side: &mut Sides<G::Word>,
        wanted: &[bool],
        f: impl Fn(usize, Row<G::Word>) -> bool + Sync,
    ) -> Vec<bool> {
        let rows = side.rows_mut(self.columns()).zip(wanted).enumerate();
        let apply = |(row, (words, &wanted))| wanted && f(row, words);
        if self.parallel {
            let rows: Vec<_> = rows.collect();
            rows.into_par_iter().map(apply).collect()
        } else {
            rows.map(apply).collect()
        }
    }

    /// Looks for wins and losses of White in a row, given the words with Black to move.
    fn pull_white(&self, row: usize, words: &mut Row<G::Word>, black: &Sides<G::Word>) -> bool {
        let columns = self.columns();
        let mut any = false;
        let others = &self.black.sets[..columns];
        let mut reaches_loss = vec![G::Word::ZERO; columns];
        let mut only_wins = vec![G::Word::ALL; columns];
        for step in self.white.of(row) {
            let first = step.to as usize * columns;
            let loss = &black.loss[first..first + columns];
            let win = &black.win[first..first + columns];
            for i in 0..columns {
                // A piece on the path: no such move. On its last square the word is forbidden
                // already; on a longer one all squares must be checked.
                let way = if (others[i] & step.path).any() {
                    G::Word::ZERO
                } else {
                    !step.path
                };
                reaches_loss[i] |= loss[i] & way;
                only_wins[i] &= win[i] | !way;
            }
        }
        for i in 0..columns {
            let win = words.open[i] & reaches_loss[i];
            let loss = words.doomed[i] & only_wins[i] & !win;
            words.next_win[i] |= win;
            words.next_loss[i] |= loss;
            any |= (win | loss).any();
        }
        any
    }

    /// Looks for wins and losses of Black in a row, given the words with White to move.
    fn pull_black(&self, row: usize, words: &mut Row<G::Word>, white: &Sides<G::Word>) -> bool {
        if !self.fast_king {
            return false;
        }
        let columns = self.columns();
        let kings = self.white.sets[row];
        let first = row * columns;
        let loss = &white.loss[first..first + columns];
        let win = &white.win[first..first + columns];
        let mut any = false;
        for i in 0..columns {
            if words.open[i].is_empty() {
                continue;
            }
            let empty = self.free & !kings & !self.black.sets[i];
            let mut reaches_loss = self.reaching(loss[i] & empty, empty);
            let mut escapes = self.reaching(empty & !win[i], empty);
            for step in self.black.of(i) {
                if (step.path & kings).any() {
                    continue;
                }
                reaches_loss |= loss[step.to as usize] & !step.path;
                escapes |= !win[step.to as usize] & !step.path;
            }
            let new_win = words.open[i] & reaches_loss;
            let new_loss = words.doomed[i] & !escapes & !new_win;
            words.next_win[i] |= new_win;
            words.next_loss[i] |= new_loss;
            any |= (new_win | new_loss).any();
        }
        any
    }

    /// Squares from which the fast king can move to a square of `goal`.
    #[inline(always)]
    fn reaching(&self, goal: G::Word, empty: G::Word) -> G::Word {
        let mut from = G::Word::ZERO;
        for d in self.dirs.iter() {
            from |= if self.flying {
                G::slide(goal, d, empty)
            } else {
                G::step(goal, d)
            };
        }
        from & empty
    }

    /// Rows whose words with White to move may change after those with Black to move changed.
    fn rows_before(&self, changed: &[bool]) -> Vec<bool> {
        let mut rows = vec![false; self.rows()];
        for (row, _) in changed.iter().enumerate().filter(|(_, changed)| **changed) {
            for step in self.white.of(row) {
                rows[step.to as usize] = true;
            }
        }
        rows
    }
}

/// Iterates to the fixed point; each half sweep uses all that is known.
pub fn results<G: Geometry>(block: &Block<G>, sides: &mut ByColor<Sides<G::Word>>) {
    let all = vec![true; block.rows()];
    let commit = |_: usize, mut words: Row<G::Word>| words.commit(|_, _| {});
    let mut white = block.each_row(&mut sides[Color::White], &all, commit);
    let mut black = block.each_row(&mut sides[Color::Black], &all, commit);
    for (white, at_start) in white
        .iter_mut()
        .zip(ended_rows(&sides[Color::White], block))
    {
        *white |= at_start;
    }
    for (black, at_start) in black
        .iter_mut()
        .zip(ended_rows(&sides[Color::Black], block))
    {
        *black |= at_start;
    }
    loop {
        let ByColor([white_words, black_words]) = sides;
        let wanted = block.rows_before(&black);
        let more = block.each_row(white_words, &wanted, |row, mut words| {
            block.pull_white(row, &mut words, black_words) && words.commit(|_, _| {})
        });
        for (white, more) in white.iter_mut().zip(more) {
            *white |= more;
        }
        black = block.each_row(black_words, &white, |row, mut words| {
            block.pull_black(row, &mut words, white_words) && words.commit(|_, _| {})
        });
        white.fill(false);
        if !black.contains(&true) {
            break;
        }
    }
}

/// Rows in which positions have ended before any move.
fn ended_rows<G: Geometry>(side: &Sides<G::Word>, block: &Block<G>) -> Vec<bool> {
    let columns = block.columns();
    let decided =
        |i: usize| side.loss[i].any() || (side.win[i].any() && side.win[i] != G::Word::ALL);
    (0..block.rows())
        .map(|row| (row * columns..(row + 1) * columns).any(decided))
        .collect()
}

/// Iterates layer by layer, one ply each, and reports what each layer decides:
/// `found(side to move, row, column, squares, plies)`.
pub fn layers<G: Geometry>(
    block: &Block<G>,
    sides: &mut ByColor<Sides<G::Word>>,
    found: impl Fn(Color, usize, usize, G::Word, u32) + Sync,
) {
    let all = vec![true; block.rows()];
    let mut changed = ByColor(Color::BOTH.map(|side| ended_rows(&sides[side], block)));
    let mut plies = 0;
    loop {
        plies += 1;
        let ByColor([white, black]) = sides;
        let wanted = block.rows_before(&changed[Color::Black]);
        block.each_row(white, &wanted, |row, mut words| {
            block.pull_white(row, &mut words, black)
        });
        let wanted = &changed[Color::White];
        block.each_row(black, wanted, |row, mut words| {
            block.pull_black(row, &mut words, white)
        });
        for side in Color::BOTH {
            changed[side] = block.each_row(&mut sides[side], &all, |row, mut words| {
                words.commit(|column, new| found(side, row, column, new, plies))
            });
        }
        if !changed.0.iter().any(|rows| rows.contains(&true)) {
            return;
        }
    }
}
