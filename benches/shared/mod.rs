//! What the benches of tables share.

use std::path::PathBuf;

/// The directories of tables named on the command line; none if there are none, as when `cargo
/// bench` runs every bench: nothing to measure is no failure.
pub fn directories(bench: &str) -> Option<Vec<PathBuf>> {
    let arguments = std::env::args().skip(1);
    let named = arguments.filter(|argument| argument != "--bench" && argument != "--test");
    let directories: Vec<PathBuf> = named.map(PathBuf::from).collect();
    if directories.is_empty() {
        eprintln!("usage: {bench} DIR ...");
        return None;
    }
    Some(directories)
}

/// Numbers that look random, the same in every run.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((u128::from(self.0 ^ (self.0 >> 31)) * u128::from(limit.max(1))) >> 64) as u64
    }
}
