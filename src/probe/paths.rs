use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

/// The environment variable that lists directories of tables.
pub const PATHS_VARIABLE: &str = "CROWNHEAD_TABLES";

/// The directories to search: those of the lists given, else those of [`PATHS_VARIABLE`], else
/// `tables`.
///
/// A list has the platform's separator; empty parts are dropped, and so are quotes and blanks
/// around a part and repetitions of an earlier one.
pub fn table_paths<S: AsRef<OsStr>>(given: &[S]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for list in given {
        add_parts(&mut paths, list.as_ref());
    }
    if let (true, Some(list)) = (paths.is_empty(), env::var_os(PATHS_VARIABLE)) {
        add_parts(&mut paths, &list);
    }
    if paths.is_empty() {
        paths.push(PathBuf::from("tables"));
    }
    paths
}

fn add_parts(paths: &mut Vec<PathBuf>, list: &OsStr) {
    for part in env::split_paths(list) {
        // Paths that are not Unicode are taken as they are.
        let part = match part.to_str() {
            Some(text) => PathBuf::from(text.trim().trim_matches(['"', '\'']).trim()),
            None => part,
        };
        if !part.as_os_str().is_empty() && !paths.contains(&part) {
            paths.push(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_kindly() {
        let list = env::join_paths(["", "a", " \"b c\" ", "", "a", "../d", ""]).unwrap();
        let expected = ["a", "b c", "../d", "e"].map(PathBuf::from);
        assert_eq!(table_paths(&[list, "e".into()]), expected);
    }
}
