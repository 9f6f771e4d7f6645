//! Where the output goes: colours, pipes, full disks.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command as Process, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::support::{EXE, crownhead, stdout, tables};

const POSITION: [&str; 3] = ["probe", "russian", "W:WKg1:Bb8,e5"];

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_told() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let child = Process::new(EXE)
        .arg("variants")
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("cannot write the output"), "{message}");
}

/// What the program prints on a terminal, which `script` plays.
#[cfg(target_os = "linux")]
fn on_a_terminal(no_color: bool) -> String {
    let mut script = Process::new("script");
    let command = format!("{EXE} probe russian \"W:WKg1:Bb8,e5\"");
    script
        .args(["-qec", &command, "/dev/null"])
        .env("TERM", "xterm-256color")
        .env("CROWNHEAD_TABLES", tables())
        .env_remove("NO_COLOR")
        .stdin(Stdio::null());
    if no_color {
        script.env("NO_COLOR", "1");
    }
    let output = script.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_colours_unless_they_are_not_wanted() {
    let coloured = on_a_terminal(false);
    assert!(coloured.contains("\x1b[48;5;94m"), "{coloured}");
    let plain = on_a_terminal(true).replace("\r\n", "\n");
    assert!(!plain.contains('\x1b'), "{plain}");
    let mut probe = crownhead(POSITION);
    assert_eq!(stdout(probe.env("CROWNHEAD_TABLES", tables())), plain);
}

fn start(args: &[&str]) -> Child {
    Process::new(EXE)
        .args(args)
        .env("CROWNHEAD_TABLES", tables())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let game = "[GameType \"25\"]\n1. c3-d4 *\n".to_owned();
    let lines = "W:WKa1:BKh8\n".repeat(100_000);
    for (args, input) in [
        (&["perft", "english", "7"][..], String::new()),
        (&["probe", "russian", "--batch", "-"], lines),
        (&["annotate", "-"], game),
        (
            &["mine", "english", "--slice", "KMvK", "--where", "only-move"],
            String::new(),
        ),
        (&["stats", "english"], String::new()),
        (&["man"], String::new()),
        (&["completions", "bash"], String::new()),
    ] {
        let mut child = start(args);
        drop(child.stdout.take());
        // It may stop reading at any moment.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

/// A program that asks line by line through pipes gets each answer before it asks the next.
#[test]
fn a_batch_answers_at_once() {
    let mut child = start(&["probe", "russian", "--batch", "-"]);
    let mut questions = child.stdin.take().unwrap();
    let answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || answers.for_each(|line| drop(send.send(line.unwrap()))));
    for (question, answer) in [
        ("W:WKa1:BKh8", "W:WKa1:BKh8;loss;2;2"),
        ("W:WKa3:BKh8", "W:WKa3:BKh8;draw;;"),
    ] {
        writeln!(questions, "{question}").unwrap();
        let answered = receive.recv_timeout(Duration::from_secs(60));
        assert_eq!(answered.as_deref(), Ok(answer));
    }
    drop(questions);
    assert!(child.wait().unwrap().success());
}
