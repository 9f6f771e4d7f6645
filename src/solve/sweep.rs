//! The fixed point of quiet king moves within a block.
//!
//! White's moves change the row (the placement of White's kings), Black's change the column or
//! the square of the fast king within the word; so words with White to move draw on words with
//! Black to move in other rows, and those with Black to move on words of the same row. The two
//! halves alternate, rows that cannot have changed are passed over, and within a half all rows are
//! independent of each other.

mod rows;
mod words;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use self::rows::{GROUP, RowSet};
use self::words::{LANES, lanes};
pub use self::words::{Row, Settled, Sides};

use super::adjacency::Adjacency;
use super::cpu::{Cpu, Task};
use crate::board::{ByColor, Color, Geometry, Word, each_direction};
use crate::parallel;
use crate::rules::Rules;

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// What is done to every word of one side to move.
trait WordTask<W: Word>: Sync {
    /// Does a word, which is at place `i` of `words`. Says whether anything was found.
    fn word(&self, row: usize, column: usize, words: &mut Row<W>, i: usize) -> bool;

    /// Does all words of a row.
    #[inline(always)]
    fn row(&self, row: usize, mut words: Row<W>) -> bool {
        let mut any = false;
        for column in 0..words.win.len() {
            any |= self.word(row, column, &mut words, column);
        }
        any
    }
}

/// A task for some groups of rows of a block, one row after the other.
struct EachRow<'t, W, T> {
    task: &'t T,
    /// The number of the first row.
    first: usize,
    rows: Row<'t, W>,
    columns: usize,
    wanted: &'t [u64],
    changed: &'t mut [u64],
}

impl<W: Word, T: WordTask<W>> Task for EachRow<'_, W, T> {
    /// Anything was found.
    type Output = bool;

    #[inline(always)]
    fn run(mut self) -> bool {
        let one = self.columns == 1;
        let mut any = 0;
        for (group, (wanted, changed)) in self.wanted.iter().zip(self.changed).enumerate() {
            *changed = 0;
            for mark in wanted.bits() {
                let i = group * GROUP + mark.trailing_zeros() as usize;
                let row = self.first + i;
                let found = if one {
                    // A part of one word would cost more than what is done to it.
                    self.task.word(row, 0, &mut self.rows, i)
                } else {
                    let words = i * self.columns..(i + 1) * self.columns;
                    self.task.row(row, self.rows.part(words))
                };
                *changed |= if found { mark } else { 0 };
            }
            any |= *changed;
        }
        any != 0
    }
}

/// Is told what layers decide.
pub trait Decided<W>: Sync {
    /// These squares of a word are decided after so many plies.
    fn decided(&self, side: Color, row: usize, column: usize, squares: W, plies: u32);
}

/// Nobody asks after how many plies.
struct Anytime;

impl<W> Decided<W> for Anytime {
    #[inline(always)]
    fn decided(&self, _: Color, _: usize, _: usize, _: W, _: u32) {}
}

/// Makes final what was found before and kept for later.
struct Commit<'t, D> {
    decided: &'t D,
    side: Color,
    plies: u32,
}

impl<W: Word, D: Decided<W>> WordTask<W> for Commit<'_, D> {
    #[inline(always)]
    fn word(&self, row: usize, column: usize, words: &mut Row<W>, i: usize) -> bool {
        words.part(i..i + 1).commit(|_, new| {
            let decided = self.decided;
            decided.decided(self.side, row, column, new, self.plies);
        })
    }

    #[inline(always)]
    fn row(&self, row: usize, mut words: Row<W>) -> bool {
        words.commit(|column, new| {
            let decided = self.decided;
            decided.decided(self.side, row, column, new, self.plies);
        })
    }
}

/// The block the words belong to.
pub struct Block<'b, R: Rules, C> {
    pub cpu: C,
    /// Squares without men.
    pub free: W<R>,
    pub white: &'b Adjacency<W<R>>,
    pub black: &'b Adjacency<W<R>>,
    pub fast_king: bool,
    pub parallel: bool,
}

/// Notes about the rows of a block.
pub struct Rows {
    /// Those, by side to move, that have changed.
    pub changed: ByColor<RowSet>,
    wanted: RowSet,
    /// Those with White to move for which a pull has just found something.
    pulled: RowSet,
}

