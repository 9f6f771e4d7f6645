use std::fs;
use std::path::Path;

use crownhead::board::{Board, Board8x8, Color, Position};
use crownhead::index::Slice;
use crownhead::probe::Tablebase;
use crownhead::rules::movegen::{apply, for_each_move, has_capture};
use crownhead::rules::{English, RuleSetId};
use crownhead::solve::reference::{Solved, by_bitboards};
use crownhead::table::{Metric, Profile, SliceValues, TableError, Wdl, table_path, write_table};
use crownhead::verify::{ListError, tables_needed, verify_slice};
use crownhead::verify::{Verifier, VerifyError, verify_checksums, verify_list, verify_sample};

use super::common::generate_metrics;
use super::{generate_into, sign, slice, variant};

fn verify_all(directory: &Path, rule_set: RuleSetId, pieces: usize) -> Result<u64, VerifyError> {
    let tables = Tablebase::open(&[directory]);
    let slices = (2..=pieces).flat_map(|n| Slice::all_canonical(n, rule_set.rules().has_kings()));
    let mut verifier = Verifier::new(&tables, variant(rule_set));
    let mut values = 0;
    for slice in slices {
        for metric in Metric::ALL {
            if let Some(file) = tables.file(rule_set, slice, metric)? {
                verify_checksums(&[file.path()])?;
            }
        }
        values += verifier.slice(slice)?;
    }
    Ok(values)
}

/// However little room there is for results from before, the same is verified; with less than a
/// slice takes the error tells how much that is.
#[test]
fn verification_keeps_to_its_memory() {
    let directory = tempfile::tempdir().unwrap();
    let rules = RuleSetId::English;
    generate_metrics(directory.path(), rules, 3, Profile::Fast, &[Metric::Wdl]);
    let tables = Tablebase::with_cache(&[directory.path()], 1 << 18);
    let slices: Vec<Slice> = (2..=3)
        .flat_map(|n| Slice::all_canonical(n, true))
        .collect();
    let verify = |memory: Option<u64>| {
        let mut verifier = Verifier::with_memory(&tables, variant(RuleSetId::English), memory);
        let each = slices.iter().map(|&slice| verifier.slice(slice));
        each.collect::<Result<Vec<u64>, VerifyError>>()
    };
    let all = verify(None).unwrap();
    let mut memory = 0;
    // Each error names what the slice at hand needs: the last is that of the greediest.
    let tight = loop {
        match verify(Some(memory)) {
            Ok(values) => break values,
            Err(VerifyError::Memory {
                needed, allowed, ..
            }) => {
                assert!(allowed == memory && needed > memory);
                memory = needed;
            }
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(tight, all);
}

#[test]
fn sound_tables_are_verified() {
    for &rule_set in RuleSetId::ALL {
        for profile in [Profile::Fast, Profile::Small] {
            let directory = tempfile::tempdir().unwrap();
            let pieces = if rule_set == RuleSetId::English { 3 } else { 2 };
            generate_into(directory.path(), rule_set, pieces, profile);
            assert!(verify_all(directory.path(), rule_set, pieces).unwrap() > 1000);
        }
    }
}

/// With the tables that are said to be needed, and nothing else, a table is verified. With one less
/// it is not, unless it is among those that positions which are left out might have asked for.
#[test]
fn what_is_needed_is_enough_and_no_more() {
    let rules = RuleSetId::English;
    let name = slice("MMvM");
    for profile in Profile::ALL {
        let directory = tempfile::tempdir().unwrap();
        generate_into(directory.path(), rules, 3, profile);
        let all = Tablebase::open(&[directory.path()]);
        for metric in Metric::ALL {
            let part = tempfile::tempdir().unwrap();
            fs::create_dir(part.path().join(rules.name())).unwrap();
            let verify = || {
                let tables = Tablebase::open(&[part.path()]);
                Verifier::new(&tables, variant(rules)).slice_in(name, &[metric])
            };
            let needed = tables_needed(&all, rules, name, metric);
            let copy = |&(slice, metric): &(Slice, Metric)| {
                let path = |tables| table_path(tables, rules, slice, metric);
                fs::copy(path(directory.path()), path(part.path())).unwrap();
                path(part.path())
            };
            let paths: Vec<_> = needed.iter().map(copy).collect();
            verify().unwrap();
            for (table, path) in needed.iter().zip(paths) {
                fs::remove_file(path).unwrap();
                let might = metric == Metric::Dtw || profile == Profile::Small;
                let is_free = might || *table == (name, metric);
                assert!(verify().is_err() || is_free, "{table:?} {profile}");
                copy(table);
            }
        }
    }
}

/// Values of the reference solver, some of them changed.
pub(super) struct Changed<'a> {
    pub values: &'a dyn SliceValues,
    pub results: Vec<(Color, u64, Wdl)>,
    pub plies: Option<(Color, u64, u16)>,
}

impl SliceValues for Changed<'_> {
    fn slice(&self) -> Slice {
        self.values.slice()
    }

    fn positions(&self) -> u64 {
        self.values.positions()
    }

    fn has(&self, metric: Metric) -> bool {
        self.values.has(metric)
    }

    fn results(&self, side: Color, first: u64, out: &mut [Wdl]) {
        self.values.results(side, first, out);
        for &(color, position, result) in &self.results {
            if color == side && (first..first + out.len() as u64).contains(&position) {
                out[(position - first) as usize] = result;
            }
        }
    }

    fn distances(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]) {
        self.values.distances(metric, side, first, out);
        if let Some((color, position, plies)) = self.plies
            && color == side
            && (first..first + out.len() as u64).contains(&position)
        {
            out[(position - first) as usize] = plies;
        }
    }
}

