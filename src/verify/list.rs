use std::io::{self, BufRead};

use crate::notation::{NotAPosition, parse_position};
use crate::probe::{ProbeError, Tablebase};
use crate::rules::Variant;

/// Why a list does not agree with the tables.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("line {line}: {source}")]
    Position { line: u64, source: NotAPosition },
    #[error("line {line}, byte {byte}: not UTF-8 here; save the file as UTF-8")]
    NotText { line: u64, byte: usize },
    #[error(
        "line {line}: write `fen;result;distance` or `fen;result;dtc;dtw`, the result as win, draw \
         or loss; distances may be empty"
    )]
    Fields { line: u64 },
    #[error("there are no positions in the list")]
    Empty,
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

/// Compares tables with a list of lines `fen;result;distance` or `fen;result;dtc;dtw`, the latter
/// with a remark or not; positions in FEN or the Hub form. One distance alone, in plies, is that to
/// the end of the game if there is such a table, else that to a conversion; any may be empty. A first
/// line that begins with `fen` and blank lines are passed over. Returns the lines compared.
///
/// # Errors
/// The first line that is wrong or cannot be answered; a list without positions.
pub fn verify_list(
    tables: &Tablebase,
    variant: Variant,
    mut list: impl BufRead,
) -> Result<u64, ListError> {
    let mut compared = 0;
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if list.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let text = std::str::from_utf8(&bytes);
        let text = text.map_err(|error| ListError::NotText {
            line,
            byte: error.valid_up_to() + 1,
        })?;
        let text = text.trim();
        if text.is_empty() || line == 1 && text.starts_with("fen") {
            continue;
        }
        let fields: Vec<&str> = text.split(';').map(str::trim).collect();
        let (fen, result, distances) = match fields[..] {
            [fen, result] => (fen, result, &[][..]),
            [fen, result, _] => (fen, result, &fields[2..]),
            [fen, result, _, _] | [fen, result, _, _, _] => (fen, result, &fields[2..4]),
            _ => return Err(ListError::Fields { line }),
        };
        if !["win", "draw", "loss"].contains(&result) {
            return Err(ListError::Fields { line });
        }
        let position = parse_position(variant, fen);
        let position = position.map_err(|source| ListError::Position { line, source })?;
        let outcome = tables.probe(&position);
        let outcome = outcome.map_err(|source| ListError::Probe { line, source })?;
        let plies = |plies: Option<u16>| plies.map_or(String::new(), |plies| plies.to_string());
        let found = match distances {
            [_, _] => vec![plies(outcome.dtc), plies(outcome.dtw)],
            _ => vec![plies(outcome.dtw.or(outcome.dtc))],
        };
        let mut pairs = distances.iter().zip(&found);
        let same = outcome.result.to_string() == result
            && pairs.all(|(listed, found)| listed.is_empty() || listed == found);
        if !same {
            return Err(ListError::Differs {
                line,
                fen: fen.to_owned(),
                listed: format!("{result} {}", distances.join(" "))
                    .trim_end()
                    .to_owned(),
                found: format!("{} {}", outcome.result, found.join(" "))
                    .trim_end()
                    .to_owned(),
            });
        }
        compared += 1;
    }
    match compared {
        0 => Err(ListError::Empty),
        compared => Ok(compared),
    }
}
