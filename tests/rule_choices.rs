//! One small position for each point on which variants differ, worked out by hand from the rule
//! sheet (`docs/RULES.md`).

use crownhead::notation::{fen, moves};
use crownhead::rules::Variant;
use crownhead::rules::reference::legal_moves;

#[track_caller]
fn has_moves(variant: &str, text: &str, expected: &[&str]) {
    let position = fen::parse(variant.parse::<Variant>().unwrap(), text).unwrap();
    let legal = legal_moves(&position);
    let mut found: Vec<String> = legal
        .iter()
        .map(|m| moves::format(&position, m, &legal))
        .collect();
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(found, expected, "{variant} {text}");
}

#[test]
fn a_man_that_reaches_the_last_row_in_a_capture() {
    // A second piece can be taken from there, backwards.
    let text = "W:W9:B6,7";
    has_moves("english", text, &["9x2"]);
    has_moves("czech", text, &["b6xd8"]);
    has_moves("pool", text, &["9x11"]);
    has_moves("brazilian", text, &["b6xf6"]);
    has_moves("russian", text, &["b6:f6", "b6:g5", "b6:h4"]);
    has_moves("breakthrough", "W:W12:B8,9", &["12x14"]);
    // Turkish: sideways, as a man.
    has_moves("turkish", "W:Wc6:Bc7,d8,f8", &["c6xg8"]);
}

#[test]
fn turkish_men_take_sideways_and_nobody_turns_round() {
    has_moves("turkish", "W:Wd4:Be4,c4,f5", &["d4xf6"]);
    has_moves("turkish", "W:Wd4:Bc4,e4", &["d4xb4", "d4xf4"]);
    // A king, too, may not go back over b4 after taking e4.
    let one_each = ["c4xf4", "c4xg4", "c4xh4", "c4xa4"];
    has_moves("turkish", "W:WKc4:Be4,b4", &one_each);
    // A right angle is no turning round.
    has_moves("turkish", "W:WKd1:Bd3,d7,b5", &["d1xd8", "d1xa5"]);
}

#[test]
fn where_a_flying_king_lands() {
    has_moves("killer", "W:WK46:BK28", &["46x23"]);
    has_moves("killer", "W:WK46:B37,K19", &["46x14"]);
    let anywhere = ["46x23", "46x19", "46x14", "46x10", "46x5"];
    has_moves("killer", "W:WK46:B28", &anywhere);
    has_moves("international", "W:WK46:BK28", &anywhere);
    has_moves("killer", "W:W33:BK28", &["33x22"]);
    has_moves("thai", "W:WK29:B15", &["29x11"]);
    // Straight back, over the square of the piece that is gone.
    has_moves("thai", "W:WK22:B18,25", &["22x15", "22x29"]);
    // The capture must go on if it can from any of the landing squares.
    let past_both = ["a1:f6", "a1:g7", "a1:h8"];
    has_moves("russian", "W:WKa1:Bc3,e5", &past_both);
    has_moves("russian", "W:WKa1:Bc3,f2", &["a1:g1"]);
}

#[test]
fn which_capture_may_be_chosen() {
    // Czech: the man could take as many.
    let by_king = ["a1xf6", "a1xg7", "a1xh8"];
    has_moves("czech", "W:WKa1,h2:Bb2,g3,e5", &by_king);
    // Italian: two pieces each way; those with a king among them.
    let with_a_king = ["26x12", "26x28"];
    has_moves("italian", "W:WK26:B22,K15,K23,14", &with_a_king);
    has_moves("italian", "W:W22:BK18", &["22-19"]);
    // Frisian: a king is worth less than two men; along a row and a column.
    has_moves("frisian", "W:W28:B23,33", &["28x19", "28x39"]);
    has_moves("frisian", "W:W28:B27", &["28x26"]);
    has_moves("frisian", "W:W28:B18", &["28x8"]);
    has_moves("frisian", "W:W37,K50:BK32,44", &["50x31", "50x42"]);
}
