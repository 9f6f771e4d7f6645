//! Captures followed jump by jump.

use super::strikes::choose;
use super::{Captures, Jump, Role, W, promotion_row};
use crate::board::{Color, Dir, Dirs, Geometry, Word, each_direction};
use crate::rules::{Choice, Landing, Promotion, Removal, Rules};
use crate::solve::cpu::{Cpu, Task};
use crate::solve::lookup::no_move;
use crate::solve::planes::{PlaneWord, Planes};
use crate::table::Wdl;

/// See [`Captures::land`].
struct Land<'t, 'a, 's, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    captures: &'t mut Captures<'a, 's, R, C>,
    jump: Jump<W<R>>,
    victim: W<R>,
    victim_king: bool,
    dir: Dir,
}

impl<R, C> Task for Land<'_, '_, '_, R, C>
where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    type Output = W<R>;

    #[inline(always)]
    fn run(self) -> W<R> {
        self.captures
            .land_inlined(self.jump, self.victim, self.victim_king, self.dir)
    }
}

/// See [`Captures::finish`].
struct Finish<'t, 'a, 's, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    captures: &'t mut Captures<'a, 's, R, C>,
    jump: Jump<W<R>>,
    to: W<R>,
    king: bool,
}

impl<R, C> Task for Finish<'_, '_, '_, R, C>
where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.captures.finish_inlined(&self.jump, self.to, self.king);
    }
}

/// See [`Captures::go_on`].
struct GoOn<'t, 'a, 's, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C> {
    captures: &'t mut Captures<'a, 's, R, C>,
    jump: &'t Jump<W<R>>,
}

