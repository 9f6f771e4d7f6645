use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapMut, MmapRaw};

/// Many `T` that are zeros at first. The system backs them with memory as they are touched, in
/// huge pages where it has them.
#[derive(Debug)]
pub(super) struct Zeroed<T> {
    map: Option<MmapRaw>,
    len: usize,
    of: PhantomData<T>,
}

/// What may be made by writing zeros, changes only through atomics, and needs no drop.
///
/// # Safety
/// All of these must be so, and the alignment no larger than a page.
pub(super) unsafe trait FromZeros: Send + Sync {}

// SAFETY: zero is a number, and an atomic one changes atomically.
unsafe impl FromZeros for AtomicU64 {}

impl<T: FromZeros> Zeroed<T> {
    /// None at all if the system does not give the memory.
    pub fn new(len: u64) -> Self {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let bytes = len.checked_mul(size_of::<T>()).filter(|&n| n > 0);
        let map = bytes.and_then(|n| MmapMut::map_anon(n).ok());
        #[cfg(target_os = "linux")]
        if let Some(map) = &map {
            // Without huge pages it is slower, that is all.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Zeroed {
            len: if map.is_some() { len } else { 0 },
            map: map.map(MmapRaw::from),
            of: PhantomData,
        }
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }
}

impl<T: FromZeros> Deref for Zeroed<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.map {
            // SAFETY: the map has `len` times the bytes of a `T`, begins on a page, and was zeros
            // when it was made, which `T` may be. It is accessed through such shared references
            // alone, as long as `self` lives.
            Some(map) => unsafe { std::slice::from_raw_parts(map.as_ptr().cast(), self.len) },
            None => &[],
        }
    }
}
