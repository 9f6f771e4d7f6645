//! What a reader of tables asks: the values of a block of one side to move, whichever the codec.

use std::fmt;
use std::ops::Range;

use super::blocks::Layout;
use super::distances::Distances;
use super::domain::Domain;
use super::mixed::MixedCoder;
use super::row_coder::RowCoder;
use super::runs::Runs;
use super::zstd_blocks::Expander;
use super::{Codec, Codes, RUNS_BLOCK, Sections, Side, SideCodes};
use crate::board::Geometry;
use crate::rules::with_rules;
use crate::table::pages::{PageFault, Pages};

/// Decodes the values of one side to move.
#[derive(Debug)]
pub(in crate::table) struct SideReader {
    /// Positions for one side to move.
    positions: u64,
    block: u64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Constant(u8),
    Runs(Runs),
    Zstd(Layout, Expander),
    Rows(Layout, Box<dyn DecodeRows>),
    Distances(Layout, Distances),
}

/// A [`RowCoder`] or [`MixedCoder`] of some rule set.
trait DecodeRows: fmt::Debug + Send + Sync {
    /// Whether a block needs the codes of the same block with the other side to move.
    fn refers(&self) -> bool;

    fn decode(&self, block: u64, bytes: &[u8], other: &Codes, out: &mut Codes);
}

#[derive(Debug)]
struct RowReader<G: Geometry, C> {
    domain: Domain<G>,
    coder: C,
}

impl<G: Geometry> DecodeRows for RowReader<G, RowCoder<G>> {
    fn refers(&self) -> bool {
        false
    }

    fn decode(&self, block: u64, bytes: &[u8], _: &Codes, out: &mut Codes) {
        self.coder.decode(&self.domain, block, bytes, out);
    }
}

impl<G: Geometry> DecodeRows for RowReader<G, MixedCoder<G>> {
    fn refers(&self) -> bool {
        self.coder.refers
    }

    fn decode(&self, block: u64, bytes: &[u8], other: &Codes, out: &mut Codes) {
        self.coder.decode(&self.domain, block, bytes, other, out);
    }
}

impl SideReader {
    pub fn open(side: &Side, sections: &Sections, pages: &Pages) -> Result<Self, &'static str> {
        let fault = |fault: PageFault| fault.what();
        let block = match sections.codec {
            Codec::Constant => RUNS_BLOCK,
            _ => u64::from(sections.parameter),
        };
        if block == 0 || block > SideCodes::CHUNK || !block.is_multiple_of(4) {
            return Err("its blocks have an impossible size");
        }
        let layout = || {
            let blocks = side.positions.div_ceil(block);
            let layout = Layout::new(blocks, sections.index.clone(), sections.data.clone());
            layout.ok_or("its block index has the wrong length")
        };
        let model = pages.get(sections.model.clone()).map_err(fault)?;
        let kind = match sections.codec {
            Codec::Constant => match sections.parameter {
                value @ 0..=2 => Kind::Constant(value as u8),
                _ => return Err("its constant is no result"),
            },
            Codec::Runs => {
                let runs = Runs::read(pages, sections.data.clone(), side.positions);
                Kind::Runs(runs.map_err(fault)?)
            }
            Codec::Zstd => {
                let expander = Expander::new(model).ok_or("its dictionary is damaged")?;
                Kind::Zstd(layout()?, expander)
            }
            Codec::Rows | Codec::Mixed => {
                let reader: Option<Box<dyn DecodeRows>> = with_rules!(side.rule_set, R => {
                    let domain = Domain::new::<R>(side, block);
                    match sections.codec {
                        Codec::Rows => RowCoder::read(model)
                            .map(|coder| Box::new(RowReader { domain, coder }) as _),
                        _ => MixedCoder::read(model)
                            .map(|coder| Box::new(RowReader { domain, coder }) as _),
                    }
                });
                Kind::Rows(layout()?, reader.ok_or("its context model is invalid")?)
            }
            Codec::Distances => {
                let distances = Distances::read(model).ok_or("its distance model is invalid")?;
                Kind::Distances(layout()?, distances)
            }
        };
        Ok(SideReader {
            positions: side.positions,
            block,
            kind,
        })
    }

    /// Positions of a block; the last may have fewer.
    #[inline]
    pub fn block_positions(&self) -> u64 {
        self.block
    }

    /// Where to look for what is wrong with a block.
    pub fn place(&self, pages: &Pages, block: u64) -> u64 {
        match &self.kind {
            Kind::Constant(_) => 0,
            Kind::Runs(runs) => runs.place(),
            Kind::Zstd(layout, _) | Kind::Rows(layout, _) | Kind::Distances(layout, _) => {
                layout.place(pages, block)
            }
        }
    }

    fn range(&self, block: u64) -> Option<Range<u64>> {
        let first = block.checked_mul(self.block)?;
        (first < self.positions).then(|| first..self.positions.min(first + self.block))
    }

    /// Whether a block needs the codes of the same block with the other side to move.
    pub fn refers(&self) -> bool {
        matches!(&self.kind, Kind::Rows(_, reader) if reader.refers())
    }

    /// Whether blocks of the other side to move can refer to this one's: they are the same
    /// positions and refer to nothing themselves.
    pub fn can_be_referred_to(&self, by: &SideReader) -> bool {
        matches!(self.kind, Kind::Rows(..)) && !self.refers() && self.block == by.block
    }

    /// Writes the result codes of a block; those of positions that are left out mean nothing.
    /// `other` has the codes of the same block with the other side to move, if this one
    /// [refers](SideReader::refers) to them.
    pub fn results(
        &self,
        pages: &Pages,
        block: u64,
        other: &Codes,
        out: &mut Codes,
    ) -> Result<(), &'static str> {
        let fault = |fault: PageFault| fault.what();
        let range = self.range(block).ok_or("there is no such block")?;
        let len = (range.end - range.start) as usize;
        match &self.kind {
            Kind::Constant(value) => {
                let four = [value * 0b0101_0101; (RUNS_BLOCK / 4) as usize];
                out.copy_from(&four, len).ok_or("it is too long")
            }
            Kind::Runs(runs) => runs.decode(pages, range, out).map_err(fault),
            Kind::Zstd(layout, expander) => {
                let bytes = layout.block(pages, block).map_err(fault)?;
                let raw = expander.expand(bytes, len.div_ceil(4));
                let raw = raw.ok_or("it does not decompress to its length")?;
                // Two set bits together are no result.
                if raw.iter().any(|byte| byte & byte >> 1 & 0x55 != 0) {
                    return Err("a value is no result");
                }
                out.copy_from(&raw, len).ok_or("it is too short")
            }
            Kind::Rows(layout, reader) => {
                let bytes = layout.block(pages, block).map_err(fault)?;
                reader.decode(block, bytes, other, out);
                Ok(())
            }
            Kind::Distances(..) => Err("it holds distances"),
        }
    }

    /// Writes the distances of a block as they are stored, given the results of its positions;
    /// zero where there is none.
    pub fn distances(
        &self,
        pages: &Pages,
        block: u64,
        results: &Codes,
        out: &mut Vec<u16>,
    ) -> Result<(), &'static str> {
        let range = self.range(block).ok_or("there is no such block")?;
        if results.len() as u64 != range.end - range.start {
            return Err("there are not as many results as positions");
        }
        match &self.kind {
            Kind::Distances(layout, distances) => {
                let bytes = layout.block(pages, block).map_err(PageFault::what)?;
                let decoded = distances.decode(bytes, results, out);
                decoded.ok_or("it does not decompress to its length")
            }
            _ => Err("it holds no distances"),
        }
    }
}
