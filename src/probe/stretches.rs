//! Stretches of positions that have one and the same result.
//!
//! Most results are those of the positions around them, so most of a set is told by two bits for
//! each stretch of some positions, in memory so dense that the caches of a processor hold it. Only
//! the others need the [cache](super::cache) of whole lines, and lines without others are not kept
//! there. What a table leaves out counts as having any result, for it is never asked.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::zeroed::Zeroed;
use crate::table::{Codes, Wdl};

/// Binary logarithms of the positions of the shortest and the longest stretch.
const SHORTEST: u32 = 4;
const LONGEST: u32 = 9;

/// Stretches in a word.
const IN_WORD: u64 = 32;

/// Numbers of positions begin at multiples of this for each table and side to move.
pub(super) const STRETCH_ALIGNMENT: u64 = 1 << LONGEST;

#[derive(Debug)]
pub(super) struct Stretches {
    /// Two bits for each stretch: 0 if it is not known or has several results, else the code of
    /// its result and one.
    words: Zeroed<AtomicU64>,
    /// Binary logarithm of the positions of a stretch.
    shift: u32,
    /// Bytes in use.
    used: AtomicU64,
}

impl Stretches {
    /// For so many positions, as short as the budget of bytes allows; none at all if it allows not
    /// even the longest.
    pub fn fitting(positions: u64, budget: u64) -> Self {
        let words = |shift: u32| positions.div_ceil(IN_WORD << shift);
        let fits = |&shift: &u32| words(shift) <= budget / 8;
        let shift = (SHORTEST..=LONGEST).find(fits);
        Stretches {
            words: Zeroed::new(shift.map_or(0, words)),
            shift: shift.unwrap_or(LONGEST),
            used: AtomicU64::new(0),
        }
    }

    /// The result of a position, if it is that of its whole stretch.
    #[inline(always)]
    pub fn get(&self, position: u64) -> Option<Wdl> {
        let stretch = position >> self.shift;
        let word = self.words.get((stretch / IN_WORD) as usize)?.load(Relaxed);
        match word >> (2 * (stretch % IN_WORD)) & 3 {
            0 => None,
            1 => Some(Wdl::Loss),
            2 => Some(Wdl::Draw),
            _ => Some(Wdl::Win),
        }
    }

    /// Takes up the results of a block that begins with a position; those of its stretches that
    /// it has only in part are passed over.
    pub fn insert(&self, first: u64, codes: &Codes) {
        if self.words.is_empty() || !first.is_multiple_of(1 << self.shift) {
            return;
        }
        let stretches = codes.bytes().chunks_exact(1 << (self.shift - 2));
        let (mut number, mut entries) = (first >> self.shift, 0);
        for bytes in stretches {
            entries |= entry(bytes) << (2 * (number % IN_WORD));
            number += 1;
            if number.is_multiple_of(IN_WORD) {
                self.add(number / IN_WORD - 1, std::mem::take(&mut entries));
            }
        }
        self.add(number / IN_WORD, entries);
    }

    fn add(&self, word: u64, entries: u64) {
        let word = self.words.get(word as usize).filter(|_| entries != 0);
        if word.is_some_and(|word| word.fetch_or(entries, Relaxed) == 0) {
            self.used.fetch_add(8, Relaxed);
        }
    }

    /// Whether stretches tell all results among some codes, four to a byte, of positions from a
    /// first one on.
    pub fn tell(&self, first: u64, bytes: &[u8]) -> bool {
        let parts = bytes.chunks(1 << (SHORTEST - 2));
        let mut parts = (first..).step_by(1 << SHORTEST).zip(parts);
        parts.all(|(position, bytes)| self.get(position).is_some() || results(bytes) == 0)
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// The most bytes in use.
    pub fn bytes(&self) -> u64 {
        self.words.bytes()
    }
}

/// The entry of a stretch with these codes.
fn entry(bytes: &[u8]) -> u64 {
    match results(bytes) {
        0b001 => 1,
        0b010 => 2,
        0b100 => 3,
        // Several, or none: what is not stored has no result.
        _ => 0,
    }
}

/// Which results are among some codes, four to a byte: a bit for each.
fn results(bytes: &[u8]) -> u8 {
    const LOW: u64 = 0x5555_5555_5555_5555;
    let mut found = [0; 3];
    for bytes in bytes.chunks(8) {
        let mut eight = [0xff; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        let codes = u64::from_le_bytes(eight);
        let (low, high) = (codes & LOW, codes >> 1 & LOW);
        found[0] |= LOW & !(low | high);
        found[1] |= low & !high;
        found[2] |= high & !low;
    }
    found
        .iter()
        .rev()
        .fold(0, |bits, found| bits << 1 | u8::from(*found != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(codes: impl ExactSizeIterator<Item = u8>) -> Codes {
        let mut block = Codes::default();
        block.reset(codes.len());
        codes
            .enumerate()
            .for_each(|(place, code)| block.set(place, code));
        block
    }

    /// Stretches of every length answer as the codes do, or not at all.
    #[test]
    fn answers_are_those_of_the_codes() {
        let code = |position: u64| match position / 640 {
            // Changes every 100 positions, and leaves out every seventh.
            0..4 if !position.is_multiple_of(7) => (position / 100 % 3) as u8,
            // One result with gaps, nothing at all, one result.
            4 if !position.is_multiple_of(5) => 1,
            6.. => 2,
            _ => 3,
        };
        let positions = 640 * 8 - 20;
        for budget in [1 << 20, 200, 100, 40, 16] {
            // Blocks that stretches fit, and such that they do not.
            for per_block in [512, 640, 24] {
                let stretches = Stretches::fitting(positions, budget);
                let blocks = positions.div_ceil(per_block);
                for first in (0..blocks).map(|block| block * per_block) {
                    let end = positions.min(first + per_block) as u32;
                    stretches.insert(first, &block((first as u32..end).map(|p| code(p.into()))));
                }
                let told = |p: &u64| stretches.get(*p).is_some();
                for position in (0..positions).filter(told) {
                    let result = stretches.get(position).map(|result| result as u8);
                    assert!(Some(code(position)) == result || code(position) == 3);
                }
                assert!(stretches.used() <= stretches.bytes() && stretches.bytes() <= budget);
                assert!(
                    per_block == 24 || (4000..4600).all(|p| told(&p)),
                    "all is a win there"
                );
                let nothing = (3200..3840).any(|p| told(&p));
                assert!(budget < 1 << 20 || !nothing, "nothing is stored there");
            }
        }
        assert_eq!(Stretches::fitting(positions, 15).get(4000), None);
    }

    #[test]
    fn codes_that_are_told_need_no_line() {
        let stretches = Stretches::fitting(1024, 1 << 20);
        let mut codes = block((0..512).map(|p| if p % 3 == 0 { 3 } else { 1 }));
        (16..32).for_each(|p| codes.set(p, 3));
        stretches.insert(512, &codes);
        assert!(stretches.tell(512, codes.bytes()));
        assert!(stretches.tell(512 + 192, &codes.bytes()[48..96]));
        codes.set(100, 2);
        let stretches = Stretches::fitting(1024, 1 << 20);
        stretches.insert(512, &codes);
        assert!(!stretches.tell(512, &codes.bytes()[..48]));
        assert!(stretches.tell(512 + 192, &codes.bytes()[48..96]));
    }
}
