use std::collections::HashMap;
use std::path::Path;

use super::VerifyError;
use crate::parallel;
use crate::table::{Manifest, TableError, TableFile};

/// Compares all checksums of table files, on all threads: header, pages, and the hash of the whole
/// file in the manifest beside it.
///
/// # Errors
/// The first that is wrong.
pub fn verify_checksums<P: AsRef<Path> + Sync>(tables: &[P]) -> Result<(), VerifyError> {
    let mut manifests = HashMap::new();
    for table in tables {
        let directory = directory_of(table.as_ref());
        if !manifests.contains_key(directory) {
            manifests.insert(directory, Manifest::read(directory)?);
        }
    }
    let checked = parallel::map(tables.len() as u64, &|i| {
        let path = tables[i as usize].as_ref();
        let file = TableFile::open(path)?;
        file.check_pages()?;
        manifests[directory_of(path)].check(&file)
    });
    let checked: Vec<bool> = checked.into_iter().collect::<Result<_, TableError>>()?;
    match checked
        .iter()
        .zip(tables)
        .find(|(is_listed, _)| !**is_listed)
    {
        None => Ok(()),
        Some((_, path)) => Err(VerifyError::Unlisted {
            path: path.as_ref().to_owned(),
        }),
    }
}

fn directory_of(table: &Path) -> &Path {
    table.parent().unwrap_or(Path::new("."))
}
