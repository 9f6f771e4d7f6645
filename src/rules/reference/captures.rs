use std::collections::HashMap;

use super::MAX_ROUTES;
use super::mailbox::Mailbox;
use crate::board::{Dir, Piece, Square};
use crate::rules::{Choice, Landing, Move};

/// A point in the middle of a capture, or at its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// Where the move began.
    pub origin: Square,
    pub at: Square,
    /// What the capturing piece is now: a man may have been crowned on the way.
    pub piece: Piece,
    pub captured: u128,
    /// None before the first jump.
    pub last: Option<Jump>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Jump {
    pub direction: Dir,
    pub over: Square,
    /// The piece landed on the square immediately behind.
    pub right_behind: bool,
}

/// All captures in a position, each played to its end.
#[derive(Default)]
pub(super) struct Captures {
    /// A graph for each piece that can capture, and some left over from other positions.
    graphs: Vec<CaptureGraph>,
    used: usize,
    ends: Vec<End>,
}

/// The end of a capture as a move.
struct End {
    /// See [`Captures::choice_key`].
    key: [u128; 4],
    from: Square,
    to: Square,
    captured: u128,
    piece: Piece,
    promotes: bool,
    graph: usize,
    state: usize,
}

impl Captures {
    /// Appends all captures that the rule of choice allows, in order; `routes` asks for these.
    pub fn list(&mut self, board: &Mailbox, routes: bool, moves: &mut Vec<Move>) {
        self.explore(board, routes);
        let best = self.ends.iter().map(|end| end.key).max();
        self.ends.retain(|end| {
            let state = &self.graphs[end.graph].nodes[end.state].state;
            Some(end.key) == best && may_land(board, state)
        });
        let place = |end: &End| (end.from, end.to, end.captured, end.promotes);
        self.ends.sort_by_key(place);
        for same in self.ends.chunk_by(|a, b| place(a) == place(b)) {
            let mut m = Move {
                from: same[0].from,
                to: same[0].to,
                captured: same[0].captured,
                piece: same[0].piece,
                promotes: same[0].promotes,
                routes: Vec::new(),
            };
            for end in same.iter().filter(|_| routes) {
                let graph = &self.graphs[end.graph];
                graph.collect_routes(end.state, &mut Vec::new(), &mut m.routes);
            }
            m.routes.sort();
            moves.push(m);
        }
    }

    fn explore(&mut self, board: &Mailbox, routes: bool) {
        self.ends.clear();
        self.used = 0;
        for (origin, piece) in board.movers() {
            let start = State {
                origin,
                at: origin,
                piece,
                captured: 0,
                last: None,
            };
            if !board.can_jump(&start) {
                continue;
            }
            if self.used == self.graphs.len() {
                self.graphs.push(CaptureGraph::default());
            }
            let graph = &mut self.graphs[self.used];
            graph.explore(board, start, routes);
            let ends = (0..graph.nodes.len()).filter(|&n| !graph.nodes[n].goes_on);
            self.ends.extend(ends.map(|number| {
                let State { at, captured, .. } = graph.nodes[number].state;
                let crowned_on_the_way = piece != graph.nodes[number].state.piece;
                End {
                    key: choice_key(board, piece, &graph.nodes[number]),
                    from: origin,
                    to: at,
                    captured,
                    piece,
                    promotes: crowned_on_the_way || board.arrives(piece, at),
                    graph: self.used,
                    state: number,
                }
            }));
            self.used += 1;
        }
    }
}

/// What the rule of choice wants most, most important first: captures with the greatest key are
/// legal. `piece` is what began the capture.
fn choice_key(board: &Mailbox, piece: Piece, end: &Node) -> [u128; 4] {
    let captured = end.state.captured;
    let count = u128::from(captured.count_ones());
    let kings = || Square::of(captured).filter(|&s| board.is_king(s)).count() as u128;
    let with_king = u128::from(piece == Piece::King);
    match board.rules.choice {
        Choice::Free => [0; 4],
        Choice::Most => [count, 0, 0, 0],
        Choice::MostThenKings => [count, kings(), 0, 0],
        Choice::Value => [100 * (count - kings()) + 199 * kings(), with_king, 0, 0],
        Choice::Italian => [count, with_king, kings(), end.kings_met],
        Choice::KingFirst => [with_king, 0, 0, 0],
    }
}

