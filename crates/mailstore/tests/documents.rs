//! The generated documents are those of the declared options.
//!
//! `PLIMSOLL_BLESS=1 cargo test -p plimsoll-mailstore` writes them anew.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::{env, fs};

use plimsoll_mailstore::{reference_markdown, schema};

fn compare(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
    if env::var_os("PLIMSOLL_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "docs/reference/{file} has drifted; run PLIMSOLL_BLESS=1 cargo test -p plimsoll-mailstore");
}

#[test]
fn the_reference_page_is_what_is_declared() {
    compare("mailstore.md", &reference_markdown());
}

#[test]
fn the_schema_is_what_is_declared() {
    compare("mailstore.schema.json", &format!("{:#}\n", schema()));
}