impl Rows {
    pub fn new(rows: usize) -> Self {
        let none = || RowSet::new(rows);
        Rows {
            changed: ByColor::new(none(), none()),
            wanted: none(),
            pulled: none(),
        }
    }
}

/// Finds wins and losses of White in a row, given the words with Black to move.
struct PullWhite<'p, W, const LAYERED: bool> {
    white: &'p Adjacency<W>,
    others: &'p [W],
    win: &'p [W],
    loss: &'p [W],
}

/// Does all words of a row, [`LANES`] together if there are so many: `many` is given the first of
/// them. The last ones may overlap with those before: to find something once more changes nothing.
#[inline(always)]
fn do_lanes<W: Word>(
    words: &mut Row<W>,
    word: impl Fn(&mut Row<W>, usize) -> bool,
    many: impl Fn(&mut Row<W>, usize) -> bool,
) -> bool {
    let columns = words.words();
    let mut any = false;
    if columns < LANES {
        for column in 0..columns {
            any |= word(words, column);
        }
        return any;
    }
    for first in (0..columns).step_by(LANES) {
        let first = first.min(columns - LANES);
        if lanes(words.open, first).iter().any(|open| open.any()) {
            any |= many(words, first);
        }
    }
    any
}

impl<W: Word, const LAYERED: bool> WordTask<W> for PullWhite<'_, W, LAYERED> {
    #[inline(always)]
    fn word(&self, row: usize, column: usize, words: &mut Row<W>, i: usize) -> bool {
        if words.open[i].is_empty() {
            return false;
        }
        let (mut reaches_loss, mut only_wins) = (W::ZERO, W::ALL);
        for step in self.white.of(row) {
            // A piece on the way: no such move.
            if (self.others[column] & step.path).any() {
                continue;
            }
            let from = step.to as usize * self.others.len() + column;
            reaches_loss |= self.loss[from] & !step.path;
            only_wins &= self.win[from] | step.path;
        }
        words.found::<LAYERED>(i, reaches_loss, only_wins).any()
    }

    #[inline(always)]
    fn row(&self, row: usize, mut words: Row<W>) -> bool {
        let word = |words: &mut Row<W>, column| self.word(row, column, words, column);
        do_lanes(&mut words, word, |words, first| {
            let mut reaches_loss = [W::ZERO; LANES];
            let mut only_wins = [W::ALL; LANES];
            let others = lanes(self.others, first);
            for step in self.white.of(row) {
                let from = step.to as usize * self.others.len() + first;
                let (loss, win) = (lanes(self.loss, from), lanes(self.win, from));
                for i in 0..LANES {
                    let blocked = (others[i] & step.path).any();
                    let way = if blocked { W::ZERO } else { !step.path };
                    reaches_loss[i] |= loss[i] & way;
                    only_wins[i] &= win[i] | !way;
                }
            }
            words.found_many::<LAYERED>(first, reaches_loss, only_wins)
        })
    }
}

/// Finds wins and losses of Black in a row, given the words with White to move.
struct PullBlack<'p, R: Rules, D> {
    free: W<R>,
    rows: &'p [W<R>],
    black: &'p Adjacency<W<R>>,
    win: &'p [W<R>],
    loss: &'p [W<R>],
    decided: &'p D,
    plies: u32,
}

impl<R: Rules, D: Decided<W<R>>> PullBlack<'_, R, D> {
    /// Squares from which the fast king reaches a loss, and those from which it reaches anything
    /// else than a win.
    #[inline(always)]
    fn fast_moves(&self, empty: W<R>, win: W<R>, loss: W<R>) -> [W<R>; 2] {
        [loss & empty, empty & !win].map(|goal| reaching::<R>(goal, empty))
    }

    /// Enters what is found for a word by the moves of the fast king and those of the others.
    #[inline(always)]
    fn find(
        &self,
        row: usize,
        column: usize,
        [mut reaches_loss, mut escapes]: [W<R>; 2],
        words: &mut Row<W<R>>,
        i: usize,
    ) -> bool {
        let first = row * self.black.sets.len();
        for step in self.black.of(column) {
            if (step.path & self.rows[row]).any() {
                continue;
            }
            let from = first + step.to as usize;
            reaches_loss |= self.loss[from] & !step.path;
            escapes |= !self.win[from] & !step.path;
        }
        let found = words.found::<false>(i, reaches_loss, !escapes);
        if found.is_empty() {
            return false;
        }
        let decided = self.decided;
        decided.decided(Color::Black, row, column, found, self.plies);
        true
    }
}

