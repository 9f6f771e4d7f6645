//! The fixed-size record at the start of every table file, all integers little-endian.
//!
//! ```text
//!   0  8  magic `CRWNHEAD`             8  u16 format version       10  u16 header length
//!  12  u8 rule set                    13  u8 geometry              14  u8 metric
//!  15  u8 sides to move stored (1 White, 2 Black)
//!  16  4 x u8 white men, white kings, black men, black kings
//!  20  u8 index order                 21  u8 left out              22  u16 rule choices
//!  24  u64 positions per side         32  u16 depth bound          34  u8 profile, 35 zero
//!  36  u32 bytes of a page            40  u64 length of the file
//!  48  u32 CRC-32 of the page checksums                            52  u32 zero
//!  56  16 bytes version of the generator, padded with zeros
//!  72  White to move:
//!      +0  u64 wins, draws, losses   +24  longest win, longest loss (u32 plies, u64 position)
//!     +48  16 bytes hash of the values
//!     +64  u16 codec                 +66  u16 zero                 +68  u32 codec parameter
//!     +72  u64 lengths of model, index, data, exceptions
//! 176  Black to move, likewise; all zeros if it mirrors White to move
//! 280  u32 CRC-32 of the bytes before it
//! ```
//!
//! A side to move that is not stored although it has positions of its own follows from the other by
//! a look-ahead: of it there are counts, longest distances and hash, and zeros behind them.
//!
//! The longest distance is `u32::MAX` where there is none (no win or loss, or no distances). The
//! sections follow the header, White's before Black's, each side's in the order of their lengths;
//! the checksums of all pages end the file.

use std::ops::Range;

use super::codec::{Codec, LeftOut, Sections};
use super::pages::{CHECKSUM_LEN, PAGE};
use super::{Metric, Profile, Wdl};
use crate::board::{ByColor, Color};
use crate::index::Slice;
use crate::rules::RuleSetId;

pub(crate) const MAGIC: [u8; 8] = *b"CRWNHEAD";
/// Changes whenever the bytes change: the newest that is written and read.
pub const FORMAT_VERSION: u16 = 3;
/// The oldest that is read, and still written where a reader needs no more: see
/// [`Header::version`].
pub(super) const OLDEST_VERSION: u16 = 2;
pub(crate) const HEADER_LEN: usize = 284;
/// The order of [`SliceIndex`](crate::index::SliceIndex).
const INDEX_ORDER: u8 = 0;
/// Identifies the readings chosen in `docs/RULES.md` where sources disagree.
const RULE_CHOICES: u16 = 1;
const NO_DISTANCE: u32 = u32::MAX;
/// Bytes of a hash of values.
pub(crate) const HASH_LEN: usize = 16;

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
    pub(super) fn max_plies(&self) -> u16 {
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

/// What a table says and stores of one side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub census: Census,
    /// Of all values, see [`hash_values`](super::hash_values).
    pub hash: [u8; HASH_LEN],
    /// None if no value is stored: all follow from those of the other side to move by a look-ahead.
    pub codec: Option<Codec>,
    pub(super) parameter: u32,
    /// Bytes of model, index, data and exceptions.
    pub(super) lengths: [u64; 4],
}

impl Stored {
    /// Of a side to move that follows from the other by a look-ahead.
    pub(super) fn following(census: Census, hash: [u8; HASH_LEN]) -> Stored {
        Stored {
            census,
            hash,
            codec: None,
            parameter: 0,
            lengths: [0; 4],
        }
    }

    /// Bytes of all sections.
    pub fn bytes(&self) -> u64 {
        self.lengths.iter().sum()
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
    pub profile: Profile,
    /// The most moves in a row a prober may have to look ahead for a position that is left out
    /// because of a threat.
    pub depth_bound: u16,
    pub(crate) left_out: LeftOut,
    /// By side to move; of a symmetric slice only White's.
    pub stored: ByColor<Option<Stored>>,
    /// Length of the whole file in bytes.
    pub file_len: u64,
    pub(super) checksums: u32,
    /// Version of the program that wrote the file.
    pub generator: String,
}

impl Header {
    /// The sides to move with positions of their own: White alone if the other mirrors it.
    pub fn sides(&self) -> &'static [Color] {
        stored_sides(self.slice)
    }

