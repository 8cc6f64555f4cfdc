//! The system calls that operations are made of, relative to an open directory; errors are errnos.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// An errno.
pub(crate) type Errno = i32;

/// A path as the kernel takes it, used again and again.
#[derive(Default)]
pub(crate) struct PathText(Vec<u8>);

impl PathText {
    /// Puts a path in; `write` gets the empty buffer.
    pub(crate) fn put(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &CStr {
        self.0.clear();
        write(&mut self.0);
        self.0.push(0);
        // SAFETY: exactly one NUL, at the end: paths of trees are made of letters, digits, dots and slashes.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.0) }
    }

    /// What was put in, for messages.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(self.0.strip_suffix(&[0]).unwrap_or(&self.0)).into_owned()
    }
}

fn errno() -> Errno {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn checked(result: libc::c_int) -> Result<(), Errno> {
    if result < 0 { Err(errno()) } else { Ok(()) }
}

pub(crate) fn open(at: BorrowedFd<'_>, path: &CStr, flags: i32) -> Result<OwnedFd, Errno> {
    // SAFETY: `path` ends with NUL and outlives the call.
    let file = unsafe { libc::openat(at.as_raw_fd(), path.as_ptr(), flags | libc::O_CLOEXEC, 0o644) };
    checked(file)?;
    // SAFETY: the kernel has just given us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Closes a descriptor and says how that went, which dropping does not.
pub(crate) fn close(file: OwnedFd) -> Result<(), Errno> {
    use std::os::fd::IntoRawFd;
    // SAFETY: the descriptor was ours and nobody has it any more.
    checked(unsafe { libc::close(file.into_raw_fd()) })
}

pub(crate) fn read(file: BorrowedFd<'_>, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
    // SAFETY: the buffer has this length.
    let done = unsafe { libc::pread(file.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), offset as libc::off_t) };
    usize::try_from(done).map_err(|_| errno())
}

pub(crate) fn write(file: BorrowedFd<'_>, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
    // SAFETY: the buffer has this length.
    let done = unsafe { libc::pwrite(file.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), offset as libc::off_t) };
    usize::try_from(done).map_err(|_| errno())
}

pub(crate) fn sync(file: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: a valid descriptor.
    checked(unsafe { libc::fsync(file.as_raw_fd()) })
}

/// The size of an open file.
pub(crate) fn size_bytes(file: BorrowedFd<'_>) -> Result<u64, Errno> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: fstat fills the struct; zeroes are a valid one.
    let stat = unsafe {
        checked(libc::fstat(file.as_raw_fd(), stat.as_mut_ptr()))?;
        stat.assume_init()
    };
    Ok(stat.st_size as u64)
}

/// `stat`, without following a link: the size.
pub(crate) fn stat(at: BorrowedFd<'_>, path: &CStr) -> Result<u64, Errno> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `path` ends with NUL; fstatat fills the struct, of which zeroes are a valid one.
    let stat = unsafe {
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        checked(libc::fstatat(at.as_raw_fd(), path.as_ptr(), stat.as_mut_ptr(), flags))?;
        stat.assume_init()
    };
    Ok(stat.st_size as u64)
}

pub(crate) fn access(at: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
    // SAFETY: `path` ends with NUL.
    checked(unsafe { libc::faccessat(at.as_raw_fd(), path.as_ptr(), libc::R_OK | libc::W_OK, 0) })
}

/// Sets access and modification time to now.
pub(crate) fn touch(at: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
    // SAFETY: `path` ends with NUL; no times means now.
    checked(unsafe { libc::utimensat(at.as_raw_fd(), path.as_ptr(), std::ptr::null(), 0) })
}

pub(crate) fn rename(from: (BorrowedFd<'_>, &CStr), to: (BorrowedFd<'_>, &CStr)) -> Result<(), Errno> {
    // SAFETY: both paths end with NUL.
    checked(unsafe { libc::renameat(from.0.as_raw_fd(), from.1.as_ptr(), to.0.as_raw_fd(), to.1.as_ptr()) })
}

pub(crate) fn unlink(at: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
    // SAFETY: `path` ends with NUL.
    checked(unsafe { libc::unlinkat(at.as_raw_fd(), path.as_ptr(), 0) })
}

pub(crate) fn mkdir(at: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
    // SAFETY: `path` ends with NUL.
    checked(unsafe { libc::mkdirat(at.as_raw_fd(), path.as_ptr(), 0o755) })
}

pub(crate) fn rmdir(at: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
    // SAFETY: `path` ends with NUL.
    checked(unsafe { libc::unlinkat(at.as_raw_fd(), path.as_ptr(), libc::AT_REMOVEDIR) })
}

/// Writes everything the file system of an open directory has not written yet.
pub(crate) fn sync_file_system(at: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: a valid descriptor.
    checked(unsafe { libc::syncfs(at.as_raw_fd()) })
}
