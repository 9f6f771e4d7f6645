//! Distances with a side to move of which a table stores none: a move ahead the other is to move.
//!
//! A move that neither captures nor crowns stays in the slice, and leads to the side that is stored.
//! A capture, or a man that is crowned, leads to another slice, of which again one side may be
//! stored; there it has fewer pieces or fewer men, so looking ahead comes to an end.

use std::path::Path;

use super::loaded::{CHUNK, SliceResults, each_chunk};
use super::{ProbeError, Tablebase};
use crate::board::{Board, ByColor, Color};
use crate::index::{Slice, SliceIndex};
use crate::rules::movegen::{apply, for_each_move, has_capture};
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{Metric, SliceValues, TableFile, Wdl, stored_sides};

/// The distance of a position that has this result, won or lost, by its moves: the winner hurries,
/// the loser delays; zero without a move. None if the distance after a move that counts is not
/// known.
///
/// Results and distances of the positions after moves are asked for, with whether all pieces are
/// still what they were; distances not after a move that is the conversion itself.
///
/// # Errors
/// What these come back with; also if no move gives the result, or one a better result.
pub(super) fn distance_ahead<R: Rules>(
    board: &Board<R::Geometry>,
    metric: Metric,
    result: Wdl,
    result_of: impl Fn(&Board<R::Geometry>, bool) -> Result<Wdl, ProbeError>,
    distance_of: impl Fn(&Board<R::Geometry>, bool, Wdl) -> Result<Option<u16>, ProbeError>,
) -> Result<Option<u16>, ProbeError> {
    let mut best = Err(ProbeError::Contradiction { rule_set: R::ID });
    let mut failure = None;
    let mut moves = 0;
    for_each_move::<R>(board, |m| {
        moves += 1;
        if failure.is_some() {
            return;
        }
        let after = apply::<R>(board, &m);
        let stays = !m.is_capture() && !m.promotes;
        let plies = match result_of(&after, stays) {
            // Not a move of best play.
            Ok(reached) if reached.reversed() < result => return,
            Ok(reached) if reached.reversed() > result => {
                Err(ProbeError::Contradiction { rule_set: R::ID })
            }
            Ok(_) if metric == Metric::Dtc && m.is_conversion() => Ok(Some(0)),
            Ok(reached) => distance_of(&after, stays, reached),
            Err(error) => Err(error),
        };
        match plies {
            Ok(plies) => {
                let plies = plies.map(|plies| plies.saturating_add(1));
                best = Ok(match (&best, plies) {
                    (Ok(None), _) | (_, None) => None,
                    (Ok(Some(best)), Some(plies)) if result == Wdl::Win => Some(plies.min(*best)),
                    (Ok(Some(best)), Some(plies)) => Some(plies.max(*best)),
                    (Err(_), _) => plies,
                });
            }
            Err(error) => failure = Some(error),
        }
    });
    match failure {
        Some(failure) => Err(failure),
        None if moves == 0 => Ok(Some(0)),
        None => best,
    }
}

/// All distances of one slice in a metric, what its table leaves out included, in 16 bits each.
#[derive(Debug)]
pub(super) struct SliceDistances {
    /// By side to move, of symmetric slices White's only; chunk by chunk.
    plies: ByColor<Vec<Vec<u16>>>,
}

impl SliceDistances {
    /// Asks the tables for every distance of a canonical slice, of which the results are known, on
    /// all threads.
    ///
    /// # Errors
    /// As [`Tablebase::probe`], also if a table of distances is missing.
    pub fn read<R: Rules>(
        tables: &Tablebase,
        results: &SliceResults,
        slice: Slice,
        metric: Metric,
    ) -> Result<SliceDistances, ProbeError> {
        let (mut distances, following) = SliceDistances::read_stored::<R>(tables, slice, metric)?;
        if let Some(side) = following {
            let ahead = Ahead::<R>::new(tables, results, &distances, slice, metric, side);
            let plies = each_chunk(ahead.index.len(), |first, count| ahead.look(first, count))?;
            distances.plies[side] = plies;
        }
        Ok(distances)
    }

    /// The sides to move that are stored; also tells which is not.
    fn read_stored<R: Rules>(
        tables: &Tablebase,
        slice: Slice,
        metric: Metric,
    ) -> Result<(SliceDistances, Option<Color>), ProbeError> {
        let header = tables.header(R::ID, slice, metric);
        let header = header.ok_or_else(|| tables.missing(R::ID, slice, metric))?;
        let mut plies = ByColor::default();
        let (following, stored): (Vec<Color>, Vec<Color>) = header
            .sides()
            .iter()
            .partition(|&&side| header.follows(side));
        for side in stored {
            plies[side] = each_chunk(header.positions, |first, count| {
                let mut values = vec![0; count];
                tables.distances_of::<R>(slice, metric, side, first, &mut values)?;
                Ok(values)
            })?;
        }
        Ok((SliceDistances { plies }, following.first().copied()))
    }

