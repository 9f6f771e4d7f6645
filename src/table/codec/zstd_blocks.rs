//! Blocks compressed with zstd and a dictionary trained on them: the plain codec for results, and
//! the one for distances.
//!
//! A dictionary pays at these block sizes. Whether it pays for itself, too, is tried; without one
//! the model section is empty.

use std::cell::RefCell;
use std::fmt;

use rayon::prelude::*;
use zstd::bulk::Compressor;
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::{CParameter, DCtx};

use super::blocks::{self, Packed};

/// The largest dictionary.
const DICTIONARY: usize = 110 << 10;
/// A dictionary is trained on at most so many blocks.
const SAMPLES: u64 = 2048;
/// Smaller dictionaries hold nothing.
const LEAST_DICTIONARY: usize = 256;

/// Compressed blocks with the dictionary they need, which may be empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Compressed {
    pub dictionary: Vec<u8>,
    pub packed: Packed,
}

impl Compressed {
    pub fn len(&self) -> usize {
        self.dictionary.len() + self.packed.index.len() + self.packed.data.len()
    }
}

/// Compresses blocks, each of which `fill` writes into an empty vector. Empty blocks stay empty.
pub(super) fn compress(
    blocks: u64,
    level: i32,
    fill: impl Fn(u64, &mut Vec<u8>) + Sync + Send,
) -> Compressed {
    let with = |dictionary: Vec<u8>| {
        let prepared = match &dictionary[..] {
            [] => None,
            dictionary => Some(EncoderDictionary::copy(dictionary, level)),
        };
        let packed = blocks::pack(
            blocks,
            || (compressor(level, prepared.as_ref()), Vec::new()),
            |(compressor, raw), block, out| {
                raw.clear();
                fill(block, raw);
                if !raw.is_empty() {
                    // Compressing in memory fails for no input.
                    let bytes = compressor.compress(raw);
                    out.extend(bytes.expect("zstd compresses any bytes"));
                }
            },
        );
        Compressed { dictionary, packed }
    };
    let plain = with(Vec::new());
    // Larger ones cost more than they save.
    let size = (plain.len() / 20).min(DICTIONARY);
    if size < LEAST_DICTIONARY {
        return plain;
    }
    let stride = blocks.div_ceil(SAMPLES).max(1);
    let samples: Vec<Vec<u8>> = (0..blocks.div_ceil(stride))
        .into_par_iter()
        .map(|i| {
            let mut raw = Vec::new();
            fill(i * stride, &mut raw);
            raw
        })
        .collect();
    match zstd::dict::from_samples(&samples, size) {
        Ok(dictionary) => {
            let trained = with(dictionary);
            if trained.len() < plain.len() {
                trained
            } else {
                plain
            }
        }
        // The samples are too few, or too much alike.
        Err(_) => plain,
    }
}

fn compressor<'d>(level: i32, dictionary: Option<&'d EncoderDictionary<'_>>) -> Compressor<'d> {
    let made = match dictionary {
        None => Compressor::new(level),
        Some(dictionary) => Compressor::with_prepared_dictionary(dictionary),
    };
    let configured = made.and_then(|mut compressor| {
        // All this is known from elsewhere.
        compressor.set_parameter(CParameter::ContentSizeFlag(false))?;
        compressor.set_parameter(CParameter::ChecksumFlag(false))?;
        compressor.set_parameter(CParameter::DictIdFlag(false))?;
        Ok(compressor)
    });
    configured.expect("zstd has these parameters")
}

/// Decompresses blocks.
pub(super) struct Expander {
    dictionary: Option<DecoderDictionary<'static>>,
}

impl fmt::Debug for Expander {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dictionary = &self.dictionary.is_some();
        f.debug_struct("Expander")
            .field("dictionary", dictionary)
            .finish()
    }
}

thread_local! {
    /// A decompression context is large; one a thread is made when first needed.
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

impl Expander {
    pub fn new(dictionary: &[u8]) -> Self {
        let dictionary = match dictionary {
            [] => None,
            _ => Some(DecoderDictionary::copy(dictionary)),
        };
        Expander { dictionary }
    }

    /// A block's bytes, which must be exactly `len`; none if they are not.
    pub fn expand(&self, bytes: &[u8], len: usize) -> Option<Vec<u8>> {
        if len == 0 {
            return bytes.is_empty().then(Vec::new);
        }
        // One more, so that too long a block is seen to be that.
        let mut raw = Vec::with_capacity(len + 1);
        CONTEXT.with_borrow_mut(|context| {
            let context = match context {
                Some(context) => context,
                empty => empty.insert(DCtx::try_create()?),
            };
            let expanded = match &self.dictionary {
                None => context.decompress(&mut raw, bytes),
                Some(d) => context.decompress_using_ddict(&mut raw, bytes, d.as_ddict()),
            };
            expanded.ok()
        })?;
        (raw.len() == len).then_some(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back() {
        let fill = |block: u64, raw: &mut Vec<u8>| {
            raw.extend((0..4096u64).map(|i| ((i * i / 7 + block * 31) % 251 / 17) as u8))
        };
        let compressed = compress(300, 19, fill);
        let expander = Expander::new(&compressed.dictionary);
        let mut raw = Vec::new();
        fill(0, &mut raw);
        // The first block follows the head of the first superblock.
        let data = &compressed.packed.data;
        let width = usize::from(data[2]);
        let first = 3 + (64 * width).div_ceil(8);
        let len = usize::from(u16::from_le_bytes([data[0], data[1]]))
            + usize::from(blocks::bits_at(&data[3..], 0, width as u32));
        let bytes = &data[first..first + len];
        assert_eq!(expander.expand(bytes, 4096).unwrap(), raw);
        assert!(expander.expand(bytes, 4095).is_none());
        assert!(expander.expand(bytes, 4097).is_none());
        assert!(expander.expand(&bytes[1..], 4096).is_none());
    }
}
