use super::SolveError;
use super::block::BlockSolver;
#[cfg(target_arch = "x86_64")]
use super::cpu::Avx2;
use super::cpu::{Cpu, Portable};
use super::distances::DtcDistances;
use super::levels::{Crew, levels};
use super::plan;
use super::planes::{PlaneSlice, PlaneWord};
use super::progress::Progress;
use super::store::Store;
use crate::board::Geometry;
use crate::rules::Rules;

/// Solves a slice whose successors, and which itself, are in the store. Fills in distances to
/// conversion if asked for. `progress` is told of positions done, from any thread.
///
/// # Errors
/// If a slice is missing from the store, or the distances are those of another slice.
pub fn solve<R: Rules<Geometry: Geometry<Word: PlaneWord>>>(
    store: &Store<R::Geometry>,
    slice: &PlaneSlice<R::Geometry>,
    distances: Option<&mut DtcDistances<R::Geometry>>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), SolveError> {
    SolveError::if_missing::<R>(slice.slice(), |needed| store.contains(needed))?;
    // Nobody else reads or writes them as long as they are borrowed here.
    let distances = distances.map(|distances| &*distances);
    if let Some(other) = distances.map(|distances| distances.index().slice())
        && other != slice.slice()
    {
        return Err(SolveError {
            rule_set: R::ID,
            slice: slice.slice().canonical(),
            reason: format!("the distances to fill in are those of {other}"),
        });
    }
    let positions = plan::stored_positions(R::ID, slice.slice());
    let progress = Progress::new(progress, positions, slice.blocks().blocks());
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Avx2::detect() {
        solve_on::<R, _>(cpu, store, slice, distances, &progress);
        return Ok(());
    }
    solve_on::<R, _>(Portable, store, slice, distances, &progress);
    Ok(())
}

fn solve_on<R, C>(
    cpu: C,
    store: &Store<R::Geometry>,
    slice: &PlaneSlice<R::Geometry>,
    distances: Option<&DtcDistances<R::Geometry>>,
    progress: &Progress,
) where
    R: Rules<Geometry: Geometry<Word: PlaneWord>>,
    C: Cpu,
{
    let solver = || BlockSolver::<R, C>::new(cpu, store, slice);
    let crew = Crew::new(progress, slice.block_words(), solver);
    let levels = levels(slice);
    if let [level] = &levels[..]
        && let [block] = level[..]
    {
        // Nothing but the rows of the one block to share out.
        BlockSolver::<R, C>::new(cpu, store, slice).solve(block, distances, true);
        progress.add(1);
        return;
    }
    for level in &levels {
        if R::SET.has_lateral_moves() && distances.is_some() {
            // Distances to conversion need the final results of the whole level.
            crew.solve_level::<R>(slice, level, |solver, block| {
                solver.solve(block, None, false)
            });
            crew.solve_each(level, |solver, block| {
                solver.solve(block, distances, false);
            });
        } else {
            crew.solve_level::<R>(slice, level, |solver, block| {
                solver.solve(block, distances, false)
            });
        }
    }
}
