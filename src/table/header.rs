//! The fixed-size record at the start of every table file, all integers little-endian.
//!
//! ```text
//!   0  8  magic `CRWNHEAD`             8  u16 format version       10  u16 header length
//!  12  u8 rule set                    13  u8 geometry              14  u8 metric
//!  15  u8 sides to move stored (1 White, 2 Black)
//!  16  4 x u8 white men, white kings, black men, black kings
//!  20  u8 bits of a value (2, 8, 16)  21  u8 index order           22  u16 rule choices
//!  24  u64 positions per side         32  u32 positions per block  36  u32 blocks per side
//!  40  White to move: u64 wins, draws, losses; longest win, longest loss (u32 plies, u64 position)
//!  88  Black to move, likewise
//! 136  u64 offset of the block index 144  u64 length of the file
//! 152  32 bytes BLAKE3 of everything behind the header
//! 184  16 bytes version of the generator, padded with zeros
//! 252  u32 CRC-32 of the bytes before it; the bytes between are zero
//! ```
//!
//! The longest distance is `u32::MAX` where there is none (no win or loss, or no distances). The
//! blocks follow the header, White's before Black's; the block index ends the file: for every
//! block the u64 offset of its end and the u32 CRC-32 of its bytes.

use super::{Metric, Wdl};
use crate::board::{ByColor, Color};
use crate::index::Slice;
use crate::rules::RuleSetId;

pub(crate) const MAGIC: [u8; 8] = *b"CRWNHEAD";
/// Changes whenever the bytes change.
pub const FORMAT_VERSION: u16 = 1;
pub(crate) const HEADER_LEN: usize = 256;
pub(crate) const INDEX_ENTRY_LEN: usize = 12;
/// Positions in a block: 4 KiB of results before compression.
pub(crate) const BLOCK_POSITIONS: u32 = 16384;
/// The order of [`SliceIndex`](crate::index::SliceIndex).
const INDEX_ORDER: u8 = 0;
/// Identifies the readings chosen in `docs/RULES.md` where sources disagree.
const RULE_CHOICES: u16 = 1;
const NO_DISTANCE: u32 = u32::MAX;

/// A position that takes longest, among those of one slice, side to move and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Longest {
    pub plies: u16,
    /// Its number in the slice; the lowest if several take as long.
    pub position: u64,
}

/// Counts of results over all positions with one side to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// In the metric of the table; none without wins, and in WDL tables.
    pub longest_win: Option<Longest>,
    pub longest_loss: Option<Longest>,
}

impl Census {
    /// Counts one more position; positions must come in ascending order.
    pub(crate) fn add(&mut self, result: Wdl, plies: Option<u16>, position: u64) {
        let longest = match result {
            Wdl::Win => (&mut self.wins, Some(&mut self.longest_win)),
            Wdl::Draw => (&mut self.draws, None),
            Wdl::Loss => (&mut self.losses, Some(&mut self.longest_loss)),
        };
        *longest.0 += 1;
        if let (Some(longest), Some(plies)) = (longest.1, plies) {
            *longest = longer(*longest, Some(Longest { plies, position }));
        }
    }

    /// The census of two ranges of positions, this one first.
    pub(crate) fn followed_by(self, later: Census) -> Census {
        Census {
            wins: self.wins + later.wins,
            draws: self.draws + later.draws,
            losses: self.losses + later.losses,
            longest_win: longer(self.longest_win, later.longest_win),
            longest_loss: longer(self.longest_loss, later.longest_loss),
        }
    }

    /// The longest distance of any win or loss.
    pub(crate) fn max_plies(&self) -> u16 {
        let plies = |longest: Option<Longest>| longest.map_or(0, |l| l.plies);
        plies(self.longest_win).max(plies(self.longest_loss))
    }

    fn positions(&self) -> Option<u64> {
        self.wins.checked_add(self.draws)?.checked_add(self.losses)
    }
}

fn longer(earlier: Option<Longest>, later: Option<Longest>) -> Option<Longest> {
    match (earlier, later) {
        (Some(a), Some(b)) if b.plies > a.plies => later,
        (None, _) => later,
        _ => earlier,
    }
}

