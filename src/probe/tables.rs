use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::cache::{LINE_DISTANCES, LINE_RESULTS, LineKey};
use crate::board::{ByColor, Color, Geometry};
use crate::index::{Slice, SliceIndex};
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{Header, Metric, TableError, TableFile, Wdl};

/// Tables by rule set, slice and metric.
#[derive(Debug, Default)]
pub(super) struct Tables {
    by_key: HashMap<u32, Table, BuildHasherDefault<KeyHasher>>,
    /// Positions of all tables together, which is more than their lines.
    lines: u64,
    /// Some table has results of positions with captures.
    pub some_have_captures: bool,
}

/// A table that was found; it is mapped when it is first asked.
#[derive(Debug)]
pub(super) struct Table {
    pub path: PathBuf,
    pub header: Header,
    /// Sides to move with positions of their own.
    pub is_stored: ByColor<bool>,
    /// The result of all positions that are stored, if that is one and the same.
    pub constant: ByColor<Option<Wdl>>,
    file: OnceLock<TableFile>,
    /// A [`SliceIndex`] of the rule set's geometry.
    index: Box<dyn Any + Send + Sync>,
    /// Numbers of the lines before its own.
    lines_before: ByColor<u64>,
}

/// Where a table has a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub side: Color,
    pub position: u64,
}

/// Five bits for the rule set, two for the metric, four for each count of pieces.
#[inline]
fn key(rule_set: RuleSetId, slice: Slice, metric: Metric) -> u32 {
    let counts = Color::BOTH.map(|color| slice.men(color) << 4 | slice.kings(color));
    (rule_set as u32) << 18 | (metric as u32) << 16 | (counts[0] << 8 | counts[1]) as u32
}

impl Tables {
    #[inline]
    pub fn get(&self, rule_set: RuleSetId, slice: Slice, metric: Metric) -> Option<&Table> {
        self.by_key.get(&key(rule_set, slice, metric))
    }

    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    pub fn headers(&self) -> impl Iterator<Item = &Header> {
        self.by_key.values().map(|table| &table.header)
    }

    /// About as many lines as there are values in all tables.
    pub fn decoded_lines(&self) -> u64 {
        let of_table = |header: &Header| {
            let line = match header.metric {
                Metric::Wdl => LINE_RESULTS,
                Metric::Dtc | Metric::Dtw => LINE_DISTANCES,
            };
            header.positions.div_ceil(line) * header.sides().len() as u64
        };
        self.headers().map(of_table).fold(0, u64::saturating_add)
    }

    /// Adds a table unless there is one of its kind, which is returned then.
    pub fn add(&mut self, path: &Path, header: Header) -> Option<&Table> {
        let key = key(header.rule_set, header.slice, header.metric);
        if self.by_key.contains_key(&key) {
            return self.by_key.get(&key);
        }
        self.insert(key, path, header, OnceLock::new());
        None
    }

    /// Adds an open table in place of one of its kind.
    pub fn replace(&mut self, file: TableFile) {
        let (path, header) = (file.path().to_owned(), file.header().clone());
        let key = key(header.rule_set, header.slice, header.metric);
        self.insert(key, &path, header, OnceLock::from(file));
    }

    fn insert(&mut self, key: u32, path: &Path, header: Header, file: OnceLock<TableFile>) {
        // The positions of all slices of all rule sets number less than 2^62.
        let lines_before = ByColor::new(self.lines, self.lines.saturating_add(header.positions));
        self.lines = lines_before[Color::Black].saturating_add(header.positions);
        self.some_have_captures |= !header.leaves_out_captures();
        let index = with_rules!(header.rule_set, R => {
            Box::new(SliceIndex::<<R as Rules>::Geometry>::new(header.slice)) as Box<_>
        });
        let table = Table {
            path: path.to_owned(),
            is_stored: ByColor(Color::BOTH.map(|side| header.stored[side].is_some())),
            constant: ByColor(Color::BOTH.map(|side| header.constant(side))),
            file,
            index,
            lines_before,
            header,
        };
        self.by_key.insert(key, table);
    }
}

impl Table {
    #[inline]
    pub fn file(&self) -> Result<&TableFile, TableError> {
        match self.file.get() {
            Some(file) => Ok(file),
            None => self.open(),
        }
    }

    /// The file, if it has been needed before.
    #[inline]
    pub fn opened(&self) -> Option<&TableFile> {
        self.file.get()
    }

    #[cold]
    fn open(&self) -> Result<&TableFile, TableError> {
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

    /// The key of a line by its number in the table.
    #[inline]
    pub fn line(&self, side: Color, number: u64) -> LineKey {
        LineKey(self.lines_before[side] + number + 1)
    }
}

/// Multiplies once: keys are small numbers that nobody chooses to do harm.
#[derive(Debug, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
