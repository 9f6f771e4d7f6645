use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cache::{Cache, CacheStatistics, LINE_DISTANCES, LINE_RESULTS};
use super::inventory::rule_set_named;
use super::search::{Reach, Unanswered};
use super::tables::{Place, Table, Tables};
use super::{Inventory, Outcome};
use crate::board::{Color, Position};
use crate::index::Slice;
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{Codes, Header, Manifest, Metric, TableError, TableFile, Wdl};

/// Why a position cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// No file that can be used holds the table.
    #[error("{}", inventory.absence(*rule_set, *slice, *metric))]
    Missing {
        rule_set: RuleSetId,
        slice: Slice,
        metric: Metric,
        /// Where it was looked for.
        inventory: Arc<Inventory>,
    },
    #[error("{pieces} pieces on the board: tables have at most {most}")]
    TooManyPieces { pieces: u32, most: usize },
    /// A table leaves a position out that it should not have.
    #[error(
        "`{}` is damaged (a position needs a search of more than the {bound} moves it promises): \
         delete it and generate the slice again",
        path.display()
    )]
    Depth { path: PathBuf, bound: u16 },
    /// Play by the distances comes back to where it was.
    #[error(
        "the tables of {rule_set} contradict each other: check them with \
         `crownhead verify {rule_set}`"
    )]
    Contradiction { rule_set: RuleSetId },
    /// A table is damaged or cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// The tables found in some directories, ready to be asked from any thread.
#[derive(Debug)]
pub struct Tablebase {
    tables: Tables,
    inventory: Arc<Inventory>,
    cache: Cache,
    /// Bytes the cache may have.
    budget: u64,
}

/// Distances of a block of one table and side to move.
#[derive(Debug, Default)]
pub(super) struct DecodedBlock {
    first: u64,
    plies: Vec<u16>,
}

/// The bytes of decoded blocks a [`Tablebase`] keeps unless told otherwise.
pub const DEFAULT_CACHE: u64 = 256 << 20;

impl Tablebase {
    /// Finds all tables in the directories and below them. Of tables found twice the first counts.
    /// Nothing is an error here: [`Tablebase::inventory`] tells what was found, missing or ignored.
    pub fn open<P: AsRef<Path>>(directories: &[P]) -> Tablebase {
        Tablebase::with_cache(directories, DEFAULT_CACHE)
    }

    /// As [`Tablebase::open`], with a budget of bytes for decoded blocks.
    pub fn with_cache<P: AsRef<Path>>(directories: &[P], bytes: u64) -> Tablebase {
        let (tables, inventory) = Inventory::scan(directories);
        Tablebase {
            cache: Cache::fitting(tables.results, tables.decoded_lines(), bytes),
            tables,
            inventory: Arc::new(inventory),
            budget: bytes,
        }
    }

