//! The slow, obviously right move generator.
//!
//! It is the rule sheet (`docs/RULES.md`, sections 0 to 2) written down as a walk over the board
//! from cell to cell, with the [`RuleSet`] read at run time. It shares nothing with the bitboard
//! generator, so that the two agreeing means something.
//!
//! A capture is explored as a graph. A *state* is where the capturing piece stands, how it came
//! there, and which pieces it has taken so far; the legal continuations depend on nothing else.
//! Routes that meet in one state are explored once from there, since on a crowded board the routes
//! of a flying king far outnumber the states. Every capture is played to its end; then the
//! variant's [`Choice`] is the maximum of a key over all ends.
//!
//! Cost: about a microsecond for a position with a few pieces. States can be exponentially many in
//! the number of pieces that can be taken: milliseconds on crowded boards met by chance, up to
//! seconds on boards full of kings arranged for the purpose in Frisian; tens of
//! seconds in Turkish for twice the pieces that a side can have.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Choice, Landing, Move, Promotion, Removal, RuleSet, Variant};
use crate::board::{ByColor, Color, Dir, Dirs, Piece, Position, Square};

/// Routes kept in one [`Move`]; of a capture that has more, the others are left out (no move ever
/// is). Real play stays far below.
pub const MAX_ROUTES: usize = 64;

/// All legal moves, one for each (from, to, captured set, promotion) with its routes, in the order
/// of these. No moves: the game is over, and [`Goal`](super::Goal) says who has won.
///
/// In Breakthrough the game is also over when the opponent's man has arrived.
pub fn legal_moves(position: &Position) -> Vec<Move> {
    let board = Mailbox::new(position);
    if !board.rules.has_kings() && position.kings(!position.side()) != 0 {
        return Vec::new();
    }
    let mut moves = board.captures();
    if moves.is_empty() {
        moves = board.quiet_moves();
    }
    moves.sort_by_key(|m| (m.from, m.to, m.captured, m.promotes));
    moves
}

/// The shape of a variant's board, found by coordinates.
struct Shape {
    /// The next playing square in each direction, none at the edge.
    next: Vec<[Option<Square>; 8]>,
    promotion_row: ByColor<u128>,
}

impl Shape {
    fn of(variant: Variant) -> &'static Shape {
        static SHAPES: LazyLock<Vec<Shape>> =
            LazyLock::new(|| Variant::ALL.iter().map(|&v| Shape::new(v)).collect());
        &SHAPES[variant as usize]
    }

    fn new(variant: Variant) -> Shape {
        let neighbour = |square: Square, d: Dir| {
            const COMPASS: [(i8, i8); 8] = [
                (1, 0),
                (1, 1),
                (0, 1),
                (-1, 1),
                (-1, 0),
                (-1, -1),
                (0, -1),
                (1, -1),
            ];
            let (up, right) = COMPASS[d];
            // Along rows and columns of a board of one colour every other cell is no square.
            let orthogonal = up == 0 || right == 0;
            let stride = if orthogonal && !variant.geometry().all_cells() {
                2
            } else {
                1
            };
            let (rank, file) = variant.cell(square);
            let rank = rank.checked_add_signed(stride * up)?;
            let file = file.checked_add_signed(stride * right)?;
            variant.square_at(rank, file)
        };
        let squares = (0..variant.squares()).map(Square::new);
        Shape {
            next: squares
                .map(|s| std::array::from_fn(|d| neighbour(s, d)))
                .collect(),
            promotion_row: ByColor(Color::BOTH.map(|c| variant.promotion_row(c))),
        }
    }
}

/// A position laid out square by square.
struct Mailbox {
    rules: &'static RuleSet,
    shape: &'static Shape,
    pieces: [Option<(Color, Piece)>; 72],
    own: u128,
    us: Color,
}

/// A point in the middle of a capture, or at its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    at: Square,
    /// What the capturing piece is now: a man may have been crowned on the way.
    piece: Piece,
    captured: u128,
    /// None before the first jump.
    last: Option<Jump>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Jump {
    direction: Dir,
    over: Square,
    /// The piece landed on the square immediately behind.
    right_behind: bool,
}

impl Mailbox {
    fn new(position: &Position) -> Mailbox {
        let mut pieces = [None; 72];
        for square in Square::of(position.occupied()) {
            pieces[square.index() as usize] = position.piece_at(square);
        }
        Mailbox {
            rules: position.variant().rules(),
            shape: Shape::of(position.variant()),
            pieces,
            own: position.pieces(position.side()),
            us: position.side(),
        }
    }

    fn next(&self, square: Square, d: Dir) -> Option<Square> {
        self.shape.next[square.index() as usize][d]
    }

    fn piece_at(&self, square: Square) -> Option<(Color, Piece)> {
        self.pieces[square.index() as usize]
    }

    fn is_king(&self, square: Square) -> bool {
        matches!(self.piece_at(square), Some((_, Piece::King)))
    }