    /// Counts of results for a side to move; those of the mirrored side where that is stored.
    pub fn census(&self, side: Color) -> &Census {
        static NONE: Census = Census {
            wins: 0,
            draws: 0,
            losses: 0,
            longest_win: None,
            longest_loss: None,
        };
        let stored = self.stored[side].as_ref().or(self.stored[!side].as_ref());
        stored.map_or(&NONE, |stored| &stored.census)
    }

    /// Positions in which the side to move can capture are not stored.
    #[inline]
    pub fn leaves_out_captures(&self) -> bool {
        self.left_out.captures
    }

    /// Positions in which the opponent could capture are not stored.
    #[inline]
    pub fn leaves_out_threats(&self) -> bool {
        self.left_out.threats
    }

    /// The values with this side to move are not stored: each is found by looking a move ahead, at
    /// positions with the other side to move. Only of tables of distances.
    #[inline]
    pub fn follows(&self, side: Color) -> bool {
        self.stored[side].is_some_and(|stored| stored.codec.is_none())
    }

    /// The result of all positions that are stored with a side to move, if the header says it.
    pub(crate) fn constant(&self, side: Color) -> Option<Wdl> {
        let stored = self.stored[side].as_ref()?;
        let code = u16::try_from(stored.parameter).ok()?;
        (stored.codec == Some(Codec::Constant))
            .then(|| Wdl::of(code))
            .flatten()
    }

    /// Some results are kept apart because a search does not find them.
    pub(crate) fn has_exceptions(&self, side: Color) -> bool {
        let sections = self.sections(side);
        sections.is_some_and(|(_, exceptions)| !exceptions.is_empty())
    }

    /// The range of the sections in the file.
    pub(super) fn content(&self) -> Range<u64> {
        let sections = self.stored.0.iter().flatten().map(Stored::bytes);
        HEADER_LEN as u64..HEADER_LEN as u64 + sections.sum::<u64>()
    }

    /// Where the sections of a stored side are in the content, and its exceptions; none if there are
    /// none.
    pub(super) fn sections(&self, side: Color) -> Option<(Sections, Range<u64>)> {
        let stored = self.stored[side].as_ref()?;
        let mut at = match side {
            Color::White => 0,
            Color::Black => self.stored[Color::White].as_ref().map_or(0, Stored::bytes),
        };
        let [model, index, data, exceptions] = stored.lengths.map(|len| {
            at += len;
            at - len..at
        });
        let sections = Sections {
            codec: stored.codec?,
            parameter: stored.parameter,
            model,
            index,
            data,
        };
        Some((sections, exceptions))
    }

