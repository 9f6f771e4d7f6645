//! Contexts: what is known of a position before its value is decoded, as one number.
//!
//! Positions are visited row by row ([`Rows`]). All that can be known of a row at once is: masks of
//! squares for captures and contacts, one pair of bit planes for the values of each earlier row.
//! So a context costs, for each position, two shifts for each feature in use.

use std::ops::Range;

use super::domain::Domain;
use super::feature::Feature;
use super::rows::{Row, Rows};
use crate::board::{Board, Color, Geometry, Word};

/// The code of a value that is not known or not stored.
pub(super) const UNKNOWN: u8 = 3;
/// The most features in a context.
pub(super) const MAX_FEATURES: usize = 8;
/// The most contexts of one slice and side to move.
pub(super) const MAX_CONTEXTS: usize = 1 << 15;

/// How to number the contexts of one slice: the features in use, as a number in mixed radix, the
/// first feature being the last digit.
#[derive(Clone, Debug)]
pub(super) struct Contexts<G: Geometry> {
    pub count: usize,
    /// What the value decoded last is multiplied with; zero if it is not in use.
    last: u32,
    fast: Vec<FastNeighbour<G::Word>>,
    planes: Vec<(Feature, u32)>,
    /// Constant along a row.
    constants: Vec<(Feature, u32)>,
    /// What the fast piece's square contributes, by its bit.
    squares: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct FastNeighbour<W> {
    rotation: u32,
    /// Squares whose neighbour is off the board.
    outside: W,
    factor: u32,
}

/// Two bits for every square: a value code, or a yes or no in the first.
#[derive(Clone, Copy, Debug)]
struct Planes<W> {
    low: W,
    high: W,
}

impl<W: Word> Planes<W> {
    const UNKNOWN: Planes<W> = Planes {
        low: W::ALL,
        high: W::ALL,
    };

    #[inline(always)]
    fn at(self, bit: u32) -> u32 {
        let one = |plane: W| u32::from((plane >> bit & W::ONE).any());
        one(self.low) | one(self.high) << 1
    }

    #[inline(always)]
    fn set(&mut self, square: W, code: u8) {
        if code & 1 == 0 {
            self.low ^= square;
        }
        if code & 2 == 0 {
            self.high ^= square;
        }
    }
}

/// Values of the rows that differ from the current one in the square of the next slower piece.
struct Family<W> {
    number: u32,
    /// All fixed pieces but the slower one: what the rows of a family share.
    rest: [W; 4],
    /// By bit of the slower piece: the family and its values.
    rows: Vec<(u32, Planes<W>)>,
}

impl<G: Geometry> Contexts<G> {
    /// None if there are too many features or contexts.
    pub fn new(features: &[Feature]) -> Option<Self> {
        let mut contexts = Contexts {
            count: 1,
            last: 0,
            fast: Vec::new(),
            planes: Vec::new(),
            constants: Vec::new(),
            squares: vec![0; G::Word::BITS as usize],
        };
        if features.len() > MAX_FEATURES {
            return None;
        }
        for (i, &feature) in features.iter().enumerate() {
            if features[..i].contains(&feature) {
                return None;
            }
            contexts.add(feature);
            if contexts.count > MAX_CONTEXTS {
                return None;
            }
        }
        Some(contexts)
    }

    fn add(&mut self, feature: Feature) {
        let id = G::ID;
        let factor = self.count as u32;
        self.count *= feature.radix::<G>();
        if feature.of_square(id, 0).is_some() {
            for square in 0..id.squares() {
                let value = feature.of_square(id, square).unwrap_or(0) as u32;
                let bit = G::BIT[square as usize];
                self.squares[bit as usize] += factor * value;
            }
            return;
        }
        match feature {
            Feature::Last => self.last = factor,
            Feature::Fast { dir, steps } => {
                let back = |set| G::step(set, dir ^ 4);
                let inside = (0..steps).fold(G::BOARD, |set, _| back(set));
                let by = G::OFFSET[dir] * steps as u32;
                self.fast.push(FastNeighbour {
                    rotation: by % G::Word::BITS,
                    outside: !inside,
                    factor,
                });
            }
            Feature::SlowerSquare | Feature::WhiteAdvance | Feature::BlackAdvance => {
                self.constants.push((feature, factor));
            }
            _ => self.planes.push((feature, factor)),
        }
    }

