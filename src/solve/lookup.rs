use super::cpu::{Cpu, Task};
use super::planes::{Fast, PlaneSlice, PlaneWord, Planes};
use super::store::Store;
use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::rank;
use crate::rules::{Goal, Rules};
use crate::table::Wdl;

/// The pieces of a position but for the fast one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces<W> {
    pub men: ByColor<W>,
    pub kings: ByColor<W>,
}

impl<W: Word> Pieces<W> {
    #[inline(always)]
    pub fn of(&self, color: Color) -> W {
        self.men[color] | self.kings[color]
    }

    #[inline(always)]
    pub fn all(&self) -> W {
        self.of(Color::White) | self.of(Color::Black)
    }
}

/// The place of one men configuration, as remembered.
struct Target<'s, G: Geometry> {
    men: ByColor<G::Word>,
    others: u32,
    found: Found<'s, G>,
}

/// The numbers of kings, and whether the fast piece is a man that is not among the men given.
#[inline(always)]
fn others(kings: [u32; 2], fast_man: bool) -> u32 {
    kings[0] << 16 | kings[1] << 8 | u32::from(fast_man)
}

/// Where the results for one men configuration lie.
pub enum Found<'s, G: Geometry> {
    /// No word covers it: ask for each square.
    Nothing,
    /// A block of a slice with kings. `turned`: the slice is held with colours exchanged.
    Block {
        slice: &'s PlaneSlice<G>,
        first: usize,
        free: G::Word,
        turned: bool,
    },
    /// A word of a slice without kings, whose fast man is not among the men of the key.
    ManWord {
        slice: &'s PlaneSlice<G>,
        word: usize,
    },
    /// A single position: a slice without kings, all men given.
    Single(ByColor<Wdl>),
    /// The side to move has no piece left.
    Over,
}

const SLOTS: usize = 512;

/// Finds results of solved positions, a word at a time where the fast piece stays, and remembers
/// where the blocks of recently asked men configurations lie: within one block of the slice being
/// solved the successors fall into a few dozen other blocks.
pub struct Lookup<'s, R: Rules, C> {
    cpu: C,
    store: &'s Store<R::Geometry>,
    slots: Vec<Target<'s, R::Geometry>>,
}

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// The result for a side that is to move and cannot.
pub const fn no_move<R: Rules>() -> Wdl {
    match R::SET.goal {
        Goal::Normal => Wdl::Loss,
        Goal::Reversed => Wdl::Win,
    }
}

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Lookup<'s, R, C> {
    pub fn new(cpu: C, store: &'s Store<R::Geometry>) -> Self {
        let slots = (0..SLOTS)
            .map(|_| Target {
                men: ByColor::default(),
                others: u32::MAX,
                found: Found::Nothing,
            })
            .collect();
        Lookup { cpu, store, slots }
    }

    /// Results for `side` to move with the fast piece, a king, on every square of `mask`;
    /// other squares may hold anything.
    #[inline(always)]
    pub fn with_king(&mut self, side: Color, pieces: &Pieces<W<R>>, mask: W<R>) -> Planes<W<R>> {
        let [white, black] = pieces.kings.0;
        let found = self.find(
            pieces.men,
            [white.count_ones(), black.count_ones() + 1],
            false,
        );
        found.planes::<R>(side, white, black, mask)
    }

    /// The same with the fast piece a black man.
    pub fn with_man(&mut self, side: Color, pieces: &Pieces<W<R>>, mask: W<R>) -> Planes<W<R>> {
        let cpu = self.cpu;
        cpu.run(WithMan {
            lookup: self,
            side,
            pieces,
            mask,
        })
    }

    /// The result of one position, no piece left out.
    #[inline(always)]
    pub fn single(&mut self, side: Color, pieces: &Pieces<W<R>>) -> Wdl {
        let kings = pieces.kings.0.map(|set| set.count_ones());
        self.find(pieces.men, kings, false)
            .result::<R>(side, pieces.kings)
    }

    /// Finds the results for these men and these numbers of kings, the fast piece included if it
    /// is a king; `fast_man`: it is a black man, not among `men`.
    #[inline(always)]
    pub fn find(
        &mut self,
        men: ByColor<W<R>>,
        kings: [u32; 2],
        fast_man: bool,
    ) -> &Found<'s, R::Geometry> {
        let others = others(kings, fast_man);
        let fold = |word: W<R>| {
            let word = word.to_u128();
            word as u64 ^ (word >> 64) as u64
        };
        let mixed = (fold(men[Color::White]).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ fold(men[Color::Black]).wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
        .wrapping_add(u64::from(others))
        .wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let slot = (mixed >> (64 - SLOTS.trailing_zeros())) as usize;
        let target = &self.slots[slot];
        if target.men != men || target.others != others {
            self.slots[slot] = self.cpu.run(Locate {
                store: self.store,
                men,
                kings,
                fast_man,
            });
        }
        &self.slots[slot].found
    }
}

