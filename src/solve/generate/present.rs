//! What lies where the tables of a slice are to be: a finished table is kept if the manifest lists
//! it, a damaged one is made anew, and anything else is left to its owner.

use std::path::PathBuf;
use std::{fs, io};

use super::{Event, Generation, Settings};
use crate::index::Slice;
use crate::solve::lock::SliceLock;
use crate::table::{Header, Manifest, Metric, TableError, spooled_table, table_path};

/// A metric of a slice, and the header of its table if that is there: sound, and of the length it
/// says.
pub(super) type Found = (Metric, Option<Header>);

impl Generation<'_> {
    /// Tables that are kept are those the manifest lists, or are entered there if they are sound.
    pub(super) fn check_kept(&self, slice: Slice, found: &[Found]) -> Result<(), TableError> {
        let kept = found.iter().filter(|(_, header)| header.is_some());
        let kept: Vec<PathBuf> = kept.map(|(metric, _)| self.path(slice, *metric)).collect();
        let directory = self.settings.tables.join(self.rule_set.name());
        for path in Manifest::check_or_enter(&directory, &kept)? {
            (self.report)(Event::Entered { slice, path });
        }
        Ok(())
    }

    /// Removes what writers that were stopped have left, of whatever slice, unless it is being made.
    pub(super) fn remove_leftovers(&self) {
        let Settings { tables, .. } = self.settings;
        let entries = fs::read_dir(tables.join(self.rule_set.name()));
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let table = name.to_str().and_then(spooled_table);
            let slice = table.and_then(|table| table.split('.').next()?.parse().ok());
            let lock = slice.map(|slice| SliceLock::try_take(tables, self.rule_set, slice));
            if let Some(Ok(Some(_lock))) = lock {
                // What cannot be removed is written over next time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    pub(super) fn is_finished(&self, slice: Slice) -> Result<bool, TableError> {
        let found = self.found(slice)?;
        Ok(found.iter().all(|(_, header)| header.is_some()))
    }

    /// What is there of the tables of a slice. What is neither such a table nor a damaged one is an
    /// error.
    pub(super) fn found(&self, slice: Slice) -> Result<Vec<Found>, TableError> {
        let finished = |metric| match Header::read(&self.path(slice, metric)) {
            Ok(header) => {
                let is = (header.rule_set, header.slice, header.metric);
                if is == (self.rule_set, slice, metric) {
                    return Ok(Some(header));
                }
                Err(TableError::InTheWay {
                    path: self.path(slice, metric),
                    what: format!(
                        "is {}.{} of {}",
                        header.slice, header.metric, header.rule_set
                    ),
                })
            }
            Err(TableError::CorruptHeader { .. }) => Ok(None),
            Err(TableError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let path = self.path(slice, metric);
                match path.is_symlink() {
                    false => Ok(None),
                    true => Err(TableError::InTheWay {
                        path,
                        what: "is a link to nothing".to_owned(),
                    }),
                }
            }
            Err(TableError::NotATable { path, .. }) => Err(TableError::InTheWay {
                path,
                what: "is no table".to_owned(),
            }),
            Err(error) => Err(error),
        };
        let metrics = self.metrics.iter();
        metrics
            .map(|&metric| Ok((metric, finished(metric)?)))
            .collect()
    }

    pub(super) fn path(&self, slice: Slice, metric: Metric) -> PathBuf {
        table_path(&self.settings.tables, self.rule_set, slice, metric)
    }
}
