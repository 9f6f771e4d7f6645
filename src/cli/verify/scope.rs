//! What `verify` goes over, what that rests on, and what is missing.

use std::collections::HashSet;

use crate::cli::Failure;
use crate::cli::missing::{listed, missing_tables, no_tables};
use crate::cli::variant::slice;
use crownhead::index::{MAX_PIECES, Slice};
use crownhead::probe::{Ignored, Tablebase};
use crownhead::rules::{RuleSetId, Variant};
use crownhead::solve::plan::Plan;
use crownhead::table::Metric;
use crownhead::verify::tables_needed;

type Table = (Slice, Metric);

/// The tables to verify, and what stands in the way of others.
#[derive(Default)]
pub struct Scope {
    /// Each slice after those it leads to, with the metrics that can be verified.
    pub slices: Vec<(Slice, Vec<Metric>)>,
    /// Tables that this takes and that are not verified themselves.
    pub taken: Vec<Table>,
    gaps: Gaps,
}

/// What is missing of a set.
#[derive(Default)]
struct Gaps {
    /// Of a set up to as many pieces as it has, and what others need.
    missing: Vec<Table>,
    /// Tables that cannot be verified without these.
    unproven: Vec<Table>,
    /// Missing tables that a manifest lists.
    lost: Vec<Table>,
    /// Whoever asks wants the whole set.
    whole: bool,
}

impl Scope {
    /// These slices, of which nothing may be missing, nor of what they need.
    pub fn of_slices(
        tables: &Tablebase,
        variant: Variant,
        names: &[String],
        bytes_alone: bool,
    ) -> Result<Scope, Failure> {
        let rule_set = variant.rule_set();
        let mut slices = Vec::new();
        for name in names {
            let slice = slice(variant, name)?.canonical();
            let unused = |metric| tables.inventory().unused(rule_set, slice, metric);
            if let Some(file) = Metric::ALL.into_iter().find_map(unused) {
                return Err(file.to_string().into());
            }
            slices.push(slice);
        }
        slices.sort_by_key(Slice::sort_key);
        slices.dedup();
        let mut lost = tables.lost(rule_set)?;
        lost.retain(|(slice, _)| slices.contains(slice));
        if !lost.is_empty() {
            let gaps = Gaps {
                missing: lost.clone(),
                lost,
                ..Gaps::default()
            };
            return Err(gaps.told(tables, rule_set).into());
        }
        let mut results = slices.iter().map(|&slice| (slice, Metric::Wdl));
        let without = results.find(|&table| !is_there(tables, rule_set, table));
        let scope = Scope::of(tables, rule_set, slices.iter().copied(), bytes_alone);
        match without.or(scope.gaps.missing.first().copied()) {
            None => Ok(scope),
            Some((slice, metric)) => Err(tables.missing(rule_set, slice, metric).into()),
        }
    }

    /// All tables that can be verified, of up to so many pieces if the whole set of these is
    /// wanted. Bytes alone can be compared of any that is there.
    pub fn of_set(
        tables: &Tablebase,
        rule_set: RuleSetId,
        pieces: Option<usize>,
        bytes_alone: bool,
    ) -> Result<Scope, Failure> {
        let most = pieces.unwrap_or(MAX_PIECES);
        let counts = |file: &&Ignored| file.may_concern(rule_set) && !has_more(file, most);
        if let Some(file) = tables.inventory().ignored.iter().find(counts) {
            return Err(file.to_string().into());
        }
        let all = Plan::complete(rule_set, most);
        let there = all.slices().iter().copied();
        let there = there.filter(|&slice| !tables.available(rule_set, slice).is_empty());
        let there: Vec<Slice> = there.collect();
        if there.is_empty() {
            return Err(no_tables(tables, rule_set).into());
        }
        let mut scope = Scope::of(tables, rule_set, there.iter().copied(), bytes_alone);
        let gaps = &mut scope.gaps;
        gaps.whole = pieces.is_some();
        gaps.lost = tables.lost(rule_set)?;
        gaps.lost.retain(|(slice, _)| slice.total() <= most);
        gaps.missing.extend(&gaps.lost);
        for metric in Metric::ALL {
            let is_there = |slice: &&Slice| is_there(tables, rule_set, (**slice, metric));
            let found = there.iter().filter(is_there).map(Slice::total).max();
            let found = found.unwrap_or(0);
            let most = pieces.filter(|_| metric == Metric::Wdl).unwrap_or(found);
            let set = all.slices().iter().filter(|slice| slice.total() <= most);
            let absent = set.filter(|slice| !is_there(slice));
            gaps.missing.extend(absent.map(|&slice| (slice, metric)));
        }
        sort(&mut gaps.missing);
        Ok(scope)
    }

