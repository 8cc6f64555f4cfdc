//! Which files and directories of a tree exist at the moment, which of them have content, and who uses them.
//!
//! Model: three bits per file and one per directory, plus an entry for each file in use. A bit is changed only by a
//! thread that has the file for itself, right after the call that made it true. A directory is claimed only where
//! directories come and go.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use plimsoll_workload::files::{LayOut, TreePlan, TreeShape};

use super::bits::Bits;
use super::claims::Claims;

/// What a renamed file's name ends with.
pub(crate) const RENAMED: &[u8] = b".r";

/// See the module.
pub(crate) struct TreeState {
    pub(crate) name: String,
    pub(crate) shape: TreeShape,
    anchor: OwnedFd,
    /// Files that exist.
    pub(crate) files: Bits,
    /// Files that hold what a read can read.
    pub(crate) content: Bits,
    /// Files that have their other name.
    pub(crate) renamed: Bits,
    pub(crate) directories: Bits,
    pub(crate) file_claims: Claims,
    pub(crate) directory_claims: Claims,
    /// Whether directories come and go in this run.
    pub(crate) moving: bool,
}

impl TreeState {
    /// The state of a tree that has just been laid out.
    pub(crate) fn laid_out(plan: &TreePlan, anchor: OwnedFd, moving: bool) -> Self {
        let shape = plan.shape.clone();
        let (files, directories) = (shape.files(), shape.directories());
        let state = Self {
            name: plan.name.clone(),
            anchor,
            files: Bits::new(files),
            content: Bits::new(files),
            renamed: Bits::new(files),
            directories: Bits::new(directories),
            file_claims: Claims::new(),
            directory_claims: Claims::new(),
            moving,
            shape,
        };
        let there = if plan.lay_out == LayOut::Nothing { 1 } else { directories };
        let existing = (0..there).filter(|directory| state.shape.directory_exists_first(*directory));
        existing.for_each(|directory| state.directories.set(directory, true));
        if !state.shape.begins_empty() {
            for file in (0..files).filter(|file| state.shape.exists_first(*file)) {
                state.files.set(file, true);
                state.content.set(file, state.shape.size_bytes(file) > 0);
            }
        }
        state
    }

    /// The directory that paths are relative to.
    pub(crate) fn anchor(&self) -> BorrowedFd<'_> {
        self.anchor.as_fd()
    }

    /// Puts a file's present path into `path`.
    pub(crate) fn file_path(&self, file: u64, path: &mut Vec<u8>) {
        self.shape.file_path(file, path);
        if self.renamed.get(file) {
            path.extend_from_slice(RENAMED);
        }
    }

    /// Puts a file's other path into `path`.
    pub(crate) fn other_path(&self, file: u64, path: &mut Vec<u8>) {
        self.shape.file_path(file, path);
        if !self.renamed.get(file) {
            path.extend_from_slice(RENAMED);
        }
    }

    /// Notes that a file has come into being under its first name.
    pub(crate) fn made(&self, file: u64, has_content: bool) {
        self.renamed.set(file, false);
        self.content.set(file, has_content);
        self.files.set(file, true);
    }

    /// Notes that a file is gone.
    pub(crate) fn gone(&self, file: u64) {
        self.files.set(file, false);
        self.content.set(file, false);
        self.renamed.set(file, false);
    }
}
