use std::io::{self, BufRead};

use crate::notation::fen::{self, FenError};
use crate::probe::{ProbeError, Tablebase};
use crate::rules::Variant;

/// Why a list does not agree with the tables.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("line {line}: {source}")]
    Fen { line: u64, source: FenError },
    #[error("line {line}: write `fen;result;distance`, the distance may be empty")]
    Fields { line: u64 },
    #[error("line {line}: {fen} is {listed} in the list, {found} in the tables")]
    Differs {
        line: u64,
        fen: String,
        listed: String,
        found: String,
    },
    #[error("line {line}: {source}")]
    Probe { line: u64, source: ProbeError },
    #[error("cannot read the list: {0}")]
    Io(#[from] io::Error),
}

/// Compares tables with a list of lines `fen;result;distance`. The distance, in plies, is that to
/// the end of the game if there is such a table, else that to a conversion; it may be empty. A
/// first line that begins with `fen` and blank lines are passed over. Returns the lines compared.
///
/// # Errors
/// The first line that is wrong or cannot be answered.
pub fn verify_list(
    tables: &Tablebase,
    variant: Variant,
    list: impl BufRead,
) -> Result<u64, ListError> {
    let mut compared = 0;
    for (text, line) in list.lines().zip(1..) {
        let text = text?;
        let text = text.trim();
        if text.is_empty() || line == 1 && text.starts_with("fen") {
            continue;
        }
        let fields: Vec<&str> = text.split(';').map(str::trim).collect();
        let (fen, result, distance) = match fields[..] {
            [fen, result] => (fen, result, ""),
            [fen, result, distance, ..] => (fen, result, distance),
            _ => return Err(ListError::Fields { line }),
        };
        if !["win", "draw", "loss"].contains(&result) {
            return Err(ListError::Fields { line });
        }
        let position = fen::parse(variant, fen);
        let position = position.map_err(|source| ListError::Fen { line, source })?;
        let outcome = tables.probe(&position);
        let outcome = outcome.map_err(|source| ListError::Probe { line, source })?;
        let plies = outcome.dtw.or(outcome.dtc).map(|plies| plies.to_string());
        let same = outcome.result.to_string() == result
            && (distance.is_empty() || plies.as_deref() == Some(distance));
        if !same {
            return Err(ListError::Differs {
                line,
                fen: fen.to_owned(),
                listed: format!("{result} {distance}").trim_end().to_owned(),
                found: format!("{} {}", outcome.result, plies.unwrap_or_default()),
            });
        }
        compared += 1;
    }
    Ok(compared)
}
