//! The codec that mixes contexts: each value is range-coded with chances that several contexts make
//! together, each adding to the logarithm of the odds.
//!
//! One context can look at few features, as their combinations have to be seen often enough. Here
//! several sets of features make a context each: the first is chosen as that of
//! [rows](super::row_coder), each further one for what those before leave untold. Where both sides
//! to move are stored, the side that has the fast piece also looks at what its moves lead to: the
//! same block of the other side, which is decoded first.

use std::hint::black_box;

use rayon::prelude::*;

use super::choice::Sample;
use super::codes::{Codes, SideCodes};
use super::context::{BITS, Contexts, Past, Planes};
use super::domain::Domain;
use super::feature::Feature;
use super::mixing::{self, Training, Weights, chance};
use super::model::ORDERS;
use super::range_coder::{Decoder, Encoder};
use super::reference::Reference;
use super::row_coder::Run;
use super::rows::Rows;
use super::visit::visit;
use crate::board::{Geometry, Word};

/// The most sets of features.
const MAX_SETS: usize = 6;
/// So many are made, with at most so many contexts each: more take time and save little.
const SETS: usize = 4;
const CONTEXTS: usize = 1 << 12;

/// Values of the samples on which features are chosen and weights found.
const CHOICE: u64 = 3 << 16;
const TRAINING: u64 = 1 << 21;

/// Bytes each thread has: slopes of all contexts.
pub(super) const BYTES_PER_THREAD: u64 = mixing::slopes_bytes(CONTEXTS as u64);

/// Bytes of the samples: of each value for the choice its context, slopes and sums, and itself with a
/// byte for each feature, twice while they are put together; of each for the training all that
/// belongs to it.
pub(super) fn sample_bytes(positions: u64) -> u64 {
    let [value, set] = mixing::TRAINING_BYTES;
    let choice = positions.min(CHOICE) * (2 * (1 + u64::from(Feature::COUNT)) + 25);
    // A set is gathered in parts that are then put together; vectors grow by doubling.
    choice + positions.min(TRAINING) * (value + (SETS as u64 + 3) * set)
}

/// Sets of contexts with their weights: all that is needed to decode a block.
#[derive(Clone, Debug)]
pub(super) struct MixedCoder<G: Geometry> {
    /// The values, the likeliest first.
    order: [u8; 3],
    contexts: Vec<Contexts<G>>,
    weights: Vec<Vec<Weights>>,
    /// Whether a block needs the same block with the other side to move.
    pub refers: bool,
    description: Vec<u8>,
}

