//! Positions answered line by line, as fast as they come.

use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::path::Path;

use crownhead::notation::{fen, parse_position};
use crownhead::probe::Tablebase;
use crownhead::rules::Variant;

use super::input::Input;
use super::{Failure, words};

/// Answers every line of a file (`-`: of standard input) that is not blank with a line
/// `FEN;result;dtc;dtw`; a bad line is told in its place.
///
/// What is answered is written out before the input is waited for, so that a person or a program
/// at the other end of a pipe can ask line by line.
pub fn answer(
    variant: Variant,
    tables: &Tablebase,
    path: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Input { name, mut reader } = Input::open(path)?;
    let mut line = Vec::new();
    let mut answer = String::new();
    let mut number = 0;
    loop {
        number += 1;
        // The next line is still to come: who asks for one at a time waits for the answers.
        if !reader.buffer().contains(&b'\n') {
            out.flush()?;
        }
        line.clear();
        let length = reader.read_until(b'\n', &mut line);
        if length.map_err(|error| format!("cannot read {name}: {error}"))? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        answer.clear();
        let answered = match words::not_text(&line, number, false) {
            Some(fault) => Err(fault.into()),
            None => answer_line(variant, tables, text, &mut answer),
        };
        if let Err(failure) = answered {
            answer = format!("{};error: {};;", field(text), field(&failure.to_string()));
        }
        answer.push('\n');
        out.write_all(answer.as_bytes())?;
    }
}

fn answer_line(
    variant: Variant,
    tables: &Tablebase,
    text: &str,
    answer: &mut String,
) -> Result<(), Failure> {
    let position = parse_position(variant, text)?;
    let outcome = tables.probe(&position)?;
    write!(answer, "{};{}", fen::format(&position), outcome.result)?;
    for distance in [outcome.dtc, outcome.dtw] {
        match distance {
            Some(plies) => write!(answer, ";{plies}")?,
            None => answer.push(';'),
        }
    }
    Ok(())
}

/// A text as a field of a line: semicolons and line ends would shift the fields, and who gave
/// megabytes for a position need not have them back.
fn field(text: &str) -> String {
    const LONGEST: usize = 1000;
    let replaced = text.chars().map(|c| match c {
        ';' => ',',
        c if c.is_control() => ' ',
        c => c,
    });
    replaced.take(LONGEST).collect()
}
