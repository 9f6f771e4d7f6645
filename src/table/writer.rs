use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::codec::{self, Codes, Encoded, LeftOut, Sections, Side, SideCodes};
use super::header::{HASH_LEN, HEADER_LEN, Stored};
use super::manifest::Manifest;
use super::reader::restore_distances;
use super::spool::{Spool, Spools};
use super::{
    Census, Header, Metric, Profile, SliceValues, TableError, TableFile, Wdl, pages, sync_directory,
};
use crate::board::{ByColor, Color};
use crate::index::Slice;
use crate::probe::{ProbeError, look_ahead, threats};
use crate::rules::{RuleSetId, with_rules};

/// Where the table of a slice and metric lies below a tables directory.
pub fn table_path(tables: &Path, rule_set: RuleSetId, slice: Slice, metric: Metric) -> PathBuf {
    tables
        .join(rule_set.name())
        .join(format!("{}.{metric}", slice.canonical()))
}

/// Writes the table of one slice and metric below the directory `tables` and returns its header.
///
/// Every block is decoded again and compared with the values before the file appears under its
/// name, complete and on the disk: until then it and what it is made of have hidden names beside
/// it. Its hash is in the directory's [`Manifest`] by then. Blocks are compressed in parallel, the
/// bytes are the same for any number of threads. Only one writer may be at work on a slice.
///
/// With [`Profile::Small`] of distances one side to move is stored, that which takes fewer bytes, if
/// all those of the other are found by looking ahead. `cache` is how many bytes of decoded blocks
/// are kept while what is left out is searched for. Memory: [`writing_bytes`].
///
/// # Errors
/// [`TableError::DiskFull`] with the bytes needed so far and found, or any other I/O error. What
/// was written is removed; a finished table of that name stays as it was.
pub fn write_table(
    tables: &Path,
    rule_set: RuleSetId,
    values: &dyn SliceValues,
    metric: Metric,
    profile: Profile,
    cache: u64,
) -> Result<Header, TableError> {
    let path = table_path(tables, rule_set, values.slice(), metric);
    let directory = path.parent().unwrap_or(tables);
    fs::create_dir_all(directory).map_err(TableError::io("create", directory))?;
    let image = encode(&path, rule_set, values, metric, profile, cache)?;
    let table = TableFile::of(&path, image.map()?)?;
    let header = table.header().clone();
    image.keep(|| {
        let table = table;
        Manifest::record(&path, table.bytes())
    })?;
    sync_directory(directory)?;
    Ok(header)
}

/// The most bytes of memory that [`write_table`] takes, whatever the values: a quarter of a byte
/// for each position with one side to move (with both if one may refer to the other), as much for an
/// encoder, and some megabytes. What is encoded goes to disk.
pub fn writing_bytes(
    rule_set: RuleSetId,
    slice: Slice,
    metric: Metric,
    profile: Profile,
    cache: u64,
    threads: u64,
) -> u64 {
    let positions = slice.positions(rule_set.rules().geometry);
    let one_side = profile.stores_one_side(metric) && !slice.is_symmetric();
    let search = match profile.left_out(metric).threats {
        _ if one_side => look_ahead::finding_bytes(rule_set, slice, cache),
        true => cache,
        false => 0,
    };
    let sides = codec::codes_at_once(metric, profile);
    let coded =
        sides * positions.div_ceil(4) + codec::encoding_bytes(positions, metric, profile, threads);
    coded.max(search) + positions / INDEXED + threads * BYTES_PER_THREAD
}

/// Up to so many positions threats are both left out and stored, to see which is smaller.
const TRIED_BOTH_WAYS: u64 = 1 << 22;
/// Bytes each thread has of the values it is at.
const BYTES_PER_THREAD: u64 = 1 << 19;
/// Indexes and checksums take a byte for at least so many positions.
const INDEXED: u64 = 64;

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

