//! Finished tables, read through the prober, against the reference solver with the slow generator:
//! every variant, mirrored boards and exchanged colours included.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::generate_into;
use crownhead::board::{Board, Color, GeometryId, Position};
use crownhead::index::{Slice, SliceIndex};
use crownhead::notation::fen;
use crownhead::probe::{Outcome, ProbeError, Tablebase};
use crownhead::rules::{English, International, RuleSetId, Rules, Variant};
use crownhead::solve::reference::{Solved, by_mailbox};
use crownhead::table::{Metric, Profile, TableError, Wdl};
use crownhead::verify::verify_slice;
use crownhead::with_rules;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

/// A capture into a slice without distances has none, and nobody makes one up.
#[test]
fn unknown_distances_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 3, Profile::Fast);
    fs::remove_file(directory.path().join("english/KvK.dtw")).unwrap();
    let tables = Tablebase::open(&[directory.path()]);
    let names_it = |error: String| assert!(error.contains("english/KvK.dtw"), "{error}");

    with_rules!(RuleSetId::English, R => {
        let slice: Slice = "KKvK".parse().unwrap();
        let count = SliceIndex::<<R as Rules>::Geometry>::new(slice).len() as usize;
        let mut plies = vec![0; count];
        // White takes the last king, Black one of two.
        let mut read = |side| tables.distances_of::<R>(slice, Metric::Dtw, side, 0, &mut plies);
        read(Color::White).unwrap();
        names_it(read(Color::Black).unwrap_err().to_string());
        tables.distances_of::<R>(slice, Metric::Dtc, Color::White, 0, &mut plies).unwrap();
    });
    let sound = verify_slice(&tables, Variant::English, "KKvK".parse().unwrap());
    names_it(sound.unwrap_err().to_string());
}

/// Pieces for which the slow solver takes no more than a second or two.
fn pieces(rule_set: RuleSetId) -> usize {
    match rule_set.rules().geometry {
        GeometryId::Board8x8 => 3,
        _ => 2,
    }
}

/// Tables with all distances of every rule set.
fn generated(pieces: impl Fn(RuleSetId) -> usize) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for &rule_set in RuleSetId::ALL {
        generate_into(directory.path(), rule_set, pieces(rule_set), Profile::Fast);
    }
    directory
}

/// The answers of the reference solver for a position, as the prober gives them; none where the
/// opponent has no pieces, of which the solver knows nothing.
fn reference<R: Rules>(solved: &Solved<R>, board: &Board<R::Geometry>) -> Option<Outcome> {
    let value = solved.value(board)?;
    let decided = |plies| (value.result != Wdl::Draw).then_some(plies);
    Some(Outcome {
        result: value.result,
        dtc: decided(value.dtc),
        dtw: decided(value.dtw),
    })
}

#[test]
fn every_answer_is_the_reference_solvers() {
    let directory = generated(pieces);
    let tables = Tablebase::open(&[directory.path()]);
    assert!(tables.inventory().ignored.is_empty());
    for &rule_set in RuleSetId::ALL {
        with_rules!(rule_set, R => {
            let pieces = pieces(rule_set);
            let solved = Solved::<R>::up_to(pieces, by_mailbox::<R>);
            for &variant in Variant::ALL.iter().filter(|v| v.rule_set() == rule_set) {
                compare(&tables, variant, pieces, &|position| {
                    reference(&solved, &position.to_board())
                });
            }
            compare_all::<R>(&tables, &solved, 2, 1);
            compare_all::<R>(&tables, &solved, pieces, 23);
        });
    }
}

/// Every position of every slice of three pieces, captures and mirrored slices included.
#[test]
#[ignore = "the slow solver takes minutes, hours without optimisation"]
fn every_position_of_three_pieces_is_answered_as_by_the_reference_solver() {
    let directory = generated(|_| 3);
    let tables = Tablebase::open(&[directory.path()]);
    for &rule_set in RuleSetId::ALL {
        with_rules!(rule_set, R => {
            let solved = Solved::<R>::up_to(3, by_mailbox::<R>);
            let compared = compare_all::<R>(&tables, &solved, 3, 1);
            println!("{rule_set}: {compared} positions");
        });
    }
}

