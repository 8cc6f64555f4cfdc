//! The marker in a target directory: proof that Plimsoll works in it, what it laid out there, and in what state that is.
//!
//! A marker speaks for a directory only if device and inode are those it names, so that a copy of the directory does not
//! pass for ours. It is written before the first file is made and replaced atomically: whatever is found later under
//! the names of a tree was made by Plimsoll, because files are only ever made where none was.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::durable;

const SCHEMA: &str = "plimsoll.files/1";
/// The marker's name in the target directory.
pub(crate) const NAME: &str = ".plimsoll-files";

/// In what state the trees are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Condition {
    /// As their definitions say.
    Ready,
    /// Being laid out, or changed by a run.
    Changed,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marker {
    schema: String,
    plimsoll: String,
    device: u64,
    inode: u64,
    /// Whether the directory itself was made by Plimsoll.
    pub(crate) made_directory: bool,
    pub(crate) condition: Condition,
    /// Definitions of the trees (`TreePlan::definition`).
    pub(crate) trees: Vec<String>,
}

impl Marker {
    pub(crate) fn new(directory: &Metadata, made_directory: bool) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            device: directory.dev(),
            inode: directory.ino(),
            made_directory,
            condition: Condition::Changed,
            trees: Vec::new(),
        }
    }

    pub(crate) fn path_in(directory: &Path) -> PathBuf {
        directory.join(NAME)
    }

    /// The marker in `directory`, if there is one that speaks for it.
    pub(crate) fn read(directory: &Path) -> Option<Self> {
        let text = fs::read_to_string(Self::path_in(directory)).ok()?;
        let marker: Self = serde_json::from_str(&text).ok()?;
        let metadata = fs::metadata(directory).ok()?;
        let speaks = (marker.device, marker.inode) == (metadata.dev(), metadata.ino());
        Some(marker).filter(|marker| speaks && marker.schema == SCHEMA)
    }

    /// Writes it into `directory`, durably.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        durable::write(&Self::path_in(directory), &serde_json::to_string_pretty(self)?)
    }
}
