//! Chances from sums: each of several contexts adds its weight to the logarithm of the odds.
//!
//! A unit of weight makes odds 9/8 times as large, so a table of some two hundred chances turns any
//! sum into a chance, in integers. Weights are found by Newton's method, one set of contexts after
//! the other, on a sample; sums of integers, they do not depend on the order in which threads do
//! their part.

use rayon::prelude::*;

use super::choice::{Sample, Split};
use super::feature::Feature;
use super::logarithm::BIT;
use crate::parallel::PerThread;

/// Larger sums, up or down, count as this.
const EXTREME: i32 = 94;

/// Chance of a yes by sum, out of 65536.
const CHANCE: [u16; 2 * EXTREME as usize + 1] = {
    let mut chances = [0; 2 * EXTREME as usize + 1];
    let mut odds = 1u64 << 16;
    let mut sum = 0;
    while sum <= EXTREME as usize {
        let miss = (1u64 << 32) / ((1 << 16) + odds);
        let miss = if miss > 1 { miss as u16 } else { 1 };
        chances[EXTREME as usize + sum] = miss.wrapping_neg();
        chances[EXTREME as usize - sum] = miss;
        odds += odds / 8;
        sum += 1;
    }
    chances
};

/// The chance of a yes, out of 65536, never 0.
#[inline(always)]
pub(super) fn chance(sum: i32) -> u16 {
    CHANCE[(sum.clamp(-EXTREME, EXTREME) + EXTREME) as usize]
}

/// What a context adds to the sums of both decisions: is it the first value, and if not, the second.
pub(super) type Weights = [i8; 2];

/// Parts of a unit in which weights are kept while they are found.
const FINE: i32 = 64;
/// Such parts in the natural logarithm's unit.
const NATURAL: i64 = 543;
/// The largest weight, and the longest step towards it, in such parts.
const LARGEST: i64 = 84 * FINE as i64;
const STEP: i64 = 2 * NATURAL;
/// Certainty, out of 65536, that weights are zero, in values seen.
const PRIOR: i64 = 1 << 16;
/// What a context in use costs in the file, roughly.
const CONTEXT_COST: i64 = 10 * BIT as i64;

/// First and second derivatives of the cost of both decisions, out of 65536.
type Slopes = [[i64; 2]; 2];

/// The chance for a sum in fine parts, between those of whole units.
#[inline(always)]
fn fine_chance(sum: i16) -> i64 {
    let whole = i32::from(sum).div_euclid(FINE).clamp(-EXTREME, EXTREME - 1);
    let part = (i32::from(sum) - whole * FINE).clamp(0, FINE);
    let (low, high) = (i64::from(chance(whole)), i64::from(chance(whole + 1)));
    low + (high - low) * i64::from(part) / i64::from(FINE)
}

#[inline(always)]
fn slope(sum: i16, yes: bool) -> [i64; 2] {
    let chance = fine_chance(sum);
    [
        if yes { 1 << 16 } else { 0 } - chance,
        (chance * ((1 << 16) - chance)) >> 16,
    ]
}

/// `place` is that of the value in the order of values.
#[inline(always)]
fn slopes(sums: [i16; 2], place: u8) -> Slopes {
    let second = if place == 0 {
        [0, 0]
    } else {
        slope(sums[1], place == 1)
    };
    [slope(sums[0], place == 0), second]
}

#[inline(always)]
fn add(sum: &mut Slopes, other: &Slopes) {
    for (sum, other) in sum.iter_mut().flatten().zip(other.iter().flatten()) {
        *sum += other;
    }
}

/// The features that tell most of what sums of weights do not tell yet. `places` and `sums` are those
/// of the sample's values; the sample stands for `share` times as many.
pub(super) fn choose(
    sample: &Sample,
    places: &[u8],
    sums: &[[i16; 2]],
    share: i64,
    limit: usize,
) -> Vec<Feature> {
    let each = places.iter().zip(sums);
    let each: Vec<[i32; 4]> = each
        .map(|(&place, &sums)| {
            let [[a, b], [c, d]] = slopes(sums, place);
            [a, b, c, d].map(|slope| slope as i32)
        })
        .collect();
    let impurity = if share > 1 { 3 * BIT as i64 / 2 } else { 0 };
    // What a step of Newton's method saves: G^2 / 2 H, in bits.
    let saved = |[first, second]: [i64; 2]| -> i64 {
        let first = i128::from(first);
        ((first * first * 47274 / i128::from(second + 2 * PRIOR)) >> 16) as i64
    };
    sample.choose(limit, |split: Split| {
        let mut all = vec![[0i64; 4]; split.count];
        split.for_each(|i, context| {
            for (sum, slope) in all[context].iter_mut().zip(each[i]) {
                *sum += i64::from(slope);
            }
        });
        let used = all.iter().filter(|slopes| slopes[1] > 0);
        let costs = used.map(|&[a, b, c, d]| {
            let gain = saved([a, b]) + saved([c, d]) - impurity;
            // A whole table takes less than this, which as a sum still is no overflow.
            CONTEXT_COST - gain.max(0).saturating_mul(share).min(i64::MAX >> 16)
        });
        // A set must save something at all.
        if split.count > 1 { costs.sum() } else { 0 }
    })
}

/// A set of contexts: those of the values on which weights are found, and the weights.
struct Set {
    contexts: Vec<u16>,
    weights: Vec<[i16; 2]>,
}

