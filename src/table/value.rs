use std::fmt;

use crate::board::Color;
use crate::index::Slice;

/// The result of a position under best play, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Wdl {
    Loss = 0,
    Draw = 1,
    Win = 2,
}

impl Wdl {
    /// The result with a code, as stored in tables.
    #[inline]
    pub const fn of(code: u16) -> Option<Wdl> {
        match code {
            0 => Some(Wdl::Loss),
            1 => Some(Wdl::Draw),
            2 => Some(Wdl::Win),
            _ => None,
        }
    }

    /// The same result seen by the opponent.
    #[inline(always)]
    pub const fn reversed(self) -> Wdl {
        match self {
            Wdl::Loss => Wdl::Win,
            Wdl::Draw => Wdl::Draw,
            Wdl::Win => Wdl::Loss,
        }
    }
}

impl fmt::Display for Wdl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Wdl::Loss => "loss",
            Wdl::Draw => "draw",
            Wdl::Win => "win",
        })
    }
}

/// What a table says of its positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Metric {
    /// Win, draw or loss.
    Wdl = 0,
    /// Plies to the next conversion: a capture or a man's move.
    Dtc = 1,
    /// Plies to the end of the game.
    Dtw = 2,
}

impl Metric {
    pub const ALL: [Metric; 3] = [Metric::Wdl, Metric::Dtc, Metric::Dtw];

    /// The name on the command line and the extension of table files.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::Wdl => "wdl",
            Metric::Dtc => "dtc",
            Metric::Dtw => "dtw",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The values of all positions of one canonical slice, in the order of
/// [`SliceIndex`](crate::index::SliceIndex), readable in any order and from several threads.
///
/// A solver implements it, and so does an open table; a writer and a solver that resumes read it.
pub trait SliceValues: Sync {
    fn slice(&self) -> Slice;

    /// Positions for one side to move.
    fn positions(&self) -> u64;

    /// Whether distances of a metric are known ([`Metric::Wdl`]: always).
    fn has(&self, metric: Metric) -> bool;

    /// Results of the positions from number `first` on with `side` to move, as many as `out` holds.
    /// The range must lie inside the slice.
    fn results(&self, side: Color, first: u64, out: &mut [Wdl]);

    /// Distances in plies, likewise; what is written for draws means nothing.
    fn distances(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]);
}
