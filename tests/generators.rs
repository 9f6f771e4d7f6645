//! The fast move generator against the slow one, and against itself, on random positions.

mod common;

use std::cell::RefCell;
use std::collections::BTreeSet;

use common::position;
use crownhead::board::{Board, ByColor, Color, Geometry, Piece, Position, PositionError, Square};
use crownhead::rules::movegen::{self, BoardMove, WordOf};
use crownhead::rules::reference::RuleSheet;
use crownhead::rules::{Rules, Variant, reference};
use crownhead::with_rules;
use proptest::prelude::*;

/// (from, to, captured, promotes, piece), all in squares of the variant.
type MoveKey = (u128, u128, u128, bool, Piece);

fn key<R: Rules>(variant: Variant, m: &BoardMove<WordOf<R>>) -> MoveKey {
    let squares = |set| variant.squares_of::<R::Geometry>(set);
    let piece = if m.king { Piece::King } else { Piece::Man };
    let (from, to, captured) = (squares(m.from), squares(m.to), squares(m.captured));
    (from, to, captured, m.promotes, piece)
}

/// The moves of the fast generator; each must be generated once.
fn fast_moves<R: Rules>(variant: Variant, board: &Board<R::Geometry>) -> BTreeSet<MoveKey> {
    let mut moves = BTreeSet::new();
    movegen::for_each_move::<R>(board, |m| {
        assert!(moves.insert(key::<R>(variant, &m)), "twice: {m:?}\n{board}");
    });
    moves
}

/// The moves of the slow generator, which gives the same ones when it keeps its memory and leaves
/// out routes.
fn slow_moves(position: &Position) -> BTreeSet<MoveKey> {
    thread_local! {
        static SHEET: RefCell<RuleSheet> = RefCell::default();
    }
    let mut legal = reference::legal_moves(position);
    assert!(legal.iter().all(|m| !m.routes.is_empty()));
    legal.iter_mut().for_each(|m| m.routes.clear());
    SHEET.with_borrow_mut(|sheet| {
        let mut moves = sheet.moves(position).to_vec();
        moves.sort_by_key(|m| (m.from, m.to, m.captured, m.promotes));
        assert_eq!(moves, legal);
    });
    let keys = legal.iter();
    keys.map(|m| (m.from.bit(), m.to.bit(), m.captured, m.promotes, m.piece))
        .collect()
}

fn agrees_with_reference<R: Rules>(position: &Position) -> Result<(), TestCaseError> {
    let variant = position.variant();
    let board: Board<R::Geometry> = position.to_board();
    let moves = fast_moves::<R>(variant, &board);
    prop_assert_eq!(&moves, &slow_moves(position), "{}\n{}", variant, board);

    let captures = moves.iter().filter(|m| m.2 != 0).count();
    let mut generated = 0;
    movegen::for_each_capture::<R>(&board, |_| generated += 1);
    prop_assert_eq!(generated, captures);
    prop_assert_eq!(movegen::has_capture::<R>(&board), captures > 0);
    prop_assert_eq!(movegen::has_move::<R>(&board), !moves.is_empty());
    prop_assert_eq!(movegen::count_moves::<R>(&board), moves.len() as u64);
    if captures == 0 {
        let mut quiet = 0;
        movegen::for_each_quiet::<R>(&board, |_| quiet += 1);
        prop_assert_eq!(quiet, moves.len());
    }
    Ok(())
}

fn moves_are_made_consistently<R: Rules>(position: &Position) -> Result<(), TestCaseError> {
    let board: Board<R::Geometry> = position.to_board();
    let us = board.side;
    let mut made = BTreeSet::new();
    let mut failure = Ok(());
    let mut check = |m: &BoardMove<WordOf<R>>| -> Result<(), TestCaseError> {
        use crownhead::board::Word;
        let after = movegen::apply::<R>(&board, m);
        made.insert(format!(
            "{:?}",
            Position::from_board(position.variant(), &after)
        ));
        let captured = m.captured.count_ones();
        prop_assert_eq!(after.side, !us);
        prop_assert_eq!(after.pieces(us), board.pieces(us) & !m.from | m.to);
        prop_assert_eq!(after.pieces(us).count_ones(), board.pieces(us).count_ones());
        prop_assert_eq!(board.pieces(!us) & m.captured, m.captured);
        prop_assert_eq!(after.pieces(!us), board.pieces(!us) & !m.captured);
        prop_assert_eq!(
            after.occupied().count_ones() + captured,
            board.occupied().count_ones()
        );
        prop_assert_eq!((after.men[us] & after.kings[us]).count_ones(), 0);
        let crowned = after.kings[us].count_ones() - board.kings[us].count_ones();
        prop_assert_eq!(crowned, u32::from(m.promotes));
        Ok(())
    };
    movegen::for_each_move::<R>(&board, |m| {
        if failure.is_ok() {
            failure = check(&m);
        }
    });
    failure?;
    let slow: BTreeSet<String> = reference::legal_moves(position)
        .iter()
        .map(|m| format!("{:?}", position.after(m)))
        .collect();
    prop_assert_eq!(made, slow);
    Ok(())
}

