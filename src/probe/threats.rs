//! What a table of the small profile must say of positions with a threat: nothing, if the prober
//! finds their results; the result, if it does not.

use std::path::Path;

use super::search::{Ask, Effort, Reach, is_threatened};
use super::{ProbeError, Tablebase};
use crate::board::{ByColor, Color};
use crate::index::SliceIndex;
use crate::parallel;
use crate::rules::movegen::has_capture;
use crate::rules::{Rules, with_rules};
use crate::table::{SliceValues, TableFile, Wdl};

/// The deepest search a table may ask of the prober.
pub(crate) const DEPTH: u16 = 24;
/// The most positions without a stored result that may be met on the way.
const POSITIONS: u32 = 64;
/// Positions tried by one task.
const CHUNK: u64 = 1 << 14;

/// What the prober found of all positions with a threat.
#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    /// Positions it cannot settle, with their results, in ascending order.
    pub positions: Vec<(u64, Wdl)>,
    /// The deepest search of the others.
    pub depth: u16,
}

/// Runs the prober on every position with a threat of a table that is not written yet and has no
/// exceptions; the tables its captures lead to must be in `directory`. By side to move.
pub(crate) fn exceptions(
    directory: &Path,
    table: TableFile,
    values: &dyn SliceValues,
) -> Result<ByColor<Exceptions>, ProbeError> {
    let rule_set = table.header().rule_set;
    let sides = table.header().sides();
    let mut tables = Tablebase::open(&[directory]);
    tables.add(table);
    let mut found = ByColor::default();
    for &side in sides {
        found[side] = with_rules!(rule_set, R => search::<R>(&tables, side, values)?);
    }
    Ok(found)
}

fn search<R: Rules>(
    tables: &Tablebase,
    side: Color,
    values: &dyn SliceValues,
) -> Result<Exceptions, ProbeError> {
    let index = SliceIndex::<R::Geometry>::new(values.slice());
    let parts: Vec<Result<Exceptions, ProbeError>> =
        parallel::map(index.len().div_ceil(CHUNK), &|chunk| {
            let first = chunk * CHUNK;
            let mut results = vec![Wdl::Draw; (index.len() - first).min(CHUNK) as usize];
            values.results(side, first, &mut results);
            let mut found = Exceptions::default();
            for (position, result) in (first..).zip(results) {
                let board = index.unrank(position, side);
                if has_capture::<R>(&board) || !is_threatened::<R>(&board) {
                    continue;
                }
                let effort = Effort::default();
                effort.positions_left.set(POSITIONS);
                let ask = Ask {
                    reach: Reach::Files,
                    effort: Some(&effort),
                };
                match tables.search::<R>(&board, ask, 0) {
                    Ok(answer) if answer == result => {
                        found.depth = found.depth.max(effort.deepest.get());
                    }
                    // A wrong answer would mean wrong values: they are stored as they are, and
                    // verification will tell.
                    Ok(_) | Err(ProbeError::Depth { .. }) => {
                        found.positions.push((position, result))
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(found)
        });
    let mut all = Exceptions::default();
    for part in parts {
        let part = part?;
        all.positions.extend(part.positions);
        all.depth = all.depth.max(part.depth);
    }
    Ok(all)
}
