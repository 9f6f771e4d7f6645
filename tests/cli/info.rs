//! `info`.

use std::fs;
use std::path::Path;
use std::process::Command as Process;
use std::time::Duration;

use crate::support::{crownhead, generate, json, stdout};

#[cfg(unix)]
#[test]
fn links_are_followed_but_not_in_a_circle() {
    use std::os::unix::fs::symlink;
    let base = tempfile::tempdir().unwrap();
    let path = |name: &str| base.path().join(name);
    generate(&path("elsewhere"), &["russian", "--pieces", "2"]).success();
    fs::create_dir(path("tables")).unwrap();
    symlink(path("elsewhere/russian"), path("tables/russian")).unwrap();
    symlink(path("tables"), path("tables/russian/up")).unwrap();
    symlink(path("tables/self.wdl"), path("tables/self.wdl")).unwrap();
    symlink(base.path(), path("tables/out")).unwrap();
    symlink("/dev/zero", path("tables/endless.wdl")).unwrap();
    let made = Process::new("mkfifo").arg(path("tables/pipe.wdl")).status();
    assert!(made.unwrap().success());
    let mut info = crownhead(["info", "--json", path("tables").to_str().unwrap()]);
    let report = json(info.timeout(Duration::from_secs(20)));
    assert_eq!(report["places"][0]["tables"], 9, "{report}");
    let reasons: Vec<_> = report["ignored"].as_array().unwrap().iter().collect();
    assert_eq!(reasons.len(), 5, "{report}");
    let reason = |name: &str| {
        let path = path("tables").join(name);
        let found = reasons.iter().find(|r| r["path"] == path.to_str().unwrap());
        found.unwrap()["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason("pipe.wdl").contains("regular file"));
    assert!(reason("endless.wdl").contains("regular file"));
    assert!(reason("out").contains("above"));
    assert!(reason("russian/up").contains("already"));
}

/// The name of a file commands no terminal.
#[cfg(unix)]
#[test]
fn names_with_control_characters_are_written_out() {
    let base = tempfile::tempdir().unwrap();
    fs::write(base.path().join("a\u{1b}[2J\nb.wdl"), "no table").unwrap();
    let text = stdout(&mut crownhead(["info", base.path().to_str().unwrap()]));
    assert!(
        text.contains("a\\u{1b}[2J") && !text.contains('\u{1b}'),
        "{text}"
    );
}

#[test]
fn the_inventory_tells_of_every_place() {
    let base = tempfile::tempdir().unwrap();
    let path = |name: &str| base.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("other")).unwrap();
    fs::write(path("other/notes.txt"), "hello").unwrap();
    fs::write(path("other/KvK.wdl"), "no table").unwrap();
    generate(Path::new(&path("good")), &["russian", "--pieces", "2"]).success();
    let list = format!(
        "{}::\"{}\":{}:",
        path("good"),
        path("other"),
        path("absent")
    );
    let mut info = crownhead(["info", "--json"]);
    let report = json(info.env("CROWNHEAD_TABLES", &list));
    let places = report["places"].as_array().unwrap();
    assert_eq!(places.len(), 3);
    assert_eq!(places[0]["tables"], 9);
    assert_eq!(places[1]["tables"], 0);
    assert!(places[2]["error"].is_string());
    assert_eq!(report["ignored"].as_array().unwrap().len(), 2);
    assert_eq!(report["sets"][0]["complete"], 2);
    // Three slices, of which that of king and man stores both sides to move, and the others one.
    for set in report["sets"].as_array().unwrap() {
        let codecs = set["codecs"].as_array().unwrap();
        let sum = |key: &str| codecs.iter().map(|c| c[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(
            (sum("sides"), sum("positions")),
            (4, set["positions"].as_u64().unwrap())
        );
        assert!(sum("bytes") < set["bytes"].as_u64().unwrap(), "{set}");
        let distances = codecs.iter().any(|c| c["codec"] == "distances");
        assert_eq!(distances, set["metric"] != "wdl", "{set}");
    }
    let text = stdout(crownhead(["info"]).env("CROWNHEAD_TABLES", &list));
    for part in [
        "good: 9 tables",
        "absent: ",
        "notes.txt",
        "dtc    2 pieces ",
        "  distances 4 sides in ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    fs::remove_file(path("good/russian/KvM.dtc")).unwrap();
    let text = stdout(&mut crownhead(["info", &path("good")]));
    assert!(text.contains("missing (1): KvM"), "{text}");
}
