#![no_main]
//! Arbitrary text as positions, moves and games.

use crownhead::board::Position;
use crownhead::notation::{fen, hub, moves, parse_position, pdn};
use crownhead::rules::Variant;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&first, text)) = input.split_first() else {
        return;
    };
    let variant = Variant::ALL[usize::from(first) % Variant::ALL.len()];
    let text = String::from_utf8_lossy(text);
    if let Ok(position) = fen::parse(variant, &text) {
        assert_eq!(fen::parse(variant, &fen::format(&position)), Ok(position));
    }
    if let Ok(position) = hub::parse(variant, &text) {
        assert_eq!(hub::parse(variant, &hub::format(&position)), Ok(position));
    }
    let _ = parse_position(variant, &text);
    let _ = moves::parse(&Position::start(variant), &text);
    if let Ok(games) = pdn::read(&text, None) {
        let again = pdn::read(&pdn::write(&games), None);
        assert_eq!(again.as_ref(), Ok(&games));
    }
});
