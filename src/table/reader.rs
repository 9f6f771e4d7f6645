use std::cmp::Ordering;
use std::io::Read;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::codec::{Codes, Side, SideReader};
use super::header::{FORMAT_VERSION, HEADER_LEN, HeaderFault};
use super::pages::{Bytes, Pages};
use super::{Header, Metric, TableError, Wdl, open_file};
use crate::board::{ByColor, Color};
use crate::rules::{Goal, RuleSetId};

impl Header {
    /// Reads the header of a table file, and nothing else of it.
    ///
    /// # Errors
    /// If the file cannot be read, is no table, of another version, or damaged so far.
    pub fn read(path: &Path) -> Result<Header, TableError> {
        let mut file = open_file(path).map_err(TableError::io("open", path))?;
        let len = file.metadata().map_err(TableError::io("open", path))?.len();
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        let mut start = (&mut file).take(HEADER_LEN as u64);
        start
            .read_to_end(&mut bytes)
            .map_err(TableError::io("read", path))?;
        Header::parse(&bytes, len).map_err(|fault| fault.of(path))
    }
}

impl HeaderFault {
    fn of(self, path: &Path) -> TableError {
        let path = path.to_owned();
        match self {
            HeaderFault::NotATable(reason) => TableError::NotATable { path, reason },
            HeaderFault::Version(version) => TableError::Version {
                path,
                version,
                known: FORMAT_VERSION,
            },
            HeaderFault::Corrupt(what) => TableError::CorruptHeader { path, what },
        }
    }
}

/// Bytes of an exception: the position times four and its result, in ascending order.
pub(super) const EXCEPTION_LEN: u64 = 8;

/// An open table file. Opening maps it and checks the header; pages are checked when they are first
/// touched, blocks decoded as they are asked for. Reading arbitrary bytes ends in a typed error,
/// never in a panic.
#[derive(Debug)]
pub struct TableFile {
    path: PathBuf,
    pages: Pages,
    header: Header,
    sides: ByColor<Option<SideReader>>,
}

impl TableFile {
    /// # Errors
    /// As [`Header::read`], and if what is needed to decode any block is damaged.
    pub fn open(path: &Path) -> Result<TableFile, TableError> {
        let file = open_file(path).map_err(TableError::io("open", path))?;
        // SAFETY: the map is only ever read, through slices whose bounds are checked, and nothing
        // is decoded from a page before its checksum was compared. What cannot be excluded is
        // another process that shrinks or rewrites the file while it is mapped. Crownhead itself
        // never does: finished tables are only replaced by renaming a new file over them, which
        // leaves this mapping on the old one. A foreign program that truncates the file makes the
        // next access end the process with a bus error; one that overwrites it can at worst make
        // a read return a wrong value, as the decoders are safe for any bytes.
        let bytes = unsafe { Mmap::map(&file) }.map_err(TableError::io("map", path))?;
        TableFile::of(path, Bytes::Mapped(bytes))
    }

    /// A table in memory; `path` is what errors call it.
    ///
    /// # Errors
    /// As [`TableFile::open`].
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<TableFile, TableError> {
        TableFile::of(path, Bytes::Owned(bytes))
    }

