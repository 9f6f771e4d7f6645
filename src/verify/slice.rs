use std::ops::Range;
use std::sync::atomic::AtomicU64;

use bitvec::vec::BitVec;

use super::known::{Found, Known, Memory};
use super::worth::{Moves, Worth};
use super::{Subject, VerifyError};
use crate::board::{Board, ByColor, Color, Position};
use crate::index::Slice;
use crate::parallel;
use crate::probe::{Outcome, ProbeError, Tablebase};
use crate::rules::movegen::{apply, for_each_move};
use crate::rules::reference::RuleSheet;
use crate::rules::{Move, Rules, Variant, with_rules};
use crate::table::{
    Census, HASH_CHUNK, Longest, Metric, Wdl, hash_chunk, hash_values, stored_sides,
};

/// Verifies tables slice by slice. Results are kept in memory from one slice to the next, so that
/// going through a whole set asks the prober for each of them about once.
#[derive(Debug)]
pub struct Verifier<'t> {
    tables: &'t Tablebase,
    variant: Variant,
    memory: Memory,
}

impl<'t> Verifier<'t> {
    pub fn new(tables: &'t Tablebase, variant: Variant) -> Self {
        Verifier::with_memory(tables, variant, None)
    }

    /// As [`Verifier::new`], with a limit of bytes for everything, the prober's cache included.
    pub fn with_memory(tables: &'t Tablebase, variant: Variant, bytes: Option<u64>) -> Self {
        Verifier {
            tables,
            variant,
            memory: Memory::new(bytes),
        }
    }

    /// Verifies all tables of one slice. What that takes must be there: see
    /// [`tables_needed`](super::tables_needed). Returns the number of values compared.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn slice(&mut self, slice: Slice) -> Result<u64, VerifyError> {
        self.slice_in(slice, &Metric::ALL)
    }

    /// The same of the results and of distances in these metrics alone.
    ///
    /// # Errors
    /// As [`Verifier::slice`].
    pub fn slice_in(&mut self, slice: Slice, metrics: &[Metric]) -> Result<u64, VerifyError> {
        with_rules!(self.variant.rule_set(), R => {
            let subject = Subject::<R>::new(self.tables, self.variant, slice);
            subject.verify(metrics, &mut self.memory)
        })
    }
}

/// Verifies all tables of one slice, see [`Verifier::slice`].
///
/// # Errors
/// The first thing that is wrong.
pub fn verify_slice(
    tables: &Tablebase,
    variant: Variant,
    slice: Slice,
) -> Result<u64, VerifyError> {
    Verifier::new(tables, variant).slice(slice)
}

/// A bit for every position with either side to move, set by many threads.
struct Bits(ByColor<BitVec<AtomicU64>>);

impl Bits {
    fn new(positions: u64) -> Self {
        let zeros = || BitVec::repeat(false, positions as usize);
        Bits(ByColor::new(zeros(), zeros()))
    }

    fn get(&self, side: Color, position: u64) -> bool {
        self.0[side][position as usize]
    }

    fn set(&self, side: Color, position: u64) {
        self.0[side].set_aliased(position as usize, true);
    }
}

/// What one chunk of positions comes to.
struct Part {
    census: Census,
    hash: blake3::Hash,
}

