//! Contexts: what is known of a position before its value is decoded, as one number.
//!
//! Positions are visited row by row ([`Rows`](super::rows::Rows)). What does not depend on the
//! row's own values is known of all its squares at once: masks for captures and contacts, a pair of
//! bit planes for the values of each earlier row. So these *fixed* parts of the contexts are added
//! up for a whole row with a few vector operations for each feature, and only the values of the row
//! itself, as they are decoded, cost something for each position.

use super::domain::Domain;
use super::feature::Feature;
use super::reference::Reference;
use super::rows::Row;
use crate::board::{Board, Color, Geometry, Word};

/// The code of a value that is not known or not stored.
pub(super) const UNKNOWN: u8 = 3;
/// The most features in a context.
pub(super) const MAX_FEATURES: usize = 8;
/// The most contexts of one slice and side to move.
pub(super) const MAX_CONTEXTS: usize = 1 << 15;
/// The most bits of a word.
pub(super) const BITS: usize = 128;

/// How to number the contexts of one slice: the features in use, as a number in mixed radix, the
/// first feature being the last digit.
#[derive(Clone, Debug)]
pub(super) struct Contexts<G: Geometry> {
    pub count: usize,
    /// What the value decoded last is multiplied with; zero if it is not in use.
    last: u16,
    /// Values of the row itself.
    near: Vec<Near<G::Word>>,
    planes: Vec<(Feature, u16)>,
    /// Constant along a row.
    constants: Vec<(Feature, u16)>,
    /// What the fast piece's square contributes, by its bit.
    squares: [u16; BITS],
}

/// The value in the same row with the fast piece somewhere else.
#[derive(Clone, Copy, Debug)]
struct Near<W> {
    rotation: u32,
    /// Squares for which that place is off the board or comes later.
    unknown: W,
    factor: u16,
}

/// Two bits for every square: a value code, or a yes or no in the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planes<W> {
    pub low: W,
    pub high: W,
}

impl<W: Word> Planes<W> {
    pub const UNKNOWN: Planes<W> = Planes {
        low: W::ALL,
        high: W::ALL,
    };

    /// Yes or no on every square.
    pub fn flags(low: W) -> Self {
        Planes { low, high: W::ZERO }
    }

    #[inline(always)]
    pub fn at(self, bit: u32) -> u16 {
        let one = |plane: W| u16::from((plane >> bit & W::ONE).any());
        one(self.low) | one(self.high) << 1
    }

    /// Gives a square that is unknown a value.
    #[inline(always)]
    pub fn set(&mut self, square: W, code: u8) {
        let unless = |set: bool| if set { W::ZERO } else { square };
        self.low ^= unless(code & 1 != 0);
        self.high ^= unless(code & 2 != 0);
    }
}

/// Values of the rows that differ from the current one in the square of the next slower piece.
pub(super) struct Family<W> {
    /// All other pieces but the fast one: what the rows of a family share.
    rest: [W; 4],
    /// Squares of the slower piece whose rows are known.
    seen: W,
    /// By bit of the slower piece.
    rows: [Planes<W>; BITS],
}

/// What is known of the rows before the current one.
pub(super) struct Past<W> {
    before: Planes<W>,
    family: Family<W>,
    last: u16,
}

impl<W: Word> Past<W> {
    pub fn new() -> Self {
        Past {
            before: Planes::UNKNOWN,
            family: Family::new(),
            last: u16::from(UNKNOWN),
        }
    }

    /// What is known of the next row.
    #[inline(always)]
    pub fn enter<G: Geometry<Word = W>>(&mut self, domain: &Domain<G>, row: &Row<G>) -> Known<W> {
        Known {
            kept: row.squares & !domain.left_out(&row.fixed),
            slower: self.family.enter(&row.fixed),
        }
    }

    /// Takes up a row with its values.
    #[inline(always)]
    pub fn add(&mut self, row: &Known<W>, values: Planes<W>) {
        self.before = values;
        self.family.add(row.slower, values);
        if row.kept.any() {
            self.last = values.at(highest(row.kept));
        }
    }
}

/// The bit number of the highest square of a set that is not empty.
#[inline(always)]
fn highest<W: Word>(set: W) -> u32 {
    W::BITS - 1 - set.reverse_bits().trailing_zeros()
}

/// What is known of a row before its values are.
pub(super) struct Known<W> {
    /// The squares whose values are stored.
    pub kept: W,
    slower: W,
}