/// Killer: after a king taken last, a king stops on the square right behind it.
fn may_land(board: &Mailbox, end: &State) -> bool {
    let far_behind_king = end.piece == Piece::King
        && end
            .last
            .is_some_and(|last| !last.right_behind && board.is_king(last.over));
    board.rules.landing != Landing::NextAfterKing || !far_behind_king
}

/// All captures of one piece.
#[derive(Default)]
struct CaptureGraph {
    /// The first is the state before the capture; numbers of captured pieces never fall.
    nodes: Vec<Node>,
    /// The numbers of all states, once there are more than [`FEW`].
    known: HashMap<State, usize>,
    /// The landing squares of one jump, and whether the capture can go on from there.
    landings: Vec<(State, bool)>,
}

/// So many states are searched one by one.
const FEW: usize = 32;

struct Node {
    state: State,
    /// Something more can be taken.
    goes_on: bool,
    /// The states from which one jump leads to this one, where routes are asked for.
    before: Vec<usize>,
    /// Italian only, else zero: the jumps that led here as a binary number, a king taken being 1.
    /// The greatest of all routes counts, the one that meets kings earliest, and `before` keeps
    /// only the states on such routes.
    kings_met: u128,
}

impl CaptureGraph {
    fn explore(&mut self, board: &Mailbox, start: State, routes: bool) {
        self.nodes.clear();
        self.known.clear();
        self.add(start, true);
        let mut current = 0;
        // Breadth first: when it is a state's turn, all that lead to it have had theirs.
        while current < self.nodes.len() {
            let Node { state, goes_on, .. } = self.nodes[current];
            if goes_on {
                for (direction, over) in board.jumps(&state) {
                    self.land(board, current, direction, over, routes);
                }
            }
            current += 1;
        }
    }

    /// Adds what one jump leads to.
    fn land(&mut self, board: &Mailbox, from: usize, d: Dir, over: Square, routes: bool) {
        let met = match board.rules.choice {
            Choice::Italian => 2 * self.nodes[from].kings_met + u128::from(board.is_king(over)),
            _ => 0,
        };
        let mut landings = std::mem::take(&mut self.landings);
        let landed = board.landings(self.nodes[from].state, d, over);
        landings.extend(landed.map(|state| (state, board.can_jump(&state))));
        // If the capture can go on from some of the landing squares, one of those must be chosen.
        let must_go_on = landings.iter().any(|&(_, goes_on)| goes_on);
        for (state, goes_on) in landings.drain(..) {
            if goes_on != must_go_on {
                continue;
            }
            let number = self.find(&state);
            let number = number.unwrap_or_else(|| self.add(state, goes_on));
            let node = &mut self.nodes[number];
            if met > node.kings_met {
                node.kings_met = met;
                node.before.clear();
            }
            if met == node.kings_met && routes {
                node.before.push(from);
            }
        }
        self.landings = landings;
    }

    fn find(&self, state: &State) -> Option<usize> {
        if self.nodes.len() <= FEW {
            self.nodes.iter().position(|node| node.state == *state)
        } else {
            self.known.get(state).copied()
        }
    }

    fn add(&mut self, state: State, goes_on: bool) -> usize {
        self.nodes.push(Node {
            state,
            goes_on,
            before: Vec::new(),
            kings_met: 0,
        });
        if self.nodes.len() > FEW {
            let first = self.known.len();
            let unknown = self.nodes.iter().enumerate().skip(first);
            self.known
                .extend(unknown.map(|(number, node)| (node.state, number)));
        }
        self.nodes.len() - 1
    }

    /// The squares stood on by every route to a state, followed by those in `rest` (last first);
    /// stops at [`MAX_ROUTES`].
    fn collect_routes(&self, state: usize, rest: &mut Vec<Square>, routes: &mut Vec<Vec<Square>>) {
        rest.push(self.nodes[state].state.at);
        if state == 0 && routes.len() < MAX_ROUTES {
            routes.push(rest.iter().rev().copied().collect());
        }
        for &before in &self.nodes[state].before {
            if routes.len() < MAX_ROUTES {
                self.collect_routes(before, rest, routes);
            }
        }
        rest.pop();
    }
}
