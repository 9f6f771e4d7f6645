use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64};

use fs4::FileExt;
use memmap2::{MmapMut, MmapRaw};

/// A fixed number of atomic cells shared between threads, all zero at first, in memory or in a
/// nameless file mapped into memory. Either way the system hands out a page when it is first
/// touched, already zero.
pub struct Cells<A> {
    map: MmapRaw,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    in_memory: bool,
    len: usize,
    cell: PhantomData<A>,
}

/// An atomic integer.
///
/// # Safety
/// Any bytes are a value, and an address that is a multiple of a page is aligned for it.
pub unsafe trait Cell: Sync {}
// SAFETY: an atomic integer is laid out like the integer.
unsafe impl Cell for AtomicU16 {}
// SAFETY: as for `AtomicU16`.
unsafe impl Cell for AtomicU8 {}
// SAFETY: as for `AtomicU16`.
unsafe impl Cell for AtomicU64 {}

impl<A: Cell> Cells<A> {
    /// # Errors
    /// If the system does not give the memory.
    pub fn new(len: usize) -> io::Result<Cells<A>> {
        let map = MmapMut::map_anon((len * size_of::<A>()).max(1))?;
        // Words are read all over the place. Without huge pages that is slower, nothing else.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Self::of(map, len, true))
    }

    /// So many cells in memory, in that of these if they are in memory, which the system need not
    /// give again. Any values may be in them.
    ///
    /// # Errors
    /// If the system does not give the memory.
    #[cfg_attr(not(target_os = "linux"), expect(unused_mut))]
    pub fn resized(mut self, len: usize) -> io::Result<Cells<A>> {
        #[cfg(target_os = "linux")]
        if self.in_memory {
            let bytes = (len * size_of::<A>()).max(1);
            let options = memmap2::RemapOptions::new().may_move(true);
            // SAFETY: nobody else has these cells, and there is no file that could end before them.
            unsafe { self.map.remap(bytes, options)? };
            self.len = len;
            return Ok(self);
        }
        drop(self);
        Cells::new(len)
    }

    /// # Errors
    /// If the file cannot be made, or the disk has no room for it.
    pub fn new_in(len: usize, directory: &Path) -> io::Result<Cells<A>> {
        let file = tempfile::tempfile_in(directory)?;
        let bytes = (len * size_of::<A>()).max(1) as u64;
        // Without blocks of its own a write to the map could find the disk full, and no error
        // could be returned from there.
        file.allocate(bytes)?;
        file.set_len(bytes)?;
        // SAFETY: the file has no name and no other handle, so nobody else changes or shortens it.
        let map = unsafe { MmapMut::map_mut(&file)? };
        Ok(Self::of(map, len, false))
    }

    fn of(map: MmapMut, len: usize, in_memory: bool) -> Cells<A> {
        Cells {
            map: map.into(),
            in_memory,
            len,
            cell: PhantomData,
        }
    }

    /// Has the processor fetch a cell, if there is such a cell: it will be written soon.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
    pub fn prefetch(&self, cell: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(cell) = self.all().get(cell) {
            use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            // SAFETY: this neither reads nor writes.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(std::ptr::from_ref(cell).cast()) };
        }
    }

    #[inline(always)]
    pub fn all(&self) -> &[A] {
        // SAFETY: the map lives as long as `self`, starts at a page and is long enough for `len`
        // cells, for which any bytes will do. It is only ever reached through this slice of
        // atomics.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn a_file_is_as_good_as_memory() {
        let directory = tempfile::tempdir().unwrap();
        for cells in [
            Cells::<AtomicU64>::new(1000).unwrap(),
            Cells::new_in(1000, directory.path()).unwrap(),
        ] {
            assert_eq!(cells.all().len(), 1000);
            assert!(cells.all().iter().all(|cell| cell.load(Relaxed) == 0));
            for (i, cell) in cells.all().iter().enumerate() {
                cell.store(i as u64, Relaxed);
            }
            // Whether there is such a cell or not, this changes none.
            for cell in [0, 999, 1000, usize::MAX] {
                cells.prefetch(cell);
            }
            assert!(
                cells
                    .all()
                    .iter()
                    .enumerate()
                    .all(|(i, c)| c.load(Relaxed) == i as u64)
            );
        }
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            0,
            "no file is left"
        );
        assert!(Cells::<AtomicU64>::new_in(10, &directory.path().join("missing")).is_err());
        assert!(
            Cells::<AtomicU64>::new_in(1 << 50, directory.path()).is_err(),
            "no disk is that large"
        );
    }

    #[test]
    fn resized_cells_can_be_used() {
        let mut cells = Cells::<AtomicU64>::new(1000).unwrap();
        for len in [1000, 10, 0, 5000, 4000, 1 << 20] {
            cells = cells.resized(len).unwrap();
            assert_eq!(cells.all().len(), len);
            for (i, cell) in cells.all().iter().enumerate() {
                cell.store(i as u64, Relaxed);
            }
            let mut numbered = cells.all().iter().enumerate();
            assert!(numbered.all(|(i, cell)| cell.load(Relaxed) == i as u64));
        }
        assert!(cells.resized(1 << 50).is_err());
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        assert!(Cells::<AtomicU64>::new(1 << 50).is_err());
    }
}
