use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memmap2::Mmap;

/// Bytes under one checksum.
pub(super) const PAGE: usize = 4096;
/// Bytes of a page's checksum.
pub(super) const CHECKSUM_LEN: usize = 4;

/// The checksums of the pages of some content, one after the other.
pub(super) fn checksums(content: &[u8]) -> Vec<u8> {
    let pages = content.chunks(PAGE);
    pages
        .flat_map(|page| crc32fast::hash(page).to_le_bytes())
        .collect()
}

/// The bytes of a table, on disk or in memory.
#[derive(Debug)]
pub(super) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    pub fn all(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// The content of a file behind its header. Nothing is handed out before the checksums of the
/// pages it lies on were compared, once each.
#[derive(Debug)]
pub(super) struct Pages {
    bytes: Bytes,
    content: Range<usize>,
    /// A bit for every page that was found whole.
    checked: Box<[AtomicU64]>,
}

/// Why bytes are not handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageFault {
    Outside,
    Checksum,
}

impl PageFault {
    pub const fn what(self) -> &'static str {
        match self {
            PageFault::Outside => "it points outside the file",
            PageFault::Checksum => "it has the wrong checksum",
        }
    }
}

impl Pages {
    /// The content of a file; its page checksums follow it. None if the file is not so long.
    pub fn new(bytes: Bytes, content: Range<u64>) -> Option<Pages> {
        let place = |at: u64| usize::try_from(at).ok();
        let content = place(content.start)?..place(content.end)?;
        let pages = content.len().div_ceil(PAGE);
        let end = content.end.checked_add(pages.checked_mul(CHECKSUM_LEN)?)?;
        if content.start > content.end || bytes.all().len() < end {
            return None;
        }
        Some(Pages {
            bytes,
            content,
            checked: (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
        })
    }

    /// Content that was just made and has no checksums yet.
    pub fn unchecked(bytes: Bytes) -> Pages {
        let content = 0..bytes.all().len();
        let pages = content.len().div_ceil(PAGE);
        Pages {
            bytes,
            content,
            checked: (0..pages.div_ceil(64))
                .map(|_| AtomicU64::new(u64::MAX))
                .collect(),
        }
    }

    pub fn len(&self) -> u64 {
        self.content.len() as u64
    }

    /// The checksums of all pages.
    pub fn checksums(&self) -> &[u8] {
        let len = self.content.len().div_ceil(PAGE) * CHECKSUM_LEN;
        &self.bytes.all()[self.content.end..self.content.end + len]
    }

    /// Bytes of the content, whose checksums are right.
    #[inline]
    pub fn get(&self, range: Range<u64>) -> Result<&[u8], PageFault> {
        if range.start > range.end || range.end > self.len() {
            return Err(PageFault::Outside);
        }
        let range = range.start as usize..range.end as usize;
        if !range.is_empty() {
            for page in range.start / PAGE..=(range.end - 1) / PAGE {
                self.check(page)?;
            }
        }
        let content = &self.bytes.all()[self.content.clone()];
        Ok(&content[range])
    }

    #[inline]
    fn check(&self, page: usize) -> Result<(), PageFault> {
        let (word, bit) = (&self.checked[page / 64], 1 << (page % 64));
        if word.load(Relaxed) & bit != 0 {
            return Ok(());
        }
        let content = &self.bytes.all()[self.content.clone()];
        let bytes = &content[page * PAGE..content.len().min((page + 1) * PAGE)];
        let expected = &self.checksums()[page * CHECKSUM_LEN..][..CHECKSUM_LEN];
        if crc32fast::hash(bytes).to_le_bytes() != expected {
            return Err(PageFault::Checksum);
        }
        word.fetch_or(bit, Relaxed);
        Ok(())
    }

    /// Compares all checksums anew; the number of the first wrong page.
    pub fn check_all(&self) -> Result<(), u64> {
        for word in &self.checked {
            word.store(0, Relaxed);
        }
        let pages = self.content.len().div_ceil(PAGE);
        match (0..pages).find(|&page| self.check(page).is_err()) {
            Some(page) => Err(page as u64),
            None => Ok(()),
        }
    }

    /// Every byte of the file.
    pub fn file(&self) -> &[u8] {
        self.bytes.all()
    }
}