impl<G: Geometry> MixedCoder<G> {
    /// Makes the best coder for some values; `other` has those with the other side to move, if a
    /// decoder will have them.
    pub fn fit(domain: &Domain<G>, codes: &SideCodes, other: Option<&SideCodes>) -> Self {
        let mut counts = [0u64; 4];
        let all = codes.chunks().iter().flat_map(Codes::iter);
        all.for_each(|code| counts[usize::from(code)] += 1);
        let stored = counts[..3].iter().sum();
        let mut order = [0u8, 1, 2];
        order.sort_by_key(|&value| std::cmp::Reverse(counts[usize::from(value)]));
        let place = |code: u8| order.iter().position(|&v| v == code).unwrap_or(0) as u8;

        let features = if other.is_some() {
            Feature::COUNT
        } else {
            Feature::OWN
        };
        let blocks = sample(domain, codes, stored, CHOICE);
        let sample_of_choice = Sample::of(domain, codes, other, &blocks, 0..features);
        let places: Vec<u8> = sample_of_choice
            .values
            .iter()
            .map(|&code| place(code))
            .collect();
        let share = stored / (places.len() as u64).max(1);
        let trained = sample(domain, codes, stored, TRAINING);
        let gather = |blocks: &[u64], contexts: &[Contexts<G>]| -> Vec<(u16, u8)> {
            let parts = blocks.par_chunks(16).map(|blocks| {
                let mut part = Vec::new();
                for &block in blocks {
                    visit(domain, codes, other, contexts, block, |numbers, code| {
                        part.push((numbers.first().copied().unwrap_or(0), place(code)));
                    });
                }
                part
            });
            let parts: Vec<Vec<(u16, u8)>> = parts.collect();
            parts.concat()
        };
        let mut training = Training::new(gather(&trained, &[]).iter().map(|&(_, p)| p).collect());
        let mut sets: Vec<Vec<Feature>> = Vec::new();
        let mut contexts: Vec<Contexts<G>> = Vec::new();
        // The contexts of the values of the choice.
        let mut chosen: Vec<Vec<u16>> = Vec::new();
        while sets.len() < SETS {
            let set = if sets.is_empty() {
                sample_of_choice.choose(CONTEXTS, |split| sample_of_choice.entropy(split, share))
            } else {
                let mut sums = vec![[0i16; 2]; places.len()];
                for (set, numbers) in chosen.iter().enumerate() {
                    for (sums, &number) in sums.iter_mut().zip(numbers) {
                        let [first, second] = training.weights(set, usize::from(number));
                        *sums = [sums[0] + first, sums[1] + second];
                    }
                }
                let share = share as i64;
                mixing::choose(&sample_of_choice, &places, &sums, share, CONTEXTS)
            };
            if set.is_empty() && !sets.is_empty() {
                break;
            }
            let added = [Contexts::new(&set).expect("the search keeps the limits")];
            let numbers = |blocks: &[u64]| gather(blocks, &added).iter().map(|&(c, _)| c).collect();
            training.add(numbers(&trained), added[0].count);
            chosen.push(numbers(&blocks));
            contexts.extend(added);
            sets.push(set);
        }
        training.settle(5);
        let weights = training.finish();
        let description = describe(order, &sets, &weights);
        MixedCoder {
            order,
            contexts,
            weights,
            refers: sets.concat().iter().any(|f| matches!(f, Feature::Other(_))),
            description,
        }
    }

    /// Reads a coder back; none if the bytes describe none.
    pub fn read(description: &[u8]) -> Option<Self> {
        let (&[order, count], mut rest) = description.split_first_chunk()?;
        if !(1..=MAX_SETS).contains(&usize::from(count)) {
            return None;
        }
        let mut contexts = Vec::new();
        let mut refers = false;
        for _ in 0..count {
            let (&count, behind) = rest.split_first()?;
            let (numbers, behind) = behind.split_at_checked(usize::from(count))?;
            let features = numbers.iter().map(|&n| Feature::numbered(n));
            let features = features.collect::<Option<Vec<_>>>()?;
            refers |= features.iter().any(|f| matches!(f, Feature::Other(_)));
            contexts.push(Contexts::<G>::new(&features)?);
            rest = behind;
        }
        let total: usize = contexts.iter().map(|contexts| contexts.count).sum();
        let table = zstd::bulk::decompress(rest, 2 * total).ok()?;
        if table.len() != 2 * total {
            return None;
        }
        let mut table = table.as_slice();
        let mut weights = Vec::new();
        for contexts in &contexts {
            let (set, behind) = table.split_at_checked(2 * contexts.count)?;
            let (first, second) = set.split_at(contexts.count);
            let pairs = first.iter().zip(second);
            weights.push(pairs.map(|(&a, &b)| [a as i8, b as i8]).collect());
            table = behind;
        }
        Some(MixedCoder {
            order: *ORDERS.get(usize::from(order))?,
            contexts,
            weights,
            refers,
            description: description.to_vec(),
        })
    }

    /// What [`MixedCoder::read`] reads.
    pub fn description(&self) -> &[u8] {
        &self.description
    }

