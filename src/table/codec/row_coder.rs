//! The context-model codec: each value is range-coded with the chances its context gives it.
//!
//! Which features make up the context is found for each slice and side to move by greedy search on
//! a sample of blocks: the feature that saves most is taken until none saves what its contexts
//! cost. Then the values are counted in every context over the whole slice, and these counts are
//! the model. No context crosses the start of a block, so any block decodes alone.

use std::hint::black_box;

use rayon::prelude::*;

use super::codes::{Codes, SideCodes};
use super::context::{Contexts, MAX_CONTEXTS, MAX_FEATURES, Past, Planes, UNKNOWN};
use super::domain::Domain;
use super::feature::Feature;
use super::logarithm::BIT;
use super::model::{self, CONTEXT_COST, CONTEXT_LEN, Counts, Model};
use super::range_coder::{Decoder, Encoder};
use super::rows::Rows;
use crate::board::{Geometry, Word};
use crate::parallel::{self, PerThread};

/// Blocks of the sample on which features are chosen.
const SAMPLE_BLOCKS: u64 = 384;

/// Bytes each thread has: a table of counts, and one of a sample's.
pub(super) const BYTES_PER_THREAD: u64 =
    (MAX_CONTEXTS * (size_of::<Counts>() + size_of::<[u32; 4]>())) as u64;

/// Bytes of the sample on which features are chosen: of each value itself, its context, and a byte
/// for each feature.
pub(super) fn sample_bytes(positions: u64, block: u64) -> u64 {
    let sampled = positions.min(SAMPLE_BLOCKS * block);
    sampled * (1 + size_of::<u32>() as u64 + u64::from(Feature::COUNT))
}

/// Contexts with their model: all that is needed to decode a block.
#[derive(Clone, Debug)]
pub(super) struct RowCoder<G: Geometry> {
    contexts: Contexts<G>,
    model: Model,
    description: Vec<u8>,
}

impl<G: Geometry> RowCoder<G> {
    /// Makes the best coder for some values.
    pub fn fit(domain: &Domain<G>, codes: &SideCodes) -> Self {
        let features = choose_features(domain, codes);
        let contexts = Contexts::new(&features).expect("the search keeps the limits");
        let counts = count(domain, codes, &contexts);
        let table = model::describe(&counts);
        let model = Model::new(&table, contexts.count).expect("it was just described");
        let mut description = vec![features.len() as u8];
        let number = |f: &Feature| (0..Feature::COUNT).find(|&n| Feature::numbered(n) == Some(*f));
        description.extend(features.iter().filter_map(number));
        // Compressing in memory fails for no input.
        description.extend(zstd::bulk::compress(&table, 19).expect("zstd compresses any bytes"));
        RowCoder {
            contexts,
            model,
            description,
        }
    }

    /// Reads a coder back; none if the bytes describe none.
    pub fn read(description: &[u8]) -> Option<Self> {
        let (&count, rest) = description.split_first()?;
        let (numbers, table) = rest.split_at_checked(usize::from(count))?;
        let features = numbers.iter().map(|&n| Feature::numbered(n));
        let contexts = Contexts::<G>::new(&features.collect::<Option<Vec<_>>>()?)?;
        let table = zstd::bulk::decompress(table, contexts.count * CONTEXT_LEN).ok()?;
        let model = Model::new(&table, contexts.count)?;
        Some(RowCoder {
            contexts,
            model,
            description: description.to_vec(),
        })
    }

    /// What [`RowCoder::read`] reads: the number of features, their numbers, the model.
    pub fn description(&self) -> &[u8] {
        &self.description
    }

    /// Appends a block's code to `out`.
    pub fn encode(&self, domain: &Domain<G>, codes: &SideCodes, block: u64, out: &mut Vec<u8>) {
        let mut encoder = Encoder::new();
        visit(domain, codes, &self.contexts, block, |context, code| {
            self.model.encode(context, code, &mut encoder);
        });
        encoder.finish(out);
    }

    /// Decodes a block; positions that are left out get the code 3.
    pub fn decode(&self, domain: &Domain<G>, block: u64, bytes: &[u8], out: &mut Codes) {
        out.clear(domain.block as usize);
        let mut decoder = Decoder::new(bytes);
        let mut past = Past::new();
        let mut run = Run::of(UNKNOWN);
        for row in Rows::new(&domain.index, domain.side, domain.range(block)) {
            let known = self.contexts.know(domain, &row, &mut past);
            let mut values = Planes::UNKNOWN;
            for square in known.kept.bits() {
                let context = self.contexts.at(square, &known, values, &past);
                let code = self.model.decode(context, &mut decoder);
                // Most values are that before. The processor foresees this branch, and with it the
                // next context, for which it would else have to wait. Without the black box the
                // compiler would leave no branch.
                if code != run.code {
                    run = Run::of(black_box(code));
                }
                values.low ^= square & run.clears_low;
                values.high ^= square & run.clears_high;
            }
            past.add(&known, values);
            out.extend(row.squares, values.low, values.high);
        }
    }
}

/// A value with what it changes in planes of unknown values: all bits or none.
#[derive(Clone, Copy)]
struct Run<W> {
    code: u8,
    clears_low: W,
    clears_high: W,
}

impl<W: Word> Run<W> {
    #[inline(always)]
    fn of(code: u8) -> Self {
        let clears = |bit: u8| if code & bit == 0 { W::ALL } else { W::ZERO };
        Run {
            code,
            clears_low: clears(1),
            clears_high: clears(2),
        }
    }
}

