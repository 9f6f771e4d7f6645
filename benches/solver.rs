//! Positions a second of CPU time of the solver, slice by slice.
//!
//! `cargo bench --bench solver -- english 5 --dtc --dtw --values --threads 1`
//!
//! Without arguments: four pieces of three rule sets, with every metric. Positions count both
//! sides to move, once where they mirror each other. Smaller slices are solved too, but not shown.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ProcessTime;
use crownhead::board::{Color, Geometry};
use crownhead::index::Slice;
use crownhead::rules::{RuleSetId, Rules};
use crownhead::solve::{
    DtcDistances, DtwDistances, DtwStore, PlaneSlice, PlaneWord, SolvedSlice, Store, solve,
    solve_dtw,
};
use crownhead::table::{SliceValues, Wdl};
use crownhead::with_rules;

/// What to measure.
#[derive(Clone, Copy, Default)]
struct Options {
    dtc: bool,
    dtw: bool,
    /// Reading results in table order, and building words from them.
    values: bool,
}

const STAGES: [&str; 4] = ["solve", "dtw", "results", "read back"];

/// CPU time of each stage; none if it was not asked for.
type Times = [Option<Duration>; 4];

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut threads = 0;
    let mut named: Vec<(RuleSetId, usize)> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let rule_set = RuleSetId::ALL.iter().find(|id| id.name() == argument);
        match (argument.as_str(), rule_set) {
            // What cargo passes on.
            ("--bench" | "--test", _) => {}
            ("--dtc", _) => options.dtc = true,
            ("--dtw", _) => options.dtw = true,
            ("--values", _) => options.values = true,
            ("--threads", _) => match arguments.next().and_then(|n| n.parse().ok()) {
                Some(n) => threads = n,
                None => return usage("--threads needs a number"),
            },
            (_, Some(&id)) => match arguments.next().and_then(|n| n.parse().ok()) {
                Some(pieces @ 2..=10) => named.push((id, pieces)),
                _ => return usage("a rule set needs a number of pieces from 2 to 10"),
            },
            _ => return usage(&format!("`{argument}` is neither a rule set nor an option")),
        }
    }
    if named.is_empty() {
        named = [
            RuleSetId::English,
            RuleSetId::Russian,
            RuleSetId::International,
        ]
        .map(|id| (id, 4))
        .to_vec();
        options = Options {
            dtc: true,
            dtw: true,
            values: true,
        };
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = match pool {
        Ok(pool) => pool,
        Err(error) => return usage(&error.to_string()),
    };
    for (id, pieces) in named {
        with_rules!(id, R => pool.install(|| run::<R>(pieces, options)));
    }
    ExitCode::SUCCESS
}

fn usage(problem: &str) -> ExitCode {
    eprintln!(
        "{problem}\nusage: solver [RULE_SET PIECES ...] [--dtc] [--dtw] [--values] [--threads N]"
    );
    ExitCode::from(2)
}

fn run<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(pieces: usize, options: Options) {
    let heading = |solve| {
        print!("{:14}{:>14}", format!("{} {pieces}", R::ID), "positions");
        for stage in [solve, STAGES[1], STAGES[2], STAGES[3]] {
            print!("{:>11} s{:>8}", stage, "M/s");
        }
        println!();
    };
    heading(if options.dtc { "wdl, dtc" } else { "wdl" });
    let mut store = Store::<R::Geometry>::new();
    let mut dtw_store = DtwStore::<R::Geometry>::new();
    // The memory of one slice's is used for the next ones', as the program does.
    let mut dtc = None;
    let mut total = (0, Times::default());
    for n in 2..=pieces {
        for slice in Slice::all_canonical(n, R::SET.has_kings()) {
            let times = measure::<R>(slice, options, &mut store, &mut dtw_store, &mut dtc);
            if n < pieces {
                continue;
            }
            let sides = if slice.is_symmetric() { 1 } else { 2 };
            let positions = slice.positions(R::Geometry::ID) * sides;
            show(&slice.to_string(), positions, &times);
            total.0 += positions;
            for (total, time) in total.1.iter_mut().zip(times) {
                if let Some(time) = time {
                    *total.get_or_insert_default() += time;
                }
            }
        }
    }
    show("total", total.0, &total.1);
    println!();
}

fn measure<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    slice: Slice,
    options: Options,
    store: &mut Store<R::Geometry>,
    dtw_store: &mut DtwStore<R::Geometry>,
    dtc: &mut Option<DtcDistances<R::Geometry>>,
) -> Times {
    let mut times = Times::default();
    let start = ProcessTime::now();
    let planes = Arc::new(PlaneSlice::new(slice).expect("memory"));
    store.insert(planes.clone());
    if options.dtc {
        let renewed = match dtc.take() {
            Some(spare) => spare.renewed(&planes),
            None => DtcDistances::new(&planes),
        };
        *dtc = Some(renewed.expect("memory"));
    }
    solve::<R>(store, &planes, dtc.as_mut(), &|_| ()).expect("slices come in order");
    times[0] = Some(start.elapsed());
    if options.dtw {
        let start = ProcessTime::now();
        let dtw = Arc::new(DtwDistances::unknown(&planes).expect("memory"));
        dtw_store.insert(dtw.clone());
        solve_dtw::<R>(dtw_store, &planes, &dtw, &|_| ()).expect("slices come in order");
        times[1] = Some(start.elapsed());
    }
    if options.values {
        let values = SolvedSlice::new(planes, None, None);
        let start = ProcessTime::now();
        let mut results = vec![Wdl::Draw; 1 << 16];
        // Where the two sides to move mirror each other only one of them is stored.
        let sides = if slice.is_symmetric() { 1 } else { 2 };
        for side in Color::BOTH.into_iter().take(sides) {
            let mut first = 0;
            while first < values.positions() {
                let count = (values.positions() - first).min(results.len() as u64);
                values.results(side, first, &mut results[..count as usize]);
                first += count;
            }
        }
        times[2] = Some(start.elapsed());
        let start = ProcessTime::now();
        std::hint::black_box(PlaneSlice::<R::Geometry>::from_values(&values).expect("memory"));
        times[3] = Some(start.elapsed());
    }
    times
}

fn show(name: &str, positions: u64, times: &Times) {
    print!("{name:14}{positions:14}");
    for time in times {
        match time {
            Some(time) => {
                let seconds = time.as_secs_f64();
                print!("{seconds:13.3}{:8.1}", positions as f64 / seconds / 1e6);
            }
            None => print!("{:>13}{:>8}", "-", "-"),
        }
    }
    println!();
}
