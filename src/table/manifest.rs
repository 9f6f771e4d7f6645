use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::{TableError, TableFile, create_file, open_file, open_lock, sync_directory};
use crate::parallel;

/// The BLAKE3 hashes of the tables in one directory, in its file `MANIFEST`: a line
/// `<hash in hexadecimal>  <file name>` for each, sorted by name, as `b3sum --check` reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    hashes: BTreeMap<String, blake3::Hash>,
}

impl Manifest {
    /// The name of the file.
    pub const NAME: &'static str = "MANIFEST";

    /// Reads the manifest of a directory; an empty one if there is none.
    ///
    /// # Errors
    /// If it cannot be read or has a line that is none of a manifest.
    pub fn read(directory: &Path) -> Result<Manifest, TableError> {
        let path = directory.join(Self::NAME);
        let mut bytes = Vec::new();
        match open_file(&path).and_then(|mut file| file.read_to_end(&mut bytes)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read.map_err(TableError::io("read", &path))?,
        };
        let text = String::from_utf8(bytes).map_err(|_| "it is not text".to_owned());
        text.and_then(|text| Manifest::parse(&text))
            .map_err(|reason| TableError::Manifest { path, reason })
    }

    fn parse(text: &str) -> Result<Manifest, String> {
        let mut hashes = BTreeMap::new();
        if !text.is_empty() && !text.ends_with('\n') {
            return Err("its last line is cut off".to_owned());
        }
        for (line, number) in text.lines().zip(1..) {
            let entry = line.split_once("  ").and_then(|(hash, name)| {
                Some((name.to_owned(), blake3::Hash::from_hex(hash).ok()?))
            });
            let (name, hash) = entry.ok_or(format!("line {number} is no hash with a name"))?;
            if hashes.get(&name).is_some_and(|other| *other != hash) {
                return Err(format!(
                    "line {number} gives `{name}` another hash than before"
                ));
            }
            hashes.insert(name, hash);
        }
        Ok(Manifest { hashes })
    }

    fn text(&self) -> String {
        self.hashes
            .iter()
            .fold(String::new(), |mut text, (name, hash)| {
                // Writing to a string fails for no input.
                let _ = writeln!(text, "{}  {name}", hash.to_hex());
                text
            })
    }

    /// The hash a file of the directory should have.
    pub fn hash(&self, name: &str) -> Option<blake3::Hash> {
        self.hashes.get(name).copied()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.hashes.keys().map(String::as_str)
    }

    /// Compares the bytes of a table with the hash listed for it; returns whether one is listed.
    ///
    /// # Errors
    /// [`TableError::NotAsListed`], or [`TableError::Checksum`] if it is damaged.
    pub fn check(&self, table: &TableFile) -> Result<bool, TableError> {
        match self.hash(&place_of(table.path()).1) {
            None => Ok(false),
            Some(listed) if listed == hash(table.bytes()) => Ok(true),
            Some(_) => {
                // What is damaged is told with its place.
                table.check_pages()?;
                Err(TableError::NotAsListed {
                    path: table.path().to_owned(),
                })
            }
        }
    }

    /// Enters a table that is about to appear at `table` into the manifest of its directory.
    pub(super) fn record(table: &Path, bytes: &[u8]) -> Result<(), TableError> {
        let (directory, name) = place_of(table);
        let hash = hash(bytes);
        Manifest::update(directory, |hashes| {
            hashes.insert(name, hash);
        })
    }

    /// Compares tables of one directory with what its manifest lists, on all threads. Those that it
    /// does not list, as it was lost or they came without one, are entered if all their pages are
    /// sound, and returned: nothing tells more of them.
    ///
    /// # Errors
    /// As [`Manifest::check`]; if a table or the manifest cannot be read, or this not be written.
    pub fn check_or_enter<'p>(
        directory: &Path,
        tables: &'p [PathBuf],
    ) -> Result<Vec<&'p Path>, TableError> {
        let listed = Manifest::read(directory)?;
        let checked = parallel::map(tables.len() as u64, &|i| {
            let table = TableFile::open(&tables[i as usize])?;
            if listed.check(&table)? {
                return Ok(None);
            }
            table.check_pages()?;
            Ok(Some(hash(table.bytes())))
        });
        let mut unlisted = Vec::new();
        for (table, hash) in tables.iter().zip(checked) {
            unlisted.extend(hash?.map(|hash| (table.as_path(), hash)));
        }
        if !unlisted.is_empty() {
            Manifest::update(directory, |hashes| {
                for &(table, hash) in &unlisted {
                    // What another process has listed meanwhile stands.
                    hashes.entry(place_of(table).1).or_insert(hash);
                }
            })?;
        }
        Ok(unlisted.into_iter().map(|(table, _)| table).collect())
    }

    /// Changes the manifest of a directory. It is replaced whole, under a lock, so that neither a
    /// second process nor a power loss costs an entry.
    fn update(
        directory: &Path,
        change: impl FnOnce(&mut BTreeMap<String, blake3::Hash>),
    ) -> Result<(), TableError> {
        let path = directory.join(Self::NAME);
        let lock = directory.join(".locks").join(Self::NAME);
        let file = open_lock(&lock).map_err(TableError::io("create", &lock))?;
        file.lock().map_err(TableError::io("lock", &lock))?;
        let mut manifest = Manifest::read(directory)?;
        change(&mut manifest.hashes);
        let temporary: PathBuf = directory.join(".MANIFEST.tmp");
        let write = || -> io::Result<()> {
            let mut file = create_file(&temporary)?;
            file.write_all(manifest.text().as_bytes())?;
            file.sync_all()
        };
        write().map_err(TableError::io("write", &temporary))?;
        fs::rename(&temporary, &path).map_err(TableError::io("write", &path))?;
        // A table that is listed here appears later, whatever happens.
        sync_directory(directory)
    }
}

