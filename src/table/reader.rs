use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::header::{FORMAT_VERSION, HEADER_LEN, HeaderFault, INDEX_ENTRY_LEN};
use super::{Header, Metric, TableError, Wdl};
use crate::board::Color;

impl Header {
    /// Reads the header of a table file, and nothing else of it.
    ///
    /// # Errors
    /// If the file cannot be read, is no table, of another version, or damaged so far.
    pub fn read(path: &Path) -> Result<Header, TableError> {
        let mut file = File::open(path).map_err(TableError::io("open", path))?;
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

/// An open table file. Opening maps it and checks the header; blocks are checked and decoded as
/// they are asked for. Reading arbitrary bytes ends in a typed error, never in a panic.
#[derive(Debug)]
pub struct TableFile {
    path: PathBuf,
    bytes: Mmap,
    header: Header,
}

impl TableFile {
    /// # Errors
    /// As [`Header::read`].
    pub fn open(path: &Path) -> Result<TableFile, TableError> {
        let file = File::open(path).map_err(TableError::io("open", path))?;
        // SAFETY: the map is only ever read, through slices whose bounds are checked, and every
        // block is decoded from bytes whose checksum was just compared. What cannot be excluded is
        // another process that shrinks or rewrites the file while it is mapped. Crownhead itself
        // never does: finished tables are only replaced by renaming a new file over them, which
        // leaves this mapping on the old one. A foreign program that truncates the file makes the
        // next access end the process with a bus error; one that overwrites it makes checksums
        // fail, and a read that races with it can at worst return a wrong value, as the decoder
        // itself is safe for any bytes.
        let bytes = unsafe { Mmap::map(&file) }.map_err(TableError::io("map", path))?;
        let header = Header::parse(&bytes, bytes.len() as u64).map_err(|fault| fault.of(path))?;
        Ok(TableFile {
            path: path.to_owned(),
            bytes,
            header,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The value of one position: the code of a [`Wdl`], or plies (0 for draws).
    ///
    /// # Errors
    /// [`TableError::CorruptBlock`], also if the position or side is not in the table.
    pub fn value(&self, side: Color, position: u64) -> Result<u16, TableError> {
        let mut value = [0];
        self.values(side, position, &mut value)?;
        Ok(value[0])
    }

    /// The values of consecutive positions from number `first` on, as [`TableFile::value`].
    ///
    /// # Errors
    /// As [`TableFile::value`].
    pub fn values(&self, side: Color, first: u64, out: &mut [u16]) -> Result<(), TableError> {
        let per_block = u64::from(self.header.block_positions);
        let mut done = 0;
        let mut raw = Vec::new();
        while done < out.len() {
            let position = first.saturating_add(done as u64);
            let block = position / per_block;
            let start = (position % per_block) as usize;
            let count = (per_block as usize - start).min(out.len() - done);
            self.decode_block(side, block, &mut raw)?;
            let part = &mut out[done..done + count];
            unpack(&raw, self.header.value_bits, start, part)
                .ok_or_else(|| self.corrupt(side, block, "a position is not in it"))?;
            if self.header.metric == Metric::Wdl && part.iter().any(|&v| Wdl::of(v).is_none()) {
                return Err(self.corrupt(side, block, "a value is no result"));
            }
            done += count;
        }
        Ok(())
    }

    /// One block's values as they were before compression, see the [format](super).
    pub(super) fn decode_block(
        &self,
        side: Color,
        block: u64,
        raw: &mut Vec<u8>,
    ) -> Result<(), TableError> {
        let corrupt = |what| self.corrupt(side, block, what);
        let blocks = self.header.blocks_per_side();
        let nth = self.header.sides().iter().position(|&s| s == side);
        let (Some(nth), true) = (nth, block < blocks) else {
            return Err(corrupt("it is not in the table"));
        };
        let number = nth as u64 * blocks + block;
        let entry = |number| {
            self.index_entry(number)
                .ok_or(corrupt("it has no index entry"))
        };
        let start = match number.checked_sub(1) {
            Some(previous) => entry(previous)?.0,
            None => HEADER_LEN as u64,
        };
        let (end, crc) = entry(number)?;
        let bytes = (end <= self.header.index_offset)
            .then(|| self.bytes.get(start as usize..end as usize))
            .flatten()
            .ok_or(corrupt("its place is outside the file"))?;
        if crc32fast::hash(bytes) != crc {
            return Err(corrupt("its checksum is wrong"));
        }
        let len = self.header.raw_len(block);
        raw.clear();
        raw.reserve(len);
        let decoded = DECODER.with_borrow_mut(|decoder| {
            let decoder = match decoder {
                Some(decoder) => decoder,
                None => decoder.insert(zstd::bulk::Decompressor::new()?),
            };
            decoder.decompress_to_buffer(bytes, raw)
        });
        match decoded {
            Ok(length) if length == len => Ok(()),
            _ => Err(corrupt("it cannot be decompressed")),
        }
    }

    /// Compares the checksum of the whole content, reading all of the file once.
    ///
    /// # Errors
    /// [`TableError::Checksum`] if it differs.
    pub fn verify_checksum(&self) -> Result<(), TableError> {
        let content = self.bytes.get(HEADER_LEN..).unwrap_or_default();
        if *blake3::hash(content).as_bytes() == self.header.content {
            Ok(())
        } else {
            Err(TableError::Checksum {
                path: self.path.clone(),
            })
        }
    }

    /// Where a block ends and the checksum of its bytes.
    fn index_entry(&self, number: u64) -> Option<(u64, u32)> {
        let at = self.header.index_offset as usize + number as usize * INDEX_ENTRY_LEN;
        let (end, rest) = self.bytes.get(at..)?.split_first_chunk()?;
        let crc = rest.first_chunk()?;
        Some((u64::from_le_bytes(*end), u32::from_le_bytes(*crc)))
    }

    pub(super) fn corrupt(&self, side: Color, block: u64, what: &'static str) -> TableError {
        TableError::CorruptBlock {
            path: self.path.clone(),
            side,
            block,
            what,
        }
    }
}

thread_local! {
    /// A decompression context is large; one a thread is made when first needed.
    static DECODER: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Spreads values from position `start` of packed bytes; none if there are too few.
pub(super) fn unpack(raw: &[u8], bits: u8, start: usize, out: &mut [u16]) -> Option<()> {
    match bits {
        2 => {
            let whole = raw.get(start / 4..)?;
            for (i, value) in out.iter_mut().enumerate() {
                let at = start % 4 + i;
                *value = u16::from(whole.get(at / 4)? >> (2 * (at % 4)) & 3);
            }
        }
        8 => {
            let values = raw.get(start..)?.get(..out.len())?;
            for (value, &byte) in out.iter_mut().zip(values) {
                *value = u16::from(byte);
            }
        }
        _ => {
            let values = raw.get(2 * start..)?.get(..2 * out.len())?;
            for (value, bytes) in out.iter_mut().zip(values.as_chunks().0) {
                *value = u16::from_le_bytes(*bytes);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::rules::RuleSetId;
    use crate::table::testing::Pattern;
    use crate::table::{LoadedSlice, SliceValues, write_table};

    const RULES: RuleSetId = RuleSetId::English;

    /// A table in a directory of its own.
    fn table(values: &Pattern, metric: Metric) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let header = write_table(directory.path(), RULES, values, metric).unwrap();
        let path = crate::table::table_path(directory.path(), RULES, values.slice(), metric);
        assert_eq!(Header::read(&path).unwrap(), header);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        (directory, path)
    }

    fn all_values(file: &TableFile) -> Result<Vec<u16>, TableError> {
        let mut all = Vec::new();
        for &side in file.header().sides() {
            let mut values = vec![0; file.header().positions as usize];
            file.values(side, 0, &mut values)?;
            all.extend(values);
        }
        Ok(all)
    }

    #[test]
    fn what_is_written_is_read() {
        for (slice, longest) in [("KKvK", 200), ("KvK", 200), ("KMvK", 300)] {
            let mut values = Pattern::new(RULES, slice);
            values.longest = longest;
            for metric in Metric::ALL {
                let (directory, path) = table(&values, metric);
                let file = TableFile::open(&path).unwrap();
                file.verify_checksum().unwrap();
                let loaded = LoadedSlice::read(directory.path(), RULES, values.slice(), &[metric]);
                for &side in file.header().sides() {
                    for position in 0..values.positions() {
                        let expected = match metric {
                            Metric::Wdl => values.result(side, position) as u16,
                            _ => values.distance(metric, side, position),
                        };
                        if position % 97 == 0 {
                            assert_eq!(file.value(side, position).unwrap(), expected);
                        }
                        if let (Metric::Wdl, Ok(loaded)) = (metric, &loaded) {
                            let mut result = [Wdl::Draw];
                            loaded.results(side, position, &mut result);
                            assert_eq!(result[0] as u16, expected);
                        }
                    }
                }
                assert_eq!(loaded.is_ok(), metric == Metric::Wdl);
                let beyond = file.value(Color::White, values.positions());
                assert!(matches!(beyond, Err(TableError::CorruptBlock { .. })));
            }
        }
    }

    #[test]
    fn counts_and_longest_positions_are_in_the_header() {
        let values = &Pattern::new(RULES, "KMvK");
        let (_directory, path) = table(values, Metric::Dtw);
        let header = TableFile::open(&path).unwrap().header;
        for side in Color::BOTH {
            let census = &header.census[side];
            let of =
                |result| (0..values.positions()).filter(move |&p| values.result(side, p) == result);
            assert_eq!(census.wins, of(Wdl::Win).count() as u64);
            assert_eq!(census.losses, of(Wdl::Loss).count() as u64);
            let longest = of(Wdl::Win)
                .map(|p| values.distance(Metric::Dtw, side, p))
                .max();
            let found = census.longest_win.unwrap();
            assert_eq!(Some(found.plies), longest);
            assert_eq!(
                values.distance(Metric::Dtw, side, found.position),
                found.plies
            );
        }
    }

    /// Every single damaged byte and every truncation is noticed, at the latest when the values
    /// are read or the checksum is compared; no wrong value is ever returned.
    #[test]
    fn damage_is_noticed() {
        let values = Pattern::new(RULES, "KvK");
        let (_directory, path) = table(&values, Metric::Dtw);
        let whole = fs::read(&path).unwrap();
        let expected = all_values(&TableFile::open(&path).unwrap()).unwrap();
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let file = TableFile::open(&path)?;
            let values = all_values(&file)?;
            assert_eq!(values, expected);
            file.verify_checksum()
        };
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert!(read(&damaged).is_err(), "byte {at}");
        }
        for len in 0..whole.len() {
            assert!(read(&whole[..len]).is_err(), "length {len}");
        }
        read(&whole).unwrap();
    }

    /// A header with a right checksum over wrong fields, as only malice makes it.
    #[test]
    fn forged_headers_are_refused_or_harmless() {
        let values = Pattern::new(RULES, "KvK");
        let (_directory, path) = table(&values, Metric::Wdl);
        let whole = fs::read(&path).unwrap();
        for at in 0..HEADER_LEN - 4 {
            for value in [0, 1, 0x7f, 0xff] {
                let mut forged = whole.clone();
                forged[at] = value;
                let crc = crc32fast::hash(&forged[..HEADER_LEN - 4]);
                forged[HEADER_LEN - 4..HEADER_LEN].copy_from_slice(&crc.to_le_bytes());
                fs::write(&path, &forged).unwrap();
                if let Ok(file) = TableFile::open(&path) {
                    let _ = all_values(&file);
                }
            }
        }
    }

    #[test]
    fn a_newer_version_says_so() {
        let (_directory, path) = table(&Pattern::new(RULES, "KvK"), Metric::Wdl);
        let mut bytes = fs::read(&path).unwrap();
        bytes[8] = 9;
        fs::write(&path, bytes).unwrap();
        let error = TableFile::open(&path).unwrap_err();
        assert!(matches!(error, TableError::Version { version: 9, .. }));
        assert!(error.to_string().contains("newer crownhead"), "{error}");
    }
}
