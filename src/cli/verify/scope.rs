//! What `verify` goes over, what that rests on, and what is missing.

use std::collections::HashSet;

use crate::cli::Failure;
use crate::cli::missing::{listed, missing_tables, no_tables};
use crate::cli::variant::slice;
use crownhead::index::{MAX_PIECES, Slice};
use crownhead::probe::Tablebase;
use crownhead::rules::{RuleSetId, Variant};
use crownhead::solve::plan::Plan;
use crownhead::table::{Manifest, Metric};

type Table = (Slice, Metric);

/// The slices to verify, and what stands in the way of others.
pub struct Scope {
    /// Each after those it leads to.
    pub slices: Vec<Slice>,
    /// Tables that are missing of a set up to as many pieces as it has.
    missing: Vec<Table>,
    /// Slices with tables that cannot be verified without these.
    unproven: Vec<Slice>,
    /// Missing tables that a manifest lists.
    lost: Vec<Table>,
    /// Whoever asks wants the whole set.
    whole: bool,
}

impl Scope {
    /// These slices.
    pub fn of_slices(
        tables: &Tablebase,
        variant: Variant,
        names: &[String],
    ) -> Result<Scope, Failure> {
        let rule_set = variant.rule_set();
        let lost = lost(tables, rule_set)?;
        let mut slices = Vec::new();
        for name in names {
            let slice = slice(variant, name)?.canonical();
            let unused = |metric| tables.inventory().unused(rule_set, slice, metric);
            if let Some(file) = Metric::ALL.into_iter().find_map(unused) {
                return Err(file.to_string().into());
            }
            if let Some(&table) = lost.iter().find(|&&(of, _)| of == slice) {
                let tables = missing_tables(tables, &[name_of(rule_set, table)]);
                return Err(format!("{tables}; MANIFEST lists it").into());
            }
            if tables.header(rule_set, slice, Metric::Wdl).is_none() {
                return Err(tables.missing(rule_set, slice, Metric::Wdl).into());
            }
            slices.push(slice);
        }
        Ok(Scope {
            slices,
            missing: Vec::new(),
            unproven: Vec::new(),
            lost: Vec::new(),
            whole: false,
        })
    }

    /// All slices that can be verified, of up to so many pieces if the whole set of these is wanted.
    /// Bytes alone can be compared of any that is there.
    pub fn of_set(
        tables: &Tablebase,
        rule_set: RuleSetId,
        pieces: Option<usize>,
        bytes_alone: bool,
    ) -> Result<Scope, Failure> {
        let mut ignored = tables.inventory().ignored.iter();
        if let Some(file) = ignored.find(|file| file.may_concern(rule_set)) {
            return Err(file.to_string().into());
        }
        let is_there = |(slice, metric)| tables.header(rule_set, slice, metric).is_some();
        let most = pieces.unwrap_or(MAX_PIECES);
        let all = Plan::complete(rule_set, most);
        let there = all.slices().iter().copied();
        let there = there.filter(|&slice| !tables.available(rule_set, slice).is_empty());
        let there: Vec<Slice> = there.collect();
        if there.is_empty() {
            return Err(no_tables(tables, rule_set).into());
        }

        let mut lost = lost(tables, rule_set)?;
        lost.retain(|(slice, _)| slice.total() <= most);
        let mut missing = lost.clone();
        for metric in Metric::ALL {
            let of_metric = there.iter().filter(|&&slice| is_there((slice, metric)));
            let found = of_metric.map(Slice::total).max().unwrap_or(0);
            let most = pieces.filter(|_| metric == Metric::Wdl).unwrap_or(found);
            let set = all.slices().iter().filter(|slice| slice.total() <= most);
            let set = set.map(|&slice| (slice, metric));
            missing.extend(set.filter(|&table| !is_there(table)));
        }
        let (mut slices, mut unproven) = (Vec::new(), Vec::new());
        for slice in there {
            let around = Plan::closure(rule_set, &[slice]);
            let mut metrics = tables.available(rule_set, slice);
            metrics.push(Metric::Wdl);
            let needed = around.slices().iter();
            let needed =
                needed.flat_map(|&slice| metrics.iter().map(move |&metric| (slice, metric)));
            let lacking: Vec<Table> = needed.filter(|&table| !is_there(table)).collect();
            match lacking.is_empty() || bytes_alone {
                true => slices.push(slice),
                false => unproven.push(slice),
            }
            missing.extend(lacking);
        }
        missing.sort_by_key(|(slice, metric)| (slice.sort_key(), *metric));
        missing.dedup();
        Ok(Scope {
            slices,
            missing,
            unproven,
            lost,
            whole: pieces.is_some(),
        })
    }

    /// Slices that those to verify lead to and that are not verified themselves.
    pub fn taken(&self, rule_set: RuleSetId) -> Vec<Slice> {
        let verified: HashSet<Slice> = self.slices.iter().copied().collect();
        let around = Plan::closure(rule_set, &self.slices);
        let taken = around.slices().iter().copied();
        taken.filter(|slice| !verified.contains(slice)).collect()
    }

    /// What is missing, in words: an error if more was asked for than is there.
    pub fn end(&self, tables: &Tablebase, rule_set: RuleSetId) -> Result<Option<String>, Failure> {
        if self.missing.is_empty() {
            return Ok(None);
        }
        let names = |tables: &[Table]| -> Vec<String> {
            let names = tables.iter().map(|&table| name_of(rule_set, table));
            names.collect()
        };
        let mut text = missing_tables(tables, &names(&self.missing));
        if !self.lost.is_empty() {
            text += &format!("; MANIFEST lists {}", listed(&names(&self.lost)));
        }
        if !self.unproven.is_empty() {
            text += "; without what is missing these cannot be verified: ";
            text += &listed(&self.unproven);
        }
        match self.whole || !self.lost.is_empty() || !self.unproven.is_empty() {
            true => Err(text.into()),
            false => Ok(Some(text)),
        }
    }
}

fn name_of(rule_set: RuleSetId, (slice, metric): Table) -> String {
    format!("{rule_set}/{slice}.{metric}")
}

/// Tables that the manifests list and that are nowhere.
fn lost(tables: &Tablebase, rule_set: RuleSetId) -> Result<Vec<Table>, Failure> {
    let mut lost = Vec::new();
    let places = tables.inventory().places.iter();
    let directories = places.map(|place| place.path.join(rule_set.name()));
    for directory in directories.filter(|directory| directory.is_dir()) {
        let manifest = Manifest::read(&directory)?;
        let listed = manifest.names().filter_map(|name| {
            let (slice, metric) = name.split_once('.')?;
            let metric = Metric::ALL.into_iter().find(|m| m.name() == metric)?;
            Some((slice.parse::<Slice>().ok()?, metric))
        });
        lost.extend(
            listed.filter(|&(slice, metric)| tables.header(rule_set, slice, metric).is_none()),
        );
    }
    Ok(lost)
}
