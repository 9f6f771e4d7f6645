use std::fmt;

use crate::board::{
    Board8x8, Board10x8, Board10x10, Board12x12, BoardAll8x8, Dirs, Geometry, GeometryId,
};

/// On which squares a capturing king may land behind the captured piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Landing {
    /// Any empty square up to the next piece.
    Any,
    /// Only the square immediately behind.
    Next,
    /// Any, but immediately behind when the last piece captured in the move is a king (Killer).
    NextAfterKing,
}

/// When captured pieces leave the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Removal {
    /// After the whole capture: until then they block, and may not be jumped twice.
    AtEnd,
    /// Each as it is jumped, which may open lines for the rest of the capture.
    AtOnce,
}

/// What happens to a man that reaches its promotion row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Promotion {
    /// It becomes a king and the move ends, even if more could be captured.
    Halt,
    /// It becomes a king only if its move ends there; in a capture it goes on as a man.
    Stop,
    /// It becomes a king at once and goes on capturing as a king.
    Run,
    /// As [`Promotion::Stop`], and ending a move there wins the game (Breakthrough).
    Win,
}

/// Which of several possible captures may be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Any, but each must be played to its end.
    Free,
    /// The most pieces.
    Most,
    /// The most pieces, then the most kings among them (Spanish).
    MostThenKings,
    /// The highest value, a man counting 100 and a king 199; at equal value with a king (Frisian).
    Value,
    /// The most pieces; with a king if possible; a king then takes the most kings; then meets them
    /// earliest (Italian).
    Italian,
    /// With a king if any king can capture; otherwise any (Czech).
    KingFirst,
}

/// Who has won when the side to move has no legal move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The opponent.
    Normal,
    /// The side to move: pieces are to be lost.
    Reversed,
}

/// The rules of play of a variant, as data. Directions are those of White.
///
/// Facts: the rule sheet in `docs/RULES.md`, which names the governing body for each choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSet {
    pub geometry: GeometryId,
    pub man_moves: Dirs,
    pub man_captures: Dirs,
    pub man_takes_king: bool,
    pub king_moves: Dirs,
    pub king_captures: Dirs,
    /// Kings move and capture over any distance.
    pub flying: bool,
    pub landing: Landing,
    pub removal: Removal,
    /// Within a capture the piece may turn by 180 degrees between two jumps.
    pub may_reverse: bool,
    pub promotion: Promotion,
    pub choice: Choice,
    pub goal: Goal,
}

impl RuleSet {
    /// Kings exist at all.
    #[inline]
    pub const fn has_kings(&self) -> bool {
        !matches!(self.promotion, Promotion::Win)
    }

    /// Men can also step sideways, so that a man's move need not be progress (Turkish).
    #[inline]
    pub const fn has_lateral_moves(&self) -> bool {
        self.man_moves.contains(Dirs::E)
    }
}

/// A rule set as a type, so that code generic over it has every rule as a constant.
pub trait Rules: Copy + Clone + fmt::Debug + Default + Send + Sync + 'static {
    type Geometry: Geometry;
    const ID: RuleSetId;
    const SET: RuleSet;
}

const INTERNATIONAL: RuleSet = RuleSet {
    geometry: GeometryId::Board10x10,
    man_moves: Dirs::DIAGONAL_FORWARD,
    man_captures: Dirs::DIAGONAL,
    man_takes_king: true,
    king_moves: Dirs::DIAGONAL,
    king_captures: Dirs::DIAGONAL,
    flying: true,
    landing: Landing::Any,
    removal: Removal::AtEnd,
    may_reverse: true,
    promotion: Promotion::Stop,
    choice: Choice::Most,
    goal: Goal::Normal,
};

const RUSSIAN: RuleSet = RuleSet {
    geometry: GeometryId::Board8x8,
    promotion: Promotion::Run,
    choice: Choice::Free,
    ..INTERNATIONAL
};

const ENGLISH: RuleSet = RuleSet {
    man_captures: Dirs::DIAGONAL_FORWARD,
    flying: false,
    promotion: Promotion::Halt,
    ..RUSSIAN
};

const SPANISH: RuleSet = RuleSet {
    flying: true,
    choice: Choice::MostThenKings,
    ..ENGLISH
};

