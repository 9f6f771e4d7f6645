//! The codec for distances: plies of the positions that are won or lost and not left out, one after
//! the other, a byte each if all fit, in blocks of 4096 positions compressed with zstd.
//!
//! Which positions of a block have one is not stored again: whoever decodes a block brings the
//! results of its positions.

use super::codes::{Codes, SideCodes};
use super::zstd_blocks::{self, Expander};
use super::{Codec, Encoded};
use crate::table::TableError;
use crate::table::spool::Spools;

/// Positions of a block.
pub(super) const BLOCK: u64 = 4096;
const LEVEL: i32 = 19;

/// Decodes blocks of distances.
#[derive(Debug)]
pub(super) struct Distances {
    /// Bytes of a value.
    width: usize,
    expander: Expander,
}

/// Whether a position with this result code has a distance.
const fn has_distance(code: u8) -> bool {
    code == 0 || code == 2
}

/// Encodes the distances that `plies` writes for the positions from a first one on; none of those
/// stored is above `longest`.
pub(super) fn encode(
    results: &SideCodes,
    longest: u16,
    plies: &(dyn Fn(u64, &mut [u16]) + Sync),
    spools: &Spools,
) -> Result<Encoded, TableError> {
    let width = if longest > 255 { 2 } else { 1 };
    let blocks = results.len.div_ceil(BLOCK);
    let compressed = zstd_blocks::compress(blocks, LEVEL, spools, |block, raw| {
        let first = block * BLOCK;
        let mut values = vec![0; (results.len - first).min(BLOCK) as usize];
        plies(first, &mut values);
        for (place, value) in (first..).zip(values) {
            if has_distance(results.get(place)) {
                raw.extend_from_slice(&value.to_le_bytes()[..width]);
            }
        }
    })?;
    let mut model = vec![width as u8];
    model.extend(compressed.dictionary);
    Encoded::of(
        Codec::Distances,
        BLOCK,
        compressed.spool,
        &compressed.index,
        &model,
    )
}

impl Distances {
    /// Reads the model section: the bytes of a value, then the dictionary.
    pub fn read(model: &[u8]) -> Option<Distances> {
        let (&width, dictionary) = model.split_first()?;
        let expander = Expander::new(dictionary)?;
        (width == 1 || width == 2).then(|| Distances {
            width: usize::from(width),
            expander,
        })
    }

    pub fn decode(&self, bytes: &[u8], results: &Codes, out: &mut Vec<u16>) -> Option<()> {
        let stored = results.iter().filter(|&code| has_distance(code)).count();
        let raw = self.expander.expand(bytes, stored * self.width)?;
        let mut values = raw.chunks_exact(self.width).map(|value| match *value {
            [low] => u16::from(low),
            [low, high] => u16::from_le_bytes([low, high]),
            _ => 0,
        });
        out.clear();
        out.extend(results.iter().map(|code| match has_distance(code) {
            true => values.next().unwrap_or(0),
            false => 0,
        }));
        Some(())
    }
}
