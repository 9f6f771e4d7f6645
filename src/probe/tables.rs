use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::cache::{LINE_DISTANCES, LINE_RESULTS, LineKey};
use super::stretches::STRETCH_ALIGNMENT;
use crate::board::{ByColor, Color, Geometry};
use crate::index::{MAX_PIECES, Slice, SliceIndex};
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{Header, Metric, TableError, TableFile, Wdl};

/// Tables by rule set, slice and metric.
#[derive(Debug, Default)]
pub(super) struct Tables {
    tables: Vec<Table>,
    /// By rule set and metric, where there is any table.
    places: [[Option<Box<Places>>; Metric::ALL.len()]; RuleSetId::ALL.len()],
    /// Positions of all tables together, which is more than their lines.
    lines: u64,
    /// Positions of which results are stored and not constant, with room between the sides to move.
    pub results: u64,
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
    /// The number of the first result among the [results](Tables::results) of all tables; means
    /// nothing where there are none, or where they are constant.
    results_before: ByColor<u64>,
}

/// Where a table has a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub side: Color,
    pub position: u64,
}

/// Where among all tables that of a slice is, by the slice's counts of pieces, from 1; 0 if
/// there is none.
type Places = [u32; COUNTS.pow(4)];
/// How many pieces of a kind there can be.
const COUNTS: usize = MAX_PIECES + 1;

/// The number of a slice in [`Places`].
#[inline(always)]
fn number(slice: Slice) -> usize {
    let counts = Color::BOTH.map(|color| slice.men(color) * COUNTS + slice.kings(color));
    counts[0] * COUNTS.pow(2) + counts[1]
}

impl Tables {
    #[inline]
    pub fn get(&self, rule_set: RuleSetId, slice: Slice, metric: Metric) -> Option<&Table> {
        let places = self.places[rule_set as usize][metric as usize].as_ref()?;
        self.tables
            .get(places[number(slice)].wrapping_sub(1) as usize)
    }

    pub fn len(&self) -> usize {
        self.tables.len()
    }

    pub fn headers(&self) -> impl Iterator<Item = &Header> {
        self.tables.iter().map(|table| &table.header)
    }

    /// A table of a rule set lies in this directory.
    pub fn lie_in(&self, directory: &Path, rule_set: RuleSetId) -> bool {
        let mut tables = self.tables.iter();
        tables.any(|table| {
            table.header.rule_set == rule_set && table.path.parent() == Some(directory)
        })
    }

    /// About as many lines as there are values in all tables.
    pub fn decoded_lines(&self) -> u64 {
        let of_table = |header: &Header| {
            let line = match header.metric {
                Metric::Wdl => LINE_RESULTS,
                Metric::Dtc | Metric::Dtw => LINE_DISTANCES,
            };
            let sides = header.sides().iter();
            let stored = sides.filter(|&&side| !header.follows(side)).count() as u64;
            header.positions.div_ceil(line) * stored
        };
        self.headers().map(of_table).fold(0, u64::saturating_add)
    }

    /// Adds a table unless there is one of its kind, which is returned then.
    pub fn add(&mut self, path: &Path, header: Header) -> Option<&Table> {
        let Header {
            rule_set,
            slice,
            metric,
            ..
        } = header;
        if self.get(rule_set, slice, metric).is_none() {
            self.insert(path, header, OnceLock::new());
            return None;
        }
        self.get(rule_set, slice, metric)
    }

    /// Adds an open table in place of one of its kind.
    pub fn replace(&mut self, file: TableFile) {
        let (path, header) = (file.path().to_owned(), file.header().clone());
        self.insert(&path, header, OnceLock::from(file));
    }

    fn insert(&mut self, path: &Path, header: Header, file: OnceLock<TableFile>) {
        // The positions of all slices of all rule sets number less than 2^62.
        let lines_before = ByColor::new(self.lines, self.lines.saturating_add(header.positions));
        self.lines = lines_before[Color::Black].saturating_add(header.positions);
        self.some_have_captures |= !header.leaves_out_captures();
        let constant = ByColor(Color::BOTH.map(|side| header.constant(side)));
        let results_before = ByColor(Color::BOTH.map(|side| {
            let before = self.results;
            let stored = header.metric == Metric::Wdl && header.stored[side].is_some();
            if stored && constant[side].is_none() {
                let positions = header.positions.next_multiple_of(STRETCH_ALIGNMENT);
                self.results = before.saturating_add(positions);
            }
            before
        }));
        let index = with_rules!(header.rule_set, R => {
            Box::new(SliceIndex::<<R as Rules>::Geometry>::new(header.slice)) as Box<_>
        });
        let table = Table {
            path: path.to_owned(),
            is_stored: ByColor(Color::BOTH.map(|side| header.stored[side].is_some())),
            constant,
            file,
            index,
            lines_before,
            results_before,
            header,
        };
        let places = &mut self.places[table.header.rule_set as usize][table.header.metric as usize];
        let places = places.get_or_insert_with(|| Box::new([0; _]));
        let place = &mut places[number(table.header.slice)];
        match self.tables.get_mut((*place).wrapping_sub(1) as usize) {
            Some(old) => *old = table,
            None => {
                self.tables.push(table);
                *place = self.tables.len() as u32;
            }
        }
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
            let path = self.path.clone();
            return Err(TableError::Replaced { path });
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

    /// The number of a stored result among those of all tables.
    #[inline]
    pub fn result(&self, place: Place) -> u64 {
        self.results_before[place.side] + place.position
    }

    /// The key of a line by its number in the table.
    #[inline]
    pub fn line(&self, side: Color, number: u64) -> LineKey {
        LineKey(self.lines_before[side] + number + 1)
    }
}
