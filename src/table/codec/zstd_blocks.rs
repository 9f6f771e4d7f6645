//! Blocks compressed with zstd and a dictionary trained on them: the plain codec for results, and
//! the one for distances.
//!
//! A dictionary pays at these block sizes. Whether it pays for itself, too, is tried; without one
//! the model section is empty.

use std::cell::RefCell;
use std::fmt;

use zstd::bulk::Compressor;
use zstd::dict::EncoderDictionary;
use zstd::zstd_safe::{CParameter, DCtx, DDict};

use super::blocks;
use crate::table::TableError;
use crate::table::spool::{Spool, Spools};

/// The largest dictionary.
const DICTIONARY: usize = 110 << 10;
/// A dictionary is trained on at most so many blocks.
const SAMPLES: u64 = 2048;
/// Smaller dictionaries hold nothing.
const LEAST_DICTIONARY: usize = 256;

/// Bytes each thread has, as measured: what zstd needs to compress at its highest levels.
pub(super) const BYTES_PER_THREAD: u64 = 3 << 20;
/// Bytes that training takes beside its samples, and the dictionary made ready, as measured.
const TRAINING: u64 = 12 << 20;

/// Bytes that are needed for a dictionary of so many blocks of at most so many bytes.
pub(super) fn training_bytes(blocks: u64, block: u64) -> u64 {
    // The vector of samples grows by doubling.
    2 * blocks.min(SAMPLES) * block + TRAINING
}

/// Compressed blocks with the dictionary they need, which may be empty.
#[derive(Debug)]
pub(super) struct Compressed {
    pub dictionary: Vec<u8>,
    pub index: Vec<u8>,
    /// The blocks, and nothing else.
    pub spool: Spool,
}

impl Compressed {
    fn len(&self) -> u64 {
        (self.dictionary.len() + self.index.len()) as u64 + self.spool.len()
    }
}

/// Compresses blocks, each of which `fill` writes into an empty vector. Empty blocks stay empty.
pub(super) fn compress(
    blocks: u64,
    level: i32,
    spools: &Spools,
    fill: impl Fn(u64, &mut Vec<u8>) + Sync + Send,
) -> Result<Compressed, TableError> {
    let with = |dictionary: Vec<u8>| {
        let prepared = match &dictionary[..] {
            [] => None,
            dictionary => Some(EncoderDictionary::copy(dictionary, level)),
        };
        let mut spool = spools.create()?;
        let index = blocks::pack(
            blocks,
            &mut spool,
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
        )?;
        Ok(Compressed {
            dictionary,
            index,
            spool,
        })
    };
    let plain = with(Vec::new())?;
    // Larger ones cost more than they save.
    let size = usize::try_from(plain.len() / 20).map_or(DICTIONARY, |size| size.min(DICTIONARY));
    if size < LEAST_DICTIONARY {
        return Ok(plain);
    }
    let stride = blocks.div_ceil(SAMPLES).max(1);
    let mut samples = Vec::new();
    let mut lengths = Vec::new();
    for block in (0..blocks).step_by(stride as usize) {
        let before = samples.len();
        fill(block, &mut samples);
        lengths.push(samples.len() - before);
    }
    match zstd::dict::from_continuous(&samples, &lengths, size) {
        Ok(dictionary) => {
            drop(samples);
            let trained = with(dictionary)?;
            Ok(if trained.len() < plain.len() {
                trained
            } else {
                plain
            })
        }
        // The samples are too few, or too much alike.
        Err(_) => Ok(plain),
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
    dictionary: Option<DDict<'static>>,
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
    /// None if the dictionary, which may be empty, is damaged.
    pub fn new(dictionary: &[u8]) -> Option<Self> {
        let dictionary = match dictionary {
            [] => None,
            _ => Some(DDict::try_create(dictionary)?),
        };
        Some(Expander { dictionary })
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
                Some(d) => context.decompress_using_ddict(&mut raw, bytes, d),
            };
            expanded.ok()
        })?;
        (raw.len() == len).then_some(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(block: u64, raw: &mut Vec<u8>) {
        raw.extend((0..4096u64).map(|i| ((i * i / 7 + block * 31) % 251 / 17) as u8));
    }

    #[test]
    fn blocks_come_back() {
        let directory = tempfile::tempdir().unwrap();
        let spools = Spools::beside(&directory.path().join("KvK.dtc"));
        let compressed = compress(300, 19, &spools, fill).unwrap();
        let expander = Expander::new(&compressed.dictionary).unwrap();
        let mut raw = Vec::new();
        fill(0, &mut raw);
        // The first block follows the head of the first superblock.
        let spooled = compressed.spool.map().unwrap();
        let data = spooled.all();
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

    #[test]
    fn damaged_dictionaries_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let spools = Spools::beside(&directory.path().join("KvK.dtc"));
        let dictionary = compress(300, 19, &spools, fill).unwrap().dictionary;
        assert!(Expander::new(&dictionary).is_some());
        let refused = (0..dictionary.len().min(200)).filter(|&i| {
            let mut damaged = dictionary.clone();
            damaged[i] ^= 0x55;
            Expander::new(&damaged).is_none()
        });
        assert!(refused.count() > 0);
    }
}
