use super::cpu::{Cpu, Task};
use crate::board::{Dirs, Geometry, Word, each_direction};
use crate::index::{Subsets, rank};

/// All placements of some kings of one side on the squares a men block leaves free, and the quiet
/// moves between them.
pub struct Adjacency<W> {
    /// The placements in order of rank.
    pub sets: Vec<W>,
    /// First steps: squares a king of the placement can step on, pieces not in the block aside.
    pub steps: Vec<W>,
    /// Moves of placement `i`: `moves[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    moves: Vec<Step<W>>,
}

/// A quiet king move.
#[derive(Clone, Copy, Debug)]
pub struct Step<W> {
    /// The placement it leads to.
    pub to: u32,
    /// The squares that must be empty: those passed and the one reached.
    pub path: W,
}

/// See [`Adjacency::build`].
struct Build<'a, G: Geometry> {
    adjacency: &'a mut Adjacency<G::Word>,
    kings: usize,
    free: G::Word,
    dirs: Dirs,
    flying: bool,
}

impl<G: Geometry> Task for Build<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.adjacency
            .build_inlined::<G>(self.kings, self.free, self.dirs, self.flying);
    }
}

impl<W: Word> Adjacency<W> {
    pub fn new() -> Self {
        Adjacency {
            sets: Vec::new(),
            steps: Vec::new(),
            start: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// Fills in all placements of `kings` kings on `free`.
    pub fn build<G: Geometry<Word = W>>(
        &mut self,
        cpu: impl Cpu,
        kings: usize,
        free: W,
        dirs: Dirs,
        flying: bool,
    ) {
        cpu.run(Build::<G> {
            adjacency: self,
            kings,
            free,
            dirs,
            flying,
        });
    }

    #[inline(always)]
    fn build_inlined<G: Geometry<Word = W>>(
        &mut self,
        kings: usize,
        free: W,
        dirs: Dirs,
        flying: bool,
    ) {
        if kings == 0 && !self.sets.is_empty() {
            // The one placement without a king is the same in every block.
            return;
        }
        self.sets.clear();
        self.steps.clear();
        self.start.clear();
        self.moves.clear();
        self.start.push(0);
        // The place of each square among the free ones, by bit number: its rank as a set of one.
        let mut places = [0u8; 128];
        for (i, square) in free.bits().enumerate() {
            places[square.trailing_zeros() as usize] = i as u8;
        }
        let place = |square: W| u32::from(places[square.trailing_zeros() as usize]);
        match kings {
            1 => {
                for king in free.bits() {
                    self.add::<G>(king, free, dirs, flying, |_, to| place(to));
                }
            }
            2 => {
                for set in Subsets::new(2, free) {
                    self.add::<G>(set, free, dirs, flying, |other, to| {
                        let (other, to) = (place(other), place(to));
                        let (low, high) = (other.min(to), other.max(to));
                        high * (high - 1) / 2 + low
                    });
                }
            }
            _ => {
                for set in Subsets::new(kings, free) {
                    self.add::<G>(set, free, dirs, flying, |rest, to| {
                        rank(rest | to, free) as u32
                    });
                }
            }
        }
    }

    /// Adds a placement and its moves; `number`: the placement of the kings that stay and the one
    /// that moved.
    #[inline(always)]
    fn add<G: Geometry<Word = W>>(
        &mut self,
        set: W,
        free: W,
        dirs: Dirs,
        flying: bool,
        number: impl Fn(W, W) -> u32,
    ) {
        let empty = free & !set;
        let mut steps = W::ZERO;
        for king in set.bits() {
            each_direction!(Dirs::ALL, d => {
                if dirs.contains(d) {
                    let mut at = G::step(king, d) & empty;
                    let mut path = W::ZERO;
                    steps |= at;
                    while at.any() {
                        path |= at;
                        self.moves.push(Step {
                            to: number(set ^ king, at),
                            path,
                        });
                        if !flying {
                            break;
                        }
                        at = G::step(at, d) & empty;
                    }
                }
            });
        }
        self.sets.push(set);
        self.steps.push(steps);
        self.start.push(self.moves.len() as u32);
    }

    /// There is no move at all.
    pub fn is_still(&self) -> bool {
        self.moves.is_empty()
    }

    #[inline(always)]
    pub fn of(&self, placement: usize) -> &[Step<W>] {
        &self.moves[self.start[placement] as usize..self.start[placement + 1] as usize]
    }
}
