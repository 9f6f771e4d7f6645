//! Codecs: how the values of one slice and side to move become bytes, and back.
//!
//! | number | codec | for |
//! |---|---|---|
//! | 0 | constant | every stored value is the same: no bytes at all |
//! | 1 | [runs](runs) | values that hardly change |
//! | 2 | [zstd](zstd_blocks) | anything |
//! | 3 | [rows](row_coder) | dense values, with a context model |
//! | 4 | [distances](distances) | plies of wins and losses |
//! | 5 | [mixed](mixed) | dense values, smaller than rows and slower |
//!
//! The encoder tries those that may win and keeps the smallest. A reader asks for blocks; how many
//! positions make one is the codec's affair, so that decoding one takes some microseconds.

mod blocks;
mod choice;
mod codes;
mod context;
mod distances;
mod domain;
mod feature;
mod logarithm;
mod mixed;
mod mixing;
mod model;
mod range_coder;
mod reference;
mod row_coder;
mod rows;
mod runs;
mod side_reader;
mod visit;
mod zstd_blocks;

use std::fmt;
use std::ops::Range;

pub use codes::Codes;
pub(crate) use codes::SideCodes;
pub(crate) use domain::LeftOut;
pub(super) use side_reader::SideReader;

use self::domain::Domain;
use self::mixed::MixedCoder;
use self::row_coder::RowCoder;
use super::header::stored_sides;
use super::pages::{Bytes, Pages};
use super::spool::{Spool, Spools};
use super::{Metric, Profile, TableError};
use crate::board::{Color, Geometry};
use crate::index::Slice;
use crate::rules::{RuleSetId, Rules, with_rules};

/// Numbers are part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Codec {
    Constant = 0,
    Runs = 1,
    Zstd = 2,
    Rows = 3,
    Distances = 4,
    Mixed = 5,
}

