//! How the distances of a slice with one side to move are kept.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, Ordering::Relaxed};

use crate::board::Word;
use crate::solve::cells::Cells;
use crate::solve::cpu::Avx512;

/// Distances by number of position.
pub trait Plies: Sized + Sync {
    /// All zero.
    ///
    /// # Errors
    /// If the system does not give the memory.
    fn zeros(positions: usize) -> io::Result<Self>;

    fn get(&self, number: usize) -> u16;
}

/// Two bytes for each, of which any may be changed by any thread.
pub struct Wide(Cells<AtomicU16>);

impl Wide {
    #[inline(always)]
    pub fn set(&self, number: usize, plies: u16) {
        self.0.all()[number].store(plies, Relaxed);
    }

    pub fn fill(&self, plies: u16) {
        for cell in self.0.all() {
            cell.store(plies, Relaxed);
        }
    }
}

impl Plies for Wide {
    fn zeros(positions: usize) -> io::Result<Self> {
        Ok(Wide(Cells::new(positions)?))
    }

    #[inline(always)]
    fn get(&self, number: usize) -> u16 {
        self.0.all()[number].load(Relaxed)
    }
}

/// A byte for each, and another that is not touched before a distance needs it: hardly any does,
/// and memory that is not touched costs nothing.
pub struct Narrow {
    low: Cells<AtomicU8>,
    high: Cells<AtomicU8>,
    /// Something is in `high`.
    has_high: AtomicBool,
    avx512: Option<Avx512>,
}

impl Narrow {
    /// In the memory of distances that are needed no longer; each run is to be [started
    /// anew](Narrow::start).
    ///
    /// # Errors
    /// If the system does not give the memory.
    pub fn renewed(self, positions: usize) -> io::Result<Self> {
        Ok(Narrow {
            low: self.low.resized(positions)?,
            high: Cells::new(positions)?,
            has_high: AtomicBool::new(false),
            avx512: self.avx512,
        })
    }

    /// Has the processor fetch the place of a distance.
    #[inline(always)]
    pub fn prefetch(&self, number: usize) {
        self.low.prefetch(number);
    }

    /// Sets all distances of a run, whatever they were: those of some squares to one, the others to
    /// zero. It is the first thing that is done to them. The run has a position for each square of
    /// `run`, of which the lowest is that of number `first`.
    ///
    /// # Safety
    /// No other thread may use these distances meanwhile.
    ///
    /// # Panics
    /// If there are not that many distances.
    #[inline(always)]
    pub unsafe fn start<W: Word>(&self, first: usize, run: W, squares: W) {
        // SAFETY: as the caller promises.
        unsafe { self.fill_bytes(&self.low, first, run, (run, squares), 1) };
    }

    /// Sets the distances of some squares of a run, which were zero or already these. The run has
    /// a position for each square of `run`, of which the lowest is that of number `first`.
    ///
    /// # Safety
    /// No other thread may use the distances of these squares meanwhile.
    ///
    /// # Panics
    /// If there are not that many distances.
    #[inline(always)]
    pub unsafe fn fill<W: Word>(&self, first: usize, run: W, squares: W, plies: u16) {
        let [low, high] = plies.to_le_bytes();
        // SAFETY: as the caller promises.
        unsafe { self.fill_bytes(&self.low, first, run, (squares, squares), low) };
        if high != 0 {
            self.has_high.store(true, Relaxed);
            // SAFETY: as the caller promises.
            unsafe { self.fill_bytes(&self.high, first, run, (squares, squares), high) };
        }
    }

    /// Sets the bytes of squares of `written`, all of the run or `squares`: to a value for those in
    /// `squares`, to zero for the others.
    ///
    /// # Safety
    /// As [`Narrow::fill`], for `written`.
    #[inline(always)]
    unsafe fn fill_bytes<W: Word>(
        &self,
        bytes: &Cells<AtomicU8>,
        first: usize,
        run: W,
        (written, squares): (W, W),
        value: u8,
    ) {
        let bytes = &bytes.all()[first..][..run.count_ones() as usize];
        if let Some(cpu) = self.avx512 {
            // SAFETY: as the caller promises.
            return unsafe { cpu.fill(bytes, run, (written, squares), value) };
        }
        if written == run {
            for (byte, square) in bytes.iter().zip(run.bits()) {
                let value = if (square & squares).any() { value } else { 0 };
                byte.store(value, Relaxed);
            }
            return;
        }
        for square in squares.bits() {
            let below = run & square.wrapping_sub(W::ONE);
            bytes[below.count_ones() as usize].store(value, Relaxed);
        }
    }
}

impl Plies for Narrow {
    fn zeros(positions: usize) -> io::Result<Self> {
        Ok(Narrow {
            low: Cells::new(positions)?,
            high: Cells::new(positions)?,
            has_high: AtomicBool::new(false),
            avx512: Avx512::detect(),
        })
    }

    #[inline(always)]
    fn get(&self, number: usize) -> u16 {
        let low = self.low.all()[number].load(Relaxed);
        let high = match self.has_high.load(Relaxed) {
            true => self.high.all()[number].load(Relaxed),
            false => 0,
        };
        u16::from_le_bytes([low, high])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_two_bytes_are_kept() {
        let plies = Narrow::zeros(100).unwrap();
        let run = 0b1011_0111u32;
        for (square, distance) in [(1u32, 3), (1 << 2, 255), (1 << 4, 256), (1 << 7, 0x1234)] {
            // SAFETY: there is no other thread.
            unsafe { plies.fill(90, run, square, distance) };
        }
        let all: Vec<u16> = (90..96).map(|number| plies.get(number)).collect();
        assert_eq!(all, [3, 0, 255, 256, 0, 0x1234]);
        let plies = plies.renewed(200).unwrap().renewed(150).unwrap();
        // SAFETY: as above.
        unsafe { plies.start(90, run, 1 << 4) };
        let all: Vec<u16> = (90..96).map(|number| plies.get(number)).collect();
        assert_eq!(all, [0, 0, 0, 1, 0, 0]);
    }
}
