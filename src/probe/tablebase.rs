use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{Inventory, Outcome};
use crate::board::{Color, Position};
use crate::index::{MAX_PIECES, Slice, SliceIndex};
use crate::rules::reference::legal_moves;
use crate::rules::{RuleSetId, Rules, with_rules};
use crate::table::{Header, Metric, TableError, TableFile, Wdl};

/// Why a position cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    #[error(
        "no table {rule_set}/{slice}.{metric} in {}: generate it with \
         `crownhead generate {rule_set} --slice {slice}`, or name its directory with --tables",
        list(directories)
    )]
    Missing {
        rule_set: RuleSetId,
        slice: Slice,
        metric: Metric,
        directories: Vec<PathBuf>,
    },
    #[error("{pieces} pieces on the board: tables have at most {MAX_PIECES}")]
    TooManyPieces { pieces: u32 },
    /// A table is damaged or cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
}

fn list(directories: &[PathBuf]) -> String {
    let quoted = directories.iter().map(|d| format!("`{}`", d.display()));
    quoted.collect::<Vec<_>>().join(", ")
}

/// The tables found in some directories, ready to be asked from any thread.
#[derive(Debug)]
pub struct Tablebase {
    tables: HashMap<(RuleSetId, Slice, Metric), Table>,
    inventory: Inventory,
}

/// A table that was found; it is mapped when it is first asked.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) path: PathBuf,
    pub(super) header: Header,
    pub(super) file: OnceLock<TableFile>,
}

impl Table {
    fn file(&self) -> Result<&TableFile, TableError> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = TableFile::open(&self.path)?;
        Ok(self.file.get_or_init(|| file))
    }
}

impl Tablebase {
    /// Finds all tables in the directories and below them. Of tables found twice the first counts.
    /// Nothing is an error here: [`Tablebase::inventory`] tells what was found, missing or ignored.
    pub fn open<P: AsRef<Path>>(directories: &[P]) -> Tablebase {
        let (tables, inventory) = Inventory::scan(directories);
        Tablebase { tables, inventory }
    }

    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// The header of the table of a slice (in either orientation), if there is one.
    pub fn header(&self, rule_set: RuleSetId, slice: Slice, metric: Metric) -> Option<&Header> {
        let table = self.tables.get(&(rule_set, slice.canonical(), metric));
        table.map(|table| &table.header)
    }

    /// The outcome of a position for its side to move.
    ///
    /// # Errors
    /// [`ProbeError::Missing`] if the WDL table that decides is not there, naming it;
    /// [`ProbeError::TooManyPieces`]; [`ProbeError::Table`] if one cannot be read.
    pub fn probe(&self, position: &Position) -> Result<Outcome, ProbeError> {
        let rules = position.variant().rules();
        let us = position.side();
        let arrived = !rules.has_kings() && position.kings(!us) != 0;
        if position.pieces(us) == 0 || arrived {
            return Ok(Outcome::without_move(rules));
        }
        if position.pieces(!us) == 0 {
            return self.probe_moves(position);
        }
        let pieces = position.occupied().count_ones();
        if pieces as usize > MAX_PIECES {
            return Err(ProbeError::TooManyPieces { pieces });
        }
        match self.look_up(position) {
            // Without the table: a position without a move needs none, and one with captures
            // needs those of the slices they lead to.
            Err(missing @ ProbeError::Missing { .. }) => {
                if legal_moves(position).iter().all(|m| m.is_capture()) {
                    self.probe_moves(position)
                } else {
                    Err(missing)
                }
            }
            answer => answer,
        }
    }

    /// The outcome of a position from those of its successors.
    fn probe_moves(&self, position: &Position) -> Result<Outcome, ProbeError> {
        let outcomes = legal_moves(position)
            .iter()
            .map(|m| {
                let successor = self.probe(&position.after(m))?;
                Ok(successor.before_move(m.is_conversion()))
            })
            .collect::<Result<Vec<_>, ProbeError>>()?;
        let rules = position.variant().rules();
        Ok(Outcome::of_moves(&outcomes).unwrap_or(Outcome::without_move(rules)))
    }

    /// What the tables of a position's own slice say.
    fn look_up(&self, position: &Position) -> Result<Outcome, ProbeError> {
        let rule_set = position.variant().rule_set();
        let (slice, side, number) = with_rules!(rule_set, R => place::<R>(position));
        let value = |metric| match self.tables.get(&(rule_set, slice, metric)) {
            Some(table) => Ok(Some(table.file()?.value(side, number)?)),
            None => Ok::<_, ProbeError>(None),
        };
        // Values of a WDL table are checked when they are read.
        let Some(result) = value(Metric::Wdl)?.and_then(Wdl::of) else {
            return Err(ProbeError::Missing {
                rule_set,
                slice,
                metric: Metric::Wdl,
                directories: self.inventory.directories(),
            });
        };
        let distance = |metric| match result {
            Wdl::Draw => Ok(None),
            Wdl::Win | Wdl::Loss => value(metric),
        };
        Ok(Outcome {
            result,
            dtc: distance(Metric::Dtc)?,
            dtw: distance(Metric::Dtw)?,
        })
    }
}

/// Where the tables keep a position of at most [`MAX_PIECES`] pieces: the canonical slice, the
/// side to move as stored there, and the number. Seen from the other side, a position is the same
/// one with colours exchanged.
fn place<R: Rules>(position: &Position) -> (Slice, Color, u64) {
    let mut board = position.to_board::<R::Geometry>();
    let slice_of =
        |board: &_| Slice::of::<R::Geometry>(board).expect("the caller counted the pieces");
    let mut slice = slice_of(&board);
    let stored = slice.is_canonical() && !(slice.is_symmetric() && board.side == Color::Black);
    if !stored {
        board = board.flipped();
        slice = slice_of(&board);
    }
    let number = SliceIndex::<R::Geometry>::new(slice).rank(&board);
    (slice, board.side, number)
}
