use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::tables::Tables;
use crate::index::Slice;
use crate::rules::RuleSetId;
use crate::table::{Codec, Header, Manifest, Metric};

/// What a search for tables found.
#[derive(Debug, Default)]
pub struct Inventory {
    /// One for every path that was searched.
    pub places: Vec<Place>,
    /// By rule set and metric.
    pub coverage: Vec<Coverage>,
    /// Files that are not used as tables, and directories that are not searched.
    pub ignored: Vec<Ignored>,
    /// Directories that have been searched, in order.
    pub(super) directories: Vec<PathBuf>,
    /// The same without symbolic links in their paths.
    searched: HashSet<PathBuf>,
}

/// A path that was searched.
#[derive(Debug)]
pub struct Place {
    pub path: PathBuf,
    /// Tables found there and below; an error text if it could not be searched.
    pub tables: Result<usize, String>,
}

/// A file that is not used as a table, or a directory that is not searched.
#[derive(Debug)]
pub struct Ignored {
    pub path: PathBuf,
    pub reason: String,
}

/// The tables of one rule set and metric.
#[derive(Debug)]
pub struct Coverage {
    pub rule_set: RuleSetId,
    pub metric: Metric,
    pub tables: usize,
    /// Of all files together.
    pub bytes: u64,
    /// Positions with a value.
    pub positions: u64,
    /// Sides to move that are not stored, as they follow from the other by a look-ahead.
    pub following: u64,
    /// How sides to move are encoded, in the order of codecs; only those that occur.
    pub codecs: Vec<CodecShare>,
    /// Every slice of at most this many pieces is there; none if not even those of two.
    pub complete: Option<usize>,
    /// Slices of more pieces that are there as well.
    pub extra: Vec<Slice>,
    /// Slices that are not there although one of as many pieces is.
    pub missing: Vec<Slice>,
}

/// What one codec encodes of a set of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodecShare {
    pub codec: Codec,
    /// Slices with a side to move.
    pub sides: u64,
    pub positions: u64,
    /// Of the sections of these sides: headers and checksums are not counted.
    pub bytes: u64,
}

impl CodecShare {
    /// None if it encodes nothing.
    fn of<'h>(codec: Codec, headers: impl Iterator<Item = &'h Header>) -> Option<CodecShare> {
        let mut share = CodecShare {
            codec,
            sides: 0,
            positions: 0,
            bytes: 0,
        };
        for header in headers {
            let sides = header.sides().iter();
            let stored = sides.filter_map(|&side| header.stored[side].as_ref());
            for stored in stored.filter(|stored| stored.codec == Some(codec)) {
                share.sides += 1;
                share.positions += header.positions;
                share.bytes += stored.bytes();
            }
        }
        Some(share).filter(|share| share.sides > 0)
    }
}

/// Reasons why a directory is ignored whose tables are known nevertheless.
const SEARCHED_ALREADY: &str = "a directory that is searched already";
const LEADS_UP: &str = "a link to a directory above: not followed";

impl fmt::Display for Place {
    /// The path; also why it could not be searched.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.path.display())?;
        match &self.tables {
            Ok(_) => Ok(()),
            Err(error) => write!(f, " ({error})"),
        }
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = format!("`{}`", self.path.display());
        if self.reason.contains(&path) {
            return f.write_str(&self.reason);
        }
        write!(f, "{path}: {}", self.reason)
    }
}

impl Inventory {
    /// The paths that were searched, in words: `` `tables`, `more` (No such file or directory) ``.
    pub fn searched(&self) -> String {
        let places = self.places.iter().map(Place::to_string);
        places.collect::<Vec<_>>().join(", ")
    }

    /// Why there is no table of a slice, in words: a file of its name is not used, or nothing is
    /// there.
    pub fn absence(&self, rule_set: RuleSetId, slice: Slice, metric: Metric) -> String {
        let table = format!("{rule_set}/{slice}.{metric}");
        match self.unused(rule_set, slice, metric) {
            Some(ignored) => format!("the table {table} is not used: {ignored}"),
            None => format!(
                "no table {table} in {}: generate it with `crownhead generate {rule_set} --slice \
                 {slice} --metric {metric}`, or name its directory with --tables",
                self.searched()
            ),
        }
    }

    /// The file of a slice's table, or the directory where it would be, if it is ignored.
    pub fn unused(&self, rule_set: RuleSetId, slice: Slice, metric: Metric) -> Option<&Ignored> {
        let name = format!("{slice}.{metric}");
        let mut ignored = self.ignored.iter();
        ignored.find(|ignored| ignored.would_hold(rule_set, &name))
    }

    /// Hidden files are passed over: they are a generator's temporary and lock files.
    pub(super) fn scan<P: AsRef<Path>>(paths: &[P]) -> (Tables, Inventory) {
        let mut tables = Tables::default();
        let mut inventory = Inventory::default();
        for path in paths {
            let path = path.as_ref();
            let before = tables.len();
            let searched = match fs::metadata(path) {
                Ok(what) if what.is_dir() => inventory.search(path, None, &mut tables),
                Ok(_) => {
                    inventory.add(path, None, &mut tables);
                    Ok(())
                }
                Err(error) => Err(error),
            };
            inventory.places.push(Place {
                path: path.to_owned(),
                tables: match searched {
                    Ok(()) => Ok(tables.len() - before),
                    Err(error) => Err(error.to_string()),
                },
            });
        }
        inventory.take_stock(&tables);
        (tables, inventory)
    }

