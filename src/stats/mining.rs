//! Mining: the positions of a slice in which something remarkable is the case.

use std::ops::ControlFlow;

use super::CHUNK;
use crate::board::{Board, Color, Geometry, Position};
use crate::index::{Slice, SliceIndex};
use crate::parallel;
use crate::probe::{Outcome, ProbeError, Tablebase};
use crate::rules::movegen::{BoardMove, WordOf, apply, count_moves, for_each_move, has_capture};
use crate::rules::reference::legal_moves;
use crate::rules::{Move, Rules, Variant, with_rules};
use crate::table::{Metric, Wdl, stored_sides};

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quarry {
    /// The side to move would do better if it could pass. By results this is always so for both
    /// sides, or for neither: if one would gain by passing, so would the other were he to move.
    Zugzwang,
    /// A win than which none of the slice takes longer, to the end of the game where such
    /// distances are known, else to the next conversion.
    Longest,
    /// Exactly one of several legal moves wins.
    OnlyMove,
}

/// A position that was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    pub position: Position,
    pub outcome: Outcome,
    pub remark: Remark,
}

/// What is remarkable about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    Zugzwang {
        /// The result if the side to move could pass.
        passed: Wdl,
        /// Whoever has to move loses.
        mutual: bool,
    },
    Longest,
    OnlyMove(Move),
}

/// Calls `visit` with every find of a slice, by number of the position, White to move before
/// Black, until it breaks off. A slice that is its own mirror image is searched with White to move
/// only: the other finds are these with colours exchanged. `peaceful` leaves out positions in
/// which either side, were it to move, would have to capture.
///
/// # Errors
/// As [`Tablebase::probe`]; [`Quarry::Longest`] needs a table of distances.
pub fn mine(
    tables: &Tablebase,
    variant: Variant,
    slice: Slice,
    quarry: Quarry,
    peaceful: bool,
    visit: &mut dyn FnMut(Find) -> ControlFlow<()>,
) -> Result<(), ProbeError> {
    let search = Search {
        tables,
        variant,
        slice: slice.canonical(),
        flipped: !slice.is_canonical(),
        peaceful,
    };
    let positions = search.slice.positions(variant.geometry());
    let record = match quarry {
        Quarry::Longest if peaceful => Some(search.peaceful_record()?),
        Quarry::Longest => Some(search.record()),
        Quarry::Zugzwang | Quarry::OnlyMove => None,
    };
    // A record tells where its first position is.
    let mut chunk = record.map_or(0, |r| r.first / CHUNK);
    let chunks = positions.div_ceil(CHUNK);
    // Few at first, so that a limit is soon reached, then more, so that no thread waits for long.
    let mut at_once = rayon::current_num_threads() as u64;
    while chunk < chunks {
        let count = at_once.min(chunks - chunk);
        let parts = parallel::map(count, &|i| {
            let first = (chunk + i) * CHUNK;
            let length = (positions - first).min(CHUNK) as usize;
            with_rules!(variant.rule_set(), R => match quarry {
                Quarry::Zugzwang => search.zugzwangs::<R>(first, length),
                Quarry::OnlyMove => search.only_moves::<R>(first, length),
                Quarry::Longest => search.longest::<R>(first, length, record.unwrap_or_default()),
            })
        });
        for part in parts {
            for find in part? {
                if visit(find).is_break() {
                    return Ok(());
                }
            }
        }
        chunk += count;
        at_once = (2 * at_once).min(4 * rayon::current_num_threads() as u64);
    }
    Ok(())
}

struct Search<'a> {
    tables: &'a Tablebase,
    variant: Variant,
    slice: Slice,
    /// The slice was asked for with colours exchanged.
    flipped: bool,
    peaceful: bool,
}

/// The longest win of a slice.
#[derive(Clone, Copy)]
struct Record {
    metric: Metric,
    plies: u16,
    /// No position of a smaller number takes as long.
    first: u64,
}

impl Default for Record {
    /// Of a slice without wins: past every position.
    fn default() -> Self {
        Record {
            metric: Metric::Dtc,
            plies: 0,
            first: u64::MAX,
        }
    }
}

