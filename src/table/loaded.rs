use std::path::Path;

use rayon::prelude::*;

use super::reader::unpack;
use super::{Metric, SliceValues, TableError, TableFile, Wdl, table_path};
use crate::board::{ByColor, Color};
use crate::index::{Slice, SliceIndex};
use crate::rules::{RuleSetId, Rules, with_rules};

/// Finished tables of one slice read back whole into memory, every block checked, so that reading
/// values cannot fail any more. Takes 2 bits a result and 8 or 16 bits a distance.
#[derive(Debug)]
pub struct LoadedSlice {
    rule_set: RuleSetId,
    slice: Slice,
    positions: u64,
    /// By metric.
    planes: [Option<Plane>; 3],
}

/// The values of one table as they are before compression.
#[derive(Debug)]
struct Plane {
    bits: u8,
    sides: ByColor<Vec<u8>>,
}

impl LoadedSlice {
    /// Reads the WDL table and those of the other metrics asked for.
    ///
    /// # Errors
    /// If one is missing or damaged anywhere.
    pub fn read(
        tables: &Path,
        rule_set: RuleSetId,
        slice: Slice,
        metrics: &[Metric],
    ) -> Result<LoadedSlice, TableError> {
        let slice = slice.canonical();
        let mut planes = [None, None, None];
        for &metric in Metric::ALL.iter() {
            if metric == Metric::Wdl || metrics.contains(&metric) {
                let file = TableFile::open(&table_path(tables, rule_set, slice, metric))?;
                planes[metric as usize] = Some(Plane::read(&file)?);
            }
        }
        Ok(LoadedSlice {
            rule_set,
            slice,
            positions: slice.positions(rule_set.rules().geometry),
            planes,
        })
    }

    /// Values of a metric that was loaded.
    ///
    /// # Panics
    /// If it was not, or if the range is not inside the slice.
    fn values(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]) {
        let plane = self.planes[metric as usize].as_ref();
        let plane = plane.expect("values are asked only of metrics that `has` affirms");
        let read = |side: Color, first: u64, out: &mut [u16]| {
            unpack(&plane.sides[side], plane.bits, first as usize, out)
                .expect("ranges lie inside the slice");
        };
        if side == Color::White || !self.slice.is_symmetric() {
            return read(side, first, out);
        }
        with_rules!(self.rule_set, R => {
            let index = SliceIndex::<<R as Rules>::Geometry>::new(self.slice);
            for (number, value) in (first..).zip(out) {
                let mirrored = index.rank(&index.unrank(number, side).flipped());
                read(Color::White, mirrored, std::slice::from_mut(value));
            }
        });
    }
}

impl Plane {
    fn read(file: &TableFile) -> Result<Plane, TableError> {
        let header = file.header();
        let mut sides = ByColor::default();
        for &side in header.sides() {
            let blocks: Vec<Vec<u8>> = (0..header.blocks_per_side())
                .into_par_iter()
                .map(|block| {
                    let mut raw = Vec::new();
                    file.decode_block(side, block, &mut raw)?;
                    // Two set bits together are no result.
                    if header.metric == Metric::Wdl && raw.iter().any(|b| b & b >> 1 & 0x55 != 0) {
                        return Err(file.corrupt(side, block, "a value is no result"));
                    }
                    Ok(raw)
                })
                .collect::<Result<_, TableError>>()?;
            sides[side] = blocks.concat();
        }
        Ok(Plane {
            bits: header.value_bits,
            sides,
        })
    }
}

impl SliceValues for LoadedSlice {
    fn slice(&self) -> Slice {
        self.slice
    }

    fn positions(&self) -> u64 {
        self.positions
    }

    fn has(&self, metric: Metric) -> bool {
        self.planes[metric as usize].is_some()
    }

    fn results(&self, side: Color, first: u64, out: &mut [Wdl]) {
        let mut values = [0u16; 1024];
        let mut first = first;
        for part in out.chunks_mut(values.len()) {
            let values = &mut values[..part.len()];
            self.values(Metric::Wdl, side, first, values);
            for (result, &value) in part.iter_mut().zip(values.iter()) {
                *result = Wdl::of(value).expect("codes are checked while loading");
            }
            first += part.len() as u64;
        }
    }

    fn distances(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]) {
        self.values(metric, side, first, out);
    }
}
