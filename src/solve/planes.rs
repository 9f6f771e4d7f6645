use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::cells::Cells;

use crate::board::{Board, ByColor, Color, Geometry, Word};
use crate::index::{Slice, SliceIndex, binomial, rank};
use crate::table::Wdl;

/// Results of many positions at once: those that differ only in the square of the fast piece.
/// A square in neither set is a draw, or is not known yet, or cannot be occupied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planes<W> {
    pub win: W,
    pub loss: W,
}

impl<W: Word> Planes<W> {
    /// The same result on every square.
    pub fn splat(result: Wdl) -> Self {
        match result {
            Wdl::Win => Planes {
                win: W::ALL,
                loss: W::ZERO,
            },
            Wdl::Draw => Planes::default(),
            Wdl::Loss => Planes {
                win: W::ZERO,
                loss: W::ALL,
            },
        }
    }

    #[inline(always)]
    pub fn at(self, square: W) -> Wdl {
        if (self.win & square).any() {
            Wdl::Win
        } else if (self.loss & square).any() {
            Wdl::Loss
        } else {
            Wdl::Draw
        }
    }
}

/// A word that can be kept in memory as [`Planes`] shared between threads.
///
/// Relaxed atomics cost nothing here, and they make it safe to read finished blocks of a slice
/// while other threads write other blocks.
pub trait PlaneWord: Word {
    /// Atomic cells that hold one pair of planes.
    const CELLS: usize;
    fn load(cells: &[AtomicU64]) -> Planes<Self>;
    fn store(planes: Planes<Self>, cells: &[AtomicU64]);
}

impl PlaneWord for u32 {
    const CELLS: usize = 1;

    #[inline(always)]
    fn load(cells: &[AtomicU64]) -> Planes<u32> {
        let both = cells[0].load(Relaxed);
        Planes {
            win: both as u32,
            loss: (both >> 32) as u32,
        }
    }

    #[inline(always)]
    fn store(planes: Planes<u32>, cells: &[AtomicU64]) {
        cells[0].store(
            u64::from(planes.win) | u64::from(planes.loss) << 32,
            Relaxed,
        );
    }
}

impl PlaneWord for u64 {
    const CELLS: usize = 2;

    #[inline(always)]
    fn load(cells: &[AtomicU64]) -> Planes<u64> {
        Planes {
            win: cells[0].load(Relaxed),
            loss: cells[1].load(Relaxed),
        }
    }

    #[inline(always)]
    fn store(planes: Planes<u64>, cells: &[AtomicU64]) {
        cells[0].store(planes.win, Relaxed);
        cells[1].store(planes.loss, Relaxed);
    }
}

impl PlaneWord for u128 {
    const CELLS: usize = 4;

    #[inline(always)]
    fn load(cells: &[AtomicU64]) -> Planes<u128> {
        let half = |i: usize| u128::from(cells[i].load(Relaxed));
        Planes {
            win: half(0) | half(1) << 64,
            loss: half(2) | half(3) << 64,
        }
    }

    #[inline(always)]
    fn store(planes: Planes<u128>, cells: &[AtomicU64]) {
        for (cell, half) in cells.iter().zip([
            planes.win as u64,
            (planes.win >> 64) as u64,
            planes.loss as u64,
            (planes.loss >> 64) as u64,
        ]) {
            cell.store(half, Relaxed);
        }
    }
}

/// Which piece a slice is solved along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fast {
    King,
    /// In slices without kings.
    Man,
}

/// The results of one slice in word form.
///
/// The slice is held in *solver orientation*: Black owns the fast piece, a king if there is any,
/// on the side with fewer of them. For every placement of the other pieces there is a pair of
/// planes over the squares of the fast piece. If Black has several kings each of them is the fast
/// one in turn, so a position is stored once for each; that redundancy buys that any successor
/// word is one load.
pub struct PlaneSlice<G: Geometry> {
    slice: Slice,
    fast: Fast,
    /// Numbers the men blocks; without the fast piece if that is a man.
    blocks: SliceIndex<G>,
    /// Placements of White's kings: the rows of a block.
    rows: usize,
    /// Placements of Black's other kings: the words of a row.
    columns: usize,
    cells: ByColor<Cells<AtomicU64>>,
}

/// The measures of a [`PlaneSlice`].
struct Shape<G: Geometry> {
    slice: Slice,
    fast: Fast,
    blocks: SliceIndex<G>,
    rows: usize,
    columns: usize,
}

impl<G: Geometry<Word: PlaneWord>> Shape<G> {
    /// Cells for one side to move.
    fn cells(&self) -> usize {
        self.blocks.blocks() as usize * self.rows * self.columns * G::Word::CELLS
    }

