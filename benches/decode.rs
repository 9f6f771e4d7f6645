//! What an answer costs by codec, in CPU time: a position of a decoded block, a whole block, and both
//! with all caches of the processor swept in between.
//!
//! `cargo bench --bench decode -- DIR` with a directory of tables of one or more rule sets. Each
//! line is the mean over blocks drawn at random from the tables of results of the most pieces.

mod shared;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use cpu_time::ThreadTime;
use crownhead::board::Color;
use crownhead::index::Slice;
use crownhead::probe::Tablebase;
use crownhead::rules::{RuleSetId, Rules};
use crownhead::table::{Codes, Metric, TableFile};
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
    let mut by_codec: BTreeMap<&str, Vec<(&TableFile, Color)>> = BTreeMap::new();
    for slice in Slice::all_canonical(pieces, rule_set.rules().has_kings()) {
        let file = tables.file(rule_set, slice, Metric::Wdl);
        let file = file.expect("the table opens").expect("it was found");
        for &side in file.header().sides() {
            let codec = file.header().stored[side].map_or("", |stored| stored.codec.name());
            by_codec.entry(codec).or_default().push((file, side));
        }
    }
    println!("{rule_set}, {pieces} pieces");
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
        report(codec, &places, &mut sweep);
    }
    with_rules!(rule_set, R => probes::<R>(tables, pieces, &mut draw));
}

fn report(codec: &str, places: &[Place], sweep: &mut [u8]) {
    let mut codes = Codes::default();
    let mut decode = |&(file, side, block): &Place| {
        file.results(side, block, &mut codes)
            .expect("the block is sound");
        black_box(&codes);
    };
    places.iter().for_each(&mut decode);
    let start = ThreadTime::now();
    places.iter().for_each(&mut decode);
    let warm = start.elapsed() / places.len() as u32;
    let mut evicted = Duration::ZERO;
    for place in &places[..EVICTED] {
        for byte in sweep.iter_mut().step_by(64) {
            *byte = byte.wrapping_add(1);
        }
        let start = ThreadTime::now();
        decode(place);
        evicted += start.elapsed();
    }
    let evicted = evicted / EVICTED as u32;
    let (file, side, _) = places[0];
    println!(
        "  {codec:<10} {:>6} positions a block, warm {:>7.2} us, evicted {:>7.2} us",
        file.block_positions(side),
        warm.as_secs_f64() * 1e6,
        evicted.as_secs_f64() * 1e6
    );
}

/// Results of positions, captures and all, through the prober.
fn probes<R: Rules>(tables: &Tablebase, pieces: usize, draw: &mut Draw) {
    let mut boards = Vec::new();
    for slice in Slice::all_canonical(pieces, R::SET.has_kings()) {
        let index = crownhead::index::SliceIndex::<R::Geometry>::new(slice);
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
