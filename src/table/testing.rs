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
    /// Makes other values of the same kind.
    pub shift: u64,
}

impl Pattern {
    pub fn new(rule_set: RuleSetId, slice: &str) -> Pattern {
        let slice: Slice = slice.parse().unwrap();
        Pattern {
            slice,
            positions: slice.positions(rule_set.rules().geometry),
            longest: 200,
            shift: 0,
        }
    }

    pub fn result(&self, side: Color, position: u64) -> Wdl {
        let position = position + self.shift;
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
            // Who makes the last move tells whether the plies to the end are odd.
            result => {
                let plies = ((position + self.shift) / 7 % u64::from(self.longest + 1)) as u16;
                let odd = u16::from(result == Wdl::Win);
                if metric == Metric::Dtw {
                    plies & !1 | odd
                } else {
                    plies
                }
            }
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
