//! Solved slices as tables see them, and back.
//!
//! Tables number the positions of a slice in its canonical orientation, the solver keeps words in
//! an orientation of its own. Both run through the men blocks with the kings innermost, and sets
//! are ranked in numeric order, so nothing is ranked position by position:
//!
//! * In the same orientation a row of the solver is a row of the table. The placements of Black's
//!   kings in order are, for each placement of all but the lowest, the lowest one on the squares
//!   below: a word read from its low end.
//! * Turned, White's kings of the table are Black's of the solver. A row of the table then has one
//!   word per solver row and the same bit in each; where a placement of the table's black kings
//!   lies as a solver row is worked out once for each block.
//!
//! Cost: two to twenty nanoseconds a position; the most where blocks have few positions.

use std::sync::Arc;

use super::distances::Distances;
use super::planes::{Fast, PlaneSlice, PlaneWord, Planes};
use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::{Slice, SliceIndex, rank, unrank};
use crate::parallel;
use crate::table::{Metric, SliceValues, Wdl};

/// What the solver found out about a slice.
pub struct SolvedSlice<G: Geometry> {
    planes: Arc<PlaneSlice<G>>,
    dtc: Option<Arc<Distances<G>>>,
    dtw: Option<Arc<Distances<G>>>,
    layout: Layout<G>,
}

impl<G: Geometry<Word: PlaneWord>> SolvedSlice<G> {
    /// Results, and distances to conversion and to win as far as they are known.
    pub fn new(
        planes: Arc<PlaneSlice<G>>,
        dtc: Option<Arc<Distances<G>>>,
        dtw: Option<Arc<Distances<G>>>,
    ) -> Self {
        SolvedSlice {
            layout: Layout::of(&planes),
            planes,
            dtc,
            dtw,
        }
    }
}

impl<G: Geometry<Word: PlaneWord>> SliceValues for SolvedSlice<G> {
    fn slice(&self) -> Slice {
        self.layout.index.slice()
    }

    fn positions(&self) -> u64 {
        self.layout.index.len()
    }

    fn has(&self, metric: Metric) -> bool {
        match metric {
            Metric::Wdl => true,
            Metric::Dtc => self.dtc.is_some(),
            Metric::Dtw => self.dtw.is_some(),
        }
    }

    fn results(&self, side: Color, first: u64, out: &mut [Wdl]) {
        let out = Output { skip: 0, rest: out };
        let planes = &*self.planes;
        match (planes.fast(), self.layout.turned) {
            (Fast::Man, _) => self.layout.men_results(planes, side, first, out),
            (Fast::King, false) => self.layout.straight_results(planes, side, first, out),
            (Fast::King, true) => self.layout.turned_results(planes, side, first, out),
        }
    }

    /// # Panics
    /// If the distances of this metric are not known.
    fn distances(&self, metric: Metric, side: Color, first: u64, out: &mut [u16]) {
        let distances = match metric {
            Metric::Wdl => None,
            Metric::Dtc => self.dtc.as_ref(),
            Metric::Dtw => self.dtw.as_ref(),
        };
        let distances = distances.unwrap_or_else(|| panic!("no {metric} of {}", self.slice()));
        if self.layout.turned {
            self.layout.turned_distances(distances, side, first, out);
        } else {
            for (number, out) in (first..).zip(out) {
                *out = distances.get(side, number);
            }
        }
    }
}

/// The sets of `size` squares of `free` in order of rank, from a given one on.
fn placements<W: Word>(from: u64, size: usize, free: W) -> impl Iterator<Item = W> {
    // The order is numeric. With the other bits filled in, adding the lowest bit carries over the
    // run of squares it begins; what has disappeared starts anew at the bottom.
    std::iter::successors(Some(unrank(from, size, free)), move |&set| {
        let filled = set | !free;
        let carried = filled.wrapping_sub(W::ZERO.wrapping_sub(set.lowest())) & free;
        let missing = set.count_ones() - carried.count_ones();
        let bottom = free.bits().take(missing as usize);
        carried
            .any()
            .then(|| bottom.fold(carried, |set, square| set | square))
    })
}

/// A range of results being filled.
struct Output<'o> {
    /// Positions to pass over before the range begins.
    skip: usize,
    rest: &'o mut [Wdl],
}

impl Output<'_> {
    fn is_full(&self) -> bool {
        self.rest.is_empty()
    }

    /// The results of a word on these squares.
    #[inline(always)]
    fn word<W: Word>(&mut self, planes: Planes<W>, mut squares: W) {
        let count = squares.count_ones() as usize;
        if self.skip >= count {
            self.skip -= count;
            return;
        }
        for _ in 0..self.skip {
            squares = squares.without_lowest();
        }
        let count = (count - self.skip).min(self.rest.len());
        self.skip = 0;
        let (now, later) = std::mem::take(&mut self.rest).split_at_mut(count);
        for (out, square) in now.iter_mut().zip(squares.bits()) {
            *out = result(planes, square);
        }
        self.rest = later;
    }

    #[inline(always)]
    fn one(&mut self, result: impl FnOnce() -> Wdl) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if let Some((out, rest)) = std::mem::take(&mut self.rest).split_first_mut() {
            *out = result();
            self.rest = rest;
        }
    }
}

