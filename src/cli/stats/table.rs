//! Statistics for people: a table of the slices, and how their distances are distributed.

use std::io::Write;

use anstyle::Style;

use crownhead::board::Color;
use crownhead::index::Slice;
use crownhead::notation::fen;
use crownhead::probe::Tablebase;
use crownhead::rules::Variant;
use crownhead::stats::{Histogram, histogram, position_of};
use crownhead::table::{Header, Metric, Wdl};

use crate::cli::{Failure, grouped, words};

const BOLD: Style = Style::new().bold();

/// A line for each slice in its canonical orientation and each side to move; one for both where
/// they mirror each other.
pub fn write(
    out: &mut dyn Write,
    tables: &Tablebase,
    variant: Variant,
    slices: &[Slice],
    metrics: &[Metric],
) -> Result<(), Failure> {
    let header = |slice, metric| tables.header(variant.rule_set(), slice, metric);
    let distances: Vec<Metric> = metrics
        .iter()
        .copied()
        .filter(|&m| m != Metric::Wdl)
        .collect();
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}: results of the side to move",
        variant.title()
    )?;
    if !distances.is_empty() {
        writeln!(
            out,
            "Longest wins and losses in plies (moves of one side), {}",
            meanings(&distances)
        )?;
    }
    writeln!(out)?;
    write!(
        out,
        "{:<12} {:<7} {:>15} {:>7} {:>7} {:>7}",
        "slice", "to move", "positions", "win %", "draw %", "loss %"
    )?;
    for metric in &distances {
        write!(out, "  {:>8}  {:>8}", format!("{metric} win"), "loss")?;
    }
    writeln!(out)?;
    for &slice in slices.iter().filter(|slice| slice.is_canonical()) {
        let headers: Vec<&Header> = metrics.iter().filter_map(|&m| header(slice, m)).collect();
        let Some(first) = headers.first() else {
            continue;
        };
        for &side in first.sides() {
            write_counts(out, first, side)?;
            for &metric in &distances {
                write_longest(out, header(slice, metric), side)?;
            }
            writeln!(out)?;
        }
    }
    for &metric in &distances {
        let headers = slices.iter().filter(|slice| slice.is_canonical());
        write_record(
            out,
            variant,
            metric,
            headers.filter_map(|&s| header(s, metric)),
        )?;
    }
    Ok(())
}

/// `dtw to the end of the game, dtc to the next capture or man's move`.
fn meanings(metrics: &[Metric]) -> String {
    let meanings = metrics.iter().map(|&m| format!("{m} {}", meaning(m)));
    meanings.collect::<Vec<_>>().join(", ")
}

fn meaning(metric: Metric) -> &'static str {
    match metric {
        Metric::Wdl => "",
        Metric::Dtc => "to the next capture or man's move",
        Metric::Dtw => "to the end of the game",
    }
}

fn write_counts(out: &mut dyn Write, header: &Header, side: Color) -> Result<(), Failure> {
    let census = header.census(side);
    let percent = |count: u64| 100.0 * count as f64 / header.positions as f64;
    let to_move = match header.slice.is_symmetric() {
        true => "either".to_owned(),
        false => side.to_string(),
    };
    let [wins, draws, losses] = [census.wins, census.draws, census.losses].map(percent);
    let positions = grouped(header.positions);
    let slice = header.slice;
    write!(
        out,
        "{slice:<12} {to_move:<7} {positions:>15} {wins:>7.2} {draws:>7.2} {losses:>7.2}"
    )?;
    Ok(())
}

fn write_longest(out: &mut dyn Write, header: Option<&Header>, side: Color) -> Result<(), Failure> {
    let census = header.map(|header| header.census(side));
    let longest = [
        census.and_then(|c| c.longest_win),
        census.and_then(|c| c.longest_loss),
    ];
    for longest in longest {
        let plies = longest.map_or("-".to_owned(), |l| l.plies.to_string());
        write!(out, "  {plies:>8}")?;
    }
    Ok(())
}

/// The longest win of all slices, the first of several.
fn write_record<'a>(
    out: &mut dyn Write,
    variant: Variant,
    metric: Metric,
    headers: impl Iterator<Item = &'a Header>,
) -> Result<(), Failure> {
    let wins = headers.flat_map(|header| {
        let sides = header.sides().iter();
        sides.filter_map(move |&side| Some((header, side, header.census(side).longest_win?)))
    });
    let longest = wins.reduce(|a, b| if b.2.plies > a.2.plies { b } else { a });
    if let Some((header, side, longest)) = longest {
        let position = position_of(variant, header.slice, longest.position, side, false);
        let plies = words::plies_and_moves(longest.plies);
        writeln!(
            out,
            "\nLongest win {}: {plies}\n  {}",
            meaning(metric),
            fen::format(&position)
        )?;
    }
    Ok(())
}

/// How many positions are won and lost in how many plies; each slice in one orientation.
pub fn write_histogram(
    out: &mut dyn Write,
    tables: &Tablebase,
    variant: Variant,
    slices: &[Slice],
    metric: Metric,
) -> Result<(), Failure> {
    const ROWS: usize = 16;
    const BAR: u64 = 40;
    let mut all = Histogram::default();
    for &slice in slices.iter().filter(|slice| slice.is_canonical()) {
        if tables.header(variant.rule_set(), slice, metric).is_some() {
            all.add(&histogram(tables, variant.rule_set(), slice, metric)?);
        }
    }
    let most = all.wins.len().max(all.losses.len());
    let width = bin_width(most.div_ceil(ROWS));
    let bins: Vec<[u64; 2]> = (0..most.div_ceil(width))
        .map(|bin| {
            [&all.wins, &all.losses].map(|counts| {
                let counts = counts.iter().skip(bin * width).take(width);
                counts.sum()
            })
        })
        .collect();
    let tallest = bins
        .iter()
        .map(|[wins, losses]| wins + losses)
        .max()
        .unwrap_or(0)
        .max(1);
    writeln!(
        out,
        "\n{BOLD}Plies {}{BOLD:#} ({metric}), each slice in one orientation\n",
        meaning(metric)
    )?;
    writeln!(
        out,
        "{:>9} {:>15} {:>15}",
        "plies",
        Wdl::Win.to_string() + "s",
        "losses"
    )?;
    for (bin, [wins, losses]) in bins.into_iter().enumerate() {
        let range = format!("{}-{}", bin * width, (bin + 1) * width - 1);
        // Whatever there is shows.
        let length = ((wins + losses) * BAR).div_ceil(tallest) as usize;
        let bar = "█".repeat(length);
        let line = format!(
            "{range:>9} {:>15} {:>15}  {bar}",
            grouped(wins),
            grouped(losses)
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The least round even width that is not below the one asked for.
fn bin_width(least: usize) -> usize {
    let widths = (0..5).flat_map(|power| [2, 4, 6, 10].map(|w| w * 10usize.pow(power)));
    widths
        .into_iter()
        .find(|&width| width >= least)
        .unwrap_or(least)
}