/// Compares one position of `stride` of all slices of so many pieces, both sides to move.
fn compare_all<R: Rules>(
    tables: &Tablebase,
    solved: &Solved<R>,
    pieces: usize,
    stride: usize,
) -> u64 {
    let variant = Variant::ALL.iter().find(|v| v.rule_set() == R::ID);
    let variant = *variant.expect("every rule set has a variant");
    let mut compared = 0;
    for slice in Slice::all(pieces, R::SET.has_kings()) {
        let index = SliceIndex::<R::Geometry>::new(slice);
        for side in Color::BOTH {
            for number in (0..index.len()).step_by(stride) {
                let board = index.unrank(number, side);
                let position = Position::from_board(variant, &board);
                let expected = reference(solved, &board).expect("both sides have pieces");
                assert_eq!(
                    tables.probe(&position).unwrap(),
                    expected,
                    "{slice}\n{board}"
                );
                assert_eq!(tables.result::<R>(&board).unwrap(), expected.result);
                compared += 1;
            }
        }
    }
    compared
}

fn compare(
    tables: &Tablebase,
    variant: Variant,
    pieces: usize,
    expected: &dyn Fn(&Position) -> Option<Outcome>,
) {
    let mut runner = TestRunner::new(Config::with_cases(300));
    let positions = common::positions(variant, pieces);
    let outcome = runner.run(&positions, |position| {
        let outcome = tables.probe(&position).unwrap();
        if let Some(expected) = expected(&position) {
            prop_assert_eq!(outcome, expected);
        }
        let ranked = tables.rank_moves(&position).unwrap();
        let moves: Vec<Outcome> = ranked.iter().map(|m| m.outcome).collect();
        if let Some(best) = Outcome::of_moves(&moves) {
            prop_assert_eq!(outcome, best);
            prop_assert_eq!(moves[0].result, best.result);
            prop_assert_eq!(moves[0].dtw, best.dtw);
        } else {
            prop_assert_eq!(outcome, Outcome::without_move(variant.rules()));
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{variant}: {error}"));
}

/// What becomes of one table leaves the others alone, and the error says what it is.
#[test]
fn damage_to_one_table_is_told_and_stays_there() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 3, Profile::Fast);
    let path = directory.path().join("english/KMvK.wdl");
    let whole = fs::read(&path).unwrap();
    let probe = |text: &str| {
        let position = fen::parse(Variant::English, text).unwrap();
        Tablebase::open(&[directory.path()]).probe(&position)
    };
    // No captures; the second one is a capture that leads to the damaged slice's smaller ones.
    let there = "W:WK32,21:BK4";
    let elsewhere = "W:WK32,K21:BK4";
    let healthy = [there, elsewhere].map(|text| probe(text).unwrap());

    fs::remove_file(&path).unwrap();
    match probe(there) {
        Err(ProbeError::Missing {
            rule_set,
            slice,
            metric,
            inventory,
        }) => {
            assert_eq!((rule_set, metric), (RuleSetId::English, Metric::Wdl));
            assert_eq!(slice.to_string(), "KMvK");
            let places = inventory.places.iter().map(|place| &place.path);
            assert_eq!(places.collect::<Vec<_>>(), [directory.path()]);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(probe(elsewhere).unwrap(), healthy[1]);

    for len in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..len]).unwrap();
        // Not taken for a table, and the error says why.
        let error = probe(there).unwrap_err();
        assert!(matches!(error, ProbeError::Missing { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(path.to_str().unwrap()) && text.contains("not used"),
            "{text}"
        );
        let tables = Tablebase::open(&[directory.path()]);
        let ignored = &tables.inventory().ignored;
        assert!(ignored.len() == 1 && ignored[0].path == path, "{ignored:?}");
        assert_eq!(probe(elsewhere).unwrap(), healthy[1]);
    }

    // A flip in the header, in a block and in the checksums.
    let mut told = 0;
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        fs::write(&path, &flipped).unwrap();
        match probe(there) {
            Ok(outcome) => assert_eq!(outcome, healthy[0], "a block that was not asked"),
            Err(error @ ProbeError::Missing { .. }) => {
                let text = error.to_string();
                assert!(text.contains("KMvK.wdl is not used"), "{text}");
            }
            Err(ProbeError::Table(error)) => {
                let named = match error {
                    TableError::CorruptBlock { path, offset, .. } => {
                        let place = offset as usize;
                        // The block begins before what is wrong, or on the same page of it.
                        assert!((284..whole.len()).contains(&place) && place < at + 4096);
                        path
                    }
                    TableError::CorruptHeader { path, .. } => path,
                    other => panic!("{other}"),
                };
                assert_eq!(named, path);
                told += 1;
            }
            Err(other) => panic!("{other}"),
        }
        assert_eq!(probe(elsewhere).unwrap(), healthy[1]);
    }
    assert!(told > 0);
}

/// Exchanging a file while it is open is told too.
#[test]
fn a_table_exchanged_after_it_was_found_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 3, Profile::Fast);
    let english = directory.path().join("english");
    let tables = Tablebase::open(&[directory.path()]);
    fs::rename(english.join("KKvM.wdl"), english.join("KMvM.wdl")).unwrap();
    let position = fen::parse(Variant::English, "W:WK32,21:B3").unwrap();
    let error = tables.probe(&position).unwrap_err().to_string();
    assert!(
        error.contains("KMvM.wdl") && error.contains("replaced") && error.contains("again"),
        "{error}"
    );
}

