use std::marker::PhantomData;

use super::{BoardMove, WordOf};
use crate::board::{Board, Color, Dir, Dirs, Geometry, Word, each_direction};
use crate::rules::{Promotion, Rules};

/// A position as the side to move sees it: whose men go which way is part of the type.
#[derive(Clone, Copy)]
pub(super) struct View<R: Rules, const BLACK: bool> {
    pub men: WordOf<R>,
    pub kings: WordOf<R>,
    pub their_men: WordOf<R>,
    pub their_kings: WordOf<R>,
    pub empty: WordOf<R>,
    rules: PhantomData<R>,
}

impl<R: Rules, const BLACK: bool> View<R, BLACK> {
    const MAN_MOVES: Dirs = Self::turned(R::SET.man_moves);
    pub const MAN_CAPTURES: Dirs = Self::turned(R::SET.man_captures);
    const KING_MOVES: Dirs = R::SET.king_moves;
    pub const KING_CAPTURES: Dirs = R::SET.king_captures;
    /// Where men of the side to move are crowned.
    pub const CROWN: WordOf<R> = if BLACK {
        <R::Geometry as Geometry>::BOTTOM
    } else {
        <R::Geometry as Geometry>::TOP
    };

    const fn turned(dirs: Dirs) -> Dirs {
        if BLACK { dirs.reversed() } else { dirs }
    }

    #[inline(always)]
    pub fn new(board: &Board<R::Geometry>) -> Self {
        let us = if BLACK { Color::Black } else { Color::White };
        View {
            men: board.men[us],
            kings: board.kings[us],
            their_men: board.men[!us],
            their_kings: board.kings[!us],
            empty: R::Geometry::BOARD & !board.occupied(),
            rules: PhantomData,
        }
    }

    /// Breakthrough: the opponent's man has arrived.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        matches!(R::SET.promotion, Promotion::Win) && self.their_kings.any()
    }

    /// The pieces a man may take.
    #[inline(always)]
    pub fn men_targets(&self) -> WordOf<R> {
        if R::SET.man_takes_king {
            self.their_men | self.their_kings
        } else {
            self.their_men
        }
    }

    /// The men that can capture.
    #[inline(always)]
    pub fn capturing_men(&self) -> WordOf<R> {
        let targets = self.men_targets();
        let mut capturing = WordOf::<R>::ZERO;
        each_direction!(Self::MAN_CAPTURES, d => {
            let victims = R::Geometry::step(self.empty, d ^ 4) & targets;
            capturing |= R::Geometry::step(victims, d ^ 4);
        });
        capturing & self.men
    }

    #[inline(always)]
    fn king_can_capture(&self) -> bool {
        if self.kings.is_empty() {
            return false;
        }
        let targets = self.their_men | self.their_kings;
        let mut victims = WordOf::<R>::ZERO;
        each_direction!(Self::KING_CAPTURES, d => {
            let reached = if R::SET.flying {
                self.kings | R::Geometry::slide(self.kings, d, self.empty)
            } else {
                self.kings
            };
            let next = R::Geometry::step(reached, d) & targets;
            victims |= next & R::Geometry::step(self.empty, d ^ 4);
        });
        victims.any()
    }

    #[inline(always)]
    pub fn has_capture(&self) -> bool {
        self.capturing_men().any() || self.king_can_capture()
    }

    #[inline(always)]
    pub fn quiet_moves(&self, f: &mut impl FnMut(BoardMove<WordOf<R>>)) {
        each_direction!(Self::MAN_MOVES, d => {
            for to in (R::Geometry::step(self.men, d) & self.empty).bits() {
                f(BoardMove {
                    from: R::Geometry::step(to, d ^ 4),
                    to,
                    captured: WordOf::<R>::ZERO,
                    king: false,
                    promotes: (to & Self::CROWN).any(),
                });
            }
        });
        for from in self.kings.bits() {
            for to in self.quiet_king_targets(from).bits() {
                f(BoardMove {
                    from,
                    to,
                    captured: WordOf::<R>::ZERO,
                    king: true,
                    promotes: false,
                });
            }
        }
    }

    #[inline(always)]
    fn quiet_king_targets(&self, kings: WordOf<R>) -> WordOf<R> {
        let mut targets = WordOf::<R>::ZERO;
        each_direction!(Self::KING_MOVES, d => {
            targets |= self.quiet_king_moves(kings, d);
        });
        targets
    }

    /// Where kings can go in one direction. As kings block each other, no square is reached twice.
    #[inline(always)]
    fn quiet_king_moves(&self, kings: WordOf<R>, d: Dir) -> WordOf<R> {
        if R::SET.flying {
            R::Geometry::slide(kings, d, self.empty)
        } else {
            R::Geometry::step(kings, d) & self.empty
        }
    }

    #[inline(always)]
    pub fn count_quiet_moves(&self) -> u64 {
        let mut count = 0;
        each_direction!(Self::MAN_MOVES, d => {
            count += (R::Geometry::step(self.men, d) & self.empty).count_ones();
        });
        if self.kings.any() {
            each_direction!(Self::KING_MOVES, d => {
                count += self.quiet_king_moves(self.kings, d).count_ones();
            });
        }
        u64::from(count)
    }

    #[inline(always)]
    pub fn has_quiet_move(&self) -> bool {
        let mut targets = WordOf::<R>::ZERO;
        each_direction!(Self::MAN_MOVES, d => {
            targets |= R::Geometry::step(self.men, d);
        });
        // One step is enough: who cannot step cannot fly.
        each_direction!(Self::KING_MOVES, d => {
            targets |= R::Geometry::step(self.kings, d);
        });
        (targets & self.empty).any()
    }
}
