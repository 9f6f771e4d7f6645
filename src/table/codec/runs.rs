//! The codec for values that hardly change: where each run of equal values starts, and its value.
//!
//! Starts are an Elias-Fano sequence: of each its lowest bits as they are, and its other bits in
//! unary, as a bit that is set at `(start >> low bits) + number of the run`. Every 512th zero of
//! the unary part has its place noted, so finding the run of a position reads a few words.
//! A position that is left out belongs to whatever run is at hand.
//!
//! The crates for rank and select (`sucds`, `vers-vecs`, `sux`) own their words, or map them in a
//! layout of their own that they trust; here the bytes are mapped as they are, specified for readers
//! in any language, and hostile. So the select is written out, in as few steps as it takes.

use std::ops::Range;

use super::codes::{Codes, SideCodes};
use crate::table::pages::{PageFault, Pages};

/// Zeros from one noted place to the next.
const STEP: u64 = 512;
/// Bytes of a noted place.
const NOTE: u64 = 5;
/// Bytes of the head: the number of runs and the number of low bits.
const HEAD: u64 = 9;

/// Where the parts are, from the start of the data on.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    runs: u64,
    low_bits: u32,
    values: u64,
    low: u64,
    notes: u64,
    high: u64,
    high_len: u64,
}

/// Calls `visit` with the start and value of each run in order, until it says that this will do.
fn each_run(codes: &SideCodes, mut visit: impl FnMut(u64, u8) -> bool) {
    let mut value = None;
    let mut position = 0;
    for chunk in codes.chunks() {
        for code in chunk.iter() {
            if code != 3 && value != Some(code) {
                // The first run covers what is left out before it.
                let start = if value.is_none() { 0 } else { position };
                value = Some(code);
                if !visit(start, code) {
                    return;
                }
            }
            position += 1;
        }
    }
}

/// The data of some codes, and nothing if it would need more than `most` bytes.
pub(super) fn encode(codes: &SideCodes, most: u64) -> Option<Vec<u8>> {
    let mut runs = 0;
    each_run(codes, |_, _| {
        runs += 1;
        runs <= most
    });
    if runs > most {
        return None;
    }
    let low_bits = (codes.len / runs.max(1)).max(1).ilog2();
    let layout = Runs::lay_out(codes.len, runs, low_bits)?;
    if layout.len() > most {
        return None;
    }
    let mut data = vec![0; layout.len() as usize];
    data[..8].copy_from_slice(&runs.to_le_bytes());
    data[8] = low_bits as u8;
    let mut set = |start: u64, bit: u64| data[(start + bit / 8) as usize] |= 1 << (bit % 8);
    let mut number = 0;
    each_run(codes, |start, value| {
        for bit in (0..2).filter(|bit| value >> bit & 1 != 0) {
            set(layout.values, 2 * number + bit);
        }
        for bit in (0..u64::from(low_bits)).filter(|bit| start >> bit & 1 != 0) {
            set(layout.low, number * u64::from(low_bits) + bit);
        }
        set(layout.high, (start >> low_bits) + number);
        number += 1;
        true
    });
    let mut zeros = 0;
    for bit in 0..layout.high_len {
        if data[(layout.high + bit / 8) as usize] >> (bit % 8) & 1 == 0 {
            if zeros % STEP == 0 {
                let note = (layout.notes + zeros / STEP * NOTE) as usize;
                data[note..note + NOTE as usize]
                    .copy_from_slice(&bit.to_le_bytes()[..NOTE as usize]);
            }
            zeros += 1;
        }
    }
    Some(data)
}

impl Runs {
    fn lay_out(positions: u64, runs: u64, low_bits: u32) -> Option<Runs> {
        if runs > positions || low_bits > 63 {
            return None;
        }
        let zeros = (positions >> low_bits) + 1;
        let high_len = zeros + runs;
        let values = HEAD;
        let low = values + runs.div_ceil(4);
        let notes = low + runs.checked_mul(u64::from(low_bits))?.div_ceil(8);
        let high = notes + zeros.div_ceil(STEP) * NOTE;
        Some(Runs {
            runs,
            low_bits,
            values,
            low,
            notes,
            high,
            high_len,
        })
    }

    fn len(&self) -> u64 {
        self.high + self.high_len.div_ceil(8)
    }

    /// Where the data begin.
    pub fn place(&self) -> u64 {
        self.values - HEAD
    }

    /// Reads the head of the data at `data`.
    pub fn read(pages: &Pages, data: Range<u64>, positions: u64) -> Result<Runs, PageFault> {
        let head = pages.get(data.start..data.start.saturating_add(HEAD))?;
        let runs = u64::from_le_bytes(*head.first_chunk().ok_or(PageFault::Outside)?);
        let found = Runs::lay_out(positions, runs, u32::from(head[8]));
        let found = found.ok_or(PageFault::Outside)?;
        if runs == 0 || found.len() != data.end - data.start {
            return Err(PageFault::Outside);
        }
        Ok(Runs {
            values: data.start + found.values,
            low: data.start + found.low,
            notes: data.start + found.notes,
            high: data.start + found.high,
            ..found
        })
    }

    /// Writes the values of a range inside the slice.
    pub fn decode(
        &self,
        pages: &Pages,
        range: Range<u64>,
        out: &mut Codes,
    ) -> Result<(), PageFault> {
        out.reset((range.end - range.start) as usize);
        // The first run that might start behind the first position.
        let mut bit = self.bucket(pages, range.start >> self.low_bits)?;
        let mut run = bit - (range.start >> self.low_bits);
        let mut value = match run.checked_sub(1) {
            Some(before) => self.value(pages, before)?,
            None => 3,
        };
        let mut next = self.start(pages, &mut bit, run)?;
        let mut position = range.start;
        while position < range.end {
            while next.is_some_and(|next| next <= position) {
                value = self.value(pages, run)?;
                run += 1;
                next = self.start(pages, &mut bit, run)?;
            }
            if value == 3 {
                return Err(PageFault::Outside);
            }
            let end = next.unwrap_or(range.end).min(range.end);
            let place = |position| (position - range.start) as usize;
            out.fill(place(position)..place(end), value);
            position = end;
        }
        Ok(())
    }

