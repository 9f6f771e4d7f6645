//! Examples from rule texts, by name of square. Russian unless a test says otherwise.

mod common;

use common::{numbers, position, square};
use crownhead::board::{Position, Square};
use crownhead::rules::reference::legal_moves;
use crownhead::rules::{Move, Variant};

/// `a3-b4`, or `a3:c5 x b4` with the squares of the captured pieces from a to h and 1 to 8.
fn name(variant: Variant, m: &Move) -> String {
    let square = |s: Square| {
        let (rank, file) = variant.cell(s);
        format!("{}{}", (b'a' + file) as char, rank + 1)
    };
    let (from, to) = (square(m.from), square(m.to));
    if !m.is_capture() {
        return format!("{from}-{to}");
    }
    let mut captured: Vec<String> = Square::of(m.captured).map(square).collect();
    captured.sort();
    format!("{from}:{to} x {}", captured.join(" "))
}

fn names(position: &Position) -> Vec<String> {
    let moves = legal_moves(position);
    let mut names: Vec<String> = moves.iter().map(|m| name(position.variant(), m)).collect();
    names.sort();
    names
}

#[track_caller]
fn assert_moves(position: &Position, expected: &[&str]) {
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(names(position), expected);
}

fn russian(fen: &str) -> Position {
    position(Variant::Russian, fen)
}

/// The position after moves given as `c3-d4 a3:c5 e7:c5:a3`, each by squares of one of its routes
/// or by first and last alone.
#[track_caller]
fn play(start: Position, moves: &str) -> Position {
    moves.split_whitespace().fold(start, |position, text| {
        let squares: Vec<Square> = text
            .split([':', '-'])
            .map(|s| square(position.variant(), s))
            .collect();
        let (from, to) = (squares[0], squares[squares.len() - 1]);
        let legal = legal_moves(&position);
        let mut fits = legal.iter().filter(|m| {
            (m.from, m.to) == (from, to)
                && m.is_capture() == text.contains(':')
                && (squares.len() == 2 || m.routes.contains(&squares))
        });
        let found = fits.next().unwrap_or_else(|| {
            panic!("{text} is not among {:?}", names(&position));
        });
        assert!(fits.next().is_none(), "{text} is ambiguous");
        position.after(found)
    })
}

#[test]
fn starting_position() {
    let start = russian("start");
    let by_hand = "W:Wa1,c1,e1,g1,b2,d2,f2,h2,a3,c3,e3,g3:Bb8,d8,f8,h8,a7,c7,e7,g7,b6,d6,f6,h6";
    assert_eq!(start, russian(by_hand));
    let quiet = [
        "a3-b4", "c3-b4", "c3-d4", "e3-d4", "e3-f4", "g3-f4", "g3-h4",
    ];
    assert_moves(&start, &quiet);
}

#[test]
fn men_step_forward_and_are_crowned() {
    let white = russian("W:We7,d2,g1,h2:Bb2,g5");
    assert_moves(
        &white,
        &["d2-c3", "d2-e3", "e7-d8", "e7-f8", "g1-f2", "h2-g3"],
    );
    let crowned = legal_moves(&white).iter().filter(|m| m.promotes).count();
    assert_eq!(crowned, 2);
    let black = russian("B:We7,d2,g1,h2:Bb2,g5");
    assert_moves(&black, &["b2-a1", "b2-c1", "g5-f4", "g5-h4"]);
}

