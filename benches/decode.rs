//! What an answer costs by codec, in CPU time: a quiet position of a block the prober has decoded, a
//! whole block, and that with all caches of the processor swept before.
//!
//! `cargo bench --bench decode -- DIR` with a directory of tables of one or more rule sets. Each
//! line is the mean over blocks drawn at random from all tables of a metric that have the codec.
//! Blocks of distances are decoded with their results at hand.

mod shared;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use cpu_time::ThreadTime;
use crownhead::board::{Color, Position};
use crownhead::index::{Slice, SliceIndex};
use crownhead::probe::Tablebase;
use crownhead::rules::movegen::has_capture;
use crownhead::rules::{RuleSetId, Rules, Variant};
use crownhead::table::{Codes, Metric, TableFile, Wdl};
use crownhead::with_rules;
use shared::{Draw, directories};

const BLOCKS: usize = 4000;
const EVICTED: usize = 200;
/// More than any cache of the machine.
const SWEEP: usize = 128 << 20;

fn main() -> ExitCode {
    let Some(directories) = directories("decode") else {
        return ExitCode::SUCCESS;
    };
    let tables = Tablebase::open(&directories);
    for &rule_set in RuleSetId::ALL {
        let kings = rule_set.rules().has_kings();
        let has = |n: &usize| {
            let slices = Slice::all_canonical(*n, kings);
            let mut headers = slices
                .iter()
                .map(|&s| tables.header(rule_set, s, Metric::Wdl));
            headers.all(|header| header.is_some())
        };
        if let Some(pieces) = (2..=10).take_while(has).last() {
            measure(&tables, rule_set, pieces);
        }
    }
    ExitCode::SUCCESS
}

/// A block of a table.
type Place<'t> = (&'t TableFile, Color, u64);

fn measure(tables: &Tablebase, rule_set: RuleSetId, pieces: usize) {
    let mut by_codec: BTreeMap<String, Vec<(&TableFile, Color)>> = BTreeMap::new();
    let kings = rule_set.rules().has_kings();
    for slice in (2..=pieces).flat_map(|n| Slice::all_canonical(n, kings)) {
        for metric in Metric::ALL {
            let file = tables.file(rule_set, slice, metric);
            let Some(file) = file.expect("the table opens") else {
                continue;
            };
            for &side in file.header().sides() {
                let stored = file.header().stored[side];
                let Some(codec) = stored.and_then(|stored| stored.codec) else {
                    continue;
                };
                let codec = codec.name();
                let name = match metric {
                    Metric::Wdl => codec.to_owned(),
                    _ => format!("{codec}, {metric}"),
                };
                by_codec.entry(name).or_default().push((file, side));
            }
        }
    }
    println!("{rule_set}, 2 to {pieces} pieces");
    let mut sweep = vec![1u8; SWEEP];
    let mut draw = Draw(pieces as u64);
    for (codec, files) in &by_codec {
        let total: u64 = files.iter().map(|(file, side)| file.blocks(*side)).sum();
        let mut places = Vec::new();
        for _ in 0..BLOCKS {
            let mut number = draw.below(total);
            for &(file, side) in files {
                if number < file.blocks(side) {
                    places.push((file, side, number));
                    break;
                }
                number -= file.blocks(side);
            }
        }
        with_rules!(rule_set, R => report::<R>(tables, codec, &places, &mut draw, &mut sweep));
    }
    with_rules!(rule_set, R => probes::<R>(tables, pieces, &mut draw));
}

/// A block to decode, with its results if it holds distances.
struct Block<'t> {
    place: Place<'t>,
    results: Option<Codes>,
}

impl Block<'_> {
    fn decode(&self, codes: &mut Codes, plies: &mut Vec<u16>) {
        let (file, side, block) = self.place;
        let decoded = match &self.results {
            None => file.results(side, block, codes),
            Some(results) => file.distances(side, block, results, plies),
        };
        decoded.expect("the block is sound");
        black_box((codes, plies));
    }
}

