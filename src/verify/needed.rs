use std::collections::HashSet;

use crate::board::Color;
use crate::index::Slice;
use crate::probe::Tablebase;
use crate::rules::RuleSetId;
use crate::solve::plan::dependencies;
use crate::table::{Header, Metric};

/// The tables it takes to verify that of a slice and metric, itself included: the results of the
/// slice and of those its moves lead to; of distances to the end these, too, while those to a
/// conversion begin anew with it. What one of these tables leaves out is found in smaller ones, of
/// which all are named that may be asked. So is one that is not there, but not what that would take.
pub fn tables_needed(
    tables: &Tablebase,
    rule_set: RuleSetId,
    slice: Slice,
    metric: Metric,
) -> Vec<(Slice, Metric)> {
    let rules = rule_set.rules();
    let reached = |metric, mut open: Vec<Slice>| -> HashSet<Slice> {
        let mut found = HashSet::new();
        while let Some(slice) = open.pop() {
            let header = tables.header(rule_set, slice, metric);
            if found.insert(slice)
                && let Some(header) = header
            {
                let further = dependencies(rules, slice).into_iter();
                open.extend(further.filter(|after| asks_for(header, *after)));
            }
        }
        found
    };
    let slice = slice.canonical();
    let mut near = dependencies(rules, slice);
    near.push(slice);
    let distances = match metric {
        Metric::Wdl => HashSet::new(),
        Metric::Dtc => HashSet::from([slice]),
        Metric::Dtw => reached(metric, near.clone()),
    };
    near.extend(&distances);
    let results = reached(Metric::Wdl, near).into_iter();
    let results = results.map(|slice| (slice, Metric::Wdl));
    let distances = distances.into_iter().map(|slice| (slice, metric));
    results.chain(distances).collect()
}

/// Values of a table may be found in that of a slice which its own leads to. Distances after
/// captures always are.
fn asks_for(header: &Header, after: Slice) -> bool {
    let mut sides = Color::BOTH.into_iter();
    if header.leaves_out_threats() || sides.any(|side| header.follows(side)) {
        return true;
    }
    let captures = header.metric != Metric::Wdl || header.leaves_out_captures();
    captures && after.total() < header.slice.total()
}