    pub(crate) fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC);
        put(&self.version().to_le_bytes());
        put(&(HEADER_LEN as u16).to_le_bytes());
        put(&[
            self.rule_set as u8,
            self.rule_set.rules().geometry as u8,
            self.metric as u8,
            self.sides_byte(),
            self.slice.men(Color::White) as u8,
            self.slice.kings(Color::White) as u8,
            self.slice.men(Color::Black) as u8,
            self.slice.kings(Color::Black) as u8,
            INDEX_ORDER,
            u8::from(self.left_out.captures) | u8::from(self.left_out.threats) << 1,
        ]);
        put(&RULE_CHOICES.to_le_bytes());
        put(&self.positions.to_le_bytes());
        put(&self.depth_bound.to_le_bytes());
        put(&[self.profile as u8, 0]);
        put(&(PAGE as u32).to_le_bytes());
        put(&self.file_len.to_le_bytes());
        put(&self.checksums.to_le_bytes());
        put(&[0; 4]);
        let mut generator = [0; 16];
        let name = self.generator.as_bytes();
        let len = name.len().min(16);
        generator[..len].copy_from_slice(&name[..len]);
        put(&generator);
        for side in Color::BOTH {
            let Some(stored) = &self.stored[side] else {
                put(&[0; SIDE_LEN]);
                continue;
            };
            let census = &stored.census;
            for count in [census.wins, census.draws, census.losses] {
                put(&count.to_le_bytes());
            }
            for longest in [census.longest_win, census.longest_loss] {
                let plies = longest.map_or(NO_DISTANCE, |l| l.plies.into());
                put(&plies.to_le_bytes());
                put(&longest.map_or(0, |l| l.position).to_le_bytes());
            }
            put(&stored.hash);
            put(&stored.codec.map_or(0, |codec| codec as u16).to_le_bytes());
            put(&[0; 2]);
            put(&stored.parameter.to_le_bytes());
            for len in stored.lengths {
                put(&len.to_le_bytes());
            }
        }
        let crc = crc32fast::hash(&bytes[..HEADER_LEN - 4]);
        bytes[HEADER_LEN - 4..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header from the start of a file of `file_len` bytes. Whatever the bytes, a header
    /// that is returned is consistent in itself and with the length.
    pub(crate) fn parse(bytes: &[u8], file_len: u64) -> Result<Header, HeaderFault> {
        use HeaderFault::{Corrupt, NotATable};
        let mut fields = Fields(bytes);
        let short = Corrupt("it ends within the header");
        if fields.take::<8>() != Some(MAGIC) {
            return Err(match MAGIC.starts_with(bytes) {
                true => short,
                false => NotATable("it does not begin with the magic number"),
            });
        }
        let version = u16::from_le_bytes(fields.take().ok_or(short)?);
        if !(OLDEST_VERSION..=FORMAT_VERSION).contains(&version) {
            return Err(HeaderFault::Version(version));
        }
        let whole = bytes.first_chunk::<HEADER_LEN>().ok_or(short)?;
        let (before, crc) = whole.split_at(HEADER_LEN - 4);
        if crc32fast::hash(before).to_le_bytes() != crc {
            return Err(Corrupt("the header has the wrong checksum"));
        }
        fields
            .read_rest(version)
            .ok_or(Corrupt("a header field is invalid"))?
            .check(file_len)
    }

    /// The format version a reader needs: a side to move that follows from the other and the codec
    /// [`Codec::Mixed`] came with version 3.
    fn version(&self) -> u16 {
        let new = Color::BOTH.into_iter().any(|side| {
            let stored = self.stored[side].as_ref();
            self.follows(side) || stored.is_some_and(|s| s.codec == Some(Codec::Mixed))
        });
        if new { FORMAT_VERSION } else { OLDEST_VERSION }
    }

    /// The sides to move that are stored.
    fn sides_byte(&self) -> u8 {
        let stored = self.sides().iter().filter(|&&side| !self.follows(side));
        stored.fold(0, |set, &side| set | 1 << side as u8)
    }

    fn check(self, file_len: u64) -> Result<Header, HeaderFault> {
        let fault = |what| Err(HeaderFault::Corrupt(what));
        if self.file_len != file_len {
            return fault("it is not as long as the header says");
        }
        let mut lengths = self.stored.0.iter().flatten().flat_map(|side| side.lengths);
        let content = lengths.try_fold(HEADER_LEN as u64, u64::checked_add);
        let whole = content.and_then(|end| {
            let pages = (end - HEADER_LEN as u64).div_ceil(PAGE as u64);
            end.checked_add(pages.checked_mul(CHECKSUM_LEN as u64)?)
        });
        if whole != Some(file_len) {
            return fault("its sections do not fit the file");
        }
        for stored in self.stored.0.iter().flatten() {
            let census = &stored.census;
            if census.positions() != Some(self.positions) {
                return fault("the counts of results do not add up to the positions");
            }
            let longest = [census.longest_win, census.longest_loss];
            let mut longest = longest.iter().flatten();
            if longest.any(|l| l.position >= self.positions) {
                return fault("a longest position is outside the slice");
            }
        }
        Ok(self)
    }
}

