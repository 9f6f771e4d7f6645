use std::collections::HashMap;
use std::sync::Arc;

use crate::board::{Board, ByColor, Color};
use crate::index::{Slice, SliceIndex};
use crate::parallel;
use crate::probe::{ProbeError, Tablebase};
use crate::rules::Rules;
use crate::solve::plan::dependencies;
use crate::table::{Codes, HASH_CHUNK, Wdl, stored_sides};

/// Bytes of results kept although no move leads to them from the slice at hand.
const KEPT: u64 = 1 << 30;

/// All results of one slice, in chunks, each asked of the prober once; nothing of a side to move
/// that is not stored.
type Results = Arc<ByColor<Vec<Codes>>>;

/// The results of slices that were looked at, for those that come next.
#[derive(Debug, Default)]
pub(super) struct Memory(HashMap<Slice, Results>);

impl Memory {
    /// The results of a slice and of those its moves lead to.
    pub fn around<R: Rules>(
        &mut self,
        tables: &Tablebase,
        slice: Slice,
    ) -> Result<Known<R>, ProbeError> {
        let mut slices = dependencies(&R::SET, slice);
        slices.insert(0, slice);
        self.make_room(&slices);
        let mut near = Vec::new();
        for slice in slices {
            let results = match self.0.get(&slice) {
                Some(results) => results.clone(),
                None => {
                    let results = Arc::new(read::<R>(tables, slice)?);
                    self.0.insert(slice, results.clone());
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

    fn make_room(&mut self, needed: &[Slice]) {
        let bytes = |results: &Results| -> u64 {
            let chunks = results.0.iter().flatten();
            chunks.map(|codes| codes.bytes().len() as u64).sum()
        };
        if self.0.values().map(bytes).sum::<u64>() > KEPT {
            self.0.retain(|slice, _| needed.contains(slice));
        }
    }
}

fn read<R: Rules>(tables: &Tablebase, slice: Slice) -> Result<ByColor<Vec<Codes>>, ProbeError> {
    let positions = slice.positions(R::SET.geometry);
    let mut results = ByColor::default();
    for &side in stored_sides(slice) {
        let chunks = parallel::map(positions.div_ceil(HASH_CHUNK), &|chunk| {
            let first = chunk * HASH_CHUNK;
            let mut values = vec![Wdl::Draw; (positions - first).min(HASH_CHUNK) as usize];
            tables.results_of::<R>(slice, side, first, &mut values)?;
            let mut codes = Codes::default();
            codes.reset(values.len());
            for (place, &value) in values.iter().enumerate() {
                codes.set(place, value as u8);
            }
            Ok(codes)
        });
        results[side] = chunks.into_iter().collect::<Result<_, ProbeError>>()?;
    }
    Ok(results)
}

/// The results of one slice, which is the first, and of those its moves lead to.
pub(super) struct Known<R: Rules> {
    near: Vec<Near<R>>,
}

struct Near<R: Rules> {
    slice: Slice,
    index: SliceIndex<R::Geometry>,
    results: Results,
}

/// A result with the stored side to move and number of its position, if that is of the slice.
pub(super) struct Found {
    pub result: Wdl,
    pub here: Option<(Color, u64)>,
}

impl<R: Rules> Known<R> {
    /// The results of the slice, in chunks of [`HASH_CHUNK`].
    pub fn chunk(&self, side: Color, chunk: u64) -> &Codes {
        &self.near[0].results[side][chunk as usize]
    }

    /// The result of a position that a move of the slice leads to; none if it is not among those
    /// that are known.
    pub fn get(&self, board: &Board<R::Geometry>) -> Option<Found> {
        let arrived = !R::SET.has_kings() && board.kings != ByColor::default();
        let slice = Slice::of(board).filter(|slice| slice.is_contested() && !arrived)?;
        let canonical = slice.is_canonical();
        let filed = if canonical { slice } else { slice.flipped() };
        let place = self.near.iter().position(|near| near.slice == filed)?;
        let near = &self.near[place];
        let as_filed = canonical && stored_sides(filed).contains(&board.side);
        let board = if as_filed { *board } else { board.flipped() };
        let number = near.index.rank(&board);
        let codes = &near.results[board.side][(number / HASH_CHUNK) as usize];
        let result = Wdl::of(codes.get((number % HASH_CHUNK) as usize).into())?;
        let here = (place == 0).then_some((board.side, number));
        Some(Found { result, here })
    }
}
