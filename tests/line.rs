//! Best play to the end: as long as the tables say, never in a circle, and as far as it goes where
//! tables are missing.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use crownhead::board::{Color, Position};
use crownhead::index::{Slice, SliceIndex};
use crownhead::notation::{fen, pdn};
use crownhead::probe::{BestLine, LineEnd, ProbeError, Tablebase};
use crownhead::rules::{Rules, Variant};
use crownhead::table::{Metric, Wdl, table_path};
use crownhead::with_rules;
use tempfile::TempDir;

const MAIN: [Variant; 5] = [
    Variant::English,
    Variant::Russian,
    Variant::Brazilian,
    Variant::Italian,
    Variant::International,
];

/// The tables that come with the repository: all distances of three pieces and for most of the main
/// variants four.
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tables");

/// Shipped tables of up to so many pieces in a directory of their own.
fn copied(variant: Variant, pieces: usize, metrics: &[Metric]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let rule_set = variant.rule_set();
    fs::create_dir(directory.path().join(rule_set.name())).unwrap();
    for slice in (2..=pieces).flat_map(|n| Slice::all_canonical(n, true)) {
        for &metric in metrics {
            let from = table_path(Path::new(SHIPPED), rule_set, slice, metric);
            let to = table_path(directory.path(), rule_set, slice, metric);
            fs::copy(from, to).unwrap();
        }
    }
    directory
}

/// Random positions of a variant with exactly so many pieces, the same in every run.
fn positions(variant: Variant, pieces: usize) -> impl Iterator<Item = Position> {
    let slices = Slice::all(pieces, variant.rules().has_kings());
    let mut state = 1u64;
    let mut below = move |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % limit
    };
    std::iter::repeat_with(move || {
        let slice = slices[below(slices.len() as u64) as usize];
        let side = Color::BOTH[below(2) as usize];
        with_rules!(variant.rule_set(), R => {
            let index = SliceIndex::<<R as Rules>::Geometry>::new(slice);
            Position::from_board(variant, &index.unrank(below(index.len()), side))
        })
    })
}

fn won(tables: &Tablebase, variant: Variant, pieces: usize) -> impl Iterator<Item = Position> {
    let won = |p: &Position| tables.probe_wdl(p).unwrap() == Wdl::Win;
    positions(variant, pieces).filter(won)
}

/// Plays a won line: no position comes twice, every move keeps what there is, and in the end the
/// loser has no move.
fn play(start: &Position, line: &BestLine) {
    let text = fen::format(start);
    let mut position = *start;
    let mut seen = HashSet::from([position]);
    for (ply, m) in line.moves.iter().enumerate() {
        let kept = [Wdl::Win, Wdl::Loss][ply % 2];
        assert_eq!(m.outcome.result, kept, "{text}, ply {ply}");
        position = position.after(&m.played);
        assert!(seen.insert(position), "{text} comes back after ply {ply}");
    }
    assert_eq!(line.end, LineEnd::GameOver, "{text}");
    let legal = crownhead::rules::reference::legal_moves(&position);
    assert!(legal.is_empty() && line.moves.len() % 2 == 1, "{text}");
}

fn lines_take_as_long_as_they_say(variants: &[Variant], pieces: usize) {
    let tables = Tablebase::open(&[SHIPPED]);
    for &variant in variants {
        for start in won(&tables, variant, pieces).take(1000) {
            let line = tables.line(&start).unwrap();
            play(&start, &line);
            assert_eq!(line.outcome, tables.probe(&start).unwrap());
            let plies = line.moves.len();
            let text = fen::format(&start);
            assert_eq!(line.outcome.dtw, Some(plies as u16), "{text}");
            for (ply, m) in line.moves.iter().enumerate() {
                assert_eq!(m.outcome.dtw, Some((plies - ply) as u16), "{text}");
            }
        }
    }
}

#[test]
fn lines_of_three_pieces_take_as_long_as_they_say() {
    lines_take_as_long_as_they_say(&MAIN, 3);
}

#[test]
fn lines_of_four_pieces_take_as_long_as_they_say() {
    lines_take_as_long_as_they_say(&MAIN[..4], 4);
}

