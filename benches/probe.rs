//! What a probe costs: random positions over the whole largest complete set of each rule set found.
//!
//! `cargo bench --bench probe -- DIR`, or faster to build, `cargo bench --no-default-features --bench
//! probe -- DIR`. Times of one probe are medians over batches; means are processor time of the
//! thread, which a loaded machine blurs less. As a probe of a random position waits for memory, one
//! access to memory is measured too.

mod shared;

use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use crownhead::board::{Board, Color, Position};
use crownhead::index::{Slice, SliceIndex};
use crownhead::probe::{DEFAULT_CACHE, Tablebase};
use crownhead::rules::movegen::has_capture;
use crownhead::rules::{RuleSetId, Rules, Variant};
use crownhead::table::Metric;
use crownhead::with_rules;
use shared::{Draw, directories};

const POSITIONS: usize = 1 << 20;
/// Positions of which each takes a block to decode, or all moves to rank.
const SLOW: usize = 1 << 13;
/// Probes between two looks at the clock.
const BATCH: usize = 32;
/// Memory about as large as what is decoded of a set.
const MEMORY: usize = 64 << 20;

fn main() -> ExitCode {
    let Some(directories) = directories("probe") else {
        return ExitCode::SUCCESS;
    };
    let start = Instant::now();
    let tables = Tablebase::open(&directories);
    println!("opened in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    report("one access to memory", accesses());
    for &rule_set in RuleSetId::ALL {
        let sets = &tables.inventory().coverage;
        let set = sets
            .iter()
            .find(|c| c.rule_set == rule_set && c.metric == Metric::Wdl);
        if let Some(pieces) = set.and_then(|set| set.complete) {
            println!("{rule_set}, {pieces} pieces");
            with_rules!(rule_set, R => measure::<R>(&directories, pieces));
        }
    }
    ExitCode::SUCCESS
}

/// Follows a random circle through memory, a step a cache line.
fn accesses() -> Times {
    let mut memory = memmap2::MmapMut::map_anon(MEMORY).expect("there is memory");
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    let lines = MEMORY / 64;
    let mut draw = Draw(1);
    let mut circle: Vec<u32> = (0..lines as u32).collect();
    for last in (1..lines).rev() {
        circle.swap(last, draw.below(last as u64 + 1) as usize);
    }
    for (&from, &to) in circle.iter().zip(circle[1..].iter().chain(&circle[..1])) {
        memory[64 * from as usize..][..4].copy_from_slice(&to.to_le_bytes());
    }
    let mut at = 0;
    each(&circle, |_| {
        let next = memory[64 * at as usize..].first_chunk();
        at = u32::from_le_bytes(*next.expect("a line is longer"));
        black_box(at);
    })
}

/// Positions of the slices of so many pieces, every one as likely as any other.
fn positions<R: Rules>(pieces: usize) -> Vec<Board<R::Geometry>> {
    let mut indexes = Vec::new();
    let mut total = 0;
    for slice in Slice::all_canonical(pieces, R::SET.has_kings()) {
        let index = SliceIndex::<R::Geometry>::new(slice);
        indexes.push((total, index));
        total += indexes[indexes.len() - 1].1.len();
    }
    let mut draw = Draw(pieces as u64);
    let board = |_| {
        let number = draw.below(total);
        let place = indexes.partition_point(|(first, _)| *first <= number) - 1;
        let (first, index) = &indexes[place];
        let board = index.unrank(number - first, Color::BOTH[draw.below(2) as usize]);
        // Both orientations, as they come in games.
        if draw.below(2) == 0 {
            board
        } else {
            board.flipped()
        }
    };
    (0..POSITIONS).map(board).collect()
}

fn measure<R: Rules>(directories: &[PathBuf], pieces: usize) {
    let boards = positions::<R>(pieces);
    let variant = Variant::ALL.iter().find(|v| v.rule_set() == R::ID);
    let variant = *variant.expect("every rule set has a variant");
    let as_positions = |boards: &[Board<R::Geometry>]| -> Vec<Position> {
        let position = |board| Position::from_board(variant, board);
        boards.iter().map(position).collect()
    };

    let uncached = Tablebase::with_cache(directories, 0);
    let slow = &boards[..SLOW];
    let probe = |tables: &Tablebase, board: &Board<R::Geometry>| {
        black_box(tables.result::<R>(board).expect("the set is complete"));
    };
    each(slow, |board| probe(&uncached, board));
    report(
        "nothing cached",
        each(slow, |board| probe(&uncached, board)),
    );

    let tables = Tablebase::with_cache(directories, DEFAULT_CACHE);
    // Some lines are dropped before the cache has settled.
    for _ in 0..3 {
        boards.iter().for_each(|board| probe(&tables, board));
    }
    report("cached", each(&boards, |board| probe(&tables, board)));
    let wdl = |position: &Position| {
        black_box(tables.probe_wdl(position).expect("the set is complete"));
    };
    let whole = as_positions(&boards);
    report("cached, from a Position", each(&whole, wdl));
    let (captures, quiet): (Vec<_>, Vec<_>) = boards.iter().partition(|b| has_capture::<R>(b));
    report("cached, quiet", each(&quiet, |board| probe(&tables, board)));
    report(
        "cached, captures",
        each(&captures, |board| probe(&tables, board)),
    );
    let near = vec![quiet[0]; 1 << 16];
    report(
        "the same position again",
        each(&near, |board| probe(&tables, board)),
    );
    let rank = |position: &Position| {
        black_box(tables.rank_moves(position).expect("the set is complete"));
    };
    each(&whole[..SLOW], rank);
    report("all moves ranked", each(&whole[..SLOW], rank));

    if tables.complete(R::ID, Metric::Dtw) >= pieces {
        let outcome = |tables: &Tablebase, position: &Position| {
            black_box(tables.probe(position).expect("the set is complete"));
        };
        let few = &whole[..SLOW / 16];
        report(
            "distances, nothing cached",
            each(few, |p| outcome(&uncached, p)),
        );
        let cached = |what: &str, positions: &[Position]| {
            if !positions.is_empty() {
                each(positions, |p| outcome(&tables, p));
                report(what, each(positions, |p| outcome(&tables, p)));
            }
        };
        cached("distances, cached", few);
        let quiet_where = |follows| {
            let chosen = quiet.iter().copied();
            let chosen = chosen.filter(|board| sides_follow::<R>(&tables, board) == [follows; 2]);
            as_positions(&chosen.take(SLOW).collect::<Vec<_>>())
        };
        cached("of quiet positions", &quiet_where(false));
        cached("of these that follow", &quiet_where(true));
    }

    let shares: Vec<_> = boards.chunks(boards.len() / 2).collect();
    let pass = |share: &[Board<R::Geometry>]| {
        let start = ThreadTime::now();
        share.iter().for_each(|board| probe(&tables, board));
        start.elapsed()
    };
    let alone: Duration = (0..5)
        .flat_map(|_| shares.iter().map(|share| pass(share)))
        .sum();
    let together: Duration = (0..5)
        .map(|_| {
            std::thread::scope(|scope| {
                let threads = shares.iter().map(|share| scope.spawn(|| pass(share)));
                let threads: Vec<_> = threads.collect();
                let times = threads.into_iter().map(|t| t.join().expect("it ends"));
                times.sum::<Duration>()
            })
        })
        .sum();
    let speed = 2.0 * alone.as_secs_f64() / together.as_secs_f64();
    println!("  two threads: {speed:.2} times as fast as one");
    let used = tables.cache_statistics();
    println!("  {used:?}");
}

/// Whether the distances of a position, to a conversion and to the end, follow from the other side.
fn sides_follow<R: Rules>(tables: &Tablebase, board: &Board<R::Geometry>) -> [bool; 2] {
    let slice = Slice::of(board).expect("it has few pieces");
    let side = match slice.is_canonical() {
        true => board.side,
        false => !board.side,
    };
    [Metric::Dtc, Metric::Dtw].map(|metric| {
        let header = tables.header(R::ID, slice, metric);
        header.is_some_and(|header| header.follows(side))
    })
}

/// Median over batches and mean of the thread's processor time, in nanoseconds a probe.
struct Times {
    batches: Vec<f64>,
    mean: f64,
}

fn each<T>(all: &[T], mut probe: impl FnMut(&T)) -> Times {
    let start = ThreadTime::now();
    all.iter().for_each(&mut probe);
    let mean = start.elapsed().as_secs_f64() * 1e9 / all.len() as f64;
    let batch = if all.len() > SLOW { BATCH } else { 1 };
    let mut batches: Vec<f64> = all
        .chunks(batch)
        .map(|chunk| {
            let start = Instant::now();
            chunk.iter().for_each(&mut probe);
            start.elapsed().as_secs_f64() * 1e9 / chunk.len() as f64
        })
        .collect();
    batches.sort_by(f64::total_cmp);
    Times { batches, mean }
}

fn report(what: &str, times: Times) {
    let at = |part: f64| times.batches[(times.batches.len() as f64 * part) as usize];
    println!(
        "  {what:<26} median {:>8.0} ns, 9 of 10 below {:>8.0} ns, mean of CPU time {:>8.0} ns",
        at(0.5),
        at(0.9),
        times.mean
    );
}
