//! The slow, obviously right move generator.
//!
//! It is the rule sheet (`docs/RULES.md`, sections 0 to 2) written down as a walk over the board
//! from cell to cell, with the [`RuleSet`](super::RuleSet) read at run time: `mailbox.rs` says how
//! pieces move and jump, `captures.rs` plays captures to their ends and chooses among them. It
//! shares nothing with the bitboard generator, so that the two agreeing means something.
//!
//! A capture is explored as a graph. A *state* is where the capturing piece stands, how it came
//! there, and which pieces it has taken so far; the legal continuations depend on nothing else.
//! Routes that meet in one state are explored once from there, since on a crowded board the routes
//! of a flying king far outnumber the states. Every capture is played to its end; then the
//! variant's [`Choice`](super::Choice) is the maximum of a key over all ends.
//!
//! Cost: some tenths of a microsecond for a position with a few pieces, without routes. States can
//! be exponentially many in the number of pieces that can be taken: milliseconds on crowded boards
//! met by chance, up to seconds on boards full of kings arranged for the purpose in Frisian; tens
//! of seconds in Turkish for twice the pieces that a side can have.

mod captures;
mod mailbox;

use self::captures::Captures;
use self::mailbox::Mailbox;
use super::Move;
use crate::board::Position;

/// Routes kept in one [`Move`]; of a capture that has more, the others are left out (no move ever
/// is). Real play stays far below.
pub const MAX_ROUTES: usize = 64;

/// All legal moves, one for each (from, to, captured set, promotion) with its routes, in the order
/// of these. No moves: the game is over, and [`Goal`](super::Goal) says who has won.
///
/// In Breakthrough the game is also over when the opponent's man has arrived.
pub fn legal_moves(position: &Position) -> Vec<Move> {
    let mut sheet = RuleSheet::default();
    sheet.find(position, true);
    let mut moves = sheet.moves;
    for m in moves.iter_mut().filter(|m| !m.is_capture()) {
        m.routes.push(vec![m.from, m.to]);
    }
    moves.sort_by_key(|m| (m.from, m.to, m.captured, m.promotes));
    moves
}

/// The generator for those who go through many positions: it keeps its memory from one to the next
/// and leaves out routes.
#[derive(Default)]
pub struct RuleSheet {
    captures: Captures,
    moves: Vec<Move>,
}

impl RuleSheet {
    /// The moves of [`legal_moves`] without their routes, in no particular order.
    pub fn moves(&mut self, position: &Position) -> &[Move] {
        self.find(position, false);
        &self.moves
    }