/// What is there and no table is told to who asks for the table, and nobody else.
#[test]
fn tables_out_of_reach_are_told() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("russian")).unwrap();
    let russian = directory.path().join("russian/KvK.wdl");
    fs::write(&russian, "no table").unwrap();
    let absent = directory.path().join("absent");
    let tables = Tablebase::open(&[directory.path(), &absent]);
    let error = |variant| {
        let position = fen::parse(variant, "W:WK1:BK20").unwrap();
        tables.probe(&position).unwrap_err().to_string()
    };
    let text = error(Variant::Russian);
    assert!(text.contains(russian.to_str().unwrap()), "{text}");
    fs::write(directory.path().join("italian"), "in the way").unwrap();
    let text = error(Variant::English);
    assert!(text.contains("crownhead generate english"), "{text}");
    assert!(text.contains("absent` ("), "{text}");
}

#[test]
fn availability_is_told_by_slice_and_set() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::Russian, 3, Profile::Fast);
    fs::remove_file(directory.path().join("russian/KKvM.dtc")).unwrap();
    let tables = Tablebase::open(&[directory.path()]);
    let russian = |slice: &str| {
        let slice: Slice = slice.parse().unwrap();
        tables.available(RuleSetId::Russian, slice)
    };
    assert_eq!(russian("KMvK"), Metric::ALL);
    assert_eq!(russian("KvKM"), Metric::ALL);
    assert_eq!(russian("KKvM"), [Metric::Wdl, Metric::Dtw]);
    assert_eq!(russian("KKKvM"), []);
    assert_eq!(
        tables.available(RuleSetId::English, "KvK".parse().unwrap()),
        []
    );
    let complete = Metric::ALL.map(|metric| tables.complete(RuleSetId::Russian, metric));
    assert_eq!(complete, [3, 2, 3]);
    assert_eq!(tables.complete(RuleSetId::English, Metric::Wdl), 0);
    let sets = &tables.inventory().coverage;
    let dtc = sets.iter().find(|set| set.metric == Metric::Dtc).unwrap();
    assert_eq!(
        dtc.missing.iter().map(Slice::to_string).collect::<Vec<_>>(),
        ["KKvM"]
    );
    assert_eq!((dtc.complete, dtc.extra.len(), dtc.tables), (Some(2), 5, 8));
}

