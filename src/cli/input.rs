//! Where lists are read from: a file, a pipe or standard input.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::{BUFFER, Failure};

/// A file or pipe to be read to its end, or standard input.
pub struct Input {
    /// What messages call it.
    pub name: String,
    pub reader: BufReader<Box<dyn Read>>,
}

impl Input {
    /// `-` is standard input. A directory is refused.
    pub fn open(path: &Path) -> Result<Input, Failure> {
        let (name, input): (String, Box<dyn Read>) = if path.as_os_str() == "-" {
            ("standard input".to_owned(), Box::new(io::stdin().lock()))
        } else {
            let name = format!("`{}`", path.display());
            let open = || match path.metadata()?.is_dir() {
                true => Err(io::ErrorKind::IsADirectory.into()),
                false => File::open(path),
            };
            let file = open().map_err(|error: io::Error| format!("cannot open {name}: {error}"))?;
            (name, Box::new(file))
        };
        let reader = BufReader::with_capacity(BUFFER, input);
        Ok(Input { name, reader })
    }
}