/// Bytes of the header that describe one side to move.
const SIDE_LEN: usize = 104;

/// The sides to move of a slice with positions of their own.
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

    /// What the header says of a side to move, whose values are stored or follow from the other's.
    fn stored(&mut self, follows: bool) -> Option<Stored> {
        let census = self.census()?;
        let hash = self.take()?;
        let codec = u16::from_le_bytes(self.take()?);
        let zero = u16::from_le_bytes(self.take()?);
        let parameter = self.u32()?;
        let lengths = [self.u64()?, self.u64()?, self.u64()?, self.u64()?];
        let nothing = (codec, parameter, lengths) == (0, 0, [0; 4]);
        let codec = match follows {
            true => None,
            false => Some(*Codec::ALL.iter().find(|&&c| c as u16 == codec)?),
        };
        (zero == 0 && (nothing || !follows)).then_some(Stored {
            census,
            hash,
            codec,
            parameter,
            lengths,
        })
    }

    /// Everything behind the version; none if a field has a value it cannot have.
    fn read_rest(mut self, version: u16) -> Option<Header> {
        let length = u16::from_le_bytes(self.take()?);
        let [rule_set, geometry, metric, sides] = self.take()?;
        let [wm, wk, bm, bk] = self.take()?;
        let [order, left_out] = self.take()?;
        let choices = u16::from_le_bytes(self.take()?);
        let rule_set = *RuleSetId::ALL.iter().find(|&&id| id as u8 == rule_set)?;
        let metric = *Metric::ALL.iter().find(|&&m| m as u8 == metric)?;
        let slice = Slice::new(ByColor::new(wm, bm), ByColor::new(wk, bk))?;
        let positions = self.u64()?;
        let depth_bound = u16::from_le_bytes(self.take()?);
        let [profile, zero] = self.take()?;
        let profile = *Profile::ALL.iter().find(|&&p| p as u8 == profile)?;
        let page = self.u32()?;
        let (file_len, checksums, zeros) = (self.u64()?, self.u32()?, self.u32()?);
        let generator = String::from_utf8_lossy(&self.take::<16>()?)
            .trim_end_matches('\0')
            .to_owned();
        let mut stored = ByColor::default();
        for side in Color::BOTH {
            if stored_sides(slice).contains(&side) {
                let follows = sides & 1 << side as u8 == 0;
                stored[side] = Some(self.stored(follows)?);
            } else if self.take::<SIDE_LEN>()? != [0; SIDE_LEN] {
                return None;
            }
        }
        let id = rule_set.rules().geometry;
        // A side that follows needs another one that is stored.
        let sides_fit = match (slice.is_symmetric(), metric) {
            (true, _) => sides == 1,
            (false, Metric::Dtc | Metric::Dtw) => (1..=3).contains(&sides),
            (false, _) => sides == 3,
        };
        let fits = usize::from(length) == HEADER_LEN
            && geometry == id as u8
            && slice.is_canonical()
            && slice.is_contested()
            && positions == slice.positions(id)
            && positions > 0
            && sides_fit
            && order == INDEX_ORDER
            && choices == RULE_CHOICES
            && (left_out < 4 && metric == Metric::Wdl || left_out < 2)
            && page as usize == PAGE
            && zero == 0
            && zeros == 0;
        let header = Header {
            rule_set,
            slice,
            metric,
            positions,
            profile,
            depth_bound,
            left_out: LeftOut {
                captures: left_out & 1 != 0,
                threats: left_out & 2 != 0,
            },
            stored,
            file_len,
            checksums,
            generator,
        };
        (fits && header.version() <= version).then_some(header)
    }
}