    /// Visits the positions of a range, in order, that `left_out` does not name, with the place in
    /// the range and the context of each. The visitor tells the position's value.
    #[inline(always)]
    pub fn visit<E>(
        &self,
        domain: &Domain<G>,
        range: Range<u64>,
        mut visitor: impl FnMut(usize, usize) -> Result<u8, E>,
    ) -> Result<(), E> {
        let mut last = UNKNOWN;
        let mut before = Planes::UNKNOWN;
        let mut family = Family {
            number: 0,
            rest: [G::Word::ALL; 4],
            rows: vec![(0, Planes::UNKNOWN); G::Word::BITS as usize],
        };
        let mut row_start = 0;
        for row in Rows::new(&domain.index, domain.side, range) {
            let kept = row.squares & !domain.left_out(&row.fixed);
            let slower = family.enter(&row.fixed);
            let mut planes = [(Planes::UNKNOWN, 0); MAX_FEATURES];
            let used = self.planes.len();
            for (place, &(feature, factor)) in planes.iter_mut().zip(&self.planes) {
                let planes = plane(domain, feature, &row, slower, &family, before);
                *place = (planes, factor);
            }
            let constant = self.constant(&row.fixed, slower);
            let mut values = Planes::UNKNOWN;
            for square in kept.bits() {
                let bit = square.trailing_zeros();
                let mut context =
                    constant + self.squares[bit as usize] + self.last * u32::from(last);
                for (planes, factor) in &planes[..used] {
                    context += factor * planes.at(bit);
                }
                for neighbour in &self.fast {
                    let at = (bit + neighbour.rotation) % G::Word::BITS;
                    let outside = u32::from((neighbour.outside >> bit & Word::ONE).any()) * 3;
                    context += neighbour.factor * (values.at(at) | outside);
                }
                let below = row.squares & square.wrapping_sub(Word::ONE);
                let place = row_start + below.count_ones() as usize;
                last = visitor(place, context as usize)?;
                values.set(square, last);
            }
            before = values;
            family.leave(slower, values);
            row_start += row.squares.count_ones() as usize;
        }
        Ok(())
    }

    fn constant(&self, fixed: &Board<G>, slower: G::Word) -> u32 {
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
        each.map(|&(feature, factor)| factor * value(feature) as u32)
            .sum()
    }
}

/// The value of a feature on every square of a row.
#[inline(always)]
fn plane<G: Geometry>(
    domain: &Domain<G>,
    feature: Feature,
    row: &Row<G>,
    slower: G::Word,
    family: &Family<G::Word>,
    before: Planes<G::Word>,
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
            return family.values(square);
        }
        Feature::RowBefore => return before,
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
    Planes {
        low,
        high: G::Word::ZERO,
    }
}

impl<W: Word> Family<W> {
    /// Notes which family a row belongs to; returns the slower piece.
    #[inline(always)]
    fn enter<G: Geometry<Word = W>>(&mut self, fixed: &Board<G>) -> W {
        let mut rest = [
            fixed.kings[Color::Black],
            fixed.kings[Color::White],
            fixed.men[Color::Black],
            fixed.men[Color::White],
        ];
        let mut slower = W::ZERO;
        if let Some(kind) = rest.iter_mut().find(|kind| kind.any()) {
            slower = kind.lowest();
            *kind ^= slower;
        }
        if rest != self.rest {
            self.rest = rest;
            self.number += 1;
        }
        slower
    }

    #[inline(always)]
    fn leave(&mut self, slower: W, values: Planes<W>) {
        if slower.any() {
            self.rows[slower.trailing_zeros() as usize] = (self.number, values);
        }
    }

    #[inline(always)]
    fn values(&self, slower: W) -> Planes<W> {
        if slower.is_empty() {
            return Planes::UNKNOWN;
        }
        match self.rows[slower.trailing_zeros() as usize] {
            (number, values) if number == self.number => values,
            _ => Planes::UNKNOWN,
        }
    }
}
