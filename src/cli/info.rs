use std::ffi::OsString;
use std::io::Write;

use serde::Serialize;

use super::{Failure, directories, grouped, words, write_json};
use crownhead::probe::{CodecShare, Inventory, Tablebase, table_paths};

/// Tell which tables are there, which are missing, and which files are not used
///
/// Positions are those the tables have values of; a slice and its colour mirror share one table.
/// Below each set stands how many sides to move are encoded which way, and how many follow from the
/// other side by looking a move ahead. Missing are the other slices of as many pieces as some slice
/// that is there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead info
  crownhead info tables /data/endings
  crownhead info --json")]
pub struct Args {
    /// Directories, lists of them, or files [default: those of CROWNHEAD_TABLES, else `tables`]
    #[arg(value_parser = directories())]
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
    path: String,
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
    codecs: Vec<Codec>,
    following: u64,
    complete: Option<usize>,
    extra: Vec<String>,
    missing: Vec<String>,
}

/// What is encoded one way; bytes without headers and checksums.
#[derive(Serialize)]
struct Codec {
    codec: &'static str,
    sides: u64,
    positions: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Ignored {
    path: String,
    reason: String,
    /// Both in words.
    #[serde(skip)]
    text: String,
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let tables = Tablebase::open(&table_paths(&self.paths));
        let report = Report::of(tables.inventory());
        if self.json {
            write_json(out, &report)?;
            return report.verdict();
        }
        report.write(out)?;
        report.verdict()
    }
}

impl Codec {
    fn of(share: &CodecShare) -> Codec {
        Codec {
            codec: share.codec.name(),
            sides: share.sides,
            positions: share.positions,
            bytes: share.bytes,
        }
    }
}

/// For people.
impl Report {
    fn write(&self, out: &mut dyn Write) -> Result<(), Failure> {
        for place in &self.places {
            let path = words::printable(&place.path);
            match &place.error {
                Some(error) => writeln!(out, "{path}: {error}")?,
                None => {
                    let tables = place.tables.unwrap_or(0) as u64;
                    writeln!(out, "{path}: {}", words::counted(tables, "table", "tables"))?;
                }
            }
        }
        if !self.sets.is_empty() {
            writeln!(
                out,
                "\n{:<15} {:<6} {:<14} {:>6} {:>17} {:>15} {:>9}",
                "rule set", "metric", "complete up to", "tables", "positions", "bytes", "bits each"
            )?;
        }
        for set in &self.sets {
            set.write(out)?;
        }
        if !self.ignored.is_empty() {
            writeln!(out)?;
        }
        for file in &self.ignored {
            writeln!(out, "ignored {}", words::printable(&file.text))?;
        }
        Ok(())
    }
}

impl Set {
    /// A line, one on how the sides to move are encoded, and another one if something is missing.
    fn write(&self, out: &mut dyn Write) -> Result<(), Failure> {
        const SHOWN: usize = 10;
        let complete = match self.complete {
            Some(pieces) => format!("{pieces} pieces"),
            None => "-".to_owned(),
        };
        let bits = 8.0 * self.bytes as f64 / self.positions.max(1) as f64;
        let (positions, bytes) = (grouped(self.positions), grouped(self.bytes));
        writeln!(
            out,
            "{:<15} {:<6} {complete:<14} {:>6} {positions:>17} {bytes:>15} {bits:>9.3}",
            self.rule_set, self.metric, self.tables
        )?;
        let codecs = self.codecs.iter().map(|c| {
            let sides = words::counted(c.sides, "side", "sides");
            format!("{} {sides} in {} bytes", c.codec, grouped(c.bytes))
        });
        let following = (self.following > 0).then(|| {
            let sides = words::counted(self.following, "side follows", "sides follow");
            format!("{sides} a move ahead")
        });
        let encoded = codecs.chain(following).collect::<Vec<_>>();
        writeln!(out, "  {}", encoded.join(", "))?;
        for (what, slices) in [("extra", &self.extra), ("missing", &self.missing)] {
            if !slices.is_empty() {
                let shown = slices[..slices.len().min(SHOWN)].join(" ");
                let more = if slices.len() > SHOWN { " ..." } else { "" };
                writeln!(out, "  {what} ({}): {shown}{more}", slices.len())?;
            }
        }
        Ok(())
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
            path: place.path.display().to_string(),
            tables: place.tables.as_ref().ok().copied(),
            error: place.tables.as_ref().err().cloned(),
        });
        let sets = inventory.coverage.iter().map(|set| Set {
            rule_set: set.rule_set.name(),
            metric: set.metric.name(),
            tables: set.tables,
            positions: set.positions,
            bytes: set.bytes,
            codecs: set.codecs.iter().map(Codec::of).collect(),
            following: set.following,
            complete: set.complete,
            extra: set.extra.iter().map(|s| s.to_string()).collect(),
            missing: set.missing.iter().map(|s| s.to_string()).collect(),
        });
        let ignored = inventory.ignored.iter().map(|file| Ignored {
            path: file.path.display().to_string(),
            reason: file.reason.clone(),
            text: file.to_string(),
        });
        Report {
            places: places.collect(),
            sets: sets.collect(),
            ignored: ignored.collect(),
        }
    }
}