/// Makes a whole table, whose values have been read back and compared.
fn encode(
    path: &Path,
    rule_set: RuleSetId,
    values: &dyn SliceValues,
    metric: Metric,
    profile: Profile,
    cache: u64,
) -> Result<Spool, TableError> {
    let spools = Spools::beside(path);
    let left_out = profile.left_out(metric);
    let mut draft = Draft::new(&spools, rule_set, values, metric, profile, left_out)?;
    if profile.stores_one_side(metric) && draft.leave_out_side() {
        let image = draft.finish(&spools)?;
        let table = TableFile::of(path, image.map()?)?;
        let found = look_ahead::is_found(directory_of(path), table, values, cache);
        if found.map_err(|error| search_error(path, error))? {
            return Ok(image);
        }
        draft.following = None;
    }
    if !left_out.threats {
        return draft.finish(&spools);
    }
    let exceptions = draft.add_exceptions(&spools, values, cache)?;
    let image = draft.finish(&spools)?;
    // More values take more bytes: only many exceptions can take as many. Small files are cheap to
    // try.
    let many = exceptions > image.len() / 16;
    if exceptions > 0 && (many || values.positions() <= TRIED_BOTH_WAYS) {
        // Where threats are seldom settled, storing them all may take less.
        let left_out = LeftOut {
            threats: false,
            ..left_out
        };
        let whole = Draft::new(&spools, rule_set, values, metric, profile, left_out)?;
        let whole = whole.finish(&spools)?;
        if whole.len() <= image.len() {
            return Ok(whole);
        }
    }
    Ok(image)
}

/// The parts of a table before they are put together.
struct Draft {
    header: Header,
    sides: Vec<Coded>,
    /// The side to move of which nothing is stored.
    following: Option<Color>,
}

/// One side to move.
struct Coded {
    color: Color,
    census: Census,
    hash: [u8; HASH_LEN],
    encoded: Encoded,
    exceptions: Option<Spool>,
}

impl Draft {
    fn new(
        spools: &Spools,
        rule_set: RuleSetId,
        values: &dyn SliceValues,
        metric: Metric,
        profile: Profile,
        left_out: LeftOut,
    ) -> Result<Self, TableError> {
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
        let mut sides: Vec<Coded> = Vec::new();
        // The codes of the side that was encoded before, if the next one may refer to them.
        let mut before: Option<SideCodes> = None;
        for color in codec::encoding_order(slice) {
            let side = Side {
                rule_set,
                slice,
                side: color,
                positions: header.positions,
                left_out,
            };
            let Survey {
                codes,
                census,
                hash,
            } = survey(values, metric, &side);
            let other = before.as_ref();
            let encoded = match metric {
                Metric::Wdl => codec::encode_results(&side, &codes, other, profile, spools)?,
                _ => {
                    let halves = u32::from(metric == Metric::Dtw);
                    let longest = census.max_plies() >> halves;
                    let plies = |first, plies: &mut [u16]| {
                        values.distances(metric, color, first, plies);
                        for plies in plies {
                            *plies >>= halves;
                        }
                    };
                    codec::encode_distances(&codes, longest, &plies, spools)?
                }
            };
            compare(
                spools.table(),
                &side,
                metric,
                &encoded,
                &codes,
                other,
                values,
            )?;
            before = encoded.can_be_referred_to(metric, profile).then_some(codes);
            sides.push(Coded {
                color,
                census,
                hash,
                encoded,
                exceptions: None,
            });
        }
        sides.sort_by_key(|coded| coded.color);
        Ok(Draft {
            header,
            sides,
            following: None,
        })
    }

    /// Leaves out the side to move that takes more bytes, if there are two; returns whether one is
    /// left out.
    fn leave_out_side(&mut self) -> bool {
        if let [white, black] = &self.sides[..] {
            let larger = match white.encoded.len() < black.encoded.len() {
                true => black,
                false => white,
            };
            self.following = (larger.encoded.len() > 0).then_some(larger.color);
        }
        self.following.is_some()
    }

