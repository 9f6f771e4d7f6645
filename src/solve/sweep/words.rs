//! What is known of the words of a block.

use std::ops::Range;

use crate::board::Word;
use crate::solve::planes::Planes;

/// Words looked at together: as many as keep the vector registers busy.
pub const LANES: usize = 16;

/// What is known of the words of a block with one side to move. Nothing is of a word in which fixed
/// pieces collide.
pub struct Sides<W> {
    pub win: Vec<W>,
    pub loss: Vec<W>,
    /// Found by the current layer, to be made final at its end, and at first what has ended; unused
    /// without layers.
    pub(super) next_win: Vec<W>,
    pub(super) next_loss: Vec<W>,
    /// Undecided quiet positions.
    pub(super) open: Vec<W>,
    /// Those of them in which all moves other than king moves lose.
    pub(super) doomed: Vec<W>,
}

/// One row of [`Sides`], or several.
pub struct Row<'a, W> {
    pub(super) win: &'a mut [W],
    pub(super) loss: &'a mut [W],
    pub(super) next_win: &'a mut [W],
    pub(super) next_loss: &'a mut [W],
    pub(super) open: &'a mut [W],
    pub(super) doomed: &'a mut [W],
}

/// What captures and man moves settle in a word.
#[derive(Clone, Copy, Default)]
pub struct Settled<W> {
    /// Won or lost without a move to make.
    pub ended: Planes<W>,
    /// Won or lost by the next move, which converts.
    pub next: Planes<W>,
    /// Quiet positions with a legal move.
    pub open: W,
    /// Those of them in which no man move saves.
    pub doomed: W,
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

    /// Wins and losses that are final.
    pub(super) fn known(&self) -> (&[W], &[W]) {
        (&self.win, &self.loss)
    }

    /// Wins and losses that are kept for later.
    pub(super) fn kept(&self) -> (&[W], &[W]) {
        (&self.next_win, &self.next_loss)
    }

    pub(super) fn all_mut(&mut self) -> Row<'_, W> {
        Row {
            win: &mut self.win,
            loss: &mut self.loss,
            next_win: &mut self.next_win,
            next_loss: &mut self.next_loss,
            open: &mut self.open,
            doomed: &mut self.doomed,
        }
    }

    /// Rows of so many words, or several rows of so many words together, the last time fewer.
    pub fn rows_mut(&mut self, words: usize) -> impl Iterator<Item = Row<'_, W>> {
        self.win
            .chunks_mut(words)
            .zip(self.loss.chunks_mut(words))
            .zip(self.next_win.chunks_mut(words))
            .zip(self.next_loss.chunks_mut(words))
            .zip(self.open.chunks_mut(words))
            .zip(self.doomed.chunks_mut(words))
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
    pub fn words(&self) -> usize {
        self.win.len()
    }

    /// Squares for which a result is known.
    #[inline(always)]
    pub fn decided(&self, column: usize) -> W {
        self.win[column] | self.loss[column]
    }

    #[inline(always)]
    pub fn part(&mut self, words: Range<usize>) -> Row<'_, W> {
        Row {
            win: &mut self.win[words.clone()],
            loss: &mut self.loss[words.clone()],
            next_win: &mut self.next_win[words.clone()],
            next_loss: &mut self.next_loss[words.clone()],
            open: &mut self.open[words.clone()],
            doomed: &mut self.doomed[words],
        }
    }

    /// Enters a word; `layered`: what has ended is kept apart, as nothing else counts for the first
    /// layer. Returns whether sweeps have anything to start from.
    #[inline(always)]
    pub fn enter(&mut self, layered: bool, column: usize, settled: Settled<W>) -> bool {
        let Settled {
            ended,
            mut next,
            open,
            doomed,
        } = settled;
        let unknown = !(next.win | next.loss);
        self.open[column] = open & unknown;
        self.doomed[column] = doomed & unknown;
        let start = if layered {
            self.next_win[column] = ended.win;
            self.next_loss[column] = ended.loss;
            ended
        } else {
            next.win |= ended.win;
            next.loss |= ended.loss;
            next
        };
        self.win[column] = next.win;
        self.loss[column] = next.loss;
        (start.win | start.loss).any()
    }

    /// Makes final what was kept for later and tells of it. Returns whether that is anything.
    #[inline(always)]
    pub(super) fn commit(&mut self, mut tell: impl FnMut(usize, W)) -> bool {
        let next = self.next_win.iter_mut().zip(self.next_loss.iter_mut());
        let known = self.win.iter_mut().zip(self.loss.iter_mut());
        let unknown = self.open.iter_mut().zip(self.doomed.iter_mut());
        let mut any = false;
        for (i, ((next, known), unknown)) in next.zip(known).zip(unknown).enumerate() {
            let new = *next.0 | *next.1;
            if new.any() {
                tell(i, new);
                *known.0 |= std::mem::replace(next.0, W::ZERO);
                *known.1 |= std::mem::replace(next.1, W::ZERO);
                *unknown.0 &= !new;
                *unknown.1 &= !new;
                any = true;
            }
        }
        any
    }

    /// Enters what a pull has found, and returns that.
    #[inline(always)]
    pub(super) fn found<const LAYERED: bool>(
        &mut self,
        i: usize,
        reaches_loss: W,
        only_wins: W,
    ) -> W {
        let win = self.open[i] & reaches_loss;
        let loss = self.doomed[i] & only_wins & !win;
        if LAYERED {
            self.next_win[i] |= win;
            self.next_loss[i] |= loss;
        } else {
            self.win[i] |= win;
            self.loss[i] |= loss;
            self.open[i] &= !(win | loss);
            self.doomed[i] &= !(win | loss);
        }
        win | loss
    }

    /// [`Row::found`] for words that follow each other. Returns whether anything was found.
    #[inline(always)]
    pub(super) fn found_many<const LAYERED: bool>(
        &mut self,
        first: usize,
        reaches_loss: [W; LANES],
        only_wins: [W; LANES],
    ) -> bool {
        let open = lanes_mut(self.open, first);
        let doomed = lanes_mut(self.doomed, first);
        let (wins, losses) = if LAYERED {
            (&mut *self.next_win, &mut *self.next_loss)
        } else {
            (&mut *self.win, &mut *self.loss)
        };
        let wins = lanes_mut(wins, first);
        let losses = lanes_mut(losses, first);
        let mut any = W::ZERO;
        for i in 0..LANES {
            let win = open[i] & reaches_loss[i];
            let loss = doomed[i] & only_wins[i] & !win;
            wins[i] |= win;
            losses[i] |= loss;
            if !LAYERED {
                open[i] &= !(win | loss);
                doomed[i] &= !(win | loss);
            }
            any |= win | loss;
        }
        any.any()
    }
}

/// [`LANES`] words from a place on.
#[inline(always)]
pub fn lanes<W>(words: &[W], first: usize) -> &[W; LANES] {
    let words = &words[first..first + LANES];
    words.try_into().expect("a slice of this length")
}

#[inline(always)]
fn lanes_mut<W>(words: &mut [W], first: usize) -> &mut [W; LANES] {
    let words = &mut words[first..first + LANES];
    words.try_into().expect("a slice of this length")
}
