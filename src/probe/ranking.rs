use std::cmp::Reverse;

use super::{Outcome, ProbeError, Tablebase};
use crate::board::{Piece, Position};
use crate::rules::reference::legal_moves;
use crate::rules::{Move, Variant};
use crate::table::Wdl;

/// A legal move and what it is worth to the side that makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedMove {
    pub played: Move,
    pub outcome: Outcome,
    /// From 1, the best. Moves of equal rank are equally good.
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
        let scale = Scale::of(position.variant(), &ranked);
        ranked.sort_by_key(|m| m.merit(&scale));
        let mut rank = 0;
        let mut last = None;
        for (place, m) in (1..).zip(&mut ranked) {
            let merit = m.merit(&scale);
            if last.replace(merit) != Some(merit) {
                rank = place;
            }
            m.rank = rank;
        }
        Ok(ranked)
    }
}

/// By what the moves of a position can be compared.
struct Scale {
    variant: Variant,
    /// By result: whether the distance is known of every move that has it.
    dtc: [bool; 3],
    dtw: [bool; 3],
}

impl Scale {
    fn of(variant: Variant, moves: &[RankedMove]) -> Scale {
        let known = |distance: fn(&Outcome) -> Option<u16>| {
            [Wdl::Loss, Wdl::Draw, Wdl::Win].map(|result| {
                let mut alike = moves.iter().filter(|m| m.outcome.result == result);
                alike.all(|m| distance(&m.outcome).is_some())
            })
        };
        Scale {
            variant,
            dtc: known(|o| o.dtc),
            dtw: known(|o| o.dtw),
        }
    }
}

impl RankedMove {
    /// The whole policy: smaller is better. Wins come before draws before losses. The winner
    /// prefers the shortest way to the end of the game, then to a conversion, and of conversions
    /// those that cannot be taken back; where no distance is known he converts, so that play makes
    /// progress. The loser prefers the opposite. Draws are equal.
    fn merit(&self, scale: &Scale) -> (Reverse<Wdl>, [i32; 4]) {
        let Outcome { result, dtc, dtw } = self.outcome;
        let by = |known: [bool; 3]| known[result as usize];
        let plies = |distance: Option<u16>| distance.map_or(0, i32::from);
        let unguided = !by(scale.dtc) && !by(scale.dtw);
        let slowness = [
            if by(scale.dtw) { plies(dtw) } else { 0 },
            if by(scale.dtc) { plies(dtc) } else { 0 },
            i32::from(unguided && !self.played.is_conversion()),
            i32::from(!by(scale.dtw) && self.is_sideways(scale.variant)),
        ];
        let order = match result {
            Wdl::Win => slowness,
            Wdl::Draw => [0; 4],
            Wdl::Loss => slowness.map(|s| -s),
        };
        (Reverse(result), order)
    }

    /// A man's step along its rank (Turkish): a conversion by name, but one that can be taken back.
    fn is_sideways(&self, variant: Variant) -> bool {
        let Move { from, to, .. } = self.played;
        let quiet_man = !self.played.is_capture() && self.played.piece == Piece::Man;
        quiet_man && variant.cell(from).0 == variant.cell(to).0
    }

    /// Whether winning by this move leads on: by a distance, or by a conversion.
    pub(super) fn makes_progress(&self) -> bool {
        let Outcome { dtc, dtw, .. } = self.outcome;
        dtc.or(dtw).is_some() || self.played.is_conversion()
    }
}