#[test]
fn what_was_prefetched_is_answered_from_the_cache() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::Brazilian, 3, Profile::Fast);
    let tables = Tablebase::open(&[directory.path()]);
    let index = SliceIndex::new("KMvK".parse().unwrap());
    let positions: Vec<Position> = (0..index.len())
        .step_by(1009)
        .map(|n| {
            Position::from_board::<crownhead::board::Board8x8>(
                Variant::Brazilian,
                &index.unrank(n, Color::White),
            )
        })
        .collect();
    let mut unknown = 0;
    for position in &positions {
        let known = tables.probe_wdl_cached(position).unwrap();
        unknown += usize::from(known.is_none());
    }
    assert!(unknown > positions.len() / 2);
    let before = tables.cache_statistics();
    assert_eq!((before.decodes, before.bytes), (0, 0));
    tables.prefetch(&positions);
    let after = tables.cache_statistics();
    assert!(after.decodes > 0 && after.bytes > 0);
    for position in &positions {
        let cached = tables.probe_wdl_cached(position).unwrap();
        assert_eq!(cached, Some(tables.probe_wdl(position).unwrap()));
    }
    assert_eq!(tables.cache_statistics().decodes, after.decodes);
    // Another one on the same files has a cache of its own.
    let other = Tablebase::open(&[directory.path()]);
    assert_eq!(other.cache_statistics().bytes, 0);
    assert_eq!(
        other.probe(&positions[0]).unwrap(),
        tables.probe(&positions[0]).unwrap()
    );
}

/// Constant tables and such that leave threats out included; distances are decoded first, for which
/// whole ranges of results are read.
#[test]
fn cached_answers_are_those_of_the_files() {
    let shipped = [Path::new(env!("CARGO_MANIFEST_DIR")).join("tables")];
    let cached = Tablebase::open(&shipped);
    let plain = Tablebase::with_cache(&shipped, 0);
    with_rules!(RuleSetId::English, R => {
        let each = |parts: u64, check: &dyn Fn(&Board<<R as Rules>::Geometry>)| {
            for slice in (2..=4).flat_map(|pieces| Slice::all_canonical(pieces, true)) {
                let index = SliceIndex::new(slice);
                for number in (0..index.len()).step_by((index.len() / parts) as usize) {
                    for side in Color::BOTH {
                        check(&index.unrank(number, side));
                    }
                }
            }
        };
        each(20, &|board| {
            let position = Position::from_board(Variant::English, board);
            let outcome = plain.probe(&position).unwrap();
            assert_eq!(cached.probe(&position).unwrap(), outcome, "{board}");
        });
    });
    let budgets = (16..=24)
        .step_by(2)
        .map(|log| Tablebase::with_cache(&shipped, 1 << log));
    let cached: Vec<Tablebase> = budgets.chain([cached]).collect();
    same_results::<English>(&plain, &cached, 4, 100);
    same_results::<International>(&plain, &cached, 3, 200);
    assert_eq!(plain.cache_statistics().hits, 0);
    assert!(
        cached
            .iter()
            .all(|tables| tables.cache_statistics().hits > 100)
    );
}

/// Results from caches of all sizes, and so from stretches of all lengths, are those of the files:
/// of so many positions of each slice.
fn same_results<R: Rules>(plain: &Tablebase, cached: &[Tablebase], pieces: usize, parts: u64) {
    for slice in (2..=pieces).flat_map(|pieces| Slice::all_canonical(pieces, true)) {
        let index = SliceIndex::<R::Geometry>::new(slice);
        for number in (0..index.len()).step_by((index.len() / parts) as usize) {
            for side in Color::BOTH {
                let board = index.unrank(number, side);
                let result = plain.result::<R>(&board).unwrap();
                for tables in cached {
                    // First from the file, then from the cache.
                    for _ in 0..2 {
                        assert_eq!(tables.result::<R>(&board).unwrap(), result, "{board}");
                    }
                }
            }
        }
    }
}

