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
    match manifest.check(&file)? {
        true => Ok(()),
        false => Err(VerifyError::Unlisted {
            path: path.to_owned(),
        }),
    }
}