    /// Appends a block's code to `out`.
    pub fn encode(
        &self,
        domain: &Domain<G>,
        codes: &SideCodes,
        other: Option<&SideCodes>,
        block: u64,
        out: &mut Vec<u8>,
    ) {
        let mut encoder = Encoder::new();
        let other = other.filter(|_| self.refers);
        visit(
            domain,
            codes,
            other,
            &self.contexts,
            block,
            |numbers, code| {
                let pairs = self.weights.iter().zip(numbers);
                let sums = pairs.fold([0i32; 2], |sums, (weights, &number)| {
                    let [first, second] = weights[usize::from(number)];
                    [sums[0] + i32::from(first), sums[1] + i32::from(second)]
                });
                let [first, second, _] = self.order;
                encoder.encode(code == first, chance(sums[0]));
                if code != first {
                    encoder.encode(code == second, chance(sums[1]));
                }
            },
        );
        encoder.finish(out);
    }

    /// Decodes a block, given the codes of the same block with the other side to move if it
    /// [refers](MixedCoder::refers) to them; positions that are left out get the code 3.
    pub fn decode(
        &self,
        domain: &Domain<G>,
        block: u64,
        bytes: &[u8],
        other: &Codes,
        out: &mut Codes,
    ) {
        out.clear(domain.block as usize);
        let mut reference = self.refers.then(|| Reference::new(domain, block, other));
        let mut decoder = Decoder::new(bytes);
        let mut past = Past::new();
        let mut fixed = [[0; BITS]; MAX_SETS];
        let mut places = [0; MAX_SETS];
        let [first, second, third] = self.order;
        let mut run = Run::of(first);
        for row in Rows::new(&domain.index, domain.side, domain.range(block)) {
            let known = past.enter(domain, &row);
            for (contexts, fixed) in self.contexts.iter().zip(&mut fixed) {
                contexts.fixed(domain, &row, &known, &past, reference.as_ref(), fixed);
            }
            let mut values = Planes::UNKNOWN;
            for square in known.kept.bits() {
                let mut sum = 0;
                let sets = self.contexts.iter().zip(&self.weights);
                for ((contexts, weights), (fixed, place)) in sets.zip(fixed.iter().zip(&mut places))
                {
                    *place = contexts.at(square, &known, fixed, values, &past);
                    sum += i32::from(weights[*place][0]);
                }
                let code = if decoder.decode(chance(sum)) {
                    first
                } else {
                    let pairs = self.weights.iter().zip(places);
                    let sum = pairs
                        .map(|(weights, place)| i32::from(weights[place][1]))
                        .sum();
                    if decoder.decode(chance(sum)) {
                        second
                    } else {
                        third
                    }
                };
                // As in rows: foreseen, for the next contexts not to wait.
                if code != run.code {
                    run = Run::of(black_box(code));
                }
                run.set(&mut values, square);
            }
            past.add(&known, values);
            out.extend(row.squares, values.low, values.high);
            if let Some(reference) = &mut reference {
                reference.advance();
            }
        }
    }
}

/// Order, number of sets, the features of each set with their number, the weights of each set for
/// the first decision and then for the second.
fn describe(order: [u8; 3], sets: &[Vec<Feature>], weights: &[Vec<Weights>]) -> Vec<u8> {
    let order = ORDERS.iter().position(|o| *o == order).unwrap_or(0);
    let mut description = vec![order as u8, sets.len() as u8];
    for set in sets {
        description.push(set.len() as u8);
        description.extend(set.iter().filter_map(|feature| feature.number()));
    }
    let decisions = weights
        .iter()
        .flat_map(|set| [0, 1].map(|decision| (set, decision)));
    let table = decisions.flat_map(|(set, decision)| set.iter().map(move |w| w[decision] as u8));
    let table: Vec<u8> = table.collect();
    // Compressing in memory fails for no input.
    description.extend(zstd::bulk::compress(&table, 19).expect("zstd compresses any bytes"));
    description
}

