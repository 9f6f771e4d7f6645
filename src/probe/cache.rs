//! Decoded values, kept for the next question.
//!
//! Most results are told by the [stretches](super::stretches) they are in. For the others and for
//! distances a decoded block is cut into *lines* of 192 results or 24 distances, as a probe wants
//! one value of it. With its name and a version a line takes 64 bytes, what a processor fetches at once. A
//! hash of its name leads to one of four places side by side; where all are taken, a line goes that
//! was not asked for since it last could have gone. A value so costs one access to memory and seldom
//! one to the page tables.
//!
//! A hit takes no lock, no allocation, and no write that another thread would have to wait for
//! (threads beyond the 64th of a process share a count of hits, which they add to atomically). The
//! version is odd while a line is being written, and a value counts only if the version was even
//! and the same before and after it was read. Whoever finds a line being written has missed.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use Ordering::{Acquire, Relaxed, Release};

use super::stretches::Stretches;
use super::zeroed::{FromZeros, Zeroed};
use crate::table::{Codes, Wdl};

/// Words of a line.
pub(super) const WORDS: usize = 6;
/// Result codes of a line.
pub(super) const LINE_RESULTS: u64 = WORDS as u64 * 32;
/// Distances of a line.
pub(super) const LINE_DISTANCES: u64 = WORDS as u64 * 4;

/// Places side by side.
const WAYS: usize = 4;

/// Numbers a line among those of all tables, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineKey(pub u64);

/// In a key: the line was asked for since its set last dropped one.
const ASKED: u64 = 1 << 63;

/// What a cache of decoded values has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Values asked for and found.
    pub hits: u64,
    /// Values asked for and not found.
    pub misses: u64,
    /// Blocks that were decoded.
    pub decodes: u64,
    /// Bytes in use.
    pub bytes: u64,
    /// The most bytes to use; 0 if there is no cache, be it that none was asked for or that the
    /// system does not give the memory.
    pub budget: u64,
}

#[derive(Debug)]
pub(super) struct Cache {
    stretches: Stretches,
    sets: Zeroed<Set>,
    /// The last is shared.
    counts: Box<[Counts]>,
    /// Lines in use.
    lines: AtomicU64,
}

/// All zeros is an empty set.
#[derive(Debug)]
#[repr(C, align(64))]
struct Set([Line; WAYS]);

// SAFETY: it is made of atomic numbers alone, to which zeros give a meaning, too.
unsafe impl FromZeros for Set {}

#[derive(Debug)]
#[repr(C, align(64))]
struct Line {
    /// Odd while the line is being written.
    version: AtomicU64,
    /// What is here, with [`ASKED`]; zero if nothing is.
    key: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// Places for each line that could come, so that few find theirs taken.
const ROOM: u64 = 4;

impl Cache {
    /// With room for so many positions of which results are stored and so many lines, if the budget
    /// of bytes allows it: of that, a quarter at most goes to stretches.
    pub fn fitting(positions: u64, lines: u64, budget: u64) -> Self {
        let stretches = Stretches::fitting(positions, budget / 4);
        let bytes = lines.saturating_mul(ROOM * size_of::<Line>() as u64);
        let bytes = bytes.saturating_add(size_of::<Set>() as u64);
        let bytes = bytes.min(budget - stretches.bytes());
        Cache {
            stretches,
            sets: Zeroed::new(bytes / size_of::<Set>() as u64),
            counts: (0..=OWN_COUNTS).map(|_| Counts::default()).collect(),
            lines: AtomicU64::new(0),
        }
    }

    /// The result of a position, if its whole stretch has it.
    #[inline(always)]
    pub fn result(&self, position: u64) -> Option<Wdl> {
        let found = self.stretches.get(position)?;
        self.count(|counts| &counts.hits);
        Some(found)
    }

    /// Keeps the results of a block that begins with a position and a line.
    pub fn insert_results(&self, first: u64, line: LineKey, codes: &Codes) {
        if self.sets.is_empty() {
            return;
        }
        self.stretches.insert(first, codes);
        let lines = codes.bytes().chunks(LINE_RESULTS as usize / 4);
        let each = (first..).step_by(LINE_RESULTS as usize).zip(line.0..);
        for ((first, line), bytes) in each.zip(lines) {
            if !self.stretches.tell(first, bytes) {
                self.insert_bytes(LineKey(line), bytes);
            }
        }
    }

