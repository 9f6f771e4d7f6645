use std::collections::{HashMap, HashSet};

use super::view::View;
use super::{BoardMove, Priority, WordOf};
use crate::board::{Dir, Geometry, Word, each_direction};
use crate::rules::{Landing, Promotion, Removal, Rules};

/// Captures that differ only in the square they end on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fan<W> {
    from: W,
    /// The squares to end on.
    to: W,
    captured: W,
    king: bool,
    promotes: bool,
}

impl<W: Word> Fan<W> {
    #[inline(always)]
    fn key(&self) -> (W, W, bool) {
        (self.from, self.captured, self.promotes)
    }
}

/// The captures of the highest priority met so far: a few in place, the rest in a vector.
pub(super) struct CaptureList<W> {
    best: Priority,
    len: usize,
    first: [Fan<W>; CaptureList::<()>::IN_PLACE],
    rest: Vec<Fan<W>>,
    /// Where each key is, once the list is too long to be searched from end to end.
    index: Option<HashMap<(W, W, bool), usize>>,
}

impl CaptureList<()> {
    const IN_PLACE: usize = 8;
    const INDEXED_FROM: usize = 64;
    /// Two routes can take the same pieces and end alike only if they take at least this many. With
    /// two pieces the routes would take them in opposite orders: each piece then lies on a line
    /// through the start and on one through the end, and such lines cannot be drawn on a plane so
    /// that both routes jump both pieces.
    const REPEATABLE: u32 = 3;
}

impl<W: Word> CaptureList<W> {
    #[inline(always)]
    pub fn new() -> Self {
        CaptureList {
            best: Priority::LOWEST,
            len: 0,
            first: Default::default(),
            rest: Vec::new(),
            index: None,
        }
    }

    #[inline(always)]
    fn in_place(&self) -> usize {
        self.len.min(CaptureList::IN_PLACE)
    }

    #[inline(always)]
    fn fans(&self) -> impl Iterator<Item = &Fan<W>> {
        self.first[..self.in_place()].iter().chain(&self.rest)
    }

    fn clear(&mut self) {
        self.len = 0;
        self.rest.clear();
        self.index = None;
    }

    #[inline]
    fn add(&mut self, fan: Fan<W>, taken: &Taken<W>) {
        if taken.priority != self.best {
            if taken.priority < self.best {
                return;
            }
            self.clear();
            self.best = taken.priority;
        }
        if taken.count >= CaptureList::REPEATABLE && self.join(&fan) {
            return;
        }
        match self.first.get_mut(self.len) {
            Some(place) => *place = fan,
            None => self.rest.push(fan),
        }
        self.len += 1;
    }

    /// Adds the ends of a fan to those of the same fan reached by another route, if there is one.
    /// If not, the index is ready for the fan to be appended.
    fn join(&mut self, fan: &Fan<W>) -> bool {
        if self.len < CaptureList::INDEXED_FROM {
            let in_place = self.in_place();
            let mut known = self.first[..in_place].iter_mut().chain(&mut self.rest);
            return match known.find(|other| other.key() == fan.key()) {
                Some(other) => {
                    other.to |= fan.to;
                    true
                }
                None => false,
            };
        }
        if self.index.is_none() {
            self.index = Some(self.fans().map(Fan::key).zip(0..).collect());
        }
        let len = self.len;
        let place = self
            .index
            .as_mut()
            .map_or(len, |index| *index.entry(fan.key()).or_insert(len));
        if place == len {
            return false;
        }
        match self.first.get_mut(place) {
            Some(other) => other.to |= fan.to,
            None => self.rest[place - CaptureList::IN_PLACE].to |= fan.to,
        }
        true
    }

    #[inline(always)]
    pub fn for_each(&self, mut f: impl FnMut(BoardMove<W>)) {
        for fan in self.fans() {
            for to in fan.to.bits() {
                f(BoardMove {
                    from: fan.from,
                    to,
                    captured: fan.captured,
                    king: fan.king,
                    promotes: fan.promotes,
                });
            }
        }
    }

    #[inline(always)]
    pub fn count(&self) -> u64 {
        self.fans().map(|fan| u64::from(fan.to.count_ones())).sum()
    }
}

/// What an unfinished capture has taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Taken<W> {
    pieces: W,
    count: u32,
    priority: Priority,
}

/// Where an unfinished capture stands: on any square of a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Stand<W> {
    /// Squares from which it may go on.
    at: W,
    /// Those of them on which it may end.
    ends: W,
    /// The direction of the last jump, [`Stand::NOWHERE`] before the first.
    facing: Dir,
}

impl Stand<()> {
    const NOWHERE: Dir = 8;
}

/// All that the rest of a capture depends on.
#[derive(PartialEq, Eq, Hash)]
struct Unfinished<W> {
    stand: Stand<W>,
    taken: Taken<W>,
    /// The capturing piece is a king by now.
    king: bool,
}

