use std::path::Path;

use super::VerifyError;
use crate::table::{Manifest, TableFile};

/// Compares all checksums of one table file: header, pages, and the hash of the whole file in the
/// manifest beside it.
///
/// # Errors
/// The first that is wrong.
pub fn verify_checksums(path: &Path) -> Result<(), VerifyError> {
    let file = TableFile::open(path)?;
    file.check_pages()?;
    let manifest = Manifest::read(path.parent().unwrap_or(Path::new(".")))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match manifest.hash(&name) {
        None => Err(VerifyError::Unlisted {
            path: path.to_owned(),
        }),
        Some(hash) if hash == blake3::hash(file.bytes()) => Ok(()),
        Some(_) => Err(VerifyError::Manifest {
            path: path.to_owned(),
        }),
    }
}
