use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::header::{BLOCK_POSITIONS, HEADER_LEN, stored_sides};
use super::{Census, Header, Metric, SliceValues, TableError, Wdl};
use crate::board::{ByColor, Color};
use crate::index::Slice;
use crate::rules::RuleSetId;

/// A middling level: about 100 million positions a second and core, a tenth larger than the best.
const ZSTD_LEVEL: i32 = 9;
/// Blocks compressed together, which bounds the memory of the writer.
const BLOCKS_AT_ONCE: u64 = 256;

/// Where the table of a slice and metric lies below a tables directory.
pub fn table_path(tables: &Path, rule_set: RuleSetId, slice: Slice, metric: Metric) -> PathBuf {
    tables
        .join(rule_set.name())
        .join(format!("{}.{metric}", slice.canonical()))
}

/// Writes the table of one slice and metric below the directory `tables` and returns its header.
///
/// The file appears under its name only when it is complete and on the disk: it is written to a
/// hidden temporary name beside it, synced and renamed. Blocks are compressed in parallel, the
/// bytes are the same for any number of threads. Only one writer may be at work on a slice.
///
/// # Errors
/// [`TableError::DiskFull`] with the bytes needed and found, or any other I/O error. The temporary
/// file is removed; a finished table of that name stays as it was.
pub fn write_table(
    tables: &Path,
    rule_set: RuleSetId,
    values: &dyn SliceValues,
    metric: Metric,
) -> Result<Header, TableError> {
    let path = table_path(tables, rule_set, values.slice(), metric);
    let directory = path.parent().unwrap_or(tables);
    fs::create_dir_all(directory).map_err(TableError::io("create", directory))?;
    let temporary = directory.join(format!(".{}.{metric}.tmp", values.slice()));
    let write = || {
        let file = File::create(&temporary).map_err(TableError::io("create", &temporary))?;
        let mut output = Output::new(file);
        let header = encode(rule_set, values, metric, &mut output);
        let header = output.result(&path, header)?;
        let synced = output.sink.sync_all();
        output.result(&path, synced)?;
        fs::rename(&temporary, &path).map_err(TableError::io("rename", &temporary))?;
        // The new name itself must survive a power loss.
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(TableError::io("sync", directory))?;
        Ok(header)
    };
    write().inspect_err(|_| {
        // The error that led here is the one to report.
        let _ = fs::remove_file(&temporary);
    })
}