/// Not even where the files are gone, nor for what small tables keep apart.
#[test]
fn answers_from_the_cache_touch_no_file() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::Russian, 3, Profile::Small);
    let tables = Tablebase::open(&[directory.path()]);
    fs::remove_dir_all(directory.path().join("russian")).unwrap();
    let (mut answered, mut asked) = (0, 0);
    for slice in Slice::all(3, true) {
        let index = SliceIndex::<crownhead::board::Board8x8>::new(slice);
        for number in (0..index.len()).step_by(7) {
            let board = index.unrank(number, Color::BOTH[number as usize % 2]);
            let position = Position::from_board(Variant::Russian, &board);
            let known = tables.probe_wdl_cached(&position);
            let known = known.unwrap_or_else(|error| panic!("{slice}: {error}"));
            answered += usize::from(known.is_some());
            asked += 1;
        }
    }
    // Captures of the last piece, and slices in which all results are the same.
    assert!(answered > 0 && answered < asked, "{answered} of {asked}");
}

fn shared_between_threads<T: Send + Sync>() {}

#[test]
fn threads_share_one_tablebase() {
    shared_between_threads::<Tablebase>();
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 3, Profile::Fast);
    let sound = Tablebase::open(&[directory.path()]);
    // So little room that lines are dropped all the time.
    let tables = Tablebase::with_cache(&[directory.path()], 4096);
    let index = SliceIndex::<crownhead::board::Board8x8>::new("KMvM".parse().unwrap());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (tables, sound, index) = (&tables, &sound, &index);
            scope.spawn(move || {
                for number in (thread..index.len()).step_by(31) {
                    let board = index.unrank(number, Color::BOTH[number as usize % 2]);
                    let position = Position::from_board(Variant::English, &board);
                    assert_eq!(
                        tables.probe(&position).unwrap(),
                        sound.probe(&position).unwrap()
                    );
                }
            });
        }
    });
    let used = tables.cache_statistics();
    assert!(used.bytes <= 4096 && used.decodes > sound.cache_statistics().decodes);
}

/// Set for a child process that may open few files.
const FEW_FILES: &str = "CROWNHEAD_TEST_FEW_FILES";

/// More tables than a process may have open files: mapped, they need none.
#[cfg(unix)]
#[test]
fn many_tables_need_few_open_files() {
    if let Some(directory) = std::env::var_os(FEW_FILES) {
        probe_every_table(Path::new(&directory));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for rule_set in [RuleSetId::English, RuleSetId::Russian, RuleSetId::Italian] {
        generate_into(directory.path(), rule_set, 3, Profile::Fast);
    }
    let test = std::env::current_exe().unwrap();
    let mut child = Command::new("sh");
    child.args([
        "-c",
        "ulimit -n 20 && exec \"$0\" --exact many_tables_need_few_open_files",
    ]);
    child
        .arg(test)
        .env(FEW_FILES, directory.path())
        .env("RUST_TEST_THREADS", "1");
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

fn probe_every_table(directory: &Path) {
    let tables = Tablebase::open(&[directory]);
    let mut probed = 0;
    for variant in [Variant::English, Variant::Russian, Variant::Italian] {
        for slice in (2..=3).flat_map(|n| Slice::all_canonical(n, true)) {
            let index = SliceIndex::<crownhead::board::Board8x8>::new(slice);
            for number in (0..index.len()).step_by(397) {
                let board = index.unrank(number, Color::White);
                tables
                    .probe(&Position::from_board(variant, &board))
                    .unwrap();
                probed += 1;
            }
        }
        for metric in Metric::ALL {
            let file = tables.file(variant.rule_set(), "KMvM".parse().unwrap(), metric);
            assert!(file.unwrap().is_some());
        }
    }
    assert!(probed > 300);
}
