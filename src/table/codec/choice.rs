//! Which features make up a context: found by greedy search on a sample of blocks.

use std::ops::Range;

use rayon::prelude::*;

use super::codes::SideCodes;
use super::context::{Contexts, MAX_FEATURES};
use super::domain::Domain;
use super::feature::Feature;
use super::logarithm::BIT;
use super::model::{self, CONTEXT_COST};
use super::visit::visit;
use crate::board::Geometry;

/// Some values, each with all features.
pub(super) struct Sample {
    pub values: Vec<u8>,
    columns: Vec<Column>,
}

/// A feature of all values.
struct Column {
    feature: Feature,
    radix: usize,
    digits: Vec<u8>,
}

/// The contexts of a sample's values, to be told apart further by a feature: what it is multiplied
/// with, and its digits.
#[derive(Clone, Copy)]
pub(super) struct Split<'s> {
    contexts: &'s [u32],
    added: Option<(usize, &'s [u8])>,
    /// Of all contexts.
    pub count: usize,
}

impl Split<'_> {
    /// Calls `f` with the context of every value.
    #[inline(always)]
    pub fn for_each(self, mut f: impl FnMut(usize, usize)) {
        match self.added {
            None => {
                for (i, &context) in self.contexts.iter().enumerate() {
                    f(i, context as usize);
                }
            }
            Some((factor, digits)) => {
                for (i, (&context, &digit)) in self.contexts.iter().zip(digits).enumerate() {
                    f(i, context as usize + factor * usize::from(digit));
                }
            }
        }
    }
}

impl Sample {
    /// The stored values of some blocks.
    pub fn of<G: Geometry>(
        domain: &Domain<G>,
        codes: &SideCodes,
        other: Option<&SideCodes>,
        blocks: &[u64],
        features: Range<u8>,
    ) -> Self {
        let features: Vec<Feature> = features.filter_map(Feature::numbered).collect();
        let contexts = features
            .iter()
            .map(|&feature| Contexts::<G>::new(&[feature]));
        let contexts: Vec<_> = contexts.map(|c| c.expect("one feature fits")).collect();
        let parts: Vec<(Vec<u8>, Vec<Vec<u8>>)> = blocks
            .par_chunks(16)
            .map(|blocks| {
                let mut values = Vec::new();
                let mut columns = vec![Vec::new(); contexts.len()];
                for &block in blocks {
                    visit(domain, codes, other, &contexts, block, |digits, code| {
                        values.push(code);
                        for (column, &digit) in columns.iter_mut().zip(digits) {
                            column.push(digit as u8);
                        }
                    });
                }
                (values, columns)
            })
            .collect();
        let values = parts
            .iter()
            .flat_map(|(values, _)| values)
            .copied()
            .collect();
        let columns = features.iter().enumerate().filter_map(|(i, &feature)| {
            let digits = parts.iter().flat_map(|(_, columns)| &columns[i]);
            let digits: Vec<u8> = digits.copied().collect();
            // What never changes tells nothing.
            digits
                .iter()
                .any(|digit| Some(digit) != digits.first())
                .then(|| Column {
                    feature,
                    radix: feature.radix::<G>(),
                    digits,
                })
        });
        let columns = columns.collect();
        Sample { values, columns }
    }

    /// The features whose contexts, at most so many, cost least.
    pub fn choose(&self, limit: usize, cost: impl Fn(Split) -> i64 + Sync) -> Vec<Feature> {
        let mut chosen: Vec<Feature> = Vec::new();
        let mut contexts = vec![0u32; self.values.len()];
        let mut count = 1;
        let mut best = cost(Split {
            contexts: &contexts,
            added: None,
            count,
        });
        while chosen.len() < MAX_FEATURES {
            let tried = self.columns.par_iter().filter_map(|column| {
                let fits = count * column.radix <= limit && !chosen.contains(&column.feature);
                fits.then(|| {
                    let split = Split {
                        contexts: &contexts,
                        added: Some((count, column.digits.as_slice())),
                        count: count * column.radix,
                    };
                    (cost(split), column)
                })
            });
            let tried: Vec<(i64, &Column)> = tried.collect();
            let Some(&(cost, column)) = tried.iter().min_by_key(|(cost, _)| *cost) else {
                break;
            };
            if cost >= best {
                break;
            }
            best = cost;
            for (context, &digit) in contexts.iter_mut().zip(&column.digits) {
                *context += (count * usize::from(digit)) as u32;
            }
            count *= column.radix;
            chosen.push(column.feature);
        }
        chosen
    }

    /// What code and model of the whole slice would cost, the sample being one part in `share` of
    /// it, if a context's values were coded by how often they occur there.
    pub fn entropy(&self, split: Split, share: u64) -> i64 {
        let mut counts = vec![[0u32; 4]; split.count];
        split.for_each(|i, context| counts[context][usize::from(self.values[i] & 3)] += 1);
        let used = counts.iter().filter(|counts| counts.iter().any(|&n| n > 0));
        let costs = used.map(|&[loss, draw, win, _]| {
            let counts = [loss, draw, win].map(u64::from);
            // A sample makes contexts look purer than they are, by about a bit and a half each.
            let impurity = if share > 1 { 3 * BIT / 2 } else { 0 };
            (model::entropy(&counts) + impurity) * share + CONTEXT_COST
        });
        costs.sum::<u64>() as i64
    }
}
