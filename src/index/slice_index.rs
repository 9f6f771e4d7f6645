use super::{Slice, Subsets, binomial, rank, unrank};
use crate::board::{Board, ByColor, Color, Geometry, Word};

/// Numbers the positions of one slice for one side to move, see the [module](super).
#[derive(Clone, Debug)]
pub struct SliceIndex<G: Geometry> {
    slice: Slice,
    /// First block with `i` white men on Black's promotion row; the last entry is the block count.
    block_start: Vec<u64>,
    /// Placements of White's kings in a block.
    white_placements: u64,
    /// Placements of Black's kings for one placement of White's.
    black_placements: u64,
    geometry: std::marker::PhantomData<G>,
}

impl<G: Geometry> SliceIndex<G> {
    /// Squares of neither promotion row.
    const MIDDLE: usize = G::SQUARES - 2 * G::ID.per_rank() as usize;
    const ROW: usize = G::ID.per_rank() as usize;

    pub fn new(slice: Slice) -> Self {
        let (white, black) = (slice.men(Color::White), slice.men(Color::Black));
        let mut blocks = 0;
        let mut block_start = vec![0];
        for on_row in 0..=white {
            let elsewhere = white - on_row;
            if on_row <= Self::ROW && elsewhere <= Self::MIDDLE {
                blocks += binomial(Self::ROW, on_row)
                    * binomial(Self::MIDDLE, elsewhere)
                    * binomial(G::SQUARES - Self::ROW - elsewhere, black);
            }
            block_start.push(blocks);
        }
        let free = G::SQUARES - white - black;
        let kings = slice.kings(Color::White);
        SliceIndex {
            slice,
            block_start,
            white_placements: binomial(free, kings),
            black_placements: binomial(free - kings, slice.kings(Color::Black)),
            geometry: std::marker::PhantomData,
        }
    }

    pub fn slice(&self) -> Slice {
        self.slice
    }

    /// Positions for one side to move.
    pub fn len(&self) -> u64 {
        self.blocks() * self.block_len()
    }

    /// Never true: every slice has positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of configurations of the men.
    pub fn blocks(&self) -> u64 {
        self.block_start[self.block_start.len() - 1]
    }

    /// Placements of all kings for one configuration of the men.
    #[inline(always)]
    pub fn block_len(&self) -> u64 {
        self.white_placements * self.black_placements
    }

    /// Placements of Black's kings for one placement of everything else.
    pub fn black_placements(&self) -> u64 {
        self.black_placements
    }

    /// The number of a configuration of men, which must be of this slice's material.
    #[inline(always)]
    pub fn block_rank(&self, men: ByColor<G::Word>) -> u64 {
        let white = men[Color::White];
        let on_row = white & G::BOTTOM;
        let elsewhere = white & !G::BOTTOM;
        let count = on_row.count_ones() as usize;
        let others = self.slice.men(Color::White) - count;
        let black_ways = binomial(
            G::SQUARES - Self::ROW - others,
            self.slice.men(Color::Black),
        );
        let white_rank = rank(on_row, G::BOTTOM) * binomial(Self::MIDDLE, others)
            + rank(elsewhere, Self::middle());
        self.block_start[count]
            + white_rank * black_ways
            + rank(men[Color::Black], G::BOARD & !G::BOTTOM & !white)
    }

    /// The men of a block.
    ///
    /// # Panics
    /// If there are not that many blocks.
    pub fn block_unrank(&self, block: u64) -> ByColor<G::Word> {
        assert!(block < self.blocks());
        let count = self.block_start.partition_point(|&start| start <= block) - 1;
        let others = self.slice.men(Color::White) - count;
        let black = self.slice.men(Color::Black);
        let black_ways = binomial(G::SQUARES - Self::ROW - others, black);
        let block = block - self.block_start[count];
        let (white_rank, black_rank) = (block / black_ways, block % black_ways);
        let ways = binomial(Self::MIDDLE, others);
        let white = unrank(white_rank / ways, count, G::BOTTOM)
            | unrank(white_rank % ways, others, Self::middle());
        ByColor::new(
            white,
            unrank(black_rank, black, G::BOARD & !G::BOTTOM & !white),
        )
    }

    /// The men of every block, in order.
    pub fn all_men(&self) -> impl Iterator<Item = ByColor<G::Word>> {
        let (white, black) = (self.slice.men(Color::White), self.slice.men(Color::Black));
        (0..=white).flat_map(move |count| {
            Subsets::new(count, G::BOTTOM).flat_map(move |on_row| {
                Subsets::new(white - count, Self::middle()).flat_map(move |elsewhere| {
                    let white = on_row | elsewhere;
                    Subsets::new(black, G::BOARD & !G::BOTTOM & !white)
                        .map(move |black| ByColor::new(white, black))
                })
            })
        })
    }

    /// The number of a position of this slice's material, whichever side is to move.
    #[inline(always)]
    pub fn rank(&self, board: &Board<G>) -> u64 {
        let free = G::BOARD & !(board.men[Color::White] | board.men[Color::Black]);
        let [white, black] = board.kings.0;
        self.block_rank(board.men) * self.block_len()
            + rank(white, free) * self.black_placements
            + rank(black, free & !white)
    }

    /// The position with a number below [`SliceIndex::len`].
    ///
    /// # Panics
    /// If there are not that many positions.
    pub fn unrank(&self, number: u64, side: Color) -> Board<G> {
        let men = self.block_unrank(number / self.block_len());
        let kings = number % self.block_len();
        let free = G::BOARD & !(men[Color::White] | men[Color::Black]);
        let white = unrank(
            kings / self.black_placements,
            self.slice.kings(Color::White),
            free,
        );
        let black = unrank(
            kings % self.black_placements,
            self.slice.kings(Color::Black),
            free & !white,
        );
        Board {
            men,
            kings: ByColor::new(white, black),
            side,
        }
    }

    fn middle() -> G::Word {
        G::BOARD & !G::BOTTOM & !G::TOP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Board8x8, Board10x8, Board10x10, Board12x12, BoardAll8x8};

    fn numbers_round_trip<G: Geometry>(pieces: usize) {
        for slice in Slice::all(pieces, true) {
            let index = SliceIndex::<G>::new(slice);
            assert_eq!(index.len(), slice.positions(G::ID), "{slice}");
            let men: Vec<_> = index.all_men().collect();
            assert_eq!(men.len() as u64, index.blocks());
            for (block, men) in men.into_iter().enumerate().step_by(97) {
                assert_eq!(index.block_unrank(block as u64), men);
            }
            let stride = (index.len() / 20_000).max(1);
            for number in (0..index.len()).step_by(stride as usize) {
                let board = index.unrank(number, Color::White);
                assert_eq!(Slice::of(&board), Some(slice));
                assert!((board.men[Color::White] & G::TOP).is_empty());
                assert!((board.men[Color::Black] & G::BOTTOM).is_empty());
                assert_eq!(index.rank(&board), number, "{slice}\n{board}");
            }
        }
    }

    #[test]
    fn every_number_is_one_position() {
        numbers_round_trip::<Board8x8>(2);
        numbers_round_trip::<Board8x8>(5);
        numbers_round_trip::<Board10x10>(4);
        numbers_round_trip::<Board12x12>(4);
        numbers_round_trip::<Board10x8>(3);
        numbers_round_trip::<BoardAll8x8>(4);
    }
}