impl<R, C> Task for GoOn<'_, '_, '_, R, C>
where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    type Output = W<R>;

    #[inline(always)]
    fn run(self) -> W<R> {
        self.captures.go_on_inlined(self.jump)
    }
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Captures<'_, '_, R, C> {
    /// Takes the fixed piece `victim` in direction `d`, and goes on. Returns the squares of the
    /// fast piece for which that is possible.
    #[inline(always)]
    pub(super) fn take(&mut self, jump: &Jump<W<R>>, victim: W<R>, d: Dir) -> W<R> {
        let is_king = (victim & self.pieces.kings[!self.side]).any();
        let captured = jump.captured | victim;
        self.land(Jump { captured, ..*jump }, victim, is_king, d)
    }

    /// Goes on with a capture from where it stands. Returns the squares of the fast piece for
    /// which it can.
    ///
    /// Captures recur through here, so this is where the code for the processor is entered anew.
    pub(super) fn go_on(&mut self, jump: &Jump<W<R>>) -> W<R> {
        self.cpu.run(GoOn {
            captures: self,
            jump,
        })
    }

    #[inline(always)]
    fn go_on_inlined(&mut self, jump: &Jump<W<R>>) -> W<R> {
        if jump.king && R::SET.flying {
            let dirs = Dirs(self.dirs(true).0 & jump.dirs.0);
            let mut went = W::<R>::ZERO;
            for d in dirs.iter() {
                went |= self.ray(jump, d);
            }
            return went;
        }
        self.hops(jump)
    }

    /// Goes on with a capture by a man or a short king, as [`Captures::go_on`] does.
    #[inline(always)]
    fn hops(&mut self, jump: &Jump<W<R>>) -> W<R> {
        let mut went = W::<R>::ZERO;
        let dirs = Dirs(self.dirs(jump.king).0 & jump.dirs.0);
        const {
            let kings = R::SET.king_captures.0;
            let men = R::SET.man_captures.0 | R::SET.man_captures.reversed().0;
            assert!(
                men & !kings == 0,
                "men take in directions in which kings do"
            );
        }
        each_direction!(R::SET.king_captures, d => {
            if dirs.contains(d) {
                went |= self.hop(jump, d);
            }
        });
        went
    }

    /// One jump of a man or a short king.
    #[inline(always)]
    fn hop(&mut self, jump: &Jump<W<R>>, d: Dir) -> W<R> {
        let victim = R::Geometry::step(jump.at, d);
        let enemies = self.pieces.of(!self.side) & !jump.captured;
        let taken = if self.may_take_fast(jump) {
            enemies | jump.mask
        } else {
            enemies
        };
        if (victim & taken).is_empty() || R::Geometry::step(victim, d).is_empty() {
            return W::<R>::ZERO;
        }
        if (victim & enemies).any() {
            let spared = !jump.king && !R::SET.man_takes_king;
            if spared && (victim & self.pieces.kings[!self.side]).any() {
                return W::<R>::ZERO;
            }
            return self.take(jump, victim, d);
        }
        let jump = Jump {
            mask: victim,
            role: Role::Taken,
            ..*jump
        };
        self.land(jump, victim, self.fast_king, d)
    }

    /// One jump of a flying king.
    #[inline(always)]
    fn ray(&mut self, jump: &Jump<W<R>>, d: Dir) -> W<R> {
        let empty = R::Geometry::BOARD & !self.blocked(jump);
        let passed = R::Geometry::slide(jump.at, d, empty);
        let stop = R::Geometry::step(jump.at | passed, d) & !passed;
        let mut mask = jump.mask;
        let mut went = W::<R>::ZERO;
        if jump.role == Role::Bystander {
            if self.may_take_fast(jump) {
                for fast in (mask & passed).bits() {
                    let jump = Jump {
                        mask: fast,
                        role: Role::Taken,
                        ..*jump
                    };
                    went |= self.land(jump, fast, self.fast_king, d);
                }
            }
            mask &= !passed;
        }
        if mask.any() && (stop & self.pieces.of(!self.side) & !jump.captured).any() {
            went |= self.take(&Jump { mask, ..*jump }, stop, d);
        }
        went
    }

    /// Lands behind a piece just taken, on every square allowed, and goes on from there.
    /// Returns the squares of the fast piece for which there is a landing square.
    pub(super) fn land(
        &mut self,
        jump: Jump<W<R>>,
        victim: W<R>,
        victim_king: bool,
        dir: Dir,
    ) -> W<R> {
        let cpu = self.cpu;
        cpu.run(Land {
            captures: self,
            jump,
            victim,
            victim_king,
            dir,
        })
    }

    #[inline(always)]
    fn land_inlined(
        &mut self,
        mut jump: Jump<W<R>>,
        victim: W<R>,
        victim_king: bool,
        d: Dir,
    ) -> W<R> {
        let blocked = self.blocked(&jump);
        let first = R::Geometry::step(victim, d);
        if first.is_empty() || (first & blocked).any() {
            return W::<R>::ZERO;
        }
        if jump.role == Role::Bystander {
            jump.mask &= !first;
            if jump.mask.is_empty() {
                return jump.mask;
            }
        }
        let possible = jump.mask;
        if R::SET.choice == Choice::Free {
            // A capture that wins is enough.
            jump.mask &= !self.total.win;
            if jump.mask.is_empty() {
                return possible;
            }
        }
        jump.order = jump.order << 1 | u32::from(victim_king);
        if jump.king && R::SET.flying {
            self.land_flying(&jump, first, blocked, victim_king, d);
            return possible;
        }
        let arrives = !jump.king && (first & promotion_row::<R>(self.side)).any();
        let halts = arrives && R::SET.promotion == Promotion::Halt;
        let runs = arrives && R::SET.promotion == Promotion::Run;
        let went = if halts {
            W::<R>::ZERO
        } else {
            let next = Jump {
                at: first,
                king: jump.king || runs,
                dirs: onward::<R>(d),
                ..jump
            };
            if next.king && R::SET.flying {
                self.go_on(&next)
            } else {
                self.hops(&next)
            }
        };
        let stays = jump.mask & !went;
        if stays.any() {
            self.finish(
                &Jump {
                    mask: stays,
                    ..jump
                },
                first,
                jump.king || arrives,
            );
        }
        possible
    }

    #[inline(always)]
    fn land_flying(
        &mut self,
        jump: &Jump<W<R>>,
        first: W<R>,
        blocked: W<R>,
        victim_king: bool,
        d: Dir,
    ) {
        let empty = R::Geometry::BOARD & !blocked;
        let mut squares = first;
        if R::SET.landing != Landing::Next {
            squares |= R::Geometry::slide(first, d, empty);
        }
        // From which of them it may go on. An untouched fast piece of the opponent could be taken
        // from anywhere.
        let hot = if self.may_take_fast(jump) {
            squares
        } else {
            let left = self.pieces.of(!self.side) & !jump.captured;
            squares & self.threats(left, empty, true).kings
        };
        let mut went = W::<R>::ZERO;
        let mut mask = jump.mask;
        let mut at = first;
        // Straight on from the nearest square only: from the others it is the same capture.
        let mut dirs = onward::<R>(d);
        let mut rest = hot;
        while rest.any() && mask.any() {
            if (rest & at).any() {
                went |= self.go_on(&Jump {
                    at,
                    mask,
                    dirs,
                    ..*jump
                });
                rest &= !at;
            }
            dirs = Dirs(dirs.0 & !(1 << d | 1 << (d ^ 4)));
            at = R::Geometry::step(at, d);
            if jump.role == Role::Bystander {
                mask &= !at;
            }
        }
        // Where some landing square lets the capture go on, one of those must be chosen.
        let mut stays = jump.mask & !went;
        if stays.is_empty() {
            return;
        }
        if R::SET.landing == Landing::NextAfterKing && victim_king {
            squares = first;
        }
        if jump.role == Role::Capturer && self.fast_king {
            return self.finish(
                &Jump {
                    mask: stays,
                    ..*jump
                },
                squares,
                true,
            );
        }
        let mut at = first;
        while (at & squares).any() && stays.any() {
            if R::SET.choice == Choice::Free && (stays & !self.total.win).is_empty() {
                return;
            }
            self.finish(
                &Jump {
                    mask: stays,
                    ..*jump
                },
                at,
                true,
            );
            at = R::Geometry::step(at, d);
            if jump.role == Role::Bystander {
                stays &= !at;
            }
        }
    }

    /// A capture that ends on a square of `to` (one square, unless the fast king captures).
    fn finish(&mut self, jump: &Jump<W<R>>, to: W<R>, king: bool) {
        let cpu = self.cpu;
        cpu.run(Finish {
            captures: self,
            jump: *jump,
            to,
            king,
        });
    }

    #[inline(always)]
    fn finish_inlined(&mut self, jump: &Jump<W<R>>, to: W<R>, king: bool) {
        let (mask, tally) = self.tally_for(jump);
        if mask.is_empty() {
            return;
        }
        let us = self.side;
        let mut pieces = self.pieces;
        pieces.men[!us] &= !jump.captured;
        pieces.kings[!us] &= !jump.captured;
        let fast_left = us == Color::White && jump.role == Role::Bystander;
        let successors = if pieces.of(!us).is_empty() && !fast_left {
            Planes::splat(no_move::<R>())
        } else if king && !R::SET.has_kings() {
            Planes::splat(Wdl::Loss)
        } else {
            if jump.role != Role::Capturer {
                pieces.men[us] &= !jump.from;
                pieces.kings[us] &= !jump.from;
                if king {
                    pieces.kings[us] |= to;
                } else {
                    pieces.men[us] |= to;
                }
            }
            match jump.role {
                Role::Bystander if self.fast_king => self.lookup.with_king(!us, &pieces, mask),
                Role::Bystander => self.lookup.with_man(!us, &pieces, mask),
                Role::Taken => Planes::splat(self.lookup.single(!us, &pieces)),
                Role::Capturer => {
                    let there = if king {
                        self.lookup.with_king(!us, &pieces, to)
                    } else {
                        self.lookup.with_man(!us, &pieces, to)
                    };
                    choose(there, to)
                }
            }
        };
        self.tally_at(tally).add(mask, successors);
    }
}

/// Directions in which a capture may go on after a jump in direction `d`.
#[inline(always)]
fn onward<R: Rules>(d: Dir) -> Dirs {
    // A piece that stays on the board until the end blocks the way back anyway.
    if R::SET.may_reverse && R::SET.removal == Removal::AtOnce {
        Dirs::ALL
    } else {
        Dirs(!(1 << (d ^ 4)))
    }
}
