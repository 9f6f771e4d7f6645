//! What is said where tables are missing, beside [`ProbeError`](crownhead::probe::ProbeError).

use crownhead::probe::Tablebase;
use crownhead::rules::RuleSetId;

/// Names told at most.
const SHOWN: usize = 8;

/// There is no table of a rule set at all.
pub fn no_tables(tables: &Tablebase, rule_set: RuleSetId) -> String {
    format!(
        "there are no tables of {rule_set} in {}: make some with `crownhead generate {rule_set} \
         --pieces 4`, or name their directory with --tables",
        tables.inventory().searched()
    )
}

/// These tables are missing, such as `english/KvK.wdl`.
pub fn missing_tables(tables: &Tablebase, missing: &[String]) -> String {
    let (count, are, them) = match missing.len() {
        1 => ("1 table".to_owned(), "is", "it"),
        count => (format!("{count} tables"), "are", "them"),
    };
    format!(
        "{count} {are} missing in {}: {}; make {them} with `crownhead generate`",
        tables.inventory().searched(),
        listed(missing)
    )
}

/// The first of some names.
pub fn listed(names: &[impl ToString]) -> String {
    let shown = names.iter().take(SHOWN).map(ToString::to_string);
    let more = (names.len() > SHOWN).then(|| "...".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(" ")
}
