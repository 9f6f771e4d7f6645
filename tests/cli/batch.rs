//! `probe --batch`.

use std::fs;

use crate::support::{stdout, with_tables};

#[test]
fn batches_are_answered_line_by_line() {
    let input = "W:WK32:B1,15\r\n\n \"B : W K a1 , h6 : B\" .\nW:WK99:B1\nW:WKa1:BKh2.\n\
                 W:WKa1,Kc1,Kb8:BKf8\nW:WK4:BKa3";
    let mut batch = with_tables(["probe", "russian", "--batch", "-"]);
    let text = stdout(batch.write_stdin(input));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert!(lines.iter().all(|fields| fields.len() == 4), "{text}");
    assert_eq!(lines[0][1..], ["win", "2", "13"]);
    assert_eq!(lines[1], ["B:WKa1,h6:B", "loss", "0", "0"]);
    assert!(lines[2][1].starts_with("error: ") && lines[2][1].contains("99"));
    assert_eq!(lines[3][1..], ["draw", "", ""]);
    assert!(lines[4][1].starts_with("error: ") && lines[4][1].contains("KKKvK"));
    assert_eq!(lines[5], ["W:WKh8:BKa3", "draw", "", ""]);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), input).unwrap();
    let path = file.path().to_str().unwrap();
    assert_eq!(
        stdout(&mut with_tables(["probe", "russian", "--batch", path])),
        text
    );
}

#[test]
fn hostile_lines_do_not_stop_a_batch() {
    let mut input = b"W:WKa1\0:BKf8\n\xff\xfe;W\n".to_vec();
    input.extend(b"W:WKa1".iter().chain(&b",K2".repeat(1_000_000)));
    input.extend(b"\n\xef\xbb\xbfB:WKa1:B");
    let text = stdout(with_tables(["probe", "russian", "--batch", "-"]).write_stdin(input));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    for (line, token) in lines.iter().zip([
        "line 1, byte 7: not UTF-8",
        "line 2, byte 1: not UTF-8",
        "`2` is used",
    ]) {
        assert!(line.contains(token), "{token}: {line}");
        assert_eq!(line.matches(';').count(), 3, "{line}");
        assert!(line.len() < 2000 && !line.contains('\0'), "{line}");
    }
    assert_eq!(lines[3], "B:WKa1:B;loss;0;0");
}
