//! The directories of a tree during a run: opened once beneath the anchor, then used by descriptor.
//!
//! Model: an operation changes a single name in a directory that is open, so that nobody who puts a link in place of a
//! directory can turn it elsewhere, and no path is walked for it but the first time. As many directories stay open as
//! the limit of open files allows; the others are opened for each operation. One that the run itself removes is closed
//! before.
//!
//! Limits: a directory that somebody else moves away stays the one that is worked in for as long as it is open.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use super::beneath::{Mounts, Root};
use super::calls::{self, Errno};

/// See the module.
pub(crate) struct Directories {
    root: Root,
    /// By number; the anchor's is empty.
    open: Box<[RwLock<Option<OwnedFd>>]>,
    /// The file system can rename to a free name in one step.
    renames_to_free: AtomicBool,
}

impl Directories {
    /// Those below `root`, of which up to `kept` stay open.
    pub(crate) fn below(root: Root, kept: u64) -> Self {
        let open = (0..kept).map(|_| RwLock::new(None)).collect();
        Self { root, open, renames_to_free: AtomicBool::new(true) }
    }

    /// Has `call` work in the directory with this number, which is the one that `path` lies in.
    pub(crate) fn within<T>(
        &self,
        directory: u64,
        path: &CStr,
        call: impl FnOnce(BorrowedFd<'_>, &CStr) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let name = calls::name_of(path);
        if directory == 0 {
            return call(self.root.fd(), name);
        }
        let place = usize::try_from(directory).ok().and_then(|number| self.open.get(number));
        if let Some(place) = place {
            let held = place.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(directory) = held.as_ref() {
                return call(directory.as_fd(), name);
            }
        }
        let folder = calls::folder_of(path).ok_or(libc::ENOENT)?;
        let opened = self.root.directory(&folder, Mounts::Refused)?;
        let done = call(opened.as_fd(), name);
        if let Some(Ok(mut place)) = place.map(RwLock::try_write) {
            place.get_or_insert(opened);
        }
        done
    }

    /// Opens the file at `path` in the directory with this number.
    pub(crate) fn open(&self, directory: u64, path: &CStr, flags: i32) -> Result<OwnedFd, Errno> {
        self.within(directory, path, |at, name| self.root.file(at, name, flags))
    }

    /// Closes a directory that is about to be removed.
    pub(crate) fn forget(&self, directory: u64) {
        if let Some(place) = usize::try_from(directory).ok().and_then(|number| self.open.get(number)) {
            place.write().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    /// Whether renaming looks first whether the name is free, because this file system cannot do both in one step.
    pub(crate) fn looks_before_renaming(&self) -> bool {
        !self.renames_to_free.load(Ordering::Relaxed)
    }

    /// Renames to a name that is free, or EEXIST.
    pub(crate) fn rename(&self, from: (BorrowedFd<'_>, &CStr), to: (BorrowedFd<'_>, &CStr)) -> Result<(), Errno> {
        if self.looks_before_renaming() {
            return calls::replace(from, to);
        }
        match calls::rename(from, to) {
            Err(libc::EINVAL | libc::ENOSYS) => {
                self.renames_to_free.store(false, Ordering::Relaxed);
                free(to.0, to.1)?;
                calls::replace(from, to)
            }
            renamed => renamed,
        }
    }

    /// EEXIST if something has the name at `path`.
    pub(crate) fn is_free(&self, directory: u64, path: &CStr) -> Result<(), Errno> {
        self.within(directory, path, free)
    }
}

fn free(at: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    match calls::stat(at, name) {
        Ok(_) => Err(libc::EEXIST),
        Err(libc::ENOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}
