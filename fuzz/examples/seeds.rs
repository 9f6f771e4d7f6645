//! Writes recipes of small real tables into `corpus/tables`: every codec, metric and profile.

use std::fs;

use crownhead::rules::RuleSetId;
use crownhead::solve::{Plan, Settings, generate, solver};
use crownhead::table::{Metric, Profile};
use crownhead_fuzz::recipe;

/// Larger tables are not worth mutating.
const LONGEST: usize = 3000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/tables");
    fs::create_dir_all(corpus)?;
    let sets = [
        (RuleSetId::English, 3),
        (RuleSetId::Russian, 3),
        (RuleSetId::Breakthrough, 2),
        (RuleSetId::Turkish, 2),
        (RuleSetId::Canadian, 2),
    ];
    for (rule_set, pieces) in sets {
        for profile in Profile::ALL {
            let directory = tempfile::tempdir()?;
            let settings = Settings {
                tables: directory.path().to_owned(),
                metrics: vec![Metric::Dtc, Metric::Dtw],
                memory: None,
                profile,
            };
            let plan = Plan::complete(rule_set, pieces);
            let mut solver = solver(rule_set, &settings.metrics, None);
            generate(&plan, &mut *solver, &settings, &|_| ())?;
            for entry in fs::read_dir(directory.path().join(rule_set.name()))? {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let bytes = if path.is_file() { fs::read(&path)? } else { Vec::new() };
                if bytes.starts_with(b"CRWNHEAD") && bytes.len() < LONGEST {
                    let name = format!("{corpus}/{rule_set}-{profile}-{name}");
                    fs::write(name, recipe(&bytes))?;
                }
            }
        }
    }
    Ok(())
}
