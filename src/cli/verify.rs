use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use super::input::Input;
use super::missing::{missing_tables, no_tables};
use super::variant::slice;
use super::{Failure, TablesArg, VariantArg, grouped};
use crownhead::index::Slice;
use crownhead::probe::{DEFAULT_CACHE, Tablebase};
use crownhead::rules::{RuleSetId, Variant};
use crownhead::table::{Manifest, Metric};
use crownhead::verify::{
    Verifier, VerifyError, least_bytes, verify_checksums, verify_list, verify_sample,
};

/// Of what `--memory` allows, one part in so many is the prober's.
const CACHE_SHARE: u64 = 8;

/// Prove tables: every value against those of its successors, counts, hashes and checksums
///
/// The first value that is wrong is told as FEN with its file and block, and the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead verify russian
  crownhead verify english --slice KKvKM KMvKM
  crownhead verify international --sample 100000
  crownhead verify english --against known.csv
  crownhead mine english --slice KKvKM --where zugzwang | crownhead verify english --against -")]
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
    #[arg(long, value_name = "N", conflicts_with = "against", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Compare with the lines `fen;result;distance` of a file (`-`: of standard input) instead, or
    /// with those that `probe --batch` writes
    #[arg(long, value_name = "FILE", conflicts_with = "slice")]
    against: Option<PathBuf>,
    /// The most memory to use, such as 500M or 8G [default: what a slice takes, and 1G of results
    /// for those to come]
    #[arg(long, value_name = "SIZE", value_parser = super::bytes, conflicts_with_all = ["sample", "checksums", "against"])]
    memory: Option<u64>,
    #[command(flatten)]
    tables: TablesArg,
}

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant = self.variant.get()?;
        let tables = match self.memory {
            None => self.tables.open(),
            Some(bytes) => self
                .tables
                .open_with(DEFAULT_CACHE.min(bytes / CACHE_SHARE)),
        };
        if let Some(path) = &self.against {
            let Input { name, reader } = Input::open(path)?;
            let lines = verify_list(&tables, variant, reader)
                .map_err(|error| format!("{name}: {error}"))?;
            writeln!(out, "{lines} positions agree with {name}")?;
            return Ok(());
        }
        let mut verifier = Verifier::with_memory(&tables, variant, self.memory);
        let slices = self.slices(variant, &tables)?;
        self.check_memory(variant.rule_set(), &slices)?;
        for slice in slices {
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

    /// Tells before any work is done what the hungriest slice takes, if that is not allowed.
    fn check_memory(&self, rule_set: RuleSetId, slices: &[Slice]) -> Result<(), VerifyError> {
        let takes = |&slice: &Slice| (least_bytes(rule_set, slice), slice);
        let most = slices.iter().map(takes).max_by_key(|&(bytes, _)| bytes);
        let (Some((bytes, slice)), Some(allowed)) = (most, self.memory) else {
            return Ok(());
        };
        // Its own and the prober's share.
        let shared = bytes + bytes.div_ceil(CACHE_SHARE - 1) + 1;
        let needed = shared.min(bytes + DEFAULT_CACHE);
        match allowed < needed {
            false => Ok(()),
            true => Err(VerifyError::Memory {
                slice,
                needed,
                allowed,
            }),
        }
    }

    /// The slices to verify. Without a choice a set must be whole and hold no file out of place.
    fn slices(&self, variant: Variant, tables: &Tablebase) -> Result<Vec<Slice>, Failure> {
        let rule_set = variant.rule_set();
        if !self.slice.is_empty() {
            let mut slices = Vec::new();
            for name in &self.slice {
                let slice = slice(variant, name)?;
                if let Some(fault) = out_of_place(tables, rule_set, slice.canonical()) {
                    return Err(fault.into());
                }
                if tables.header(rule_set, slice, Metric::Wdl).is_none() {
                    let slice = slice.canonical();
                    return Err(tables.missing(rule_set, slice, Metric::Wdl).into());
                }
                slices.push(slice.canonical());
            }
            return Ok(slices);
        }
        let inventory = tables.inventory();
        let mut ignored = inventory.ignored.iter();
        if let Some(file) = ignored.find(|file| file.may_concern(rule_set)) {
            return Err(file.to_string().into());
        }
        let sets = inventory
            .coverage
            .iter()
            .filter(|set| set.rule_set == rule_set);
        let mut most = 0;
        for set in sets {
            if !set.missing.is_empty() {
                let name = |slice: &Slice| format!("{rule_set}/{slice}.{}", set.metric);
                let missing: Vec<String> = set.missing.iter().map(name).collect();
                return Err(missing_tables(tables, &missing).into());
            }
            most = most.max(set.complete.unwrap_or(0));
        }
        if most == 0 {
            return Err(no_tables(tables, rule_set).into());
        }
        let kings = rule_set.rules().has_kings();
        let slices = (2..=most).flat_map(|n| Slice::all_canonical(n, kings));
        let slices: Vec<Slice> = slices.collect();
        let mut faults = slices
            .iter()
            .filter_map(|&slice| out_of_place(tables, rule_set, slice));
        faults
            .next()
            .map_or(Ok(slices.clone()), |fault| Err(fault.into()))
    }
}

/// What is wrong with a file of a slice that was not taken for a table: it is ignored for some
/// reason, or its directory's manifest lists it and it is not there.
fn out_of_place(tables: &Tablebase, rule_set: RuleSetId, slice: Slice) -> Option<String> {
    let inventory = tables.inventory();
    let unused = |metric: &Metric| inventory.unused(rule_set, slice, *metric);
    if let Some(file) = Metric::ALL.iter().find_map(unused) {
        return Some(file.to_string());
    }
    let places = inventory.places.iter().map(|place| &place.path);
    let directories = places.map(|place| place.join(rule_set.name()));
    for directory in directories.filter(|directory| directory.is_dir()) {
        let manifest = match Manifest::read(&directory) {
            Ok(manifest) => manifest,
            Err(error) => return Some(error.to_string()),
        };
        for metric in Metric::ALL {
            let name = format!("{slice}.{metric}");
            if manifest.hash(&name).is_some() && tables.header(rule_set, slice, metric).is_none() {
                let path = directory.join(name);
                let path = path.display();
                return Some(format!(
                    "`{path}` is missing: the MANIFEST beside it lists it"
                ));
            }
        }
    }
    None
}
