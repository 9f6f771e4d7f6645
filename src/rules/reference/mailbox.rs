use std::sync::LazyLock;

use super::captures::{Jump, State};
use crate::board::{ByColor, Color, Dir, Dirs, Piece, Position, Square};
use crate::rules::{Landing, Move, Promotion, Removal, RuleSet, Variant};

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
pub(super) struct Mailbox {
    pub rules: &'static RuleSet,
    shape: &'static Shape,
    pieces: [Option<(Color, Piece)>; 72],
    own: u128,
    us: Color,
}

impl Mailbox {
    pub fn new(position: &Position) -> Mailbox {
        let mut pieces = [None; 72];
        for color in Color::BOTH {
            for square in Square::of(position.men(color)) {
                pieces[usize::from(square.index())] = Some((color, Piece::Man));
            }
            for square in Square::of(position.kings(color)) {
                pieces[usize::from(square.index())] = Some((color, Piece::King));
            }
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
        self.shape.next[usize::from(square.index())][d]
    }

    fn piece_at(&self, square: Square) -> Option<(Color, Piece)> {
        self.pieces[usize::from(square.index())]
    }

    pub fn is_king(&self, square: Square) -> bool {
        matches!(self.piece_at(square), Some((_, Piece::King)))
    }

    /// A man of the side to move has reached its promotion row.
    pub fn arrives(&self, piece: Piece, square: Square) -> bool {
        piece == Piece::Man && self.shape.promotion_row[self.us] & square.bit() != 0
    }

    /// The side to move's own pieces.
    pub fn movers(&self) -> impl Iterator<Item = (Square, Piece)> {
        Square::of(self.own).filter_map(|s| self.piece_at(s).map(|(_, piece)| (s, piece)))
    }

    /// Directions given for White, as seen by the side to move.
    fn ours(&self, dirs: Dirs) -> Dirs {
        match self.us {
            Color::White => dirs,
            Color::Black => dirs.reversed(),
        }
    }

    /// Appends all quiet moves, without routes.
    pub fn quiet_moves(&self, moves: &mut Vec<Move>) {
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
                        routes: Vec::new(),
                    });
                    if !flying {
                        break;
                    }
                    at = to;
                }
            }
        }
    }

    /// Whether another jump can follow in `state`.
    pub fn can_jump(&self, state: &State) -> bool {
        self.jumps(state).next().is_some()
    }

    /// The jumps that can follow in `state`, each as its direction and the piece taken. A jump
    /// straight on, which does not depend on where on the line the piece landed before, is listed
    /// only from the square right behind.
    pub fn jumps(&self, state: &State) -> impl Iterator<Item = (Dir, Square)> {
        let dirs = match state.piece {
            Piece::Man => self.rules.man_captures,
            Piece::King => self.rules.king_captures,
        };
        let halted = self.rules.promotion == Promotion::Halt && self.arrives(state.piece, state.at);
        let dirs = if halted { Dirs::NONE } else { self.ours(dirs) };
        dirs.iter()
            .filter(|&d| self.may_turn(state, d))
            .filter_map(|d| self.victim(state, d).map(|over| (d, over)))
    }

    /// Whether the next jump may be in direction `d`.
    fn may_turn(&self, state: &State, d: Dir) -> bool {
        let Some(last) = state.last else { return true };
        let (straight_on, about_face) = (d == last.direction, d == last.direction ^ 4);
        (last.right_behind || !straight_on) && (self.rules.may_reverse || !about_face)
    }

    /// The piece that a jump in direction `d` takes, if there is such a jump.
    fn victim(&self, state: &State, d: Dir) -> Option<Square> {
        let mut over = self.next(state.at, d)?;
        while self.is_flying(state) && self.is_empty(state, over) {
            over = self.next(over, d)?;
        }
        let (color, piece) = self.piece_at(over)?;
        let may_take = color != self.us
            && state.captured & over.bit() == 0
            && (piece == Piece::Man || state.piece == Piece::King || self.rules.man_takes_king);
        let behind = self.next(over, d)?;
        (may_take && self.is_empty(state, behind)).then_some(over)
    }

    /// What a jump over a piece it can take leads to: a state for each landing square.
    pub fn landings(&self, state: State, d: Dir, over: Square) -> impl Iterator<Item = State> {
        let far = self.is_flying(&state) && self.rules.landing != Landing::Next;
        let mut ahead = self.next(over, d);
        let mut right_behind = true;
        std::iter::from_fn(move || {
            let at = ahead.filter(|&square| self.is_empty(&state, square))?;
            let runs = self.rules.promotion == Promotion::Run && self.arrives(state.piece, at);
            let landed = State {
                at,
                piece: if runs { Piece::King } else { state.piece },
                captured: state.captured | over.bit(),
                last: Some(Jump {
                    direction: d,
                    over,
                    right_behind,
                }),
                ..state
            };
            ahead = if far { self.next(at, d) } else { None };
            right_behind = false;
            Some(landed)
        })
    }

    fn is_flying(&self, state: &State) -> bool {
        self.rules.flying && state.piece == Piece::King
    }

    /// Whether the capturing piece may pass a square. The one its move began on counts as empty.
    fn is_empty(&self, state: &State, square: Square) -> bool {
        let removed = match self.rules.removal {
            Removal::AtEnd => 0,
            Removal::AtOnce => state.captured,
        };
        self.piece_at(square).is_none() || square == state.origin || removed & square.bit() != 0
    }
}
