use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::codec::{self, Codes, Encoded, LeftOut, Side, SideCodes};
use super::header::{HASH_LEN, HEADER_LEN, Stored, stored_sides};
use super::manifest::Manifest;
use super::{Census, Header, Metric, Profile, SliceValues, TableError, TableFile, Wdl, pages};
use crate::board::{ByColor, Color};
use crate::index::Slice;
use crate::probe::threats;
use crate::rules::{RuleSetId, with_rules};

/// Bytes written at once, so that a full disk is told to within as much.
const PIECE: usize = 1 << 16;

/// Where the table of a slice and metric lies below a tables directory.
pub fn table_path(tables: &Path, rule_set: RuleSetId, slice: Slice, metric: Metric) -> PathBuf {
    tables
        .join(rule_set.name())
        .join(format!("{}.{metric}", slice.canonical()))
}

/// Writes the table of one slice and metric below the directory `tables` and returns its header.
///
/// Every block is decoded again and compared with the values before anything is written. The file
/// appears under its name only when it is complete and on the disk: it is written to a hidden
/// temporary name beside it, synced and renamed; its hash is in the directory's [`Manifest`] by
/// then. Blocks are compressed in parallel, the bytes are the same for any number of threads. Only
/// one writer may be at work on a slice.
///
/// Takes a quarter of a byte for each position stored, and the bytes of the file.
///
/// # Errors
/// [`TableError::DiskFull`] with the bytes needed and found, or any other I/O error. The temporary
/// file is removed; a finished table of that name stays as it was.
pub fn write_table(
    tables: &Path,
    rule_set: RuleSetId,
    values: &dyn SliceValues,
    metric: Metric,
    profile: Profile,
) -> Result<Header, TableError> {
    let path = table_path(tables, rule_set, values.slice(), metric);
    let directory = path.parent().unwrap_or(tables);
    fs::create_dir_all(directory).map_err(TableError::io("create", directory))?;
    let table = encode(&path, rule_set, values, metric, profile)?;
    let temporary = directory.join(format!(".{}.{metric}.tmp", values.slice()));
    let write = || {
        let mut file = File::create(&temporary).map_err(TableError::io("create", &temporary))?;
        write_whole(&path, &mut file, table.bytes())?;
        let synced = file.sync_all();
        synced.map_err(|error| write_error(&path, error, table.bytes().len(), 0))?;
        Manifest::record(&path, table.bytes())?;
        fs::rename(&temporary, &path).map_err(TableError::io("rename", &temporary))?;
        // The new name itself must survive a power loss.
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(TableError::io("sync", directory))?;
        Ok(table.header().clone())
    };
    write().inspect_err(|_| {
        // The error that led here is the one to report.
        let _ = fs::remove_file(&temporary);
    })
}

fn write_whole(path: &Path, sink: &mut impl Write, bytes: &[u8]) -> Result<(), TableError> {
    for (piece, number) in bytes.chunks(PIECE).zip(0..) {
        let written = sink.write_all(piece);
        written.map_err(|error| write_error(path, error, bytes.len(), number * PIECE))?;
    }
    Ok(())
}

fn write_error(path: &Path, error: io::Error, needed: usize, found: usize) -> TableError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => TableError::DiskFull {
            path: path.to_owned(),
            needed: needed as u64,
            found: found as u64,
        },
        _ => TableError::io("write", path)(error),
    }
}

/// The hash of all values of one side to move, which does not depend on how they are stored: that
/// is what generator and verifier compare.
///
/// Each value is a byte for results (the code of a [`Wdl`]), two bytes for distances (0 for draws).
/// The values of each 65536 positions are hashed with BLAKE3, then these hashes, in order, of which
/// the first 16 bytes count.
pub fn hash_values(chunks: impl IntoIterator<Item = blake3::Hash>) -> [u8; HASH_LEN] {
    let mut whole = blake3::Hasher::new();
    for hash in chunks {
        whole.update(hash.as_bytes());
    }
    let mut hash = [0; HASH_LEN];
    whole.finalize_xof().fill(&mut hash);
    hash
}

/// One chunk's part in [`hash_values`].
pub fn hash_chunk(metric: Metric, results: &[Wdl], distances: &[u16]) -> blake3::Hash {
    let bytes: Vec<u8> = match metric {
        Metric::Wdl => results.iter().map(|&result| result as u8).collect(),
        _ => {
            let plies = results.iter().zip(distances);
            let plies = plies.map(|(&result, &plies)| if result == Wdl::Draw { 0 } else { plies });
            plies.flat_map(u16::to_le_bytes).collect()
        }
    };
    blake3::hash(&bytes)
}

