//! Files in the making: what is encoded goes to disk as it comes, so that the memory a table takes
//! does not depend on how well it compresses.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use memmap2::Mmap;

use super::pages::Bytes;
use super::{TableError, create_file};

/// Bytes written at once, so that a full disk is told to within as much.
const PIECE: usize = 1 << 16;

/// Makes spools beside a table that is to be written, by one writer at a time.
#[derive(Debug)]
pub(super) struct Spools {
    table: PathBuf,
    made: AtomicU32,
}

impl Spools {
    /// For the table at a path, whose directory must be there.
    pub fn beside(table: &Path) -> Spools {
        Spools {
            table: table.to_owned(),
            made: AtomicU32::new(0),
        }
    }

    fn hidden(&self, end: &str) -> String {
        let name = self.table.file_name().unwrap_or_default();
        format!(".{}.{end}", name.to_string_lossy())
    }

    /// The table they are for.
    pub fn table(&self) -> &Path {
        &self.table
    }

    pub fn create(&self) -> Result<Spool, TableError> {
        let number = self.made.fetch_add(1, Relaxed);
        let path = self
            .table
            .with_file_name(self.hidden(&format!("{number}.tmp")));
        let file = create_file(&path).map_err(TableError::io("create", &path))?;
        Ok(Spool {
            file: Some(file),
            table: self.table.clone(),
            path,
            len: 0,
        })
    }
}

/// The name of the table for which a spool of this file name was made.
#[cfg(any(feature = "solve", test))]
pub(crate) fn spooled_table(name: &str) -> Option<&str> {
    let name = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (table, number) = name.rsplit_once('.')?;
    let (_, metric) = table.split_once('.')?;
    let is_metric = super::Metric::ALL
        .iter()
        .any(|known| known.name() == metric);
    (is_metric && number.parse::<u64>().is_ok()).then_some(table)
}

/// A file written from front to back, under a hidden name. It goes with this value, unless it is
/// kept as a table.
#[derive(Debug)]
pub(super) struct Spool {
    table: PathBuf,
    path: PathBuf,
    /// None once it is kept.
    file: Option<File>,
    len: u64,
}

impl Spool {
    pub fn len(&self) -> u64 {
        self.len
    }

    fn file(&self) -> &File {
        self.file
            .as_ref()
            .expect("a spool is there until it is kept")
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        write_whole(&self.table, &mut self.file(), bytes, self.len)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Writes over the first bytes.
    pub fn write_start(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        let mut file = self.file();
        let written = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(bytes))
            .and_then(|()| file.seek(SeekFrom::Start(self.len)));
        written.map_err(TableError::io("write", &self.path))?;
        Ok(())
    }

    /// What has been written.
    pub fn map(&self) -> Result<Bytes, TableError> {
        if self.len == 0 {
            return Ok(Bytes::Owned(Vec::new()));
        }
        // SAFETY: the file has a hidden name, belongs to the one writer of its table and is not
        // written to as long as it is mapped. See also `TableFile::open`.
        let map = unsafe { Mmap::map(self.file()) };
        Ok(Bytes::Mapped(
            map.map_err(TableError::io("map", &self.path))?,
        ))
    }

    /// Appends what another spool holds from one place to another.
    pub fn append(&mut self, other: &Spool, first: u64, len: u64) -> Result<(), TableError> {
        let mut from = other.file();
        from.seek(SeekFrom::Start(first))
            .map_err(TableError::io("read", &other.path))?;
        let mut piece = vec![0; PIECE.min(len as usize)];
        let mut left = len as usize;
        while left > 0 {
            let piece = &mut piece[..PIECE.min(left)];
            from.read_exact(piece)
                .map_err(TableError::io("read", &other.path))?;
            self.write(piece)?;
            left -= piece.len();
        }
        Ok(())
    }

    /// Gives the file its name for good. `before` is done when all is on the disk and only the name
    /// is missing.
    pub fn keep(
        mut self,
        before: impl FnOnce() -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let synced = self.file().sync_all();
        synced.map_err(|error| write_error(&self.table, error, self.len, 0))?;
        before()?;
        // Some systems rename no file that is open.
        self.file = None;
        let renamed = fs::rename(&self.path, &self.table);
        renamed.map_err(|error| {
            let error = TableError::io("rename", &self.path)(error);
            let _ = fs::remove_file(&self.path);
            error
        })
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // What cannot be removed is written over next time.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes bytes of a table behind others.
fn write_whole(
    table: &Path,
    sink: &mut impl Write,
    bytes: &[u8],
    before: u64,
) -> Result<(), TableError> {
    for (piece, number) in bytes.chunks(PIECE).zip(0..) {
        let written = sink.write_all(piece);
        written.map_err(|error| {
            let needed = before + bytes.len() as u64;
            write_error(table, error, needed, before + number * PIECE as u64)
        })?;
    }
    Ok(())
}

fn write_error(table: &Path, error: io::Error, needed: u64, found: u64) -> TableError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => TableError::DiskFull {
            path: table.to_owned(),
            needed,
            found,
        },
        _ => TableError::io("write", table)(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for so many bytes.
    struct SmallDisk(Vec<u8>, usize);

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.len() + bytes.len() > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_tells_how_much_is_needed() {
        let whole = vec![7; 3 * PIECE + 5];
        let path = Path::new("KKvK.dtw");
        let mut disk = SmallDisk(Vec::new(), 2 * PIECE);
        let error = write_whole(path, &mut disk, &whole, 100).unwrap_err();
        let TableError::DiskFull { needed, found, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(needed, whole.len() as u64 + 100);
        assert_eq!(found, 2 * PIECE as u64 + 100);
        let mut disk = SmallDisk(Vec::new(), whole.len());
        write_whole(path, &mut disk, &whole, 0).unwrap();
        assert_eq!(disk.0, whole);
    }

    #[test]
    fn nothing_is_left_but_what_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let table = directory.path().join("KvK.wdl");
        let names = || {
            let entries = fs::read_dir(directory.path()).unwrap();
            let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
            names.collect::<Vec<_>>()
        };
        let spools = Spools::beside(&table);
        let mut first = spools.create().unwrap();
        first.write(b"0123456789").unwrap();
        assert_eq!(first.map().unwrap().all(), b"0123456789");
        let mut second = spools.create().unwrap();
        assert!(second.map().unwrap().all().is_empty());
        second.append(&first, 3, 4).unwrap();
        second.write(b"!").unwrap();
        second.write_start(b"ab").unwrap();
        second.write(b"?").unwrap();
        assert_eq!(names().len(), 2);
        let tables = names();
        let tables = tables.iter().map(|name| spooled_table(name));
        assert!(tables.eq([Some("KvK.wdl"); 2]));
        assert_eq!(spooled_table("KvK.wdl"), None);
        drop(first);
        assert_eq!(names().len(), 1);
        second.keep(|| Ok(())).unwrap();
        assert_eq!(names(), ["KvK.wdl"]);
        assert_eq!(fs::read(&table).unwrap(), b"ab56!?");

        let third = spools.create().unwrap();
        let refused = third.keep(|| Err(TableError::io("x", &table)(io::Error::other("y"))));
        assert!(refused.is_err());
        assert_eq!(names(), ["KvK.wdl"]);
    }
}
