use std::io;
use std::path::{Path, PathBuf};

use super::header::OLDEST_VERSION;
use crate::board::Color;

/// Why a table cannot be read or written. Every message names the file and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        path: PathBuf,
        action: &'static str,
        source: io::Error,
    },
    /// The file does not begin as a table does, or ends before its header does.
    #[error("`{}` is not a table of this program: {reason}", path.display())]
    NotATable { path: PathBuf, reason: &'static str },
    #[error(
        "`{}` has format version {version}, this program reads {OLDEST_VERSION} to {known}: \
         use a newer crownhead, or delete it and generate the slice again",
        path.display()
    )]
    Version {
        path: PathBuf,
        version: u16,
        known: u16,
    },
    /// Another file has its name now.
    #[error("`{}` was replaced since it was found: open the tables again", path.display())]
    Replaced { path: PathBuf },
    #[error("`{}` is damaged ({what}): delete it and generate the slice again", path.display())]
    CorruptHeader { path: PathBuf, what: &'static str },
    #[error(
        "`{}` is damaged (block {block}, {side} to move, at byte {offset}: {what}): \
         delete it and generate the slice again",
        path.display()
    )]
    CorruptBlock {
        path: PathBuf,
        side: Color,
        block: u64,
        /// Where in the file the block begins.
        offset: u64,
        what: &'static str,
    },
    #[error(
        "`{}` is damaged (page {page} has the wrong checksum): delete it and generate the slice again",
        path.display()
    )]
    Checksum { path: PathBuf, page: u64 },
    #[error("`{}` is damaged ({reason}): delete it, `crownhead generate` makes it anew", path.display())]
    Manifest { path: PathBuf, reason: String },
    /// What stands where a table is to be, and is not to be replaced unasked.
    #[error("`{}` {what}, and a table is to be made in its place: move it away", path.display())]
    InTheWay { path: PathBuf, what: String },
    /// Its own checksums may be right: it was exchanged for that of another set.
    #[error(
        "`{}` is not the file that the MANIFEST beside it lists: delete it and generate the slice \
         again, or delete its line there if it is the one to trust",
        path.display()
    )]
    NotAsListed { path: PathBuf },
    /// Its own checksums may be right, as above; or a table that its captures lead to is wrong.
    #[error(
        "the values of `{}` with {side} to move are not those its header has the hash of: find out \
         with `crownhead verify` which table is wrong, delete it and generate the slice again",
        path.display()
    )]
    Values { path: PathBuf, side: Color },
    /// What a small table leaves out cannot be searched for.
    #[error("`{}` cannot be written small: {reason}", path.display())]
    Search { path: PathBuf, reason: String },
    #[error(
        "the disk is full: `{}` needs at least {needed} bytes, {found} could be written; nothing finished \
         is lost, free some space and run the same command again",
        path.display()
    )]
    DiskFull {
        path: PathBuf,
        needed: u64,
        found: u64,
    },
}

impl TableError {
    /// For `map_err`: an I/O error met while trying to `action` the file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TableError {
        move |source| TableError::Io {
            path: path.to_owned(),
            action,
            source,
        }
    }
}
