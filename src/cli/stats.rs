mod table;

use std::io::Write;

use serde::Serialize;

use super::missing::{missing_tables, no_tables};
use super::variant::slice;
use super::{Failure, TablesArg, VariantArg, grouped, write_json};
use crownhead::board::Color;
use crownhead::index::{MAX_PIECES, Slice};
use crownhead::notation::fen;
use crownhead::probe::Tablebase;
use crownhead::rules::Variant;
use crownhead::stats::position_of;
use crownhead::table::{Header, Longest, Metric};

/// Count wins, draws and losses of every slice, with the longest of each
///
/// Counts come from the headers of the tables and take no time. The histogram of distances reads
/// every value: without --histogram it is shown only for small sets.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    #[command(flatten)]
    variant: VariantArg,
    /// Slices of up to N pieces; all must be there [default: all that are there]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64),
        allow_negative_numbers = true)]
    pieces: Option<u8>,
    /// Only this slice, such as KKMvKM (repeatable)
    #[arg(long, value_name = "S", num_args = 1.., conflicts_with = "pieces")]
    slice: Vec<String>,
    /// Tell of these metrics [default: dtw and dtc if there are such tables, else wdl]
    #[arg(long, value_delimiter = ',', value_parser = super::metric)]
    metric: Vec<Metric>,
    /// Show how distances are distributed, however many positions there are
    #[arg(long, conflicts_with_all = ["csv", "json"])]
    histogram: bool,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tables: TablesArg,
}

const AFTER_HELP: &str = "\
Examples:
  crownhead stats english --pieces 3
  crownhead stats russian --slice KKvK KKMvK --histogram
  crownhead stats italian --csv > italian.csv

The table for people has each slice in one orientation. CSV and JSON have both, a row for each side
to move and metric, with a longest win and loss as FEN. Distances are in plies.";

/// Positions of which a histogram is shown unasked.
const FEW: u64 = 10_000_000;

/// Counts of one slice, in one orientation, with one side to move.
#[derive(Serialize)]
struct Row {
    variant: &'static str,
    metric: &'static str,
    slice: String,
    white_men: usize,
    white_kings: usize,
    black_men: usize,
    black_kings: usize,
    to_move: char,
    positions: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    longest_win: Option<u16>,
    longest_win_fen: Option<String>,
    longest_loss: Option<u16>,
    longest_loss_fen: Option<String>,
}

const CSV_HEADER: &str = "variant,metric,slice,white_men,white_kings,black_men,black_kings,\
    to_move,positions,wins,draws,losses,longest_win,longest_win_fen,longest_loss,longest_loss_fen";