    fn value(&self, pages: &Pages, run: u64) -> Result<u8, PageFault> {
        let at = self.values + run / 4;
        Ok(pages.get(at..at + 1)?[0] >> (2 * (run % 4)) & 3)
    }

    /// Where the unary part comes to the starts with these high bits.
    fn bucket(&self, pages: &Pages, high: u64) -> Result<u64, PageFault> {
        // That is behind as many zeros.
        let Some(last_zero) = high.checked_sub(1) else {
            return Ok(0);
        };
        let at = self.notes + last_zero / STEP * NOTE;
        let mut note = [0; 8];
        note[..NOTE as usize].copy_from_slice(pages.get(at..at + NOTE)?);
        let mut bit = u64::from_le_bytes(note);
        let mut zeros = last_zero % STEP + 1;
        loop {
            let word = !self.high_word(pages, bit)?;
            let found = u64::from(word.count_ones());
            if found < zeros {
                zeros -= found;
                bit += 64;
                continue;
            }
            let mut word = word;
            for _ in 1..zeros {
                word &= word - 1;
            }
            let bucket = bit + u64::from(word.trailing_zeros()) + 1;
            // A note that lies would make a run number below zero.
            return if bucket >= high {
                Ok(bucket)
            } else {
                Err(PageFault::Outside)
            };
        }
    }

    /// 64 bits of the unary part; an error from its end on, so that no search goes on for ever.
    fn high_word(&self, pages: &Pages, bit: u64) -> Result<u64, PageFault> {
        if bit >= self.high_len {
            return Err(PageFault::Outside);
        }
        let first = self.high + bit / 8;
        let end = (first + 9).min(self.high + self.high_len.div_ceil(8));
        let bytes = pages.get(first..end)?;
        let mut word = [0; 16];
        word[..bytes.len()].copy_from_slice(bytes);
        Ok((u128::from_le_bytes(word) >> (bit % 8)) as u64)
    }

    /// The start of a run, none behind the last. `bit` is where to look for it and is moved on.
    fn start(&self, pages: &Pages, bit: &mut u64, run: u64) -> Result<Option<u64>, PageFault> {
        if run >= self.runs {
            return Ok(None);
        }
        loop {
            let word = self.high_word(pages, *bit)?;
            if word != 0 {
                *bit += u64::from(word.trailing_zeros());
                break;
            }
            *bit += 64;
        }
        let high = bit.checked_sub(run).ok_or(PageFault::Outside)?;
        *bit += 1;
        let first = run * u64::from(self.low_bits);
        let at = self.low + first / 8;
        let end = self.low + (first + u64::from(self.low_bits)).div_ceil(8);
        let bytes = pages.get(at..end.max(at))?;
        let mut low = [0; 16];
        low[..bytes.len()].copy_from_slice(bytes);
        let low = (u128::from_le_bytes(low) >> (first % 8)) as u64 & ((1 << self.low_bits) - 1);
        Ok(Some(high << self.low_bits | low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::pages::{Bytes, checksums};
    use proptest::prelude::*;

    fn pages(data: &[u8]) -> Pages {
        let mut bytes = data.to_vec();
        bytes.extend(checksums(data));
        Pages::new(Bytes::Owned(bytes), 0..data.len() as u64).unwrap()
    }

    fn codes(runs: &[(u8, u16)]) -> SideCodes {
        let mut codes = Codes::default();
        codes.reset(runs.iter().map(|&(_, len)| usize::from(len)).sum());
        let mut place = 0;
        for &(value, len) in runs {
            for _ in 0..len {
                codes.set(place, value);
                place += 1;
            }
        }
        SideCodes::new(vec![codes])
    }

    proptest! {
        #[test]
        fn runs_come_back(runs in prop::collection::vec((0..=3u8, 1..900u16), 1..60), block in 1..700u64) {
            let codes = codes(&runs);
            prop_assume!(codes.chunks()[0].iter().any(|code| code != 3));
            prop_assume!(codes.len <= SideCodes::CHUNK);
            let data = encode(&codes, u64::MAX).unwrap();
            let pages = pages(&data);
            let runs = Runs::read(&pages, 0..data.len() as u64, codes.len).unwrap();
            let mut out = Codes::default();
            for first in (0..codes.len).step_by(block as usize) {
                let range = first..codes.len.min(first + block);
                runs.decode(&pages, range.clone(), &mut out).unwrap();
                for (position, found) in range.zip(out.iter()) {
                    let code = codes.get(position);
                    prop_assert!(code == 3 || code == found, "{}", position);
                }
            }
        }

        /// Whatever the bytes, decoding ends without a panic.
        #[test]
        fn any_bytes_are_read(mut data in prop::collection::vec(any::<u8>(), 9..200), runs in 0..300u64, low in 0..12u8) {
            data[..8].copy_from_slice(&runs.to_le_bytes());
            data[8] = low;
            let positions = 4000;
            if let Some(layout) = Runs::lay_out(positions, runs, u32::from(low)) {
                data.resize(layout.len() as usize, 0x5a);
            }
            let pages = pages(&data);
            if let Ok(runs) = Runs::read(&pages, 0..data.len() as u64, positions) {
                let mut out = Codes::default();
                for first in [0, 1, 511, 3000] {
                    let _ = runs.decode(&pages, first..4000, &mut out);
                }
            }
        }
    }
}
