//! Made-up values for tests of the format.

use super::{Metric, SliceValues, Wdl};
use crate::board::Color;
use crate::index::Slice;
use crate::rules::RuleSetId;

/// Values that follow from the number of a position, long runs and noise mixed.
pub struct Pattern {
    slice: Slice,
    positions: u64,
    /// The longest distance that occurs.
    pub longest: u16,
}

impl Pattern {
    pub fn new(rule_set: RuleSetId, slice: &str) -> Pattern {
        let slice: Slice = slice.parse().unwrap();
        Pattern {
            slice,
            positions: slice.positions(rule_set.rules().geometry),
            longest: 200,
        }
    }

    pub fn result(&self, side: Color, position: u64) -> Wdl {
        let noise = position.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60;
        match (position / 1000 + side as u64 + noise / 14) % 3 {
            0 => Wdl::Loss,
            1 => Wdl::Draw,
            _ => Wdl::Win,
        }
    }

    pub fn distance(&self, metric: Metric, side: Color, position: u64) -> u16 {
        match self.result(side, position) {
            Wdl::Draw => 0,
            _ => (position / 7 % u64::from(self.longest + 1)) as u16 / metric as u16,
        }
    }
}

impl SliceValues for Pattern {
    fn slice(&self) -> Slice {
        self.slice
    }

    fn positions(&self) -> u64 {
        self.positions
    }

    fn has(&self, _: Metric) -> bool {
        true
    }

    fn results(&self, side: Color, first: u64, out: &mut [Wdl]) {
        for (position, result) in (first..).zip(out) {
            *result = self.result(side, position);
        }
    }

    fn distances(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]) {
        for (position, distance) in (first..).zip(out) {
            *distance = self.distance(metric, side, position);
        }
    }
}