/// English tables of three pieces in which one slice is exchanged for changed values.
fn planted(
    solved: &Solved<English>,
    name: &str,
    metric: Metric,
    results: Vec<(Color, u64, Wdl)>,
    plies: Option<(Color, u64, u16)>,
) -> VerifyError {
    let directory = tempfile::tempdir().unwrap();
    for pieces in 2..=3 {
        for s in Slice::all_canonical(pieces, true) {
            let values = solved.slice(s).unwrap();
            let write = |values: &dyn SliceValues, metric| {
                write_table(
                    directory.path(),
                    RuleSetId::English,
                    values,
                    metric,
                    Profile::Fast,
                    0,
                )
                .unwrap()
            };
            if s == slice(name) {
                let changed = Changed {
                    values,
                    results: results.clone(),
                    plies,
                };
                write(&changed, Metric::Wdl);
                if metric != Metric::Wdl {
                    write(&changed, metric);
                }
            } else {
                write(values, Metric::Wdl);
                write(values, Metric::Dtc);
            }
        }
    }
    verify_all(directory.path(), RuleSetId::English, 3).unwrap_err()
}

#[test]
fn planted_errors_are_found() {
    let solved = Solved::<English>::up_to(3, by_bitboards::<English>);
    let values = solved.slice(slice("KMvK")).unwrap();
    let index = values.index();
    let quiet = |side, wanted| {
        (3000..index.len()).find(|&p| {
            values.with(side)[p as usize].result == wanted
                && !has_capture::<English>(&index.unrank(p, side))
        })
    };

    // A flipped result.
    let position = quiet(Color::Black, Wdl::Draw).unwrap();
    let flipped = vec![(Color::Black, position, Wdl::Loss)];
    let error = planted(&solved, "KMvK", Metric::Wdl, flipped, None);
    let VerifyError::Value { path, fen, .. } = &error else {
        panic!("{error}");
    };
    assert!(
        path.ends_with("english/KMvK.wdl") && fen.contains(':'),
        "{error}"
    );

    // A wrong distance.
    let position = quiet(Color::White, Wdl::Win).unwrap();
    let plies = values.with(Color::White)[position as usize].dtc + 2;
    let wrong = Some((Color::White, position, plies));
    let error = planted(&solved, "KMvK", Metric::Dtc, Vec::new(), wrong);
    let VerifyError::Value {
        path, fen, found, ..
    } = &error
    else {
        panic!("{error}");
    };
    let board = index.unrank(position, Color::White);
    let expected = Position::from_board(variant(RuleSetId::English), &board);
    assert_eq!(fen, &crownhead::notation::fen::format(&expected));
    assert!(
        path.ends_with("english/KMvK.dtc") && found.contains(&plies.to_string()),
        "{error}"
    );
}