    /// A man of the side to move has reached its promotion row.
    fn arrives(&self, piece: Piece, square: Square) -> bool {
        piece == Piece::Man && self.shape.promotion_row[self.us] & square.bit() != 0
    }

    /// The side to move's own pieces.
    fn movers(&self) -> impl Iterator<Item = (Square, Piece)> {
        Square::of(self.own).filter_map(|s| self.piece_at(s).map(|(_, piece)| (s, piece)))
    }

    /// Directions given for White, as seen by the side to move.
    fn ours(&self, dirs: Dirs) -> Dirs {
        match self.us {
            Color::White => dirs,
            Color::Black => dirs.reversed(),
        }
    }

    fn quiet_moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for (from, piece) in self.movers() {
            let (dirs, flying) = match piece {
                Piece::Man => (self.rules.man_moves, false),
                Piece::King => (self.rules.king_moves, self.rules.flying),
            };
            for d in self.ours(dirs).iter() {
                let mut at = from;
                while let Some(to) = self.next(at, d)
                    && self.piece_at(to).is_none()
                {
                    moves.push(Move {
                        from,
                        to,
                        captured: 0,
                        piece,
                        promotes: self.arrives(piece, to),
                        routes: vec![vec![from, to]],
                    });
                    if !flying {
                        break;
                    }
                    at = to;
                }
            }
        }
        moves
    }

    /// The captures that can follow in `state` of a move that began on `origin`: for each jump the
    /// states of all its landing squares. A jump straight on, which does not depend on where on
    /// the line the piece landed before, is listed only from the square right behind.
    fn jumps(&self, origin: Square, state: State) -> impl Iterator<Item = Vec<State>> + '_ {
        let dirs = match state.piece {
            Piece::Man => self.rules.man_captures,
            Piece::King => self.rules.king_captures,
        };
        let halted = self.rules.promotion == Promotion::Halt && self.arrives(state.piece, state.at);
        let dirs = if halted { Dirs::NONE } else { self.ours(dirs) };
        (0..8)
            .filter(move |&d| dirs.contains(d) && self.may_turn(state, d))
            .map(move |d| self.landings(origin, state, d))
            .filter(|landings| !landings.is_empty())
    }

    /// Whether the next jump may be in direction `d`.
    fn may_turn(&self, state: State, d: Dir) -> bool {
        let Some(last) = state.last else { return true };
        let (straight_on, about_face) = (d == last.direction, d == last.direction ^ 4);
        (last.right_behind || !straight_on) && (self.rules.may_reverse || !about_face)
    }

    /// What a jump in direction `d` can lead to; nothing if there is no such jump.
    fn landings(&self, origin: Square, state: State, d: Dir) -> Vec<State> {
        let rules = self.rules;
        let removed = match rules.removal {
            Removal::AtEnd => 0,
            Removal::AtOnce => state.captured,
        };
        // The square the move began on counts as empty.
        let is_empty =
            |s: Square| self.piece_at(s).is_none() || (removed | origin.bit()) & s.bit() != 0;
        let flying = rules.flying && state.piece == Piece::King;

        let mut ahead = self.next(state.at, d);
        while let Some(square) = ahead
            && flying
            && is_empty(square)
        {
            ahead = self.next(square, d);
        }
        let Some(over) = ahead else {
            return Vec::new();
        };
        let may_take = match self.piece_at(over) {
            None => false,
            Some((color, _)) if color == self.us || state.captured & over.bit() != 0 => false,
            Some((_, Piece::Man)) => true,
            Some((_, Piece::King)) => state.piece == Piece::King || rules.man_takes_king,
        };
        let mut landings = Vec::new();
        let mut behind = self.next(over, d);
        while let Some(at) = behind
            && may_take
            && is_empty(at)
        {
            let runs = rules.promotion == Promotion::Run && self.arrives(state.piece, at);
            landings.push(State {
                at,
                piece: if runs { Piece::King } else { state.piece },
                captured: state.captured | over.bit(),
                last: Some(Jump {
                    direction: d,
                    over,
                    right_behind: landings.is_empty(),
                }),
            });
            if !flying || rules.landing == Landing::Next {
                break;
            }
            behind = self.next(at, d);
        }
        landings
    }

    /// All captures the rule of choice allows.
    fn captures(&self) -> Vec<Move> {
        let graphs: Vec<CaptureGraph> = self
            .movers()
            .map(|(from, piece)| CaptureGraph::explore(self, from, piece))
            .collect();
        let ends = graphs
            .iter()
            .flat_map(|graph| graph.ends.iter().map(move |&end| (graph, end)));
        let keyed: Vec<_> = ends
            .map(|(graph, end)| (self.choice_key(graph, end), graph, end))
            .collect();
        let best = keyed.iter().map(|&(key, ..)| key).max();

        let mut moves: HashMap<(Square, Square, u128, bool), Move> = HashMap::new();
        for (key, graph, end) in keyed {
            let state = &graph.states[end];
            if Some(key) != best || !self.may_land(state) {
                continue;
            }
            let (from, piece) = (graph.states[0].at, graph.states[0].piece);
            let (to, captured) = (state.at, state.captured);
            let crowned_on_the_way = piece != state.piece;
            let promotes = crowned_on_the_way || self.arrives(piece, to);
            let m = moves
                .entry((from, to, captured, promotes))
                .or_insert_with(|| Move {
                    from,
                    to,
                    captured,
                    piece,
                    promotes,
                    routes: Vec::new(),
                });
            graph.collect_routes(end, &mut Vec::new(), &mut m.routes);
        }
        let mut moves: Vec<Move> = moves.into_values().collect();
        for m in &mut moves {
            m.routes.sort();
        }
        moves
    }

    /// What the rule of choice wants most, most important first: captures with the greatest key
    /// are legal.
    fn choice_key(&self, graph: &CaptureGraph, end: usize) -> [u128; 4] {
        let captured = graph.states[end].captured;
        let count = u128::from(captured.count_ones());
        let kings = Square::of(captured).filter(|&s| self.is_king(s)).count() as u128;
        let with_king = u128::from(graph.states[0].piece == Piece::King);
        match self.rules.choice {
            Choice::Free => [0; 4],
            Choice::Most => [count, 0, 0, 0],
            Choice::MostThenKings => [count, kings, 0, 0],
            Choice::Value => [100 * (count - kings) + 199 * kings, with_king, 0, 0],
            Choice::Italian => [count, with_king, kings, graph.kings_met[end]],
            Choice::KingFirst => [with_king, 0, 0, 0],
        }
    }

    /// Killer: after a king taken last, a king stops on the square right behind it.
    fn may_land(&self, end: &State) -> bool {
        let far_behind_king = end.piece == Piece::King
            && end
                .last
                .is_some_and(|last| !last.right_behind && self.is_king(last.over));
        self.rules.landing != Landing::NextAfterKing || !far_behind_king
    }
}