/// Counts the values in every context.
fn count<G: Geometry>(
    domain: &Domain<G>,
    codes: &SideCodes,
    contexts: &Contexts<G>,
) -> Vec<Counts> {
    let zeros = || vec![[0u64; 3]; contexts.count];
    let counts = PerThread::new(zeros);
    // Few enough tasks that handing them out stays cheap.
    let task = domain.blocks().div_ceil(64).max(16);
    parallel::for_each(domain.blocks().div_ceil(task), &|i| {
        counts.with(|counts| {
            for block in i * task..domain.blocks().min((i + 1) * task) {
                visit(domain, codes, contexts, block, |context, code| {
                    // Codes are results: a value left out is not visited.
                    counts[context][usize::from(code % 3)] += 1;
                });
            }
        });
    });
    counts.into_tools().fold(zeros(), |mut sum, counts| {
        for (sum, counts) in sum.iter_mut().zip(counts) {
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        sum
    })
}

/// Calls the visitor with the context and the value of each stored position of a block, in order.
fn visit<G: Geometry>(
    domain: &Domain<G>,
    codes: &SideCodes,
    contexts: &Contexts<G>,
    block: u64,
    mut visitor: impl FnMut(usize, u8),
) {
    let range = domain.range(block);
    let mut position = range.start;
    let mut past = Past::new();
    for row in Rows::new(&domain.index, domain.side, range) {
        let known = contexts.know(domain, &row, &mut past);
        let mut values = Planes::UNKNOWN;
        for square in row.squares.bits() {
            values.set(square, codes.get(position));
            position += 1;
        }
        for square in known.kept.bits() {
            let context = contexts.at(square, &known, values, &past);
            visitor(context, values.at(square.trailing_zeros()) as u8);
        }
        past.add(&known, values);
    }
}

/// The features whose contexts make the code of the sample, and the model, smallest.
fn choose_features<G: Geometry>(domain: &Domain<G>, codes: &SideCodes) -> Vec<Feature> {
    let stride = domain.blocks().div_ceil(SAMPLE_BLOCKS).max(1);
    let blocks: Vec<u64> = (0..domain.blocks()).step_by(stride as usize).collect();
    let column = |feature: Option<Feature>| -> Vec<u8> {
        let contexts = Contexts::<G>::new(feature.as_slice()).expect("one feature fits");
        let mut column = Vec::new();
        for &block in &blocks {
            visit(domain, codes, &contexts, block, |context, code| {
                column.push(feature.map_or(code, |_| context as u8))
            });
        }
        column
    };
    let values = column(None);
    let candidates: Vec<(Feature, Vec<u8>)> = (0..Feature::COUNT)
        .into_par_iter()
        .filter_map(Feature::numbered)
        .map(|feature| (feature, column(Some(feature))))
        // What never changes tells nothing.
        .filter(|(_, column)| column.iter().any(|value| Some(value) != column.first()))
        .collect();
    let mut chosen: Vec<Feature> = Vec::new();
    let mut contexts = vec![0u32; values.len()];
    let mut count = 1;
    let mut best = estimate(&contexts, None, &values, count, stride);
    while chosen.len() < MAX_FEATURES {
        let tried = candidates.par_iter().filter_map(|(feature, column)| {
            let radix = feature.radix::<G>();
            let fits = count * radix <= MAX_CONTEXTS && !chosen.contains(feature);
            fits.then(|| {
                let column = Some((count, column.as_slice()));
                estimate(&contexts, column, &values, count * radix, stride)
            })
            .map(|cost| (cost, *feature))
        });
        let tried: Vec<(u64, Feature)> = tried.collect();
        let Some(&(cost, feature)) = tried.iter().min_by_key(|(cost, _)| *cost) else {
            break;
        };
        if cost >= best {
            break;
        }
        best = cost;
        let found = candidates.iter().find(|(f, _)| *f == feature);
        for (context, &value) in contexts.iter_mut().zip(found.map_or(&[][..], |(_, c)| c)) {
            *context += (count * usize::from(value)) as u32;
        }
        count *= feature.radix::<G>();
        chosen.push(feature);
    }
    chosen
}

/// What code and model of the whole slice would cost, from a sample of one in `stride` blocks.
fn estimate(
    contexts: &[u32],
    added: Option<(usize, &[u8])>,
    values: &[u8],
    count: usize,
    stride: u64,
) -> u64 {
    let mut counts = vec![[0u32; 4]; count];
    match added {
        None => {
            for (&context, &value) in contexts.iter().zip(values) {
                counts[context as usize][usize::from(value & 3)] += 1;
            }
        }
        Some((factor, column)) => {
            for ((&context, &value), &digit) in contexts.iter().zip(values).zip(column) {
                let context = context as usize + factor * usize::from(digit);
                counts[context][usize::from(value & 3)] += 1;
            }
        }
    }
    let used = counts.iter().filter(|counts| counts.iter().any(|&n| n > 0));
    used.map(|&[loss, draw, win, _]| {
        let counts = [loss, draw, win].map(u64::from);
        // A sample makes contexts look purer than they are, by about a bit and a half each.
        let impurity = if stride > 1 { 3 * BIT / 2 } else { 0 };
        (model::entropy(&counts) + impurity) * stride + CONTEXT_COST
    })
    .sum()
}
