//! The context-model codec: each value is range-coded with the chances its context gives it.
//!
//! Which features make up the context is found for each slice and side to move by greedy search on
//! a sample of blocks: the feature that saves most is taken until none saves what its contexts
//! cost. Then the values are counted in every context over the whole slice, and these counts are
//! the model. No context crosses the start of a block, so any block decodes alone.

use std::hint::black_box;
use std::slice;

use super::choice::Sample;
use super::codes::{Codes, SideCodes};
use super::context::{BITS, Contexts, MAX_CONTEXTS, Past, Planes, UNKNOWN};
use super::domain::Domain;
use super::feature::Feature;
use super::model::{self, CONTEXT_LEN, Counts, Model};
use super::range_coder::{Decoder, Encoder};
use super::rows::Rows;
use super::visit::visit;
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
    sampled * (1 + size_of::<u32>() as u64 + u64::from(Feature::OWN))
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
        description.extend(features.iter().filter_map(|feature| feature.number()));
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
        let own = |&n: &u8| (n < Feature::OWN).then(|| Feature::numbered(n))?;
        let features = numbers.iter().map(own);
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
        let contexts = slice::from_ref(&self.contexts);
        visit(domain, codes, None, contexts, block, |context, code| {
            self.model
                .encode(usize::from(context[0]), code, &mut encoder);
        });
        encoder.finish(out);
    }

    /// Decodes a block; positions that are left out get the code 3.
    pub fn decode(&self, domain: &Domain<G>, block: u64, bytes: &[u8], out: &mut Codes) {
        out.clear(domain.block as usize);
        let mut decoder = Decoder::new(bytes);
        let mut past = Past::new();
        let mut run = Run::of(UNKNOWN);
        let mut fixed = [0; BITS];
        for row in Rows::new(&domain.index, domain.side, domain.range(block)) {
            let known = past.enter(domain, &row);
            let contexts = &self.contexts;
            contexts.fixed(domain, &row, &known, &past, None, &mut fixed);
            let mut values = Planes::UNKNOWN;
            for square in known.kept.bits() {
                let context = contexts.at(square, &known, &fixed, values, &past);
                let code = self.model.decode(context, &mut decoder);
                // Most values are that before. The processor foresees this branch, and with it the
                // next context, for which it would else have to wait. Without the black box the
                // compiler would leave no branch.
                if code != run.code {
                    run = Run::of(black_box(code));
                }
                run.set(&mut values, square);
            }
            past.add(&known, values);
            out.extend(row.squares, values.low, values.high);
        }
    }
}

/// A value with what it changes in planes of unknown values: all bits or none.
#[derive(Clone, Copy)]
pub(super) struct Run<W> {
    pub code: u8,
    clears_low: W,
    clears_high: W,
}

impl<W: Word> Run<W> {
    #[inline(always)]
    pub fn of(code: u8) -> Self {
        let clears = |bit: u8| if code & bit == 0 { W::ALL } else { W::ZERO };
        Run {
            code,
            clears_low: clears(1),
            clears_high: clears(2),
        }
    }

    /// Gives a square that is unknown the value.
    #[inline(always)]
    pub fn set(&self, values: &mut Planes<W>, square: W) {
        values.low ^= square & self.clears_low;
        values.high ^= square & self.clears_high;
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
                let contexts = slice::from_ref(contexts);
                visit(domain, codes, None, contexts, block, |context, code| {
                    // Codes are results: a value left out is not visited.
                    counts[usize::from(context[0])][usize::from(code % 3)] += 1;
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

/// The features whose contexts make the code of the sample, and the model, smallest.
fn choose_features<G: Geometry>(domain: &Domain<G>, codes: &SideCodes) -> Vec<Feature> {
    let stride = domain.blocks().div_ceil(SAMPLE_BLOCKS).max(1);
    let blocks: Vec<u64> = (0..domain.blocks()).step_by(stride as usize).collect();
    let sample = Sample::of(domain, codes, None, &blocks, 0..Feature::OWN);
    sample.choose(MAX_CONTEXTS, |split| sample.entropy(split, stride))
}
