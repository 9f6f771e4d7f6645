//! Proof of finished tables: nothing but the files and the rules is believed.
//!
//! Every result of the slice and of those its moves lead to is taken from the files once (what they
//! leave out is found by the search of the prober that players use), then each is compared with
//! what its successors' results make of it. The moves are
//! those of [`rules::reference`](crate::rules::reference), the rule sheet written down, which
//! shares nothing with the solver; the fast generator must give the same ones in every position.
//!
//! That alone would accept a circle of positions that are "won" because each leads to the next; so
//! wins and losses of a slice must also be *grounded*: the decided positions are derived again from
//! those that need nothing of the slice, and what cannot be derived is wrong. This goes over the
//! positions many times, and over the same moves, so it takes them from the fast generator.
//! Distances are compared with their definition, by the moves of the rule sheet. Counts, longest
//! distances and the hash of all values must be those of the header, the bytes those of the page
//! checksums and the manifest.
//!
//! Cost: three bits of memory a position and side to move of the slice, two of those it leads to,
//! and the prober's cache. What there is room for, a gigabyte unless told otherwise, is kept for
//! slices to come. The time goes about equally into the rule sheet, the results of successors and
//! all the rest.

mod checksums;
mod known;
mod list;
mod needed;
mod sample;
mod slice;
mod worth;

use std::path::PathBuf;

use crate::board::{Board, Color, Position};
use crate::index::{Slice, SliceIndex};
use crate::notation::fen;
use crate::probe::{ProbeError, Tablebase};
use crate::rules::{Rules, Variant};
use crate::table::{Metric, TableError};

pub use checksums::verify_checksums;
pub use known::least_bytes;
pub use list::{ListError, verify_list};
pub use needed::tables_needed;
pub use sample::verify_sample;
pub use slice::{Verifier, verify_slice};

/// What is wrong with a table. Of several wrong positions the first is named.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("`{}` is wrong in block {block}: {fen} is {found}, its moves make it {expected}", path.display())]
    Value {
        path: PathBuf,
        block: u64,
        fen: String,
        found: String,
        expected: String,
    },
    #[error(
        "`{}` is wrong in block {block}: {fen} is said to be {found}, but only by positions that \
         are so because of each other",
        path.display()
    )]
    Circular {
        path: PathBuf,
        block: u64,
        fen: String,
        found: String,
    },
    #[error("the fast move generator does not follow the rules in {fen}: please report it")]
    Rules { fen: String },
    #[error("`{}` is wrong: its header says {header} {what} with {side} to move, there are {found}", path.display())]
    Header {
        path: PathBuf,
        side: Color,
        what: &'static str,
        header: String,
        found: String,
    },
    #[error("`{}` is not listed in the MANIFEST beside it: `crownhead generate` lists it, if it is sound", path.display())]
    Unlisted { path: PathBuf },
    #[error(
        "to verify {slice} takes {needed} bytes of memory, {allowed} are allowed: raise --memory"
    )]
    Memory {
        slice: Slice,
        needed: u64,
        allowed: u64,
    },
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

/// A slice being verified, and how to name its positions.
struct Subject<'t, R: Rules> {
    tables: &'t Tablebase,
    variant: Variant,
    slice: Slice,
    index: SliceIndex<R::Geometry>,
}

impl<'t, R: Rules> Subject<'t, R> {
    fn new(tables: &'t Tablebase, variant: Variant, slice: Slice) -> Self {
        let slice = slice.canonical();
        Subject {
            tables,
            variant,
            slice,
            index: SliceIndex::new(slice),
        }
    }

    fn board(&self, side: Color, position: u64) -> Board<R::Geometry> {
        self.index.unrank(position, side)
    }

    fn fen(&self, side: Color, position: u64) -> String {
        let board = self.board(side, position);
        fen::format(&Position::from_board(self.variant, &board))
    }

    /// The file and block of a position.
    fn place(&self, metric: Metric, side: Color, position: u64) -> (PathBuf, u64) {
        match self.tables.file(R::ID, self.slice, metric) {
            Ok(Some(file)) => {
                // None if the side to move is not stored.
                let block = position.checked_div(file.block_positions(side));
                let block = block.unwrap_or(0);
                (file.path().to_owned(), block)
            }
            _ => (PathBuf::new(), 0),
        }
    }

    fn wrong(
        &self,
        metric: Metric,
        side: Color,
        position: u64,
        found: impl ToString,
        expected: impl ToString,
    ) -> VerifyError {
        let (path, block) = self.place(metric, side, position);
        VerifyError::Value {
            path,
            block,
            fen: self.fen(side, position),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }
}
