use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::board::Color;
use crate::table::Codes;

/// A decoded block.
#[derive(Debug)]
pub(super) enum Block {
    Results(Codes),
    /// Plies, zero where there is no distance.
    Distances(Vec<u16>),
}

impl Block {
    fn bytes(&self) -> u64 {
        let payload = match self {
            Block::Results(codes) => codes.bytes().len(),
            Block::Distances(plies) => 2 * plies.len(),
        };
        (payload + OVERHEAD) as u64
    }
}

/// Bytes the cache needs for a block besides what it holds, roughly.
const OVERHEAD: usize = 128;

/// Names a block: the number of a table, a side to move and the number of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BlockKey {
    pub table: u32,
    pub side: Color,
    pub block: u64,
}

/// What a cache of decoded blocks has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Blocks asked for and found.
    pub hits: u64,
    /// Blocks asked for and not found.
    pub misses: u64,
    /// Blocks that were decoded.
    pub decodes: u64,
    /// Bytes in use.
    pub bytes: u64,
    /// The most bytes to use.
    pub budget: u64,
}

/// Decoded blocks, shared between threads within a budget of bytes.
///
/// The cache is split by key into shards, each under its own lock, so that threads seldom meet. A
/// shard that is full drops blocks that were not asked for since it last went round them.
#[derive(Debug)]
pub(super) struct Cache {
    shards: Vec<Mutex<Shard>>,
    hits: AtomicU64,
    misses: AtomicU64,
    decodes: AtomicU64,
    budget: u64,
}

#[derive(Debug, Default)]
struct Shard {
    places: HashMap<BlockKey, usize, BuildHasherDefault<KeyHasher>>,
    /// In a ring.
    entries: Vec<Entry>,
    hand: usize,
    bytes: u64,
}

#[derive(Debug)]
struct Entry {
    key: BlockKey,
    block: Arc<Block>,
    /// Asked for since the hand last passed.
    asked: bool,
}

const SHARDS: usize = 32;

impl Cache {
    pub fn new(budget: u64) -> Self {
        Cache {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            decodes: AtomicU64::new(0),
            budget,
        }
    }

    #[inline]
    fn shard(&self, key: &BlockKey) -> std::sync::MutexGuard<'_, Shard> {
        let mut hasher = KeyHasher::default();
        std::hash::Hash::hash(key, &mut hasher);
        let shard = &self.shards[(hasher.finish() >> 32) as usize % SHARDS];
        // A shard is sound between any two statements that could panic.
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub fn get(&self, key: BlockKey) -> Option<Arc<Block>> {
        let mut shard = self.shard(&key);
        let found = shard.get(&key);
        drop(shard);
        let count = if found.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        count.fetch_add(1, Relaxed);
        found
    }

    /// Adds a block that was just decoded.
    pub fn insert(&self, key: BlockKey, block: Block) -> Arc<Block> {
        self.decodes.fetch_add(1, Relaxed);
        let block = Arc::new(block);
        self.shard(&key)
            .insert(key, block.clone(), self.budget / SHARDS as u64);
        block
    }

    pub fn statistics(&self) -> CacheStatistics {
        let bytes = |shard: &Mutex<Shard>| {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.bytes
        };
        CacheStatistics {
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            decodes: self.decodes.load(Relaxed),
            bytes: self.shards.iter().map(bytes).sum(),
            budget: self.budget,
        }
    }
}

impl Shard {
    #[inline]
    fn get(&mut self, key: &BlockKey) -> Option<Arc<Block>> {
        let entry = &mut self.entries[*self.places.get(key)?];
        entry.asked = true;
        Some(entry.block.clone())
    }

    fn insert(&mut self, key: BlockKey, block: Arc<Block>, budget: u64) {
        let bytes = block.bytes();
        // Another thread may have been faster; what cannot fit is not kept.
        if bytes > budget || self.places.contains_key(&key) {
            return;
        }
        while self.bytes + bytes > budget && !self.entries.is_empty() {
            self.hand %= self.entries.len();
            if std::mem::take(&mut self.entries[self.hand].asked) {
                self.hand += 1;
                continue;
            }
            let dropped = self.entries.swap_remove(self.hand);
            self.bytes -= dropped.block.bytes();
            self.places.remove(&dropped.key);
            if let Some(moved) = self.entries.get(self.hand) {
                self.places.insert(moved.key, self.hand);
            }
        }
        self.bytes += bytes;
        self.places.insert(key, self.entries.len());
        self.entries.push(Entry {
            key,
            block,
            asked: false,
        });
    }
}

/// Multiplies and mixes: keys are small numbers that nobody chooses to do harm.
#[derive(Debug, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(block: u64) -> BlockKey {
        BlockKey {
            table: 3,
            side: Color::Black,
            block,
        }
    }

    #[test]
    fn the_budget_is_kept_and_what_is_used_stays() {
        let cache = Cache::new(32 * 4096);
        for block in 0..10_000 {
            cache.insert(key(block), Block::Distances(vec![block as u16; 100]));
            assert!(
                cache.get(key(7)).is_some() || block < 7,
                "asked for all the time"
            );
            let used = cache.statistics();
            assert!(used.bytes <= used.budget);
        }
        let used = cache.statistics();
        assert_eq!(used.decodes, 10_000);
        assert_eq!(used.hits + used.misses, 10_000);
        assert!(used.bytes > used.budget / 2);
        let kept = (0..10_000).filter_map(|block| Some((block, cache.get(key(block))?)));
        for (block, found) in kept {
            assert!(matches!(&*found, Block::Distances(plies) if plies[0] == block as u16));
        }
        let none = Cache::new(0);
        none.insert(key(1), Block::Distances(vec![1]));
        assert!(none.get(key(1)).is_none());
    }
}
