//! Notation round trips for random positions of every variant, and hostile text.

mod common;

use common::{any_text, any_variant, positions, rows};
use crownhead::board::{Position, Square};
use crownhead::notation::{fen, hub, moves, square_name};
use crownhead::rules::{Move, Variant, reference::legal_moves};
use proptest::prelude::*;

fn any_position(max_pieces: usize) -> impl Strategy<Value = Position> {
    any_variant().prop_flat_map(move |variant| positions(variant, max_pieces))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn fen_round_trip(position in any_position(40)) {
        let text = fen::format(&position);
        prop_assert_eq!(fen::parse(position.variant(), &text), Ok(position), "{}", text);
    }

    #[test]
    fn hub_round_trip(position in any_position(72)) {
        let text = hub::format(&position);
        prop_assert_eq!(text.len(), usize::from(position.variant().squares()) + 1);
        prop_assert_eq!(hub::parse(position.variant(), &text), Ok(position), "{}", text);
    }

    /// What can be read at all is written back as something that reads the same.
    #[test]
    fn fen_of_any_text(variant in any_variant(), text in any_text("WBKGHFwbk0-9a-j:,. ?+\"-")) {
        if let Ok(position) = fen::parse(variant, &text) {
            prop_assert_eq!(fen::parse(variant, &fen::format(&position)), Ok(position));
        }
    }

    #[test]
    fn hub_of_any_text(variant in any_variant(), text in any_text("WBwbe")) {
        if let Ok(position) = hub::parse(variant, &text) {
            prop_assert_eq!(hub::format(&position), text.trim());
        }
    }

    /// A legal move is read back from its own text, from each of its whole routes, and in the
    /// Hub form (which cannot tell whether a man was crowned on the way).
    #[test]
    fn moves_round_trip(position in any_position(30)) {
        let all = legal_moves(&position);
        let join = |squares: &[Square]| {
            let names: Vec<_> = squares.iter().map(|&s| square_name(position.variant(), s)).collect();
            names.join("x")
        };
        for m in &all {
            let text = moves::format(&position, m, &all);
            prop_assert_eq!(moves::find(&position, &text, &all), Ok(m), "{}", text);
            if !m.is_capture() {
                continue;
            }
            for route in &m.routes {
                prop_assert_eq!(moves::find(&position, &join(route), &all), Ok(m), "{}", text);
            }
            let taken: Vec<_> = [m.from, m.to].into_iter().chain(Square::of(m.captured)).collect();
            let ends = |m: &Move| (m.from, m.to, m.captured);
            let twins = all.iter().filter(|o| ends(o) == ends(m)).count();
            if twins == 1 {
                prop_assert_eq!(moves::find(&position, &join(&taken), &all), Ok(m), "{}", text);
            }
        }
    }

    #[test]
    fn move_of_any_text(position in any_position(12), text in any_text("0-9a-jKx:!?* -")) {
        let all = legal_moves(&position);
        if let Ok(m) = moves::find(&position, &text, &all) {
            prop_assert!(all.contains(m));
        }
    }
}

/// Published test positions and moves are read, and written as they stand there.
#[test]
fn published_positions_and_moves() {
    for row in rows("rule_cases.csv") {
        let variant: Variant = row[0].parse().expect("a variant");
        let position = fen::parse(variant, &row[1]).expect("a position");
        let all = legal_moves(&position);
        let mut written: Vec<_> = all
            .iter()
            .map(|m| moves::format(&position, m, &all))
            .collect();
        let mut listed: Vec<_> = row[2].split_whitespace().collect();
        written.sort();
        listed.sort_unstable();
        assert_eq!(written, listed, "{}", &row[1]);
    }
    for row in rows("random_endgame_perft.csv") {
        let variant: Variant = row[0].parse().expect("a variant");
        let position = fen::parse(variant, &row[1]).unwrap_or_else(|e| panic!("{e}"));
        let moves = row[2].split_whitespace().next().expect("a count");
        assert_eq!(
            legal_moves(&position).len().to_string(),
            moves,
            "{}",
            &row[1]
        );
    }
}
