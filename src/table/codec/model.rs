//! What to expect in each context: the three values in order of likelihood, and how often the
//! first and the second are missed.
//!
//! A probability is one of 64 classes, so that a model is small on disk. The classes are close
//! together in ratio (3/16 apart, at least 1/65536), which costs less than 0.3 % of the code.

use super::logarithm::{BIT, cost};
use super::range_coder::{Decoder, Encoder};

const CLASSES: usize = 64;
/// Bytes of a context before compression: order, class of a first miss, class of a second.
pub(super) const CONTEXT_LEN: usize = 3;
/// What a context in use costs in the file, roughly, in units of [`BIT`].
pub(super) const CONTEXT_COST: u64 = 12 * BIT;

/// Chance of a miss by class, out of 65536; class 0 never misses.
pub(super) const MISS: [u16; CLASSES] = {
    let mut miss = [0u16; CLASSES];
    let mut class = 1;
    while class < CLASSES {
        let last = miss[class - 1] as u32;
        let step = if last * 3 / 16 > 1 { last * 3 / 16 } else { 1 };
        let next = last + step;
        miss[class] = if next > 49152 { 49152 } else { next as u16 };
        class += 1;
    }
    miss
};

/// The orders of three values.
pub(super) const ORDERS: [[u8; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// How often each value was met in a context.
pub(super) type Counts = [u64; 3];

/// Chance that the likelier value is right by class, out of 65536; meaningless for class 0.
const HIT: [u16; CLASSES] = {
    let mut hit = [0; CLASSES];
    let mut class = 0;
    while class < CLASSES {
        hit[class] = 0u16.wrapping_sub(MISS[class]);
        class += 1;
    }
    hit
};

#[derive(Clone, Debug)]
pub(super) struct Model {
    /// By context: the class of a first miss, and from bit 6 on the likeliest value. Nearly all that
    /// decoding looks at, in as few bytes as can be.
    first: Vec<u8>,
    /// By context: the class of a second miss, and from bit 6 on the next value.
    second: Vec<u8>,
}

impl Model {
    /// Reads what [`describe`] wrote; none if it is not a model of `contexts` contexts.
    pub fn new(description: &[u8], contexts: usize) -> Option<Model> {
        if description.len() != contexts * CONTEXT_LEN {
            return None;
        }
        let (orders, classes) = description.split_at(contexts);
        let (first, second) = classes.split_at(contexts);
        let packed = |classes: &[u8], place: usize| -> Option<Vec<u8>> {
            let pairs = orders.iter().zip(classes);
            let packed = pairs.map(|(&order, &class)| {
                let value = ORDERS.get(usize::from(order))?[place];
                (usize::from(class) < CLASSES).then_some(class | value << 6)
            });
            packed.collect()
        };
        Some(Model {
            first: packed(first, 0)?,
            second: packed(second, 1)?,
        })
    }

    #[inline(always)]
    pub fn decode(&self, context: usize, decoder: &mut Decoder) -> u8 {
        let expected = self.first[context];
        let value = expected >> 6;
        let class = usize::from(expected) % CLASSES;
        if class == 0 || decoder.decode(HIT[class]) {
            return value;
        }
        let next = self.second[context];
        let class = usize::from(next) % CLASSES;
        if class == 0 || decoder.decode(HIT[class]) {
            next >> 6
        } else {
            3 - value - (next >> 6)
        }
    }

    #[inline(always)]
    pub fn encode(&self, context: usize, value: u8, encoder: &mut Encoder) {
        let expected = self.first[context];
        let class = usize::from(expected) % CLASSES;
        if class == 0 {
            return;
        }
        let hit = value == expected >> 6;
        encoder.encode(hit, HIT[class]);
        let next = self.second[context];
        let class = usize::from(next) % CLASSES;
        if !hit && class != 0 {
            encoder.encode(value == next >> 6, HIT[class]);
        }
    }
}

/// The model for exact counts by context: all orders, then all classes of a first miss, then all
/// of a second.
pub(super) fn describe(counts: &[Counts]) -> Vec<u8> {
    let mut description = vec![0; counts.len() * CONTEXT_LEN];
    let (orders, classes) = description.split_at_mut(counts.len());
    let (first, second) = classes.split_at_mut(counts.len());
    for (i, counts) in counts.iter().enumerate() {
        let mut order = [0u8, 1, 2];
        order.sort_by_key(|&value| std::cmp::Reverse(counts[usize::from(value)]));
        let [most, middle, least] = order.map(|value| counts[usize::from(value)]);
        orders[i] = ORDERS.iter().position(|o| *o == order).unwrap_or(0) as u8;
        first[i] = class_of(most, middle + least);
        second[i] = class_of(middle, least);
    }
    description
}

/// The class nearest to `misses` beside `hits`.
fn class_of(hits: u64, misses: u64) -> u8 {
    if misses == 0 {
        return 0;
    }
    let share = (u128::from(misses) << 16) / u128::from(hits + misses);
    let above = MISS.partition_point(|&miss| u128::from(miss) <= share);
    let (low, high) = (above.saturating_sub(1).max(1), above.clamp(1, CLASSES - 1));
    let nearer = |class: usize| u128::from(MISS[class]).abs_diff(share);
    (if nearer(low) <= nearer(high) {
        low
    } else {
        high
    }) as u8
}

/// What coding values with these counts costs, in units of [`BIT`].
pub(super) fn entropy(counts: &Counts) -> u64 {
    let total: u64 = counts.iter().sum();
    let most = counts.iter().max();
    if most == Some(&total) {
        return 0;
    }
    counts.iter().map(|&count| cost(count, total)).sum()
}

/// The cost of a decision missed or not, by class: tells how well classes fit.
#[cfg(test)]
fn class_cost(hits: u64, misses: u64, class: u8) -> u64 {
    use super::logarithm::log2;
    let miss = u64::from(MISS[usize::from(class)]);
    hits * (16 * BIT - log2(65536 - miss)) + misses * (16 * BIT - log2(miss))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cost_little() {
        for misses in [1u64, 5, 80, 1000, 20_000] {
            for hits in [20_000u64, 100_000, 4_000_000] {
                let class = class_of(hits, misses);
                let ideal = entropy(&[hits, misses, 0]);
                let found = class_cost(hits, misses, class);
                // No chance is smaller than 1/65536.
                let least = hits * 2;
                assert!(found < ideal + ideal / 100 + least, "{hits} {misses}");
            }
        }
        assert_eq!(class_of(5, 0), 0);
        assert!(class_of(u64::MAX / 2, 1) > 0);
    }

    #[test]
    fn only_whole_models_are_read() {
        let counts = vec![[5, 0, 1], [0, 0, 0], [1, 2, 3]];
        let description = describe(&counts);
        assert!(Model::new(&description, 3).is_some());
        assert!(Model::new(&description, 2).is_none());
        for place in 0..description.len() {
            let mut bad = description.clone();
            bad[place] = 0xff;
            assert!(Model::new(&bad, 3).is_none());
        }
    }
}
