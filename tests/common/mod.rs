//! What several test programs share: positions from FEN and at random, moves as text, perft, rows
//! of test data, tables made on the spot.
#![allow(dead_code, reason = "each test program uses a part")]

use std::fs::File;
use std::path::Path;

use crownhead::board::{ByColor, Color, Position, Square};
use crownhead::rules::{Move, RuleSetId, Variant};
use crownhead::solve::{Plan, Settings, generate, solver};
use crownhead::table::{Metric, Profile};
use proptest::prelude::*;

/// Reads the FENs of the test data: `W:WK4,e3:B12-20`, squares numeric or algebraic.
pub fn position(variant: Variant, fen: &str) -> Position {
    if fen == "start" {
        return Position::start(variant);
    }
    let mut parts = fen.split(':');
    let side = color(parts.next().expect("a side to move"));
    let mut men = ByColor::new(0, 0);
    let mut kings = ByColor::new(0, 0);
    for part in parts {
        let owner = color(&part[..1]);
        for entry in part[1..].split(',').filter(|e| !e.is_empty()) {
            let (set, squares) = match entry.strip_prefix('K') {
                Some(squares) => (&mut kings[owner], squares),
                None => (&mut men[owner], entry),
            };
            let (first, last) = squares.split_once('-').unwrap_or((squares, squares));
            for index in square(variant, first).index()..=square(variant, last).index() {
                *set |= Square::new(index).bit();
            }
        }
    }
    Position::new(variant, men, kings, side).unwrap_or_else(|e| panic!("{fen}: {e}"))
}

fn color(letter: &str) -> Color {
    match letter {
        "W" => Color::White,
        "B" => Color::Black,
        _ => panic!("no side: {letter}"),
    }
}

/// A square by its number or, as `c3`, by file and rank.
pub fn square(variant: Variant, text: &str) -> Square {
    match text.parse::<u8>() {
        Ok(number) => Square::new(number - 1),
        Err(_) => {
            let bytes = text.as_bytes();
            variant
                .square_at(bytes[1] - b'1', bytes[0] - b'a')
                .unwrap_or_else(|| panic!("no square of {variant}: {text}"))
        }
    }
}

/// The `from-to` or `fromxto` of a move in numbers.
pub fn numbers(m: &Move) -> String {
    let sign = if m.is_capture() { 'x' } else { '-' };
    format!("{}{sign}{}", m.from.number(), m.to.number())
}

/// The number of sequences of `depth` moves.
pub fn perft(position: &Position, depth: u32, moves: &impl Fn(&Position) -> Vec<Move>) -> u64 {
    let moves_here = moves(position);
    if depth <= 1 {
        return moves_here.len() as u64;
    }
    moves_here
        .iter()
        .map(|m| perft(&position.after(m), depth - 1, moves))
        .sum()
}

/// The rows of a file in `tests/data`, without its header.
pub fn rows(name: &str) -> Vec<csv::StringRecord> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    csv::Reader::from_reader(file)
        .records()
        .collect::<Result<_, _>>()
        .unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Makes the tables of all metrics of up to so many pieces.
pub fn generate_into(directory: &Path, rule_set: RuleSetId, pieces: usize, profile: Profile) {
    generate_metrics(directory, rule_set, pieces, profile, &Metric::ALL);
}

/// Tables of some metrics.
pub fn generate_metrics(
    directory: &Path,
    rule_set: RuleSetId,
    pieces: usize,
    profile: Profile,
    metrics: &[Metric],
) {
    let settings = Settings {
        tables: directory.to_owned(),
        metrics: metrics.to_vec(),
        memory: None,
        profile,
    };
    let plan = Plan::complete(rule_set, pieces);
    let mut solver = solver(rule_set, &settings.metrics, None);
    generate(&plan, &mut *solver, &settings, &|_| ()).unwrap();
}

pub fn any_variant() -> impl Strategy<Value = Variant> {
    prop::sample::select(Variant::ALL)
}

/// Arbitrary text, and text made of the characters that mean something (as in a class of a
/// regular expression).
pub fn any_text(meaningful: &'static str) -> impl Strategy<Value = String> {
    let pattern = format!("[{meaningful}]{{0,60}}");
    let meaningful = prop::string::string_regex(&pattern).expect("a pattern");
    prop_oneof![any::<String>(), meaningful]
}

/// Random positions of a variant with 1 to `max_pieces` pieces, either side to move, men and
/// kings of both colours anywhere they may stand (one side may be without pieces).
pub fn positions(variant: Variant, max_pieces: usize) -> impl Strategy<Value = Position> {
    let most = max_pieces.clamp(1, usize::from(variant.squares()));
    let pieces = prop::collection::btree_map(
        0..variant.squares(),
        (any::<bool>(), prop::bool::weighted(0.4)),
        1..=most,
    );
    (pieces, any::<bool>()).prop_map(move |(pieces, white_to_move)| {
        let mut men = ByColor::<u128>::default();
        let mut kings = ByColor::<u128>::default();
        for (index, (white, king)) in pieces {
            let bit = Square::new(index).bit();
            let color = side(white);
            if variant.rules().has_kings() && (king || variant.promotion_row(color) & bit != 0) {
                kings[color] |= bit;
            } else if variant.promotion_row(color) & bit != 0 {
                men[!color] |= bit;
            } else {
                men[color] |= bit;
            }
        }
        Position::new(variant, men, kings, side(white_to_move))
            .expect("every piece may stand there")
    })
}

fn side(white: bool) -> Color {
    if white { Color::White } else { Color::Black }
}