/// What the header of a table file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub rule_set: RuleSetId,
    /// Canonical.
    pub slice: Slice,
    pub metric: Metric,
    /// Positions for one side to move.
    pub positions: u64,
    /// Bits of a value before compression: 2 for results, 8 or 16 for distances.
    pub value_bits: u8,
    pub(crate) block_positions: u32,
    /// By side to move; of a symmetric slice only White's is stored, Black's is all zeros.
    pub census: ByColor<Census>,
    pub(crate) index_offset: u64,
    /// Length of the whole file in bytes.
    pub file_len: u64,
    /// BLAKE3 of everything behind the header.
    pub content: [u8; 32],
    /// Version of the program that wrote the file.
    pub generator: String,
}

impl Header {
    /// The sides to move that are stored: White alone if the other mirrors it.
    pub fn sides(&self) -> &'static [Color] {
        stored_sides(self.slice)
    }

    pub(crate) fn blocks_per_side(&self) -> u64 {
        self.positions.div_ceil(u64::from(self.block_positions))
    }

    /// Bytes of a block before compression.
    pub(crate) fn raw_len(&self, block: u64) -> usize {
        let first = block * u64::from(self.block_positions);
        let positions = (self.positions - first).min(u64::from(self.block_positions)) as usize;
        (positions * usize::from(self.value_bits)).div_ceil(8)
    }

    pub(crate) fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC);
        put(&FORMAT_VERSION.to_le_bytes());
        put(&(HEADER_LEN as u16).to_le_bytes());
        let sides = self.sides().iter().fold(0, |set, &c| set | 1 << c as u8);
        let geometry = self.rule_set.rules().geometry as u8;
        put(&[
            self.rule_set as u8,
            geometry,
            self.metric as u8,
            sides,
            self.slice.men(Color::White) as u8,
            self.slice.kings(Color::White) as u8,
            self.slice.men(Color::Black) as u8,
            self.slice.kings(Color::Black) as u8,
            self.value_bits,
            INDEX_ORDER,
        ]);
        put(&RULE_CHOICES.to_le_bytes());
        put(&self.positions.to_le_bytes());
        put(&self.block_positions.to_le_bytes());
        put(&(self.blocks_per_side() as u32).to_le_bytes());
        for census in self.census.0 {
            for count in [census.wins, census.draws, census.losses] {
                put(&count.to_le_bytes());
            }
            for longest in [census.longest_win, census.longest_loss] {
                put(&longest
                    .map_or(NO_DISTANCE, |l| l.plies.into())
                    .to_le_bytes());
                put(&longest.map_or(0, |l| l.position).to_le_bytes());
            }
        }
        put(&self.index_offset.to_le_bytes());
        put(&self.file_len.to_le_bytes());
        put(&self.content);
        let generator = self.generator.as_bytes();
        put(&generator[..generator.len().min(16)]);
        let crc = crc32fast::hash(&bytes[..HEADER_LEN - 4]);
        bytes[HEADER_LEN - 4..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header from the start of a file of `file_len` bytes. Whatever the bytes, a header
    /// that is returned is consistent in itself and with the length.
    pub(crate) fn parse(bytes: &[u8], file_len: u64) -> Result<Header, HeaderFault> {
        use HeaderFault::{Corrupt, NotATable};
        let mut fields = Fields(bytes);
        if fields.take::<8>() != Some(MAGIC) {
            return Err(NotATable("it does not begin with the magic number"));
        }
        let short = NotATable("it ends within the header");
        let version = u16::from_le_bytes(fields.take().ok_or(short)?);
        if version != FORMAT_VERSION {
            return Err(HeaderFault::Version(version));
        }
        let whole = bytes
            .first_chunk::<HEADER_LEN>()
            .ok_or(Corrupt("it ends within the header"))?;
        let (before, crc) = whole.split_at(HEADER_LEN - 4);
        if crc32fast::hash(before).to_le_bytes() != crc {
            return Err(Corrupt("the header has the wrong checksum"));
        }
        fields
            .read_rest()
            .ok_or(Corrupt("a header field is invalid"))?
            .check(file_len)
    }

    fn check(self, file_len: u64) -> Result<Header, HeaderFault> {
        let fault = |what| Err(HeaderFault::Corrupt(what));
        let blocks = self.blocks_per_side() * self.sides().len() as u64;
        let index_len = blocks * INDEX_ENTRY_LEN as u64;
        if self.file_len != file_len {
            return fault("it is not as long as the header says");
        }
        if self.index_offset < HEADER_LEN as u64
            || self.index_offset.checked_add(index_len) != Some(file_len)
        {
            return fault("the block index does not fit the file");
        }
        for &side in self.sides() {
            let census = &self.census[side];
            if census.positions() != Some(self.positions) {
                return fault("the counts of results do not add up to the positions");
            }
            let longest = [census.longest_win, census.longest_loss];
            if longest
                .iter()
                .flatten()
                .any(|l| l.position >= self.positions)
            {
                return fault("a longest position is outside the slice");
            }
        }
        Ok(self)
    }
}