    pub(super) fn of(path: &Path, bytes: Bytes) -> Result<TableFile, TableError> {
        let whole = bytes.all();
        let header = Header::parse(whole, whole.len() as u64).map_err(|fault| fault.of(path))?;
        let corrupt = |what| TableError::CorruptHeader {
            path: path.to_owned(),
            what,
        };
        let pages = Pages::new(bytes, header.content());
        let pages = pages.ok_or(corrupt("its sections do not fit the file"))?;
        if crc32fast::hash(pages.checksums()) != header.checksums {
            return Err(corrupt("the page checksums have the wrong checksum"));
        }
        let mut sides: ByColor<Option<SideReader>> = ByColor::default();
        for color in Color::BOTH {
            if let Some((sections, _)) = header.sections(color) {
                let side = Side {
                    rule_set: header.rule_set,
                    slice: header.slice,
                    side: color,
                    positions: header.positions,
                    left_out: header.left_out,
                };
                let reader = SideReader::open(&side, &sections, &pages);
                sides[color] = Some(reader.map_err(corrupt)?);
            }
        }
        let sound = |side: Color| match (&sides[side], &sides[!side]) {
            (Some(reader), Some(other)) if reader.refers() => other.can_be_referred_to(reader),
            (Some(reader), None) => !reader.refers(),
            _ => true,
        };
        if !Color::BOTH.into_iter().all(sound) {
            return Err(corrupt("it refers to blocks that are not there"));
        }
        Ok(TableFile {
            path: path.to_owned(),
            pages,
            header,
            sides,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The bytes of the whole file.
    pub fn bytes(&self) -> &[u8] {
        self.pages.file()
    }

    /// Positions of a block, which depends on the codec; the last block may have fewer. Zero if the
    /// side to move is not stored.
    #[inline]
    pub fn block_positions(&self, side: Color) -> u64 {
        let reader = self.sides[side].as_ref();
        reader.map_or(0, SideReader::block_positions)
    }

    /// Blocks with a side to move.
    pub fn blocks(&self, side: Color) -> u64 {
        match self.block_positions(side) {
            0 => 0,
            block => self.header.positions.div_ceil(block),
        }
    }

    /// Writes the results of a block as codes of [`Wdl`]. Those of positions that are
    /// [left out](Header::leaves_out_captures) mean nothing.
    ///
    /// # Errors
    /// [`TableError::CorruptBlock`], also if the table has no such block.
    pub fn results(&self, side: Color, block: u64, out: &mut Codes) -> Result<(), TableError> {
        let corrupt = |what| self.corrupt(side, block, what);
        let reader = self.sides[side].as_ref();
        let reader = reader.ok_or_else(|| corrupt("this side to move is not stored"))?;
        let mut other = Codes::default();
        if reader.refers() {
            // What is referred to refers to nothing, or the file would not have been opened.
            self.results(!side, block, &mut other)?;
        }
        let decoded = reader.results(&self.pages, block, &other, out);
        decoded.map_err(corrupt)
    }

    /// Writes the distances of a block in plies, given the results of its positions (code 3 for
    /// those that are left out); zero where there is none.
    ///
    /// # Errors
    /// As [`TableFile::results`].
    pub fn distances(
        &self,
        side: Color,
        block: u64,
        results: &Codes,
        out: &mut Vec<u16>,
    ) -> Result<(), TableError> {
        let corrupt = |what| self.corrupt(side, block, what);
        let reader = self.sides[side].as_ref();
        let reader = reader.ok_or_else(|| corrupt("this side to move is not stored"))?;
        let decoded = reader.distances(&self.pages, block, results, out);
        decoded.map_err(corrupt)?;
        restore_distances(self.header.rule_set, self.header.metric, results, out);
        Ok(())
    }

    /// The result of a position that is left out although a search does not find it; none if it
    /// is not one of these.
    ///
    /// # Errors
    /// [`TableError::CorruptHeader`] if the list of exceptions is damaged.
    pub(crate) fn exception(&self, side: Color, position: u64) -> Result<Option<Wdl>, TableError> {
        let Some((_, list)) = self.header.sections(side) else {
            return Ok(None);
        };
        let corrupt = || TableError::CorruptHeader {
            path: self.path.clone(),
            what: "its list of exceptions is damaged",
        };
        let (mut low, mut high) = (0, (list.end - list.start) / EXCEPTION_LEN);
        while low < high {
            let middle = low + (high - low) / 2;
            let at = list.start + middle * EXCEPTION_LEN;
            let entry = self
                .pages
                .get(at..at + EXCEPTION_LEN)
                .map_err(|_| corrupt())?;
            let entry = entry.first_chunk().ok_or_else(corrupt)?;
            let entry = u64::from_le_bytes(*entry);
            match (entry >> 2).cmp(&position) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => {
                    return Wdl::of((entry & 3) as u16).map(Some).ok_or_else(corrupt);
                }
            }
        }
        Ok(None)
    }

    /// Compares the checksums of all pages.
    ///
    /// # Errors
    /// [`TableError::Checksum`] with the first page that is wrong.
    pub fn check_pages(&self) -> Result<(), TableError> {
        self.pages.check_all().map_err(|page| TableError::Checksum {
            path: self.path.clone(),
            page,
        })
    }

    pub(crate) fn corrupt(&self, side: Color, block: u64, what: &'static str) -> TableError {
        let reader = self.sides[side].as_ref();
        let place = reader.map_or(0, |reader| reader.place(&self.pages, block));
        TableError::CorruptBlock {
            path: self.path.clone(),
            side,
            block,
            offset: self.header.content().start + place,
            what,
        }
    }
}

/// Makes distances as they are stored those that they stand for.
pub(super) fn restore_distances(
    rule_set: RuleSetId,
    metric: Metric,
    results: &Codes,
    plies: &mut [u16],
) {
    if metric == Metric::Dtw {
        for (plies, code) in plies.iter_mut().zip(results.iter()) {
            let odd = Wdl::of(code.into()).map_or(0, |result| odd_distance(rule_set, result));
            *plies = plies.saturating_mul(2).saturating_add(odd);
        }
    }
}

/// What is added to twice the stored number for a distance to the end of the game: the side that
/// has no move ends it, so the result tells whether the plies are odd. A draw has no distance.
fn odd_distance(rule_set: RuleSetId, result: Wdl) -> u16 {
    let odd = match rule_set.rules().goal {
        Goal::Normal => Wdl::Win,
        Goal::Reversed => Wdl::Loss,
    };
    u16::from(result == odd)
}
