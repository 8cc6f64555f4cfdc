//! What a file system has free: asked once, so that all of it is of one instant.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Free space left to others: this, or a twentieth of a file system that is smaller than twenty times this.
const RESERVE_BYTES: u64 = 256 << 20;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) free_bytes: u64,
    /// How much of that is left to others.
    pub(crate) reserve_bytes: u64,
    /// How many files and directories can be made, where the file system counts them.
    pub(crate) free_entries: Option<u64>,
}

impl Space {
    /// Of the file system that holds `directory`.
    ///
    /// # Errors
    /// If it does not say.
    pub(crate) fn of(directory: &Path) -> io::Result<Self> {
        let path = CString::new(directory.as_os_str().as_bytes())?;
        // SAFETY: statvfs is plain data for which all zeros is valid; the path is a C string.
        let facts = unsafe {
            let mut facts: libc::statvfs = std::mem::zeroed();
            if libc::statvfs(path.as_ptr(), &raw mut facts) != 0 {
                return Err(io::Error::last_os_error());
            }
            facts
        };
        Ok(Self {
            free_bytes: facts.f_bavail * facts.f_frsize,
            reserve_bytes: RESERVE_BYTES.min(facts.f_blocks * facts.f_frsize / 20),
            free_entries: (facts.f_files > 0).then_some(facts.f_favail),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_an_answer_is_an_error_and_not_an_empty_one() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Space::of(directory.path()).is_ok());
        let gone = Space::of(&directory.path().join("gone")).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }

    /// procfs has no blocks and counts no files: nothing is free, nothing kept back, and no number of files known.
    #[test]
    fn a_file_system_that_counts_no_files_has_no_number_of_them() {
        let found = Space::of(Path::new("/proc")).unwrap();
        assert_eq!(found, Space { free_bytes: 0, reserve_bytes: 0, free_entries: None });
    }
}