impl<R: Rules, D: Decided<W<R>>> WordTask<W<R>> for PullBlack<'_, R, D> {
    #[inline(always)]
    fn word(&self, row: usize, column: usize, words: &mut Row<W<R>>, i: usize) -> bool {
        if words.open[i].is_empty() {
            return false;
        }
        let sets = &self.black.sets;
        let empty = self.free & !self.rows[row] & !sets[column];
        let from = row * sets.len() + column;
        let moves = self.fast_moves(empty, self.win[from], self.loss[from]);
        self.find(row, column, moves, words, i)
    }

    #[inline(always)]
    fn row(&self, row: usize, mut words: Row<W<R>>) -> bool {
        let free = self.free & !self.rows[row];
        let word = |words: &mut Row<W<R>>, column| self.word(row, column, words, column);
        do_lanes(&mut words, word, |words, first| {
            let sets = lanes(&self.black.sets, first);
            let from = row * self.black.sets.len() + first;
            let (win, loss) = (lanes(self.win, from), lanes(self.loss, from));
            let mut empty = [W::<R>::ZERO; LANES];
            let mut losses = empty;
            let mut exits = empty;
            for i in 0..LANES {
                empty[i] = free & !sets[i];
                losses[i] = loss[i] & empty[i];
                exits[i] = empty[i] & !win[i];
            }
            let reaches_loss = reaching_many::<R>(losses, empty);
            let escapes = reaching_many::<R>(exits, empty);
            let mut any = false;
            for i in 0..LANES {
                let column = first + i;
                if words.open[column].any() {
                    let moves = [reaches_loss[i], escapes[i]];
                    any |= self.find(row, column, moves, words, column);
                }
            }
            any
        })
    }
}

/// Squares from which the fast king can move to a square of `goal`.
#[inline(always)]
fn reaching<R: Rules>(goal: W<R>, empty: W<R>) -> W<R> {
    let mut from = W::<R>::ZERO;
    each_direction!(R::SET.king_moves, d => {
        from |= if R::SET.flying {
            R::Geometry::slide(goal, d, empty)
        } else {
            R::Geometry::step(goal, d)
        };
    });
    from & empty
}

#[inline(always)]
fn reaching_many<R: Rules>(goal: [W<R>; LANES], empty: [W<R>; LANES]) -> [W<R>; LANES] {
    let mut from = [W::<R>::ZERO; LANES];
    each_direction!(R::SET.king_moves, d => {
        for i in 0..LANES {
            from[i] |= if R::SET.flying {
                R::Geometry::slide(goal[i], d, empty[i])
            } else {
                R::Geometry::step(goal[i], d)
            };
        }
    });
    for i in 0..LANES {
        from[i] &= empty[i];
    }
    from
}