/// As [`Planes::at`], without branches.
#[inline(always)]
fn result<W: Word>(planes: Planes<W>, square: W) -> Wdl {
    const RESULTS: [Wdl; 4] = [Wdl::Draw, Wdl::Loss, Wdl::Win, Wdl::Win];
    let bit = |plane: W| usize::from((plane & square).any());
    RESULTS[bit(planes.win) * 2 + bit(planes.loss)]
}

/// How the table's order of a slice and the solver's words correspond.
struct Layout<G: Geometry> {
    /// The table's order.
    index: SliceIndex<G>,
    /// The solver holds the slice with colours exchanged.
    turned: bool,
}

/// A men block of a slice held turned.
struct TurnedBlock<G: Geometry> {
    /// The block's number for the solver.
    block: u64,
    /// Squares without men, for the table and for the solver.
    free: G::Word,
    free_turned: G::Word,
    rows: Vec<TurnedRow<G::Word>>,
}

/// A placement of the table's black kings.
struct TurnedRow<W> {
    kings: W,
    turned: W,
    /// The solver's row.
    row: usize,
}

impl<G: Geometry<Word: PlaneWord>> Layout<G> {
    fn of(planes: &PlaneSlice<G>) -> Self {
        let canonical = planes.slice().canonical();
        Layout {
            index: SliceIndex::new(canonical),
            turned: canonical != planes.slice(),
        }
    }

    fn kings(&self, color: Color) -> usize {
        self.index.slice().kings(color)
    }

    /// The block and row of a position, and its place in the row.
    fn place(&self, number: u64) -> (u64, u64, usize) {
        let (block, within) = (
            number / self.index.block_len(),
            number % self.index.block_len(),
        );
        let placements = self.index.black_placements();
        (block, within / placements, (within % placements) as usize)
    }

    fn straight_results(
        &self,
        planes: &PlaneSlice<G>,
        side: Color,
        first: u64,
        mut out: Output<'_>,
    ) {
        let (mut block, mut row, skip) = self.place(first);
        out.skip = skip;
        let mut columns = Vec::new();
        while !out.is_full() {
            let men = self.index.block_unrank(block);
            let free = G::BOARD & !(men[Color::White] | men[Color::Black]);
            columns.clear();
            columns.extend(placements(0, self.kings(Color::Black) - 1, free));
            let mut word = block as usize * planes.block_words() + row as usize * columns.len();
            for white in placements(row, self.kings(Color::White), free) {
                for (i, &others) in columns.iter().enumerate() {
                    if (white & others).is_empty() {
                        let squares = free & !white & others.below_lowest();
                        out.word(planes.load(side, word + i), squares);
                    }
                }
                if out.is_full() {
                    return;
                }
                word += columns.len();
            }
            (block, row) = (block + 1, 0);
        }
    }

    fn turned_results(&self, planes: &PlaneSlice<G>, side: Color, first: u64, mut out: Output<'_>) {
        let (mut block, mut row, skip) = self.place(first);
        out.skip = skip;
        while !out.is_full() {
            let turned = self.turned_block(planes.blocks(), block);
            let first = turned.block as usize * planes.block_words();
            if self.kings(Color::Black) == 0 {
                out.skip += row as usize;
                self.turned_words(planes, side, first, &turned, &mut out);
                (block, row) = (block + 1, 0);
                continue;
            }
            for white in placements(row, self.kings(Color::White), turned.free) {
                let (column, fast) = turned.column(white);
                for row in &turned.rows {
                    if (row.kings & white).is_empty() {
                        let word = first + row.row * planes.columns() + column;
                        out.one(|| result(planes.load(!side, word), fast));
                    }
                }
                if out.is_full() {
                    return;
                }
            }
            (block, row) = (block + 1, 0);
        }
    }

    /// A block in which the table's Black has no kings. The lowest of White's comes last in the
    /// table's order; as each of the solver's black kings is the fast one in some word, it is so
    /// in the word along it.
    fn turned_words(
        &self,
        planes: &PlaneSlice<G>,
        side: Color,
        first: usize,
        block: &TurnedBlock<G>,
        out: &mut Output<'_>,
    ) {
        for others in placements(0, self.kings(Color::White) - 1, block.free) {
            let column = rank(G::turn(others), block.free_turned) as usize;
            let word = planes.load(!side, first + column);
            let word = Planes {
                win: G::turn(word.win),
                loss: G::turn(word.loss),
            };
            out.word(word, block.free & others.below_lowest());
            if out.is_full() {
                return;
            }
        }
    }

