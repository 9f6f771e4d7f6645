use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::{Subsets, rank};
use crate::solve::cpu::Task;
use crate::solve::lookup::bit;
use crate::solve::planes::{PlaneSlice, PlaneWord, Planes};

/// Fills in the block in which the colours are exchanged.
pub struct Mirror<'t, G: Geometry> {
    pub slice: &'t PlaneSlice<G>,
    pub block: u64,
    pub twin: u64,
    /// The men of `block`.
    pub men: ByColor<G::Word>,
}

impl<G: Geometry<Word: PlaneWord>> Task for Mirror<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let slice = self.slice;
        let (columns, words) = (slice.columns(), slice.block_words());
        let free = G::BOARD & !(self.men[Color::White] | self.men[Color::Black]);
        let twin_free = G::turn(free);
        let (from, mut to) = (self.block as usize * words, self.twin as usize * words);
        let kings = slice.slice().kings(Color::White);
        let others: Vec<G::Word> = Subsets::new(kings - 1, twin_free).collect();
        for white in Subsets::new(kings, twin_free) {
            // White's kings in the twin are Black's here.
            let black = G::turn(white);
            let fast = black.lowest();
            let place = fast.trailing_zeros();
            let column = from + rank(black ^ fast, free) as usize;
            for &others in &others {
                let squares = twin_free & !white & !others;
                for side in Color::BOTH {
                    let mut planes = Planes::default();
                    if (white & others).is_empty() {
                        for square in squares.bits() {
                            let row = rank(G::turn(others | square), free) as usize;
                            let there = slice.load(!side, column + row * columns);
                            planes.win |= square & bit(there.win, place);
                            planes.loss |= square & bit(there.loss, place);
                        }
                    }
                    slice.store(side, to, planes);
                }
                to += 1;
            }
        }
    }
}
