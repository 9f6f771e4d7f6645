use std::fs::File;
use std::io::{BufReader, Write};
use std::path::PathBuf;
use std::time::Instant;

use super::variant::slice;
use super::{Failure, TablesArg, VariantArg, grouped};
use crownhead::index::Slice;
use crownhead::probe::Tablebase;
use crownhead::rules::Variant;
use crownhead::table::Metric;
use crownhead::verify::{Verifier, verify_checksums, verify_list, verify_sample};

/// Prove tables: every value against those of its successors, counts, hashes and checksums
///
/// The first value that is wrong is told as FEN with its file and block, and the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead verify russian
  crownhead verify english --slice KKvKM KMvKM
  crownhead verify international --sample 100000
  crownhead verify english --against known.csv")]
pub struct Args {
    #[command(flatten)]
    variant: VariantArg,
    /// Only this slice, such as KKMvKM (repeatable) [default: all that are there]
    #[arg(long, value_name = "S", num_args = 1..)]
    slice: Vec<String>,
    /// Compare checksums and nothing else
    #[arg(long, conflicts_with_all = ["sample", "against"])]
    checksums: bool,
    /// Compare N values of each slice instead of all
    #[arg(long, value_name = "N", conflicts_with = "against")]
    sample: Option<u64>,
    /// Compare with the lines `fen;result;distance` of a file instead
    #[arg(long, value_name = "FILE", conflicts_with = "slice")]
    against: Option<PathBuf>,
    #[command(flatten)]
    tables: TablesArg,
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant = self.variant.get()?;
        let tables = self.tables.open();
        if let Some(path) = &self.against {
            let file = File::open(path)
                .map_err(|error| format!("cannot open `{}`: {error}", path.display()))?;
            let lines = verify_list(&tables, variant, BufReader::new(file))?;
            writeln!(out, "{lines} positions agree with `{}`", path.display())?;
            return Ok(());
        }
        let mut verifier = Verifier::new(&tables, variant);
        for slice in self.slices(variant, &tables)? {
            let start = Instant::now();
            for metric in Metric::ALL {
                if let Some(file) = tables.file(variant.rule_set(), slice, metric)? {
                    verify_checksums(file.path())?;
                }
            }
            let values = match (self.checksums, self.sample) {
                (true, _) => None,
                (_, Some(values)) => Some(verify_sample(&tables, variant, slice, values)?),
                _ => Some(verifier.slice(slice)?),
            };
            let seconds = start.elapsed().as_secs_f64();
            match values {
                None => writeln!(out, "{slice:<12} checksums are right")?,
                Some(values) => writeln!(
                    out,
                    "{slice:<12} {:>15} values are right {seconds:>8.2} s",
                    grouped(values)
                )?,
            }
            out.flush()?;
        }
        Ok(())
    }

    /// The slices to verify. Without a choice a set must be whole and hold no file out of place.
    fn slices(&self, variant: Variant, tables: &Tablebase) -> Result<Vec<Slice>, Failure> {
        let rule_set = variant.rule_set();
        if !self.slice.is_empty() {
            let mut slices = Vec::new();
            for name in &self.slice {
                let slice = slice(variant, name)?;
                if tables.header(rule_set, slice, Metric::Wdl).is_none() {
                    let places = tables.inventory().directories();
                    return Err(format!("there is no table of {slice} in {places:?}").into());
                }
                slices.push(slice.canonical());
            }
            return Ok(slices);
        }
        let inventory = tables.inventory();
        if let Some(file) = inventory.ignored.first() {
            return Err(format!("`{}`: {}", file.path.display(), file.reason).into());
        }
        let sets = inventory
            .coverage
            .iter()
            .filter(|set| set.rule_set == rule_set);
        let mut most = 0;
        for set in sets {
            if let Some(missing) = set.missing.first() {
                let file = format!("{rule_set}/{missing}.{}", set.metric);
                return Err(format!("the set is not whole: {file} is missing").into());
            }
            most = most.max(set.complete.unwrap_or(0));
        }
        if most == 0 {
            let places = inventory.directories();
            return Err(format!("there are no tables of {rule_set} in {places:?}").into());
        }
        let kings = rule_set.rules().has_kings();
        Ok((2..=most)
            .flat_map(|n| Slice::all_canonical(n, kings))
            .collect())
    }
}
