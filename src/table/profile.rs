use std::fmt;

use super::Metric;
use super::codec::LeftOut;

/// What a table is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Profile {
    /// Every value is stored, so that a reader needs no rules.
    Full = 0,
    /// Captures are left to the prober; a block decodes in some microseconds.
    #[default]
    Fast = 1,
    /// Positions in which the opponent threatens a capture are left to the prober, too, and blocks
    /// are twice as large and take several times as long to decode: half the size, and some look-ups
    /// for one answer. Of distances one side to move is stored: half the size, and a look-up for each
    /// move on the other side.
    Small = 2,
}

impl Profile {
    pub const ALL: [Profile; 3] = [Profile::Full, Profile::Fast, Profile::Small];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Full => "full",
            Profile::Fast => "fast",
            Profile::Small => "small",
        }
    }

    /// What a table leaves out. Distances with threats are stored: they would have to be searched
    /// for through the whole line.
    pub(super) fn left_out(self, metric: Metric) -> LeftOut {
        LeftOut {
            captures: self != Profile::Full,
            threats: self == Profile::Small && metric == Metric::Wdl,
        }
    }

    /// Whether a table of distances stores one side to move, where the other one follows.
    pub(super) fn stores_one_side(self, metric: Metric) -> bool {
        self == Profile::Small && metric != Metric::Wdl
    }

    /// Positions in a block of rows.
    pub(super) const fn row_block(self) -> u64 {
        match self {
            Profile::Full | Profile::Fast => 512,
            Profile::Small => 1024,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
