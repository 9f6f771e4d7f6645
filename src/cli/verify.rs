mod scope;

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use self::scope::{Scope, names_of};
use super::input::Input;
use super::missing::listed;
use super::{Failure, TablesArg, VariantArg, grouped, words};
use crownhead::index::{MAX_PIECES, Slice};
use crownhead::probe::{DEFAULT_CACHE, Tablebase};
use crownhead::rules::{RuleSetId, Variant};
use crownhead::table::{Metric, TableFile};
use crownhead::verify::{
    Verifier, VerifyError, least_bytes, verify_checksums, verify_list, verify_sample,
};

/// Of what `--memory` allows, one part in so many is the prober's.
const CACHE_SHARE: u64 = 8;

/// Prove tables: every value against those of its successors, counts, hashes and checksums
///
/// The first value that is wrong is told as FEN with its file and block, and the exit code is 1.
/// Tables that are needed and not verified themselves, as those that a --slice leads to, are taken
/// as they are, if they are what MANIFEST lists; that is told. So is what is missing of a set: the
/// exit code is 1 if MANIFEST lists it, if a table that is there cannot be verified without it, or
/// with --pieces.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead verify russian
  crownhead verify russian --pieces 4
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
    /// All slices of 2 to N pieces, of which none may be missing
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64),
        allow_negative_numbers = true, conflicts_with = "slice")]
    pieces: Option<u8>,
    /// Compare checksums and nothing else
    #[arg(long, conflicts_with_all = ["sample", "against"])]
    checksums: bool,
    /// Compare N values of each slice instead of all
    #[arg(long, value_name = "N", conflicts_with = "against", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Compare with the lines `fen;result;distance` of a file (`-`: of standard input) instead, or
    /// with those that `probe --batch` writes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slice", "pieces"])]
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
        let rule_set = variant.rule_set();
        let scope = match &self.slice[..] {
            [] => {
                let pieces = self.pieces.map(usize::from);
                Scope::of_set(&tables, rule_set, pieces, self.checksums)?
            }
            names => Scope::of_slices(&tables, variant, names, self.checksums)?,
        };
        self.check_memory(rule_set, &scope)?;
        take_as_they_are(out, &tables, rule_set, &scope.taken)?;
        self.verify(out, &tables, variant, &scope)?;
        if let Some(missing) = scope.end(&tables, rule_set)? {
            let right = match (self.checksums, self.sample) {
                (true, _) => "all checksums are right",
                (_, Some(_)) => "all values looked at are right",
                _ => "what is there is right",
            };
            writeln!(out, "{right}; {missing}")?;
        }
        Ok(())
    }

    fn verify(
        &self,
        out: &mut dyn Write,
        tables: &Tablebase,
        variant: Variant,
        scope: &Scope,
    ) -> Result<(), Failure> {
        let mut verifier = Verifier::with_memory(tables, variant, self.memory);
        for (slice, metrics) in &scope.slices {
            let start = Instant::now();
            let each = metrics.iter().map(|&metric| (*slice, metric));
            check_bytes(tables, variant.rule_set(), each)?;
            let values = match (self.checksums, self.sample) {
                (true, _) => None,
                (_, Some(values)) => Some(verify_sample(tables, variant, *slice, metrics, values)?),
                _ => Some(verifier.slice_in(*slice, metrics)?),
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
    fn check_memory(&self, rule_set: RuleSetId, scope: &Scope) -> Result<(), VerifyError> {
        let takes = |&(slice, _): &(Slice, _)| (least_bytes(rule_set, slice), slice);
        let most = scope
            .slices
            .iter()
            .map(takes)
            .max_by_key(|&(bytes, _)| bytes);
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
}

/// Compares the checksums of tables that are there.
fn check_bytes(
    tables: &Tablebase,
    rule_set: RuleSetId,
    each: impl Iterator<Item = (Slice, Metric)>,
) -> Result<(), VerifyError> {
    let mut paths = Vec::new();
    for (slice, metric) in each {
        paths.extend(tables.file(rule_set, slice, metric)?.map(TableFile::path));
    }
    verify_checksums(&paths)
}

/// Tells of tables that are not verified and on which those rest that are. Their bytes, at least,
/// must be those that the manifest lists.
fn take_as_they_are(
    out: &mut dyn Write,
    tables: &Tablebase,
    rule_set: RuleSetId,
    taken: &[(Slice, Metric)],
) -> Result<(), Failure> {
    if taken.is_empty() {
        return Ok(());
    }
    check_bytes(tables, rule_set, taken.iter().copied())?;
    let number = words::counted(taken.len() as u64, "table", "tables");
    let names = listed(&names_of(rule_set, taken));
    writeln!(
        out,
        "rests on {number} taken as they are, as MANIFEST lists them: {names}"
    )?;
    Ok(out.flush()?)
}