    /// A word of a line, if the line is there.
    #[inline]
    pub fn get(&self, key: LineKey, word: usize) -> Option<u64> {
        let found = self.find(key, word);
        self.count(|counts| match found {
            Some(_) => &counts.hits,
            None => &counts.misses,
        });
        found
    }

    #[inline(always)]
    fn find(&self, key: LineKey, word: usize) -> Option<u64> {
        let (set, first) = self.set(key)?;
        (0..WAYS).find_map(|way| set.0[first ^ way].read(key, word))
    }

    /// The set of a line, and the place in it where to look first.
    #[inline(always)]
    fn set(&self, key: LineKey) -> Option<(&Set, usize)> {
        let hash = key.0.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let number = (u128::from(hash) * self.sets.len() as u128) >> 64;
        let set = self.sets.get(number as usize)?;
        Some((set, (hash >> 8) as usize % WAYS))
    }

    /// Keeps a line if no other thread is at the same place.
    pub fn insert(&self, key: LineKey, words: &[u64; WORDS]) {
        let Some((set, first)) = self.set(key) else {
            return;
        };
        if set.place_for(key, first).write(key, words) == Some(0) {
            self.lines.fetch_add(1, Relaxed);
        }
    }

    /// Keeps a line given as bytes, of which there may be less than a whole line has.
    pub fn insert_bytes(&self, key: LineKey, bytes: &[u8]) {
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(eight);
        }
        self.insert(key, &words);
    }

    /// Counts a block that was decoded.
    pub fn count_decode(&self) {
        self.count(|counts| &counts.decodes);
    }

    /// Adds one to a count.
    #[inline(always)]
    fn count(&self, which: impl Fn(&Counts) -> &AtomicU64) {
        let number = thread_number().min(OWN_COUNTS);
        let count = which(&self.counts[number]);
        if number == OWN_COUNTS {
            count.fetch_add(1, Relaxed);
        } else {
            // Nobody else writes there, so nothing has to be locked.
            count.store(count.load(Relaxed) + 1, Relaxed);
        }
    }

    pub fn statistics(&self) -> CacheStatistics {
        let sum = |which: fn(&Counts) -> &AtomicU64| {
            self.counts
                .iter()
                .map(|counts| which(counts).load(Relaxed))
                .sum()
        };
        CacheStatistics {
            hits: sum(|counts| &counts.hits),
            misses: sum(|counts| &counts.misses),
            decodes: sum(|counts| &counts.decodes),
            bytes: self.lines.load(Relaxed) * size_of::<Line>() as u64 + self.stretches.used(),
            budget: match self.sets.is_empty() {
                // Without lines stretches are not kept either.
                true => 0,
                false => self.sets.bytes() + self.stretches.bytes(),
            },
        }
    }
}

impl Line {
    /// A word, if the line with this key is here whole.
    #[inline(always)]
    fn read(&self, key: LineKey, word: usize) -> Option<u64> {
        let version = self.version.load(Acquire);
        let marked = self.key.load(Relaxed);
        if marked & !ASKED != key.0 || version % 2 == 1 {
            return None;
        }
        let value = self.words[word].load(Relaxed);
        // What was read is read before the version is looked at again.
        fence(Acquire);
        if self.version.load(Relaxed) != version {
            return None;
        }
        if marked & ASKED == 0 {
            // Should another line have come in meanwhile it gets the mark: no harm.
            self.key.fetch_or(ASKED, Relaxed);
        }
        Some(value)
    }

    /// The key before, unless another thread is writing here or the line is here already.
    fn write(&self, key: LineKey, words: &[u64; WORDS]) -> Option<u64> {
        let version = self.version.load(Relaxed);
        if version % 2 == 1 || self.key.load(Relaxed) & !ASKED == key.0 {
            return None;
        }
        let begun = self
            .version
            .compare_exchange(version, version + 1, Acquire, Relaxed);
        begun.ok()?;
        // Nothing is written before the version says so.
        fence(Release);
        let before = self.key.swap(key.0, Relaxed);
        for (to, &word) in self.words.iter().zip(words) {
            to.store(word, Relaxed);
        }
        self.version.store(version + 2, Release);
        Some(before)
    }
}