/// The sides to move a table of a slice stores.
pub(crate) fn stored_sides(slice: Slice) -> &'static [Color] {
    if slice.is_symmetric() {
        &[Color::White]
    } else {
        &Color::BOTH
    }
}

/// What is wrong with a header, before the file's name is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderFault {
    NotATable(&'static str),
    Version(u16),
    Corrupt(&'static str),
}

/// Takes fixed-size fields off the front of bytes.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn longest(&mut self) -> Option<Option<Longest>> {
        let (plies, position) = (self.u32()?, self.u64()?);
        match (plies, u16::try_from(plies)) {
            (NO_DISTANCE, _) => Some(None),
            (_, Ok(plies)) => Some(Some(Longest { plies, position })),
            _ => None,
        }
    }

    fn census(&mut self) -> Option<Census> {
        Some(Census {
            wins: self.u64()?,
            draws: self.u64()?,
            losses: self.u64()?,
            longest_win: self.longest()?,
            longest_loss: self.longest()?,
        })
    }

    /// Everything behind the version; none if a field has a value it cannot have.
    fn read_rest(mut self) -> Option<Header> {
        let _length: [u8; 2] = self.take()?;
        let [
            rule_set,
            geometry,
            metric,
            sides,
            wm,
            wk,
            bm,
            bk,
            value_bits,
            order,
        ] = self.take()?;
        let rule_set = *RuleSetId::ALL.iter().find(|&&id| id as u8 == rule_set)?;
        let metric = *Metric::ALL.iter().find(|&&m| m as u8 == metric)?;
        let slice = Slice::new(ByColor::new(wm, bm), ByColor::new(wk, bk))?;
        let choices = u16::from_le_bytes(self.take()?);
        let (positions, block_positions, blocks) = (self.u64()?, self.u32()?, self.u32()?);
        let census = ByColor([self.census()?, self.census()?]);
        let header = Header {
            rule_set,
            slice,
            metric,
            positions,
            value_bits,
            block_positions,
            census,
            index_offset: self.u64()?,
            file_len: self.u64()?,
            content: self.take()?,
            generator: String::from_utf8_lossy(&self.take::<16>()?)
                .trim_end_matches('\0')
                .to_owned(),
        };
        let bits_fit = match metric {
            Metric::Wdl => value_bits == 2,
            Metric::Dtc | Metric::Dtw => value_bits == 8 || value_bits == 16,
        };
        let sides_fit = header.sides().iter().fold(0, |set, &c| set | 1 << c as u8) == sides;
        let id = rule_set.rules().geometry;
        let fits = geometry == id as u8
            && slice.is_canonical()
            && slice.is_contested()
            && positions == slice.positions(id)
            && positions > 0
            && block_positions == BLOCK_POSITIONS
            && header.blocks_per_side() == u64::from(blocks)
            && bits_fit
            && sides_fit
            && order == INDEX_ORDER
            && choices == RULE_CHOICES;
        fits.then_some(header)
    }
}
