use std::path::PathBuf;
use std::time::Instant;

use crownhead::board::{ByColor, Color, Position};
use crownhead::index::{Slice, SliceIndex};
use crownhead::probe::{LoadedSlice, Outcome, Tablebase};
use crownhead::rules::{RuleSetId, Rules};
use crownhead::solve::reference::{Solved, by_bitboards};
use crownhead::solve::{Plan, Settings, SliceSolver, SolveError, generate, solver};
use crownhead::table::{Metric, Profile, SliceValues, Wdl};
use crownhead::with_rules;

use super::{generate_into, variant};

/// Whatever a table leaves out, the prober answers as the solver does, for every position.
#[test]
fn every_profile_gives_every_value() {
    for &rule_set in RuleSetId::ALL {
        let small_board = rule_set.rules().geometry.squares() == 32;
        let pieces = if small_board { 3 } else { 2 };
        with_rules!(rule_set, R => {
            let solved = Solved::<R>::up_to(pieces, by_bitboards::<R>);
            for profile in Profile::ALL {
                compare_all(&solved, pieces, profile);
            }
        });
    }
}

/// Values asked for in stretches, read back as a solver that resumes does, and asked for one by one.
fn compare_all<R: Rules>(solved: &Solved<R>, pieces: usize, profile: Profile) {
    let directory = tempfile::tempdir().unwrap();
    generate_into(directory.path(), R::ID, pieces, profile);
    let tables = Tablebase::open(&[directory.path()]);
    let slices = (2..=pieces).flat_map(|n| Slice::all_canonical(n, R::SET.has_kings()));
    for slice in slices {
        let name = format!("{} {slice} {profile}", R::ID);
        let values = solved.slice(slice).unwrap();
        let header = tables.header(R::ID, slice, Metric::Wdl).unwrap();
        for metric in [Metric::Dtc, Metric::Dtw] {
            let header = tables.header(R::ID, slice, metric).unwrap();
            let following = header.sides().iter().filter(|&&side| header.follows(side));
            let most = usize::from(profile == Profile::Small);
            assert!(following.count() <= most, "{name} {metric}");
        }
        let metrics = [Metric::Dtc, Metric::Dtw];
        let loaded = LoadedSlice::read(directory.path(), R::ID, slice, &metrics, 1 << 22).unwrap();
        for &side in header.sides() {
            let expected = values.with(side);
            let mut results = vec![Wdl::Draw; expected.len()];
            tables
                .results_of::<R>(slice, side, 0, &mut results)
                .unwrap();
            for (i, value) in expected.iter().enumerate() {
                assert_eq!(results[i], value.result, "{name} {i}");
            }
            for metric in [Metric::Dtc, Metric::Dtw] {
                let mut plies = vec![0; expected.len()];
                let read = tables.distances_of::<R>(slice, metric, side, 0, &mut plies);
                read.unwrap();
                let mut read_back = vec![0; expected.len()];
                loaded.distances(metric, side, 0, &mut read_back);
                for (i, value) in expected.iter().enumerate() {
                    let distance = match metric {
                        Metric::Dtw => value.dtw,
                        _ => value.dtc,
                    };
                    if value.result != Wdl::Draw {
                        let found = [plies[i], read_back[i]];
                        assert_eq!(found, [distance; 2], "{name} {metric} {i}");
                    }
                }
            }
            let index = SliceIndex::<R::Geometry>::new(slice);
            for (i, value) in expected.iter().enumerate() {
                let board = index.unrank(i as u64, side);
                let position = Position::from_board(variant(R::ID), &board);
                let decided = value.result != Wdl::Draw;
                let outcome = Outcome {
                    result: value.result,
                    dtc: decided.then_some(value.dtc),
                    dtw: decided.then_some(value.dtw),
                };
                assert_eq!(tables.probe(&position).unwrap(), outcome, "{name} {i}");
            }
        }
    }
}

/// A solver whose values are compared with what the finished tables say, slice by slice.
struct Watched {
    solver: Box<dyn SliceSolver>,
    tables: PathBuf,
    rule_set: RuleSetId,
    /// What was solved last, as it was in memory.
    last: Option<Held>,
    compared: u64,
}

struct Held {
    slice: Slice,
    results: ByColor<Vec<Wdl>>,
    /// By metric; nothing for results.
    distances: [ByColor<Vec<u16>>; 3],
}

impl Held {
    fn of(values: &dyn SliceValues, sides: &[Color]) -> Held {
        let len = values.positions() as usize;
        let mut held = Held {
            slice: values.slice(),
            results: ByColor::default(),
            distances: Default::default(),
        };
        for &side in sides {
            held.results[side] = vec![Wdl::Draw; len];
            values.results(side, 0, &mut held.results[side]);
            for metric in [Metric::Dtc, Metric::Dtw] {
                let plies = &mut held.distances[metric as usize][side];
                *plies = vec![0; len];
                values.distances(metric, side, 0, plies);
            }
        }
        held
    }
}

