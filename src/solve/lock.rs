use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::index::Slice;
use crate::rules::RuleSetId;
use crate::table::open_lock;

/// The right to solve one slice in one tables directory, held against other processes until
/// dropped. The system lets go of it when a process ends, however it ends.
///
/// Lock files are never deleted: a process could then lock a file that no other can see.
#[derive(Debug)]
pub(super) struct SliceLock {
    // Held for its lock alone.
    _file: File,
}

impl SliceLock {
    fn path(tables: &Path, rule_set: RuleSetId, slice: Slice) -> PathBuf {
        tables
            .join(rule_set.name())
            .join(".locks")
            .join(slice.to_string())
    }

    fn open(tables: &Path, rule_set: RuleSetId, slice: Slice) -> io::Result<File> {
        let path = SliceLock::path(tables, rule_set, slice);
        let named = |error| io::Error::other(format!("`{}`: {error}", path.display()));
        open_lock(&path).map_err(named)
    }

    /// None if another process holds the lock.
    pub(super) fn try_take(
        tables: &Path,
        rule_set: RuleSetId,
        slice: Slice,
    ) -> io::Result<Option<SliceLock>> {
        let file = SliceLock::open(tables, rule_set, slice)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(SliceLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Waits until no other process holds the lock.
    pub(super) fn wait(tables: &Path, rule_set: RuleSetId, slice: Slice) -> io::Result<SliceLock> {
        let file = SliceLock::open(tables, rule_set, slice)?;
        file.lock()?;
        Ok(SliceLock { _file: file })
    }
}