    /// Searches a directory, unless that has been done or was begun: symbolic links may lead in a
    /// circle. `rule_set`: the one that the directory is named after, if it lies in one that was given.
    fn search(
        &mut self,
        directory: &Path,
        rule_set: Option<RuleSetId>,
        tables: &mut Tables,
    ) -> std::io::Result<()> {
        if !self.searched.insert(directory.canonicalize()?) {
            self.ignore(directory, SEARCHED_ALREADY);
            return Ok(());
        }
        let mut entries = fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
        // Tables of the directory itself count before copies of them further down.
        entries.sort_by_key(|entry| (entry.path().is_dir(), entry.file_name()));
        self.directories.push(directory.to_owned());
        for entry in entries {
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            if !path.is_dir() {
                self.add(&path, rule_set, tables);
            } else if leads_up(&path) {
                self.ignore(&path, LEADS_UP);
            } else if let Err(error) = self.search(&path, rule_set_named(&path), tables) {
                self.ignore(&path, error.to_string());
            }
        }
        Ok(())
    }

    /// `expected`: the rule set whose tables should be where it is.
    fn add(&mut self, path: &Path, expected: Option<RuleSetId>, tables: &mut Tables) {
        if path.file_name().is_some_and(|name| name == Manifest::NAME) {
            return;
        }
        let extension = path.extension().and_then(|e| e.to_str());
        if extension == Some("md") {
            return;
        }
        if !Metric::ALL.iter().any(|m| Some(m.name()) == extension) {
            return self.ignore(
                path,
                "not a table: its name does not end in .wdl, .dtc or .dtw",
            );
        }
        // Reading from a pipe or a device might never end.
        if path.metadata().is_ok_and(|what| !what.is_file()) {
            return self.ignore(path, "not a table: not a regular file");
        }
        let header = match Header::read(path) {
            Ok(header) => header,
            Err(error) => return self.ignore(path, error.to_string()),
        };
        let name = format!("{}.{}", header.slice, header.metric);
        if path.file_name().is_none_or(|n| n != name.as_str()) {
            let reason = format!(
                "holds {name} of {}: not under its own name",
                header.rule_set
            );
            return self.ignore(path, reason);
        }
        if let Some(expected) = expected.filter(|&expected| expected != header.rule_set) {
            let reason = format!(
                "its header says {}, its directory {expected}",
                header.rule_set
            );
            return self.ignore(path, reason);
        }
        if let Some(first) = tables.add(path, header) {
            let reason = format!("already found at `{}`", first.path.display());
            self.ignore(path, reason);
        }
    }

    fn ignore(&mut self, path: &Path, reason: impl Into<String>) {
        self.ignored.push(Ignored {
            path: path.to_owned(),
            reason: reason.into(),
        });
    }

    fn take_stock(&mut self, tables: &Tables) {
        for &rule_set in RuleSetId::ALL {
            for metric in Metric::ALL {
                let of_set = || {
                    let all = tables.headers();
                    all.filter(|h| h.rule_set == rule_set && h.metric == metric)
                };
                let Some(most) = of_set().map(|h| h.slice.total()).max() else {
                    continue;
                };
                let wanted = |pieces| {
                    let slices = Slice::all_canonical(pieces, rule_set.rules().has_kings());
                    let absent = |s: &Slice| tables.get(rule_set, *s, metric).is_none();
                    slices.into_iter().filter(absent)
                };
                let complete = (2..=most)
                    .take_while(|&n| wanted(n).next().is_none())
                    .last();
                let beyond = |s: &Slice| complete.is_none_or(|n| s.total() > n);
                let mut extra: Vec<Slice> = of_set().map(|h| h.slice).filter(beyond).collect();
                extra.sort_by_key(Slice::sort_key);
                self.coverage.push(Coverage {
                    rule_set,
                    metric,
                    tables: of_set().count(),
                    bytes: of_set().map(|h| h.file_len).sum(),
                    positions: of_set().map(|h| h.positions * h.sides().len() as u64).sum(),
                    following: of_set()
                        .map(|h| h.sides().iter().filter(|&&side| h.follows(side)).count() as u64)
                        .sum(),
                    codecs: Codec::ALL
                        .iter()
                        .filter_map(|&codec| CodecShare::of(codec, of_set()))
                        .collect(),
                    complete,
                    extra,
                    missing: (2..=most).flat_map(wanted).collect(),
                });
            }
        }
    }
}

impl Ignored {
    /// It is not among the files of another rule set, nor the directory of these.
    pub fn may_concern(&self, rule_set: RuleSetId) -> bool {
        let places = [Some(self.path.as_path()), self.path.parent()];
        let mut named = places.into_iter().flatten().filter_map(rule_set_named);
        named.all(|other| other == rule_set)
    }

    /// A file of this name, or the directory where a table of the rule set would be, and not known
    /// by another path.
    fn would_hold(&self, rule_set: RuleSetId, name: &str) -> bool {
        let is = |path: Option<&Path>, name: &str| {
            path.and_then(Path::file_name)
                .is_some_and(|last| last == name)
        };
        if is(Some(&self.path), name) {
            let others = RuleSetId::ALL.iter().filter(|&&other| other != rule_set);
            let parent = self.path.parent();
            return others.into_iter().all(|other| !is(parent, other.name()));
        }
        let reason = self.reason.as_str();
        is(Some(&self.path), rule_set.name()) && ![SEARCHED_ALREADY, LEADS_UP].contains(&reason)
    }
}

/// The rule set after which a file or directory is named.
pub(super) fn rule_set_named(path: &Path) -> Option<RuleSetId> {
    let name = path.file_name()?;
    let mut all = RuleSetId::ALL.iter().copied();
    all.find(|rule_set| name == rule_set.name())
}

/// A directory that contains the path by which it is reached: a link up the tree.
fn leads_up(path: &Path) -> bool {
    let contains = |parent: PathBuf| path.canonicalize().is_ok_and(|to| parent.starts_with(to));
    path.parent()
        .and_then(|parent| parent.canonicalize().ok())
        .is_some_and(contains)
}
