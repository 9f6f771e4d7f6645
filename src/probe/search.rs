//! What tables do not store is found by search: through captures, which lead to smaller slices, and
//! where a table says so through quiet moves; the distances of a side to move of which none are
//! stored a [move ahead](super::look_ahead). The answers are exact.

use std::cell::Cell;

use super::look_ahead::distance_ahead;
use super::tables::{Place, Table};
use super::{Outcome, ProbeError, Tablebase};
use crate::board::{Board, Word};
use crate::index::{MAX_PIECES, Slice};
use crate::rules::Rules;
use crate::rules::movegen::{apply, for_each_capture, for_each_move, for_each_quiet};
use crate::rules::movegen::{has_capture, has_move};
use crate::table::{Metric, Wdl};

/// Where decoded blocks may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// From the files, if they are not in the cache.
    Files,
    /// From the cache alone.
    Cache,
}

/// Why a search comes back without a result.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// It may not leave the cache, and that does not have the answer.
    NotCached,
    Error(ProbeError),
}

impl<E: Into<ProbeError>> From<E> for Unanswered {
    fn from(error: E) -> Self {
        Unanswered::Error(error.into())
    }
}

/// How a search is to go about.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub reach: Reach,
    /// Counts the positions looked at, when a table is made.
    pub effort: Option<&'a Effort>,
}

impl Ask<'_> {
    pub const FILES: Ask<'static> = Ask {
        reach: Reach::Files,
        effort: None,
    };
    pub const CACHE: Ask<'static> = Ask {
        reach: Reach::Cache,
        effort: None,
    };
}

/// What a search has cost, and what it may.
#[derive(Debug, Default)]
pub(super) struct Effort {
    pub positions_left: Cell<u32>,
    pub deepest: Cell<u16>,
}

/// What a position is before any table is asked.
enum Kind {
    /// The side to move has no piece, or the opponent's man has arrived (Breakthrough).
    Over,
    /// The opponent has no piece: any move wins, or loses in reversed games.
    Alone,
    Contested,
}

impl Kind {
    #[inline]
    fn of<R: Rules>(board: &Board<R::Geometry>) -> Kind {
        let arrived = !R::SET.has_kings() && board.kings[!board.side].any();
        if arrived || board.pieces(board.side).is_empty() {
            Kind::Over
        } else if board.pieces(!board.side).is_empty() {
            Kind::Alone
        } else {
            Kind::Contested
        }
    }
}

/// The opponent could capture if he were to move.
#[inline]
pub(super) fn is_threatened<R: Rules>(board: &Board<R::Geometry>) -> bool {
    has_capture::<R>(&Board {
        side: !board.side,
        ..*board
    })
}

impl Tablebase {
    /// The result of a position for its side to move.
    ///
    /// # Errors
    /// As [`Tablebase::probe`].
    #[inline]
    pub fn result<R: Rules>(&self, board: &Board<R::Geometry>) -> Result<Wdl, ProbeError> {
        match self.search::<R>(board, Ask::FILES, 0) {
            Ok(result) => Ok(result),
            Err(Unanswered::Error(error)) => Err(error),
            Err(Unanswered::NotCached) => unreachable!("files are read"),
        }
    }