impl Search<'_> {
    fn record(&self) -> Record {
        let rule_set = self.variant.rule_set();
        let header = |metric| self.tables.header(rule_set, self.slice, metric);
        let header = header(Metric::Dtw).or_else(|| header(Metric::Dtc));
        let Some(header) = header else {
            // Reading it will tell that it is missing.
            return Record {
                first: 0,
                ..Record::default()
            };
        };
        let longest = header
            .sides()
            .iter()
            .filter_map(|&side| header.census(side).longest_win);
        let plies = longest.clone().map(|l| l.plies).max();
        let first = longest.filter(|l| Some(l.plies) == plies);
        Record {
            metric: header.metric,
            plies: plies.unwrap_or(0),
            first: first.map(|l| l.position).min().unwrap_or(u64::MAX),
        }
    }

    /// The longest win among positions without captures, which no header tells.
    fn peaceful_record(&self) -> Result<Record, ProbeError> {
        let positions = self.slice.positions(self.variant.geometry());
        let record = self.record();
        let parts = parallel::map(positions.div_ceil(CHUNK), &|chunk| {
            let first = chunk * CHUNK;
            let count = (positions - first).min(CHUNK) as usize;
            with_rules!(self.variant.rule_set(), R => {
                self.record_of::<R>(record.metric, first, count)
            })
        });
        let mut best = Record {
            metric: record.metric,
            ..Record::default()
        };
        for part in parts {
            let part = part?;
            if part.first != u64::MAX && (best.first == u64::MAX || part.plies > best.plies) {
                best = part;
            }
        }
        Ok(best)
    }

    /// The longest win without captures in a range of positions.
    fn record_of<R: Rules>(
        &self,
        metric: Metric,
        first: u64,
        count: usize,
    ) -> Result<Record, ProbeError> {
        let index = SliceIndex::<R::Geometry>::new(self.slice);
        let mut best = Record {
            metric,
            ..Record::default()
        };
        for &side in stored_sides(self.slice) {
            let distances = self.distances::<R>(metric, side, first, count)?;
            for (number, plies) in (first..).zip(distances) {
                if best.first == u64::MAX || plies > best.plies {
                    let board = index.unrank(number, side);
                    let won = self.tables.result::<R>(&board)? == Wdl::Win;
                    if won && !is_violent::<R>(&board) {
                        best = Record {
                            metric,
                            plies,
                            first,
                        };
                    }
                }
            }
        }
        Ok(best)
    }

    fn zugzwangs<R: Rules>(&self, first: u64, count: usize) -> Result<Vec<Find>, ProbeError> {
        let index = SliceIndex::<R::Geometry>::new(self.slice);
        let read = |side| self.results::<R>(side, first, count);
        let white = read(Color::White)?;
        let stored = stored_sides(self.slice);
        let black = match stored.contains(&Color::Black) {
            true => Some(read(Color::Black)?),
            false => None,
        };
        let mut finds = Vec::new();
        for (place, &result) in white.iter().enumerate() {
            if result == Wdl::Win {
                // It cannot be bettered by passing, and the opponent would not pass either.
                continue;
            }
            let board = index.unrank(first + place as u64, Color::White);
            let others = match &black {
                Some(black) => black[place],
                None => self.tables.result::<R>(&with_side(&board, Color::Black))?,
            };
            if others.reversed() <= result || self.peaceful && is_violent::<R>(&board) {
                continue;
            }
            let mutual = result == Wdl::Loss && others == Wdl::Loss;
            for &side in stored {
                let passed = match side {
                    Color::White => others.reversed(),
                    Color::Black => result.reversed(),
                };
                let remark = Remark::Zugzwang { passed, mutual };
                finds.push(self.find(&with_side(&board, side), remark)?);
            }
        }
        Ok(finds)
    }

    fn longest<R: Rules>(
        &self,
        first: u64,
        count: usize,
        record: Record,
    ) -> Result<Vec<Find>, ProbeError> {
        let index = SliceIndex::<R::Geometry>::new(self.slice);
        let mut found = Vec::new();
        for &side in stored_sides(self.slice) {
            let plies = self.distances::<R>(record.metric, side, first, count)?;
            for (place, _) in plies
                .iter()
                .enumerate()
                .filter(|&(_, &p)| p == record.plies)
            {
                let board = index.unrank(first + place as u64, side);
                if self.tables.result::<R>(&board)? == Wdl::Win
                    && !(self.peaceful && is_violent::<R>(&board))
                {
                    found.push((place, self.find(&board, Remark::Longest)?));
                }
            }
        }
        Ok(in_order(found))
    }

    fn only_moves<R: Rules>(&self, first: u64, count: usize) -> Result<Vec<Find>, ProbeError> {
        let index = SliceIndex::<R::Geometry>::new(self.slice);
        let mut found = Vec::new();
        for &side in stored_sides(self.slice) {
            let results = self.results::<R>(side, first, count)?;
            for (place, _) in results.iter().enumerate().filter(|&(_, &r)| r == Wdl::Win) {
                let board = index.unrank(first + place as u64, side);
                if self.peaceful && is_violent::<R>(&board) {
                    continue;
                }
                if let Some(m) = self.only_move::<R>(&board)? {
                    let remark = Remark::OnlyMove(self.presented(&board, &m));
                    found.push((place, self.find(&board, remark)?));
                }
            }
        }
        Ok(in_order(found))
    }

    /// The one winning move among several legal ones, if it is the only one.
    fn only_move<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
    ) -> Result<Option<BoardMove<WordOf<R>>>, ProbeError> {
        if count_moves::<R>(board) < 2 {
            return Ok(None);
        }
        let mut winning = None;
        let mut several = false;
        let mut failure = None;
        for_each_move::<R>(board, |m| {
            if several || failure.is_some() {
                return;
            }
            match self.tables.result::<R>(&apply::<R>(board, &m)) {
                Ok(Wdl::Loss) => several = winning.replace(m).is_some(),
                Ok(_) => {}
                Err(error) => failure = Some(error),
            }
        });
        match failure {
            Some(failure) => Err(failure),
            None => Ok(winning.filter(|_| !several)),
        }
    }
}