// The list of rule sets. `$d` is a literal `$`, which the macro defined inside needs for its own
// parameters.
macro_rules! rule_sets {
    ($d:tt $($(#[$doc:meta])* $name:ident = $id:literal, $text:literal, $geometry:ident, $set:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct $name;

            impl Rules for $name {
                type Geometry = $geometry;
                const ID: RuleSetId = RuleSetId::$name;
                const SET: RuleSet = $set;
            }
        )*

        /// Names a rule set. The numbers are part of the file format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum RuleSetId {
            $($name = $id),*
        }

        impl RuleSetId {
            pub const ALL: &'static [RuleSetId] = &[$(RuleSetId::$name),*];

            /// The name under which tables of the rule set are filed.
            pub const fn name(self) -> &'static str {
                match self { $(RuleSetId::$name => $text),* }
            }

            pub const fn rules(self) -> &'static RuleSet {
                match self { $(RuleSetId::$name => &<$name as Rules>::SET),* }
            }
        }

        /// Runs an expression with `R` naming the [`Rules`] type of a [`RuleSetId`].
        #[macro_export]
        macro_rules! with_rules {
            ($d id:expr, $d R:ident => $d body:expr) => {
                match $d id {
                    $($d crate::rules::RuleSetId::$name => {
                        type $d R = $d crate::rules::$name;
                        $d body
                    })*
                }
            };
        }
        pub use with_rules;
    };
}

rule_sets! { $
    /// English draughts, American straight checkers (WCDF).
    English = 0, "english", Board8x8, ENGLISH;
    /// Russian draughts (IDF).
    Russian = 1, "russian", Board8x8, RUSSIAN;
    /// Brazilian draughts: international rules on 8x8.
    Brazilian = 2, "brazilian", Board8x8,
        RuleSet { geometry: GeometryId::Board8x8, ..INTERNATIONAL };
    /// International draughts (FMJD).
    International = 3, "international", Board10x10, INTERNATIONAL;
    /// Canadian draughts: international rules on 12x12.
    Canadian = 4, "canadian", Board12x12,
        RuleSet { geometry: GeometryId::Board12x12, ..INTERNATIONAL };
    /// Italian draughts (FID).
    Italian = 5, "italian", Board8x8,
        RuleSet { man_takes_king: false, choice: Choice::Italian, ..ENGLISH };
    /// Spanish draughts, the same rules as Portuguese (FPD).
    Spanish = 6, "spanish", Board8x8, SPANISH;
    /// Czech draughts.
    Czech = 7, "czech", Board8x8, RuleSet { choice: Choice::KingFirst, ..SPANISH };
    /// American pool checkers (APCA).
    Pool = 8, "pool", Board8x8, RuleSet { promotion: Promotion::Stop, ..RUSSIAN };
    /// Thai draughts, makhos.
    Thai = 9, "thai", Board8x8,
        RuleSet {
            landing: Landing::Next,
            removal: Removal::AtOnce,
            choice: Choice::Free,
            ..SPANISH
        };
    /// Turkish dama: orthogonal, all squares.
    Turkish = 10, "turkish", BoardAll8x8,
        RuleSet {
            geometry: GeometryId::BoardAll8x8,
            man_moves: Dirs::FORWARD_AND_SIDEWAYS,
            man_captures: Dirs::FORWARD_AND_SIDEWAYS,
            king_moves: Dirs::ORTHOGONAL,
            king_captures: Dirs::ORTHOGONAL,
            removal: Removal::AtOnce,
            may_reverse: false,
            ..INTERNATIONAL
        };
    /// Frisian draughts, without article 17 (three king moves).
    Frisian = 11, "frisian", Board10x10,
        RuleSet {
            man_captures: Dirs::ALL,
            king_captures: Dirs::ALL,
            choice: Choice::Value,
            ..INTERNATIONAL
        };
    /// Killer draughts.
    Killer = 12, "killer", Board10x10,
        RuleSet { landing: Landing::NextAfterKing, ..INTERNATIONAL };
    /// Breakthrough draughts: the first side to end a move on its promotion row wins.
    Breakthrough = 13, "breakthrough", Board10x10,
        RuleSet { promotion: Promotion::Win, ..INTERNATIONAL };
    /// Antidraughts: international moves, reversed goal.
    Antidraughts = 14, "antidraughts", Board10x10,
        RuleSet { goal: Goal::Reversed, ..INTERNATIONAL };
    /// Poddavki: Russian moves, reversed goal.
    Poddavki = 15, "poddavki", Board8x8, RuleSet { goal: Goal::Reversed, ..RUSSIAN };
    /// English moves, reversed goal.
    EnglishLosing = 16, "english-losing", Board8x8,
        RuleSet { goal: Goal::Reversed, ..ENGLISH };
    /// Spantsireti: Russian rules on 10 files by 8 ranks.
    Spantsireti = 17, "spantsireti", Board10x8,
        RuleSet { geometry: GeometryId::Board10x8, ..RUSSIAN };
}

impl fmt::Display for RuleSetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
