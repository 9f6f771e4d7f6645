//! All values of a range of positions: what is stored from the blocks, the rest by search.

use super::search::is_threatened;
use super::tablebase::DecodedBlock;
use super::tables::{Place, Table};
use super::{ProbeError, Tablebase};
use crate::board::{Board, Color};
use crate::index::Slice;
use crate::rules::Rules;
use crate::rules::movegen::has_capture;
use crate::table::{Codes, Metric, TableError, Wdl};

impl Tablebase {
    /// Writes the results of all positions of a canonical slice from number `first` on, as many as
    /// `out` holds.
    ///
    /// # Errors
    /// As [`Tablebase::probe`]; also if the range is not in the slice or the side to move is not
    /// stored.
    pub fn results_of<R: Rules>(
        &self,
        slice: Slice,
        side: Color,
        first: u64,
        out: &mut [Wdl],
    ) -> Result<(), ProbeError> {
        let mut codes = Codes::default();
        self.codes_of::<R>(slice, side, first, out.len(), &mut codes)?;
        for (result, code) in out.iter_mut().zip(codes.iter()) {
            // Every code was just found to be a result.
            *result = Wdl::of(code.into()).unwrap_or(Wdl::Draw);
        }
        Ok(())
    }

    /// Makes `out` the result codes of `count` positions likewise.
    ///
    /// # Errors
    /// As [`Tablebase::results_of`].
    pub(super) fn codes_of<R: Rules>(
        &self,
        slice: Slice,
        side: Color,
        first: u64,
        count: usize,
        out: &mut Codes,
    ) -> Result<(), ProbeError> {
        let table = self.table(R::ID, slice, Metric::Wdl);
        let table = table.ok_or_else(|| self.missing(R::ID, slice, Metric::Wdl))?;
        self.results_range::<R>(table, side, first, count, false, out)
    }

    /// Writes the distances of all positions likewise; zero for draws.
    ///
    /// # Errors
    /// As [`Tablebase::results_of`].
    pub fn distances_of<R: Rules>(
        &self,
        slice: Slice,
        metric: Metric,
        side: Color,
        first: u64,
        out: &mut [u16],
    ) -> Result<(), ProbeError> {
        let table = self.table(R::ID, slice, metric);
        let table = table.ok_or_else(|| self.missing(R::ID, slice, metric))?;
        check_range(table, first, out.len())?;
        let captures = table.header.leaves_out_captures();
        let follows = table.header.follows(side);
        let mut last = DecodedBlock::default();
        let index = table.index::<R::Geometry>();
        for (position, plies) in (first..).zip(out) {
            let board = index.unrank(position, side);
            *plies = if follows || captures && has_capture::<R>(&board) {
                let result = self.result::<R>(&board)?;
                self.known_distance::<R>(&board, metric, result)?
            } else {
                self.look_up_distance_in::<R>(table, Place { side, position }, &mut last)?
            };
        }
        Ok(())
    }

    /// The distance of a position that has this result, zero for draws.
    ///
    /// # Errors
    /// As [`Tablebase::probe`], also if a table of distances is missing.
    pub(super) fn known_distance<R: Rules>(
        &self,
        board: &Board<R::Geometry>,
        metric: Metric,
        result: Wdl,
    ) -> Result<u16, ProbeError> {
        match self.distance::<R>(board, metric, result)? {
            Some(plies) => Ok(plies),
            None if result == Wdl::Draw => Ok(0),
            None => Err(self.lacking_distance::<R>(board, metric)),
        }
    }

    /// Decodes a block of a table of distances, for which the results must be known.
    pub(super) fn decode_distances<R: Rules>(
        &self,
        table: &Table,
        side: Color,
        block: u64,
    ) -> Result<Vec<u16>, ProbeError> {
        let header = &table.header;
        let file = table.file()?;
        let first = block * file.block_positions(side);
        let count = header
            .positions
            .saturating_sub(first)
            .min(file.block_positions(side));
        let results = self.table(R::ID, header.slice, Metric::Wdl);
        let results = results.ok_or_else(|| self.missing(R::ID, header.slice, Metric::Wdl))?;
        let captures = header.leaves_out_captures();
        let mut codes = Codes::default();
        self.results_range::<R>(results, side, first, count as usize, captures, &mut codes)?;
        let mut plies = Vec::new();
        file.distances(side, block, &codes, &mut plies)?;
        Ok(plies)
    }

    /// Writes the result codes of a range of positions of a WDL table, code 3 for those with
    /// captures if these are not wanted.
    fn results_range<R: Rules>(
        &self,
        table: &Table,
        side: Color,
        first: u64,
        count: usize,
        without_captures: bool,
        out: &mut Codes,
    ) -> Result<(), ProbeError> {
        let header = &table.header;
        let file = table.file()?;
        check_range(table, first, count)?;
        let per_block = file.block_positions(side).max(1);
        out.reset(count);
        let index = table.index::<R::Geometry>();
        let mut block: Option<(u64, Codes)> = None;
        for place in 0..count {
            let position = first + place as u64;
            let board = index.unrank(position, side);
            let captures = has_capture::<R>(&board);
            if captures && without_captures {
                continue;
            }
            let searched = captures && header.leaves_out_captures()
                || header.leaves_out_threats() && is_threatened::<R>(&board);
            let code = if searched {
                self.result::<R>(&board)? as u8
            } else {
                let number = position / per_block;
                let decoded = match &block {
                    Some((n, decoded)) if *n == number => decoded,
                    _ => {
                        let decoded = self.results(table, side, number)?;
                        &block.insert((number, decoded)).1
                    }
                };
                decoded.get((position % per_block) as usize)
            };
            if code == 3 {
                let what = "a value that is needed is not stored";
                return Err(file.corrupt(side, position / per_block, what).into());
            }
            out.set(place, code);
        }
        Ok(())
    }
}

/// Whether a table has so many positions from a first one on.
fn check_range(table: &Table, first: u64, count: usize) -> Result<(), ProbeError> {
    match first.checked_add(count as u64) {
        Some(end) if end <= table.header.positions => Ok(()),
        _ => {
            let what = "a position that is asked for is not in it";
            let path = table.path.clone();
            Err(TableError::CorruptHeader { path, what }.into())
        }
    }
}
