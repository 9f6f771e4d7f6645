//! Distances within a block, ply by ply: quiet king moves, and bounds as their ply comes.

use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::rank;
use crate::parallel;
use crate::rules::Rules;
use crate::solve::adjacency::Adjacency;
use crate::solve::planes::PlaneWord;

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// The words of a block with one side to move.
pub struct Words<W> {
    /// Won and lost in fewer plies than those being looked at.
    win: Vec<W>,
    loss: Vec<W>,
    open: Vec<Open<W>>,
    /// For each row.
    pending: Vec<Pending>,
}

/// What is not final yet of a word. All but the positions found are without a capture.
#[derive(Clone, Copy, Default)]
struct Open<W> {
    /// Won.
    won: W,
    /// Lost, and all their conversions lose in fewer plies than those being looked at.
    doomed: W,
    /// Found to end in the plies being looked at.
    found_win: W,
    found_loss: W,
}

/// The bounds of the positions of a row, those of the fewest plies last.
#[derive(Default)]
struct Pending(Vec<u64>);

/// What holds once the plies of a bound have come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The position is won.
    Win,
    /// The position is lost.
    Loss,
    /// The position is lost if its king moves lose.
    Doomed,
}

impl Pending {
    fn push(&mut self, plies: u16, then: Then, column: usize, square: u32) {
        let place = (column as u64) << 8 | u64::from(square);
        self.0
            .push(u64::from(plies) << 48 | place << 2 | then as u64);
    }

    fn plies(&self) -> Option<u16> {
        self.0.last().map(|entry| (entry >> 48) as u16)
    }

    fn pop(&mut self) -> Option<(Then, usize, u32)> {
        let entry = self.0.pop()?;
        let then = match entry & 3 {
            0 => Then::Win,
            1 => Then::Loss,
            _ => Then::Doomed,
        };
        let place = entry << 16 >> 18;
        Some((then, (place >> 8) as usize, place as u32 & 0xff))
    }
}

impl<W: Word> Words<W> {
    pub fn new(rows: usize, columns: usize) -> Self {
        Words {
            win: vec![W::ZERO; rows * columns],
            loss: vec![W::ZERO; rows * columns],
            open: vec![Open::default(); rows * columns],
            pending: (0..rows).map(|_| Pending::default()).collect(),
        }
    }

    pub fn rows_mut(&mut self, columns: usize) -> impl Iterator<Item = Row<'_, W>> {
        self.win
            .chunks_mut(columns)
            .zip(self.loss.chunks_mut(columns))
            .zip(self.open.chunks_mut(columns))
            .zip(&mut self.pending)
            .map(|(((win, loss), open), pending)| Row {
                win,
                loss,
                open,
                pending,
            })
    }

    fn next_plies(&self) -> Option<u16> {
        self.pending.iter().filter_map(Pending::plies).min()
    }
}

/// One row of [`Words`].
pub struct Row<'w, W> {
    win: &'w mut [W],
    loss: &'w mut [W],
    open: &'w mut [Open<W>],
    pending: &'w mut Pending,
}

impl<W: Word> Row<'_, W> {
    pub fn clear(&mut self) {
        self.win.fill(W::ZERO);
        self.loss.fill(W::ZERO);
        self.open.fill(Open::default());
        self.pending.0.clear();
    }

    /// Enters a position that ends in exactly so many plies.
    pub fn ends(&mut self, won: bool, plies: u16, column: usize, square: W) {
        let then = if won { Then::Win } else { Then::Loss };
        self.pending
            .push(plies, then, column, square.trailing_zeros());
    }

    /// Enters a won position with king moves; a conversion, if `bound` says so, wins in as many
    /// plies.
    pub fn wins(&mut self, bound: Option<u16>, black: &BlackKings<W>) {
        for (column, square) in black.words() {
            self.open[column].won |= square;
        }
        if let Some(plies) = bound {
            let (column, square) = black.lowest;
            self.ends(true, plies, column, square);
        }
    }

    /// Enters a lost position with king moves, whose conversions lose in as many plies, 0 if
    /// there are none.
    pub fn loses(&mut self, bound: u16, black: &BlackKings<W>) {
        if bound == 0 {
            for (column, square) in black.words() {
                self.open[column].doomed |= square;
            }
        } else {
            let (column, square) = black.lowest;
            let square = square.trailing_zeros();
            self.pending.push(bound, Then::Doomed, column, square);
        }
    }

    /// To be called when all positions are entered.
    pub fn sort(&mut self) {
        self.pending
            .0
            .sort_unstable_by_key(|&entry| std::cmp::Reverse(entry));
    }
}