impl Codec {
    pub const ALL: [Codec; 6] = [
        Codec::Constant,
        Codec::Runs,
        Codec::Zstd,
        Codec::Rows,
        Codec::Distances,
        Codec::Mixed,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Codec::Constant => "constant",
            Codec::Runs => "runs",
            Codec::Zstd => "zstd",
            Codec::Rows => "rows",
            Codec::Distances => "distances",
            Codec::Mixed => "mixed",
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The encoded values of one side to move.
#[derive(Debug)]
pub(super) struct Encoded {
    /// In the spool.
    pub sections: Sections,
    /// None if there are no bytes.
    pub spool: Option<Spool>,
}

impl Encoded {
    fn constant(value: u8) -> Self {
        Encoded {
            sections: Sections {
                codec: Codec::Constant,
                parameter: u32::from(value),
                model: 0..0,
                index: 0..0,
                data: 0..0,
            },
            spool: None,
        }
    }

    /// Blocks of so many positions: the data are in the spool, the rest comes behind them.
    fn of(
        codec: Codec,
        block: u64,
        mut spool: Spool,
        index: &[u8],
        model: &[u8],
    ) -> Result<Self, TableError> {
        let data = spool.len();
        spool.write(index)?;
        let indexed = spool.len();
        spool.write(model)?;
        Ok(Encoded {
            sections: Sections {
                codec,
                parameter: block as u32,
                model: indexed..spool.len(),
                index: data..indexed,
                data: 0..data,
            },
            spool: Some(spool),
        })
    }

    /// Bytes of all sections.
    pub fn len(&self) -> u64 {
        self.spool.as_ref().map_or(0, Spool::len)
    }

    /// Whether blocks of the side that is encoded next may refer to these.
    pub fn can_be_referred_to(&self, metric: Metric, profile: Profile) -> bool {
        refers(metric, profile) && matches!(self.sections.codec, Codec::Rows | Codec::Mixed)
    }

    /// A decoder of what was encoded, with its bytes.
    pub fn read_back(&self, side: &Side) -> Result<(SideReader, Pages), TableError> {
        let bytes = match &self.spool {
            Some(spool) => spool.map()?,
            None => Bytes::Owned(Vec::new()),
        };
        let pages = Pages::unchecked(bytes);
        let reader = SideReader::open(side, &self.sections, &pages);
        Ok((reader.expect("what was encoded can be decoded"), pages))
    }
}

/// Which values of which slice: what encoder and decoder both know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub rule_set: RuleSetId,
    pub slice: Slice,
    pub side: Color,
    pub positions: u64,
    pub left_out: LeftOut,
}

/// Positions of a zstd block: 4 KiB of codes.
const ZSTD_BLOCK: u64 = 16384;
/// Positions of a block of runs: what is decoded together.
const RUNS_BLOCK: u64 = 4096;
/// Up to so many positions every codec is tried in full; from there on zstd is tried on a sample.
const SMALL: u64 = 1 << 22;

const ZSTD_LEVEL: i32 = 19;

/// The sides to move that are stored, in the order in which they are encoded: the one with the fast
/// piece may refer to the other.
pub(super) fn encoding_order(slice: Slice) -> Vec<Color> {
    let mut sides = stored_sides(slice).to_vec();
    sides.sort_by_key(|&side| side == rows::fast_piece(slice).color);
    sides
}

/// How many sides' codes are there at once while a table is encoded.
pub(super) fn codes_at_once(metric: Metric, profile: Profile) -> u64 {
    if refers(metric, profile) { 2 } else { 1 }
}

/// Whether blocks may refer to those of the other side to move.
fn refers(metric: Metric, profile: Profile) -> bool {
    metric == Metric::Wdl && profile == Profile::Small
}

/// Encodes results, code 3 standing for those that are left out. `other` has those with the other
/// side to move, if they can be decoded in the same blocks.
pub(super) fn encode_results(
    side: &Side,
    codes: &SideCodes,
    other: Option<&SideCodes>,
    profile: Profile,
    spools: &Spools,
) -> Result<Encoded, TableError> {
    let mut stored = codes
        .chunks()
        .iter()
        .flat_map(Codes::iter)
        .filter(|&code| code != 3);
    // If nothing is stored any value will do.
    let first = stored.next().unwrap_or(1);
    if stored.all(|code| code == first) {
        return Ok(Encoded::constant(first));
    }
    let mut best = encode_runs(codes, spools)?;
    let keep = |best: &mut Option<Encoded>, tried: Encoded| {
        if best.as_ref().is_none_or(|best| tried.len() < best.len()) {
            *best = Some(tried);
        }
    };
    // Blocks would cost as much as that for being found alone.
    let sparse = best
        .as_ref()
        .is_some_and(|best| best.len() * 2048 < codes.len);
    let mixed = profile == Profile::Small;
    if !sparse && mixed {
        let mixed = with_rules!(side.rule_set, R => {
            encode_mixed(&Domain::new::<R>(side, profile.row_block()), codes, other, spools)?
        });
        keep(&mut best, mixed);
    }
    // Rows only win where their model is small beside little data.
    if !sparse && (!mixed || codes.len <= SMALL) {
        let rows = with_rules!(side.rule_set, R => {
            encode_rows(&Domain::new::<R>(side, profile.row_block()), codes, spools)?
        });
        keep(&mut best, rows);
    }
    let wanted = best.as_ref().map_or(u64::MAX, Encoded::len);
    if !sparse && (codes.len <= SMALL || zstd_estimate(codes, spools)? < wanted) {
        keep(&mut best, encode_zstd(codes, ZSTD_BLOCK, spools)?);
    }
    Ok(best.expect("rows or mixed contexts were tried if runs did not fit"))
}

/// The bytes of memory that encoding takes beside the codes, with so many threads: runs, which are
/// made in memory; the sample from which the features of rows are chosen; what is compressed and
/// not yet written, the samples of a dictionary; and what each thread has.
pub(super) fn encoding_bytes(
    positions: u64,
    metric: Metric,
    profile: Profile,
    threads: u64,
) -> u64 {
    let packing = |positions_of_block: u64, bytes: u64| {
        let blocks = positions.div_ceil(positions_of_block);
        let block = positions.min(positions_of_block) * bytes / positions_of_block + 64;
        (blocks, block)
    };
    let zstd = |positions_of_block: u64, bytes: u64| {
        let (blocks, block) = packing(positions_of_block, bytes);
        zstd_blocks::training_bytes(blocks, block) + blocks::window_bytes(threads, blocks, block)
    };
    let own = match metric {
        Metric::Wdl => {
            let (blocks, block) = packing(profile.row_block(), profile.row_block() / 4 + 16);
            let mixed = match profile {
                Profile::Small => mixed::sample_bytes(positions),
                Profile::Full | Profile::Fast => 0,
            };
            let rows = row_coder::sample_bytes(positions, profile.row_block())
                .max(mixed)
                .max(blocks::window_bytes(threads, blocks, block));
            let zstd = zstd(ZSTD_BLOCK, ZSTD_BLOCK / 4);
            most_for_runs(positions).max(rows).max(zstd)
        }
        Metric::Dtc | Metric::Dtw => zstd(distances::BLOCK, 2 * distances::BLOCK),
    };
    own + threads
        * (row_coder::BYTES_PER_THREAD + mixed::BYTES_PER_THREAD + zstd_blocks::BYTES_PER_THREAD)
}

/// No codec needs more than the codes themselves.
fn most_for_runs(positions: u64) -> u64 {
    positions / 4 + 64
}

/// None if that would take too much.
fn encode_runs(codes: &SideCodes, spools: &Spools) -> Result<Option<Encoded>, TableError> {
    let Some(data) = runs::encode(codes, most_for_runs(codes.len)) else {
        return Ok(None);
    };
    let mut spool = spools.create()?;
    spool.write(&data)?;
    Encoded::of(Codec::Runs, RUNS_BLOCK, spool, &[], &[]).map(Some)
}

fn encode_rows<G: Geometry>(
    domain: &Domain<G>,
    codes: &SideCodes,
    spools: &Spools,
) -> Result<Encoded, TableError> {
    let coder = RowCoder::fit(domain, codes);
    let mut spool = spools.create()?;
    let index = blocks::pack(
        domain.blocks(),
        &mut spool,
        || (),
        |(), block, out| coder.encode(domain, codes, block, out),
    )?;
    Encoded::of(
        Codec::Rows,
        domain.block,
        spool,
        &index,
        coder.description(),
    )
}

fn encode_mixed<G: Geometry>(
    domain: &Domain<G>,
    codes: &SideCodes,
    other: Option<&SideCodes>,
    spools: &Spools,
) -> Result<Encoded, TableError> {
    let coder = MixedCoder::fit(domain, codes, other);
    let mut spool = spools.create()?;
    let index = blocks::pack(
        domain.blocks(),
        &mut spool,
        || (),
        |(), block, out| coder.encode(domain, codes, other, block, out),
    )?;
    let model = coder.description();
    Encoded::of(Codec::Mixed, domain.block, spool, &index, model)
}

/// Fills what is left out with the value before it: the fewest changes.
fn fill_zstd_block(codes: &SideCodes, block: u64, len: u64, raw: &mut Vec<u8>) {
    let first = block * len;
    let end = codes.len.min(first + len);
    let mut positions = first..end;
    let mut last = positions.find_map(|p| Some(codes.get(p)).filter(|&code| code != 3));
    let mut byte = 0;
    for (place, position) in (first..end).enumerate() {
        let code = codes.get(position);
        if code != 3 {
            last = Some(code);
        }
        byte |= last.unwrap_or(1) << (2 * (place % 4));
        if place % 4 == 3 {
            raw.push(byte);
            byte = 0;
        }
    }
    if !(end - first).is_multiple_of(4) {
        raw.push(byte);
    }
}

fn encode_zstd(codes: &SideCodes, block: u64, spools: &Spools) -> Result<Encoded, TableError> {
    let blocks = codes.len.div_ceil(block);
    let compressed = zstd_blocks::compress(blocks, ZSTD_LEVEL, spools, |number, raw| {
        fill_zstd_block(codes, number, block, raw)
    })?;
    Encoded::of(
        Codec::Zstd,
        block,
        compressed.spool,
        &compressed.index,
        &compressed.dictionary,
    )
}

/// Gives the codes of positions from number `first` on that are left out the code 3.
pub(super) fn leave_out<R: Rules>(side: &Side, first: u64, codes: &mut Codes) {
    Domain::new::<R>(side, SideCodes::CHUNK).leave_out(first, codes);
}

/// About how small zstd can make large data, from a sample: optimistic, as the dictionary is left
/// out of the account.
fn zstd_estimate(codes: &SideCodes, spools: &Spools) -> Result<u64, TableError> {
    let blocks = codes.len.div_ceil(ZSTD_BLOCK);
    let stride = blocks.div_ceil(256);
    let sampled = blocks.div_ceil(stride);
    let compressed = zstd_blocks::compress(sampled, ZSTD_LEVEL, spools, |number, raw| {
        fill_zstd_block(codes, number * stride, ZSTD_BLOCK, raw)
    })?;
    Ok(compressed.spool.len() * blocks / sampled)
}

/// Encodes the distances of wins and losses among some results, as they are to be stored: `plies`
/// writes those from a first position on, none of them above `longest`.
pub(super) fn encode_distances(
    results: &SideCodes,
    longest: u16,
    plies: &(dyn Fn(u64, &mut [u16]) + Sync),
    spools: &Spools,
) -> Result<Encoded, TableError> {
    distances::encode(results, longest, plies, spools)
}

/// The bytes of one side to move in a file.
#[derive(Clone, Debug)]
pub(super) struct Sections {
    pub codec: Codec,
    pub parameter: u32,
    pub model: Range<u64>,
    pub index: Range<u64>,
    pub data: Range<u64>,
}
