//! Words built from values that are known.

use super::layout::{Layout, TurnedBlock, man_blocks, squares_of_man};
use super::placements;
use std::io;

use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::{Slice, SliceIndex, rank};
use crate::parallel;
use crate::solve::planes::{Fast, PlaneSlice, PlaneWord, Planes};
use crate::table::{SliceValues, Wdl};

/// Positions read from a table at a time.
const BATCH: u64 = 1 << 16;

impl<G: Geometry<Word: PlaneWord>> PlaneSlice<G> {
    /// The word form of a slice whose values are known, for instance from a finished table.
    ///
    /// # Errors
    /// If the system does not give the memory.
    pub fn from_values(values: &dyn SliceValues) -> io::Result<Self> {
        let mut planes = PlaneSlice::new(values.slice())?;
        planes.fill(values);
        Ok(planes)
    }

    /// Bytes each thread takes to fill in values: the results of a batch, the words of a block, and
    /// what the values themselves are read with.
    pub fn filling_bytes(slice: Slice) -> u64 {
        let block = SliceIndex::<G>::new(slice.canonical()).block_len();
        2 * BATCH.max(block) + Self::block_bytes(slice) + (1 << 20)
    }

    /// Fills in the values of a slice nothing is known of yet.
    pub fn fill(&mut self, values: &dyn SliceValues) {
        let planes = &*self;
        let layout = Layout::of(planes);
        let blocks = planes.blocks().blocks();
        let batch = (BATCH / layout.index.block_len()).max(1);
        parallel::for_each(blocks.div_ceil(batch), &|i| {
            let (first, end) = (i * batch, blocks.min((i + 1) * batch));
            for side in Color::BOTH {
                match planes.fast() {
                    Fast::King => layout.read_blocks(planes, values, side, first, end),
                    Fast::Man => layout.read_man_blocks(planes, values, side, first, end),
                }
            }
        });
        if planes.fast() == Fast::Man && planes.slice().men(Color::Black) > 1 {
            parallel::for_each(blocks.div_ceil(batch), &|i| {
                for block in i * batch..blocks.min((i + 1) * batch) {
                    planes.complete_man_block(block);
                }
            });
        }
    }

    /// Fills in the squares on which the fast man is not the lowest black man.
    fn complete_man_block(&self, block: u64) {
        let men = self.blocks().block_unrank(block);
        let [white, others] = men.0;
        let lowest = others.lowest();
        let squares = G::BOARD & !G::BOTTOM & !white & !others & !others.below_lowest();
        let mut words = ByColor(Color::BOTH.map(|side| self.load(side, block as usize)));
        for square in squares.bits() {
            let men = ByColor::new(white, others ^ lowest ^ square);
            let same = self.blocks().block_rank(men) as usize;
            for side in Color::BOTH {
                set(&mut words[side], square, self.load(side, same).at(lowest));
            }
        }
        for side in Color::BOTH {
            self.store(side, block as usize, words[side]);
        }
    }
}

#[inline(always)]
fn set<W: Word>(planes: &mut Planes<W>, square: W, result: Wdl) {
    let chosen = |wanted| match result == wanted {
        true => square,
        false => W::ZERO,
    };
    planes.win |= chosen(Wdl::Win);
    planes.loss |= chosen(Wdl::Loss);
}