/// Removes the tables of a metric.
fn remove(directory: &Path, variant: Variant, metric: Metric) {
    let directory = directory.join(variant.rule_set().name());
    for file in fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|e| e == metric.name()) {
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn distances_to_conversion_lead_to_the_end_too() {
    for variant in [Variant::English, Variant::Russian] {
        let directory = copied(variant, 3, &[Metric::Wdl, Metric::Dtc]);
        let tables = Tablebase::open(&[directory.path()]);
        let mut longer = 0;
        for start in won(&tables, variant, 3).take(300) {
            let line = tables.line(&start).unwrap();
            play(&start, &line);
            let first = line.moves.iter().position(|m| m.played.is_conversion());
            let plies = first.map_or(line.moves.len(), |ply| ply + 1);
            assert!(
                line.outcome
                    .dtc
                    .is_some_and(|dtc| usize::from(dtc) >= plies)
            );
            longer += usize::from(line.moves.len() > plies);
        }
        assert!(
            longer > 30,
            "{variant}: lines go on after the first conversion"
        );
    }
}

/// Turkish men step sideways and back, which counts as a conversion.
#[test]
fn steps_that_can_be_taken_back_lead_nowhere_twice() {
    let directory = copied(Variant::Turkish, 3, &[Metric::Wdl, Metric::Dtc]);
    let tables = Tablebase::open(&[directory.path()]);
    let mut ended = 0;
    for start in won(&tables, Variant::Turkish, 3).take(300) {
        match tables.line(&start) {
            Ok(line) => {
                play(&start, &line);
                ended += 1;
            }
            Err(error) => assert!(
                matches!(
                    &error.cause,
                    ProbeError::Missing {
                        metric: Metric::Dtw,
                        ..
                    }
                ),
                "{}: {error}",
                fen::format(&start)
            ),
        }
    }
    assert!(ended > 280, "{ended} of 300 lines end");
}

#[test]
fn a_line_stops_where_the_tables_stop() {
    let directory = copied(Variant::English, 3, &[Metric::Wdl, Metric::Dtc]);
    let kings = fen::parse(Variant::English, "W:WK32,K31:BK6").unwrap();

    // Without distances of two pieces the end is not found, the way there is.
    let two = directory.path().join("english/KvK.dtc");
    let hidden = directory.path().join("hidden");
    fs::rename(&two, &hidden).unwrap();
    let mut cut = 0;
    let tables = Tablebase::open(&[directory.path()]);
    for start in won(&tables, Variant::English, 3).take(300) {
        if let Err(error) = tables.line(&start) {
            let text = error.to_string();
            assert!(text.contains("english/KvK.dtc"), "{text}");
            assert!(
                text.contains(&format!("after {} plies", error.moves.len())),
                "{text}"
            );
            cut += usize::from(!error.moves.is_empty());
        }
    }
    assert!(cut > 0, "some lines are cut in the middle");
    fs::rename(&hidden, &two).unwrap();

    // Without results of two pieces captures lead nowhere.
    fs::remove_file(directory.path().join("english/KvK.wdl")).unwrap();
    let error = Tablebase::open(&[directory.path()])
        .line(&kings)
        .unwrap_err();
    assert!(
        matches!(
            error.cause,
            ProbeError::Missing {
                metric: Metric::Wdl,
                ..
            }
        ),
        "{error}"
    );

    // Results alone do not show the way.
    remove(directory.path(), Variant::English, Metric::Dtc);
    let error = Tablebase::open(&[directory.path()])
        .line(&kings)
        .unwrap_err();
    assert!(error.moves.is_empty());
    assert!(error.to_string().contains("english/KKvK.dtc"), "{error}");
    assert!(error.to_string().contains("--metric dtc"), "{error}");
}

#[test]
fn a_plain_draw_ends_a_line() {
    let tables = Tablebase::open(&[SHIPPED]);
    let variants = [Variant::English, Variant::Russian, Variant::International];
    let starts = |variant| positions(variant, 3).take(1000);
    let mut longest = 0;
    for start in variants.into_iter().flat_map(starts) {
        if tables.probe_wdl(&start).unwrap() != Wdl::Draw {
            continue;
        }
        let line = tables.line(&start).unwrap();
        assert_eq!(line.end, LineEnd::Draw);
        let mut position = start;
        let mut seen = HashSet::from([start]);
        for m in &line.moves {
            assert_eq!(m.outcome.result, Wdl::Draw);
            position = position.after(&m.played);
            assert!(seen.insert(position), "{}", fen::format(&start));
        }
        longest = longest.max(line.moves.len());
    }
    // A draw that hangs on captures and only moves is played out, and no more.
    assert!((1..30).contains(&longest), "{longest}");
    let plain = fen::parse(Variant::English, "W:WK32:BK5").unwrap();
    assert!(tables.line(&plain).unwrap().moves.is_empty());
    // So is a game that is over.
    let over = fen::parse(Variant::English, "W:W:BK5").unwrap();
    let line = tables.line(&over).unwrap();
    assert_eq!((line.end, line.moves.len()), (LineEnd::GameOver, 0));
}

#[test]
fn the_program_prints_lines_as_games() {
    let directory = copied(Variant::Russian, 2, &Metric::ALL);
    let line = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crownhead"));
        command.args(["line", "russian"]).args(args);
        command.arg("--tables").arg(directory.path());
        command
    };
    let printed = |command: &mut Command| {
        let output = command.assert().success().get_output().clone();
        String::from_utf8(output.stdout).unwrap()
    };
    let tables = Tablebase::open(&[directory.path()]);
    let start = won(&tables, Variant::Russian, 2)
        .find(|p| tables.probe(p).unwrap().dtc > Some(2))
        .unwrap();
    let best = tables.line(&start).unwrap();
    let text = fen::format(&start);

    let game = pdn::read(&printed(&mut line(&[&text])), None)
        .unwrap()
        .remove(0);
    assert_eq!((game.variant, game.start), (Variant::Russian, start));
    assert_eq!(game.line.moves.len(), best.moves.len());
    for (ply, m) in game.line.moves.iter().zip(&best.moves) {
        assert_eq!(ply.mv, m.played);
        let (dtw, dtc) = (m.outcome.dtw.unwrap(), m.outcome.dtc.unwrap());
        assert_eq!(ply.comments_after, [format!("dtw {dtw}, dtc {dtc}")]);
    }
    let won = match start.side() {
        Color::White => pdn::GameResult::WhiteWins,
        Color::Black => pdn::GameResult::BlackWins,
    };
    assert_eq!(game.result, won);

    let report: serde_json::Value =
        serde_json::from_str(&printed(&mut line(&[&text, "--json"]))).unwrap();
    assert_eq!(report["fen"], text.as_str());
    assert_eq!(report["end"], "over");
    assert_eq!(report["dtw"], best.outcome.dtw.unwrap());
    assert_eq!(report["moves"].as_array().unwrap().len(), best.moves.len());
    assert_eq!(report["moves"][0]["dtw"], report["dtw"]);

    // What was found is printed, and why there is no more.
    remove(directory.path(), Variant::Russian, Metric::Dtw);
    remove(directory.path(), Variant::Russian, Metric::Dtc);
    let quiet = line(&[&text]).assert().code(1).get_output().clone();
    assert!(String::from_utf8(quiet.stderr).unwrap().contains(".dtc"));
}
