//! The marker in a target directory: proof that Plimsoll works in it, what it laid out there, in what state that is, which
//! run uses it, and whether it is to stay.
//!
//! A marker speaks for a directory only if device and inode are those it names, so that a copy of the directory does not
//! pass for ours. It is written before the first file is made and replaced atomically: whatever is found later under
//! the names of a tree was made by Plimsoll, because files are only ever made where none was. As with scratch files,
//! trees were *left behind* when the run that the marker names is dead and nobody asked to keep them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::beneath::Root;
use super::calls::{self, Kind};
use crate::durable;
use crate::owner::Run;
use crate::target::State;

const SCHEMA: &str = "plimsoll.files/1";
/// A marker holds a definition per tree, of a few hundred bytes each.
const MOST_BYTES: u64 = 1 << 20;
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
    /// Directories that are Plimsoll's, of which known files are removed ([`super::owned`]).
    #[serde(default)]
    pub(crate) owned: Vec<String>,
    /// What is to become of them. Versions that did not say left trees to be kept.
    #[serde(default = "kept")]
    pub(crate) state: State,
    /// The run that uses them.
    #[serde(default)]
    pub(crate) run: Option<Run>,
}

const fn kept() -> State {
    State::Kept
}

impl Marker {
    pub(crate) fn new(directory: (u64, u64), made_directory: bool) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            device: directory.0,
            inode: directory.1,
            made_directory,
            condition: Condition::Changed,
            trees: Vec::new(),
            owned: Vec::new(),
            state: State::InUse,
            run: Some(Run::this()),
        }
    }

    /// Whether a run that was killed left the trees behind.
    pub(crate) fn is_left_behind(&self) -> bool {
        self.state != State::Kept && self.run.as_ref().is_none_or(|run| !run.is_alive())
    }

    pub(crate) fn path_in(directory: &Path) -> PathBuf {
        directory.join(NAME)
    }

    /// The marker in `directory`, if there is one that speaks for it.
    pub(crate) fn read(directory: &Root) -> Option<Self> {
        let file = directory.file(directory.fd(), c".plimsoll-files", libc::O_RDONLY | libc::O_NONBLOCK).ok()?;
        if calls::seen(file.as_fd()).ok()?.kind != Kind::File {
            return None;
        }
        let mut text = String::new();
        File::from(file).take(MOST_BYTES).read_to_string(&mut text).ok()?;
        let marker: Self = serde_json::from_str(&text).ok()?;
        let speaks = (marker.device, marker.inode) == calls::seen(directory.fd()).ok()?.identity;
        Some(marker).filter(|marker| speaks && marker.schema == SCHEMA)
    }

    /// Writes it into `directory`, durably.
    pub(crate) fn write(&self, directory: BorrowedFd<'_>) -> io::Result<()> {
        durable::write_in(directory, OsStr::new(NAME), &serde_json::to_string_pretty(self)?)
    }
}
