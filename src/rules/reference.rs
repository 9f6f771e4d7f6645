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
//! Cost: about a microsecond for a position with a few pieces.

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

    fn on_promotion_row(&self, square: Square) -> bool {
        self.shape.promotion_row[self.us] & square.bit() != 0
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
                        promotes: piece == Piece::Man && self.on_promotion_row(to),
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
    fn jumps(&self, origin: Square, state: &State) -> Vec<Vec<State>> {
        let rules = self.rules;
        // The square a move began on counts as empty.
        let removed = match rules.removal {
            Removal::AtEnd => origin.bit(),
            Removal::AtOnce => origin.bit() | state.captured,
        };
        let is_empty = |s: Square| self.piece_at(s).is_none() || removed & s.bit() != 0;
        let crowned = |piece, s| piece == Piece::Man && self.on_promotion_row(s);

        let mut jumps = Vec::new();
        if rules.promotion == Promotion::Halt && crowned(state.piece, state.at) {
            return jumps;
        }
        let (dirs, flying) = match state.piece {
            Piece::Man => (rules.man_captures, false),
            Piece::King => (rules.king_captures, rules.flying),
        };
        for d in self.ours(dirs).iter() {
            if let Some(last) = state.last {
                let straight_on = d == last.direction;
                let about_face = d == last.direction ^ 4;
                if straight_on && !last.right_behind || about_face && !rules.may_reverse {
                    continue;
                }
            }
            let mut ahead = self.next(state.at, d);
            while let Some(square) = ahead
                && flying
                && is_empty(square)
            {
                ahead = self.next(square, d);
            }
            let Some(over) = ahead else { continue };
            let may_take = match self.piece_at(over) {
                Some((color, taken)) => {
                    color != self.us
                        && state.captured & over.bit() == 0
                        && (taken == Piece::Man
                            || state.piece == Piece::King
                            || rules.man_takes_king)
                }
                None => false,
            };
            if !may_take {
                continue;
            }
            let mut landings = Vec::new();
            let mut behind = self.next(over, d);
            while let Some(at) = behind
                && is_empty(at)
            {
                let runs = rules.promotion == Promotion::Run && crowned(state.piece, at);
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
            if !landings.is_empty() {
                jumps.push(landings);
            }
        }
        jumps
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
            let promotes =
                piece == Piece::Man && (state.piece == Piece::King || self.on_promotion_row(to));
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
            let jumps = board.jumps(origin, &graph.states[current]);
            if jumps.is_empty() && current > 0 {
                graph.ends.push(current);
            }
            for mut landings in jumps {
                // If the capture can go on from some of the landing squares, one of those must be
                // chosen.
                let goes_on = |s: &State| !board.jumps(origin, s).is_empty();
                if landings.iter().any(goes_on) {
                    landings.retain(goes_on);
                }
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