/// Black's kings of a position, and the words it belongs to: one for each of them.
pub struct BlackKings<W> {
    pub all: W,
    /// Squares without men.
    pub free: W,
    /// The word along the lowest king.
    pub lowest: (usize, W),
}

impl<W: Word> BlackKings<W> {
    #[inline(always)]
    fn words(&self) -> impl Iterator<Item = (usize, W)> {
        let (first, lowest) = self.lowest;
        let others = (self.all ^ lowest).bits();
        std::iter::once((first, lowest))
            .chain(others.map(|king| (rank(self.all ^ king, self.free) as usize, king)))
    }
}

/// The block the words belong to.
pub struct Block<'b, R: Rules> {
    /// Squares without men.
    pub free: W<R>,
    pub white: &'b Adjacency<W<R>>,
    pub black: &'b Adjacency<W<R>>,
    /// Share the rows out over the threads.
    pub parallel: bool,
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>> Block<'_, R> {
    /// Counts up the plies until all distances that follow from what was entered are found, and
    /// reports each ply: `found(side to move, row, column, squares, plies)`. The words are used up.
    pub fn solve(
        &self,
        sides: &mut ByColor<Words<W<R>>>,
        found: impl Fn(Color, usize, usize, W<R>, u16) + Sync,
    ) {
        let rows = self.white.sets.len();
        let mut changed = ByColor(Color::BOTH.map(|_| vec![false; rows]));
        let mut wanted = ByColor(Color::BOTH.map(|_| vec![false; rows]));
        let mut plies = 0;
        loop {
            self.rows_before(&changed[Color::Black], &mut wanted[Color::White]);
            wanted[Color::Black].copy_from_slice(&changed[Color::White]);
            for side in Color::BOTH {
                for (wanted, pending) in wanted[side].iter_mut().zip(&sides[side].pending) {
                    *wanted |= pending.plies() == Some(plies);
                }
            }
            let ByColor([white, black]) = sides;
            self.each_row(white, &mut wanted[Color::White], |row, mut words| {
                self.release(plies, &mut words);
                self.pull_white(row, &mut words, black);
                true
            });
            self.each_row(black, &mut wanted[Color::Black], |row, mut words| {
                self.release(plies, &mut words);
                self.pull_black(row, &mut words, white);
                true
            });
            for side in Color::BOTH {
                self.each_row(&mut sides[side], &mut wanted[side], |row, mut words| {
                    words.commit(|column, new| found(side, row, column, new, plies))
                });
            }
            std::mem::swap(&mut changed, &mut wanted);
            plies = if changed.0.iter().any(|rows| rows.contains(&true)) {
                plies + 1
            } else {
                match sides.0.iter().filter_map(Words::next_plies).min() {
                    Some(next) => next,
                    None => return,
                }
            };
        }
    }

    /// Applies `f` to the rows that are marked, and marks those for which it was true.
    fn each_row(
        &self,
        words: &mut Words<W<R>>,
        marks: &mut [bool],
        f: impl Fn(usize, Row<W<R>>) -> bool + Sync,
    ) {
        let rows = words.rows_mut(self.black.sets.len()).zip(marks).enumerate();
        let marked = rows.filter(|(_, (_, mark))| **mark);
        if self.parallel {
            parallel::for_each_of(marked.collect(), &|_, (row, (words, mark))| {
                *mark = f(row, words);
            });
        } else {
            for (row, (words, mark)) in marked {
                *mark = f(row, words);
            }
        }
    }

    /// Rows whose words with White to move may change after those with Black to move changed.
    fn rows_before(&self, changed: &[bool], rows: &mut [bool]) {
        rows.fill(false);
        for (row, _) in changed.iter().enumerate().filter(|(_, changed)| **changed) {
            for step in self.white.of(row) {
                rows[step.to as usize] = true;
            }
        }
    }

    /// Enters the bounds whose plies have come.
    fn release(&self, plies: u16, words: &mut Row<W<R>>) {
        while words.pending.plies() == Some(plies) {
            let Some((then, column, square)) = words.pending.pop() else {
                return;
            };
            let square = W::<R>::ONE << square;
            // Won already, by a king move in fewer plies.
            if then == Then::Win && (words.win[column] & square).any() {
                continue;
            }
            let kings = BlackKings {
                all: self.black.sets[column] | square,
                free: self.free,
                lowest: (column, square),
            };
            for (column, square) in kings.words() {
                let open = &mut words.open[column];
                match then {
                    Then::Win => open.found_win |= square,
                    Then::Loss => open.found_loss |= square,
                    Then::Doomed => open.doomed |= square,
                }
            }
        }
    }

    fn pull_white(&self, row: usize, words: &mut Row<W<R>>, black: &Words<W<R>>) {
        let columns = self.black.sets.len();
        for (column, open) in words.open.iter_mut().enumerate() {
            if (open.won | open.doomed).is_empty() {
                continue;
            }
            let mut reaches_loss = W::<R>::ZERO;
            let mut escapes = W::<R>::ZERO;
            for step in self.white.of(row) {
                if (self.black.sets[column] & step.path).any() {
                    continue;
                }
                let to = step.to as usize * columns + column;
                reaches_loss |= black.loss[to] & !step.path;
                escapes |= !black.win[to] & !step.path;
            }
            open.found_win |= open.won & reaches_loss;
            open.found_loss |= open.doomed & !escapes;
        }
    }

    fn pull_black(&self, row: usize, words: &mut Row<W<R>>, white: &Words<W<R>>) {
        let columns = self.black.sets.len();
        let kings = self.white.sets[row];
        let (first, end) = (row * columns, (row + 1) * columns);
        let (win, loss) = (&white.win[first..end], &white.loss[first..end]);
        for (column, open) in words.open.iter_mut().enumerate() {
            if (open.won | open.doomed).is_empty() {
                continue;
            }
            let empty = self.free & !kings & !self.black.sets[column];
            let mut reaches_loss = self.reaching(loss[column] & empty, empty);
            let mut escapes = self.reaching(empty & !win[column], empty);
            for step in self.black.of(column) {
                if (step.path & kings).any() {
                    continue;
                }
                reaches_loss |= loss[step.to as usize] & !step.path;
                escapes |= !win[step.to as usize] & !step.path;
            }
            open.found_win |= open.won & reaches_loss;
            open.found_loss |= open.doomed & !escapes;
        }
    }

    /// Squares from which the fast king can move to a square of `goal`.
    #[inline(always)]
    fn reaching(&self, goal: W<R>, empty: W<R>) -> W<R> {
        let from = R::SET.king_moves.iter().fold(W::<R>::ZERO, |from, d| {
            from | if R::SET.flying {
                R::Geometry::slide(goal, d, empty)
            } else {
                R::Geometry::step(goal, d)
            }
        });
        from & empty
    }
}

impl<W: Word> Row<'_, W> {
    /// Makes what was found final. Returns whether there was anything.
    fn commit(&mut self, mut report: impl FnMut(usize, W)) -> bool {
        let mut any = false;
        for (column, open) in self.open.iter_mut().enumerate() {
            let new = open.found_win | open.found_loss;
            if new.is_empty() {
                continue;
            }
            any = true;
            report(column, new);
            self.win[column] |= open.found_win;
            self.loss[column] |= open.found_loss;
            *open = Open {
                won: open.won & !new,
                doomed: open.doomed & !new,
                ..Open::default()
            };
        }
        any
    }
}
