use std::io;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use fs4::FileExt;
use memmap2::MmapMut;

/// A fixed number of cells shared between threads, all zero at first, in memory or in a nameless
/// file mapped into memory.
pub struct Cells {
    first: NonNull<AtomicU64>,
    len: usize,
    _owner: Owner,
}

/// What keeps the cells alive.
enum Owner {
    Memory { _cells: Box<[AtomicU64]> },
    File { _map: MmapMut },
}

impl Cells {
    pub fn new(len: usize) -> Cells {
        let cells: Box<[AtomicU64]> = (0..len).map(|_| AtomicU64::new(0)).collect();
        let first = NonNull::from(&*cells).cast();
        Cells {
            first,
            len,
            _owner: Owner::Memory { _cells: cells },
        }
    }

    /// # Errors
    /// If the file cannot be made, or the disk has no room for it.
    pub fn new_in(len: usize, directory: &Path) -> io::Result<Cells> {
        let file = tempfile::tempfile_in(directory)?;
        let bytes = (len * size_of::<AtomicU64>()).max(1) as u64;
        // Without blocks of its own a write to the map could find the disk full, and no error
        // could be returned from there.
        file.allocate(bytes)?;
        file.set_len(bytes)?;
        // SAFETY: the file has no name and no other handle, so nobody else changes or shortens it.
        let mut map = unsafe { MmapMut::map_mut(&file)? };
        let first = NonNull::new(map.as_mut_ptr().cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Cells {
            first,
            len,
            _owner: Owner::File { _map: map },
        })
    }

    #[inline(always)]
    pub fn all(&self) -> &[AtomicU64] {
        // SAFETY: `first` points to `len` cells that the owner keeps where they are while `self`
        // lives: a box, or a map, which starts at a page and is long enough; the bytes of a new
        // file are zero. They are only ever reached through this slice of atomics.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

// SAFETY: the cells are atomics, owned by this value, and may be used from any thread.
unsafe impl Send for Cells {}
// SAFETY: as for `Send`; shared access is access to atomics.
unsafe impl Sync for Cells {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn a_file_is_as_good_as_memory() {
        let directory = tempfile::tempdir().unwrap();
        for cells in [
            Cells::new(1000),
            Cells::new_in(1000, directory.path()).unwrap(),
        ] {
            assert_eq!(cells.all().len(), 1000);
            assert!(cells.all().iter().all(|cell| cell.load(Relaxed) == 0));
            for (i, cell) in cells.all().iter().enumerate() {
                cell.store(i as u64, Relaxed);
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
        assert!(Cells::new_in(10, &directory.path().join("missing")).is_err());
        assert!(
            Cells::new_in(1 << 50, directory.path()).is_err(),
            "no disk is that large"
        );
    }
}
