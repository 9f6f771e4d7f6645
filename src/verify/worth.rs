use crate::board::{Board, Geometry, Word};
use crate::probe::Outcome;
use crate::rules::Rules;
use crate::table::Wdl;

/// What the moves of a position make of it.
#[derive(Default)]
pub(super) struct Worth {
    best: Option<Wdl>,
    /// A move wins for certain.
    wins: bool,
    /// Not every move loses for certain.
    saves: bool,
}

impl Worth {
    /// A move with its result for who makes it; `firm` if that is grounded.
    pub fn add(&mut self, result: Wdl, firm: bool) {
        self.best = self.best.max(Some(result));
        self.wins |= firm && result == Wdl::Win;
        self.saves |= !firm || result != Wdl::Loss;
    }

    pub fn result<R: Rules>(&self) -> Wdl {
        self.best.unwrap_or(Outcome::without_move(&R::SET).result)
    }

    /// Whether a win or a loss needs no position that is not grounded.
    pub fn is_grounded(&self, found: Wdl) -> bool {
        match found {
            Wdl::Win => self.wins || self.best.is_none(),
            _ => !self.saves,
        }
    }
}

/// A set of moves as a sum of hashes: two generators agree if taking the moves of one from those
/// of the other leaves nothing.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Moves {
    count: i64,
    sum: u64,
}

impl Moves {
    pub fn add<G: Geometry>(&mut self, after: &Board<G>, converts: bool) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(Self::hash(after, converts));
    }

    pub fn take<G: Geometry>(&mut self, after: &Board<G>, converts: bool) {
        self.count -= 1;
        self.sum = self.sum.wrapping_sub(Self::hash(after, converts));
    }

    fn hash<G: Geometry>(board: &Board<G>, converts: bool) -> u64 {
        const ODD: [[u64; 2]; 4] = [
            [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F],
            [0x1656_67B1_9E37_79F9, 0xD6E8_FEB8_6659_FD93],
            [0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB],
            [0x8EBC_6AF0_9C88_C6E3, 0x5899_65CC_7537_4CC3],
        ];
        let ([white, black], [white_kings, black_kings]) = (board.men.0, board.kings.0);
        let mut hash = 0u64;
        for (word, odd) in [white, black, white_kings, black_kings].iter().zip(ODD) {
            let bits = word.to_u128();
            hash = hash
                .wrapping_add((bits as u64).wrapping_mul(odd[0]))
                .wrapping_add(((bits >> 64) as u64).wrapping_mul(odd[1]));
        }
        let hash = (hash ^ hash >> 32 ^ u64::from(converts)).wrapping_mul(ODD[0][0]);
        hash ^ hash >> 32
    }
}