    fn of(slice: Slice) -> Self {
        let slice = solver_orientation(slice);
        let fast = if slice.kings(Color::Black) > 0 {
            Fast::King
        } else {
            Fast::Man
        };
        let mut men = ByColor(Color::BOTH.map(|c| slice.men(c) as u8));
        let kings = ByColor(Color::BOTH.map(|c| slice.kings(c) as u8));
        men[Color::Black] -= u8::from(fast == Fast::Man);
        let fixed = match fast {
            Fast::King => slice,
            Fast::Man => Slice::new(men, kings).expect("White has a man"),
        };
        let blocks = SliceIndex::new(fixed);
        let free = G::SQUARES - fixed.men(Color::White) - fixed.men(Color::Black);
        let rows = binomial(free, slice.kings(Color::White)) as usize;
        let columns = binomial(free, slice.kings(Color::Black).saturating_sub(1)) as usize;
        Shape {
            slice,
            fast,
            blocks,
            rows,
            columns,
        }
    }
}

impl<G: Geometry<Word: PlaneWord>> PlaneSlice<G> {
    /// The slice, nothing known yet, in its solver orientation.
    ///
    /// # Errors
    /// If the system does not give the memory.
    pub fn new(slice: Slice) -> io::Result<Self> {
        let shape = Shape::of(slice);
        let cells = shape.cells();
        let cells = ByColor::new(Cells::new(cells)?, Cells::new(cells)?);
        Ok(Self::with_cells(shape, cells))
    }

    /// The same with its words in files of a directory, which the system may keep in memory as far
    /// as there is room. The files have no name and vanish with the slice.
    ///
    /// # Errors
    /// If the files cannot be made, or the disk has no room for them.
    pub fn new_in(slice: Slice, scratch: &Path) -> io::Result<Self> {
        let shape = Shape::of(slice);
        let cells = shape.cells();
        let cells = ByColor::new(
            Cells::new_in(cells, scratch)?,
            Cells::new_in(cells, scratch)?,
        );
        Ok(Self::with_cells(shape, cells))
    }

    fn with_cells(shape: Shape<G>, cells: ByColor<Cells<AtomicU64>>) -> Self {
        let Shape {
            slice,
            fast,
            blocks,
            rows,
            columns,
        } = shape;
        PlaneSlice {
            slice,
            fast,
            blocks,
            rows,
            columns,
            cells,
        }
    }

    /// Bytes of memory of the planes of a slice.
    pub fn bytes(slice: Slice) -> u64 {
        Shape::<G>::of(slice).blocks.blocks() * Self::block_bytes(slice)
    }

    /// Bytes of memory of the planes of one block.
    pub fn block_bytes(slice: Slice) -> u64 {
        let shape = Shape::<G>::of(slice);
        let cells = shape.rows * shape.columns * G::Word::CELLS;
        2 * (cells * size_of::<AtomicU64>()) as u64
    }

    pub fn slice(&self) -> Slice {
        self.slice
    }

    pub fn fast(&self) -> Fast {
        self.fast
    }

    pub fn blocks(&self) -> &SliceIndex<G> {
        &self.blocks
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Words of one block.
    pub fn block_words(&self) -> usize {
        self.rows * self.columns
    }

    #[inline(always)]
    pub fn load(&self, side: Color, word: usize) -> Planes<G::Word> {
        let cells = self.cells[side].all();
        G::Word::load(&cells[word * G::Word::CELLS..(word + 1) * G::Word::CELLS])
    }

    #[inline(always)]
    pub fn store(&self, side: Color, word: usize, planes: Planes<G::Word>) {
        let cells = self.cells[side].all();
        G::Word::store(
            planes,
            &cells[word * G::Word::CELLS..(word + 1) * G::Word::CELLS],
        );
    }

    /// Has the processor fetch where the first words of a block are to be stored.
    #[inline(always)]
    pub fn prefetch(&self, block: u64) {
        for cells in &self.cells.0 {
            cells.prefetch(block as usize * self.block_words() * G::Word::CELLS);
        }
    }

    /// The result of a position of this slice, in either orientation.
    pub fn get(&self, board: &Board<G>) -> Wdl {
        let board = if Slice::of(board) == Some(self.slice) {
            *board
        } else {
            board.flipped()
        };
        let (men, fast, others) = match self.fast {
            Fast::King => {
                let fast = board.kings[Color::Black].lowest();
                (board.men, fast, board.kings[Color::Black] ^ fast)
            }
            Fast::Man => {
                let fast = board.men[Color::Black].lowest();
                let men = ByColor::new(board.men[Color::White], board.men[Color::Black] ^ fast);
                (men, fast, G::Word::ZERO)
            }
        };
        let free = G::BOARD & !(men[Color::White] | men[Color::Black]);
        let row = rank(board.kings[Color::White], free) as usize;
        let column = rank(others, free) as usize;
        let block = self.blocks.block_rank(men) as usize;
        self.load(
            board.side,
            (block * self.rows + row) * self.columns + column,
        )
        .at(fast)
    }
}

/// The orientation in which a slice is solved: Black has the fewest kings but at least one, if
/// there are any; then the fewest men.
pub fn solver_orientation(slice: Slice) -> Slice {
    let (white, black) = (slice.kings(Color::White), slice.kings(Color::Black));
    let men = slice.men(Color::White) >= slice.men(Color::Black);
    let as_is = match (white, black) {
        (0, 0) => men,
        (_, 0) => false,
        (0, _) => true,
        _ if white != black => white > black,
        _ => men,
    };
    if as_is { slice } else { slice.flipped() }
}