    fn turned_distances(&self, distances: &Distances<G>, side: Color, first: u64, out: &mut [u16]) {
        let (mut block, mut row, mut skip) = self.place(first);
        let mut out = out.iter_mut();
        while out.len() > 0 {
            let turned = self.turned_block(distances.index(), block);
            let first = turned.block * distances.index().block_len();
            for white in placements(row, self.kings(Color::White), turned.free) {
                let black = G::turn(white);
                let rows = turned
                    .rows
                    .iter()
                    .filter(|row| (row.kings & white).is_empty());
                for row in rows.skip(skip) {
                    let Some(out) = out.next() else {
                        return;
                    };
                    let number = first
                        + row.row as u64 * distances.index().black_placements()
                        + rank(black, turned.free_turned & !row.turned);
                    *out = distances.get(!side, number);
                }
                skip = 0;
            }
            (block, row) = (block + 1, 0);
        }
    }

    /// `blocks` numbers the solver's blocks.
    fn turned_block(&self, blocks: &SliceIndex<G>, block: u64) -> TurnedBlock<G> {
        let men = self.index.block_unrank(block);
        let free = G::BOARD & !(men[Color::White] | men[Color::Black]);
        let free_turned = G::turn(free);
        let rows = placements(0, self.kings(Color::Black), free).map(|kings| {
            let turned = G::turn(kings);
            TurnedRow {
                kings,
                turned,
                row: rank(turned, free_turned) as usize,
            }
        });
        TurnedBlock {
            block: blocks.block_rank(men.map(G::turn).swapped()),
            free,
            free_turned,
            rows: rows.collect(),
        }
    }

    /// Slices without kings. For given white men the solver's blocks are the placements of all
    /// black men but the lowest.
    fn men_results(&self, planes: &PlaneSlice<G>, side: Color, first: u64, mut out: Output<'_>) {
        if out.is_full() {
            return;
        }
        let men = self.index.block_unrank(first);
        let fast = men[Color::Black].lowest();
        let others = men[Color::Black] ^ fast;
        let from = ByColor::new(men[Color::White], others);
        out.skip = (squares_of_man::<G>(from) & fast.below_lowest()).count_ones() as usize;
        let blocks = planes.blocks().block_rank(from)..;
        for (block, men) in blocks.zip(man_blocks(planes.blocks(), from)) {
            out.word(planes.load(side, block as usize), squares_of_man::<G>(men));
            if out.is_full() {
                return;
            }
        }
    }
}

impl<G: Geometry<Word: PlaneWord>> TurnedBlock<G> {
    /// The solver's column and square for a placement of the table's white kings.
    #[inline(always)]
    fn column(&self, white: G::Word) -> (usize, G::Word) {
        let black = G::turn(white);
        let fast = black.lowest();
        (rank(black ^ fast, self.free_turned) as usize, fast)
    }
}

/// The men of the solver's blocks of a slice without kings, in order from given ones on.
fn man_blocks<G: Geometry>(
    blocks: &SliceIndex<G>,
    from: ByColor<G::Word>,
) -> impl Iterator<Item = ByColor<G::Word>> {
    let mut block = blocks.block_rank(from);
    let size = from[Color::Black].count_ones() as usize;
    let others = move |men: ByColor<G::Word>| {
        let allowed = G::BOARD & !G::BOTTOM & !men[Color::White];
        placements(rank(men[Color::Black], allowed), size, allowed)
            .map(move |black| ByColor::new(men[Color::White], black))
    };
    let mut of_white = others(from);
    std::iter::from_fn(move || {
        let men = of_white.next().or_else(|| {
            let more = block < blocks.blocks();
            more.then(|| blocks.block_unrank(block)).and_then(|men| {
                of_white = others(men);
                of_white.next()
            })
        });
        block += 1;
        men
    })
}

/// The squares of the fast man on which it is the lowest black man.
#[inline(always)]
fn squares_of_man<G: Geometry>(men: ByColor<G::Word>) -> G::Word {
    G::BOARD & !G::BOTTOM & !men[Color::White] & men[Color::Black].below_lowest()
}

/// Positions read from a table at a time.
const BATCH: u64 = 1 << 16;

impl<G: Geometry<Word: PlaneWord>> PlaneSlice<G> {
    /// The word form of a slice whose values are known, for instance from a finished table.
    pub fn from_values(values: &dyn SliceValues) -> Self {
        let mut planes = PlaneSlice::new(values.slice());
        planes.fill(values);
        planes
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_in_order_of_rank() {
        for free in [0b1011_0110_1101u32, u32::MAX, 0xf000_0001] {
            for size in 0..=3 {
                let sets: Vec<u32> = placements(0, size, free).collect();
                let count = crate::index::binomial(free.count_ones() as usize, size);
                assert_eq!(sets.len() as u64, count);
                assert!(
                    (0..)
                        .zip(&sets)
                        .all(|(i, &set)| unrank(i, size, free) == set)
                );
            }
        }
    }
}
