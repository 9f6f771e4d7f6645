use super::successors::{Successors, is_loss};
use crate::board::{Board, ByColor, Color, Geometry, Word};
use crate::index::{SliceIndex, binomial, rank};
use crate::rules::Rules;
use crate::rules::movegen::{self, apply};
use crate::solve::distances::{DtwDistances, UNKNOWN};
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
pub struct ManMoves<W> {
    steps: ByColor<Vec<Step<W>>>,
    promotions: ByColor<Vec<Promotion<W>>>,
}

/// A move to another block of the same slice.
struct Step<W> {
    to: W,
    /// The number of that block's first position.
    first: u64,
    /// Its squares without men.
    free: W,
}

struct Promotion<W> {
    from: W,
    to: W,
}

/// The steps that the kings leave possible, but for the lowest black one. As that one comes last
/// in the order of positions, those after a step lie side by side.
pub struct WordSteps<W>(Vec<WordStep<W>>);

struct WordStep<W> {
    to: W,
    /// The number after the step with the lowest king on the lowest square of `space`.
    first: u64,
    space: W,
}

impl<W: Word> ManMoves<W> {
    pub fn new<R: Rules<Geometry: Geometry<Word = W>>>(
        index: &SliceIndex<R::Geometry>,
        men: ByColor<W>,
    ) -> Self {
        let mut moves = ManMoves {
            steps: ByColor::default(),
            promotions: ByColor::default(),
        };
        let free = R::Geometry::BOARD & !(men[Color::White] | men[Color::Black]);
        for side in Color::BOTH {
            let (dirs, crown) = match side {
                Color::White => (R::SET.man_moves, R::Geometry::TOP),
                Color::Black => (R::SET.man_moves.reversed(), R::Geometry::BOTTOM),
            };
            for from in men[side].bits() {
                let targets = dirs.iter().map(|d| R::Geometry::step(from, d) & free);
                for to in targets.filter(|to| to.any()) {
                    if (to & crown).any() {
                        moves.promotions[side].push(Promotion { from, to });
                        continue;
                    }
                    let mut after = men;
                    after[side] ^= from | to;
                    moves.steps[side].push(Step {
                        to,
                        first: index.block_rank(after) * index.block_len(),
                        free: free ^ from ^ to,
                    });
                }
            }
        }
        moves
    }
}

impl<W: Word> WordSteps<W> {
    pub fn new() -> Self {
        WordSteps(Vec::new())
    }

    /// `others`: Black's kings but for the lowest.
    pub fn fill<G: Geometry<Word = W>>(
        &mut self,
        index: &SliceIndex<G>,
        moves: &ManMoves<W>,
        side: Color,
        white: W,
        others: W,
    ) {
        self.0.clear();
        for step in &moves.steps[side] {
            if (step.to & (white | others)).any() {
                continue;
            }
            let space = step.free & !white;
            let mut first = step.first + rank(white, step.free) * index.black_placements();
            for (i, king) in others.bits().enumerate() {
                let below = space & king.wrapping_sub(W::ONE);
                first += binomial(below.count_ones() as usize, i + 2);
            }
            self.0.push(WordStep {
                to: step.to,
                first,
                space,
            });
        }
    }
}

/// The bound of a won or lost position of a block; `lowest` is the lowest black king.
#[inline]
pub fn bound<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    successors: &mut Successors<R>,
    distances: &DtwDistances<R::Geometry>,
    moves: &ManMoves<W<R>>,
    steps: &WordSteps<W<R>>,
    board: &Board<R::Geometry>,
    lowest: W<R>,
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
    let side = board.side;
    let below = lowest.wrapping_sub(W::<R>::ONE);
    for step in &steps.0 {
        if (step.to & lowest).is_empty() {
            let number = step.first + u64::from((step.space & below).count_ones());
            bound.add::<R>(won, distances.get(!side, number));
        }
    }
    for m in &moves.promotions[side] {
        if (m.to & board.occupied()).is_empty() {
            let mut after = Board {
                side: !side,
                ..*board
            };
            after.men[side] ^= m.from;
            after.kings[side] |= m.to;
            bound.add::<R>(won, successors.plies(&after));
        }
    }
    bound
}

/// The distance of a won or lost position without kings, whose every move is a conversion;
/// [`UNKNOWN`] if it rests on one not known yet.
pub fn distance<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    successors: &mut Successors<R>,
    distances: &DtwDistances<R::Geometry>,
    board: &Board<R::Geometry>,
    won: bool,
) -> u16 {
    let mut bound = Bound::new(won);
    movegen::for_each_move::<R>(board, |m| {
        let after = apply::<R>(board, &m);
        let plies = if m.is_capture() || m.promotes {
            successors.plies(&after)
        } else {
            distances.get(after.side, distances.index().block_rank(after.men))
        };
        bound.add::<R>(won, plies);
    });
    if bound.any { bound.plies } else { 0 }
}
