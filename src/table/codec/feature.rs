use crate::board::{Dir, Geometry, GeometryId};

/// Something known of a position before its value is decoded: part of a context. Each has a number
/// (part of the file format) and a radix, the count of the values it can have.
///
/// The value of a *neighbour* is its code, 3 if it is left out, off the board, not decoded yet or
/// in another block. Directions are compass directions as White sees the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    /// The value decoded last in this block.
    Last,
    /// The value with the fast piece so many steps away.
    Fast { dir: Dir, steps: usize },
    /// The value with the next slower piece so many steps away.
    Slower { dir: Dir, steps: usize },
    /// The value in the row decoded last, with the fast piece on the same square.
    RowBefore,
    /// The opponent could capture if he were to move.
    OpponentCaptures,
    /// The fast piece stands on the edge.
    Edge,
    /// It stands on an odd rank.
    OddRank,
    /// It stands on the long diagonal through White's left corner.
    MainRoad,
    /// It stands next to that diagonal.
    BesideMainRoad,
    /// An enemy of the fast piece is one step away.
    TouchesEnemy,
    /// A friend is.
    TouchesFriend,
    /// An enemy is two steps in one direction away.
    NearEnemy,
    /// The ranks of all pieces, White's first being 0, add up to an odd number.
    Opposition,
    /// The number of the next slower piece's square, rank by rank from White's left corner.
    SlowerSquare,
    /// The rank of the fast piece.
    Rank,
    /// Its file, halved on boards of one colour.
    File,
    /// Its square.
    Square,
    /// The rank of White's most advanced man, 0 without men.
    WhiteAdvance,
    /// The rank of Black's most advanced man counted from his side, 0 without men.
    BlackAdvance,
    /// What the same block says with the other side to move.
    Other(Other),
}

/// A feature of the block that has the same positions with the other side to move.
///
/// Its values are known for all squares of all rows. The *best* is the least of them, as they are
/// the other side's, 3 if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Other {
    /// The value of the same position.
    Same,
    /// The value with the fast piece one step away.
    Fast { dir: Dir },
    /// The value with the next slower piece one step away.
    Slower { dir: Dir },
    /// The best that the fast piece can move to.
    BestFast,
    /// The best that the slower piece can move to, if it is the side to move's.
    BestSlower,
    /// The better of both.
    Best,
    /// All squares the fast piece can move to have a value.
    AllFast,
}

use Feature as F;

impl Feature {
    /// Features are numbered from 0 to this, exclusively.
    pub const COUNT: u8 = 70;
    /// Those below this number ask for nothing but the block itself.
    pub const OWN: u8 = 49;

    /// The feature with a number below [`Feature::COUNT`].
    pub fn numbered(number: u8) -> Option<Feature> {
        let dir = |first: u8| usize::from(number - first) % 8;
        let steps = |first: u8| 1 + usize::from(number - first) / 8;
        Some(match number {
            0 => F::Last,
            1..=16 => F::Fast {
                dir: dir(1),
                steps: steps(1),
            },
            17..=32 => F::Slower {
                dir: dir(17),
                steps: steps(17),
            },
            33 => F::RowBefore,
            34 => F::OpponentCaptures,
            35 => F::Edge,
            36 => F::OddRank,
            37 => F::MainRoad,
            38 => F::BesideMainRoad,
            39 => F::TouchesEnemy,
            40 => F::TouchesFriend,
            41 => F::NearEnemy,
            42 => F::Opposition,
            43 => F::SlowerSquare,
            44 => F::Rank,
            45 => F::File,
            46 => F::Square,
            47 => F::WhiteAdvance,
            48 => F::BlackAdvance,
            49 => F::Other(Other::Same),
            50..=57 => F::Other(Other::Fast { dir: dir(50) }),
            58..=65 => F::Other(Other::Slower { dir: dir(58) }),
            66 => F::Other(Other::BestFast),
            67 => F::Other(Other::BestSlower),
            68 => F::Other(Other::Best),
            69 => F::Other(Other::AllFast),
            _ => return None,
        })
    }

    /// The number of the feature.
    pub fn number(self) -> Option<u8> {
        (0..Feature::COUNT).find(|&number| Feature::numbered(number) == Some(self))
    }

    /// The count of values the feature can have on a board.
    pub fn radix<G: Geometry>(self) -> usize {
        match self {
            F::Other(Other::AllFast) => 2,
            F::Last | F::Fast { .. } | F::Slower { .. } | F::RowBefore | F::Other(_) => 4,
            F::SlowerSquare | F::Square => G::SQUARES,
            F::Rank | F::WhiteAdvance | F::BlackAdvance => G::RANKS,
            F::File => usize::from(G::ID.per_rank()),
            _ => 2,
        }
    }

    /// The value of a feature that depends on nothing but the fast piece's square (its number in
    /// the order of [`GeometryId::cell`]); none for other features.
    pub fn of_square(self, id: GeometryId, square: u8) -> Option<usize> {
        let (rank, file) = id.cell(square);
        let diagonal = i32::from(rank) - i32::from(file);
        let beside = if id.all_cells() { 1 } else { 2 };
        Some(match self {
            F::Edge => usize::from(
                rank == 0 || file == 0 || rank + 1 == id.ranks() || file + 1 == id.files(),
            ),
            F::OddRank => usize::from(rank % 2),
            F::MainRoad => usize::from(diagonal == 0),
            F::BesideMainRoad => usize::from(diagonal.abs() == beside),
            F::Rank => usize::from(rank),
            F::File => usize::from(file) * usize::from(id.per_rank()) / usize::from(id.files()),
            F::Square => usize::from(square),
            _ => return None,
        })
    }
}