/// The hash of a whole file, on all threads.
fn hash(bytes: &[u8]) -> blake3::Hash {
    blake3::Hasher::new().update_rayon(bytes).finalize()
}

/// The directory of a table and its name there.
fn place_of(table: &Path) -> (&Path, String) {
    let name = table.file_name().unwrap_or_default().to_string_lossy();
    (table.parent().unwrap_or(Path::new(".")), name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_lose_no_entry() {
        let directory = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let directory = directory.path();
                scope.spawn(move || {
                    for table in 0..10u8 {
                        let path = directory.join(format!("{thread}{table}.wdl"));
                        Manifest::record(&path, &[thread, table]).unwrap();
                    }
                });
            }
        });
        let manifest = Manifest::read(directory.path()).unwrap();
        assert_eq!(manifest.names().count(), 40);
        assert_eq!(manifest.hash("27.wdl"), Some(blake3::hash(&[2, 7])));
        assert_eq!(Manifest::parse(&manifest.text()), Ok(manifest));
    }

    /// What is no file of ours is neither waited for nor written through.
    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_not_written_to() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let pipe = |path: &Path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        };
        let record = || Manifest::record(&at("KvK.wdl"), b"x");
        fs::write(at("other"), "kept").unwrap();
        std::os::unix::fs::symlink(at("other"), at(".MANIFEST.tmp")).unwrap();
        record().unwrap();
        assert_eq!(fs::read(at("other")).unwrap(), b"kept");
        pipe(&at(".MANIFEST.tmp"));
        record().unwrap();
        fs::create_dir(at(".MANIFEST.tmp")).unwrap();
        let error = record().unwrap_err().to_string();
        assert!(error.contains(".MANIFEST.tmp"), "{error}");
        fs::remove_dir(at(".MANIFEST.tmp")).unwrap();
        fs::remove_file(at(".locks/MANIFEST")).unwrap();
        pipe(&at(".locks/MANIFEST"));
        let error = record().unwrap_err().to_string();
        assert!(
            error.contains(".locks/MANIFEST") && error.contains("regular"),
            "{error}"
        );
    }

    #[test]
    fn lines_that_are_cut_off_or_differ_are_damage() {
        let line = |bytes: &[u8], name: &str| format!("{}  {name}\n", blake3::hash(bytes).to_hex());
        let (one, same, other) = (
            line(b"x", "KvK.wdl"),
            line(b"x", "KvK.wdl"),
            line(b"y", "KvK.wdl"),
        );
        assert_eq!(
            Manifest::parse(&(one.clone() + &same))
                .unwrap()
                .names()
                .count(),
            1
        );
        let reason = Manifest::parse(&(one.clone() + &other)).unwrap_err();
        assert!(
            reason.contains("line 2") && reason.contains("KvK.wdl"),
            "{reason}"
        );
        assert!(Manifest::parse(&one[..one.len() - 2]).is_err());
        assert_eq!(Manifest::parse("").unwrap().names().count(), 0);
    }

    #[test]
    fn damage_is_told_and_not_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(Manifest::NAME);
        let damaged = format!("{}  KvM.wdl\nno hash\n", blake3::hash(b"y").to_hex());
        fs::write(&path, &damaged).unwrap();
        let record = || Manifest::record(&directory.path().join("KvK.wdl"), b"x");
        let none = Manifest::check_or_enter(directory.path(), &[]).map(|_| ());
        for told in [Manifest::read(directory.path()).map(|_| ()), record(), none] {
            let error = told.unwrap_err().to_string();
            assert!(error.contains("line 2"), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
        // As the message says.
        fs::remove_file(&path).unwrap();
        record().unwrap();
        assert_eq!(Manifest::read(directory.path()).unwrap().names().count(), 1);
    }
}
