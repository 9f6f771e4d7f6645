//! Finished tables, read through the prober, against the reference solver with the slow generator:
//! every variant, mirrored boards and exchanged colours included.

mod common;

use crownhead::board::GeometryId;
use crownhead::probe::{Outcome, Tablebase};
use crownhead::rules::{RuleSetId, Variant};
use crownhead::solve::reference::{Solved, by_mailbox};
use crownhead::solve::{Plan, Settings, generate, solver};
use crownhead::table::{Metric, Wdl};
use crownhead::with_rules;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Pieces for which the slow solver takes no more than a second or two.
fn pieces(rule_set: RuleSetId) -> usize {
    match rule_set.rules().geometry {
        GeometryId::Board8x8 => 3,
        _ => 2,
    }
}

#[test]
fn every_answer_is_the_reference_solvers() {
    let directory = tempfile::tempdir().unwrap();
    let settings = Settings {
        tables: directory.path().to_owned(),
        metrics: vec![Metric::Dtc, Metric::Dtw],
        memory: None,
        profile: Default::default(),
    };
    for &rule_set in RuleSetId::ALL {
        let plan = Plan::complete(rule_set, pieces(rule_set));
        generate(
            &plan,
            &mut *solver(rule_set, &settings.metrics),
            &settings,
            &|_| (),
        )
        .unwrap();
    }
    let tables = Tablebase::open(&[directory.path()]);
    assert!(tables.inventory().ignored.is_empty());
    for &rule_set in RuleSetId::ALL {
        with_rules!(rule_set, R => {
            let pieces = pieces(rule_set);
            let solved = Solved::<R>::up_to(pieces, by_mailbox::<R>);
            for &variant in Variant::ALL.iter().filter(|v| v.rule_set() == rule_set) {
                compare(&tables, variant, pieces, &|position| {
                    let value = solved.value(&position.to_board())?;
                    let decided = |plies| (value.result != Wdl::Draw).then_some(plies);
                    Some(Outcome {
                        result: value.result,
                        dtc: decided(value.dtc),
                        dtw: decided(value.dtw),
                    })
                });
            }
        });
    }
}

fn compare(
    tables: &Tablebase,
    variant: Variant,
    pieces: usize,
    expected: &dyn Fn(&crownhead::board::Position) -> Option<Outcome>,
) {
    let mut runner = TestRunner::new(Config::with_cases(300));
    let positions = common::positions(variant, pieces);
    let outcome = runner.run(&positions, |position| {
        let outcome = tables.probe(&position).unwrap();
        // Of positions whose opponent has no pieces the solver knows nothing.
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
