use std::io;
use std::ops::Range;

use crate::board::Word;

/// Value codes of consecutive positions, four to a byte, the first in the lowest bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codes {
    bytes: Vec<u8>,
    len: usize,
}

impl Codes {
    /// Makes this `len` codes, all 3.
    pub fn reset(&mut self, len: usize) {
        self.bytes.clear();
        self.bytes.resize(len.div_ceil(4), 0xff);
        self.len = len;
    }

    /// As [`Codes::reset`], for codes that there may be no memory for.
    pub(crate) fn try_reset(&mut self, len: u64) -> io::Result<()> {
        let no_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
        let len = usize::try_from(len).map_err(|_| no_memory())?;
        self.bytes.clear();
        let reserved = self.bytes.try_reserve_exact(len.div_ceil(4));
        reserved.map_err(|_| no_memory())?;
        self.reset(len);
        Ok(())
    }

    /// Makes this `len` codes from packed bytes; none if there are not as many as they need.
    pub fn copy_from(&mut self, packed: &[u8], len: usize) -> Option<()> {
        let packed = packed.get(..len.div_ceil(4))?;
        self.bytes.clear();
        self.bytes.extend_from_slice(packed);
        self.len = len;
        Some(())
    }

    /// Appends a code for each square of a set, in order, made of a lower and a higher bit.
    #[inline(always)]
    pub(super) fn extend<W: Word>(&mut self, squares: W, low: W, high: W) {
        let (mut low, mut high) = (low & squares, high & squares);
        let top = squares.reverse_bits().lowest().reverse_bits();
        // Closes the gaps between the squares, each of which the ones before have moved down.
        for (gap, moved) in (!squares & top.wrapping_sub(W::ONE)).bits().zip(0..) {
            let below = (gap >> moved).wrapping_sub(W::ONE);
            let close = |set: W| set & below | (set >> 1) & !below;
            (low, high) = (close(low), close(high));
        }
        let mut left = squares.count_ones() as usize;
        while left > 0 {
            let count = left.min(32);
            self.push(
                spread(low.to_u128() as u32) | spread(high.to_u128() as u32) << 1,
                count,
            );
            left -= count;
            if left > 0 {
                (low, high) = (low >> 32, high >> 32);
            }
        }
    }

    /// Appends at most 32 codes; bits above them are zero.
    #[inline(always)]
    fn push(&mut self, codes: u64, count: usize) {
        let used = self.len % 4;
        let last = if used > 0 { self.bytes.pop() } else { None };
        let bytes = u128::from(codes) << (2 * used) | u128::from(last.unwrap_or(0));
        self.bytes.extend_from_slice(&bytes.to_le_bytes()[..9]);
        self.len += count;
        self.bytes.truncate(self.len.div_ceil(4));
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, to be filled in by parts.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// # Panics
    /// If there is no such code.
    #[inline(always)]
    pub fn get(&self, place: usize) -> u8 {
        self.bytes[place / 4] >> (2 * (place % 4)) & 3
    }

    /// # Panics
    /// If there is no such code.
    #[inline(always)]
    pub fn set(&mut self, place: usize, code: u8) {
        let byte = &mut self.bytes[place / 4];
        let shift = 2 * (place % 4);
        *byte = *byte & !(3 << shift) | (code & 3) << shift;
    }

    /// Gives all codes of a range one value.
    ///
    /// # Panics
    /// If there are not so many codes.
    pub fn fill(&mut self, places: Range<usize>, code: u8) {
        let whole = places.start.div_ceil(4)..places.end / 4;
        if whole.start >= whole.end {
            return places.for_each(|place| self.set(place, code));
        }
        (places.start..4 * whole.start).for_each(|place| self.set(place, code));
        (4 * whole.end..places.end).for_each(|place| self.set(place, code));
        self.bytes[whole].fill((code & 3) * 0b0101_0101);
    }

    /// Makes this no codes, with room for some.
    pub(super) fn clear(&mut self, room: usize) {
        self.reset(0);
        // A word of codes is appended whole before it is cut.
        self.bytes.reserve(room.div_ceil(4) + 16);
    }

    pub fn iter(&self) -> impl Iterator<Item = u8> {
        (0..self.len).map(|place| self.get(place))
    }
}

/// All value codes of a slice for one side to move, in chunks that can be made in parallel.
#[derive(Debug)]
pub(crate) struct SideCodes {
    chunks: Vec<Codes>,
    pub len: u64,
}

impl SideCodes {
    /// Positions in a chunk, a multiple of any block.
    pub const CHUNK: u64 = 1 << 16;

    /// From chunks in order, all but the last full.
    pub fn new(chunks: Vec<Codes>) -> Self {
        let len = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        SideCodes { chunks, len }
    }

    #[inline(always)]
    pub fn get(&self, position: u64) -> u8 {
        self.chunks[(position / Self::CHUNK) as usize].get((position % Self::CHUNK) as usize)
    }

    /// Makes `out` the codes of some positions.
    pub fn copy(&self, positions: Range<u64>, out: &mut Codes) {
        out.reset((positions.end - positions.start) as usize);
        for (place, position) in positions.enumerate() {
            out.set(place, self.get(position));
        }
    }

    pub fn chunks(&self) -> &[Codes] {
        &self.chunks
    }
}

/// Moves bit i to bit 2i.
#[inline(always)]
fn spread(bits: u32) -> u64 {
    let mut x = u64::from(bits);
    x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x << 2) & 0x3333_3333_3333_3333;
    (x | x << 1) & 0x5555_5555_5555_5555
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn squares_of_words<W: Word>(words: &[[u128; 3]]) {
        let mut codes = Codes::default();
        let mut expected = Vec::new();
        for &word in words {
            let [squares, low, high] = word.map(W::from_u128);
            codes.extend(squares, low, high);
            let bit = |set: W, square: W| u8::from((set & square).any());
            expected.extend(squares.bits().map(|s| bit(low, s) | bit(high, s) << 1));
        }
        assert_eq!(codes.len(), expected.len());
        assert_eq!(codes.bytes().len(), expected.len().div_ceil(4));
        assert!(codes.iter().eq(expected));
    }

    proptest! {
        #[test]
        fn a_range_is_filled(start in 0..70usize, len in 0..70usize, code in 0..3u8) {
            let mut codes = Codes::default();
            codes.reset(140);
            codes.fill(start..start + len, code);
            let expected = |place| if (start..start + len).contains(&place) { code } else { 3 };
            assert!(codes.iter().eq((0..140).map(expected)));
        }

        /// Dense sets, as rows are, and any others.
        #[test]
        fn codes_follow_the_squares(
            words in prop::collection::vec(any::<[u128; 3]>(), 0..8),
            dense in any::<bool>(),
        ) {
            let fill = |[s, low, high]: [u128; 3]| [s | s << 1 | s << 3 | s << 6, low, high];
            let words: Vec<_> = words.into_iter().map(|w| if dense { fill(w) } else { w }).collect();
            squares_of_words::<u32>(&words);
            squares_of_words::<u64>(&words);
            squares_of_words::<u128>(&words);
        }
    }
}
