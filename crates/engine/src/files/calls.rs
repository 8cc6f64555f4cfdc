//! The system calls that operations are made of, relative to an open directory; errors are errnos.
//!
//! A path here is a single name in a directory that [`super::beneath`] has opened, or else is followed through links.

use std::ffi::{CStr, CString};
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

/// The last name of a path.
pub(crate) fn name_of(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let at = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    // SAFETY: the end of a CStr is one.
    unsafe { CStr::from_bytes_with_nul_unchecked(&bytes[at..]) }
}

/// The path before the last name; `None` if it is a name alone.
pub(crate) fn folder_of(path: &CStr) -> Option<CString> {
    let bytes = path.to_bytes();
    let slash = bytes.iter().rposition(|byte| *byte == b'/')?;
    CString::new(&bytes[..slash]).ok()
}

pub(crate) fn errno() -> Errno {
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

/// `fdatasync`: the content, and of the rest what it takes to read it back.
pub(crate) fn sync_data(file: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: a valid descriptor.
    checked(unsafe { libc::fdatasync(file.as_raw_fd()) })
}

/// What kind of thing has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// What `stat` shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) size_bytes: u64,
    /// Names that it has.
    pub(crate) links: u64,
    /// Device and inode.
    pub(crate) identity: (u64, u64),
}

impl Seen {
    // The fields have other widths on other processors.
    #[allow(clippy::unnecessary_cast)]
    const fn of(stat: &libc::stat) -> Self {
        let kind = match stat.st_mode & libc::S_IFMT {
            libc::S_IFREG => Kind::File,
            libc::S_IFDIR => Kind::Directory,
            libc::S_IFLNK => Kind::Link,
            _ => Kind::Other,
        };
        let identity = (stat.st_dev as u64, stat.st_ino as u64);
        Self { kind, size_bytes: stat.st_size as u64, links: stat.st_nlink as u64, identity }
    }

    /// Whether what is written to it changes nothing that has a name elsewhere.
    pub(crate) fn is_plain(&self) -> bool {
        self.kind == Kind::File && self.links == 1
    }
}

/// `fstat` of an open file.
pub(crate) fn seen(file: BorrowedFd<'_>) -> Result<Seen, Errno> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: fstat fills the struct; zeroes are a valid one.
    let stat = unsafe {
        checked(libc::fstat(file.as_raw_fd(), stat.as_mut_ptr()))?;
        stat.assume_init()
    };
    Ok(Seen::of(&stat))
}

/// `stat`, without following a link.
pub(crate) fn stat(at: BorrowedFd<'_>, path: &CStr) -> Result<Seen, Errno> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `path` ends with NUL; fstatat fills the struct, of which zeroes are a valid one.
    let stat = unsafe {
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        checked(libc::fstatat(at.as_raw_fd(), path.as_ptr(), stat.as_mut_ptr(), flags))?;
        stat.assume_init()
    };
    Ok(Seen::of(&stat))
}

/// `access`, without following a link where the kernel can (5.8).
pub(crate) fn access(at: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    let (at, mode) = (at.as_raw_fd(), libc::R_OK | libc::W_OK);
    // SAFETY: `name` ends with NUL.
    let asked = unsafe { libc::syscall(libc::SYS_faccessat2, at, name.as_ptr(), mode, libc::AT_SYMLINK_NOFOLLOW) };
    match if asked < 0 { errno() } else { return Ok(()) } {
        // SAFETY: `name` ends with NUL. Some sandboxes refuse calls that they do not know with EPERM.
        libc::ENOSYS | libc::EPERM => checked(unsafe { libc::faccessat(at, name.as_ptr(), mode, 0) }),
        errno => Err(errno),
    }
}

/// Sets access and modification time to now, those of a link if it is one.
pub(crate) fn touch(at: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: `name` ends with NUL; no times means now.
    checked(unsafe { libc::utimensat(at.as_raw_fd(), name.as_ptr(), std::ptr::null(), flags) })
}

/// `rename`, which puts the new name in place of what has it.
pub(crate) fn replace(from: (BorrowedFd<'_>, &CStr), to: (BorrowedFd<'_>, &CStr)) -> Result<(), Errno> {
    // SAFETY: both paths end with NUL.
    checked(unsafe { libc::renameat(from.0.as_raw_fd(), from.1.as_ptr(), to.0.as_raw_fd(), to.1.as_ptr()) })
}

/// `rename` to a name that nothing has, or EEXIST. File systems that cannot do that in one step (NFS, many of FUSE) say
/// EINVAL.
pub(crate) fn rename(from: (BorrowedFd<'_>, &CStr), to: (BorrowedFd<'_>, &CStr)) -> Result<(), Errno> {
    let flags = libc::RENAME_NOREPLACE;
    // SAFETY: both paths end with NUL.
    let renamed = unsafe {
        let (old, new) = (from.1.as_ptr(), to.1.as_ptr());
        libc::syscall(libc::SYS_renameat2, from.0.as_raw_fd(), old, to.0.as_raw_fd(), new, flags)
    };
    if renamed < 0 { Err(errno()) } else { Ok(()) }
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
