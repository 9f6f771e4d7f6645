use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Subject, VerifyError};
use crate::board::{Board, ByColor, Color};
use crate::index::Slice;
use crate::parallel;
use crate::probe::{Outcome, ProbeError, Tablebase};
use crate::rules::movegen::{apply, for_each_move};
use crate::rules::{Rules, Variant, with_rules};
use crate::table::{Census, HASH_CHUNK, Metric, Wdl, hash_chunk, hash_values, stored_sides};

/// Positions of a sample looked at by one task.
const SAMPLE_CHUNK: u64 = 1024;

/// Verifies all tables of one slice, whose successors' tables must be there. Returns the number of
/// values compared.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify_slice(
    tables: &Tablebase,
    variant: Variant,
    slice: Slice,
) -> Result<u64, VerifyError> {
    with_rules!(variant.rule_set(), R => Subject::<R>::new(tables, variant, slice).verify())
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

/// A bit for every position with either side to move.
struct Bits(ByColor<Vec<AtomicU64>>);

impl Bits {
    fn new(positions: u64) -> Self {
        let zeros = || {
            (0..positions.div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect()
        };
        Bits(ByColor::new(zeros(), zeros()))
    }

    fn get(&self, side: Color, position: u64) -> bool {
        self.0[side][(position / 64) as usize].load(Relaxed) >> (position % 64) & 1 != 0
    }

    fn set(&self, side: Color, position: u64) {
        self.0[side][(position / 64) as usize].fetch_or(1 << (position % 64), Relaxed);
    }
}

/// What one chunk of positions comes to.
struct Part {
    census: Census,
    hash: blake3::Hash,
    /// Wins and losses that are not grounded yet.
    open: Vec<u64>,
}

impl<R: Rules> Subject<'_, R> {
    fn metrics(&self) -> impl Iterator<Item = Metric> + '_ {
        let exists = |&metric: &Metric| self.tables.header(R::ID, self.slice, metric).is_some();
        Metric::ALL.into_iter().filter(exists)
    }

    fn verify(&self) -> Result<u64, VerifyError> {
        let mut values = 0;
        let grounded = Bits::new(self.index.len());
        let mut open = Vec::new();
        for &side in stored_sides(self.slice) {
            let parts =
                self.chunks(|first, count| self.check_results(side, first, count, &grounded))?;
            self.compare_header(Metric::Wdl, side, &parts)?;
            open.extend(
                parts
                    .into_iter()
                    .flat_map(|part| part.open)
                    .map(|p| (side, p)),
            );
            values += self.index.len();
        }
        self.ground(open, &grounded)?;
        for metric in self.metrics().filter(|&metric| metric != Metric::Wdl) {
            for &side in stored_sides(self.slice) {
                let parts =
                    self.chunks(|first, count| self.check_distances(metric, side, first, count))?;
                self.compare_header(metric, side, &parts)?;
                values += self.index.len();
            }
        }
        Ok(values)
    }

    /// Works on all positions in parallel; of several errors the first counts.
    fn chunks(
        &self,
        check: impl Fn(u64, usize) -> Result<Part, VerifyError> + Sync,
    ) -> Result<Vec<Part>, VerifyError> {
        let positions = self.index.len();
        let parts: Vec<Result<Part, VerifyError>> =
            parallel::map(positions.div_ceil(HASH_CHUNK), &|chunk| {
                let first = chunk * HASH_CHUNK;
                check(first, (positions - first).min(HASH_CHUNK) as usize)
            });
        parts.into_iter().collect()
    }

    /// Compares results with those of their successors. A position is grounded here if it is so
    /// whatever the other positions of the slice are.
    fn check_results(
        &self,
        side: Color,
        first: u64,
        count: usize,
        grounded: &Bits,
    ) -> Result<Part, VerifyError> {
        let mut results = vec![Wdl::Draw; count];
        self.tables
            .results_of::<R>(self.slice, side, first, &mut results)?;
        let mut census = Census::default();
        let mut open = Vec::new();
        for (position, &found) in (first..).zip(&results) {
            let board = self.board(side, position);
            let expected = self.best(&board)?;
            if found != expected {
                return Err(self.wrong(Metric::Wdl, side, position, found, expected));
            }
            census.add(found, None, position);
            if found != Wdl::Draw {
                if self.is_grounded(&board, found, |_, _| false)? {
                    grounded.set(side, position);
                } else {
                    open.push(position);
                }
            }
        }
        let hash = hash_chunk(Metric::Wdl, &results, &[]);
        Ok(Part { census, hash, open })
    }

    /// The best result of all moves.
    fn best(&self, board: &Board<R::Geometry>) -> Result<Wdl, ProbeError> {
        let mut best: Option<Wdl> = None;
        self.each_successor(board, |_, result| best = best.max(Some(result.reversed())))?;
        Ok(best.unwrap_or(Outcome::without_move(&R::SET).result))
    }

    fn each_successor(
        &self,
        board: &Board<R::Geometry>,
        mut visit: impl FnMut(&Board<R::Geometry>, Wdl),
    ) -> Result<(), ProbeError> {
        let mut failure = None;
        for_each_move::<R>(board, |m| {
            let after = apply::<R>(board, &m);
            match self.tables.result::<R>(&after) {
                Ok(result) => visit(&after, result),
                Err(error) => failure = Some(error),
            }
        });
        failure.map_or(Ok(()), Err)
    }

    /// Whether a win has a move to a grounded loss, or all moves of a loss lead to grounded wins.
    /// Positions of other slices are grounded: no move leads back from them. `known` tells of those
    /// of this slice.
    fn is_grounded(
        &self,
        board: &Board<R::Geometry>,
        found: Wdl,
        known: impl Fn(Color, u64) -> bool,
    ) -> Result<bool, ProbeError> {
        let (mut any, mut all) = (false, true);
        let mut moves = 0;
        self.each_successor(board, |after, result| {
            let here = Slice::of(after).filter(|slice| slice.canonical() == self.slice);
            let firm = here.is_none_or(|slice| {
                let stored = slice == self.slice && stored_sides(slice).contains(&after.side);
                let after = if stored { *after } else { after.flipped() };
                known(after.side, self.index.rank(&after))
            });
            moves += 1;
            any |= firm && result == Wdl::Loss;
            all &= firm && result == Wdl::Win;
        })?;
        Ok(match found {
            Wdl::Win => any || moves == 0,
            _ => all,
        })
    }

    /// Grounds one open position after the other until none is left.
    fn ground(&self, open: Vec<(Color, u64)>, grounded: &Bits) -> Result<(), VerifyError> {
        let mut open = open;
        while !open.is_empty() {
            let before = open.len();
            let rest = parallel::map(open.len() as u64, &|i| {
                let (side, position) = open[i as usize];
                let board = self.board(side, position);
                let found = self.tables.result::<R>(&board)?;
                let known = |side, position| grounded.get(side, position);
                if self.is_grounded(&board, found, known)? {
                    grounded.set(side, position);
                    return Ok(None);
                }
                Ok(Some((side, position)))
            });
            let rest: Result<Vec<_>, ProbeError> =
                rest.into_iter().filter_map(Result::transpose).collect();
            open = rest?;
            if let (Some(&(side, position)), true) = (open.first(), open.len() == before) {
                let (path, block) = self.place(Metric::Wdl, side, position);
                return Err(VerifyError::Circular {
                    path,
                    block,
                    fen: self.fen(side, position),
                    found: self
                        .tables
                        .result::<R>(&self.board(side, position))?
                        .to_string(),
                });
            }
        }
        Ok(())
    }

    /// Compares distances with their definition.
    fn check_distances(
        &self,
        metric: Metric,
        side: Color,
        first: u64,
        count: usize,
    ) -> Result<Part, VerifyError> {
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
        Ok(Part {
            census,
            hash,
            open: Vec::new(),
        })
    }

    fn check_distance(
        &self,
        metric: Metric,
        side: Color,
        position: u64,
        found: u16,
    ) -> Result<(), VerifyError> {
        let moves = self
            .tables
            .outcome_by_moves::<R>(&self.board(side, position))?;
        let expected = match metric {
            Metric::Dtw => moves.dtw,
            _ => moves.dtc,
        };
        if expected == Some(found) {
            return Ok(());
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
            let expected = self.best(&self.board(side, position))?;
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
