//! Which files and directories of a tree exist at the moment, which of them have content, and who uses them.
//!
//! Model: four bits per file and one per directory, plus an entry for each file in use. A bit is changed only by a
//! thread that has the file for itself, right after the call that made it true. A directory is claimed only where
//! directories come and go.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use plimsoll_workload::files::{LayOut, TreePlan, TreeShape};

use super::bits::Bits;
use super::calls::{self, Errno};
use super::claims::Claims;
use super::directories::Directories;

/// What a renamed file's name ends with.
pub(crate) const RENAMED: &[u8] = b".r";

/// See the module.
pub(crate) struct TreeState {
    pub(crate) name: String,
    pub(crate) shape: TreeShape,
    open: Directories,
    /// Files that exist.
    pub(crate) files: Bits,
    /// Files that hold what a read can read.
    pub(crate) content: Bits,
    /// Files with the size that their place is made for at least: laid out or written whole here, not moved or copied here.
    pub(crate) whole: Bits,
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
    pub(crate) fn laid_out(plan: &TreePlan, open: Directories, moving: bool) -> Self {
        let shape = plan.shape.clone();
        let (files, directories) = (shape.files(), shape.directories());
        let state = Self {
            name: plan.name.clone(),
            open,
            files: Bits::new(files),
            content: Bits::new(files),
            whole: Bits::new(files),
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
                state.wrote_whole(file, state.shape.size_bytes(file) > 0);
            }
        }
        state
    }

    /// Has `call` work in the directory that holds a file.
    pub(crate) fn beside<T>(
        &self,
        file: u64,
        path: &CStr,
        call: impl FnOnce(BorrowedFd<'_>, &CStr) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.open.within(self.shape.holder(file), path, call)
    }

    /// Has `call` work in the directory that a directory is in.
    pub(crate) fn above<T>(
        &self,
        directory: u64,
        path: &CStr,
        call: impl FnOnce(BorrowedFd<'_>, &CStr) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.open.within(self.shape.parent(directory), path, call)
    }

    /// Opens a file that exists.
    pub(crate) fn open_file(&self, file: u64, path: &CStr, flags: i32) -> Result<OwnedFd, Errno> {
        self.open.open(self.shape.holder(file), path, flags)
    }

    /// Makes a file.
    pub(crate) fn make_file(&self, file: u64, path: &CStr, flags: i32) -> Result<OwnedFd, Errno> {
        self.beside(file, path, |at, name| calls::open(at, name, flags | libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL))
    }

    /// Closes a directory that is about to be removed.
    pub(crate) fn forget(&self, directory: u64) {
        self.open.forget(directory);
    }

    /// Makes the names in the directory of a file durable.
    pub(crate) fn sync_directory(&self, file: u64, path: &CStr) -> Result<(), Errno> {
        // What is held open is for names only.
        let opened = self.beside(file, path, |at, _| calls::open(at, c".", libc::O_RDONLY | libc::O_DIRECTORY))?;
        calls::sync_data(opened.as_fd())
    }

    /// Renames a file to a name of `target` that is free: (file, path) each.
    pub(crate) fn rename(&self, from: (u64, &CStr), target: &Self, to: (u64, &CStr)) -> Result<(), Errno> {
        self.beside(from.0, from.1, |old_at, old| {
            if std::ptr::eq(self, target) && self.shape.holder(from.0) == target.shape.holder(to.0) {
                return target.open.rename((old_at, old), (old_at, calls::name_of(to.1)));
            }
            target.beside(to.0, to.1, |new_at, new| target.open.rename((old_at, old), (new_at, new)))
        })
    }

    /// Where renaming cannot see by itself that a name is free: EEXIST if it is not.
    pub(crate) fn looked_free(&self, file: u64, path: &CStr) -> Result<(), Errno> {
        if self.open.looks_before_renaming() { self.open.is_free(self.shape.holder(file), path) } else { Ok(()) }
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
        self.whole.set(file, false);
        self.content.set(file, has_content);
        self.files.set(file, true);
    }

    /// Notes that a file holds all that its place is made for, and whether that is anything.
    pub(crate) fn wrote_whole(&self, file: u64, has_content: bool) {
        self.content.set(file, has_content);
        self.whole.set(file, true);
    }

    /// Whether a file of this size has been cut short by somebody else.
    pub(crate) fn is_cut_short(&self, file: u64, size_bytes: u64) -> bool {
        self.whole.get(file) && size_bytes < self.shape.size_bytes(file)
    }

    /// Notes that a file is gone.
    pub(crate) fn gone(&self, file: u64) {
        self.files.set(file, false);
        self.content.set(file, false);
        self.renamed.set(file, false);
    }
}
