//! What a table of the small profile must say of positions with a threat: nothing, if the prober
//! finds their results; the result, if it does not.

use std::path::Path;

use super::search::{Ask, Effort, Reach, Unanswered, is_threatened};
use super::{ProbeError, Tablebase};
use crate::board::Color;
use crate::index::SliceIndex;
use crate::parallel;
use crate::rules::movegen::has_capture;
use crate::rules::{Rules, with_rules};
use crate::table::{SliceValues, TableError, TableFile, Wdl};

/// The deepest search a table may ask of the prober.
pub(crate) const DEPTH: u16 = 24;
/// The most positions without a stored result that may be met on the way.
const POSITIONS: u32 = 64;
/// Positions tried by one task.
const CHUNK: u64 = 1 << 14;

/// Chunks tried at once by each thread, before what was found is handed on.
const WINDOW: u64 = 16;

/// What the prober found of some positions with a threat.
#[derive(Debug, Default)]
struct Exceptions {
    /// Positions it cannot settle, with their results, in ascending order.
    positions: Vec<(u64, Wdl)>,
    /// The deepest search of the others.
    depth: u16,
}

/// Where positions that cannot be settled go, with their results.
type Sink<'s> = &'s mut dyn FnMut(Color, &[(u64, Wdl)]) -> Result<(), TableError>;

/// Runs the prober on every position with a threat of a table that is not written yet and has no
/// exceptions; the tables its captures lead to must be in `directory`. Positions it cannot settle
/// go to the sink, those of a side to move in ascending order. Returns the deepest search of the
/// others. Keeps so many bytes of decoded blocks.
pub(crate) fn exceptions(
    directory: &Path,
    table: TableFile,
    values: &dyn SliceValues,
    cache: u64,
    sink: Sink,
) -> Result<u16, ProbeError> {
    let rule_set = table.header().rule_set;
    let sides = table.header().sides();
    let mut tables = Tablebase::with_cache(&[directory], cache);
    tables.add(table);
    let mut depth = 0;
    for &side in sides {
        let found = with_rules!(rule_set, R => search::<R>(&tables, side, values, sink)?);
        depth = depth.max(found);
    }
    Ok(depth)
}

fn search<R: Rules>(
    tables: &Tablebase,
    side: Color,
    values: &dyn SliceValues,
    sink: Sink,
) -> Result<u16, ProbeError> {
    let index = SliceIndex::<R::Geometry>::new(values.slice());
    let chunks = index.len().div_ceil(CHUNK);
    let window = WINDOW * rayon::current_num_threads() as u64;
    let mut depth = 0;
    for first in (0..chunks).step_by(window as usize) {
        let count = window.min(chunks - first);
        let parts = parallel::map(count, &|i| {
            search_chunk::<R>(tables, &index, side, values, first + i)
        });
        for part in parts {
            let part = part?;
            depth = depth.max(part.depth);
            sink(side, &part.positions)?;
        }
    }
    Ok(depth)
}

fn search_chunk<R: Rules>(
    tables: &Tablebase,
    index: &SliceIndex<R::Geometry>,
    side: Color,
    values: &dyn SliceValues,
    chunk: u64,
) -> Result<Exceptions, ProbeError> {
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
            Ok(_) | Err(Unanswered::Error(ProbeError::Depth { .. })) => {
                found.positions.push((position, result));
            }
            Err(Unanswered::Error(error)) => return Err(error),
            Err(Unanswered::NotCached) => unreachable!("files are read"),
        }
    }
    Ok(found)
}
