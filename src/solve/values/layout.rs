use super::{Output, placements, result};
use crate::board::{ByColor, Color, Geometry, Word};
use crate::index::{SliceIndex, rank};
use crate::solve::distances::{Distances, Plies};
use crate::solve::planes::{PlaneSlice, PlaneWord, Planes};

/// How the table's order of a slice and the solver's words correspond.
pub struct Layout<G: Geometry> {
    /// The table's order.
    pub index: SliceIndex<G>,
    /// The solver holds the slice with colours exchanged.
    pub turned: bool,
}

/// A men block of a slice held turned.
pub struct TurnedBlock<G: Geometry> {
    /// The block's number for the solver.
    pub block: u64,
    /// Squares without men, for the table and for the solver.
    pub free: G::Word,
    pub free_turned: G::Word,
    pub rows: Vec<TurnedRow<G::Word>>,
}

/// A placement of the table's black kings.
pub struct TurnedRow<W> {
    pub kings: W,
    pub turned: W,
    /// The solver's row.
    pub row: usize,
}

impl<G: Geometry<Word: PlaneWord>> Layout<G> {
    pub fn of(planes: &PlaneSlice<G>) -> Self {
        let canonical = planes.slice().canonical();
        Layout {
            index: SliceIndex::new(canonical),
            turned: canonical != planes.slice(),
        }
    }

    pub fn kings(&self, color: Color) -> usize {
        self.index.slice().kings(color)
    }

    /// The block and row of a position, and its place in the row.
    pub fn place(&self, number: u64) -> (u64, u64, usize) {
        let (block, within) = (
            number / self.index.block_len(),
            number % self.index.block_len(),
        );
        let placements = self.index.black_placements();
        (block, within / placements, (within % placements) as usize)
    }

    pub fn straight_results(
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

    pub fn turned_results(
        &self,
        planes: &PlaneSlice<G>,
        side: Color,
        first: u64,
        mut out: Output<'_>,
    ) {
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
    pub fn turned_words(
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

    /// Distances from a position on, with a side to move.
    pub fn distances(
        &self,
        distances: &Distances<G, impl Plies>,
        (side, first): (Color, u64),
        out: &mut [u16],
    ) {
        if self.turned {
            return self.turned_distances(distances, side, first, out);
        }
        for (number, out) in (first..).zip(out) {
            *out = distances.get(side, number);
        }
    }

    fn turned_distances(
        &self,
        distances: &Distances<G, impl Plies>,
        side: Color,
        first: u64,
        out: &mut [u16],
    ) {
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
    pub fn turned_block(&self, blocks: &SliceIndex<G>, block: u64) -> TurnedBlock<G> {
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
    pub fn men_results(
        &self,
        planes: &PlaneSlice<G>,
        side: Color,
        first: u64,
        mut out: Output<'_>,
    ) {
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
    pub fn column(&self, white: G::Word) -> (usize, G::Word) {
        let black = G::turn(white);
        let fast = black.lowest();
        (rank(black ^ fast, self.free_turned) as usize, fast)
    }
}

/// The men of the solver's blocks of a slice without kings, in order from given ones on.
pub fn man_blocks<G: Geometry>(
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
pub fn squares_of_man<G: Geometry>(men: ByColor<G::Word>) -> G::Word {
    G::BOARD & !G::BOTTOM & !men[Color::White] & men[Color::Black].below_lowest()
}
