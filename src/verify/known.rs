use std::collections::HashMap;
use std::sync::Arc;

use super::VerifyError;
use crate::board::{Board, ByColor, Color};
use crate::index::{Slice, SliceIndex};
use crate::probe::{SliceResults, Tablebase};
use crate::rules::{RuleSetId, Rules};
use crate::solve::plan::dependencies;
use crate::table::{Wdl, stored_sides};

/// Bytes of results kept for slices to come unless told otherwise.
const KEPT: u64 = 1 << 30;
/// What each thread has of the chunk it is at.
const PER_THREAD: u64 = 1 << 20;

/// The results of slices that were looked at, for those that come next.
#[derive(Debug)]
pub(super) struct Memory {
    /// The most bytes verification may use, none: as many as one slice takes, or [`KEPT`].
    limit: Option<u64>,
    known: HashMap<Slice, Arc<SliceResults>>,
}

impl Memory {
    pub fn new(limit: Option<u64>) -> Self {
        Memory {
            limit,
            known: HashMap::new(),
        }
    }

    /// The results of a slice and of those its moves lead to.
    pub fn around<R: Rules>(
        &mut self,
        tables: &Tablebase,
        slice: Slice,
    ) -> Result<Known<R>, VerifyError> {
        let mut slices = dependencies(&R::SET, slice);
        slices.insert(0, slice);
        self.make_room::<R>(tables, &slices)?;
        let mut near = Vec::new();
        for slice in slices {
            let results = match self.known.get(&slice) {
                Some(results) => results.clone(),
                None => {
                    let results = Arc::new(SliceResults::read::<R>(tables, slice)?);
                    self.known.insert(slice, results.clone());
                    results
                }
            };
            let index = SliceIndex::new(slice);
            near.push(Near {
                slice,
                index,
                results,
            });
        }
        Ok(Known { near })
    }

    /// Forgets results that are not needed now if all together would take too much.
    ///
    /// # Errors
    /// If those that are needed, the first being the slice to verify, take too much themselves.
    fn make_room<R: Rules>(
        &mut self,
        tables: &Tablebase,
        needed: &[Slice],
    ) -> Result<(), VerifyError> {
        let results = |slice: &Slice| SliceResults::bytes(R::ID, *slice);
        let slice = needed[0];
        let cache = tables.cache_statistics().budget;
        let least = cache + least_bytes(R::ID, slice);
        let kept = least - needed.iter().map(results).sum::<u64>() + KEPT;
        let allowed = self.limit.unwrap_or(least.max(kept));
        if least > allowed {
            return Err(VerifyError::Memory {
                slice,
                needed: least,
                allowed,
            });
        }
        let others = self.known.keys().filter(|slice| !needed.contains(slice));
        if least + others.map(results).sum::<u64>() > allowed {
            self.known.retain(|slice, _| needed.contains(slice));
        }
        Ok(())
    }
}

/// The bytes that verifying a slice takes at least, the prober's cache aside: its results and those
/// of the slices it leads to, and for each position and side to move whether it is grounded.
pub fn least_bytes(rule_set: RuleSetId, slice: Slice) -> u64 {
    let rules = rule_set.rules();
    let slices = dependencies(rules, slice).into_iter().chain([slice]);
    let results = slices.map(|slice| SliceResults::bytes(rule_set, slice));
    let grounded = 2 * slice.positions(rules.geometry).div_ceil(8);
    results.sum::<u64>() + grounded + rayon::current_num_threads() as u64 * PER_THREAD
}

/// The results of one slice, which is the first, and of those its moves lead to.
pub(super) struct Known<R: Rules> {
    near: Vec<Near<R>>,
}

struct Near<R: Rules> {
    slice: Slice,
    index: SliceIndex<R::Geometry>,
    results: Arc<SliceResults>,
}

/// A result with the stored side to move and number of its position, if that is of the slice.
pub(super) struct Found {
    pub result: Wdl,
    pub here: Option<(Color, u64)>,
}

impl<R: Rules> Known<R> {
    /// The result of a position of the slice with a side to move that is stored.
    #[inline]
    pub fn here(&self, side: Color, position: u64) -> Wdl {
        self.near[0].results.get(side, position)
    }

    /// The result of a position that a move of the slice leads to; none if it is not among those
    /// that are known. `stays` tells that all pieces are still what they were.
    #[inline]
    pub fn get(&self, board: &Board<R::Geometry>, stays: bool) -> Option<Found> {
        if stays {
            let near = &self.near[0];
            let (side, number) = near.place(board, true);
            return Some(Found {
                result: near.results.get(side, number),
                here: Some((side, number)),
            });
        }
        let arrived = !R::SET.has_kings() && board.kings != ByColor::default();
        let slice = Slice::of(board).filter(|slice| slice.is_contested() && !arrived)?;
        let canonical = slice.is_canonical();
        let filed = if canonical { slice } else { slice.flipped() };
        let near = self.near.iter().find(|near| near.slice == filed)?;
        let (side, number) = near.place(board, canonical);
        Some(Found {
            result: near.results.get(side, number),
            here: (filed == self.near[0].slice).then_some((side, number)),
        })
    }
}

impl<R: Rules> Near<R> {
    /// The stored side to move and number of a position in this orientation or the other.
    #[inline]
    fn place(&self, board: &Board<R::Geometry>, canonical: bool) -> (Color, u64) {
        let as_filed = canonical && stored_sides(self.slice).contains(&board.side);
        let board = if as_filed { *board } else { board.flipped() };
        (board.side, self.index.rank(&board))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::English;

    /// The tables that are shipped with the crate.
    fn shipped() -> Tablebase {
        Tablebase::with_cache(&[concat!(env!("CARGO_MANIFEST_DIR"), "/tables")], 1 << 16)
    }

    fn names(memory: &Memory) -> Vec<String> {
        let mut names: Vec<String> = memory.known.keys().map(Slice::to_string).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_not_needed_goes_where_room_is_short() {
        let tables = shipped();
        let around = |memory: &mut Memory, slice: &str| {
            let known = memory.around::<English>(&tables, slice.parse().unwrap());
            known.map(|known| known.near.len())
        };
        let mut ample = Memory::new(None);
        assert_eq!(around(&mut ample, "KMvK").unwrap(), 4);
        let first = ample.known[&"KvK".parse().unwrap()].clone();
        assert_eq!(around(&mut ample, "KKvK").unwrap(), 2);
        assert_eq!(around(&mut ample, "MMvM").unwrap(), 5);
        assert_eq!(names(&ample).len(), 8);
        let kept = &ample.known[&"KvK".parse().unwrap()];
        assert!(Arc::ptr_eq(&first, kept), "it is not read again");

        let Err(VerifyError::Memory { needed, .. }) = around(&mut Memory::new(Some(0)), "KMvK")
        else {
            panic!("nothing cannot do");
        };
        let mut tight = Memory::new(Some(needed));
        around(&mut tight, "KKvK").unwrap();
        assert_eq!(names(&tight), ["KKvK", "KvK"]);
        around(&mut tight, "KMvK").unwrap();
        around(&mut tight, "MMvM").unwrap();
        let expected = names(&tight);
        assert!(!expected.contains(&"KKvK".to_owned()), "{expected:?}");
        assert_eq!(expected.len(), 5);
    }
}