/// By bit, what the contexts of a row are without the values of the row itself.
pub(super) type Fixed = [u16; BITS];

impl<G: Geometry> Contexts<G> {
    /// None if there are too many features or contexts.
    pub fn new(features: &[Feature]) -> Option<Self> {
        let mut contexts = Contexts {
            count: 1,
            last: 0,
            near: Vec::new(),
            planes: Vec::new(),
            constants: Vec::new(),
            squares: [0; BITS],
        };
        if features.len() > MAX_FEATURES {
            return None;
        }
        for (i, &feature) in features.iter().enumerate() {
            if features[..i].contains(&feature) {
                return None;
            }
            contexts.add(feature)?;
        }
        Some(contexts)
    }

    fn add(&mut self, feature: Feature) -> Option<()> {
        let id = G::ID;
        let factor = self.count as u16;
        self.count *= feature.radix::<G>();
        if self.count > MAX_CONTEXTS {
            return None;
        }
        if feature.of_square(id, 0).is_some() {
            for square in 0..id.squares() {
                let value = feature.of_square(id, square).unwrap_or(0) as u16;
                self.squares[usize::from(G::BIT[square as usize])] += factor * value;
            }
            return Some(());
        }
        match feature {
            Feature::Last => self.last = factor,
            Feature::Fast { dir, steps } => {
                let back = |set| G::step(set, dir ^ 4);
                let inside = (0..steps).fold(G::BOARD, |set, _| back(set));
                let rotation = G::OFFSET[dir] * steps as u32 % G::Word::BITS;
                let mut unknown = !inside;
                for square in inside.bits() {
                    let bit = square.trailing_zeros();
                    if (bit + rotation) % G::Word::BITS > bit {
                        unknown |= square;
                    }
                }
                self.near.push(Near {
                    rotation,
                    unknown,
                    factor,
                });
            }
            Feature::SlowerSquare | Feature::WhiteAdvance | Feature::BlackAdvance => {
                self.constants.push((feature, factor));
            }
            _ => self.planes.push((feature, factor)),
        }
        Some(())
    }

    /// What can be known of the contexts of a row without its values.
    #[inline(always)]
    pub fn fixed(
        &self,
        domain: &Domain<G>,
        row: &Row<G>,
        known: &Known<G::Word>,
        past: &Past<G::Word>,
        reference: Option<&Reference<G::Word>>,
        fixed: &mut Fixed,
    ) {
        let constant = self.constant(&row.fixed, known.slower);
        let used = G::Word::BITS as usize;
        for (fixed, square) in fixed[..used].iter_mut().zip(&self.squares[..used]) {
            *fixed = square + constant;
        }
        for &(feature, factor) in &self.planes {
            let planes = match (feature, reference) {
                (Feature::Other(other), Some(reference)) => {
                    reference.plane(domain, other, &row.fixed, known.slower)
                }
                _ => plane(domain, feature, row, known.slower, past),
            };
            add_where(&mut fixed[..used], planes.low, factor);
            if planes.high.any() {
                add_where(&mut fixed[..used], planes.high, 2 * factor);
            }
        }
    }

    /// The context of a square, the values of all stored squares before it being known.
    #[inline(always)]
    pub fn at(
        &self,
        square: G::Word,
        known: &Known<G::Word>,
        fixed: &Fixed,
        values: Planes<G::Word>,
        past: &Past<G::Word>,
    ) -> usize {
        let bit = square.trailing_zeros();
        let mut context = fixed[bit as usize];
        if self.last != 0 {
            let before = known.kept & square.wrapping_sub(G::Word::ONE);
            let last = if before.any() {
                values.at(highest(before))
            } else {
                past.last
            };
            context += self.last * last;
        }
        for near in &self.near {
            let at = (bit + near.rotation) % G::Word::BITS;
            let unknown = u16::from((near.unknown >> bit & G::Word::ONE).any()) * 3;
            context += near.factor * (values.at(at) | unknown);
        }
        usize::from(context)
    }

