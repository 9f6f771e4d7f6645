use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::{Failure, grouped, write_json};
use crate::probe::{Inventory, Tablebase, table_paths};

/// Tell which tables are there, which are missing, and which files are not used
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directories, lists of them, or files [default: those of CROWNHEAD_TABLES, else `tables`]
    paths: Vec<OsString>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    places: Vec<Place>,
    sets: Vec<Set>,
    ignored: Vec<Ignored>,
}

#[derive(Serialize)]
struct Place {
    path: PathBuf,
    tables: Option<usize>,
    error: Option<String>,
}

#[derive(Serialize)]
struct Set {
    rule_set: &'static str,
    metric: &'static str,
    tables: usize,
    positions: u64,
    bytes: u64,
    complete: Option<usize>,
    extra: Vec<String>,
    missing: Vec<String>,
}

#[derive(Serialize)]
struct Ignored {
    path: PathBuf,
    reason: String,
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let tables = Tablebase::open(&table_paths(&self.paths));
        let report = Report::of(tables.inventory());
        if self.json {
            write_json(out, &report)?;
            return report.verdict();
        }
        for place in &report.places {
            let path = place.path.display();
            match (&place.error, place.tables) {
                (Some(error), _) => writeln!(out, "{path}: {error}")?,
                (None, Some(1)) => writeln!(out, "{path}: 1 table")?,
                (None, tables) => writeln!(out, "{path}: {} tables", tables.unwrap_or(0))?,
            }
        }
        for set in &report.sets {
            let complete = match set.complete {
                Some(pieces) => format!("complete up to {pieces} pieces"),
                None => "no complete set".to_owned(),
            };
            writeln!(
                out,
                "{} {}: {complete}, {} tables, {} positions, {} bytes",
                set.rule_set,
                set.metric,
                set.tables,
                grouped(set.positions),
                grouped(set.bytes)
            )?;
            for (what, slices) in [("extra", &set.extra), ("missing", &set.missing)] {
                if !slices.is_empty() {
                    let shown = slices[..slices.len().min(10)].join(" ");
                    let more = if slices.len() > 10 { " ..." } else { "" };
                    writeln!(out, "  {what} ({}): {shown}{more}", slices.len())?;
                }
            }
        }
        for file in &report.ignored {
            writeln!(out, "ignored {}: {}", file.path.display(), file.reason)?;
        }
        report.verdict()
    }
}

impl Report {
    /// Some place could be searched.
    fn verdict(&self) -> Result<(), Failure> {
        if self.places.iter().all(|place| place.error.is_some()) {
            return Err("there is no such directory of tables".into());
        }
        Ok(())
    }

    fn of(inventory: &Inventory) -> Report {
        let places = inventory.places.iter().map(|place| Place {
            path: place.path.clone(),
            tables: place.tables.as_ref().ok().copied(),
            error: place.tables.as_ref().err().cloned(),
        });
        let sets = inventory.coverage.iter().map(|set| Set {
            rule_set: set.rule_set.name(),
            metric: set.metric.name(),
            tables: set.tables,
            positions: set.positions,
            bytes: set.bytes,
            complete: set.complete,
            extra: set.extra.iter().map(|s| s.to_string()).collect(),
            missing: set.missing.iter().map(|s| s.to_string()).collect(),
        });
        let ignored = inventory.ignored.iter().map(|file| Ignored {
            path: file.path.clone(),
            reason: file.reason.clone(),
        });
        Report {
            places: places.collect(),
            sets: sets.collect(),
            ignored: ignored.collect(),
        }
    }
}