impl Set {
    /// Where to put a line: where it is already, where nothing is, or in place of one that was not
    /// asked for.
    fn place_for(&self, key: LineKey, first: usize) -> &Line {
        let find = |wanted: &dyn Fn(u64) -> bool| {
            let mut places = (0..WAYS).map(|way| &self.0[first ^ way]);
            places.find(|line| wanted(line.key.load(Relaxed)))
        };
        find(&|marked| marked & !ASKED == key.0)
            .or_else(|| find(&|marked| marked == 0))
            .or_else(|| find(&|marked| marked & ASKED == 0))
            .unwrap_or_else(|| {
                for line in &self.0 {
                    line.key.fetch_and(!ASKED, Relaxed);
                }
                &self.0[first]
            })
    }
}

/// What some thread has counted.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
    decodes: AtomicU64,
}

/// Threads that count by themselves; those with higher numbers share one count.
const OWN_COUNTS: usize = 64;

/// The threads of the process, in the order of their first question.
#[inline(always)]
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
    }
    NUMBER.with(|number| {
        number.get().unwrap_or_else(|| {
            let next = NEXT.fetch_add(1, Relaxed);
            number.set(Some(next));
            next
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that tells from every word which one it is.
    fn line(key: u64) -> [u64; WORDS] {
        std::array::from_fn(|word| key << 8 | word as u64)
    }

    #[test]
    fn the_budget_is_kept_and_what_is_used_stays() {
        let cache = Cache::fitting(0, 1 << 30, 1 << 20);
        for key in 1..100_000 {
            cache.insert(LineKey(key), &line(key));
            assert!(
                cache.get(LineKey(7), 3).is_some() || key < 7,
                "asked for all the time"
            );
            let used = cache.statistics();
            assert!(used.bytes <= used.budget);
        }
        let used = cache.statistics();
        assert_eq!(used.hits + used.misses, 99_999);
        assert!(used.bytes > used.budget * 9 / 10);
        let mut kept = 0;
        for key in 1..100_000 {
            for word in 0..WORDS {
                if let Some(found) = cache.get(LineKey(key), word) {
                    assert_eq!(found, key << 8 | word as u64);
                    kept += 1;
                }
            }
        }
        let lines = used.bytes / size_of::<Line>() as u64;
        assert_eq!(kept, lines * WORDS as u64);
    }

    #[test]
    fn without_a_budget_nothing_is_kept() {
        let none = Cache::fitting(1 << 20, 1 << 20, 0);
        none.insert(LineKey(1), &line(1));
        assert_eq!(none.get(LineKey(1), 0), None);
        assert_eq!(none.statistics().budget, 0);
    }

    #[test]
    fn a_cache_that_the_system_does_not_give_has_no_budget() {
        let none = Cache::fitting(u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(none.statistics().budget, 0);
        none.insert(LineKey(1), &line(1));
        assert_eq!(none.get(LineKey(1), 0), None);
    }

    /// Lines come and go all the time, and no thread ever reads the word of another line.
    #[test]
    fn threads_read_whole_lines() {
        let cache = Cache::fitting(0, 1 << 30, 8 * size_of::<Set>() as u64);
        let threads = 4;
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let cache = &cache;
                scope.spawn(move || {
                    let mut state = thread + 1;
                    let mut found = 0;
                    for _ in 0..300_000 {
                        state = 6_364_136_223_846_793_005u64
                            .wrapping_mul(state)
                            .wrapping_add(1);
                        let key = (state >> 33) % 64 + 1;
                        let word = (state >> 50) as usize % WORDS;
                        match cache.get(LineKey(key), word) {
                            Some(value) => {
                                assert_eq!(value, key << 8 | word as u64);
                                found += 1;
                            }
                            None => cache.insert(LineKey(key), &line(key)),
                        }
                    }
                    assert!(found > 10_000, "the cache is of use");
                });
            }
        });
        let used = cache.statistics();
        assert_eq!(used.hits + used.misses, threads * 300_000);
    }
}
