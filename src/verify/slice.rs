use std::sync::atomic::AtomicU64;

use bitvec::vec::BitVec;

use super::known::{Found, Known, Memory};
use super::{Subject, VerifyError};
use crate::board::{Board, ByColor, Color, Geometry, Position, Word};
use crate::index::Slice;
use crate::parallel;
use crate::probe::{Outcome, ProbeError, Tablebase};
use crate::rules::movegen::{apply, for_each_move};
use crate::rules::reference::legal_moves;
use crate::rules::{Rules, Variant, with_rules};
use crate::table::{Census, HASH_CHUNK, Metric, Wdl, hash_chunk, hash_values, stored_sides};

/// Positions of a sample looked at by one task.
const SAMPLE_CHUNK: u64 = 1024;

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
        Verifier {
            tables,
            variant,
            memory: Memory::default(),
        }
    }

    /// Verifies all tables of one slice, whose successors' tables must be there. Returns the number
    /// of values compared.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn slice(&mut self, slice: Slice) -> Result<u64, VerifyError> {
        with_rules!(self.variant.rule_set(), R => {
            Subject::<R>::new(self.tables, self.variant, slice).verify(&mut self.memory)
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

/// Verifies so many values of the tables of one slice, spread evenly. Returns the number of values
/// compared.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify_sample(
    tables: &Tablebase,
    variant: Variant,
    slice: Slice,
    values: u64,
) -> Result<u64, VerifyError> {
    with_rules!(variant.rule_set(), R => {
        Subject::<R>::new(tables, variant, slice).verify_sample(values)
    })
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

/// What the moves of a position make of it.
#[derive(Default)]
struct Worth {
    best: Option<Wdl>,
    /// A move wins for certain.
    wins: bool,
    /// Not every move loses for certain.
    saves: bool,
}

impl Worth {
    /// A move with its result for who makes it; `firm` if that is grounded.
    fn add(&mut self, result: Wdl, firm: bool) {
        self.best = self.best.max(Some(result));
        self.wins |= firm && result == Wdl::Win;
        self.saves |= !firm || result != Wdl::Loss;
    }

    fn result<R: Rules>(&self) -> Wdl {
        self.best.unwrap_or(Outcome::without_move(&R::SET).result)
    }

    /// Whether a win or a loss needs no position that is not grounded.
    fn is_grounded(&self, found: Wdl) -> bool {
        match found {
            Wdl::Win => self.wins || self.best.is_none(),
            _ => !self.saves,
        }
    }
}

/// A set of moves as a sum of hashes: two generators agree if taking the moves of one from those
/// of the other leaves nothing.
#[derive(Default, PartialEq, Eq)]
struct Moves {
    count: i64,
    sum: u64,
}

impl Moves {
    fn add<G: Geometry>(&mut self, after: &Board<G>, converts: bool) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(Self::hash(after, converts));
    }

    fn take<G: Geometry>(&mut self, after: &Board<G>, converts: bool) {
        self.count -= 1;
        self.sum = self.sum.wrapping_sub(Self::hash(after, converts));
    }

    fn hash<G: Geometry>(board: &Board<G>, converts: bool) -> u64 {
        let mix = |hash: u64, word: u64| {
            let hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^ hash >> 32
        };
        let words = board.men.0.into_iter().chain(board.kings.0);
        words.fold(u64::from(converts), |hash, word| {
            let bits = word.to_u128();
            mix(mix(hash, bits as u64), (bits >> 64) as u64)
        })
    }
}

impl<R: Rules> Subject<'_, R> {
    fn metrics(&self) -> impl Iterator<Item = Metric> + '_ {
        let exists = |&metric: &Metric| self.tables.header(R::ID, self.slice, metric).is_some();
        Metric::ALL.into_iter().filter(exists)
    }

    fn verify(&self, memory: &mut Memory) -> Result<u64, VerifyError> {
        let mut values = 0;
        let known = memory.around::<R>(self.tables, self.slice)?;
        let grounded = Bits::new(self.index.len());
        for &side in stored_sides(self.slice) {
            let parts = self.chunks(|chunk| self.check_results(side, chunk, &known, &grounded))?;
            self.compare_header(Metric::Wdl, side, &parts)?;
            values += self.index.len();
        }
        self.ground(&known, &grounded)?;
        for metric in self.metrics().filter(|&metric| metric != Metric::Wdl) {
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

    /// Compares results with those of their successors, and the moves of both generators. A
    /// position is grounded here if it is so whatever the other positions of the slice are.
    fn check_results(
        &self,
        side: Color,
        chunk: u64,
        known: &Known<R>,
        grounded: &Bits,
    ) -> Result<Part, VerifyError> {
        let codes = known.chunk(side, chunk);
        let first = chunk * HASH_CHUNK;
        let mut results = Vec::with_capacity(codes.len());
        let mut census = Census::default();
        for (position, code) in (first..).zip(codes.iter()) {
            // The prober gives results alone.
            let found = Wdl::of(code.into()).unwrap_or(Wdl::Draw);
            let board = self.board(side, position);
            let mut worth = Worth::default();
            let mut moves = Moves::default();
            self.each_by_rule_sheet(&board, |after, converts| {
                moves.add(after, converts);
                let after = self.find(known, after)?;
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

    /// The result of a position reached by a move.
    fn find(&self, known: &Known<R>, board: &Board<R::Geometry>) -> Result<Found, ProbeError> {
        match known.get(board) {
            Some(found) => Ok(found),
            None => Ok(Found {
                result: self.tables.result::<R>(board)?,
                here: None,
            }),
        }
    }

    /// The positions after all moves by the executable rule sheet, and whether each converts.
    fn each_by_rule_sheet(
        &self,
        board: &Board<R::Geometry>,
        mut visit: impl FnMut(&Board<R::Geometry>, bool) -> Result<(), ProbeError>,
    ) -> Result<(), ProbeError> {
        let position = Position::from_board(self.variant, board);
        let mut moves = legal_moves(&position).into_iter();
        moves.try_for_each(|m| visit(&position.after(&m).to_board(), m.is_conversion()))
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
        let first = chunk * HASH_CHUNK;
        let mut left = 0;
        let mut open = None;
        for (position, code) in (first..).zip(known.chunk(side, chunk).iter()) {
            let found = Wdl::of(code.into()).unwrap_or(Wdl::Draw);
            if found == Wdl::Draw || grounded.get(side, position) {
                continue;
            }
            let board = self.board(side, position);
            let mut worth = Worth::default();
            let mut failure = None;
            for_each_move::<R>(&board, |m| {
                match self.find(known, &apply::<R>(&board, &m)) {
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
        let first = chunk * HASH_CHUNK;
        let count = (self.index.len() - first).min(HASH_CHUNK) as usize;
        let mut results = vec![Wdl::Draw; count];
        self.tables
            .results_of::<R>(self.slice, side, first, &mut results)?;
        let mut plies = vec![0; count];
        self.tables
            .distances_of::<R>(self.slice, metric, side, first, &mut plies)?;
        let mut census = Census::default();
        for (place, (&result, &found)) in results.iter().zip(&plies).enumerate() {
            let position = first + place as u64;
            if result != Wdl::Draw {
                self.check_distance(metric, side, position, found)?;
            }
            census.add(result, Some(found), position);
        }
        let hash = hash_chunk(metric, &results, &plies);
        Ok(Part { census, hash })
    }

    fn check_distance(
        &self,
        metric: Metric,
        side: Color,
        position: u64,
        found: u16,
    ) -> Result<(), VerifyError> {
        let mut outcomes = Vec::new();
        let board = self.board(side, position);
        self.each_by_rule_sheet(&board, |after, converts| {
            outcomes.push(self.tables.outcome::<R>(after)?.before_move(converts));
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
            self.each_by_rule_sheet(&board, |after, _| {
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
        let longest =
            |census: &Census| format!("{:?} {:?}", census.longest_win, census.longest_loss);
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

    fn verify_sample(&self, values: u64) -> Result<u64, VerifyError> {
        let positions = self.index.len();
        let mut compared = 0;
        for metric in self.metrics() {
            for &side in stored_sides(self.slice) {
                let wanted = values.min(positions);
                // Odd multiples of an irrational step visit every part of the slice.
                let step = (positions as f64 * 0.618_033_988_75) as u64 | 1;
                let chunks = wanted.div_ceil(SAMPLE_CHUNK);
                let wrong = parallel::map(chunks, &|chunk| {
                    let first = chunk * SAMPLE_CHUNK;
                    (first..wanted.min(first + SAMPLE_CHUNK)).find_map(|i| {
                        let position = match wanted == positions {
                            true => i,
                            false => {
                                ((u128::from(i) * u128::from(step)) % u128::from(positions)) as u64
                            }
                        };
                        self.check_one(metric, side, position).err()
                    })
                });
                let wrong = wrong.into_iter().flatten().next();
                if let Some(wrong) = wrong {
                    return Err(wrong);
                }
                compared += wanted;
            }
        }
        Ok(compared)
    }

    fn check_one(&self, metric: Metric, side: Color, position: u64) -> Result<(), VerifyError> {
        let mut result = [Wdl::Draw];
        self.tables
            .results_of::<R>(self.slice, side, position, &mut result)?;
        if metric == Metric::Wdl {
            let mut worth = Worth::default();
            self.each_by_rule_sheet(&self.board(side, position), |after, _| {
                worth.add(self.tables.result::<R>(after)?.reversed(), true);
                Ok(())
            })?;
            let expected = worth.result::<R>();
            return match result[0] == expected {
                true => Ok(()),
                false => Err(self.wrong(metric, side, position, result[0], expected)),
            };
        }
        if result[0] == Wdl::Draw {
            return Ok(());
        }
        let mut plies = [0];
        self.tables
            .distances_of::<R>(self.slice, metric, side, position, &mut plies)?;
        self.check_distance(metric, side, position, plies[0])
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