    /// The result if it follows from blocks that are decoded already, else none; no file is touched.
    ///
    /// # Errors
    /// As [`Tablebase::probe`].
    #[inline]
    pub fn result_cached<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
    ) -> Result<Option<Wdl>, ProbeError> {
        match self.search::<R>(board, Ask::CACHE, 0) {
            Ok(result) => Ok(Some(result)),
            Err(Unanswered::NotCached) => Ok(None),
            Err(Unanswered::Error(error)) => Err(error),
        }
    }

    /// `depth` counts the moves made since the position asked for that were no captures.
    pub(super) fn search<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        ask: Ask,
        depth: u16,
    ) -> Result<Wdl, Unanswered> {
        let without_move = Outcome::without_move(&R::SET).result;
        match Kind::of::<R>(board) {
            Kind::Over => return Ok(without_move),
            Kind::Alone if has_move::<R>(board) => return Ok(without_move.reversed()),
            Kind::Alone => return Ok(without_move),
            Kind::Contested => {}
        }
        // A table without gaps needs no other ones.
        if self.some_have_captures()
            && has_capture::<R>(board)
            && let Ok((table, place)) = self.place::<R>(board, Metric::Wdl)
            && !table.header.leaves_out_captures()
        {
            return self.look_up(table, place, ask.reach);
        }
        if let Some(result) = self.best::<R>(board, ask, depth, true)? {
            return Ok(result);
        }
        let (table, place) = match self.place::<R>(board, Metric::Wdl) {
            Err(ProbeError::Missing { .. }) if !has_move::<R>(board) => return Ok(without_move),
            found => found?,
        };
        if !table.header.leaves_out_threats() || !is_threatened::<R>(board) {
            return self.look_up(table, place, ask.reach);
        }
        if let Some(result) = self.exception(table, place, ask.reach)? {
            return Ok(result);
        }
        let spent = ask.effort.is_some_and(|effort| {
            effort.deepest.set(effort.deepest.get().max(depth + 1));
            let left = effort.positions_left.get();
            effort.positions_left.set(left.saturating_sub(1));
            left == 0
        });
        if depth >= table.header.depth_bound || spent {
            let path = table.path.clone();
            let bound = table.header.depth_bound;
            return Err(ProbeError::Depth { path, bound }.into());
        }
        let best = self.best::<R>(board, ask, depth, false)?;
        Ok(best.unwrap_or(without_move))
    }

    /// The best of all captures, or of all quiet moves; none if there is no such move.
    fn best<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        ask: Ask,
        depth: u16,
        captures: bool,
    ) -> Result<Option<Wdl>, Unanswered> {
        let mut best: Option<Wdl> = None;
        let mut failure = None;
        let mut visit = |after: Board<R::Geometry>| {
            if best == Some(Wdl::Win) {
                return;
            }
            // After a capture the count of pieces ends the search, so the depth begins anew.
            let depth = if captures { 0 } else { depth + 1 };
            match self.search::<R>(&after, ask, depth) {
                Ok(result) => best = best.max(Some(result.reversed())),
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
        };
        if captures {
            for_each_capture::<R>(board, |m| visit(apply::<R>(board, &m)));
        } else {
            for_each_quiet::<R>(board, |m| visit(apply::<R>(board, &m)));
        }
        match (best, failure) {
            // A win is one whatever the other moves are worth.
            (Some(Wdl::Win), _) => Ok(best),
            (_, Some(failure)) => Err(failure),
            (_, None) => Ok(best),
        }
    }

    /// The result of a position with what distances the tables have.
    pub(crate) fn outcome<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
    ) -> Result<Outcome, ProbeError> {
        self.outcome_in::<R>(board, &[Metric::Dtc, Metric::Dtw])
    }

    /// The same with distances of these metrics alone.
    pub(crate) fn outcome_in<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        metrics: &[Metric],
    ) -> Result<Outcome, ProbeError> {
        let result = self.result::<R>(board)?;
        let distance = |metric| match metrics.contains(&metric) {
            true => match self.distance::<R>(board, metric, result) {
                // The result is known all the same.
                Err(ProbeError::Missing { .. }) => Ok(None),
                distance => distance,
            },
            false => Ok(None),
        };
        Ok(Outcome {
            result,
            dtc: distance(Metric::Dtc)?,
            dtw: distance(Metric::Dtw)?,
        })
    }

    /// The distance of a position that has this result; none for draws, and if a table is not there
    /// that it takes.
    ///
    /// # Errors
    /// As [`Tablebase::probe`].
    pub(crate) fn distance<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        metric: Metric,
        result: Wdl,
    ) -> Result<Option<u16>, ProbeError> {
        if result == Wdl::Draw {
            return Ok(None);
        }
        let by_moves = match Kind::of::<R>(board) {
            Kind::Over => false,
            Kind::Alone => true,
            Kind::Contested => has_capture::<R>(board),
        };
        if by_moves {
            return self.distance_by_moves::<R>(board, metric, result);
        }
        if !has_move::<R>(board) {
            return Ok(Some(0));
        }
        match self.place::<R>(board, metric) {
            Ok((table, place)) if table.header.follows(place.side) => {
                self.distance_by_moves::<R>(board, metric, result)
            }
            Ok((table, place)) => self.look_up_distance::<R>(table, place).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The same by looking a move ahead.
    fn distance_by_moves<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        metric: Metric,
        result: Wdl,
    ) -> Result<Option<u16>, ProbeError> {
        distance_ahead::<R>(
            board,
            metric,
            result,
            |after, _| self.result::<R>(after),
            |after, _, result| self.distance::<R>(after, metric, result),
        )
    }

    /// Why a decided position has no distance: a table that is not there, of its slice or of one
    /// that it follows from.
    pub(crate) fn lacking_distance<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        metric: Metric,
    ) -> ProbeError {
        match self.slice_without::<R>(board, metric) {
            Some(slice) => self.missing(R::ID, slice, metric),
            None => ProbeError::Contradiction { rule_set: R::ID },
        }
    }

    /// The slice of a position, or of one its distance follows from, that has no table of a metric.
    pub(crate) fn slice_without<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        metric: Metric,
    ) -> Option<Slice> {
        let slice = Slice::of::<R::Geometry>(board).filter(Slice::is_contested)?;
        let Ok((table, place)) = self.place::<R>(board, metric) else {
            return Some(slice.canonical());
        };
        if !table.header.follows(place.side) && !has_capture::<R>(board) {
            return None;
        }
        let mut found = None;
        for_each_move::<R>(board, |m| {
            let needed = metric != Metric::Dtc || !m.is_conversion();
            if needed && found.is_none() {
                found = self.slice_without::<R>(&apply::<R>(board, &m), metric);
            }
        });
        found
    }

    /// The table that has a position, and where in it. Seen from the other side, a position is the
    /// same one with colours exchanged.
    #[inline]
    pub(super) fn place<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        metric: Metric,
    ) -> Result<(&Table, Place), ProbeError> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi1") {
            #[target_feature(enable = "bmi1,popcnt")]
            fn place_by_bits<'t, R: Rules>(
                tables: &'t Tablebase,
                board: &Board<R::Geometry>,
                metric: Metric,
            ) -> Result<(&'t Table, Place), ProbeError> {
                tables.place_by_counting::<R>(board, metric)
            }
            // SAFETY: the processor was just asked for these features.
            return unsafe { place_by_bits::<R>(self, board, metric) };
        }
        self.place_by_counting::<R>(board, metric)
    }

    /// Mostly counts bits, for which many processors have an instruction.
    #[inline(always)]
    fn place_by_counting<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        metric: Metric,
    ) -> Result<(&Table, Place), ProbeError> {
        let Some(slice) = Slice::of(board) else {
            let pieces = board.occupied().count_ones();
            let most = MAX_PIECES;
            return Err(ProbeError::TooManyPieces { pieces, most });
        };
        let canonical = slice.is_canonical();
        let filed = if canonical { slice } else { slice.flipped() };
        let Some(table) = self.table(R::ID, filed, metric) else {
            return Err(self.missing(R::ID, filed, metric));
        };
        let seen = match canonical && table.is_stored[board.side] {
            true => *board,
            false => board.flipped(),
        };
        let place = Place {
            side: seen.side,
            position: table.index::<R::Geometry>().rank(&seen),
        };
        Ok((table, place))
    }
}