impl Watched {
    fn compare_last(&mut self) {
        let Some(held) = self.last.take() else {
            return;
        };
        let tables = Tablebase::open(&[&self.tables]);
        let slice = held.slice;
        let header = tables.header(self.rule_set, slice, Metric::Wdl).unwrap();
        with_rules!(self.rule_set, R => {
            for &side in header.sides() {
                let expected = &held.results[side];
                let mut results = vec![Wdl::Draw; expected.len()];
                tables.results_of::<R>(slice, side, 0, &mut results).unwrap();
                assert!(&results == expected, "{} {slice} {side:?}", self.rule_set);
                self.compared += expected.len() as u64;
                for metric in [Metric::Dtc, Metric::Dtw] {
                    let mut plies = vec![0; expected.len()];
                    tables.distances_of::<R>(slice, metric, side, 0, &mut plies).unwrap();
                    let expected = held.distances[metric as usize][side].iter();
                    let mut pairs = results.iter().zip(plies.iter().zip(expected));
                    let same = pairs.all(|(&result, (a, b))| result == Wdl::Draw || a == b);
                    assert!(same, "{} {slice} {side:?} {metric}", self.rule_set);
                    self.compared += results.len() as u64;
                }
            }
        });
    }
}

impl SliceSolver for Watched {
    fn solve(
        &mut self,
        slice: Slice,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<&dyn SliceValues, SolveError> {
        self.compare_last();
        let values = self.solver.solve(slice, progress)?;
        let sides = if slice.is_symmetric() {
            &[Color::White][..]
        } else {
            &Color::BOTH
        };
        self.last = Some(Held::of(values, sides));
        Ok(values)
    }

    fn load(&mut self, values: &dyn SliceValues) -> Result<(), SolveError> {
        self.solver.load(values)
    }

    fn forget(&mut self, slice: Slice) {
        self.solver.forget(slice);
    }

    fn resident_bytes(&self, slice: Slice) -> u64 {
        self.solver.resident_bytes(slice)
    }

    fn working_bytes(&self, slice: Slice) -> u64 {
        self.solver.working_bytes(slice)
    }

    fn loading_bytes(&self, slice: Slice) -> u64 {
        self.solver.loading_bytes(slice)
    }

    fn rate(&self, threads: usize) -> f64 {
        self.solver.rate(threads)
    }
}

/// Every value of all finished tables up to some pieces is what the solver held in memory.
fn come_back(rule_set: RuleSetId, pieces: usize, profile: Profile) {
    let directory = tempfile::tempdir().unwrap();
    let settings = Settings {
        tables: directory.path().to_owned(),
        metrics: vec![Metric::Dtc, Metric::Dtw],
        memory: None,
        profile,
    };
    let start = Instant::now();
    let mut watched = Watched {
        solver: solver(rule_set, &settings.metrics, None),
        tables: directory.path().to_owned(),
        rule_set,
        last: None,
        compared: 0,
    };
    let plan = Plan::complete(rule_set, pieces);
    generate(&plan, &mut watched, &settings, &|_| ()).unwrap();
    watched.compare_last();
    let (values, time) = (watched.compared, start.elapsed());
    println!("{rule_set}, {pieces} pieces, {profile}: {values} values are the same, {time:.0?}");
    assert!(values > 0);
}

macro_rules! come_back {
    ($($test:ident: $rules:ident;)*) => {
        mod values_of_four_pieces_come_back {
            use super::*;

            $(
                #[test]
                #[ignore = "solves and writes four pieces: minutes each, more on large boards"]
                fn $test() {
                    for profile in [Profile::Fast, Profile::Small] {
                        super::come_back(RuleSetId::$rules, 4, profile);
                    }
                }
            )*
        }

        #[test]
        fn values_of_every_rule_set_are_compared() {
            let compared = [$(RuleSetId::$rules),*];
            assert!(RuleSetId::ALL.iter().all(|id| compared.contains(id)));
        }
    };
}

come_back! {
    english: English;
    russian: Russian;
    brazilian: Brazilian;
    international: International;
    canadian: Canadian;
    italian: Italian;
    spanish: Spanish;
    czech: Czech;
    pool: Pool;
    thai: Thai;
    turkish: Turkish;
    frisian: Frisian;
    killer: Killer;
    breakthrough: Breakthrough;
    antidraughts: Antidraughts;
    poddavki: Poddavki;
    english_losing: EnglishLosing;
    spantsireti: Spantsireti;
}
