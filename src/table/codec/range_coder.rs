//! A range coder for yes-or-no decisions with 16-bit probabilities, 64-bit state, renormalised by
//! 32 bits. Integers only, so the same decisions give the same bytes everywhere.
//!
//! Behind its last byte a stream is as if followed by zeros without end; the encoder chooses, of
//! all numbers in the final interval, the one with the fewest bytes before them.

/// One, as a probability.
const ONE_BITS: u32 = 16;

#[derive(Debug)]
pub(super) struct Encoder {
    low: u64,
    range: u64,
    bytes: Vec<u8>,
}

impl Encoder {
    pub fn new() -> Self {
        Encoder {
            low: 0,
            range: u64::MAX,
            bytes: Vec::new(),
        }
    }

    /// Writes a decision that was `yes` with probability `p` / 65536, neither 0 nor 1.
    #[inline]
    pub fn encode(&mut self, yes: bool, p: u16) {
        let bound = (self.range >> ONE_BITS) * u64::from(p);
        if yes {
            self.range = bound;
        } else {
            self.add(bound);
            self.range -= bound;
        }
        if self.range >> 32 == 0 {
            self.bytes
                .extend_from_slice(&((self.low >> 32) as u32).to_be_bytes());
            self.low <<= 32;
            self.range <<= 32;
        }
    }

    fn add(&mut self, bound: u64) {
        let (low, carry) = self.low.overflowing_add(bound);
        self.low = low;
        if carry {
            self.carry();
        }
    }

    fn carry(&mut self) {
        for byte in self.bytes.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }

    /// Ends the stream and leaves the encoder ready for the next one.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> usize {
        // The number in low..low + range with the most zero bits at its end.
        let last = self.low.wrapping_add(self.range - 1);
        let wraps = last < self.low;
        let number = if self.low == 0 {
            0
        } else if wraps {
            // Two to the 64th, a carry and nothing else.
            self.carry();
            0
        } else {
            let mut keep = 1u32;
            loop {
                let mask = u64::MAX.checked_shl(64 - keep).unwrap_or(u64::MAX);
                let candidate = last & mask;
                if candidate >= self.low {
                    break candidate;
                }
                keep += 1;
            }
        };
        self.bytes.extend_from_slice(&number.to_be_bytes());
        while self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
        out.extend_from_slice(&self.bytes);
        let len = self.bytes.len();
        self.bytes.clear();
        (self.low, self.range) = (0, u64::MAX);
        len
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder<'b> {
    code: u64,
    range: u64,
    rest: &'b [u8],
}

impl<'b> Decoder<'b> {
    #[inline]
    pub fn new(bytes: &'b [u8]) -> Self {
        let mut decoder = Decoder {
            code: 0,
            range: u64::MAX,
            rest: bytes,
        };
        let high = decoder.next();
        decoder.code = high << 32 | decoder.next();
        decoder
    }

    #[inline(always)]
    fn next(&mut self) -> u64 {
        if let Some((four, rest)) = self.rest.split_first_chunk::<4>() {
            self.rest = rest;
            return u64::from(u32::from_be_bytes(*four));
        }
        let mut four = [0; 4];
        four[..self.rest.len()].copy_from_slice(self.rest);
        self.rest = &[];
        u64::from(u32::from_be_bytes(four))
    }

    /// Reads a decision made with the same probability, which is expected to be yes.
    #[inline(always)]
    pub fn decode(&mut self, p: u16) -> bool {
        let bound = (self.range >> ONE_BITS) * u64::from(p);
        if self.code < bound {
            self.range = bound;
            if bound >> 32 == 0 {
                *self = self.refilled();
            }
            return true;
        }
        *self = self.missed(bound);
        false
    }

    // By value, so that the state stays in registers as long as nothing is missed.
    #[cold]
    #[inline(never)]
    fn refilled(mut self) -> Self {
        self.code = self.code << 32 | self.next();
        self.range <<= 32;
        self
    }

    #[cold]
    #[inline(never)]
    fn missed(mut self, bound: u64) -> Self {
        self.code -= bound;
        self.range -= bound;
        if self.range >> 32 == 0 {
            self.refilled()
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decisions_come_back(
            streams in prop::collection::vec(
                prop::collection::vec((any::<bool>(), prop_oneof![1..=u16::MAX, 1..=3u16, 65533..=u16::MAX]), 0..200), 1..4)
        ) {
            let mut encoder = Encoder::new();
            for decisions in streams {
                for &(yes, p) in &decisions {
                    encoder.encode(yes, p);
                }
                let mut bytes = Vec::new();
                let len = encoder.finish(&mut bytes);
                prop_assert_eq!(len, bytes.len());
                let mut decoder = Decoder::new(&bytes);
                for (yes, p) in decisions {
                    prop_assert_eq!(decoder.decode(p), yes);
                }
            }
        }

        /// Whatever the bytes, decoding ends.
        #[test]
        fn any_bytes_decode(bytes in prop::collection::vec(any::<u8>(), 0..40), p in 1..=u16::MAX) {
            let mut decoder = Decoder::new(&bytes);
            for _ in 0..1000 {
                decoder.decode(p);
            }
        }
    }
}