/// Finds out where the results for some men lie, see [`Lookup::find`].
struct Locate<'s, G: Geometry> {
    store: &'s Store<G>,
    men: ByColor<G::Word>,
    kings: [u32; 2],
    fast_man: bool,
}

impl<'s, G: Geometry<Word: PlaneWord>> Task for Locate<'s, G> {
    type Output = Target<'s, G>;

    #[inline(always)]
    fn run(self) -> Target<'s, G> {
        let Locate {
            store,
            men,
            kings,
            fast_man,
        } = self;
        let mut counts = men.0.map(|set| set.count_ones());
        counts[1] += u32::from(fast_man);
        let found = match solved(store, counts, kings) {
            None => Found::Over,
            Some(held) => locate(held, men, fast_man),
        };
        Target {
            men,
            others: others(kings, fast_man),
            found,
        }
    }
}

/// The slice with so many men and kings, and whether it is held turned; none if a side has no
/// piece.
#[inline(always)]
fn solved<G: Geometry<Word: PlaneWord>>(
    store: &Store<G>,
    men: [u32; 2],
    kings: [u32; 2],
) -> Option<(&PlaneSlice<G>, bool)> {
    if (0..2).any(|i| men[i] + kings[i] == 0) {
        return None;
    }
    let held = store.get(men, kings).unwrap_or_else(|| {
        panic!("a slice with men {men:?} and kings {kings:?} is asked for before it is solved")
    });
    Some(held)
}

/// Where the results for some men lie in their slice; `fast_man` as in [`Lookup::find`].
#[inline(always)]
fn locate<'s, G: Geometry<Word: PlaneWord>>(
    (slice, turned): (&'s PlaneSlice<G>, bool),
    men: ByColor<G::Word>,
    fast_man: bool,
) -> Found<'s, G> {
    let mut men = if turned {
        men.map(G::turn).swapped()
    } else {
        men
    };
    match slice.fast() {
        Fast::King => Found::Block {
            slice,
            first: slice.blocks().block_rank(men) as usize * slice.block_words(),
            free: G::BOARD & !(men[Color::White] | men[Color::Black]),
            turned,
        },
        Fast::Man if fast_man && turned => Found::Nothing,
        Fast::Man if fast_man => Found::ManWord {
            slice,
            word: slice.blocks().block_rank(men) as usize,
        },
        Fast::Man => {
            let fast = men[Color::Black].lowest();
            men[Color::Black] ^= fast;
            let word = slice.blocks().block_rank(men) as usize;
            let values = ByColor(Color::BOTH.map(|side| slice.load(side, word).at(fast)));
            Found::Single(if turned { values.swapped() } else { values })
        }
    }
}

/// See [`Lookup::with_man`].
struct WithMan<'t, 's, R: Rules, C> {
    lookup: &'t mut Lookup<'s, R, C>,
    side: Color,
    pieces: &'t Pieces<W<R>>,
    mask: W<R>,
}

impl<R: Rules<Geometry: Geometry<Word: PlaneWord>>, C: Cpu> Task for WithMan<'_, '_, R, C> {
    type Output = Planes<W<R>>;

    #[inline(always)]
    fn run(self) -> Planes<W<R>> {
        let Pieces { men, kings } = *self.pieces;
        let count = |set: W<R>| set.count_ones();
        let counts = kings.0.map(count);
        if counts == [0, 0] {
            match *self.lookup.find(men, counts, true) {
                Found::ManWord { slice, word } => return slice.load(self.side, word),
                Found::Over => return Planes::splat(no_move::<R>()),
                _ => {}
            }
        }
        let [white, black] = men.0;
        let Some(held) = solved(self.lookup.store, [count(white), count(black) + 1], counts) else {
            return Planes::splat(no_move::<R>());
        };
        // No word covers them: one position for each square.
        let mut planes = Planes::default();
        for square in self.mask.bits() {
            let men = ByColor::new(white, black | square);
            match locate(held, men, false).result::<R>(self.side, kings) {
                Wdl::Win => planes.win |= square,
                Wdl::Loss => planes.loss |= square,
                Wdl::Draw => {}
            }
        }
        planes
    }
}

