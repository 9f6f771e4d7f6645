use std::cmp::Reverse;

use super::{Outcome, ProbeError, Tablebase};
use crate::board::Position;
use crate::rules::Move;
use crate::rules::reference::legal_moves;
use crate::table::Wdl;

/// A legal move and what it is worth to the side that makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedMove {
    pub played: Move,
    pub outcome: Outcome,
    /// From 1, the best. Moves of equal rank have the same outcome.
    pub rank: usize,
}

impl Tablebase {
    /// Every legal move, best first; moves that are equally good keep the generator's order.
    ///
    /// # Errors
    /// If the outcome of any successor cannot be told, see [`Tablebase::probe`].
    pub fn rank_moves(&self, position: &Position) -> Result<Vec<RankedMove>, ProbeError> {
        let mut ranked = Vec::new();
        for played in legal_moves(position) {
            let outcome = self
                .probe(&position.after(&played))?
                .before_move(played.is_conversion());
            ranked.push(RankedMove {
                played,
                outcome,
                rank: 0,
            });
        }
        ranked.sort_by_key(RankedMove::merit);
        let mut rank = 0;
        let mut last = None;
        for (place, m) in (1..).zip(&mut ranked) {
            let merit = m.merit();
            if last.replace(merit) != Some(merit) {
                rank = place;
            }
            m.rank = rank;
        }
        Ok(ranked)
    }
}

impl RankedMove {
    /// The whole policy: smaller is better. Wins come before draws before losses. The winner
    /// prefers the shortest way to the end of the game, then to a conversion; where no distance is
    /// known he converts, so that play makes progress. The loser prefers the opposite. Draws are
    /// equal.
    fn merit(&self) -> (Reverse<Wdl>, [i32; 3]) {
        let Outcome { result, dtc, dtw } = self.outcome;
        let plies = |distance: Option<u16>| distance.map_or(0, i32::from);
        let unguided = dtc.is_none() && dtw.is_none();
        let quiet = unguided && !self.played.is_conversion();
        let slowness = [plies(dtw), plies(dtc), i32::from(quiet)];
        let order = match result {
            Wdl::Win => slowness,
            Wdl::Draw => [0; 3],
            Wdl::Loss => slowness.map(|s| -s),
        };
        (Reverse(result), order)
    }
}