/// Weights of sets of contexts, being found.
pub(super) struct Training {
    /// The places of the values in the order of values.
    places: Vec<u8>,
    sums: Vec<[i16; 2]>,
    sets: Vec<Set>,
}

/// Bytes for each value and set.
pub(super) const TRAINING_BYTES: [u64; 2] = [5, 2];
/// Bytes each thread has for contexts up to a limit.
pub(super) const fn slopes_bytes(limit: u64) -> u64 {
    limit * size_of::<Slopes>() as u64
}

/// Values worked on at once.
const PIECE: usize = 1 << 14;

impl Training {
    pub fn new(places: Vec<u8>) -> Self {
        Training {
            sums: vec![[0; 2]; places.len()],
            places,
            sets: Vec::new(),
        }
    }

    /// Adds a set, of whose contexts there are `count`, and fits the weights of all.
    pub fn add(&mut self, contexts: Vec<u16>, count: usize) {
        let weights = vec![[0; 2]; count];
        self.sets.push(Set { contexts, weights });
        let last = self.sets.len() - 1;
        // Far from the end the first steps are short.
        let first_steps = if last == 0 { 8 } else { 3 };
        (0..first_steps).for_each(|_| self.step(last));
        if last > 0 {
            self.settle(2);
        }
    }

    /// Fits the weights of all sets some times over.
    pub fn settle(&mut self, times: usize) {
        for _ in 0..times {
            (0..self.sets.len()).for_each(|set| self.step(set));
        }
    }

    /// Makes a step of Newton's method in the weights of a set.
    fn step(&mut self, set: usize) {
        let set = &mut self.sets[set];
        let count = set.weights.len();
        let zeros = || vec![Slopes::default(); count];
        let all = PerThread::new(zeros);
        let pieces = set.contexts.par_chunks(PIECE);
        let values = self
            .sums
            .par_chunks(PIECE)
            .zip(self.places.par_chunks(PIECE));
        pieces.zip(values).for_each(|(contexts, (sums, places))| {
            all.with(|all| {
                for ((&context, &sums), &place) in contexts.iter().zip(sums).zip(places) {
                    add(&mut all[usize::from(context)], &slopes(sums, place));
                }
            });
        });
        let all = all.into_tools().fold(zeros(), |mut sum, part| {
            sum.iter_mut()
                .zip(&part)
                .for_each(|(sum, part)| add(sum, part));
            sum
        });
        let mut steps = vec![[0i16; 2]; count];
        for ((weights, steps), slopes) in set.weights.iter_mut().zip(&mut steps).zip(&all) {
            for ((weight, step), [first, second]) in weights.iter_mut().zip(steps).zip(slopes) {
                let before = i64::from(*weight);
                let newton = (NATURAL * first - PRIOR * before) / (second + PRIOR);
                let after = before + newton.clamp(-STEP, STEP);
                *weight = after.clamp(-LARGEST, LARGEST) as i16;
                *step = *weight - before as i16;
            }
        }
        let sums = self.sums.par_chunks_mut(PIECE);
        sums.zip(set.contexts.par_chunks(PIECE))
            .for_each(|(sums, contexts)| {
                for (sums, &context) in sums.iter_mut().zip(contexts) {
                    let [first, second] = steps[usize::from(context)];
                    *sums = [sums[0] + first, sums[1] + second];
                }
            });
    }

    /// The fine weights of a context of a set.
    pub fn weights(&self, set: usize, context: usize) -> [i16; 2] {
        self.sets[set].weights[context]
    }

    /// The weights of all sets, in whole units.
    pub fn finish(self) -> Vec<Vec<Weights>> {
        let rounded = |weight: i16| (i32::from(weight) + FINE / 2).div_euclid(FINE) as i8;
        let sets = self.sets.into_iter();
        let weights = sets.map(|set| set.weights.into_iter().map(|w| w.map(rounded)).collect());
        weights.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_follow_the_odds() {
        for sum in -200..=200 {
            let (yes, no) = (u32::from(chance(sum)), u32::from(chance(-sum)));
            assert_eq!(yes + no, 1 << 16);
            let odds = (9f64 / 8.0).powi(sum.clamp(-EXTREME, EXTREME));
            let exact = 65536.0 * odds / (1.0 + odds);
            assert!(
                (f64::from(yes) - exact).abs() < 4.0,
                "{sum}: {yes}, {exact}"
            );
        }
    }

    /// Two contexts that are independent of each other: their logarithms add up.
    #[test]
    fn weights_are_found() {
        // Of 1000 values each combination has so many yes.
        let yes = [[100, 500], [308, 800]];
        let (mut places, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
        for (i, row) in yes.iter().enumerate() {
            for (j, &yes) in row.iter().enumerate() {
                for n in 0..1000 {
                    places.push(if n < yes { 0 } else { 1 + (n % 2) as u8 });
                    a.push(i as u16);
                    b.push(j as u16);
                }
            }
        }
        let mut training = Training::new(places);
        training.add(a, 2);
        training.add(b, 2);
        training.settle(20);
        let sets = training.finish();
        for (i, row) in yes.iter().enumerate() {
            for (j, &yes) in row.iter().enumerate() {
                let sum = |decision: usize| {
                    i32::from(sets[0][i][decision]) + i32::from(sets[1][j][decision])
                };
                let found = f64::from(chance(sum(0))) / 65536.0;
                assert!(
                    (found - f64::from(yes) / 1000.0).abs() < 0.04,
                    "{i} {j}: {found}"
                );
                assert!(sum(1).abs() <= 2);
            }
        }
    }
}
