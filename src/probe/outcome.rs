use crate::rules::{Goal, RuleSet};
use crate::table::Wdl;

/// What is known of a position, for its side to move. Distances in plies, none for draws and where
/// there is no table of the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub result: Wdl,
    /// Plies to the next conversion (a capture or a man's move).
    pub dtc: Option<u16>,
    /// Plies to the end of the game.
    pub dtw: Option<u16>,
}

impl Outcome {
    /// Of a position whose side to move has no legal move.
    #[inline]
    pub fn without_move(rules: &RuleSet) -> Outcome {
        Outcome {
            result: match rules.goal {
                Goal::Normal => Wdl::Loss,
                Goal::Reversed => Wdl::Win,
            },
            dtc: Some(0),
            dtw: Some(0),
        }
    }

    /// What a move that leads to a position with this outcome is worth to the side that makes it.
    pub fn before_move(self, conversion: bool) -> Outcome {
        let one_more = |plies: Option<u16>| plies.map(|p| p.saturating_add(1));
        Outcome {
            result: self.result.reversed(),
            dtc: match self.result {
                Wdl::Draw => None,
                _ if conversion => Some(1),
                _ => one_more(self.dtc),
            },
            dtw: one_more(self.dtw),
        }
    }

    /// The outcome of a position, given those of all its moves; none if there are no moves.
    pub fn of_moves(moves: &[Outcome]) -> Option<Outcome> {
        let result = moves.iter().map(|o| o.result).max()?;
        // The winner hurries, the loser delays. A distance is known if it is of every such move.
        let decide = |distance: fn(&Outcome) -> Option<u16>| {
            let deciding = moves.iter().filter(|o| o.result == result).map(distance);
            let distances = deciding.collect::<Option<Vec<u16>>>()?.into_iter();
            match result {
                Wdl::Win => distances.min(),
                Wdl::Draw => None,
                Wdl::Loss => distances.max(),
            }
        };
        Some(Outcome {
            result,
            dtc: decide(|o| o.dtc),
            dtw: decide(|o| o.dtw),
        })
    }
}