fn colours_are_symmetric<R: Rules>(position: &Position) -> Result<(), TestCaseError> {
    let variant = position.variant();
    let board: Board<R::Geometry> = position.to_board();
    let flipped = board.flipped();
    prop_assert_eq!(flipped.flipped(), board);
    let mut turned = BTreeSet::new();
    movegen::for_each_move::<R>(&board, |m| {
        let turned_move = BoardMove {
            from: R::Geometry::turn(m.from),
            to: R::Geometry::turn(m.to),
            captured: R::Geometry::turn(m.captured),
            ..m
        };
        turned.insert(key::<R>(variant, &turned_move));
    });
    prop_assert_eq!(fast_moves::<R>(variant, &flipped), turned);
    Ok(())
}

/// What a random board is made of: shares in percent.
#[derive(Clone, Copy, Debug)]
struct Mixture {
    occupied: u32,
    kings: u32,
    ours: u32,
    /// The opponent's pieces stand only where both coordinates are odd, so that much can be
    /// captured in one move; our pieces nowhere there.
    lattice: bool,
}

fn mixture() -> impl Strategy<Value = Mixture> {
    (0..=70u32, 0..=100u32, 5..=95u32, prop::bool::weighted(0.3)).prop_map(
        |(occupied, kings, ours, lattice)| Mixture {
            occupied,
            kings,
            ours,
            lattice,
        },
    )
}

/// A random position: a draw of three percentages for each square, read with a mixture. None if
/// there is no piece in it.
fn random_position(
    variant: Variant,
    mixture: Mixture,
    draws: &[(u32, u32, u32)],
    side: Color,
) -> Option<Position> {
    let mut men = ByColor::new(0, 0);
    let mut kings = ByColor::new(0, 0);
    let squares = (0..variant.squares()).map(Square::new);
    for (square, &(occupied, king, ours)) in squares.zip(draws) {
        let (rank, file) = variant.cell(square);
        let mut owner = if ours < mixture.ours { side } else { !side };
        let mut share = mixture.occupied;
        if mixture.lattice {
            owner = if rank % 2 == 1 && file % 2 == 1 {
                !side
            } else {
                side
            };
            // Few of ours, that the rest be free.
            share = if owner == side { share / 8 } else { share + 30 };
        }
        if occupied >= share {
            continue;
        }
        let has_kings = variant.rules().has_kings();
        if has_kings && king < mixture.kings {
            kings[owner] |= square.bit();
        } else if variant.promotion_row(owner) & square.bit() == 0 {
            men[owner] |= square.bit();
        }
    }
    match Position::new(variant, men, kings, side) {
        Err(PositionError::NoPieces) => None,
        position => Some(position.expect("legal by construction")),
    }
}

fn any_position() -> impl Strategy<Value = Position> {
    let percent = || 0..100u32;
    (
        prop::sample::select(Variant::ALL),
        mixture(),
        prop::collection::vec((percent(), percent(), percent()), 72),
        prop::sample::select(&Color::BOTH[..]),
    )
        .prop_filter_map("a piece", |(variant, mixture, draws, side)| {
            random_position(variant, mixture, &draws, side)
        })
}

/// Crowded boards found by climbing towards more work: the routes of their kings are beyond
/// counting, the states on the way are not.
#[test]
fn crowded_boards_end() {
    let crowded = [
        (
            Variant::Frisian,
            "W:WK37,K50:B4,11,14,18,20,21,25,27,28,30,31,33,38-41,44,K1,K6,K8,K13,K22,K36,K48",
        ),
        (
            Variant::Turkish,
            "W:WK5,K58:B3,9,10,13,22,24,26,28,33,35,38,40,47,49,51,54,56,K6,K19,K29,K31,K42,K44,K62",
        ),
        (
            Variant::Canadian,
            "W:WK39,K43,K71:B1,4,6,7,10-14,23,32,33,36,37,46-49,63,65,K15,K17,K24,K28,K34,K50,\
             K61,K62,K64",
        ),
    ];
    for (variant, fen) in crowded {
        let position = position(variant, fen);
        let fast = with_rules!(variant.rule_set(), R => {
            fast_moves::<R>(variant, &position.to_board::<<R as Rules>::Geometry>())
        });
        assert_eq!(fast, slow_moves(&position), "{variant} {fen}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fast_equals_slow(position in any_position()) {
        with_rules!(position.variant().rule_set(), R => agrees_with_reference::<R>(&position))?;
    }

    #[test]
    fn making_moves(position in any_position()) {
        with_rules!(position.variant().rule_set(), R => moves_are_made_consistently::<R>(&position))?;
    }

    #[test]
    fn colour_symmetry(position in any_position()) {
        with_rules!(position.variant().rule_set(), R => colours_are_symmetric::<R>(&position))?;
    }
}
