use super::successors::{Successors, is_loss};
use crate::board::{Board, ByColor, Color, Geometry, Word};
use crate::rules::Rules;
use crate::rules::movegen::{self, apply};
use crate::solve::distances::UNKNOWN;
use crate::solve::planes::PlaneWord;

type W<R> = <<R as Rules>::Geometry as Geometry>::Word;

/// What the conversions of a won or lost position come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The shortest win or longest loss by a conversion. [`UNKNOWN`]: no conversion wins, or one
    /// is not known to lose. Zero if a lost position has no conversions.
    pub plies: u16,
    /// There is a capture, so no king moves quietly.
    pub captures: bool,
    /// There is a capture or a man's move.
    pub any: bool,
}

impl Bound {
    #[inline(always)]
    fn new(won: bool) -> Self {
        Bound {
            plies: if won { UNKNOWN } else { 0 },
            captures: false,
            any: false,
        }
    }

    #[inline(always)]
    fn add<R: Rules>(&mut self, won: bool, after: u16) {
        self.any = true;
        if !won {
            self.plies = self.plies.max(after.saturating_add(1));
        } else if is_loss::<R>(after) {
            self.plies = self.plies.min(after + 1);
        }
    }
}

/// The quiet moves of the men of a block, kings aside.
pub struct ManMoves<W>(ByColor<Vec<ManMove<W>>>);

struct ManMove<W> {
    from: W,
    to: W,
    promotes: bool,
}

impl<W: Word> ManMoves<W> {
    pub fn of<R: Rules<Geometry: Geometry<Word = W>>>(men: ByColor<W>) -> Self {
        let free = R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]);
        ManMoves(ByColor(Color::BOTH.map(|side| {
            let (dirs, crown) = match side {
                Color::White => (R::SET.man_moves, R::Geometry::TOP),
                Color::Black => (R::SET.man_moves.reversed(), R::Geometry::BOTTOM),
            };
            let men = men[side].bits();
            men.flat_map(|from| {
                let targets = dirs.iter().map(move |d| R::Geometry::step(from, d) & free);
                targets.filter(|to| to.any()).map(move |to| ManMove {
                    from,
                    to,
                    promotes: (to & crown).any(),
                })
            })
            .collect()
        })))
    }
}

/// The bound of a won or lost position of a block.
#[inline]
pub fn bound<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    successors: &mut Successors<R>,
    man_moves: &ManMoves<W<R>>,
    board: &Board<R::Geometry>,
    won: bool,
) -> Bound {
    let mut bound = Bound::new(won);
    movegen::for_each_capture::<R>(board, |m| {
        bound.captures = true;
        bound.add::<R>(won, successors.plies(&apply::<R>(board, &m)));
    });
    if bound.captures {
        return bound;
    }
    let (side, occupied) = (board.side, board.occupied());
    for m in &man_moves.0[side] {
        if (m.to & occupied).any() {
            continue;
        }
        let mut after = Board {
            side: !side,
            ..*board
        };
        after.men[side] ^= m.from;
        if m.promotes {
            after.kings[side] |= m.to;
        } else {
            after.men[side] |= m.to;
        }
        bound.add::<R>(won, successors.plies(&after));
    }
    bound
}

/// The distance of a won or lost position without kings, whose every move is a conversion;
/// [`UNKNOWN`] if it rests on one not known yet.
pub fn distance<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    successors: &mut Successors<R>,
    board: &Board<R::Geometry>,
    won: bool,
) -> u16 {
    let mut bound = Bound::new(won);
    movegen::for_each_move::<R>(board, |m| {
        bound.add::<R>(won, successors.plies(&apply::<R>(board, &m)));
    });
    if bound.any { bound.plies } else { 0 }
}