    /// The bytes that all distances of a slice take.
    pub fn bytes(rule_set: RuleSetId, slice: Slice) -> u64 {
        stored_sides(slice).len() as u64 * side_bytes(rule_set, slice)
    }

    /// The distance of a position with a side to move that was read.
    ///
    /// # Panics
    /// If there is no such position.
    #[inline]
    pub fn get(&self, side: Color, position: u64) -> u16 {
        let chunk = &self.plies[side][(position / CHUNK) as usize];
        chunk[(position % CHUNK) as usize]
    }
}

/// The bytes that all distances with one side to move take.
fn side_bytes(rule_set: RuleSetId, slice: Slice) -> u64 {
    slice.positions(rule_set.rules().geometry) * size_of::<u16>() as u64
}

/// Looks ahead in one slice with all that is stored of it in memory.
struct Ahead<'t, R: Rules> {
    tables: &'t Tablebase,
    index: SliceIndex<R::Geometry>,
    results: &'t SliceResults,
    /// Of the other side to move.
    stored: &'t SliceDistances,
    metric: Metric,
    /// The side to move that is not stored.
    side: Color,
}

impl<'t, R: Rules> Ahead<'t, R> {
    fn new(
        tables: &'t Tablebase,
        results: &'t SliceResults,
        stored: &'t SliceDistances,
        slice: Slice,
        metric: Metric,
        side: Color,
    ) -> Self {
        Ahead {
            tables,
            index: SliceIndex::new(slice),
            results,
            stored,
            metric,
            side,
        }
    }

    /// The distances of so many positions from a first one on, zero for draws.
    fn look(&self, first: u64, count: usize) -> Result<Vec<u16>, ProbeError> {
        let positions = first..first + count as u64;
        positions.map(|position| self.distance(position)).collect()
    }

    fn distance(&self, position: u64) -> Result<u16, ProbeError> {
        let result = self.results.get(self.side, position);
        let board = self.index.unrank(position, self.side);
        if result == Wdl::Draw || has_capture::<R>(&board) {
            return self.tables.known_distance::<R>(&board, self.metric, result);
        }
        let plies = distance_ahead::<R>(
            &board,
            self.metric,
            result,
            |after, stays| match stays {
                true => Ok(self.results.get(after.side, self.index.rank(after))),
                false => self.tables.result::<R>(after),
            },
            |after, stays, result| match stays {
                true => Ok(Some(self.stored.get(after.side, self.index.rank(after)))),
                false => self.tables.distance::<R>(after, self.metric, result),
            },
        );
        plies?.ok_or_else(|| self.tables.lacking_distance::<R>(&board, self.metric))
    }
}

/// Whether every distance that a table leaves out, which is not on the disk yet, is found by looking
/// ahead; not so if a table that this takes is missing or says otherwise. Those of other slices and
/// of the results must be in `directory`. Keeps so many bytes of decoded blocks.
pub(crate) fn is_found(
    directory: &Path,
    table: TableFile,
    values: &dyn SliceValues,
    cache: u64,
) -> Result<bool, ProbeError> {
    let (rule_set, metric) = (table.header().rule_set, table.header().metric);
    let mut tables = Tablebase::with_cache(&[directory], cache);
    tables.add(table);
    let found = with_rules!(rule_set, R => compare::<R>(&tables, values, metric));
    match found {
        // Contradiction would mean wrong values: they are stored as they are, and verification will
        // tell.
        Err(ProbeError::Missing { .. } | ProbeError::Contradiction { .. }) => Ok(false),
        found => found,
    }
}

/// The bytes that [`is_found`] takes at most, beside what each thread is at.
pub(crate) fn finding_bytes(rule_set: RuleSetId, slice: Slice, cache: u64) -> u64 {
    cache + SliceResults::bytes(rule_set, slice) + side_bytes(rule_set, slice)
}

fn compare<R: Rules>(
    tables: &Tablebase,
    values: &dyn SliceValues,
    metric: Metric,
) -> Result<bool, ProbeError> {
    let slice = values.slice();
    let results = SliceResults::read::<R>(tables, slice)?;
    let (stored, following) = SliceDistances::read_stored::<R>(tables, slice, metric)?;
    let Some(side) = following else {
        return Ok(true);
    };
    let ahead = Ahead::<R>::new(tables, &results, &stored, slice, metric, side);
    let same = each_chunk(values.positions(), |first, count| {
        let mut plies = vec![0; count];
        values.distances(metric, side, first, &mut plies);
        let found = ahead.look(first, count)?;
        let pairs = (first..).zip(found.into_iter().zip(plies));
        let decided = pairs.filter(|&(position, _)| results.get(side, position) != Wdl::Draw);
        Ok(decided
            .into_iter()
            .all(|(_, (found, plies))| found == plies))
    })?;
    Ok(same.into_iter().all(|same| same))
}
