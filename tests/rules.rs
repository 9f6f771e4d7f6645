//! The rules: published perft figures, model positions and the examples of rule texts.

mod common;

use common::{numbers, perft, position, rows};
use crownhead::board::Position;
use crownhead::rules::Variant;
use crownhead::rules::reference::legal_moves;

/// Deeper rows are left to the fast generator.
const SLOW_NODES: u64 = 200_000;

fn variant(name: &str) -> Variant {
    name.parse().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn perft_of_published_positions() {
    let mut checked = 0;
    for row in rows("perft.csv") {
        let (variant, fen) = (variant(&row[0]), &row[1]);
        let (depth, nodes): (u32, u64) = (row[2].parse().unwrap(), row[3].parse().unwrap());
        if nodes <= SLOW_NODES {
            let got = perft(&position(variant, fen), depth, &legal_moves);
            assert_eq!(got, nodes, "{variant} {fen} depth {depth}");
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} rows");
}

#[test]
fn perft_of_random_endgames() {
    for row in rows("random_endgame_perft.csv") {
        let (variant, fen) = (variant(&row[0]), &row[1]);
        let position = position(variant, fen);
        let got: Vec<u64> = (1..=4).map(|d| perft(&position, d, &legal_moves)).collect();
        let expected: Vec<u64> = row[2].split(' ').map(|n| n.parse().unwrap()).collect();
        assert_eq!(got, expected, "{variant} {fen}");
    }
}

/// Every route counted as a move of its own.
#[test]
fn routes_of_random_endgames() {
    fn routes(position: &Position, depth: u32) -> u64 {
        let moves = legal_moves(position);
        moves
            .iter()
            .map(|m| {
                let below = if depth == 1 {
                    1
                } else {
                    routes(&position.after(m), depth - 1)
                };
                m.routes.len() as u64 * below
            })
            .sum()
    }
    for row in rows("random_endgame_perft.csv") {
        let (variant, fen) = (variant(&row[0]), &row[1]);
        let position = position(variant, fen);
        let got: Vec<u64> = (1..=4).map(|d| routes(&position, d)).collect();
        let expected: Vec<u64> = row[3].split(' ').map(|n| n.parse().unwrap()).collect();
        assert_eq!(got, expected, "{variant} {fen}");
    }
}

#[test]
fn model_positions() {
    for row in rows("rule_cases.csv") {
        let (variant, fen) = (variant(&row[0]), &row[1]);
        let mut got: Vec<String> = legal_moves(&position(variant, fen))
            .iter()
            .map(numbers)
            .collect();
        got.sort();
        let mut expected: Vec<&str> = row[2].split(' ').collect();
        expected.sort();
        assert_eq!(got, expected, "{variant} {fen}");
    }
}
