use std::any::Any;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::cache::{Block, BlockKey, Cache, CacheStatistics, KeyHasher};
use super::search::{Ask, Reach};
use super::{Inventory, Outcome};
use crate::board::{Color, Geometry, Position};
use crate::index::{Slice, SliceIndex};
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{Codes, Header, Metric, TableError, TableFile, Wdl};

/// Why a position cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    #[error(
        "no table {rule_set}/{slice}.{metric} in {}: generate it with \
         `crownhead generate {rule_set} --slice {slice} --metric {metric}`, or name its directory \
         with --tables",
        list(directories)
    )]
    Missing {
        rule_set: RuleSetId,
        slice: Slice,
        metric: Metric,
        directories: Vec<PathBuf>,
    },
    #[error("{pieces} pieces on the board: tables have at most {most}")]
    TooManyPieces { pieces: u32, most: usize },
    /// Asked for what is decoded already, and it is not.
    #[error("the answer is not in the cache")]
    NotCached,
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

fn list(directories: &[PathBuf]) -> String {
    let quoted = directories.iter().map(|d| format!("`{}`", d.display()));
    quoted.collect::<Vec<_>>().join(", ")
}

/// The tables found in some directories, ready to be asked from any thread.
#[derive(Debug)]
pub struct Tablebase {
    tables: Tables,
    inventory: Inventory,
    cache: Cache,
}

pub(super) type Tables = HashMap<(RuleSetId, Slice, Metric), Table, BuildHasherDefault<KeyHasher>>;

/// A table that was found; it is mapped when it is first asked.
#[derive(Debug)]
pub(super) struct Table {
    /// Numbers the tables, for the cache.
    pub number: u32,
    pub path: PathBuf,
    pub header: Header,
    pub file: OnceLock<TableFile>,
    /// A [`SliceIndex`] of the rule set's geometry.
    pub index: Box<dyn Any + Send + Sync>,
}

/// Where a table has a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub side: Color,
    pub position: u64,
}

impl Table {
    pub fn new(number: u32, path: &Path, header: Header) -> Table {
        let index = with_rules!(header.rule_set, R => {
            Box::new(SliceIndex::<<R as Rules>::Geometry>::new(header.slice)) as Box<_>
        });
        Table {
            number,
            path: path.to_owned(),
            header,
            file: OnceLock::new(),
            index,
        }
    }

    pub fn file(&self) -> Result<&TableFile, TableError> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = TableFile::open(&self.path)?;
        if file.header() != &self.header {
            let what = "it was exchanged since it was found";
            let path = self.path.clone();
            return Err(TableError::CorruptHeader { path, what });
        }
        Ok(self.file.get_or_init(|| file))
    }

    /// # Panics
    /// If `G` is not the geometry of the table's rule set.
    #[inline]
    pub fn index<G: Geometry>(&self) -> &SliceIndex<G> {
        let index = self.index.downcast_ref();
        index.expect("a table is asked for positions of its own rule set")
    }
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
            tables,
            inventory,
            cache: Cache::new(bytes),
        }
    }

    /// Adds a table that is not on disk yet, in place of one that is.
    pub(super) fn add(&mut self, file: TableFile) {
        let header = file.header().clone();
        let key = (header.rule_set, header.slice, header.metric);
        let number = self.tables.values().map(|table| table.number + 1).max();
        let table = Table::new(number.unwrap_or(0), file.path(), header);
        let table = Table {
            file: OnceLock::from(file),
            ..table
        };
        self.tables.insert(key, table);
    }

    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// What the cache of decoded blocks has done so far.
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.cache.statistics()
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

    #[inline]
    pub(super) fn table(
        &self,
        rule_set: RuleSetId,
        canonical: Slice,
        metric: Metric,
    ) -> Option<&Table> {
        self.tables.get(&(rule_set, canonical, metric))
    }

    pub(super) fn missing(&self, rule_set: RuleSetId, slice: Slice, metric: Metric) -> ProbeError {
        ProbeError::Missing {
            rule_set,
            slice,
            metric,
            directories: self.inventory.directories(),
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

    /// The result if it follows from blocks that are decoded already; no file is touched.
    ///
    /// # Errors
    /// [`ProbeError::NotCached`] if it does not; else as [`Tablebase::probe`].
    pub fn probe_wdl_cached(&self, position: &Position) -> Result<Wdl, ProbeError> {
        with_rules!(position.variant().rule_set(), R => {
            self.search::<R>(&position.to_board(), Ask::CACHE, 0)
        })
    }

    /// A result that a table stores.
    #[inline]
    pub(super) fn look_up(
        &self,
        table: &Table,
        place: Place,
        reach: Reach,
    ) -> Result<Wdl, ProbeError> {
        let Place { side, position } = place;
        let file = match reach {
            Reach::Files => table.file()?,
            Reach::Cache => table.file.get().ok_or(ProbeError::NotCached)?,
        };
        let per_block = file.block_positions(side).max(1);
        let block = self.results(table, side, position / per_block, reach)?;
        let code = match &*block {
            Block::Results(codes) => codes.get((position % per_block) as usize),
            Block::Distances(_) => 3,
        };
        Wdl::of(code.into()).ok_or_else(|| {
            let what = "a value that is needed is not stored";
            file.corrupt(side, position / per_block, what).into()
        })
    }

    /// A block of a WDL table.
    #[inline]
    pub(super) fn results(
        &self,
        table: &Table,
        side: Color,
        block: u64,
        reach: Reach,
    ) -> Result<Arc<Block>, ProbeError> {
        let key = BlockKey {
            table: table.number,
            side,
            block,
        };
        if let Some(found) = self.cache.get(key) {
            return Ok(found);
        }
        if reach == Reach::Cache {
            return Err(ProbeError::NotCached);
        }
        let mut codes = Codes::default();
        table.file()?.results(side, block, &mut codes)?;
        Ok(self.cache.insert(key, Block::Results(codes)))
    }

    /// A distance that a table stores.
    pub(super) fn look_up_distance<R: Rules>(
        &self,
        table: &Table,
        place: Place,
    ) -> Result<u16, ProbeError> {
        let Place { side, position } = place;
        let file = table.file()?;
        let per_block = file.block_positions(side).max(1);
        let key = BlockKey {
            table: table.number,
            side,
            block: position / per_block,
        };
        let block = match self.cache.get(key) {
            Some(block) => block,
            None => {
                let plies = self.decode_distances::<R>(table, side, key.block)?;
                self.cache.insert(key, Block::Distances(plies))
            }
        };
        match &*block {
            Block::Distances(plies) => Ok(plies[(position % per_block) as usize]),
            Block::Results(_) => Err(file
                .corrupt(side, key.block, "it holds no distances")
                .into()),
        }
    }

    /// A result that a table keeps apart because the search cannot find it.
    pub(super) fn exception(&self, table: &Table, place: Place) -> Result<Option<Wdl>, ProbeError> {
        Ok(table.file()?.exception(place.side, place.position)?)
    }
}
