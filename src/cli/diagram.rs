//! The board drawn in text, White at the bottom, as the variant orients it.
//!
//! Playing squares that are empty are dots, the others blank. Numbered variants have the number of
//! the first and the last square of each row beside it, algebraic ones ranks and files. On a
//! terminal with colours the squares are painted; [`anstream`] takes the colours away elsewhere.

use std::io::{self, Write};

use anstyle::{Ansi256Color, Color as Paint, Style};

use crownhead::board::{Color, Piece, Position, Square};
use crownhead::notation::square_name;
use crownhead::rules::{Notation, Variant};

/// Columns of a cell.
const WIDTH: usize = 3;

/// Draws a position, indented by two blanks.
pub fn draw(out: &mut dyn Write, position: &Position) -> io::Result<()> {
    let variant = position.variant();
    let geometry = variant.geometry();
    let files = geometry.files();
    let border = "─".repeat(WIDTH * usize::from(files));
    writeln!(out, "     ┌{border}┐")?;
    for rank in (0..geometry.ranks()).rev() {
        let (left, right) = labels(variant, rank);
        write!(out, "  {left:>2} │")?;
        for file in 0..files {
            let square = variant.square_at(rank, file);
            write_cell(out, position, square)?;
        }
        writeln!(out, "{}", format!("│ {right}").trim_end())?;
    }
    writeln!(out, "     └{border}┘")?;
    if variant.notation() == Notation::Algebraic {
        let letters = (0..files).map(|file| format!(" {} ", char::from(b'a' + file)));
        writeln!(out, "      {}", letters.collect::<String>().trim_end())?;
    }
    Ok(())
}

/// What stands at the left and at the right of a row.
fn labels(variant: Variant, rank: u8) -> (String, String) {
    match variant.notation() {
        Notation::Algebraic => ((rank + 1).to_string(), String::new()),
        Notation::Numeric => {
            let files = 0..variant.geometry().files();
            let mut squares = files.filter_map(|file| variant.square_at(rank, file));
            let name =
                |square: Option<Square>| square.map_or(String::new(), |s| square_name(variant, s));
            (name(squares.next()), name(squares.next_back()))
        }
    }
}

fn write_cell(out: &mut dyn Write, position: &Position, square: Option<Square>) -> io::Result<()> {
    let Some(square) = square else {
        return write!(out, "{LIGHT}   {LIGHT:#}");
    };
    let (sign, style) = match position.piece_at(square) {
        None => ('·', EMPTY),
        Some((color, piece)) => (
            sign(color, piece),
            match color {
                Color::White => WHITE,
                Color::Black => BLACK,
            },
        ),
    };
    write!(out, "{style} {sign} {style:#}")
}

/// The draughts pieces of Unicode.
fn sign(color: Color, piece: Piece) -> char {
    match (color, piece) {
        (Color::White, Piece::Man) => '⛀',
        (Color::White, Piece::King) => '⛁',
        (Color::Black, Piece::Man) => '⛂',
        (Color::Black, Piece::King) => '⛃',
    }
}

const fn paint(color: u8) -> Option<Paint> {
    Some(Paint::Ansi256(Ansi256Color(color)))
}

const LIGHT: Style = Style::new().bg_color(paint(223));
const DARK: Style = Style::new().bg_color(paint(94));
const EMPTY: Style = DARK.fg_color(paint(137));
const WHITE: Style = DARK.fg_color(paint(231)).bold();
const BLACK: Style = DARK.fg_color(paint(16)).bold();