    /// Runs the prober on all positions that are left out because of a threat; returns the bytes of
    /// those that have to be stored.
    fn add_exceptions(
        &mut self,
        spools: &Spools,
        values: &dyn SliceValues,
        cache: u64,
    ) -> Result<u64, TableError> {
        let path = spools.table();
        let directory = directory_of(path);
        let image = self.finish(spools)?;
        let table = TableFile::of(path, image.map()?)?;
        let mut bytes = 0;
        let depth = threats::exceptions(directory, table, values, cache, &mut |side, found| {
            let mut coded = self.sides.iter_mut();
            let coded = coded.find(|coded| coded.color == side);
            let Some(coded) = coded.filter(|_| !found.is_empty()) else {
                return Ok(());
            };
            let entries = found.iter();
            let entries = entries.flat_map(|&(p, result)| (p << 2 | result as u64).to_le_bytes());
            let entries: Vec<u8> = entries.collect();
            bytes += entries.len() as u64;
            match &mut coded.exceptions {
                Some(spool) => spool.write(&entries),
                none => none.insert(spools.create()?).write(&entries),
            }
        });
        self.header.depth_bound = depth.map_err(|error| search_error(path, error))?;
        Ok(bytes)
    }

    /// Puts the parts together.
    fn finish(&self, spools: &Spools) -> Result<Spool, TableError> {
        let mut header = self.header.clone();
        let mut image = spools.create()?;
        image.write(&[0; HEADER_LEN])?;
        for coded in &self.sides {
            if Some(coded.color) == self.following {
                header.stored[coded.color] = Some(Stored::following(coded.census, coded.hash));
                continue;
            }
            let Sections {
                codec,
                parameter,
                model,
                index,
                data,
            } = &coded.encoded.sections;
            if let Some(spool) = &coded.encoded.spool {
                for section in [model, index, data] {
                    image.append(spool, section.start, section.end - section.start)?;
                }
            }
            let exceptions = coded.exceptions.as_ref();
            if let Some(exceptions) = exceptions {
                image.append(exceptions, 0, exceptions.len())?;
            }
            let exceptions = exceptions.map_or(0, Spool::len);
            let [model, index, data] = [model, index, data].map(|s| s.end - s.start);
            header.stored[coded.color] = Some(Stored {
                census: coded.census,
                hash: coded.hash,
                codec: Some(*codec),
                parameter: *parameter,
                lengths: [model, index, data, exceptions],
            });
        }
        let checksums = pages::checksums(&image.map()?.all()[HEADER_LEN..]);
        header.checksums = crc32fast::hash(&checksums);
        image.write(&checksums)?;
        header.file_len = image.len();
        image.write_start(&header.to_bytes())?;
        Ok(image)
    }
}

/// Where the tables are that a search leads to.
fn directory_of(table: &Path) -> &Path {
    table.parent().unwrap_or(Path::new("."))
}

fn search_error(table: &Path, error: ProbeError) -> TableError {
    match error {
        ProbeError::Table(full @ TableError::DiskFull { .. }) => full,
        error => TableError::Search {
            path: table.to_owned(),
            reason: error.to_string(),
        },
    }
}

