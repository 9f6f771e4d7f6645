//! The moves of a game judged by tables: what each position was worth, what the move made of it,
//! and what would have been better.

use crate::board::Position;
use crate::index::{MAX_PIECES, Slice};
use crate::notation::pdn::Line;
use crate::probe::{Outcome, ProbeError, RankedMove, Tablebase};
use crate::rules::RuleSetId;
use crate::table::{Metric, Wdl};

/// What tables say of a line of moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// One for every move.
    pub moves: Vec<Reviewed>,
    /// The most pieces any table of the rule set has; 0 if there is none.
    pub reach: usize,
    /// Positions with more pieces than that.
    pub too_many: usize,
    /// Tables that would have been needed, each once, in the order of need.
    pub missing: Vec<(RuleSetId, Slice, Metric)>,
}

/// What tables say of a move; outcomes are none where no table knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewed {
    /// Before the move.
    pub position: Position,
    /// What that is worth to the side that moves.
    pub before: Option<Outcome>,
    /// What is left of it with this move.
    pub after: Option<Outcome>,
    /// What the position after the move is worth to the other side.
    pub reached: Option<Outcome>,
    pub fault: Option<Fault>,
    /// The best moves, if there is a fault and all moves are known.
    pub better: Vec<RankedMove>,
}

/// What is wrong with a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The result is worse than it could be.
    Result,
    /// The win takes so many plies more than it has to: to the end of the game, or, where such
    /// distances are not known, to the next conversion.
    Delay { metric: Metric, plies: u16 },
}

impl Fault {
    /// The fault of a move, given what there was and what it left.
    ///
    /// By distance to conversion only a move that is none itself can be slower: a conversion may
    /// begin a longer or a shorter win than another one, which these distances do not tell.
    pub fn of(before: Outcome, after: Outcome, conversion: bool) -> Option<Fault> {
        if after.result < before.result {
            return Some(Fault::Result);
        }
        if after.result != Wdl::Win {
            return None;
        }
        let (metric, distances) = match (before.dtw, after.dtw) {
            (Some(before), Some(after)) => (Metric::Dtw, Some((before, after))),
            _ if conversion => return None,
            _ => (Metric::Dtc, before.dtc.zip(after.dtc)),
        };
        let plies = distances.map_or(0, |(before, after)| after.saturating_sub(before));
        (plies > 0).then_some(Fault::Delay { metric, plies })
    }
}

/// Judges the moves of a line that begins in a position; variations are not looked at.
///
/// # Errors
/// If a table is damaged or cannot be read. That tables do not know a position is none.
pub fn review(tables: &Tablebase, start: &Position, line: &Line) -> Result<Review, ProbeError> {
    let mut review = Review {
        reach: most_pieces(tables, start.variant().rule_set()),
        ..Review::default()
    };
    let mut position = *start;
    let mut before = review.ask(tables, &position)?;
    for ply in &line.moves {
        let conversion = ply.mv.is_conversion();
        let next = position.after(&ply.mv);
        let reached = review.ask(tables, &next)?;
        let after = reached.map(|outcome| outcome.before_move(conversion));
        let fault = before
            .zip(after)
            .and_then(|(before, after)| Fault::of(before, after, conversion));
        let mut better = match fault {
            Some(_) => known(tables.rank_moves(&position))?.unwrap_or_default(),
            None => Vec::new(),
        };
        better.retain(|m| m.rank == 1);
        review.moves.push(Reviewed {
            position,
            before,
            after,
            reached,
            fault,
            better,
        });
        (position, before) = (next, reached);
    }
    Ok(review)
}

impl Review {
    /// The outcome of a position if it is known; otherwise why not is noted.
    fn ask(
        &mut self,
        tables: &Tablebase,
        position: &Position,
    ) -> Result<Option<Outcome>, ProbeError> {
        match tables.probe(position) {
            Err(ProbeError::TooManyPieces { .. }) => self.too_many += 1,
            Err(ProbeError::Missing { slice, .. }) if slice.total() > self.reach => {
                self.too_many += 1;
            }
            Err(ProbeError::Missing {
                rule_set,
                slice,
                metric,
                ..
            }) => {
                let table = (rule_set, slice, metric);
                if !self.missing.contains(&table) {
                    self.missing.push(table);
                }
            }
            known => return known.map(Some),
        }
        Ok(None)
    }
}

/// None where a table is missing.
fn known<T>(answer: Result<T, ProbeError>) -> Result<Option<T>, ProbeError> {
    match answer {
        Err(ProbeError::Missing { .. } | ProbeError::TooManyPieces { .. }) => Ok(None),
        answer => answer.map(Some),
    }
}

/// The most pieces any table of a rule set has; 0 without tables.
fn most_pieces(tables: &Tablebase, rule_set: RuleSetId) -> usize {
    let kings = rule_set.rules().has_kings();
    let has_table = |slice: &Slice| tables.header(rule_set, *slice, Metric::Wdl).is_some();
    let mut counts = (2..=MAX_PIECES).rev();
    counts
        .find(|&pieces| Slice::all_canonical(pieces, kings).iter().any(has_table))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_worse_results_and_slower_wins() {
        let outcome = |result, dtc, dtw| Outcome { result, dtc, dtw };
        let win = |dtc, dtw| outcome(Wdl::Win, Some(dtc), dtw);
        let draw = outcome(Wdl::Draw, None, None);
        let lost = outcome(Wdl::Loss, Some(4), Some(20));
        let of = |before, after| Fault::of(before, after, false);
        for (before, after) in [(win(3, Some(9)), draw), (draw, lost), (win(3, None), lost)] {
            assert_eq!(of(before, after), Some(Fault::Result));
        }
        let delay = |metric, plies| Some(Fault::Delay { metric, plies });
        assert_eq!(of(win(3, Some(9)), win(1, Some(13))), delay(Metric::Dtw, 4));
        assert_eq!(of(win(3, Some(9)), win(7, Some(9))), None);
        assert_eq!(of(win(3, None), win(7, None)), delay(Metric::Dtc, 4));
        assert_eq!(Fault::of(win(3, None), win(7, None), true), None);
        let slower_loss = outcome(Wdl::Loss, Some(2), Some(2));
        assert_eq!(of(lost, slower_loss), None);
        assert_eq!(of(draw, draw), None);
    }
}