/// How finds are presented.
impl Search<'_> {
    fn results<R: Rules>(
        &self,
        side: Color,
        first: u64,
        count: usize,
    ) -> Result<Vec<Wdl>, ProbeError> {
        let mut results = vec![Wdl::Draw; count];
        self.tables
            .results_of::<R>(self.slice, side, first, &mut results)?;
        Ok(results)
    }

    fn distances<R: Rules>(
        &self,
        metric: Metric,
        side: Color,
        first: u64,
        count: usize,
    ) -> Result<Vec<u16>, ProbeError> {
        let mut plies = vec![0; count];
        self.tables
            .distances_of::<R>(self.slice, metric, side, first, &mut plies)?;
        Ok(plies)
    }

    fn find<G: Geometry>(&self, board: &Board<G>, remark: Remark) -> Result<Find, ProbeError> {
        let position = self.position(board);
        Ok(Find {
            position,
            outcome: self.tables.probe(&position)?,
            remark,
        })
    }

    fn position<G: Geometry>(&self, board: &Board<G>) -> Position {
        match self.flipped {
            true => Position::from_board(self.variant, &board.flipped()),
            false => Position::from_board(self.variant, board),
        }
    }

    /// A move on a board as the variant has it.
    fn presented<G: Geometry>(&self, board: &Board<G>, m: &BoardMove<G::Word>) -> Move {
        let squares = |set| {
            let turned = if self.flipped { G::turn(set) } else { set };
            self.variant.squares_of::<G>(turned)
        };
        let (from, to, captured) = (squares(m.from), squares(m.to), squares(m.captured));
        let is_it = |other: &Move| {
            (other.from.bit(), other.to.bit()) == (from, to)
                && (other.captured, other.promotes) == (captured, m.promotes)
        };
        let mut legal = legal_moves(&self.position(board)).into_iter();
        legal.find(is_it).expect("both generators know the move")
    }
}

fn with_side<G: Geometry>(board: &Board<G>, side: Color) -> Board<G> {
    Board { side, ..*board }
}

/// Either side, were it to move, would have to capture.
fn is_violent<R: Rules>(board: &Board<R::Geometry>) -> bool {
    let sides = Color::BOTH.into_iter();
    sides
        .map(|side| with_side(board, side))
        .any(|board| has_capture::<R>(&board))
}

/// Finds by place, those of one place in the order in which they were found.
fn in_order(mut found: Vec<(usize, Find)>) -> Vec<Find> {
    found.sort_by_key(|&(place, _)| place);
    found.into_iter().map(|(_, find)| find).collect()
}
