//! `crownhead.h` says what the library is. `UPDATE_HEADER=1 cargo test -p crownhead-c --test header`
//! writes it anew.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in ["errors.rs", "positions.rs", "probing.rs", "tables.rs"] {
        builder = builder.with_src(here.join("src").join(file));
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = here.join("crownhead.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == made,
        "crownhead.h is out of date: UPDATE_HEADER=1 cargo test -p crownhead-c --test header"
    );
}