    /// Adds a table that is not on disk yet, in place of one that is.
    pub(super) fn add(&mut self, file: TableFile) {
        self.tables.replace(file);
        let lines = self.tables.decoded_lines();
        self.cache = Cache::fitting(self.tables.results, lines, self.budget);
    }

    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// What the cache of decoded blocks has done so far.
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.cache.statistics()
    }

    /// The metrics that there are tables of for a slice, in either orientation.
    pub fn available(&self, rule_set: RuleSetId, slice: Slice) -> Vec<Metric> {
        let there = |&metric: &Metric| self.header(rule_set, slice, metric).is_some();
        Metric::ALL.into_iter().filter(there).collect()
    }

    /// The most pieces up to which every slice has a metric; 0 if not even those of two have it.
    pub fn complete(&self, rule_set: RuleSetId, metric: Metric) -> usize {
        let mut sets = self.inventory.coverage.iter();
        let set = sets.find(|set| set.rule_set == rule_set && set.metric == metric);
        set.and_then(|set| set.complete).unwrap_or(0)
    }

    /// Tables that are nowhere although they are listed in the manifest of a directory that was
    /// searched: of one named after the rule set, or with some table of it.
    ///
    /// # Errors
    /// If a manifest cannot be read.
    pub fn lost(&self, rule_set: RuleSetId) -> Result<Vec<(Slice, Metric)>, TableError> {
        let mut lost = Vec::new();
        for directory in &self.inventory.directories {
            let named = rule_set_named(directory) == Some(rule_set);
            if !named && !self.tables.lie_in(directory, rule_set) {
                continue;
            }
            let manifest = Manifest::read(directory)?;
            let listed = manifest.names().filter_map(|name| {
                let (slice, metric) = name.split_once('.')?;
                let metric = Metric::ALL.into_iter().find(|m| m.name() == metric)?;
                Some((slice.parse::<Slice>().ok()?, metric))
            });
            lost.extend(
                listed.filter(|&(slice, metric)| self.header(rule_set, slice, metric).is_none()),
            );
        }
        lost.sort_by_key(|(slice, metric)| (slice.sort_key(), *metric));
        lost.dedup();
        Ok(lost)
    }

    /// The header of the table of a slice (in either orientation), if there is one.
    pub fn header(&self, rule_set: RuleSetId, slice: Slice, metric: Metric) -> Option<&Header> {
        let table = self.table(rule_set, slice.canonical(), metric);
        table.map(|table| &table.header)
    }

    /// The open file of the table of a slice (in either orientation), if there is one.
    ///
    /// # Errors
    /// If there is one and it cannot be opened.
    pub fn file(
        &self,
        rule_set: RuleSetId,
        slice: Slice,
        metric: Metric,
    ) -> Result<Option<&TableFile>, TableError> {
        let table = self.table(rule_set, slice.canonical(), metric);
        table.map(Table::file).transpose()
    }

    /// Some table does not leave out the positions with captures.
    #[inline]
    pub(super) fn some_have_captures(&self) -> bool {
        self.tables.some_have_captures
    }

    #[inline]
    pub(super) fn table(
        &self,
        rule_set: RuleSetId,
        canonical: Slice,
        metric: Metric,
    ) -> Option<&Table> {
        self.tables.get(rule_set, canonical, metric)
    }

    /// The error that there is no table of a canonical slice.
    pub fn missing(&self, rule_set: RuleSetId, slice: Slice, metric: Metric) -> ProbeError {
        ProbeError::Missing {
            rule_set,
            slice,
            metric,
            inventory: self.inventory.clone(),
        }
    }

    /// The outcome of a position for its side to move.
    ///
    /// # Errors
    /// [`ProbeError::Missing`] if the WDL table that decides is not there, naming it;
    /// [`ProbeError::TooManyPieces`]; [`ProbeError::Table`] if one cannot be read.
    pub fn probe(&self, position: &Position) -> Result<Outcome, ProbeError> {
        with_rules!(position.variant().rule_set(), R => self.outcome::<R>(&position.to_board()))
    }

    /// The result alone, which takes less: for a search.
    ///
    /// # Errors
    /// As [`Tablebase::probe`].
    pub fn probe_wdl(&self, position: &Position) -> Result<Wdl, ProbeError> {
        with_rules!(position.variant().rule_set(), R => self.result::<R>(&position.to_board()))
    }

    /// Decodes what the results of these positions will ask for, so that the next probes find it in
    /// the cache; for an engine that knows what it will ask and has a thread to spare. Positions
    /// that cannot be answered are passed over.
    pub fn prefetch(&self, positions: &[Position]) {
        for position in positions {
            // What cannot be told now will be told when it is asked for.
            let _ = self.probe_wdl(position);
        }
    }

    /// The result if it follows from blocks that are decoded already, else none; no file is touched.
    ///
    /// # Errors
    /// As [`Tablebase::probe`].
    pub fn probe_wdl_cached(&self, position: &Position) -> Result<Option<Wdl>, ProbeError> {
        with_rules!(position.variant().rule_set(), R => {
            self.result_cached::<R>(&position.to_board())
        })
    }

    /// A result that a table stores.
    #[inline]
    pub(super) fn look_up(
        &self,
        table: &Table,
        place: Place,
        reach: Reach,
    ) -> Result<Wdl, Unanswered> {
        if let Some(constant) = table.constant[place.side] {
            return Ok(constant);
        }
        if let Some(result) = self.cache.result(table.result(place)) {
            return Ok(result);
        }
        self.look_up_line(table, place, reach)
    }

    /// A result that its stretch does not tell.
    #[inline]
    fn look_up_line(&self, table: &Table, place: Place, reach: Reach) -> Result<Wdl, Unanswered> {
        let Place { side, position } = place;
        let file = match reach {
            Reach::Files => table.file()?,
            Reach::Cache => table.opened().ok_or(Unanswered::NotCached)?,
        };
        let per_block = file.block_positions(side).max(1);
        let (block, at) = (position / per_block, position % per_block);
        let (line, at_line) = (at / LINE_RESULTS, at % LINE_RESULTS);
        let key = table.line(side, block * per_block.div_ceil(LINE_RESULTS) + line);
        let code = match self.cache.get(key, (at_line / 32) as usize) {
            Some(word) => (word >> (2 * (at_line % 32)) & 3) as u8,
            None if reach == Reach::Cache => return Err(Unanswered::NotCached),
            None => self.results(table, side, block)?.get(at as usize),
        };
        Wdl::of(code.into()).ok_or_else(|| {
            let what = "a value that is needed is not stored";
            file.corrupt(side, block, what).into()
        })
    }

    /// A block of a WDL table, which is kept.
    #[cold]
    pub(super) fn results(
        &self,
        table: &Table,
        side: Color,
        block: u64,
    ) -> Result<Codes, ProbeError> {
        let file = table.file()?;
        let mut codes = Codes::default();
        file.results(side, block, &mut codes)?;
        self.cache.count_decode();
        if table.constant[side].is_some() {
            // Nobody asks the cache for these.
            return Ok(codes);
        }
        let per_block = file.block_positions(side);
        let position = block * per_block;
        let first = table.result(Place { side, position });
        let line = table.line(side, block * per_block.div_ceil(LINE_RESULTS));
        self.cache.insert_results(first, line, &codes);
        Ok(codes)
    }

    /// A distance that a table stores.
    pub(super) fn look_up_distance<R: Rules>(
        &self,
        table: &Table,
        place: Place,
    ) -> Result<u16, ProbeError> {
        self.look_up_distance_in::<R>(table, place, &mut DecodedBlock::default())
    }

    /// The same; a block that has to be decoded is left in `last`, where it is looked for first.
    pub(super) fn look_up_distance_in<R: Rules>(
        &self,
        table: &Table,
        place: Place,
        last: &mut DecodedBlock,
    ) -> Result<u16, ProbeError> {
        let Place { side, position } = place;
        if let Some(at) = position.checked_sub(last.first)
            && let Some(&plies) = last.plies.get(at as usize)
        {
            return Ok(plies);
        }
        let per_block = table.file()?.block_positions(side).max(1);
        let (block, at) = (position / per_block, position % per_block);
        let first = block * per_block.div_ceil(LINE_DISTANCES);
        let (line, at_line) = (first + at / LINE_DISTANCES, at % LINE_DISTANCES);
        let key = table.line(side, line);
        if let Some(word) = self.cache.get(key, (at_line / 4) as usize) {
            return Ok((word >> (16 * (at_line % 4))) as u16);
        }
        let plies = self.decode_distances::<R>(table, side, block)?;
        self.cache.count_decode();
        for (line, plies) in (first..).zip(plies.chunks(LINE_DISTANCES as usize)) {
            let bytes: Vec<u8> = plies.iter().flat_map(|p| p.to_le_bytes()).collect();
            self.cache.insert_bytes(table.line(side, line), &bytes);
        }
        let found = plies[at as usize];
        *last = DecodedBlock {
            first: block * per_block,
            plies,
        };
        Ok(found)
    }

    /// A result that a table keeps apart because the search cannot find it. These are never in the
    /// cache.
    pub(super) fn exception(
        &self,
        table: &Table,
        place: Place,
        reach: Reach,
    ) -> Result<Option<Wdl>, Unanswered> {
        if !table.header.has_exceptions(place.side) {
            return Ok(None);
        }
        match reach {
            Reach::Files => Ok(table.file()?.exception(place.side, place.position)?),
            Reach::Cache => Err(Unanswered::NotCached),
        }
    }
}