    fn find(&mut self, position: &Position, routes: bool) {
        self.moves.clear();
        let board = Mailbox::new(position);
        let arrived = position.kings(!position.side()) != 0;
        if !board.rules.has_kings() && arrived {
            return;
        }
        self.captures.list(&board, routes, &mut self.moves);
        if self.moves.is_empty() {
            board.quiet_moves(&mut self.moves);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{ByColor, Color, Square};
    use crate::rules::Variant;

    fn position(variant: Variant, white: [&[u8]; 2], black: [&[u8]; 2], side: Color) -> Position {
        let set = |numbers: &[u8]| numbers.iter().fold(0, |s, n| s | Square::new(n - 1).bit());
        let men = ByColor::new(set(white[0]), set(black[0]));
        let kings = ByColor::new(set(white[1]), set(black[1]));
        Position::new(variant, men, kings, side).unwrap()
    }

    fn ends(position: &Position) -> Vec<(u8, u8)> {
        let moves = legal_moves(position);
        let ends = moves.iter().map(|m| (m.from.number(), m.to.number()));
        ends.collect()
    }

    #[test]
    fn side_without_pieces_has_no_move() {
        for &variant in Variant::ALL {
            let piece = variant.squares() / 2;
            for side in Color::BOTH {
                let mut sides = [[&[piece][..], &[]], [&[][..], &[]]];
                sides.rotate_left((side == Color::White).into());
                let position = position(variant, sides[0], sides[1], side);
                assert_eq!(legal_moves(&position), [], "{variant}");
                assert!(!legal_moves(&position.with_side(!side)).is_empty());
            }
        }
    }

    #[test]
    fn arrival_ends_a_breakthrough_game() {
        let start = position(
            Variant::Breakthrough,
            [&[8, 40], &[]],
            [&[30], &[]],
            Color::White,
        );
        let arrival = &legal_moves(&start)[0];
        assert_eq!((arrival.from.number(), arrival.promotes), (8, true));
        assert_eq!(legal_moves(&start.after(arrival)), []);
    }

    #[test]
    fn turkish_man_goes_on_as_a_man_and_is_crowned_at_the_end() {
        // From c6 over c7 to c8, then sideways over d8 to e8.
        let at = |file: u8, rank: u8| (8 - rank) * 8 + file - b'a' + 1;
        let (from, over, top) = (at(b'c', 6), at(b'c', 7), at(b'd', 8));
        let start = position(
            Variant::Turkish,
            [&[from], &[]],
            [&[over], &[top, at(b'e', 5)]],
            Color::White,
        );
        let moves = legal_moves(&start);
        assert_eq!(ends(&start), [(from, at(b'e', 8))]);
        assert!(moves[0].promotes && moves[0].captured.count_ones() == 2);
    }

    #[test]
    fn turkish_king_may_not_turn_about() {
        let at = |file: u8, rank: u8| (8 - rank) * 8 + file - b'a' + 1;
        // From d4 over f4 one could only come back over b4.
        let king = [at(b'd', 4)];
        let start = position(
            Variant::Turkish,
            [&[], &king],
            [&[at(b'f', 4), at(b'b', 4)], &[]],
            Color::White,
        );
        let moves = legal_moves(&start);
        assert_eq!(moves.len(), 3, "two squares behind f4, one behind b4");
        assert!(moves.iter().all(|m| m.captured.count_ones() == 1));
    }

    #[test]
    fn killer_king_stops_right_behind_a_king_taken_last() {
        let over_king = |variant| position(variant, [&[], &[46]], [&[], &[37]], Color::White);
        assert_eq!(ends(&over_king(Variant::Killer)), [(46, 32)]);
        assert_eq!(ends(&over_king(Variant::International)).len(), 7);
        let over_man = position(Variant::Killer, [&[], &[46]], [&[37], &[]], Color::White);
        assert_eq!(ends(&over_man).len(), 7);
    }

    #[test]
    fn frisian_values_kings_and_prefers_capturing_with_them() {
        // The man on 38 and the king on 26 can each take one man: the king must.
        let tie = position(
            Variant::Frisian,
            [&[38], &[26]],
            [&[33, 21], &[]],
            Color::White,
        );
        assert!(!ends(&tie).is_empty());
        assert!(ends(&tie).iter().all(|&(from, _)| from == 26));
        // A man jumps along a column: from 38 over 28 to 18.
        let column = position(Variant::Frisian, [&[38], &[]], [&[28], &[]], Color::White);
        assert_eq!(ends(&column), [(38, 18)]);
    }

    #[test]
    fn a_crowded_board_is_no_trap() {
        // Black kings on every second square of every second rank, a white king among them.
        let variant = Variant::Canadian;
        let cells = (0..6).flat_map(|r| (0..6).map(move |f| (2 * r + 1, 2 * f + 1)));
        let inner = cells.filter(|&(r, f)| r < 11 && f < 11);
        let kings = inner.filter_map(|(r, f)| variant.square_at(r, f));
        let black = kings.fold(0, |set, s| set | s.bit());
        let white = variant.square_at(0, 0).unwrap().bit();
        let kings = ByColor::new(white, black);
        let start = Position::new(variant, ByColor::default(), kings, Color::White).unwrap();
        let moves = legal_moves(&start);
        assert!(!moves.is_empty());
        let taken = moves[0].captured.count_ones();
        assert!(taken > 15 && moves.iter().all(|m| m.captured.count_ones() == taken));
        assert!(
            moves
                .iter()
                .all(|m| (1..=MAX_ROUTES).contains(&m.routes.len()))
        );
    }
}