/// Positions hashed together.
pub const HASH_CHUNK: u64 = SideCodes::CHUNK;

/// All that is known of one side to move before it is encoded.
struct Survey {
    codes: SideCodes,
    census: Census,
    hash: [u8; HASH_LEN],
}

fn survey(values: &dyn SliceValues, metric: Metric, side: &Side) -> Survey {
    let positions = values.positions();
    let parts: Vec<(Codes, Census, blake3::Hash)> = (0..positions.div_ceil(HASH_CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let first = chunk * HASH_CHUNK;
            let count = (positions - first).min(HASH_CHUNK) as usize;
            let mut results = vec![Wdl::Draw; count];
            let mut distances = vec![0; if metric == Metric::Wdl { 0 } else { count }];
            values.results(side.side, first, &mut results);
            if metric != Metric::Wdl {
                values.distances(metric, side.side, first, &mut distances);
            }
            let mut census = Census::default();
            let mut codes = Codes::default();
            codes.reset(count);
            for (place, &result) in results.iter().enumerate() {
                census.add(result, distances.get(place).copied(), first + place as u64);
                codes.set(place, result as u8);
            }
            with_rules!(side.rule_set, R => codec::leave_out::<R>(side, first, &mut codes));
            (codes, census, hash_chunk(metric, &results, &distances))
        })
        .collect();
    let hash = hash_values(parts.iter().map(|(_, _, hash)| *hash));
    // In order, so that of several longest positions always the first is named.
    let census = parts
        .iter()
        .fold(Census::default(), |sum, (_, c, _)| sum.followed_by(*c));
    let codes = parts.into_iter().map(|(codes, _, _)| codes).collect();
    Survey {
        codes: SideCodes::new(codes),
        census,
        hash,
    }
}

