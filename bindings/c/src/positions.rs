use std::ffi::{CStr, c_char};
use std::panic::catch_unwind;

use crownhead::board::{ByColor, Color, Position};
use crownhead::notation::{fen, parse_position};
use crownhead::rules::Variant;

use crate::errors::{Failure, Status, call, write_text};

/// A set of squares: bit n - 1 is the square with number n, in the numbering of the variant. Bits
/// from 64 on are in `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Squares {
    pub low: u64,
    pub high: u64,
}

/// A position: bitboards and the side to move. One side may have no piece, not both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct BoardPosition {
    pub white_men: Squares,
    pub white_kings: Squares,
    pub black_men: Squares,
    pub black_kings: Squares,
    /// From crownhead_variant.
    pub variant: i32,
    /// 0 if White is to move, 1 if Black is.
    pub black_to_move: i32,
}

impl From<u128> for Squares {
    fn from(set: u128) -> Squares {
        Squares {
            low: set as u64,
            high: (set >> 64) as u64,
        }
    }
}

impl From<Squares> for u128 {
    fn from(set: Squares) -> u128 {
        u128::from(set.high) << 64 | u128::from(set.low)
    }
}

impl From<&Position> for BoardPosition {
    fn from(position: &Position) -> BoardPosition {
        BoardPosition {
            white_men: position.men(Color::White).into(),
            white_kings: position.kings(Color::White).into(),
            black_men: position.men(Color::Black).into(),
            black_kings: position.kings(Color::Black).into(),
            variant: number(position.variant()),
            black_to_move: position.side() as i32,
        }
    }
}

impl BoardPosition {
    #[inline]
    pub(crate) fn check(&self) -> Result<Position, Failure> {
        let men = ByColor::new(self.white_men.into(), self.black_men.into());
        let kings = ByColor::new(self.white_kings.into(), self.black_kings.into());
        let side = match self.black_to_move {
            0 => Color::White,
            1 => Color::Black,
            other => {
                return Err(Failure::Argument(format!(
                    "black_to_move is {other}, not 0 or 1"
                )));
            }
        };
        let position = Position::new(variant_of(self.variant)?, men, kings, side);
        position.map_err(|error| Failure::Argument(error.to_string()))
    }
}

fn number(variant: Variant) -> i32 {
    let place = Variant::ALL.iter().position(|&v| v == variant);
    place.map_or(-1, |place| place as i32)
}

#[inline]
pub(crate) fn variant_of(number: i32) -> Result<Variant, Failure> {
    let variant = usize::try_from(number)
        .ok()
        .and_then(|n| Variant::ALL.get(n));
    variant
        .copied()
        .ok_or_else(|| Failure::Argument(format!("there is no variant {number}")))
}

/// # Safety
/// `text` must be null or end with a zero, and live as long as the result.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map_err(|_| Failure::Argument(format!("`{name}` is not UTF-8")))
}

/// # Safety
/// `place` must be null or valid for writing.
pub(crate) unsafe fn put<T>(place: *mut T, name: &str, value: T) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: as the caller promises; what was there needs no drop.
    unsafe { place.write(value) };
    Ok(())
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn crownhead_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The number of a variant ("english", "russian", "international", aliases too), or -1 if there is
/// none of this name. Ask once: numbers may differ in another version of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_variant(name: *const c_char) -> i32 {
    // SAFETY: null or a text, as the header demands.
    let found = catch_unwind(|| unsafe { text(name, "name") }.ok()?.parse::<Variant>().ok());
    found.ok().flatten().map_or(-1, number)
}

/// Reads a position from FEN ("W:W31,K40:B1,K2") or from a letter for each square (Hub).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_parse_fen(
    variant: i32,
    fen: *const c_char,
    position: *mut BoardPosition,
) -> Status {
    call(std::ptr::null(), || {
        let variant = variant_of(variant)?;
        // SAFETY: null or a text, as the header demands.
        let fen = unsafe { text(fen, "fen") }?;
        let read = parse_position(variant, fen);
        let read = read.map_err(|error| Failure::Argument(error.to_string()))?;
        // SAFETY: null or valid, as the header demands.
        unsafe { put(position, "position", BoardPosition::from(&read)) }
    })
}

/// Writes a position as FEN, cut to `size` bytes with the zero at the end. Returns the bytes the
/// whole text needs with that zero; 0 if this is no position.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crownhead_format_fen(
    position: *const BoardPosition,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    let mut needed = 0;
    call(std::ptr::null(), || {
        // SAFETY: null or valid, as the header demands.
        let position = unsafe { position.as_ref() }.ok_or(Failure::null("position"))?;
        let text = fen::format(&position.check()?);
        // SAFETY: `buffer` is null or has `size` bytes, as the header demands.
        needed = unsafe { write_text(&text, buffer, size) };
        Ok(())
    });
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As FEN does, bitboards refuse a board without any piece; one side may have none.
    #[test]
    fn an_empty_board_is_no_position() {
        let mut position = BoardPosition::default();
        let refused = position.check();
        assert!(matches!(refused, Err(Failure::Argument(text)) if text.contains("any piece")));
        position.white_kings.low = 1;
        assert!(position.check().is_ok());
    }
}
