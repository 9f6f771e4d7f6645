//! Notation round trips for random positions of every variant, and hostile text.

mod common;

use common::positions;
use crownhead::board::Position;
use crownhead::notation::{fen, hub};
use crownhead::rules::Variant;
use proptest::prelude::*;

fn any_variant() -> impl Strategy<Value = Variant> {
    prop::sample::select(Variant::ALL)
}

fn any_position(max_pieces: usize) -> impl Strategy<Value = Position> {
    any_variant().prop_flat_map(move |variant| positions(variant, max_pieces))
}

/// Arbitrary text, and text made of the characters that mean something.
fn any_text(meaningful: &'static str) -> impl Strategy<Value = String> {
    let pattern = format!("[{meaningful}]{{0,60}}");
    prop_oneof![
        any::<String>(),
        proptest::string::string_regex(&pattern).expect("a pattern"),
    ]
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
}
