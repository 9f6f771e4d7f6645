//! The reference solver: slow, plain, and what faster ones are tested against.
//!
//! It solves whole slices at once, in an order in which captures and promotions lead to slices
//! solved before. The moves of every position are made once and kept; then distances are counted
//! up ply by ply. What is decided in ply `n` follows from what was decided before it and from
//! nothing else, so a value never rests on itself.
//!
//! Cost: eight bytes for every move of the slice being solved, four microseconds for a position;
//! meant for two to four pieces.

use std::collections::HashMap;

use crate::board::{Board, ByColor, Color, Geometry, Position, Word};
use crate::index::{Slice, SliceIndex};
use crate::rules::movegen::{apply, for_each_move};
use crate::rules::reference::legal_moves;
use crate::rules::{Goal, Rules, Variant};
use crate::table::{Metric, SliceValues, Wdl};

/// What is known of a position, for the side to move. Distances are in plies and mean nothing for
/// a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    pub result: Wdl,
    /// Distance to conversion: a capture or a man's move.
    pub dtc: u16,
    /// Distance to the end of the game.
    pub dtw: u16,
}

impl Value {
    /// Of a position in which the side to move has no legal move.
    fn no_move<R: Rules>() -> Value {
        Value {
            result: match R::SET.goal {
                Goal::Normal => Wdl::Loss,
                Goal::Reversed => Wdl::Win,
            },
            dtc: 0,
            dtw: 0,
        }
    }
}

/// Where a legal move leads, and whether it converts.
pub type Successor<G> = (Board<G>, bool);

/// Lists the legal moves of a position.
pub type Generator<G> = fn(&Board<G>) -> Vec<Successor<G>>;

/// The moves by the fast generator.
pub fn by_bitboards<R: Rules>(board: &Board<R::Geometry>) -> Vec<Successor<R::Geometry>> {
    let mut moves = Vec::new();
    for_each_move::<R>(board, |m| {
        moves.push((apply::<R>(board, &m), m.is_conversion()))
    });
    moves
}

/// The moves by the slow generator, for a solver that shares nothing with the fast one.
///
/// # Panics
/// If no variant has the rule set; every one in the list has.
pub fn by_mailbox<R: Rules>(board: &Board<R::Geometry>) -> Vec<Successor<R::Geometry>> {
    let variant = Variant::ALL.iter().find(|v| v.rule_set() == R::ID);
    let variant = variant.expect("every rule set is some variant's");
    let position = Position::from_board(*variant, board);
    let moves = legal_moves(&position).into_iter();
    moves
        .map(|m| (position.after(&m).to_board(), m.is_conversion()))
        .collect()
}

/// All slices of a rule set up to some number of pieces, solved.
pub struct Solved<R: Rules> {
    pub(super) slices: HashMap<Slice, Values<R::Geometry>>,
}

/// The values of all positions of a canonical slice.
pub struct Values<G: Geometry> {
    pub(super) index: SliceIndex<G>,
    pub(super) values: ByColor<Vec<Value>>,
}

impl<R: Rules> Solved<R> {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Solved {
            slices: HashMap::new(),
        }
    }

    /// Solves all slices of up to `pieces` pieces (at most [`MAX_PIECES`](crate::index::MAX_PIECES),
    /// though memory ends long before).
    pub fn up_to(pieces: usize, moves: Generator<R::Geometry>) -> Self {
        let mut solved = Solved::new();
        for pieces in 2..=pieces {
            // Listed so that promotions lead to slices before.
            for slice in Slice::all_canonical(pieces, R::SET.has_kings()) {
                let values = solved.solve(slice, moves);
                solved.slices.insert(slice, values);
            }
        }
        solved
    }

    /// The values of a slice in its canonical orientation; none if it has more pieces than were
    /// solved.
    pub fn slice(&self, slice: Slice) -> Option<&Values<R::Geometry>> {
        self.slices.get(&slice.canonical())
    }

    /// The value of a position; none if it has more pieces than were solved.
    pub fn value(&self, board: &Board<R::Geometry>) -> Option<Value> {
        let arrived = !R::SET.has_kings() && board.kings != ByColor::default();
        if arrived || board.pieces(board.side).is_empty() {
            return Some(Value::no_move::<R>());
        }
        let slice = Slice::of(board)?;
        let values = self.slices.get(&slice.canonical())?;
        let board = match slice.is_canonical() {
            true => *board,
            false => board.flipped(),
        };
        let number = values.index.rank(&board) as usize;
        Some(values.values[board.side][number])
    }

    /// Solves a canonical slice, given those its captures and promotions lead to.
    pub(super) fn solve(&self, slice: Slice, moves: Generator<R::Geometry>) -> Values<R::Geometry> {
        let index = SliceIndex::new(slice);
        let graph = self.graph(&index, moves);
        let dtw = graph.distances(|m, decided| match *m {
            Move::Within { to, .. } => decided[to as usize],
            Move::Out { won, dtw } => won.map(|won| (won, dtw)),
        });
        let dtc = graph.distances(|m, decided| match *m {
            Move::Within { to, converts } => match converts {
                true => dtw[to as usize].map(|(won, _)| (won, 0)),
                false => decided[to as usize],
            },
            Move::Out { won, .. } => won.map(|won| (won, 0)),
        });
        let both = dtw.iter().zip(&dtc);
        let mut values = both.map(|(&dtw, &dtc)| Value {
            result: match dtw {
                None => Wdl::Draw,
                Some((true, _)) => Wdl::Win,
                Some((false, _)) => Wdl::Loss,
            },
            dtc: dtc.map_or(0, |(_, plies)| plies),
            dtw: dtw.map_or(0, |(_, plies)| plies),
        });
        let white = values.by_ref().take(index.len() as usize).collect();
        let black = values.collect();
        Values {
            index,
            values: ByColor::new(white, black),
        }
    }

    /// The moves of all positions of a slice, those with White to move first.
    fn graph(
        &self,
        index: &SliceIndex<R::Geometry>,
        generator: Generator<R::Geometry>,
    ) -> MoveGraph {
        let mut graph = MoveGraph {
            first: vec![0],
            moves: Vec::new(),
            no_move_wins: Value::no_move::<R>().result == Wdl::Win,
        };
        for side in Color::BOTH {
            for number in 0..index.len() {
                for (after, converts) in generator(&index.unrank(number, side)) {
                    graph.moves.push(self.place(index, &after, converts));
                }
                graph.first.push(graph.moves.len());
            }
        }
        graph
    }

    fn place(
        &self,
        index: &SliceIndex<R::Geometry>,
        after: &Board<R::Geometry>,
        converts: bool,
    ) -> Move {
        if Slice::of(after) == Some(index.slice()) {
            let number = index.rank(after) + after.side as u64 * index.len();
            return Move::Within {
                to: number as u32,
                converts,
            };
        }
        let value = self
            .value(after)
            .expect("slices reached by captures and promotions are solved before");
        Move::Out {
            won: match value.result {
                Wdl::Draw => None,
                result => Some(result == Wdl::Win),
            },
            dtw: value.dtw,
        }
    }
}