/// Decodes every block and compares what is stored. `other` has the codes of the other side to move,
/// if blocks may refer to them.
fn compare(
    path: &Path,
    side: &Side,
    metric: Metric,
    encoded: &Encoded,
    codes: &SideCodes,
    other: Option<&SideCodes>,
    values: &dyn SliceValues,
) -> Result<(), TableError> {
    let (reader, pages) = encoded.read_back(side)?;
    let per_block = reader.block_positions();
    (0..side.positions.div_ceil(per_block))
        .into_par_iter()
        .try_for_each_init(
            || {
                (
                    Codes::default(),
                    Codes::default(),
                    Codes::default(),
                    Vec::new(),
                )
            },
            |(found, results, referred, distances), block| {
                let first = block * per_block;
                let count = (side.positions - first).min(per_block) as usize;
                let corrupt = |what| TableError::CorruptBlock {
                    path: path.to_owned(),
                    side: side.side,
                    block,
                    // In the file of this side's sections alone.
                    offset: reader.place(&pages, block),
                    what,
                };
                results.reset(count);
                for place in 0..count {
                    results.set(place, codes.get(first + place as u64));
                }
                let same = if metric == Metric::Wdl {
                    if let Some(other) = other {
                        other.copy(first..first + count as u64, referred);
                    }
                    let decoded = reader.results(&pages, block, referred, found);
                    decoded.map_err(corrupt)?;
                    let mut pairs = found.iter().zip(results.iter());
                    pairs.all(|(found, code)| code == 3 || found == code)
                } else {
                    let decoded = reader.distances(&pages, block, results, distances);
                    decoded.map_err(corrupt)?;
                    restore_distances(side.rule_set, metric, results, distances);
                    let mut plies = vec![0; count];
                    values.distances(metric, side.side, first, &mut plies);
                    let mut all = results.iter().zip(distances.iter().zip(&plies));
                    all.all(|(code, (found, plies))| matches!(code, 1 | 3) || found == plies)
                };
                match same {
                    true => Ok(()),
                    false => Err(corrupt("it does not decode to its values")),
                }
            },
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Codec;
    use crate::table::testing::Pattern;

    fn encoded() -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let (rules, values) = (RuleSetId::English, Pattern::new(RuleSetId::English, "KKvK"));
        let (metric, profile) = (Metric::Dtw, Profile::Full);
        write_table(directory.path(), rules, &values, metric, profile, 0).unwrap();
        let path = table_path(directory.path(), rules, values.slice(), metric);
        let entries = fs::read_dir(path.parent().unwrap()).unwrap();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        let left = names.filter(|name| name.ends_with(".tmp"));
        assert_eq!(left.count(), 0);
        fs::read(path).unwrap()
    }

    /// A small table, one side of which refers to the other.
    fn encoded_small() -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let (rules, values) = (
            RuleSetId::Russian,
            Pattern::new(RuleSetId::Russian, "KKMvK"),
        );
        let spools = Spools::beside(&directory.path().join("KKMvK"));
        let left_out = LeftOut {
            captures: true,
            threats: false,
        };
        let (metric, profile) = (Metric::Wdl, Profile::Small);
        let draft = Draft::new(&spools, rules, &values, metric, profile, left_out).unwrap();
        for coded in &draft.sides {
            assert_eq!(coded.encoded.sections.codec, Codec::Mixed);
        }
        draft.finish(&spools).unwrap().map().unwrap().all().to_vec()
    }

    #[test]
    fn bytes_do_not_depend_on_the_number_of_threads() {
        for encoded in [encoded, encoded_small] {
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().unwrap().install(encoded)
            };
            assert_eq!(with(1), with(3));
        }
    }

    /// Values that are not what they are said to be do not get into a file.
    #[test]
    fn what_is_written_was_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("KMvK");
        let spools = Spools::beside(&path);
        let rules = RuleSetId::Russian;
        let values = Pattern::new(rules, "KMvK");
        let mut other = Pattern::new(rules, "KMvK");
        other.shift = 1;
        for metric in Metric::ALL {
            let left_out = LeftOut::default();
            let draft = Draft::new(&spools, rules, &values, metric, Profile::Full, left_out);
            let coded = &draft.unwrap().sides[0];
            let side = Side {
                rule_set: rules,
                slice: values.slice(),
                side: coded.color,
                positions: values.positions(),
                left_out,
            };
            let against = |values: &dyn SliceValues| {
                let codes = survey(values, metric, &side).codes;
                compare(&path, &side, metric, &coded.encoded, &codes, None, values)
            };
            assert!(against(&values).is_ok());
            assert!(against(&other).is_err(), "{metric}");
        }
    }
}