fn report<R: Rules>(
    tables: &Tablebase,
    codec: &str,
    places: &[Place],
    draw: &mut Draw,
    sweep: &mut [u8],
) {
    let blocks: Vec<Block> = places
        .iter()
        .map(|&place| Block {
            place,
            results: (place.0.header().metric != Metric::Wdl)
                .then(|| stored_results::<R>(tables, place)),
        })
        .collect();
    let (mut codes, mut plies) = (Codes::default(), Vec::new());
    let mut decode = |block: &Block| block.decode(&mut codes, &mut plies);
    blocks.iter().for_each(&mut decode);
    let start = ThreadTime::now();
    blocks.iter().for_each(&mut decode);
    let warm = start.elapsed() / blocks.len() as u32;
    let mut evicted = Duration::ZERO;
    for block in &blocks[..EVICTED] {
        for byte in sweep.iter_mut().step_by(64) {
            *byte = byte.wrapping_add(1);
        }
        let start = ThreadTime::now();
        decode(block);
        evicted += start.elapsed();
    }
    let evicted = evicted / EVICTED as u32;
    println!(
        "  {codec:<15} {:>6} positions a block, cached {:>6.3} us, warm {:>7.2} us, evicted {:>7.2} us",
        places[0].0.block_positions(places[0].1),
        cached::<R>(tables, places, draw) * 1e6,
        warm.as_secs_f64() * 1e6,
        evicted.as_secs_f64() * 1e6
    );
}

/// The results of a block of distances, code 3 for captures, which are left out.
fn stored_results<R: Rules>(tables: &Tablebase, (file, side, block): Place) -> Codes {
    let header = file.header();
    let index = SliceIndex::<R::Geometry>::new(header.slice);
    let first = block * file.block_positions(side);
    let count = file.block_positions(side).min(header.positions - first) as usize;
    let mut results = vec![Wdl::Draw; count];
    let found = tables.results_of::<R>(header.slice, side, first, &mut results);
    found.expect("the set is complete");
    let mut codes = Codes::default();
    codes.reset(count);
    for (place, result) in results.into_iter().enumerate() {
        let board = index.unrank(first + place as u64, side);
        if !header.leaves_out_captures() || !has_capture::<R>(&board) {
            codes.set(place, result as u8);
        }
    }
    codes
}

/// The mean time, in seconds, of asking the prober for a position of each of these blocks that it
/// has decoded: for the result, or for all that is known where the blocks hold distances.
fn cached<R: Rules>(tables: &Tablebase, places: &[Place], draw: &mut Draw) -> f64 {
    let variant = Variant::ALL.iter().find(|v| v.rule_set() == R::ID);
    let variant = *variant.expect("every rule set has a variant");
    let quiet = places.iter().filter_map(|&(file, side, block)| {
        let header = file.header();
        let first = block * file.block_positions(side);
        let count = file.block_positions(side).min(header.positions - first);
        let index = SliceIndex::<R::Geometry>::new(header.slice);
        let mut tried = (0..20).map(|_| index.unrank(first + draw.below(count), side));
        tried.find(|board| !has_capture::<R>(board))
    });
    let positions: Vec<_> = quiet
        .map(|board| (board, Position::from_board(variant, &board)))
        .collect();
    let distances = places[0].0.header().metric != Metric::Wdl;
    let ask = || {
        for (board, position) in &positions {
            match distances {
                true => drop(black_box(tables.probe(position))),
                false => drop(black_box(tables.result::<R>(board))),
            }
        }
    };
    ask();
    let start = ThreadTime::now();
    ask();
    start.elapsed().as_secs_f64() / positions.len().max(1) as f64
}

/// Results of positions, captures and all, through the prober.
fn probes<R: Rules>(tables: &Tablebase, pieces: usize, draw: &mut Draw) {
    let mut boards = Vec::new();
    for slice in Slice::all_canonical(pieces, R::SET.has_kings()) {
        let index = SliceIndex::<R::Geometry>::new(slice);
        for side in Color::BOTH {
            boards.extend((0..200).map(|_| index.unrank(draw.below(index.len()), side)));
        }
    }
    let each = |what: &str| {
        let start = ThreadTime::now();
        for board in &boards {
            black_box(tables.result::<R>(board).expect("the set is complete"));
        }
        let mean = start.elapsed().as_secs_f64() / boards.len() as f64;
        println!("  probe, {what:<28} {:>7.3} us", mean * 1e6);
    };
    each("blocks not decoded yet");
    each("blocks in the cache");
}
