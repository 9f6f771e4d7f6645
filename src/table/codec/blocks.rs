//! Compressed blocks of varying length, found by their number.
//!
//! Sixty-four blocks make a superblock: the smallest of their lengths (u16), the bits in which the
//! rest of each length is written (u8), these rests bit by bit, then the blocks. The index has the
//! place of each superblock in five bytes. Finding a block so costs the two or three pages the
//! block is on anyway, and about seven bits a block.

use std::ops::Range;

use rayon::prelude::*;

use crate::parallel::PerThread;
use crate::table::TableError;
use crate::table::pages::{PageFault, Pages};
use crate::table::spool::Spool;

/// Blocks of a superblock.
const GROUP: u64 = 64;
/// Bytes of an index entry.
const ENTRY: u64 = 5;
/// Bytes before the lengths of a superblock.
const HEAD: u64 = 3;

/// Superblocks made at once by each thread, before they are written.
const WINDOW: u64 = 4;

/// Packs blocks made in parallel into a spool and returns their index; `encode` appends a block of
/// at most 65535 bytes, with a tool of the thread that `tool` makes.
pub(super) fn pack<T: Send>(
    blocks: u64,
    spool: &mut Spool,
    tool: impl Fn() -> T + Sync + Send,
    encode: impl Fn(&mut T, u64, &mut Vec<u8>) + Sync + Send,
) -> Result<Vec<u8>, TableError> {
    let tools = PerThread::new(tool);
    let start = spool.len();
    let mut index = Vec::new();
    let window = WINDOW * rayon::current_num_threads() as u64 * GROUP;
    for first in (0..blocks).step_by(window as usize) {
        let packed: Vec<Vec<u8>> = (first..blocks.min(first + window))
            .into_par_iter()
            .map(|block| {
                let mut data = Vec::new();
                tools.with(|tool| encode(tool, block, &mut data));
                data
            })
            .collect();
        for group in packed.chunks(GROUP as usize) {
            let at = (spool.len() - start).to_le_bytes();
            index.extend_from_slice(&at[..ENTRY as usize]);
            let lengths: Vec<u16> = group.iter().map(|block| block.len() as u16).collect();
            spool.write(&head(&lengths))?;
            spool.write(&group.concat())?;
        }
    }
    Ok(index)
}

/// Bytes of what is packed and not yet written, of blocks that take at most so many bytes.
pub(super) fn window_bytes(threads: u64, blocks: u64, block: u64) -> u64 {
    // Vectors grow by doubling, and have a size.
    (WINDOW * threads * GROUP).min(blocks) * (2 * block + 64)
}

fn head(lengths: &[u16]) -> Vec<u8> {
    let least = lengths.iter().copied().min().unwrap_or(0);
    let most = lengths.iter().copied().max().unwrap_or(0);
    let width = u16::BITS - (most - least).leading_zeros();
    let mut head = least.to_le_bytes().to_vec();
    head.push(width as u8);
    let mut bits = 0u64;
    let mut count = 0;
    for length in lengths {
        bits |= u64::from(length - least) << count;
        count += width;
        while count >= 8 {
            head.push(bits as u8);
            bits >>= 8;
            count -= 8;
        }
    }
    if count > 0 {
        head.push(bits as u8);
    }
    head
}

/// Where the blocks of a file are.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub blocks: u64,
    pub index: Range<u64>,
    pub data: Range<u64>,
}

impl Layout {
    /// None if the index has not the length it must have.
    pub fn new(blocks: u64, index: Range<u64>, data: Range<u64>) -> Option<Layout> {
        let len = index.end.checked_sub(index.start)?;
        (len == blocks.div_ceil(GROUP) * ENTRY).then_some(Layout {
            blocks,
            index,
            data,
        })
    }

    /// The bytes of a block.
    #[inline]
    pub fn block<'p>(&self, pages: &'p Pages, block: u64) -> Result<&'p [u8], PageFault> {
        pages.get(self.find(pages, block)?)
    }

    /// Where to look for what is wrong with a block: where it begins, or, if that cannot be told,
    /// its index entry.
    pub fn place(&self, pages: &Pages, block: u64) -> u64 {
        match self.find(pages, block) {
            Ok(bytes) => bytes.start,
            Err(_) => self.index.end.min(self.index.start + block / GROUP * ENTRY),
        }
    }

    /// The place of a block.
    #[inline(always)]
    fn find(&self, pages: &Pages, block: u64) -> Result<Range<u64>, PageFault> {
        if block >= self.blocks {
            return Err(PageFault::Outside);
        }
        let group = block / GROUP;
        let entry = self.index.start + group * ENTRY;
        let mut at = [0; 8];
        at[..ENTRY as usize].copy_from_slice(pages.get(entry..entry + ENTRY)?);
        let start = self.data.start + u64::from_le_bytes(at);
        let head = pages.get(start..start + HEAD)?;
        let (least, width) = (u16::from_le_bytes([head[0], head[1]]), u32::from(head[2]));
        if width > u16::BITS {
            return Err(PageFault::Outside);
        }
        let count = (self.blocks - group * GROUP).min(GROUP);
        let table = (count * u64::from(width)).div_ceil(8);
        let lengths = pages.get(start + HEAD..start + HEAD + table)?;
        let place = (block % GROUP) as u32;
        let mut begin = start + HEAD + table + u64::from(least) * u64::from(place);
        for i in 0..place {
            begin += u64::from(bits_at(lengths, i * width, width));
        }
        let len = u64::from(least) + u64::from(bits_at(lengths, place * width, width));
        if begin + len > self.data.end {
            return Err(PageFault::Outside);
        }
        Ok(begin..begin + len)
    }
}

/// At most 16 bits from place `first` on; bits behind the end are zero.
#[inline(always)]
pub(super) fn bits_at(bytes: &[u8], first: u32, width: u32) -> u16 {
    let byte = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let at = (first / 8) as usize;
    let three = u32::from_le_bytes([byte(at), byte(at + 1), byte(at + 2), 0]);
    (three >> (first % 8) & ((1 << width) - 1)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::spool::Spools;

    #[test]
    fn blocks_are_found() {
        for blocks in [1u64, 63, 64, 65, 200] {
            let length = |block: u64| (block * block * 7919 % 300) as usize;
            let directory = tempfile::tempdir().unwrap();
            let mut spool = Spools::beside(&directory.path().join("KvK"))
                .create()
                .unwrap();
            // Whatever is in the spool before.
            spool.write(b"abc").unwrap();
            let index = pack(
                blocks,
                &mut spool,
                || (),
                |(), block, out| out.extend(std::iter::repeat_n(block as u8, length(block))),
            );
            let split = spool.len();
            spool.write(&index.unwrap()).unwrap();
            let end = spool.len();
            let pages = Pages::unchecked(spool.map().unwrap());
            let layout = Layout::new(blocks, split..end, 3..split).unwrap();
            for block in 0..blocks {
                let found = layout.block(&pages, block).unwrap();
                assert_eq!(found, vec![block as u8; length(block)]);
            }
            assert!(layout.block(&pages, blocks).is_err());
        }
    }
}