impl Args {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let variant = self.variant.get()?;
        let tables = self.tables.open();
        let slices = self.slices(variant)?;
        let metrics = self.metrics(variant, &tables, &slices);
        let rule_set = variant.rule_set();
        let header = |slice, metric| tables.header(rule_set, slice, metric);
        let mut rows = Vec::new();
        let mut missing = Vec::new();
        for &metric in &metrics {
            for &slice in &slices {
                match header(slice, metric) {
                    Some(header) => {
                        rows.extend(Color::BOTH.map(|side| Row::of(variant, header, slice, side)))
                    }
                    None if slice.is_canonical() => {
                        missing.push(format!("{rule_set}/{slice}.{metric}"));
                    }
                    None => {}
                }
            }
        }
        if rows.is_empty() {
            return Err(not_all(variant, &tables, &missing).into());
        }
        if self.csv {
            writeln!(out, "{CSV_HEADER}")?;
            for row in &rows {
                row.write_csv(out)?;
            }
        } else if self.json {
            write_json(out, &rows)?;
        } else {
            table::write(out, &tables, variant, &slices, &metrics)?;
            self.write_histogram(out, &tables, variant, &slices, &metrics)?;
        }
        let all_wanted = self.pieces.is_some() || !self.slice.is_empty();
        if all_wanted && !missing.is_empty() {
            return Err(not_all(variant, &tables, &missing).into());
        }
        Ok(())
    }

    fn slices(&self, variant: Variant) -> Result<Vec<Slice>, Failure> {
        if !self.slice.is_empty() {
            let mut slices = Vec::new();
            for name in &self.slice {
                let slice = slice(variant, name)?.canonical();
                for slice in [slice, slice.flipped()] {
                    if !slices.contains(&slice) {
                        slices.push(slice);
                    }
                }
            }
            return Ok(slices);
        }
        let most = usize::from(self.pieces.unwrap_or(MAX_PIECES as u8));
        let kings = variant.rules().has_kings();
        Ok((2..=most).flat_map(|n| Slice::all(n, kings)).collect())
    }

    fn metrics(&self, variant: Variant, tables: &Tablebase, slices: &[Slice]) -> Vec<Metric> {
        if !self.metric.is_empty() {
            return self.metric.clone();
        }
        let header = |slice, metric| tables.header(variant.rule_set(), slice, metric);
        let exists = |metric: &Metric| slices.iter().any(|&s| header(s, *metric).is_some());
        let distances = [Metric::Dtw, Metric::Dtc].into_iter().filter(exists);
        match distances.collect::<Vec<_>>() {
            none if none.is_empty() => vec![Metric::Wdl],
            distances => distances,
        }
    }

    /// Of the first metric that is a distance.
    fn write_histogram(
        &self,
        out: &mut dyn Write,
        tables: &Tablebase,
        variant: Variant,
        slices: &[Slice],
        metrics: &[Metric],
    ) -> Result<(), Failure> {
        let Some(&metric) = metrics.iter().find(|&&metric| metric != Metric::Wdl) else {
            return match self.histogram {
                true => Err("a histogram needs tables of distances, dtw or dtc".into()),
                false => Ok(()),
            };
        };
        let headers = slices.iter().filter(|slice| slice.is_canonical());
        let headers = headers.filter_map(|&s| tables.header(variant.rule_set(), s, metric));
        let positions: u64 = headers.map(|h| h.positions * h.sides().len() as u64).sum();
        if positions > FEW && !self.histogram {
            let positions = grouped(positions);
            writeln!(
                out,
                "\nA histogram of {positions} positions takes a while: --histogram"
            )?;
            return Ok(());
        }
        table::write_histogram(out, tables, variant, slices, metric)
    }
}

fn not_all(variant: Variant, tables: &Tablebase, missing: &[String]) -> String {
    let (set, inventory) = (variant.rule_set(), tables.inventory());
    if inventory.coverage.iter().all(|c| c.rule_set != set) {
        return no_tables(tables, set);
    }
    missing_tables(tables, missing)
}

impl Row {
    /// The header's table may hold the slice with colours exchanged.
    fn of(variant: Variant, header: &Header, slice: Slice, side: Color) -> Row {
        let flipped = slice != header.slice || !header.sides().contains(&side);
        let stored = if flipped { !side } else { side };
        let census = header.census(stored);
        let example = |longest: Option<Longest>| {
            longest.map(|l| {
                fen::format(&position_of(
                    variant,
                    header.slice,
                    l.position,
                    stored,
                    flipped,
                ))
            })
        };
        Row {
            variant: variant.name(),
            metric: header.metric.name(),
            slice: slice.to_string(),
            white_men: slice.men(Color::White),
            white_kings: slice.kings(Color::White),
            black_men: slice.men(Color::Black),
            black_kings: slice.kings(Color::Black),
            to_move: side.letter(),
            positions: header.positions,
            wins: census.wins,
            draws: census.draws,
            losses: census.losses,
            longest_win: census.longest_win.map(|l| l.plies),
            longest_win_fen: example(census.longest_win),
            longest_loss: census.longest_loss.map(|l| l.plies),
            longest_loss_fen: example(census.longest_loss),
        }
    }

    fn write_csv(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let plies = |plies: Option<u16>| plies.map_or(String::new(), |p| p.to_string());
        // Positions contain commas.
        let quoted =
            |fen: &Option<String>| fen.as_ref().map_or(String::new(), |f| format!("\"{f}\""));
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            self.variant,
            self.metric,
            self.slice,
            self.white_men,
            self.white_kings,
            self.black_men,
            self.black_kings,
            self.to_move,
            self.positions,
            self.wins,
            self.draws,
            self.losses,
            plies(self.longest_win),
            quoted(&self.longest_win_fen),
            plies(self.longest_loss),
            quoted(&self.longest_loss_fen),
        )?;
        Ok(())
    }
}
