//! The fast generator against published node counts.

mod common;

use common::{position, rows};
use crownhead::board::Position;
use crownhead::rules::{Rules, Variant, movegen};
use crownhead::with_rules;

fn perft(position: &Position, depth: u32) -> u64 {
    with_rules!(position.variant().rule_set(), R => {
        movegen::perft::<R>(&position.to_board::<<R as Rules>::Geometry>(), depth)
    })
}

/// Checks the rows of `perft.csv` with so many nodes.
fn check(nodes: std::ops::Range<u64>) {
    let mut checked = 0;
    for row in rows("perft.csv") {
        let variant: Variant = row[0].parse().expect("a variant of ours");
        let depth: u32 = row[2].parse().unwrap();
        let expected: u64 = row[3].parse().unwrap();
        if nodes.contains(&expected) {
            let found = perft(&position(variant, &row[1]), depth);
            assert_eq!(found, expected, "{variant} {} depth {depth}", &row[1]);
            checked += 1;
        }
    }
    assert!(checked > 0, "no row with {nodes:?} nodes");
}

#[test]
fn published_counts() {
    check(0..5_000_000);
}

#[test]
#[ignore = "takes a minute when optimised"]
fn published_counts_to_300_million() {
    check(5_000_000..300_000_000);
}

#[test]
#[ignore = "takes some minutes when optimised"]
fn published_counts_to_2_billion() {
    check(300_000_000..2_000_000_000);
}

#[test]
#[ignore = "takes more minutes still"]
fn published_counts_beyond() {
    check(2_000_000_000..u64::MAX);
}

#[test]
fn random_endgames() {
    let rows = rows("random_endgame_perft.csv");
    assert!(!rows.is_empty());
    for row in rows {
        let variant: Variant = row[0].parse().expect("a variant of ours");
        let position = position(variant, &row[1]);
        for (depth, expected) in (1..).zip(row[2].split(' ')) {
            let found = perft(&position, depth);
            assert_eq!(
                found.to_string(),
                expected,
                "{variant} {} depth {depth}",
                &row[1]
            );
        }
    }
}

/// A Breakthrough game is over when a man has arrived.
#[test]
fn breakthrough_ends_on_arrival() {
    let before = position(Variant::Breakthrough, "W:W7:B45");
    type R = crownhead::rules::Breakthrough;
    let board = before.to_board();
    assert_eq!(movegen::count_moves::<R>(&board), 2);
    movegen::for_each_move::<R>(&board, |m| {
        let after = movegen::apply::<R>(&board, &m);
        assert!(m.promotes);
        assert_eq!(movegen::count_moves::<R>(&after), 0);
        assert!(!movegen::has_move::<R>(&after));
    });
}