/// The captures of one piece.
struct Search<'a, R: Rules, const BLACK: bool> {
    view: &'a View<R, BLACK>,
    from: WordOf<R>,
    by_king: bool,
    /// Empty squares, the origin included.
    empty: WordOf<R>,
    list: &'a mut CaptureList<WordOf<R>>,
    /// Long captures already followed from here on.
    seen: Option<HashSet<Unfinished<WordOf<R>>>>,
}

/// Captures of so many pieces are looked up in [`Search::seen`].
const LONG: u32 = 6;

impl<R: Rules, const BLACK: bool> View<R, BLACK> {
    /// Adds the captures of every piece to an empty list.
    #[inline]
    pub fn captures(&self, list: &mut CaptureList<WordOf<R>>) {
        for from in self.capturing_men().bits() {
            self.captures_of::<false>(from, list);
        }
        for from in self.kings.bits() {
            self.captures_of::<true>(from, list);
        }
    }

    #[inline(always)]
    fn captures_of<const KING: bool>(&self, from: WordOf<R>, list: &mut CaptureList<WordOf<R>>) {
        let mut search = Search {
            view: self,
            from,
            by_king: KING,
            empty: self.empty | from,
            list,
            seen: None,
        };
        let stand = Stand {
            at: from,
            ends: WordOf::<R>::ZERO,
            facing: Stand::NOWHERE,
        };
        let taken = Taken {
            pieces: WordOf::<R>::ZERO,
            count: 0,
            priority: Priority::start(R::SET.choice, KING),
        };
        search.go_on::<KING>(stand, taken);
    }
}

impl<R: Rules, const BLACK: bool> Search<'_, R, BLACK> {
    /// Follows every continuation of a capture; if there is none, it ends here.
    fn go_on<const KING: bool>(&mut self, stand: Stand<WordOf<R>>, taken: Taken<WordOf<R>>) {
        if taken.count >= LONG {
            let here = Unfinished {
                stand,
                taken,
                king: KING,
            };
            if !self.seen.get_or_insert_default().insert(here) {
                return;
            }
        }
        let empty = match R::SET.removal {
            Removal::AtEnd => self.empty,
            Removal::AtOnce => self.empty | taken.pieces,
        };
        let targets = if KING {
            self.view.their_men | self.view.their_kings
        } else {
            self.view.men_targets()
        } & !taken.pieces;
        let dirs = const {
            if KING {
                View::<R, BLACK>::KING_CAPTURES
            } else {
                View::<R, BLACK>::MAN_CAPTURES
            }
        };
        let mut ended = taken.count > 0;
        each_direction!(dirs, d => {
            if R::SET.may_reverse || stand.facing != d ^ 4 {
                let reached = if KING && R::SET.flying {
                    stand.at | R::Geometry::slide(stand.at, d, empty)
                } else {
                    stand.at
                };
                let victims = R::Geometry::step(reached, d) & targets & R::Geometry::step(empty, d ^ 4);
                for victim in victims.bits() {
                    ended = false;
                    self.take::<KING>(victim, d, empty, taken);
                }
            }
        });
        if ended {
            let promotes = !self.by_king && (KING || (stand.ends & View::<R, BLACK>::CROWN).any());
            self.end(stand.ends, promotes, &taken);
        }
    }

    /// Jumps over one piece in direction `d`.
    #[inline]
    fn take<const KING: bool>(
        &mut self,
        victim: WordOf<R>,
        d: Dir,
        empty: WordOf<R>,
        taken: Taken<WordOf<R>>,
    ) {
        let takes_king = (victim & self.view.their_kings).any();
        let taken = Taken {
            pieces: taken.pieces | victim,
            count: taken.count + 1,
            priority: taken.priority.taking(R::SET.choice, takes_king),
        };
        let behind = R::Geometry::step(victim, d);
        let stand = Stand {
            at: behind,
            ends: behind,
            facing: d,
        };
        if KING {
            let all = if R::SET.flying && !matches!(R::SET.landing, Landing::Next) {
                R::Geometry::slide(victim, d, empty)
            } else {
                behind
            };
            let only_behind = matches!(R::SET.landing, Landing::NextAfterKing) && takes_king;
            let ends = if only_behind { behind } else { all };
            self.go_on::<true>(
                Stand {
                    at: all,
                    ends,
                    ..stand
                },
                taken,
            );
        } else if (behind & View::<R, BLACK>::CROWN).any() {
            match R::SET.promotion {
                Promotion::Halt => self.end(behind, true, &taken),
                Promotion::Run => self.go_on::<true>(stand, taken),
                Promotion::Stop | Promotion::Win => self.go_on::<false>(stand, taken),
            }
        } else {
            self.go_on::<false>(stand, taken);
        }
    }

    #[inline]
    fn end(&mut self, to: WordOf<R>, promotes: bool, taken: &Taken<WordOf<R>>) {
        let fan = Fan {
            from: self.from,
            to,
            captured: taken.pieces,
            king: self.by_king,
            promotes,
        };
        self.list.add(fan, taken);
    }
}
