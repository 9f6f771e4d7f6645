//! What positions, results and distances are in words.

use crownhead::board::Color;
use crownhead::probe::Outcome;
use crownhead::table::Wdl;

/// `1 ply`, `21 plies`.
pub fn plies(number: u16) -> String {
    counted(number.into(), "ply", "plies")
}

/// `21 plies (11 moves)`: the moves are those of the side that makes the first.
pub fn plies_and_moves(number: u16) -> String {
    let moves = u64::from(number.div_ceil(2));
    format!("{} ({})", plies(number), counted(moves, "move", "moves"))
}

/// A number with its noun.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", super::grouped(number))
}

/// The side that has won, if one has.
pub fn winner(side: Color, result: Wdl) -> Option<Color> {
    match result {
        Wdl::Win => Some(side),
        Wdl::Draw => None,
        Wdl::Loss => Some(!side),
    }
}

/// `White wins in 21 plies (11 moves)`, for an outcome as `side` sees it.
pub fn outcome(side: Color, outcome: &Outcome) -> String {
    outcome_with(side, outcome, plies_and_moves)
}

/// `White wins in 21 plies`.
pub fn short_outcome(side: Color, outcome: &Outcome) -> String {
    outcome_with(side, outcome, plies)
}

/// Whether a text is one that [`short_outcome`] makes.
pub fn is_short_outcome(text: &str) -> bool {
    let number = |text: &str| text.replace(',', "").parse::<u16>().ok();
    let some_plies = |text: &str| {
        let count = text.split_once(' ').and_then(|(count, _)| number(count));
        count.is_some_and(|count| plies(count) == text)
    };
    let Some((winner, verdict)) = text.split_once(' ') else {
        return false;
    };
    if text == "a draw" || !["White", "Black"].contains(&winner) {
        return text == "a draw";
    }
    let rest = |start| verdict.strip_prefix(start);
    ["has won", "wins", "wins; the game is over"].contains(&verdict)
        || rest("wins in ").is_some_and(some_plies)
        || rest("wins; next capture or man's move in ").is_some_and(some_plies)
}

fn outcome_with(side: Color, outcome: &Outcome, distance: fn(u16) -> String) -> String {
    let Some(winner) = winner(side, outcome.result) else {
        return "a draw".to_owned();
    };
    match (outcome.dtw, outcome.dtc) {
        (Some(0), _) => format!("{winner} has won"),
        (Some(dtw), _) => format!("{winner} wins in {}", distance(dtw)),
        (None, Some(dtc)) => format!("{winner} wins; {}", conversion(dtc)),
        (None, None) => format!("{winner} wins"),
    }
}

/// What a distance to conversion means.
pub fn conversion(dtc: u16) -> String {
    match dtc {
        0 => "the game is over".to_owned(),
        _ => format!("next capture or man's move in {}", plies(dtc)),
    }
}

/// Why bytes are no text in UTF-8, nor, if that is allowed, in Latin-1, in words that follow the name
/// of a file with a line number for the first byte.
pub fn not_text(bytes: &[u8], first_line: usize, latin_1: bool) -> Option<String> {
    let marked = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let zero = bytes.iter().position(|&byte| byte == 0);
    let invalid = std::str::from_utf8(bytes).err().map(|e| e.valid_up_to());
    let (at, what) = match (marked, zero, invalid) {
        (true, ..) => (0, "but UTF-16, it seems"),
        (_, Some(at), _) => (at, "but UTF-16, it seems"),
        (_, _, Some(at)) if !latin_1 => (at, "here"),
        _ => return None,
    };
    let line = first_line + bytes[..at].iter().filter(|&&b| b == b'\n').count();
    Some(format!(
        "line {line}, byte {}: not UTF-8 {what}; save the file as UTF-8",
        at + 1
    ))
}

/// A text without what would command a terminal: control characters but line ends are written out.
pub fn printable(text: &str) -> String {
    let mut printable = String::new();
    for c in text.chars() {
        match c {
            '\n' => printable.push(c),
            c if c.is_control() => printable.extend(c.escape_default()),
            c => printable.push(c),
        }
    }
    printable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_outcomes_are_known_again() {
        let of = |result, dtc, dtw| Outcome { result, dtc, dtw };
        for result in [Wdl::Win, Wdl::Draw, Wdl::Loss] {
            for plies in [None, Some(0), Some(1), Some(1234)] {
                for outcome in [of(result, None, plies), of(result, plies, None)] {
                    for side in Color::BOTH {
                        let text = short_outcome(side, &outcome);
                        assert!(is_short_outcome(&text), "{text}");
                    }
                }
            }
        }
        for other in [
            "",
            "White",
            "a win",
            "White wins quickly",
            "White wins in 2 moves",
        ] {
            assert!(!is_short_outcome(other), "{other}");
        }
    }

    #[test]
    fn commands_to_terminals_are_written_out() {
        assert_eq!(printable("a\u{1b}[2Jü\nb"), "a\\u{1b}[2Jü\nb");
    }

    #[test]
    fn what_is_no_text_is_told_with_its_place() {
        let latin_1 = b"W\n\xfc".as_slice();
        assert_eq!(not_text("Müller\n".as_bytes(), 1, false), None);
        assert_eq!(not_text(latin_1, 1, true), None);
        let fault = |bytes: &[u8]| not_text(bytes, 7, false).unwrap();
        assert!(fault(latin_1).starts_with("line 8, byte 3: not UTF-8 here"));
        let utf_16 = |text: &str| -> Vec<u8> {
            let units = text.encode_utf16();
            units.flat_map(u16::to_le_bytes).collect()
        };
        for (text, place) in [("\u{feff}[", "line 7, byte 1:"), ("[W", "line 7, byte 2:")] {
            let fault = fault(&utf_16(text));
            assert!(
                fault.starts_with(place) && fault.contains("UTF-16"),
                "{fault}"
            );
        }
    }
}
