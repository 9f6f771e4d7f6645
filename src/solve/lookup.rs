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

/// Where the planes of one men configuration lie.
struct Target<'s, G: Geometry> {
    men: ByColor<G::Word>,
    kings: [u32; 2],
    /// The fast piece is a man that is not among `men`.
    fast_man: bool,
    found: Found<'s, G>,
}

enum Found<'s, G: Geometry> {
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
pub struct Lookup<'s, R: Rules> {
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

impl<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>> Lookup<'s, R> {
    pub fn new(store: &'s Store<R::Geometry>) -> Self {
        let slots = (0..SLOTS)
            .map(|_| Target {
                men: ByColor::default(),
                kings: [u32::MAX; 2],
                fast_man: false,
                found: Found::Nothing,
            })
            .collect();
        Lookup { store, slots }
    }

    /// Results for `side` to move with the fast piece, a king, on every square of `mask`;
    /// other squares may hold anything.
    #[inline(always)]
    pub fn with_king(&mut self, side: Color, pieces: &Pieces<W<R>>, mask: W<R>) -> Planes<W<R>> {
        let [white, black] = pieces.kings.0;
        let kings = [white.count_ones(), black.count_ones() + 1];
        let target = self.target(pieces.men, kings, false);
        match &target.found {
            Found::Block {
                slice,
                first,
                free,
                turned: false,
            } => {
                let row = rank(white, *free) as usize;
                let column = rank(black, *free) as usize;
                slice.load(side, first + row * slice.columns() + column)
            }
            Found::Over => Planes::splat(no_move::<R>()),
            found => {
                let mut planes = Planes::default();
                for square in mask.bits() {
                    let kings = ByColor::new(white, black | square);
                    match found.value(side, kings) {
                        Wdl::Win => planes.win |= square,
                        Wdl::Loss => planes.loss |= square,
                        Wdl::Draw => {}
                    }
                }
                planes
            }
        }
    }

    /// The same with the fast piece a black man.
    pub fn with_man(&mut self, side: Color, pieces: &Pieces<W<R>>, mask: W<R>) -> Planes<W<R>> {
        let kings = pieces.kings.0.map(|set| set.count_ones());
        if kings == [0, 0] {
            match &self.target(pieces.men, kings, true).found {
                Found::ManWord { slice, word } => return slice.load(side, *word),
                Found::Over => return Planes::splat(no_move::<R>()),
                _ => {}
            }
        }
        let mut planes = Planes::default();
        for square in mask.bits() {
            let mut all = *pieces;
            all.men[Color::Black] |= square;
            match self.single(side, &all) {
                Wdl::Win => planes.win |= square,
                Wdl::Loss => planes.loss |= square,
                Wdl::Draw => {}
            }
        }
        planes
    }

    /// The result of one position, no piece left out.
    #[inline(always)]
    pub fn single(&mut self, side: Color, pieces: &Pieces<W<R>>) -> Wdl {
        let kings = pieces.kings.0.map(|set| set.count_ones());
        let target = self.target(pieces.men, kings, false);
        match &target.found {
            Found::Over => no_move::<R>(),
            found => found.value(side, pieces.kings),
        }
    }

    #[inline(always)]
    fn target(
        &mut self,
        men: ByColor<W<R>>,
        kings: [u32; 2],
        fast_man: bool,
    ) -> &Target<'s, R::Geometry> {
        let fold = |word: W<R>| {
            let word = word.to_u128();
            word as u64 ^ (word >> 64) as u64
        };
        let mixed = (fold(men[Color::White]).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ fold(men[Color::Black]).wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
        .wrapping_add(u64::from(
            kings[0] * 16 + kings[1] * 2 + u32::from(fast_man),
        ))
        .wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let slot = (mixed >> (64 - SLOTS.trailing_zeros())) as usize;
        let target = &self.slots[slot];
        if target.men != men || target.kings != kings || target.fast_man != fast_man {
            self.slots[slot] = find::<R>(self.store, men, kings, fast_man);
        }
        &self.slots[slot]
    }
}

fn find<'s, R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    store: &'s Store<R::Geometry>,
    men: ByColor<W<R>>,
    kings: [u32; 2],
    fast_man: bool,
) -> Target<'s, R::Geometry> {
    let mut counts = men.0.map(|set| set.count_ones());
    counts[1] += u32::from(fast_man);
    let found = if (0..2).any(|i| counts[i] + kings[i] == 0) {
        Found::Over
    } else {
        let (slice, turned) = store.get(counts, kings).unwrap_or_else(|| {
            panic!(
                "a slice with men {counts:?} and kings {kings:?} is asked for before it is solved"
            )
        });
        let oriented = |men: ByColor<W<R>>| {
            if turned {
                men.map(R::Geometry::turn).swapped()
            } else {
                men
            }
        };
        match slice.fast() {
            Fast::King => {
                let men = oriented(men);
                let first = slice.blocks().block_rank(men) as usize * slice.block_words();
                let free = R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]);
                Found::Block {
                    slice,
                    first,
                    free,
                    turned,
                }
            }
            Fast::Man if fast_man && !turned => Found::ManWord {
                slice,
                word: slice.blocks().block_rank(men) as usize,
            },
            Fast::Man if fast_man => Found::Nothing,
            Fast::Man => {
                let mut men = oriented(men);
                let fast = men[Color::Black].lowest();
                men[Color::Black] ^= fast;
                let word = slice.blocks().block_rank(men) as usize;
                let values = ByColor(Color::BOTH.map(|side| slice.load(side, word).at(fast)));
                Found::Single(if turned { values.swapped() } else { values })
            }
        }
    };
    Target {
        men,
        kings,
        fast_man,
        found,
    }
}

impl<G: Geometry<Word: PlaneWord>> Found<'_, G> {
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
