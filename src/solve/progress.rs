use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Tells how many of the positions of a slice are done while its blocks are.
pub struct Progress<'p> {
    tell: &'p (dyn Fn(u64) + Sync),
    positions: u64,
    blocks: u64,
    done: AtomicU64,
}

impl<'p> Progress<'p> {
    /// `tell` is called with positions more that are done, `positions` in all after all `blocks`.
    pub fn new(tell: &'p (dyn Fn(u64) + Sync), positions: u64, blocks: u64) -> Self {
        Progress {
            tell,
            positions,
            blocks,
            done: AtomicU64::new(0),
        }
    }

    /// So many more blocks are done. Blocks that are solved again count for nothing.
    pub fn add(&self, blocks: u64) {
        let before = self.done.fetch_add(blocks, Relaxed);
        let positions = |done: u64| {
            let part = u128::from(self.positions) * u128::from(done.min(self.blocks));
            (part / u128::from(self.blocks.max(1))) as u64
        };
        let new = positions(before + blocks) - positions(before);
        if new > 0 {
            (self.tell)(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn all_positions_are_told_once() {
        let told = Mutex::new(Vec::new());
        let tell = |positions| told.lock().unwrap().push(positions);
        let progress = Progress::new(&tell, 1000, 7);
        for blocks in [1, 2, 0, 3, 1, 5, 7] {
            progress.add(blocks);
        }
        let told = told.into_inner().unwrap();
        assert_eq!(told, [142, 286, 429, 143]);
    }
}