/// Makes the bytes of a table, which has been read back and compared.
fn encode(
    path: &Path,
    rule_set: RuleSetId,
    values: &dyn SliceValues,
    metric: Metric,
    profile: Profile,
) -> Result<TableFile, TableError> {
    let draft = Draft::new(rule_set, values, metric, profile, profile.left_out(metric));
    let table = draft.finish(path)?;
    if !draft.header.left_out.threats {
        draft.compare(&table, values)?;
        return Ok(table);
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let found = threats::exceptions(directory, table, values);
    let found = found.map_err(|error| TableError::Search {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let mut draft = draft;
    draft.header.depth_bound = found.0.iter().map(|found| found.depth).max().unwrap_or(0);
    let mut any = false;
    for (color, _, _, exceptions) in &mut draft.sides {
        for &(position, result) in &found[*color].positions {
            exceptions.extend_from_slice(&(position << 2 | result as u64).to_le_bytes());
            any = true;
        }
    }
    let table = draft.finish(path)?;
    draft.compare(&table, values)?;
    if any {
        // Where threats are seldom settled, storing them all may take less.
        let left_out = LeftOut {
            threats: false,
            ..draft.header.left_out
        };
        let other = Draft::new(rule_set, values, metric, profile, left_out);
        let whole = other.finish(path)?;
        if whole.bytes().len() <= table.bytes().len() {
            other.compare(&whole, values)?;
            return Ok(whole);
        }
    }
    Ok(table)
}

/// The parts of a table before they are put together.
struct Draft {
    header: Header,
    /// What is known of each side to move, its code, and its exceptions.
    sides: Vec<(Color, Survey, Encoded, Vec<u8>)>,
}

impl Draft {
    fn new(
        rule_set: RuleSetId,
        values: &dyn SliceValues,
        metric: Metric,
        profile: Profile,
        left_out: LeftOut,
    ) -> Self {
        let slice = values.slice();
        let header = Header {
            rule_set,
            slice,
            metric,
            positions: values.positions(),
            profile,
            depth_bound: if left_out.threats { threats::DEPTH } else { 0 },
            left_out,
            stored: ByColor::default(),
            file_len: 0,
            checksums: 0,
            generator: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let sides = stored_sides(slice).iter().map(|&color| {
            let side = Side {
                rule_set,
                slice,
                side: color,
                positions: header.positions,
                left_out,
            };
            let survey = survey(values, metric, &side);
            let encoded = match metric {
                Metric::Wdl => codec::encode_results(&side, &survey.codes, profile),
                _ => {
                    let halves = u32::from(metric == Metric::Dtw);
                    let longest = survey.census.max_plies() >> halves;
                    codec::encode_distances(&survey.codes, longest, &|first, plies| {
                        values.distances(metric, color, first, plies);
                        for plies in plies {
                            *plies >>= halves;
                        }
                    })
                }
            };
            (color, survey, encoded, Vec::new())
        });
        let sides = sides.collect();
        Draft { header, sides }
    }

    /// Puts the parts together.
    fn finish(&self, path: &Path) -> Result<TableFile, TableError> {
        let mut header = self.header.clone();
        let mut bytes = vec![0; HEADER_LEN];
        for (color, survey, encoded, exceptions) in &self.sides {
            let sections = [&encoded.model, &encoded.index, &encoded.data, exceptions];
            for section in sections {
                bytes.extend_from_slice(section);
            }
            header.stored[*color] = Some(Stored {
                census: survey.census,
                hash: survey.hash,
                codec: encoded.codec,
                parameter: encoded.parameter,
                lengths: sections.map(|section| section.len() as u64),
            });
        }
        let checksums = pages::checksums(&bytes[HEADER_LEN..]);
        header.checksums = crc32fast::hash(&checksums);
        bytes.extend(checksums);
        header.file_len = bytes.len() as u64;
        bytes[..HEADER_LEN].copy_from_slice(&header.to_bytes());
        TableFile::from_bytes(path, bytes)
    }

    fn compare(&self, table: &TableFile, values: &dyn SliceValues) -> Result<(), TableError> {
        let mut sides = self.sides.iter();
        sides.try_for_each(|(side, survey, ..)| compare(table, *side, &survey.codes, values))
    }
}

/// Decodes every block and compares what is stored.
fn compare(
    table: &TableFile,
    side: Color,
    codes: &SideCodes,
    values: &dyn SliceValues,
) -> Result<(), TableError> {
    let header = table.header();
    let per_block = table.block_positions(side);
    (0..table.blocks(side)).into_par_iter().try_for_each_init(
        || (Codes::default(), Codes::default(), Vec::new()),
        |(found, results, distances), block| {
            let first = block * per_block;
            let count = (header.positions - first).min(per_block) as usize;
            let differs = || table.corrupt(side, block, "it does not decode to its values");
            results.reset(count);
            for place in 0..count {
                results.set(place, codes.get(first + place as u64));
            }
            if header.metric == Metric::Wdl {
                table.results(side, block, found)?;
                let mut pairs = found.iter().zip(results.iter());
                let same = pairs.all(|(found, code)| code == 3 || found == code);
                return if same { Ok(()) } else { Err(differs()) };
            }
            table.distances(side, block, results, distances)?;
            let mut plies = vec![0; count];
            values.distances(header.metric, side, first, &mut plies);
            let mut all = results.iter().zip(distances.iter().zip(&plies));
            let same = all.all(|(code, (found, plies))| matches!(code, 1 | 3) || found == plies);
            if same { Ok(()) } else { Err(differs()) }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::testing::Pattern;

    /// A disk with room for so many bytes.
    struct SmallDisk(Vec<u8>, usize);

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.len() + bytes.len() > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn encoded() -> Vec<u8> {
        let values = Pattern::new(RuleSetId::English, "KKvK");
        let path = Path::new("KKvK.dtw");
        let table = encode(
            path,
            RuleSetId::English,
            &values,
            Metric::Dtw,
            Profile::Full,
        );
        table.unwrap().bytes().to_vec()
    }

    #[test]
    fn a_full_disk_tells_how_much_is_needed() {
        let whole = encoded();
        let path = Path::new("KKvK.dtw");
        let mut disk = SmallDisk(Vec::new(), whole.len() / 2);
        let error = write_whole(path, &mut disk, &whole).unwrap_err();
        let TableError::DiskFull { needed, found, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(needed, whole.len() as u64);
        assert!(found <= whole.len() as u64 / 2);
        let mut disk = SmallDisk(Vec::new(), whole.len());
        write_whole(path, &mut disk, &whole).unwrap();
        assert_eq!(disk.0, whole);
    }

    #[test]
    fn bytes_do_not_depend_on_the_number_of_threads() {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(encoded)
        };
        assert_eq!(with(1), with(3));
    }

    /// Values that are not what they are said to be do not get into a file.
    #[test]
    fn what_is_written_was_read_back() {
        let values = Pattern::new(RuleSetId::Russian, "KMvK");
        for metric in Metric::ALL {
            let path = Path::new("KMvK");
            let table = encode(path, RuleSetId::Russian, &values, metric, Profile::Full).unwrap();
            let mut other = Pattern::new(RuleSetId::Russian, "KMvK");
            other.shift = 1;
            let draft = Draft::new(
                RuleSetId::Russian,
                &other,
                metric,
                Profile::Full,
                LeftOut::default(),
            );
            assert!(draft.compare(&table, &other).is_err(), "{metric}");
        }
    }
}
