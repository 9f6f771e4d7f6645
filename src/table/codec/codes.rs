/// Value codes of consecutive positions, four to a byte, the first in the lowest bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codes {
    bytes: Vec<u8>,
    len: usize,
}

impl Codes {
    /// Makes this `len` codes, all 3.
    pub fn reset(&mut self, len: usize) {
        self.bytes.clear();
        self.bytes.resize(len.div_ceil(4), 0xff);
        self.len = len;
    }

    /// Makes this `len` codes from packed bytes; none if there are not as many as they need.
    pub fn copy_from(&mut self, packed: &[u8], len: usize) -> Option<()> {
        let packed = packed.get(..len.div_ceil(4))?;
        self.bytes.clear();
        self.bytes.extend_from_slice(packed);
        self.len = len;
        Some(())
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// # Panics
    /// If there is no such code.
    #[inline(always)]
    pub fn get(&self, place: usize) -> u8 {
        self.bytes[place / 4] >> (2 * (place % 4)) & 3
    }

    /// # Panics
    /// If there is no such code.
    #[inline(always)]
    pub fn set(&mut self, place: usize, code: u8) {
        let byte = &mut self.bytes[place / 4];
        let shift = 2 * (place % 4);
        *byte = *byte & !(3 << shift) | (code & 3) << shift;
    }

    pub fn iter(&self) -> impl Iterator<Item = u8> {
        (0..self.len).map(|place| self.get(place))
    }
}

/// All value codes of a slice for one side to move, in chunks that can be made in parallel.
#[derive(Debug)]
pub(crate) struct SideCodes {
    chunks: Vec<Codes>,
    pub len: u64,
}

impl SideCodes {
    /// Positions in a chunk, a multiple of any block.
    pub const CHUNK: u64 = 1 << 16;

    /// From chunks in order, all but the last full.
    pub fn new(chunks: Vec<Codes>) -> Self {
        let len = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        SideCodes { chunks, len }
    }

    #[inline(always)]
    pub fn get(&self, position: u64) -> u8 {
        self.chunks[(position / Self::CHUNK) as usize].get((position % Self::CHUNK) as usize)
    }

    pub fn chunks(&self) -> &[Codes] {
        &self.chunks
    }
}
