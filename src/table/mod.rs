//! Tables: what is known of a slice, on disk and on its way there.
//!
//! One file holds one metric of one canonical slice: `<rule set>/<SLICE>.wdl`, `.dtc` or `.dtw`
//! below a tables directory, specified byte by byte in `docs/FORMAT.md`. Positions are numbered by
//! [`SliceIndex`](crate::index::SliceIndex); each side to move is stored by itself, Black's not at
//! all where it mirrors White's. The values of one side are encoded by the [`Codec`] that makes
//! them smallest, in blocks that decode alone.
//!
//! What costs most to store is what a prober finds cheaply: results of positions with captures
//! follow from smaller slices. So they are left out ([`Profile::Fast`]), and with
//! [`Profile::Small`] also those in which the opponent threatens a capture. A [`TableFile`] knows
//! only what is stored; ask a [`Tablebase`](crate::probe::Tablebase) for what is true.
//!
//! * [`write_table`] streams any [`SliceValues`] into a file that appears complete or not at all,
//!   and enters its hash in the directory's [`Manifest`].
//! * [`TableFile`] maps a file and decodes blocks of it.
//! * [`Header`] carries the counts of results and the longest positions, so statistics cost no
//!   pass over the values.
//!
//! The header, every page of 4 KiB and the whole file have checksums of their own, and the values
//! of each side to move have a hash that does not depend on how they are stored.

use std::fs::{self, File};
use std::io;
use std::path::Path;

mod codec;
mod error;
mod header;
mod manifest;
mod pages;
mod profile;
mod reader;
mod spool;
#[cfg(test)]
pub(crate) mod testing;
mod value;
mod writer;

pub use codec::{Codec, Codes};
pub use error::TableError;
pub(crate) use header::stored_sides;
pub use header::{Census, FORMAT_VERSION, Header, Longest, Stored};
pub use manifest::Manifest;
pub use profile::Profile;
pub use reader::TableFile;
#[cfg(feature = "solve")]
pub(crate) use spool::spooled_table;
pub use value::{Metric, SliceValues, Wdl};
pub use writer::{HASH_CHUNK, hash_chunk, hash_values, table_path, write_table, writing_bytes};

/// Makes a file of ours under a hidden name, in place of what a writer that was stopped has left
/// there; never through a link or into a pipe.
fn create_file(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => {
            let mut options = File::options();
            options.read(true).write(true).create_new(true).open(path)
        }
    }
}

/// What was renamed in a directory has its new name even after a power loss.
fn sync_directory(directory: &Path) -> Result<(), TableError> {
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(TableError::io("sync", directory))
}

/// Opens a file to lock, making it and its directory if need be. Anything else of its name, such as
/// a pipe that nobody reads or a link, is refused.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    match fs::symlink_metadata(path) {
        Ok(what) if !what.is_file() => Err(io::Error::other("it is not a regular file")),
        _ => File::options().create(true).append(true).open(path),
    }
}

/// Opens a file for reading. Anything else, such as a pipe that may never end, is refused.
fn open_file(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}