impl<G: Geometry<Word: PlaneWord>> Layout<G> {
    /// Reads blocks of the table into the solver's words.
    fn read_blocks(
        &self,
        planes: &PlaneSlice<G>,
        values: &dyn SliceValues,
        side: Color,
        first: u64,
        end: u64,
    ) {
        let len = self.index.block_len();
        let mut results = vec![Wdl::Draw; (len * (end - first)) as usize];
        values.results(side, first * len, &mut results);
        let mut words = vec![Planes::default(); planes.block_words()];
        let mut columns = Vec::new();
        for (block, results) in (first..end).zip(results.chunks(len as usize)) {
            words.fill(Planes::default());
            let results = results.iter().copied();
            let (block, free, side) = if self.turned {
                let turned = self.turned_block(planes.blocks(), block);
                self.read_turned(planes.columns(), &turned, results, &mut words);
                (turned.block, turned.free_turned, !side)
            } else {
                let men = self.index.block_unrank(block);
                let free = G::BOARD & !(men[Color::White] | men[Color::Black]);
                self.read_straight(free, results, &mut words);
                (block, free, side)
            };
            columns.clear();
            columns.extend(placements(0, planes.slice().kings(Color::Black) - 1, free));
            let rows = placements(0, planes.slice().kings(Color::White), free);
            if planes.slice().kings(Color::Black) > 1 {
                for (white, words) in rows.zip(words.chunks_mut(columns.len())) {
                    complete_row(free, white, &columns, words);
                }
            }
            let first = block as usize * planes.block_words();
            for (i, &word) in words.iter().enumerate() {
                planes.store(side, first + i, word);
            }
        }
    }

    fn read_straight(
        &self,
        free: G::Word,
        mut results: impl Iterator<Item = Wdl>,
        words: &mut [Planes<G::Word>],
    ) {
        let columns: Vec<_> = placements(0, self.kings(Color::Black) - 1, free).collect();
        let rows = placements(0, self.kings(Color::White), free);
        for (white, words) in rows.zip(words.chunks_mut(columns.len())) {
            for (&others, word) in columns.iter().zip(words) {
                if (white & others).any() {
                    continue;
                }
                let squares = free & !white & others.below_lowest();
                for (square, result) in squares.bits().zip(&mut results) {
                    set(word, square, result);
                }
            }
        }
    }

    fn read_turned(
        &self,
        columns: usize,
        block: &TurnedBlock<G>,
        mut results: impl Iterator<Item = Wdl>,
        words: &mut [Planes<G::Word>],
    ) {
        for white in placements(0, self.kings(Color::White), block.free) {
            let (column, fast) = block.column(white);
            let rows = block.rows.iter();
            let rows = rows.filter(|row| (row.kings & white).is_empty());
            for (row, result) in rows.zip(&mut results) {
                set(&mut words[row.row * columns + column], fast, result);
            }
        }
    }

    /// Reads blocks of a slice without kings into the solver's words, as far as the fast man is
    /// the lowest black one.
    fn read_man_blocks(
        &self,
        planes: &PlaneSlice<G>,
        values: &dyn SliceValues,
        side: Color,
        first: u64,
        end: u64,
    ) {
        let from = planes.blocks().block_unrank(first);
        let words = || man_blocks(planes.blocks(), from).take((end - first) as usize);
        let mut filled = words().filter(|&men| squares_of_man::<G>(men).any());
        let Some(men) = filled.next() else {
            return;
        };
        let fast = squares_of_man::<G>(men).lowest();
        let number = self
            .index
            .block_rank(ByColor::new(men[Color::White], men[Color::Black] | fast));
        let count: u32 = words()
            .map(|men| squares_of_man::<G>(men).count_ones())
            .sum();
        let mut results = vec![Wdl::Draw; count as usize];
        values.results(side, number, &mut results);
        let mut results = results.into_iter();
        for (block, men) in (first..end).zip(words()) {
            let mut word = Planes::default();
            for (square, result) in squares_of_man::<G>(men).bits().zip(&mut results) {
                set(&mut word, square, result);
            }
            planes.store(side, block as usize, word);
        }
    }
}

/// Fills in the squares on which the fast king is not the lowest black one.
fn complete_row<W: Word>(free: W, white: W, columns: &[W], words: &mut [Planes<W>]) {
    for (column, &others) in columns.iter().enumerate() {
        if (white & others).any() {
            continue;
        }
        let lowest = others.lowest();
        let mut word = words[column];
        for square in (free & !white & !others & !others.below_lowest()).bits() {
            let same = rank(others ^ lowest ^ square, free) as usize;
            set(&mut word, square, words[same].at(lowest));
        }
        words[column] = word;
    }
}