    fn constant(&self, fixed: &Board<G>, slower: G::Word) -> u16 {
        let ranks = G::RANKS;
        let on = |rank: usize, color| (fixed.men[color] & G::RANK[rank]).any();
        let value = |feature| match feature {
            Feature::SlowerSquare => {
                let bit = slower.trailing_zeros();
                let squares = 0..G::SQUARES;
                let is = |&i: &usize| u32::from(G::BIT[i]) == bit;
                squares.clone().find(is).unwrap_or(0)
            }
            Feature::WhiteAdvance => (0..ranks).rfind(|&r| on(r, Color::White)).unwrap_or(0),
            Feature::BlackAdvance => {
                let rank = (0..ranks).find(|&r| on(r, Color::Black));
                rank.map_or(0, |r| ranks - 1 - r)
            }
            _ => 0,
        };
        let each = self.constants.iter();
        each.map(|&(feature, factor)| factor * value(feature) as u16)
            .sum()
    }
}

/// Adds to the numbers at the bits of a set.
#[inline(always)]
fn add_where<W: Word>(numbers: &mut [u16], set: W, term: u16) {
    let mut set = set;
    for lanes in numbers.chunks_exact_mut(16) {
        let bits = set.to_u128() as u16;
        for (lane, number) in lanes.iter_mut().enumerate() {
            let mask = 1u16 << lane;
            *number += if bits & mask == mask { term } else { 0 };
        }
        set = set >> 16;
    }
}

/// The value of a feature on every square of a row.
#[inline(always)]
fn plane<G: Geometry>(
    domain: &Domain<G>,
    feature: Feature,
    row: &Row<G>,
    slower: G::Word,
    past: &Past<G::Word>,
) -> Planes<G::Word> {
    let fixed = &row.fixed;
    let fast = domain.fast;
    let around = |set: G::Word, steps: usize| {
        let dirs = domain.king_moves.iter();
        dirs.fold(G::Word::ZERO, |all, d| {
            all | (0..steps).fold(set, |set, _| G::step(set, d))
        })
    };
    let low = match feature {
        Feature::Slower { dir, steps } => {
            let square = (0..steps).fold(slower, |set, _| G::step(set, dir));
            return past.family.values(square);
        }
        Feature::RowBefore => return past.before,
        Feature::OpponentCaptures => domain.threats(fixed),
        Feature::TouchesEnemy => around(fixed.pieces(!fast.color), 1),
        Feature::TouchesFriend => around(fixed.pieces(fast.color), 1),
        Feature::NearEnemy => around(fixed.pieces(!fast.color), 2),
        Feature::Opposition => {
            let ranks = 0..G::RANKS;
            let odd = ranks.filter(|r| r % 2 == 1);
            let odd = odd.fold(G::Word::ZERO, |all, r| all | G::RANK[r]);
            if (fixed.occupied() & odd).count_ones() % 2 == 1 {
                !odd
            } else {
                odd
            }
        }
        _ => G::Word::ZERO,
    };
    Planes::flags(low)
}

/// What the rows of a family share, and the square of the slower piece in which they differ.
#[inline(always)]
pub(super) fn family_of<G: Geometry>(fixed: &Board<G>) -> ([G::Word; 4], G::Word) {
    let mut rest = [
        fixed.kings[Color::Black],
        fixed.kings[Color::White],
        fixed.men[Color::Black],
        fixed.men[Color::White],
    ];
    let mut slower = G::Word::ZERO;
    if let Some(kind) = rest.iter_mut().find(|kind| kind.any()) {
        slower = kind.lowest();
        *kind ^= slower;
    }
    (rest, slower)
}

impl<W: Word> Family<W> {
    pub fn new() -> Self {
        Family {
            rest: [W::ALL; 4],
            seen: W::ZERO,
            rows: [Planes::UNKNOWN; BITS],
        }
    }

    /// Takes up a row of the family.
    #[inline(always)]
    pub fn add(&mut self, slower: W, values: Planes<W>) {
        if slower.any() {
            self.seen |= slower;
            self.rows[slower.trailing_zeros() as usize] = values;
        }
    }

    /// Forgets the family before, if this is another one; whether it is.
    #[inline(always)]
    pub fn turn_to(&mut self, rest: [W; 4]) -> bool {
        let other = rest != self.rest;
        if other {
            self.rest = rest;
            self.seen = W::ZERO;
        }
        other
    }

    /// Notes which family a row belongs to; returns the slower piece.
    #[inline(always)]
    fn enter<G: Geometry<Word = W>>(&mut self, fixed: &Board<G>) -> W {
        let (rest, slower) = family_of(fixed);
        self.turn_to(rest);
        slower
    }

    #[inline(always)]
    pub fn values(&self, slower: W) -> Planes<W> {
        if (self.seen & slower).any() {
            self.rows[slower.trailing_zeros() as usize]
        } else {
            Planes::UNKNOWN
        }
    }
}