/// All captures of one piece.
struct CaptureGraph {
    /// The first is the state before the capture; numbers of captured pieces never fall.
    states: Vec<State>,
    /// For each state those from which one jump leads to it.
    before: Vec<Vec<usize>>,
    /// States in which nothing more can be taken.
    ends: Vec<usize>,
    /// Italian only, else zero: for each state the jumps that led to it as a binary number, a king
    /// taken being 1. The greatest of all routes counts, the one that meets kings earliest, and
    /// `before` keeps only the states on such routes.
    kings_met: Vec<u128>,
}

impl CaptureGraph {
    fn explore(board: &Mailbox, origin: Square, piece: Piece) -> CaptureGraph {
        let start = State {
            at: origin,
            piece,
            captured: 0,
            last: None,
        };
        let mut graph = CaptureGraph {
            states: vec![start],
            before: vec![Vec::new()],
            ends: Vec::new(),
            kings_met: vec![0],
        };
        let mut known: HashMap<State, usize> = HashMap::new();
        let mut current = 0;
        // Breadth first: when it is a state's turn, all that lead to it have had theirs.
        while current < graph.states.len() {
            let mut is_end = current > 0;
            for landings in board.jumps(origin, graph.states[current]) {
                is_end = false;
                // If the capture can go on from some of the landing squares, one of those must be
                // chosen.
                let (going_on, done): (Vec<State>, Vec<State>) = landings
                    .into_iter()
                    .partition(|&s| board.jumps(origin, s).next().is_some());
                let landings = if going_on.is_empty() { done } else { going_on };
                for state in landings {
                    let next = *known.entry(state).or_insert_with(|| graph.add(state));
                    let met = match state.last {
                        Some(jump) if board.rules.choice == Choice::Italian => {
                            2 * graph.kings_met[current] + u128::from(board.is_king(jump.over))
                        }
                        _ => 0,
                    };
                    if met > graph.kings_met[next] {
                        graph.kings_met[next] = met;
                        graph.before[next].clear();
                    }
                    if met == graph.kings_met[next] {
                        graph.before[next].push(current);
                    }
                }
            }
            if is_end {
                graph.ends.push(current);
            }
            current += 1;
        }
        graph
    }

    fn add(&mut self, state: State) -> usize {
        self.states.push(state);
        self.before.push(Vec::new());
        self.kings_met.push(0);
        self.states.len() - 1
    }

    /// The squares stood on by every route to a state, followed by those in `rest` (last first);
    /// stops at [`MAX_ROUTES`].
    fn collect_routes(&self, state: usize, rest: &mut Vec<Square>, routes: &mut Vec<Vec<Square>>) {
        rest.push(self.states[state].at);
        if state == 0 && routes.len() < MAX_ROUTES {
            routes.push(rest.iter().rev().copied().collect());
        }
        for &before in &self.before[state] {
            if routes.len() < MAX_ROUTES {
                self.collect_routes(before, rest, routes);
            }
        }
        rest.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