/// All moves of a slice. Positions count through both sides to move.
struct MoveGraph {
    /// Moves of position `i`: `moves[first[i]..first[i + 1]]`.
    first: Vec<usize>,
    moves: Vec<Move>,
    no_move_wins: bool,
}

#[derive(Clone, Copy)]
enum Move {
    /// To another position of the slice.
    Within { to: u32, converts: bool },
    /// By a capture or promotion to a position solved before, won or lost for the side to move
    /// there, or drawn.
    Out { won: Option<bool>, dtw: u16 },
}

/// Won or lost, and in how many plies; none if drawn or not yet known.
type Decided = Option<(bool, u16)>;

impl MoveGraph {
    /// Decides positions ply by ply: won by a move to a lost position, or lost as all moves are to
    /// won positions, of fewer plies than it is now. `after` tells what is known of the position
    /// after a move.
    fn distances(&self, after: impl Fn(&Move, &[Decided]) -> Decided) -> Vec<Decided> {
        let positions = self.first.len() - 1;
        let outside = self.moves.iter().map(|m| match m {
            Move::Within { .. } => 0,
            Move::Out { dtw, .. } => *dtw,
        });
        let longest_outside = outside.max().unwrap_or(0);

        let mut decided: Vec<Decided> = vec![None; positions];
        let mut open: Vec<usize> = (0..positions).collect();
        for plies in 0.. {
            let decide = |&position: &usize| {
                let moves = &self.moves[self.first[position]..self.first[position + 1]];
                if moves.is_empty() {
                    return Some((position, self.no_move_wins));
                }
                let known = |m| after(m, &decided).filter(|&(_, before)| before < plies);
                let won = |m| known(m).map(|(won, _)| won);
                if moves.iter().any(|m| won(m) == Some(false)) {
                    Some((position, true))
                } else if moves.iter().all(|m| won(m) == Some(true)) {
                    Some((position, false))
                } else {
                    None
                }
            };
            let new: Vec<(usize, bool)> = open.iter().filter_map(decide).collect();
            if new.is_empty() && plies > longest_outside {
                break;
            }
            for (position, won) in new {
                decided[position] = Some((won, plies));
            }
            open.retain(|&position| decided[position].is_none());
        }
        decided
    }
}

impl<G: Geometry> Values<G> {
    pub fn index(&self) -> &SliceIndex<G> {
        &self.index
    }

    /// The values of all positions with `side` to move, in index order.
    pub fn with(&self, side: Color) -> &[Value] {
        &self.values[side]
    }
}

impl<G: Geometry> SliceValues for Values<G> {
    fn slice(&self) -> Slice {
        self.index.slice()
    }

    fn positions(&self) -> u64 {
        self.index.len()
    }

    fn has(&self, _: Metric) -> bool {
        true
    }

    fn results(&self, side: Color, first: u64, out: &mut [Wdl]) {
        for (out, value) in out.iter_mut().zip(&self.values[side][first as usize..]) {
            *out = value.result;
        }
    }

    fn distances(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]) {
        for (out, value) in out.iter_mut().zip(&self.values[side][first as usize..]) {
            *out = match metric {
                Metric::Wdl => 0,
                Metric::Dtc => value.dtc,
                Metric::Dtw => value.dtw,
            };
        }
    }
}
