use std::ffi::c_char;

use crownhead::board::Position;
use crownhead::notation::{moves, parse_position};
use crownhead::probe::{LineEnd, Outcome, RankedMove};
use crownhead::rules::reference::legal_moves;
use crownhead::table::Wdl;

use crate::Tablebase;
use crate::errors::{Failure, Status, call, write_text};
use crate::positions::{BoardPosition, Squares, put, text, variant_of};

/// The side to move loses.
pub const CROWNHEAD_LOSS: i32 = 0;
/// Neither side can win.
pub const CROWNHEAD_DRAW: i32 = 1;
/// The side to move wins.
pub const CROWNHEAD_WIN: i32 = 2;
/// Bytes for the text of a move.
pub const CROWNHEAD_MOVE_TEXT: usize = 96;

/// What is known of a position or a move. Distances are in plies, -1 where there is none: in draws,
/// and where there is no table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ProbedOutcome {
    /// CROWNHEAD_LOSS, CROWNHEAD_DRAW or CROWNHEAD_WIN.
    pub result: i32,
    /// Plies to the next conversion: a capture or a man's move.
    pub dtc: i32,
    /// Plies to the end of the game.
    pub dtw: i32,
}

/// A legal move.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ProbedMove {
    /// The position after it.
    pub after: BoardPosition,
    /// The pieces it takes.
    pub captured: Squares,
    /// Numbers of squares, from 1.
    pub from: u8,
    pub to: u8,
    /// A man becomes a king.
    pub promotes: bool,
    /// It is a capture or a man's move.
    pub conversion: bool,
    /// From 1, the best; equal for moves that are equally good.
    pub rank: u32,
    /// What it is worth to the side that makes it.
    pub outcome: ProbedOutcome,
    /// In the notation of the variant, ended with a zero.
    pub text: [c_char; CROWNHEAD_MOVE_TEXT],
}

impl From<Outcome> for ProbedOutcome {
    fn from(outcome: Outcome) -> ProbedOutcome {
        let plies = |distance: Option<u16>| distance.map_or(-1, i32::from);
        ProbedOutcome {
            result: result_number(outcome.result),
            dtc: plies(outcome.dtc),
            dtw: plies(outcome.dtw),
        }
    }
}

#[inline]
fn result_number(result: Wdl) -> i32 {
    match result {
        Wdl::Loss => CROWNHEAD_LOSS,
        Wdl::Draw => CROWNHEAD_DRAW,
        Wdl::Win => CROWNHEAD_WIN,
    }
}

/// The tablebase and the position of a call.
///
/// # Safety
/// Each must be null or valid for reading.
#[inline]
unsafe fn asked<'a>(
    tables: *const Tablebase,
    position: *const BoardPosition,
) -> Result<(&'a crownhead::probe::Tablebase, Position), Failure> {
    // SAFETY: as the caller promises.
    let (tables, position) = unsafe { (tables.as_ref(), position.as_ref()) };
    let tables = tables.ok_or_else(|| Failure::null("tables"))?;
    let position = position.ok_or_else(|| Failure::null("position"))?;
    Ok((&tables.tables, position.check()?))
}

/// The result of a position for its side to move, for a search.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_probe_wdl(
    tables: *const Tablebase,
    position: *const BoardPosition,
    result: *mut i32,
) -> Status {
    call(tables, || {
        // SAFETY: null or valid, as the header demands.
        let (tables, position) = unsafe { asked(tables, position) }?;
        let found = tables.probe_wdl(&position)?;
        // SAFETY: as above.
        unsafe { put(result, "result", result_number(found)) }
    })
}

/// The same, but only if it follows from what is decoded already; no file is touched. Else
/// CROWNHEAD_NOT_CACHED, which leaves no error text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_probe_wdl_cached(
    tables: *const Tablebase,
    position: *const BoardPosition,
    result: *mut i32,
) -> Status {
    let mut is_cached = true;
    let status = call(tables, || {
        // SAFETY: null or valid, as the header demands.
        let (tables, position) = unsafe { asked(tables, position) }?;
        if result.is_null() {
            return Err(Failure::null("result"));
        }
        let Some(found) = tables.probe_wdl_cached(&position)? else {
            is_cached = false;
            return Ok(());
        };
        // SAFETY: as above.
        unsafe { put(result, "result", result_number(found)) }
    });
    match is_cached {
        true => status,
        false => Status::CrownheadNotCached,
    }
}

/// The result of a position with what distances the tables have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_probe(
    tables: *const Tablebase,
    position: *const BoardPosition,
    outcome: *mut ProbedOutcome,
) -> Status {
    call(tables, || {
        // SAFETY: null or valid, as the header demands.
        let (tables, position) = unsafe { asked(tables, position) }?;
        let found = tables.probe(&position)?;
        // SAFETY: as above.
        unsafe { put(outcome, "outcome", found.into()) }
    })
}

