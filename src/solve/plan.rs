//! Which slices must be solved before which.
//!
//! A move leaves its slice by capturing (fewer pieces for the opponent) or by promoting (a king
//! for a man). Both lead to slices that come earlier in the order of [`Slice::sort_key`], so
//! sorting is all the scheduling there is. A slice stands for both sides to move and, by exchange
//! of colours, for its mirror image: only canonical slices are planned.

use std::collections::HashSet;

use crate::board::{ByColor, Color};
use crate::index::Slice;
use crate::rules::{RuleSet, RuleSetId};

/// Slices to solve, each after all those it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    rule_set: RuleSetId,
    slices: Vec<Slice>,
}

impl Plan {
    /// Every contested slice of two to `pieces` pieces.
    pub fn complete(rule_set: RuleSetId, pieces: usize) -> Plan {
        let with_kings = rule_set.rules().has_kings();
        let slices = (2..=pieces).flat_map(|n| Slice::all_canonical(n, with_kings));
        Plan::of(rule_set, slices.collect())
    }

    /// The slices given and all they depend on.
    pub fn closure(rule_set: RuleSetId, slices: &[Slice]) -> Plan {
        let mut found = HashSet::new();
        let mut open: Vec<Slice> = slices.iter().map(Slice::canonical).collect();
        while let Some(slice) = open.pop() {
            if found.insert(slice) {
                open.extend(dependencies(rule_set.rules(), slice));
            }
        }
        Plan::of(rule_set, found.into_iter().collect())
    }

    fn of(rule_set: RuleSetId, mut slices: Vec<Slice>) -> Plan {
        slices.sort_by_key(Slice::sort_key);
        Plan { rule_set, slices }
    }

    pub fn rule_set(&self) -> RuleSetId {
        self.rule_set
    }

    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// Positions that will be stored: both sides to move, of symmetric slices one.
    pub fn positions(&self) -> u64 {
        self.slices
            .iter()
            .map(|&s| stored_positions(self.rule_set, s))
            .sum()
    }
}

/// Positions stored of a slice: both sides to move, of a symmetric slice one.
pub fn stored_positions(rule_set: RuleSetId, slice: Slice) -> u64 {
    let sides = if slice.is_symmetric() { 1 } else { 2 };
    slice.positions(rule_set.rules().geometry) * sides
}

/// The canonical slices to which one move leads from a slice, itself excluded.
pub fn dependencies(rules: &RuleSet, slice: Slice) -> Vec<Slice> {
    let mut found = HashSet::new();
    for us in Color::BOTH {
        let (men, kings) = (slice.men(us), slice.kings(us));
        let (their_men, their_kings) = (slice.men(!us), slice.kings(!us));
        let may_promote = usize::from(men > 0 && rules.has_kings());
        let takes_kings = kings > 0 || rules.man_takes_king;
        for promoted in 0..=may_promote {
            for men_left in 0..=their_men {
                for kings_left in 0..=their_kings {
                    if kings_left < their_kings && !takes_kings {
                        continue;
                    }
                    let side = |white: usize, black: usize| match us {
                        Color::White => ByColor::new(white as u8, black as u8),
                        Color::Black => ByColor::new(black as u8, white as u8),
                    };
                    let after = Slice::new(
                        side(men - promoted, men_left),
                        side(kings + promoted, kings_left),
                    );
                    found.extend(after.filter(Slice::is_contested).map(|s| s.canonical()));
                }
            }
        }
    }
    found.remove(&slice.canonical());
    let mut found: Vec<Slice> = found.into_iter().collect();
    found.sort_by_key(Slice::sort_key);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(slices: &[Slice]) -> Vec<String> {
        slices.iter().map(Slice::to_string).collect()
    }

    #[test]
    fn a_slice_depends_on_its_captures_and_promotions() {
        let of = |rule_set: RuleSetId, slice: &str| {
            names(&dependencies(rule_set.rules(), slice.parse().unwrap()))
        };
        assert_eq!(of(RuleSetId::English, "KvK"), [""; 0]);
        assert_eq!(of(RuleSetId::English, "MvM"), ["KvM"]);
        assert_eq!(of(RuleSetId::English, "KMvK"), ["KvK", "KvM", "KKvK"]);
        assert_eq!(of(RuleSetId::Breakthrough, "MMvM"), ["MvM"]);
        // An Italian man cannot take the king.
        assert_eq!(of(RuleSetId::Italian, "KvMM"), ["KvM", "KMvK"]);
    }

    #[test]
    fn plans_are_closed_and_in_order() {
        for &rule_set in RuleSetId::ALL {
            let plan = Plan::complete(rule_set, 5);
            for (done, &slice) in plan.slices().iter().enumerate() {
                for dependency in dependencies(rule_set.rules(), slice) {
                    assert!(plan.slices()[..done].contains(&dependency), "{slice}");
                }
            }
            assert_eq!(Plan::closure(rule_set, plan.slices()), plan);
        }
        let plan = Plan::closure(RuleSetId::Russian, &["KvMM".parse().unwrap()]);
        let expected = ["KvK", "KvM", "KKvK", "KMvK", "MMvK"];
        assert_eq!(names(plan.slices()), expected);
    }
}
