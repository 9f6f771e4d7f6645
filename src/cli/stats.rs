use std::io::Write;

use serde::Serialize;

use super::{Failure, TablesArg, grouped, write_json};
use crate::board::{Color, Position};
use crate::index::{MAX_PIECES, Slice, SliceIndex};
use crate::notation::fen;
use crate::probe::Tablebase;
use crate::rules::{Rules, Variant, with_rules};
use crate::table::{Header, Longest, Metric};

/// Count wins, draws and losses of every slice, with the longest of each
#[derive(Debug, clap::Args)]
pub struct Args {
    variant: String,
    /// Slices of up to N pieces; all must be there [default: all that are there]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64),
        allow_negative_numbers = true)]
    pieces: Option<u8>,
    /// Rows of these metrics [default: dtw and dtc if there are such tables, else wdl]
    #[arg(long, value_delimiter = ',', value_parser = super::metric)]
    metric: Vec<Metric>,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tables: TablesArg,
}

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
        let variant: Variant = self.variant.parse()?;
        let tables = self.tables.open();
        let most = usize::from(self.pieces.unwrap_or(MAX_PIECES as u8));
        let kings = variant.rules().has_kings();
        let slices: Vec<Slice> = (2..=most).flat_map(|n| Slice::all(n, kings)).collect();
        let header = |slice, metric| tables.header(variant.rule_set(), slice, metric);
        let exists = |metric: &Metric| slices.iter().any(|&s| header(s, *metric).is_some());
        let metrics = if !self.metric.is_empty() {
            self.metric
        } else if [Metric::Dtw, Metric::Dtc].iter().any(exists) {
            [Metric::Dtw, Metric::Dtc]
                .into_iter()
                .filter(exists)
                .collect()
        } else {
            vec![Metric::Wdl]
        };
        let mut rows = Vec::new();
        let mut missing = Vec::new();
        for &metric in &metrics {
            for &slice in &slices {
                match header(slice, metric) {
                    Some(header) => {
                        rows.extend(Color::BOTH.map(|side| Row::of(variant, header, slice, side)))
                    }
                    None if slice.is_canonical() => missing.push(format!("{slice}.{metric}")),
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
            write_table(out, &rows)?;
        }
        if self.pieces.is_some() && !missing.is_empty() {
            return Err(not_all(variant, &tables, &missing).into());
        }
        Ok(())
    }
}

fn not_all(variant: Variant, tables: &Tablebase, missing: &[String]) -> String {
    let shown = missing[..missing.len().min(8)].join(" ");
    let more = if missing.len() > 8 { " ..." } else { "" };
    let places = tables.inventory().directories();
    let places: Vec<String> = places
        .iter()
        .map(|p| format!("`{}`", p.display()))
        .collect();
    format!(
        "{} tables of {} are missing in {}: {shown}{more}; make them with `crownhead generate`",
        missing.len(),
        variant.rule_set(),
        places.join(", ")
    )
}

impl Row {
    /// The header's table may hold the slice with colours exchanged.
    fn of(variant: Variant, header: &Header, slice: Slice, side: Color) -> Row {
        let flipped = slice != header.slice || !header.sides().contains(&side);
        let stored = if flipped { !side } else { side };
        let census = header.census(stored);
        let example = |longest: Option<Longest>| {
            longest.map(|l| fen::format(&position(variant, header, l.position, stored, flipped)))
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

/// The position a table has under a number, with colours exchanged if asked for.
fn position(
    variant: Variant,
    header: &Header,
    number: u64,
    side: Color,
    flipped: bool,
) -> Position {
    with_rules!(variant.rule_set(), R => {
        let index = SliceIndex::<<R as Rules>::Geometry>::new(header.slice);
        let board = index.unrank(number, side);
        let board = if flipped { board.flipped() } else { board };
        Position::from_board(variant, &board)
    })
}

fn write_table(out: &mut dyn Write, rows: &[Row]) -> Result<(), Failure> {
    writeln!(
        out,
        "{:<12} {:<4} {:<2} {:>15} {:>6} {:>6} {:>6}  longest win, loss",
        "slice", "", "", "positions", "win %", "draw %", "loss %"
    )?;
    for row in rows {
        let percent = |count: u64| 100.0 * count as f64 / row.positions as f64;
        write!(
            out,
            "{:<12} {:<4} {:<2} {:>15} {:>6.2} {:>6.2} {:>6.2}",
            row.slice,
            row.metric,
            row.to_move,
            grouped(row.positions),
            percent(row.wins),
            percent(row.draws),
            percent(row.losses)
        )?;
        let longest = [
            (row.longest_win, &row.longest_win_fen),
            (row.longest_loss, &row.longest_loss_fen),
        ];
        for (plies, fen) in longest {
            if let (Some(plies), Some(fen)) = (plies, fen) {
                write!(out, "  {plies} {fen}")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