/// Blocks spread over the slice that hold at most so many stored values, of `stored`.
fn sample<G: Geometry>(domain: &Domain<G>, codes: &SideCodes, stored: u64, most: u64) -> Vec<u64> {
    let stride = if stored <= most {
        1
    } else {
        // Some room, as blocks hold more or less.
        (stored + stored / 16).div_ceil(most)
    };
    let mut held = 0;
    let blocks = (0..domain.blocks()).step_by(stride as usize);
    blocks
        .take_while(|&block| {
            let values = domain
                .range(block)
                .filter(|&position| codes.get(position) != 3);
            held += values.count() as u64;
            held <= most
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{LeftOut, Side};
    use super::*;
    use crate::board::{Board10x10, Color};
    use crate::rules::{International, RuleSetId};
    use proptest::prelude::*;

    type G = Board10x10;

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(bytes, 1).unwrap()
    }

    #[test]
    fn only_whole_models_are_read() {
        // The last value in one set, nothing in another.
        let sound = [&[3, 2, 1, 0, 0], compressed(&[7; 10]).as_slice()].concat();
        assert!(MixedCoder::<G>::read(&sound).is_some());
        let heads: [&[u8]; 8] = [
            &[6, 2, 1, 0, 0],
            &[3, 0, 1, 0, 0],
            &[3, 7, 1, 0, 0],
            &[3, 2, 1, 70, 0],
            &[3, 2, 2, 0, 0, 0],
            // Squares of both pieces by each other are too many contexts.
            &[3, 1, 3, 43, 46, 44],
            &[3, 1, 1, 0],
            &[3],
        ];
        for head in heads {
            let bytes = [head, &compressed(&[7; 10])].concat();
            assert!(MixedCoder::<G>::read(&bytes).is_none(), "{head:?}");
        }
        for len in [0, 9, 11, 100_000] {
            let bytes = [&[3, 2, 1, 0, 0], compressed(&vec![7; len]).as_slice()].concat();
            assert!(MixedCoder::<G>::read(&bytes).is_none(), "{len}");
        }
        for len in 0..sound.len() {
            assert!(MixedCoder::<G>::read(&sound[..len]).is_none(), "{len}");
        }
    }

    proptest! {
        /// Whatever weights, bytes and other codes: a block decodes to as many results.
        #[test]
        fn any_block_decodes(
            features in prop::collection::btree_set(0..Feature::COUNT, 0..4),
            weight in any::<u8>(),
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            other in prop::collection::vec(0..4u8, 0..300),
            block in 0..40u64,
            name in prop::sample::select(&["KMvKM", "KKvKM", "MMvMM", "KMMvM", "KvK"][..]),
        ) {
            let numbers: Vec<u8> = features.into_iter().collect();
            let features: Vec<Feature> =
                numbers.iter().filter_map(|&n| Feature::numbered(n)).collect();
            let Some(contexts) = Contexts::<G>::new(&features) else {
                return Ok(());
            };
            let table: Vec<u8> = (0..2 * contexts.count).map(|i| weight.wrapping_mul(i as u8)).collect();
            let mut model = vec![2, 1, numbers.len() as u8];
            model.extend(numbers);
            model.extend(compressed(&table));
            let coder = MixedCoder::<G>::read(&model).unwrap();
            let slice: crate::index::Slice = name.parse().unwrap();
            let side = Side {
                rule_set: RuleSetId::International,
                slice,
                side: Color::Black,
                positions: slice.positions(crate::board::GeometryId::Board10x10),
                left_out: LeftOut { captures: true, threats: true },
            };
            let domain = Domain::new::<International>(&side, 256);
            let block = block % domain.blocks();
            let mut codes = Codes::default();
            codes.reset(other.len());
            other.iter().enumerate().for_each(|(place, &code)| codes.set(place, code));
            let mut out = Codes::default();
            coder.decode(&domain, block, &bytes, &codes, &mut out);
            let range = domain.range(block);
            prop_assert_eq!(out.len() as u64, range.end - range.start);
        }
    }
}