#[test]
fn routes_of_a_flying_king() {
    let before = russian("W:WKe1,c1,f2:BKh6,b6,e5,e7,g7");
    let after_man = play(before, "f2-e3");
    assert_moves(&after_man, &["h6:d2 x e3"]);
    let position = play(after_man, "h6:d2");
    assert_eq!(position, russian("W:WKe1,c1:BKd2,b6,e5,e7,g7"));
    let most = [
        "e1:a5 x b6 d2 e5 e7",
        "e1:h8 x b6 d2 e7 g7",
        "e1:d4 x b6 d2 e5 e7",
        "e1:c3 x b6 d2 e5 e7",
        "e1:b2 x b6 d2 e5 e7",
        "e1:a1 x b6 d2 e5 e7",
    ];
    let others = [
        "c1:e3 x d2",
        "e1:h8 x d2 e5 g7",
        "e1:h6 x d2 e7 g7",
        "e1:f4 x b6 d2 e5",
        "e1:g3 x b6 d2 e5",
        "e1:h2 x b6 d2 e5",
    ];
    assert_moves(&position, &[most, others].concat());
    for route in [
        "e1:c3:f6:h8",
        "e1:c3:f6:d8:a5",
        "e1:b4:f8:h6",
        "e1:a5:c7:f4",
    ] {
        play(position, route);
    }
    for route in ["e1:a5:d8:f6:h8", "e1:a5:d8:f6:d4", "e1:a5:d8:f6:a1"] {
        play(position, route);
    }
    // Majority rules leave the captures of four pieces.
    let brazilian = common::position(Variant::Brazilian, "W:WKe1,c1:BKd2,b6,e5,e7,g7");
    assert_moves(&brazilian, &most);
}

#[test]
fn a_recorded_game() {
    let game = "c3-d4 d6-c5 b2-c3 e7-d6 a1-b2 d6-e5 g3-h4 c5-b4 a3:c5 e5-f4 e3:e7 f8:b4 c3:a5 \
                h6-g5 h4:f6 g7:a1";
    let end = russian("W:Wc1,e1,g1,d2,f2,h2,a5:Bh8,d8,b8,c7,a7,b6,Ka1");
    assert_eq!(play(russian("start"), game), end);
}

#[test]
fn king_moves_stop_at_protected_pieces() {
    let position = russian("W:WKb2,Ke3:BKg3,b6,a7");
    let b2 = [
        "b2-a1", "b2-a3", "b2-c1", "b2-c3", "b2-d4", "b2-e5", "b2-f6", "b2-g7", "b2-h8",
    ];
    let e3 = [
        "e3-c1", "e3-c5", "e3-d2", "e3-d4", "e3-f2", "e3-f4", "e3-g1", "e3-g5", "e3-h6",
    ];
    assert_moves(&position, &[b2, e3].concat());
    let offered = play(position, "e3-c5");
    assert_moves(&offered, &["b6:d4 x c5"]);
    play(offered, "b6:d4 b2:e5:h2");
}

#[test]
fn a_king_given_for_three() {
    let position = play(russian("W:WKd4,a3:Bd2,d6,f6,g7"), "d4-c3");
    assert_moves(&position, &["d2:b4 x c3"]);
    let position = play(position, "d2:b4");
    assert_moves(&position, &["a3:g5 x b4 d6 f6"]);
    play(position, "a3:c5:e7:g5");
}

#[test]
fn a_man_has_a_choice_of_captures() {
    let position = play(russian("W:Wg3,h4:Be3,e5,e7"), "g3-f4");
    assert_moves(&position, &["e5:g3 x f4", "e3:g5 x f4"]);
    let position = play(position, "e3:g5");
    assert_moves(&position, &["h4:d8 x e7 g5", "h4:d4 x e5 g5"]);
}

#[test]
fn a_king_takes_five_in_a_round_trip() {
    let fen = "W:WKa3,Kb8,Kf8,b4:Bd6,e5,g5,e3,g3,Kh8";
    let five = [
        "f8:a1 x d6 e3 e5 g3 g5",
        "f8:b2 x d6 e3 e5 g3 g5",
        "f8:c3 x d6 e3 e5 g3 g5",
        "f8:d4 x d6 e3 e5 g3 g5",
    ];
    assert_moves(&russian(fen), &five);
    assert_moves(&position(Variant::Brazilian, fen), &five);
    let stopped = play(russian(fen), "f8:c5:f2:h4:f6:b2");
    assert!(
        names(&stopped)
            .iter()
            .all(|m| m.starts_with("h8:") && m.contains("b2"))
    );
    assert!(!names(&stopped).is_empty());
}

#[test]
fn a_new_king_waits_after_a_quiet_move() {
    let position = play(russian("W:We7:Bb6,c5,d2"), "e7-d8");
    let position = play(position, "d2-e1");
    assert!(names(&position).iter().all(|m| m.starts_with("d8:a5 x b6")));
    let position = play(position, "d8:a5 c5-b4");
    assert_moves(&position, &["a5:c3 x b4", "a5:d2 x b4"]);
    let won = play(position, "a5:c3 e1:a5");
    assert_eq!(won.occupied().count_ones(), 1);
}