    /// What can be verified of these slices, and what it takes to verify the rest.
    fn of(
        tables: &Tablebase,
        rule_set: RuleSetId,
        slices: impl Iterator<Item = Slice>,
        bytes_alone: bool,
    ) -> Scope {
        let mut scope = Scope::default();
        let mut verified = HashSet::new();
        for slice in slices {
            let mut metrics = tables.available(rule_set, slice);
            if !bytes_alone {
                metrics.retain(|&metric| {
                    let needed = tables_needed(tables, rule_set, slice, metric);
                    let mut lacking = needed.clone();
                    lacking.retain(|&table| !is_there(tables, rule_set, table));
                    let lacks_none = lacking.is_empty();
                    match lacks_none {
                        true => scope.taken.extend(needed),
                        false => scope.gaps.unproven.push((slice, metric)),
                    }
                    scope.gaps.missing.extend(lacking);
                    lacks_none
                });
            }
            if !metrics.is_empty() {
                verified.extend(metrics.iter().map(|&metric| (slice, metric)));
                scope.slices.push((slice, metrics));
            }
        }
        scope.taken.retain(|table| !verified.contains(table));
        sort(&mut scope.taken);
        sort(&mut scope.gaps.missing);
        scope
    }

    /// What is missing, in words: an error if more was asked for than is there.
    pub fn end(&self, tables: &Tablebase, rule_set: RuleSetId) -> Result<Option<String>, Failure> {
        let gaps = &self.gaps;
        if gaps.missing.is_empty() {
            return Ok(None);
        }
        let text = gaps.told(tables, rule_set);
        match gaps.whole || !gaps.lost.is_empty() || !gaps.unproven.is_empty() {
            true => Err(text.into()),
            false => Ok(Some(text)),
        }
    }
}

impl Gaps {
    fn told(&self, tables: &Tablebase, rule_set: RuleSetId) -> String {
        let mut text = missing_tables(tables, &names_of(rule_set, &self.missing));
        if !self.lost.is_empty() {
            text += "\n  listed in MANIFEST: ";
            text += &listed(&names_of(rule_set, &self.lost));
        }
        if !self.unproven.is_empty() {
            text += "\n  not verified, as that takes some of these: ";
            text += &listed(&names_of(rule_set, &self.unproven));
        }
        text
    }
}

fn is_there(tables: &Tablebase, rule_set: RuleSetId, (slice, metric): Table) -> bool {
    tables.header(rule_set, slice, metric).is_some()
}

/// Its name is that of a table of more pieces.
fn has_more(file: &Ignored, most: usize) -> bool {
    let name = file.path.file_stem().and_then(|name| name.to_str());
    let slice = name.and_then(|name| name.parse::<Slice>().ok());
    slice.is_some_and(|slice| slice.total() > most)
}

/// Sorts as slices are verified; each is left once.
fn sort(tables: &mut Vec<Table>) {
    tables.sort_by_key(|(slice, metric)| (slice.sort_key(), *metric));
    tables.dedup();
}

pub fn names_of(rule_set: RuleSetId, tables: &[Table]) -> Vec<String> {
    let names = tables.iter();
    names
        .map(|(slice, metric)| format!("{rule_set}/{slice}.{metric}"))
        .collect()
}