/// Drawn positions called won because each leads to the next: every value fits its successors'.
#[test]
fn a_circle_of_wins_is_found() {
    let solved = Solved::<English>::up_to(3, by_bitboards::<English>);
    let circle_slice = slice("KKvK");
    let values = solved.slice(circle_slice).unwrap();
    let index = values.index();
    let result = |board: &Board<Board8x8>| solved.value(board).unwrap().result;
    let number = |board: &Board<Board8x8>| {
        (Slice::of(board) == Some(circle_slice)).then(|| index.rank(board) as usize)
    };
    // The largest set of drawn positions that is closed under the claim that White wins them.
    let mut claimed = [Color::White, Color::Black].map(|side| -> Vec<bool> {
        let is_claimed = |p| {
            let board = index.unrank(p, side);
            result(&board) == Wdl::Draw && !has_capture::<English>(&board)
        };
        (0..index.len()).map(is_claimed).collect()
    });
    loop {
        let mut changed = false;
        for side in Color::BOTH {
            for p in 0..index.len() {
                if !claimed[side as usize][p as usize] {
                    continue;
                }
                let board = index.unrank(p, side);
                let (mut any, mut all) = (false, true);
                for_each_move::<English>(&board, |m| {
                    let after = apply::<English>(&board, &m);
                    let inside = number(&after).is_some_and(|n| claimed[after.side as usize][n]);
                    let lost = result(&after) == Wdl::Loss || inside && after.side == Color::Black;
                    let won = result(&after) == Wdl::Win || inside && after.side == Color::White;
                    any |= lost;
                    all &= won;
                });
                let fits = if side == Color::White { any } else { all };
                if !fits {
                    claimed[side as usize][p as usize] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let mut results = Vec::new();
    for (side, claim) in [(Color::White, Wdl::Win), (Color::Black, Wdl::Loss)] {
        let set = claimed[side as usize]
            .iter()
            .enumerate()
            .filter(|(_, c)| **c);
        results.extend(set.map(|(p, _)| (side, p as u64, claim)));
    }
    assert!(!results.is_empty(), "the slice has a circle");
    let error = planted(&solved, "KKvK", Metric::Wdl, results, None);
    assert!(matches!(error, VerifyError::Circular { .. }), "{error}");
}

/// A file is exchanged, or its header counts wrongly, with every checksum made right.
#[test]
fn false_files_are_found() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 3, Profile::Fast);
    let path = table_path(
        directory.path(),
        RuleSetId::English,
        slice("KKvM"),
        Metric::Wdl,
    );
    let sound = fs::read(&path).unwrap();

    // One win more, one draw less.
    let mut miscounted = sound.clone();
    let count = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let (wins, losses) = (count(&sound, 72), count(&sound, 88));
    assert!(wins > 0);
    miscounted[72..80].copy_from_slice(&(wins - 1).to_le_bytes());
    miscounted[88..96].copy_from_slice(&(losses + 1).to_le_bytes());
    sign(&mut miscounted);
    fs::write(&path, &miscounted).unwrap();
    let tables = Tablebase::open(&[directory.path()]);
    let error = verify_slice(&tables, variant(RuleSetId::English), slice("KKvM")).unwrap_err();
    assert!(
        matches!(error, VerifyError::Header { what: "wins", .. }),
        "{error}"
    );
    let error = verify_checksums(&[&path]).unwrap_err();
    let foreign = matches!(error, VerifyError::Table(TableError::NotAsListed { .. }));
    assert!(foreign, "{error}");

    // The table of another slice under this name.
    let other = table_path(
        directory.path(),
        RuleSetId::English,
        slice("KKvK"),
        Metric::Wdl,
    );
    fs::copy(&other, &path).unwrap();
    let tables = Tablebase::open(&[directory.path()]);
    assert!(
        tables
            .inventory()
            .ignored
            .iter()
            .any(|file| file.path == path)
    );
    assert!(
        tables
            .header(RuleSetId::English, slice("KKvM"), Metric::Wdl)
            .is_none()
    );
    assert!(verify_all(directory.path(), RuleSetId::English, 3).is_err());

    // The table of the same slice from another rule set.
    let russian = tempfile::tempdir().unwrap();
    generate_into(russian.path(), RuleSetId::Russian, 3, Profile::Fast);
    let foreign = table_path(
        russian.path(),
        RuleSetId::Russian,
        slice("KKvM"),
        Metric::Wdl,
    );
    fs::copy(&foreign, &path).unwrap();
    assert!(verify_all(directory.path(), RuleSetId::English, 3).is_err());

    fs::write(&path, &sound).unwrap();
    verify_all(directory.path(), RuleSetId::English, 3).unwrap();
}

#[test]
fn lists_and_samples_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), RuleSetId::English, 2, Profile::Fast);
    let tables = Tablebase::open(&[directory.path()]);
    let english = variant(RuleSetId::English);
    let list = "fen;result;distance\nW:W8:B3;win;13\n\nW:WK1:B;win;\n";
    assert_eq!(verify_list(&tables, english, list.as_bytes()).unwrap(), 2);
    let both = "W:W8:B3;win;1;13\nW:W8:B3;win;;\nW:W8:B3;win;1;13;found\n";
    assert_eq!(verify_list(&tables, english, both.as_bytes()).unwrap(), 3);
    for empty in ["", "\n", "fen;result;distance\n"] {
        let error = verify_list(&tables, english, empty.as_bytes()).unwrap_err();
        assert!(matches!(error, ListError::Empty), "{error}");
    }
    for wrong in [
        "W:W8:B3;win;15",
        "W:W8:B3;draw;",
        "W:W8:B3",
        "nonsense;win;1",
        "W:W8:B3;won;1",
        "W:W8:B3;win;3;13",
        "W:W8:B3;win;1;15",
        "W:W8:B3;win;1;13;found;too much",
    ] {
        let error = verify_list(&tables, english, wrong.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with("line 1"), "{error}");
    }
    assert_eq!(
        verify_sample(&tables, english, slice("KvM"), &Metric::ALL, 100).unwrap(),
        600
    );
    let all = verify_sample(&tables, english, slice("KvM"), &Metric::ALL, u64::MAX);
    let all = all.unwrap();
    assert_eq!(all, 3 * 1736);
}