/// The same for a position given as FEN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_probe_fen(
    tables: *const Tablebase,
    variant: i32,
    fen: *const c_char,
    outcome: *mut ProbedOutcome,
) -> Status {
    call(tables, || {
        // SAFETY: null or open, as the header demands.
        let tables = unsafe { tables.as_ref() }.ok_or_else(|| Failure::null("tables"))?;
        let variant = variant_of(variant)?;
        // SAFETY: null or a text, as the header demands.
        let position = parse_position(variant, unsafe { text(fen, "fen") }?);
        let position = position.map_err(|error| Failure::Argument(error.to_string()))?;
        let found = tables.tables.probe(&position)?;
        // SAFETY: null or valid, as the header demands.
        unsafe { put(outcome, "outcome", found.into()) }
    })
}

/// Every legal move, best first. Writes as many as there is room for, and to `count` how many there
/// are. With a capacity of 0 `moves` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_rank_moves(
    tables: *const Tablebase,
    position: *const BoardPosition,
    moves: *mut ProbedMove,
    capacity: usize,
    count: *mut usize,
) -> Status {
    call(tables, || {
        // SAFETY: null or valid, as the header demands.
        let (tables, position) = unsafe { asked(tables, position) }?;
        let ranked = tables.rank_moves(&position)?;
        let legal = legal_moves(&position);
        let told = ranked.iter().map(|m| {
            let text = moves::format(&position, &m.played, &legal);
            probed(&position, m, &text)
        });
        // SAFETY: `moves` has room for `capacity` moves unless it is null; `count` as above.
        unsafe { put_moves(told, moves, capacity, count) }
    })
}

/// Best play until the game ends, or until the draw is plain. Writes as many moves as there is room
/// for, and to `count` how many there are; also if the line cannot go on for want of a table
/// (CROWNHEAD_MISSING), as far as it goes. `over`: 1 if the game is over at the end, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_line(
    tables: *const Tablebase,
    position: *const BoardPosition,
    moves: *mut ProbedMove,
    capacity: usize,
    count: *mut usize,
    over: *mut i32,
) -> Status {
    call(tables, || {
        // SAFETY: null or valid, as the header demands.
        let (tables, mut position) = unsafe { asked(tables, position) }?;
        let (played, end, failure) = match tables.line(&position) {
            Ok(line) => (line.moves, i32::from(line.end == LineEnd::GameOver), None),
            Err(mut failure) => (std::mem::take(&mut failure.moves), 0, Some(failure)),
        };
        let told = played.iter().map(|m| {
            let text = moves::format(&position, &m.played, &legal_moves(&position));
            let told = probed(&position, m, &text);
            position = position.after(&m.played);
            told
        });
        // SAFETY: as in crownhead_rank_moves.
        unsafe {
            put_moves(told, moves, capacity, count)?;
            put(over, "over", end)?;
        }
        failure.map_or(Ok(()), |failure| Err(Failure::Line(failure)))
    })
}

/// Decodes what positions will ask for, so that later probes find it in the cache; for a thread
/// that has nothing better to do. Positions that cannot be answered are passed over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_prefetch(
    tables: *const Tablebase,
    positions: *const BoardPosition,
    count: usize,
) -> Status {
    call(tables, || {
        // SAFETY: null or open, as the header demands.
        let tables = unsafe { tables.as_ref() }.ok_or_else(|| Failure::null("tables"))?;
        if positions.is_null() && count > 0 {
            return Err(Failure::null("positions"));
        }
        for place in 0..count {
            // SAFETY: `positions` has `count` positions, as the header demands.
            if let Ok(position) = unsafe { &*positions.add(place) }.check() {
                tables.tables.prefetch(&[position]);
            }
        }
        Ok(())
    })
}

fn probed(before: &Position, m: &RankedMove, text: &str) -> ProbedMove {
    let mut told = ProbedMove {
        after: BoardPosition::from(&before.after(&m.played)),
        captured: m.played.captured.into(),
        from: m.played.from.number(),
        to: m.played.to.number(),
        promotes: m.played.promotes,
        conversion: m.played.is_conversion(),
        rank: m.rank as u32,
        outcome: m.outcome.into(),
        text: [0; CROWNHEAD_MOVE_TEXT],
    };
    // SAFETY: the text has this many bytes.
    unsafe { write_text(text, told.text.as_mut_ptr(), CROWNHEAD_MOVE_TEXT) };
    told
}

/// # Safety
/// `moves` must be null or have room for `capacity` moves, `count` null or valid for writing.
unsafe fn put_moves(
    told: impl Iterator<Item = ProbedMove>,
    moves: *mut ProbedMove,
    capacity: usize,
    count: *mut usize,
) -> Result<(), Failure> {
    if moves.is_null() && capacity > 0 {
        return Err(Failure::null("moves"));
    }
    let mut written = 0;
    for m in told {
        if written < capacity {
            // SAFETY: there is room for `capacity` moves, as the caller promises.
            unsafe { moves.add(written).write(m) };
        }
        written += 1;
    }
    // SAFETY: as the caller promises.
    unsafe { put(count, "count", written) }
}
