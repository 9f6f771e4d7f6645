//! One binary for every processor: hot code is compiled once for each instruction set worth
//! having, and run through a value that proves the processor has it.

use std::sync::atomic::AtomicU8;

use crate::board::Word;

/// A piece of work that is inlined into a function compiled for some instruction set. Whatever it
/// calls must be `#[inline(always)]` to be compiled for it too.
pub trait Task {
    type Output;
    fn run(self) -> Self::Output;
}

/// An instruction set.
pub trait Cpu: Copy + Send + Sync + 'static {
    fn run<T: Task>(self, task: T) -> T::Output;
}

/// What every processor of the target has.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Cpu for Portable {
    #[inline]
    fn run<T: Task>(self, task: T) -> T::Output {
        #[inline(never)]
        fn compiled<T: Task>(task: T) -> T::Output {
            task.run()
        }
        compiled(task)
    }
}

/// AVX2 and the bit instructions: x86-64-v3.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// The proof that this processor has the instructions, if it has.
    pub fn detect() -> Option<Self> {
        use std::is_x86_feature_detected as has;
        let all = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
        (all && !is_portable_forced()).then_some(Avx2(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Cpu for Avx2 {
    #[inline]
    fn run<T: Task>(self, task: T) -> T::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn compiled<T: Task>(task: T) -> T::Output {
            task.run()
        }
        // SAFETY: `self` can only come from `detect`, which found all these features.
        unsafe { compiled(task) }
    }
}

/// AVX-512 with lanes of a byte, used where it gains much.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

/// Other processors do not have it.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy, Debug)]
pub enum Avx512 {}

#[cfg(not(target_arch = "x86_64"))]
impl Avx512 {
    pub fn detect() -> Option<Self> {
        None
    }

    /// # Safety
    /// None is needed: there is no such value.
    pub unsafe fn fill<W: Word>(self, _: &[AtomicU8], _: W, _: (W, W), _: u8) {
        match self {}
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// The proof that this processor has the instructions, if it has.
    pub fn detect() -> Option<Self> {
        use std::is_x86_feature_detected as has;
        let all = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("bmi2");
        (all && !is_portable_forced()).then_some(Avx512(()))
    }

    /// Sets the cells of squares of `written`, which are squares of `free`: to a value for those in
    /// `squares`, to zero for the others. There is a cell for each square of `free`, in their order.
    ///
    /// # Safety
    /// These are plain stores: no other thread may use the cells of `written` meanwhile.
    ///
    /// # Panics
    /// If there are less cells than squares of `free`.
    #[inline(always)]
    pub unsafe fn fill<W: Word>(
        self,
        cells: &[AtomicU8],
        free: W,
        (written, squares): (W, W),
        value: u8,
    ) {
        assert!(cells.len() >= free.count_ones() as usize);
        let first = cells.as_ptr().cast_mut().cast::<i8>();
        let value = value.cast_signed();
        let sets = [free, written, squares].map(W::to_u128);
        // SAFETY: `self` can only come from `detect`, which found all these features. From `first`
        // on there are cells for all squares of `free`, a cell can be written through a shared
        // reference, and the caller promises that no other thread uses it.
        unsafe {
            if W::BITS <= 32 {
                fill_32(first, sets.map(|set| set as u32), value);
                return;
            }
            let low = sets.map(|set| set as u64);
            fill_64(first, low, value);
            if W::BITS > 64 {
                let first = first.add(low[0].count_ones() as usize);
                fill_64(first, sets.map(|set| (set >> 64) as u64), value);
            }
        }
    }
}

/// # Safety
/// From `first` on there are as many values as squares in `free`, all of which may be written and
/// none of which is used by another thread meanwhile if it belongs to one of `written`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn fill_32(first: *mut i8, [free, written, squares]: [u32; 3], value: i8) {
    use std::arch::x86_64::{_mm256_mask_storeu_epi8, _mm256_maskz_set1_epi8, _pext_u32};
    let values = _mm256_maskz_set1_epi8(_pext_u32(squares, free), value);
    // SAFETY: what the mask leaves out is not touched, and its bits are numbers of squares of
    // `free` among themselves, so each is that of a value.
    unsafe { _mm256_mask_storeu_epi8(first, _pext_u32(written, free), values) };
}

/// # Safety
/// As [`fill_32`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
unsafe fn fill_64(first: *mut i8, [free, written, squares]: [u64; 3], value: i8) {
    use std::arch::x86_64::{_mm512_mask_storeu_epi8, _mm512_maskz_set1_epi8, _pext_u64};
    let values = _mm512_maskz_set1_epi8(_pext_u64(squares, free), value);
    // SAFETY: as in `fill_32`.
    unsafe { _mm512_mask_storeu_epi8(first, _pext_u64(written, free), values) };
}

/// The environment variable that, set to `portable`, keeps to what every processor has: to test
/// that path, and to find out whether it differs.
#[cfg(target_arch = "x86_64")]
pub const CPU_VARIABLE: &str = "CROWNHEAD_CPU";

#[cfg(target_arch = "x86_64")]
fn is_portable_forced() -> bool {
    std::env::var_os(CPU_VARIABLE).is_some_and(|value| value == "portable")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::board::Geometry;

    /// Compared with one cell after the other, the last place and none at all included.
    fn fills_like_a_loop<W: Word>(board: u128) {
        let Some(cpu) = Avx512::detect() else {
            eprintln!("not tested: this processor has no AVX-512");
            return;
        };
        let mut state = 1u128;
        let mut random = || {
            state = state
                .wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645)
                .wrapping_add(1);
            state ^ state >> 64
        };
        for round in 0..2000 {
            let free = W::from_u128(board & (random() | random()));
            let mut some = || W::from_u128(if round == 0 { u128::MAX } else { random() }) & free;
            let (written, squares) = (some(), some());
            let len = free.count_ones() as usize;
            let cells: Vec<AtomicU8> = (1..=len as u8).map(AtomicU8::new).collect();
            // SAFETY: no other thread knows these cells.
            unsafe { cpu.fill(&cells, free, (written, squares), 0xAB) };
            for (i, square) in free.bits().enumerate() {
                let expected = if (square & written).is_empty() {
                    i as u8 + 1
                } else if (square & squares).any() {
                    0xAB
                } else {
                    0
                };
                assert_eq!(cells[i].load(Relaxed), expected);
            }
        }
    }

    #[test]
    fn masked_stores_fill_the_right_cells() {
        fills_like_a_loop::<u32>(u128::MAX);
        fills_like_a_loop::<u64>(u128::MAX);
        fills_like_a_loop::<u64>(crate::board::Board10x10::BOARD.into());
        fills_like_a_loop::<u128>(crate::board::Board12x12::BOARD);
    }
}