/// A bit of a plane on all squares. Not a branch: which way it would go is anyone's guess.
#[inline(always)]
pub fn bit<W: Word>(plane: W, place: u32) -> W {
    W::ZERO.wrapping_sub(plane >> place & W::ONE)
}

impl<G: Geometry> Clone for Found<'_, G> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Geometry> Copy for Found<'_, G> {}

impl<G: Geometry<Word: PlaneWord>> Found<'_, G> {
    /// The words of this block, where the fast king stays the fast king: the placements of the
    /// other kings then tell the word.
    #[inline(always)]
    pub fn is_direct(&self) -> bool {
        matches!(self, Found::Block { turned: false, .. })
    }

    /// The first word of the row of a placement of White's kings, if [`Found::is_direct`].
    #[inline(always)]
    pub fn row(&self, white: G::Word) -> usize {
        match self {
            Found::Block {
                slice, first, free, ..
            } => first + rank(white, *free) as usize * slice.columns(),
            _ => 0,
        }
    }

    /// The column of a placement of Black's other kings, if [`Found::is_direct`].
    #[inline(always)]
    pub fn column(&self, others: G::Word) -> usize {
        match self {
            Found::Block { free, .. } => rank(others, *free) as usize,
            _ => 0,
        }
    }

    /// A word by its number, if [`Found::is_direct`].
    #[inline(always)]
    pub fn word(&self, side: Color, word: usize) -> Planes<G::Word> {
        match self {
            Found::Block { slice, .. } => slice.load(side, word),
            _ => Planes::default(),
        }
    }

    /// Results with the fast king on every square of `mask`, see [`Lookup::with_king`].
    #[inline(always)]
    pub fn planes<R: Rules<Geometry = G>>(
        &self,
        side: Color,
        white: G::Word,
        others: G::Word,
        mask: G::Word,
    ) -> Planes<G::Word> {
        match self {
            Found::Block { turned: false, .. } => {
                self.word(side, self.row(white) + self.column(others))
            }
            Found::Over => Planes::splat(no_move::<R>()),
            Found::Block {
                slice, first, free, ..
            } => {
                let (kings, white) = (G::turn(others), G::turn(white));
                let fast = white.lowest();
                let place = fast.trailing_zeros();
                let column = first + rank(white ^ fast, *free) as usize;
                let mut turned = Planes::default();
                for square in G::turn(mask).bits() {
                    let row = rank(kings | square, *free) as usize;
                    let there = slice.load(!side, column + row * slice.columns());
                    turned.win |= square & bit(there.win, place);
                    turned.loss |= square & bit(there.loss, place);
                }
                Planes {
                    win: G::turn(turned.win),
                    loss: G::turn(turned.loss),
                }
            }
            _ => unreachable!("with a fast king there is a block"),
        }
    }

    /// The result of one position, the placement of all kings given.
    #[inline(always)]
    pub fn result<R: Rules<Geometry = G>>(&self, side: Color, kings: ByColor<G::Word>) -> Wdl {
        match self {
            Found::Over => no_move::<R>(),
            found => found.value(side, kings),
        }
    }

    #[inline(always)]
    fn value(&self, side: Color, kings: ByColor<G::Word>) -> Wdl {
        match self {
            Found::Block {
                slice,
                first,
                free,
                turned,
            } => {
                let (kings, side) = if *turned {
                    (kings.map(G::turn).swapped(), !side)
                } else {
                    (kings, side)
                };
                let fast = kings[Color::Black].lowest();
                let row = rank(kings[Color::White], *free) as usize;
                let column = rank(kings[Color::Black] ^ fast, *free) as usize;
                slice
                    .load(side, first + row * slice.columns() + column)
                    .at(fast)
            }
            Found::Single(values) => values[side],
            Found::Nothing | Found::Over | Found::ManWord { .. } => {
                unreachable!("a word is asked for, not a position")
            }
        }
    }
}