#[test]
fn a_man_crowned_in_a_capture_flies_on() {
    let fen = "W:Wg3,h4:Be3,e7,b6,d2";
    let position = play(russian(fen), "g3-f4");
    assert_moves(&position, &["e3:g5 x f4"]);
    let position = play(position, "e3:g5");
    assert_moves(&position, &["h4:e1 x b6 d2 e7 g5"]);
    play(position, "h4:f6:d8:a5:e1");
    // Where a man is crowned only at the end of its move, the capture ends on d8.
    for variant in [Variant::Brazilian, Variant::Pool] {
        let start = common::position(variant, fen);
        assert_moves(&play(start, "g3-f4 e3:g5"), &["h4:d8 x e7 g5"]);
    }
}

#[test]
fn the_turkish_strike() {
    let position = russian("W:WKe1:Bc3,b6,d6,d4");
    // c3 stands behind d4 until the capture is over.
    assert!(names(&position).iter().all(|m| !m.contains("d4")));
    let position = play(position, "e1:a5:c7:e5");
    assert_moves(&position, &["d4:f6 x e5"]);
}

#[test]
fn a_piece_is_not_jumped_twice() {
    let fen = "W:WKb2:Bd4,e7,c7,f2,a5";
    assert_moves(&russian(fen), &["b2:b6 x c7 d4 e7", "b2:b8 x c7 d4"]);
    let shut = russian("W:WKb2:Bd4,e7,c7,f2,a5,b8");
    assert_moves(&shut, &["b2:b6 x c7 d4 e7"]);
    assert_moves(&play(shut, "b2:f6:d8:b6"), &["a5:c7 x b6"]);
}

#[test]
fn a_locked_king_has_no_move() {
    let start = russian("B:Wa3,b2,c1,e1:BKh2,a5");
    assert!(legal_moves(&start).iter().all(|m| !m.is_capture()));
    let offered = play(start, "h2-e5 b2-c3");
    assert_moves(&offered, &["e5:b2 x c3", "e5:a1 x c3"]);

    let corner = play(offered, "e5:a1 a3-b4");
    assert_moves(&corner, &["a5:c3 x b4"]);
    let corner = play(corner, "a5:c3 c1-b2");
    assert_moves(&corner, &["c3-d2"]);
    let corner = play(corner, "c3-d2");
    assert_moves(&corner, &["e1:c3 x d2"]);
    let locked = play(corner, "e1:c3");
    assert_eq!(locked, russian("B:Wb2,c3:BKa1"));
    assert_moves(&locked, &[]);

    let other = play(offered, "e5:b2 a3-b4 a5:c3");
    assert_moves(&other, &["c1:a3 x b2"]);
    assert_moves(&play(other, "c1:a3"), &["c3-d2", "c3-b2"]);
}

#[test]
fn choice_is_free() {
    let position = russian("W:Wh6,h4:Bg7,e7,c5,g5,d8,h8");
    let expected = [
        "h6:b4 x c5 e7 g7",
        "h6:a3 x c5 e7 g7",
        "h6:f4 x g5",
        "h4:f6 x g5",
    ];
    assert_moves(&position, &expected);
}

#[test]
fn a_man_crowned_in_a_capture_must_go_on() {
    let position = russian("W:Wh6:Bg7,c5,d2");
    assert_moves(&position, &["h6:e1 x c5 d2 g7"]);
    play(position, "h6:f8:b4:e1");
}

#[test]
fn captures_with_equal_ends_are_different_moves() {
    let position = position(Variant::English, "B:W23,22,15,14:B11,10");
    let moves = legal_moves(&position);
    let ends: Vec<String> = moves.iter().map(numbers).collect();
    assert_eq!(ends, ["10x26", "10x26", "11x25", "11x27"]);
    let taken = |m: &Move| {
        Square::of(m.captured)
            .map(Square::number)
            .collect::<Vec<_>>()
    };
    let mut taken: Vec<_> = moves[..2].iter().map(taken).collect();
    taken.sort();
    assert_eq!(taken, [[14, 22], [15, 23]]);
}