/// Writes all bytes of a table; on return the sink holds the whole file.
fn encode<W: Write + Seek>(
    rule_set: RuleSetId,
    values: &dyn SliceValues,
    metric: Metric,
    output: &mut Output<W>,
) -> io::Result<Header> {
    let slice = values.slice();
    let sides = stored_sides(slice);
    let mut census = ByColor::default();
    for &side in sides {
        census[side] = take_census(values, metric, side);
    }
    let mut header = Header {
        rule_set,
        slice,
        metric,
        positions: values.positions(),
        value_bits: match metric {
            Metric::Wdl => 2,
            _ if sides.iter().any(|&s| census[s].max_plies() > 255) => 16,
            _ => 8,
        },
        block_positions: BLOCK_POSITIONS,
        census,
        index_offset: 0,
        file_len: 0,
        content: [0; 32],
        generator: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut content = blake3::Hasher::new();
    let mut index = Vec::new();
    let mut end = HEADER_LEN as u64;
    output.write(&[0; HEADER_LEN])?;
    let blocks = header.blocks_per_side();
    for &side in sides {
        for first in (0..blocks).step_by(BLOCKS_AT_ONCE as usize) {
            let compressed: Vec<Vec<u8>> = (first..blocks.min(first + BLOCKS_AT_ONCE))
                .into_par_iter()
                .map_init(Vec::new, |raw, block| {
                    pack_block(values, &header, side, block, raw);
                    zstd::bulk::compress(raw, ZSTD_LEVEL)
                })
                .collect::<io::Result<_>>()?;
            for bytes in compressed {
                end += bytes.len() as u64;
                index.extend_from_slice(&end.to_le_bytes());
                index.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
                content.update(&bytes);
                output.write(&bytes)?;
            }
        }
    }
    content.update(&index);
    output.write(&index)?;
    header.index_offset = end;
    header.file_len = end + index.len() as u64;
    header.content = *content.finalize().as_bytes();
    output.rewrite_start(&header.to_bytes())?;
    Ok(header)
}

/// The values of one block before compression: results four to a byte, distances little-endian.
fn pack_block(
    values: &dyn SliceValues,
    header: &Header,
    side: Color,
    block: u64,
    raw: &mut Vec<u8>,
) {
    let first = block * u64::from(header.block_positions);
    let count = (header.positions - first).min(u64::from(header.block_positions)) as usize;
    let mut results = vec![Wdl::Draw; count];
    values.results(side, first, &mut results);
    raw.clear();
    if header.metric == Metric::Wdl {
        raw.extend(results.chunks(4).map(|four| {
            let packed = four.iter().enumerate();
            packed.fold(0, |byte, (i, &result)| byte | (result as u8) << (2 * i))
        }));
        return;
    }
    let mut distances = vec![0u16; count];
    values.distances(header.metric, side, first, &mut distances);
    for (distance, result) in distances.iter_mut().zip(results) {
        if result == Wdl::Draw {
            *distance = 0;
        }
    }
    if header.value_bits == 8 {
        raw.extend(distances.iter().map(|&d| d as u8));
    } else {
        raw.extend(distances.iter().flat_map(|d| d.to_le_bytes()));
    }
}

fn take_census(values: &dyn SliceValues, metric: Metric, side: Color) -> Census {
    let step = u64::from(BLOCK_POSITIONS);
    let positions = values.positions();
    (0..positions.div_ceil(step))
        .into_par_iter()
        .map(|block| {
            let first = block * step;
            let count = (positions - first).min(step) as usize;
            let mut results = vec![Wdl::Draw; count];
            let mut distances = vec![0; count];
            values.results(side, first, &mut results);
            if metric != Metric::Wdl {
                values.distances(metric, side, first, &mut distances);
            }
            let mut census = Census::default();
            for (number, (result, plies)) in (first..).zip(results.into_iter().zip(distances)) {
                census.add(result, (metric != Metric::Wdl).then_some(plies), number);
            }
            census
        })
        // In order, so that of several longest positions always the first is named.
        .reduce(Census::default, Census::followed_by)
}

/// A sink that, once the disk is full, goes on counting what the file would have needed.
struct Output<W> {
    sink: W,
    needed: u64,
    written: u64,
    full: Option<io::Error>,
}

impl<W: Write + Seek> Output<W> {
    fn new(sink: W) -> Self {
        Output {
            sink,
            needed: 0,
            written: 0,
            full: None,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.needed += bytes.len() as u64;
        if self.full.is_some() {
            return Ok(());
        }
        match self.sink.write_all(bytes) {
            Ok(()) => self.written += bytes.len() as u64,
            Err(error) if is_full(&error) => self.full = Some(error),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn rewrite_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.full.take() {
            Some(error) => Err(error),
            None => {
                self.sink.seek(SeekFrom::Start(0))?;
                self.sink.write_all(bytes)
            }
        }
    }

    /// Gives an I/O error its meaning.
    fn result<T>(&self, path: &Path, result: io::Result<T>) -> Result<T, TableError> {
        result.map_err(|error| {
            if is_full(&error) {
                TableError::DiskFull {
                    path: path.to_owned(),
                    needed: self.needed,
                    found: self.written.min(self.needed - 1),
                }
            } else {
                TableError::io("write", path)(error)
            }
        })
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::testing::Pattern;

    /// A disk with room for so many bytes.
    struct SmallDisk(io::Cursor<Vec<u8>>, usize);

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.position() as usize + bytes.len() > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for SmallDisk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    fn encoded(room: usize) -> Result<Vec<u8>, TableError> {
        let values = Pattern::new(RuleSetId::English, "KKvK");
        let mut output = Output::new(SmallDisk(io::Cursor::new(Vec::new()), room));
        let header = encode(RuleSetId::English, &values, Metric::Dtw, &mut output);
        output.result(Path::new("KKvK.dtw"), header)?;
        Ok(output.sink.0.into_inner())
    }

    #[test]
    fn a_full_disk_tells_how_much_is_needed() {
        let whole = encoded(usize::MAX).unwrap();
        let error = encoded(whole.len() / 2).unwrap_err();
        let TableError::DiskFull { needed, found, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(needed, whole.len() as u64);
        assert!(found <= whole.len() as u64 / 2);
        assert_eq!(encoded(whole.len()).unwrap(), whole);
    }

    #[test]
    fn bytes_do_not_depend_on_the_number_of_threads() {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build()
                .unwrap()
                .install(|| encoded(usize::MAX))
                .unwrap()
        };
        assert_eq!(with(1), with(3));
    }
}
