//! Best play from a position, move by move.

use std::collections::HashSet;

use super::{Outcome, ProbeError, RankedMove, Tablebase};
use crate::board::Position;
use crate::rules::reference::legal_moves;
use crate::rules::{Rules, with_rules};
use crate::table::{Metric, Wdl};

/// Best play by both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestLine {
    /// What the position at the beginning is worth to its side to move.
    pub outcome: Outcome,
    /// The moves as they are played, each with what it is worth to the side that makes it.
    pub moves: Vec<RankedMove>,
    pub end: LineEnd,
}

/// Why a line goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// The side to move has no move: the game is over.
    GameOver,
    /// The draw is plain: the side to move has several moves that hold it and none is forced on it
    /// by a capture, or the only moves left lead to positions that have been there.
    Draw,
}

/// Best play that cannot be told to its end.
#[derive(Debug, thiserror::Error)]
#[error("after {} plies the line cannot go on: {cause}", moves.len())]
pub struct LineError {
    /// The moves up to there.
    pub moves: Vec<RankedMove>,
    #[source]
    pub cause: ProbeError,
}

impl Tablebase {
    /// Best play until the game ends or the draw is plain: always the first of the
    /// [ranked moves](Tablebase::rank_moves) that leads to a position which has not been on the
    /// board, so a line never loops. With distances to the end a won line takes exactly as many
    /// plies as they say. With distances to conversion alone the winner converts and goes on in
    /// the next slice; with results alone he can go on only where he wins by a conversion.
    ///
    /// # Errors
    /// If the moves of a position cannot be ranked, or no distance shows the winner the way; the
    /// error holds the moves up to there, and its cause names the table to add.
    pub fn line(&self, position: &Position) -> Result<BestLine, LineError> {
        let mut moves = Vec::new();
        match self.follow(*position, &mut moves) {
            Ok((outcome, end)) => Ok(BestLine {
                outcome,
                moves,
                end,
            }),
            Err(cause) => Err(LineError { moves, cause }),
        }
    }

    fn follow(
        &self,
        mut position: Position,
        moves: &mut Vec<RankedMove>,
    ) -> Result<(Outcome, LineEnd), ProbeError> {
        let outcome = self.probe(&position)?;
        let mut seen = HashSet::from([position]);
        loop {
            let ranked = self.rank_moves(&position)?;
            let Some(best) = ranked.first() else {
                return Ok((outcome, LineEnd::GameOver));
            };
            let result = best.outcome.result;
            if result == Wdl::Draw && is_plain(&ranked) {
                return Ok((outcome, LineEnd::Draw));
            }
            let unguided = result == Wdl::Win && !best.makes_progress();
            let mut as_good = ranked.iter().filter(|m| m.outcome.result == result);
            let next = as_good.find(|m| !seen.contains(&position.after(&m.played)));
            match next {
                Some(next) if !unguided => {
                    position = position.after(&next.played);
                    seen.insert(position);
                    moves.push(next.clone());
                }
                _ if result == Wdl::Draw => return Ok((outcome, LineEnd::Draw)),
                _ => return Err(self.missing_guide(&position)),
            }
        }
    }

    /// The table of distances for want of which a winner does not know how to go on.
    fn missing_guide(&self, position: &Position) -> ProbeError {
        let after = |m| position.after(&m);
        let successors = legal_moves(position).into_iter().map(after);
        let around: Vec<Position> = std::iter::once(*position).chain(successors).collect();
        with_rules!(position.variant().rule_set(), R => {
            let lacks = |metric| {
                let mut absent = around.iter().map(|p| self.slice_without::<R>(&p.to_board(), metric));
                absent.find_map(|slice| Some(self.missing(R::ID, slice?, metric)))
            };
            let missing = lacks(Metric::Dtc).or_else(|| lacks(Metric::Dtw));
            missing.unwrap_or(ProbeError::Contradiction { rule_set: R::ID })
        })
    }
}

/// Several moves hold the draw, and no capture is forced.
fn is_plain(ranked: &[RankedMove]) -> bool {
    let drawing = ranked.iter().filter(|m| m.outcome.result == Wdl::Draw);
    drawing.count() > 1 && !ranked.iter().any(|m| m.played.is_capture())
}