impl<R: Rules, C: Cpu> Block<'_, R, C> {
    fn columns(&self) -> usize {
        self.black.sets.len()
    }

    /// Does a task for the rows `wanted`, and notes for which it found something. Returns whether
    /// there are any.
    #[inline(always)]
    fn each_row(
        &self,
        task: &impl WordTask<W<R>>,
        side: &mut Sides<W<R>>,
        wanted: &RowSet,
        changed: &mut RowSet,
    ) -> bool {
        let columns = self.columns();
        let (wanted, changed) = (wanted.groups(), changed.groups_mut());
        let run = |first, rows, wanted, changed| {
            self.cpu.run(EachRow {
                task,
                first,
                rows,
                columns,
                wanted,
                changed,
            })
        };
        if !self.parallel {
            return run(0, side.all_mut(), wanted, changed);
        }
        // A row may be done in no time.
        let groups = wanted.len().div_ceil(8 * rayon::current_num_threads());
        let rows = groups * GROUP;
        let parts = side
            .rows_mut(rows * columns)
            .zip(wanted.chunks(groups))
            .zip(changed.chunks_mut(groups));
        let any = AtomicBool::new(false);
        parallel::for_each_of(parts.collect(), &|part, ((words, wanted), changed)| {
            any.fetch_or(run(part * rows, words, wanted, changed), Relaxed);
        });
        any.into_inner()
    }

    #[inline(always)]
    fn pull_white<'p, const LAYERED: bool>(
        &'p self,
        (win, loss): (&'p [W<R>], &'p [W<R>]),
    ) -> PullWhite<'p, W<R>, LAYERED> {
        PullWhite {
            white: self.white,
            others: &self.black.sets,
            win,
            loss,
        }
    }

    #[inline(always)]
    fn pull_black<'p, D: Decided<W<R>>>(
        &'p self,
        (win, loss): (&'p [W<R>], &'p [W<R>]),
        decided: &'p D,
        plies: u32,
    ) -> PullBlack<'p, R, D> {
        PullBlack {
            free: self.free,
            rows: &self.white.sets,
            black: self.black,
            win,
            loss,
            decided,
            plies,
        }
    }

    /// Rows whose words with White to move may change after those with Black to move `changed`.
    #[inline(always)]
    fn rows_before(&self, changed: &RowSet, rows: &mut RowSet) {
        if changed.is_crowded() {
            rows.insert_all();
            return;
        }
        rows.clear();
        changed.for_each(|row| {
            for step in self.white.of(row) {
                rows.insert(step.to as usize);
            }
        });
    }

    /// Iterates to the fixed point from what [`Row::enter`] found; each half sweep uses all that
    /// is known.
    #[inline(always)]
    pub fn results(&self, sides: &mut ByColor<Sides<W<R>>>, rows: &mut Rows) {
        let ByColor([white, black]) = sides;
        let Rows {
            changed: ByColor([white_changed, black_changed]),
            wanted,
            pulled,
        } = rows;
        let mut any_black = !black_changed.is_empty();
        let mut any_white = !white_changed.is_empty();
        loop {
            if !self.white.is_still() && any_black {
                self.rows_before(black_changed, wanted);
                let pull = self.pull_white::<false>(black.known());
                any_white |= self.each_row(&pull, white, wanted, pulled);
                white_changed.insert_each(pulled);
            }
            if !self.fast_king || !any_white {
                return;
            }
            let pull = self.pull_black(white.known(), &Anytime, 0);
            any_black = self.each_row(&pull, black, white_changed, black_changed);
            if !any_black {
                return;
            }
            white_changed.clear();
            any_white = false;
        }
    }

    /// Iterates layer by layer, one ply each, and reports what each layer decides.
    #[inline(always)]
    pub fn layers(
        &self,
        sides: &mut ByColor<Sides<W<R>>>,
        rows: &mut Rows,
        decided: &impl Decided<W<R>>,
    ) {
        let ByColor([white, black]) = sides;
        let Rows {
            changed: ByColor([white_changed, black_changed]),
            wanted,
            pulled,
        } = rows;
        let commit = |side, plies| Commit {
            decided,
            side,
            plies,
        };
        // The first layer starts from what has ended. What captures and man moves decide in one ply
        // is final already, and everywhere, but counts for the second.
        if !white_changed.is_empty() {
            if self.fast_king {
                let pull = self.pull_black(white.kept(), decided, 1);
                self.each_row(&pull, black, white_changed, wanted);
            }
            self.each_row(&commit(Color::White, 0), white, white_changed, wanted);
        }
        if !black_changed.is_empty() {
            self.rows_before(black_changed, wanted);
            let pull = self.pull_white::<true>(black.kept());
            self.each_row(&pull, white, wanted, pulled);
            self.each_row(&commit(Color::White, 1), white, pulled, wanted);
            self.each_row(&commit(Color::Black, 0), black, black_changed, wanted);
        }
        white_changed.insert_all();
        black_changed.insert_all();
        if self.white.is_still() {
            if self.fast_king {
                let pull = self.pull_black(white.known(), decided, 2);
                self.each_row(&pull, black, white_changed, black_changed);
            }
            return;
        }
        for plies in 2.. {
            // White's words are kept as they are until those of Black have been looked at.
            self.rows_before(black_changed, wanted);
            let pull = self.pull_white::<true>(black.known());
            self.each_row(&pull, white, wanted, pulled);
            let pull = self.pull_black(white.known(), decided, plies);
            let mut any = self.each_row(&pull, black, white_changed, black_changed);
            any |= self.each_row(&commit(Color::White, plies), white, pulled, white_changed);
            if !any {
                return;
            }
        }
    }
}