impl<R: Rules> Subject<'_, R> {
    /// Those of these metrics that there are tables of.
    pub(super) fn available(&self, metrics: &[Metric]) -> Vec<Metric> {
        let mut available = self.tables.available(R::ID, self.slice);
        available.retain(|metric| metrics.contains(metric));
        available
    }

    fn verify(&self, metrics: &[Metric], memory: &mut Memory) -> Result<u64, VerifyError> {
        let mut values = 0;
        let known = memory.around::<R>(self.tables, self.slice)?;
        let grounded = Bits::new(self.index.len());
        for &side in stored_sides(self.slice) {
            let parts = self.chunks(|chunk| self.check_results(side, chunk, &known, &grounded))?;
            self.compare_header(Metric::Wdl, side, &parts)?;
            values += self.index.len();
        }
        self.ground(&known, &grounded)?;
        let distances = self.available(metrics).into_iter();
        for metric in distances.filter(|&metric| metric != Metric::Wdl) {
            for &side in stored_sides(self.slice) {
                let parts = self.chunks(|chunk| self.check_distances(metric, side, chunk))?;
                self.compare_header(metric, side, &parts)?;
                values += self.index.len();
            }
        }
        Ok(values)
    }

    /// Works on all chunks of positions in parallel; of several errors the first counts.
    fn chunks<T: Send>(
        &self,
        check: impl Fn(u64) -> Result<T, VerifyError> + Sync,
    ) -> Result<Vec<T>, VerifyError> {
        let parts = parallel::map(self.index.len().div_ceil(HASH_CHUNK), &check);
        parts.into_iter().collect()
    }

    /// The positions of a chunk.
    fn positions(&self, chunk: u64) -> Range<u64> {
        let first = chunk * HASH_CHUNK;
        first..self.index.len().min(first + HASH_CHUNK)
    }

    /// Compares results with those of their successors, and the moves of both generators. A
    /// position is grounded here if it is so whatever the other positions of the slice are.
    fn check_results(
        &self,
        side: Color,
        chunk: u64,
        known: &Known<R>,
        grounded: &Bits,
    ) -> Result<Part, VerifyError> {
        let positions = self.positions(chunk);
        let mut results = Vec::with_capacity((positions.end - positions.start) as usize);
        let mut census = Census::default();
        let sheet = &mut RuleSheet::default();
        for position in positions {
            let found = known.here(side, position);
            let board = self.board(side, position);
            let mut worth = Worth::default();
            let mut moves = Moves::default();
            self.each_by_rule_sheet(sheet, &board, |after, m| {
                moves.add(after, m.is_conversion());
                let after = self.find(known, after, !m.is_capture() && !m.promotes)?;
                worth.add(after.result.reversed(), after.here.is_none());
                Ok(())
            })?;
            for_each_move::<R>(&board, |m| {
                moves.take(&apply::<R>(&board, &m), m.is_conversion())
            });
            if moves != Moves::default() {
                let fen = self.fen(side, position);
                return Err(VerifyError::Rules { fen });
            }
            let expected = worth.result::<R>();
            if found != expected {
                return Err(self.wrong(Metric::Wdl, side, position, found, expected));
            }
            if worth.is_grounded(found) {
                grounded.set(side, position);
            }
            census.add(found, None, position);
            results.push(found);
        }
        let hash = hash_chunk(Metric::Wdl, &results, &[]);
        Ok(Part { census, hash })
    }

    /// The result of a position reached by a move; `stays` tells that no piece was taken or crowned.
    fn find(
        &self,
        known: &Known<R>,
        board: &Board<R::Geometry>,
        stays: bool,
    ) -> Result<Found, ProbeError> {
        match known.get(board, stays) {
            Some(found) => Ok(found),
            None => Ok(Found {
                result: self.tables.result::<R>(board)?,
                here: None,
            }),
        }
    }

    /// All moves by the executable rule sheet, with the positions after them.
    pub(super) fn each_by_rule_sheet(
        &self,
        sheet: &mut RuleSheet,
        board: &Board<R::Geometry>,
        mut visit: impl FnMut(&Board<R::Geometry>, &Move) -> Result<(), ProbeError>,
    ) -> Result<(), ProbeError> {
        let position = Position::from_board(self.variant, board);
        let mut moves = sheet.moves(&position).iter();
        moves.try_for_each(|m| visit(&position.after(m).to_board(), m))
    }

    /// Grounds one decided position after the other until none is left. The moves of every
    /// position were compared with the rule sheet before, so the fast generator will do.
    fn ground(&self, known: &Known<R>, grounded: &Bits) -> Result<(), VerifyError> {
        let mut before = u64::MAX;
        loop {
            let mut left = 0;
            let mut first = None;
            for &side in stored_sides(self.slice) {
                let parts = self.chunks(|chunk| self.ground_chunk(side, chunk, known, grounded))?;
                left += parts.iter().map(|(count, _)| count).sum::<u64>();
                let open = parts.into_iter().find_map(|(_, open)| open);
                first = first.or(open.map(|(position, found)| (side, position, found)));
            }
            match first {
                None => return Ok(()),
                Some((side, position, found)) if left == before => {
                    let (path, block) = self.place(Metric::Wdl, side, position);
                    return Err(VerifyError::Circular {
                        path,
                        block,
                        fen: self.fen(side, position),
                        found: found.to_string(),
                    });
                }
                Some(_) => before = left,
            }
        }
    }

    /// Grounds what can be grounded in a chunk; returns how many positions cannot, and the first.
    fn ground_chunk(
        &self,
        side: Color,
        chunk: u64,
        known: &Known<R>,
        grounded: &Bits,
    ) -> Result<(u64, Option<(u64, Wdl)>), VerifyError> {
        let mut left = 0;
        let mut open = None;
        for position in self.positions(chunk) {
            let found = known.here(side, position);
            if found == Wdl::Draw || grounded.get(side, position) {
                continue;
            }
            let board = self.board(side, position);
            let mut worth = Worth::default();
            let mut failure = None;
            for_each_move::<R>(&board, |m| {
                let stays = !m.is_capture() && !m.promotes;
                match self.find(known, &apply::<R>(&board, &m), stays) {
                    Ok(after) => {
                        let firm = after.here.is_none_or(|(side, p)| grounded.get(side, p));
                        worth.add(after.result.reversed(), firm);
                    }
                    Err(error) => failure = Some(error),
                }
            });
            if let Some(failure) = failure {
                return Err(failure.into());
            }
            if worth.is_grounded(found) {
                grounded.set(side, position);
            } else {
                left += 1;
                open = open.or(Some((position, found)));
            }
        }
        Ok((left, open))
    }

    /// Compares distances with their definition.
    fn check_distances(
        &self,
        metric: Metric,
        side: Color,
        chunk: u64,
    ) -> Result<Part, VerifyError> {
        let Range { start: first, end } = self.positions(chunk);
        let count = (end - first) as usize;
        let mut results = vec![Wdl::Draw; count];
        self.tables
            .results_of::<R>(self.slice, side, first, &mut results)?;
        let mut plies = vec![0; count];
        self.tables
            .distances_of::<R>(self.slice, metric, side, first, &mut plies)?;
        let mut census = Census::default();
        let sheet = &mut RuleSheet::default();
        for (place, (&result, &found)) in results.iter().zip(&plies).enumerate() {
            let position = first + place as u64;
            if result != Wdl::Draw {
                self.check_distance(sheet, metric, side, position, found)?;
            }
            census.add(result, Some(found), position);
        }
        let hash = hash_chunk(metric, &results, &plies);
        Ok(Part { census, hash })
    }

    pub(super) fn check_distance(
        &self,
        sheet: &mut RuleSheet,
        metric: Metric,
        side: Color,
        position: u64,
        found: u16,
    ) -> Result<(), VerifyError> {
        let mut outcomes = Vec::new();
        let board = self.board(side, position);
        self.each_by_rule_sheet(sheet, &board, |after, m| {
            outcomes.push(
                self.tables
                    .outcome_in::<R>(after, &[metric])?
                    .before_move(m.is_conversion()),
            );
            Ok(())
        })?;
        let moves = Outcome::of_moves(&outcomes).unwrap_or(Outcome::without_move(&R::SET));
        let expected = match metric {
            Metric::Dtw => moves.dtw,
            _ => moves.dtc,
        };
        if expected == Some(found) {
            return Ok(());
        }
        if expected.is_none() {
            let mut lacking = None;
            self.each_by_rule_sheet(sheet, &board, |after, _| {
                lacking = lacking.or_else(|| self.tables.slice_without::<R>(after, metric));
                Ok(())
            })?;
            if let Some(slice) = lacking {
                return Err(self.tables.missing(R::ID, slice, metric).into());
            }
        }
        let expected = expected.map_or("unknown".to_owned(), |plies| format!("{plies} plies"));
        Err(self.wrong(metric, side, position, format!("{found} plies"), expected))
    }

    fn compare_header(
        &self,
        metric: Metric,
        side: Color,
        parts: &[Part],
    ) -> Result<(), VerifyError> {
        let header = self.tables.header(R::ID, self.slice, metric);
        let Some(stored) = header.and_then(|header| header.stored[side]) else {
            return Ok(());
        };
        let census = parts
            .iter()
            .fold(Census::default(), |sum, part| sum.followed_by(part.census));
        let hash = hash_values(parts.iter().map(|part| part.hash));
        let longest = |census: &Census| {
            let told = |longest: Option<Longest>| match longest {
                Some(Longest { plies, position }) => format!("{plies} plies (number {position})"),
                None => "none".to_owned(),
            };
            let [win, loss] = [census.longest_win, census.longest_loss].map(told);
            format!("win {win}, loss {loss}")
        };
        let rows = [
            (
                "wins",
                stored.census.wins.to_string(),
                census.wins.to_string(),
            ),
            (
                "draws",
                stored.census.draws.to_string(),
                census.draws.to_string(),
            ),
            (
                "losses",
                stored.census.losses.to_string(),
                census.losses.to_string(),
            ),
            ("as the longest", longest(&stored.census), longest(&census)),
            ("as the hash of the values", hex(&stored.hash), hex(&hash)),
        ];
        match rows.into_iter().find(|(_, header, found)| header != found) {
            None => Ok(()),
            Some((what, header, found)) => Err(VerifyError::Header {
                path: self.place(metric, side, 0).0,
                side,
                what,
                header,
                found,
            }),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
