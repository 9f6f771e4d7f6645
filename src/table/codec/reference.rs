//! What the positions of a block are worth with the other side to move, as features of a context.
//!
//! A quiet move of the fast piece leads to the same row with the other side to move, one of the
//! next slower piece to a row of the same family, most of them in the same block. So the best that
//! these two can do is known before a value is decoded, wherever it is stored.

use super::codes::Codes;
use super::context::{Family, Planes, family_of};
use super::domain::Domain;
use super::feature::Other;
use super::rows::{Rows, slower_piece};
use crate::board::{Board, Dirs, Geometry, Word};

/// The rows of a block with the other side to move, one after the other.
pub(super) struct Reference<W> {
    rows: Vec<ReferenceRow<W>>,
    /// The current row.
    at: usize,
    /// The rows of its family, those to come too.
    family: Family<W>,
}

struct ReferenceRow<W> {
    rest: [W; 4],
    slower: W,
    values: Planes<W>,
}

impl<W: Word> Reference<W> {
    /// The first row of a block is the current one. `codes` are those of the block, code 3 where
    /// nothing is stored; what is missing counts as not stored.
    pub fn new<G: Geometry<Word = W>>(domain: &Domain<G>, block: u64, codes: &Codes) -> Self {
        let mut codes = codes.iter();
        let rows = Rows::new(&domain.index, !domain.side, domain.range(block));
        let rows = rows.map(|row| {
            let mut values = Planes::UNKNOWN;
            for (square, code) in row.squares.bits().zip(&mut codes) {
                values.set(square, code);
            }
            let (rest, slower) = family_of(&row.fixed);
            ReferenceRow {
                rest,
                slower,
                values,
            }
        });
        let mut reference = Reference {
            rows: rows.collect(),
            at: 0,
            family: Family::new(),
        };
        reference.enter();
        reference
    }

    /// Goes on to the next row.
    pub fn advance(&mut self) {
        self.at += 1;
        self.enter();
    }

    fn enter(&mut self) {
        let rows = self.rows.get(self.at..).unwrap_or_default();
        if let Some(row) = rows.first()
            && self.family.turn_to(row.rest)
        {
            for other in rows.iter().take_while(|other| other.rest == row.rest) {
                self.family.add(other.slower, other.values);
            }
        }
    }

    fn here(&self) -> Planes<W> {
        let row = self.rows.get(self.at);
        row.map_or(Planes::UNKNOWN, |row| row.values)
    }

    /// The value of a feature on every square of the current row.
    pub fn plane<G: Geometry<Word = W>>(
        &self,
        domain: &Domain<G>,
        feature: Other,
        fixed: &Board<G>,
        slower: W,
    ) -> Planes<W> {
        let here = self.here();
        match feature {
            Other::Same => here,
            Other::Fast { dir } => {
                let back = |set: W| G::step(set & G::BOARD, dir ^ 4);
                let outside = !back(G::BOARD);
                Planes {
                    low: back(here.low) | outside,
                    high: back(here.high) | outside,
                }
            }
            Other::Slower { dir } => self.family.values(G::step(slower, dir)),
            Other::BestFast => self.by_fast(domain, fixed).best(),
            Other::BestSlower => self.by_slower(domain, fixed, slower).best(),
            Other::Best => {
                let (fast, slower) = (
                    self.by_fast(domain, fixed),
                    self.by_slower(domain, fixed, slower),
                );
                fast.or(slower).best()
            }
            Other::AllFast => {
                let unknown = here.low & here.high & G::BOARD & !fixed.occupied();
                let moves = domain.moves(domain.fast);
                Planes::flags(!reaching::<G>(unknown, fixed.occupied(), moves))
            }
        }
    }

    /// What the fast piece can move to.
    fn by_fast<G: Geometry<Word = W>>(&self, domain: &Domain<G>, fixed: &Board<G>) -> Reached<W> {
        let moves = domain.moves(domain.fast);
        let values = Reached::of(self.here());
        values.map(|set| reaching::<G>(set & G::BOARD, fixed.occupied(), moves))
    }

    /// What the slower piece can move to, by the fast piece's square.
    fn by_slower<G: Geometry<Word = W>>(
        &self,
        domain: &Domain<G>,
        fixed: &Board<G>,
        slower: W,
    ) -> Reached<W> {
        let mut reached = Reached([W::ZERO; 3]);
        let piece = slower_piece(domain.index.slice());
        let Some(piece) = piece.filter(|piece| piece.color == domain.side) else {
            return reached;
        };
        let (dirs, far) = domain.moves(piece);
        for dir in dirs.iter() {
            let mut square = G::step(slower, dir) & !fixed.occupied();
            while square.any() {
                reached = reached.or(Reached::of(self.family.values(square)));
                square = if far {
                    G::step(square, dir) & !fixed.occupied()
                } else {
                    W::ZERO
                };
            }
        }
        reached
    }
}

/// By square of the fast piece, whether a loss, a draw, a win of the other side is among some values.
#[derive(Clone, Copy)]
struct Reached<W>([W; 3]);

impl<W: Word> Reached<W> {
    fn of(values: Planes<W>) -> Self {
        let Planes { low, high } = values;
        Reached([!low & !high, low & !high, !low & high])
    }

    fn map(self, f: impl Fn(W) -> W) -> Self {
        Reached(self.0.map(f))
    }

    fn or(self, other: Self) -> Self {
        let [loss, draw, win] = self.0;
        Reached([loss | other.0[0], draw | other.0[1], win | other.0[2]])
    }

    /// The least of the values.
    fn best(self) -> Planes<W> {
        let [loss, draw, win] = self.0;
        Planes {
            low: !loss & (draw | !win),
            high: !loss & !draw,
        }
    }
}

/// The squares from which a piece moves to one of a set, whose way others block.
fn reaching<G: Geometry>(set: G::Word, occupied: G::Word, (dirs, far): (Dirs, bool)) -> G::Word {
    let mut all = G::Word::ZERO;
    for dir in dirs.iter() {
        let mut from = G::step(set, dir ^ 4);
        all |= from;
        while far && from.any() {
            from = G::step(from & !occupied, dir ^ 4);
            all |= from;
        }
    }
    all
}
