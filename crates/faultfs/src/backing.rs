//! System calls on the directory that is passed through: everything by descriptor and name, nothing by path.
//!
//! Model: a node holds its file by an `O_PATH` descriptor, which stays with the file when names change and when the last one
//! is removed. It is opened for bytes through `/proc/self/fd`.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A name as system calls take it.
fn text(name: &OsStr) -> io::Result<CString> {
    CString::new(name.as_bytes()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

fn checked(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

fn owned(returned: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: a descriptor that a system call has just returned belongs to nobody else.
    checked(returned).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The path by which a descriptor's file can be opened anew.
pub fn by_descriptor(fd: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}

/// Holds a directory that is named by a path.
pub fn hold_root(path: &Path) -> io::Result<OwnedFd> {
    let path = text(path.as_os_str())?;
    // SAFETY: a string that ends with a zero byte.
    owned(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC) })
}

/// Holds what a name stands for, a link itself included.
pub fn hold(parent: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let name = text(name)?;
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: as above.
    owned(unsafe { libc::openat(parent.as_raw_fd(), name.as_ptr(), flags) })
}

/// Makes a file.
pub fn create(parent: &OwnedFd, name: &OsStr, mode: u32, exclusive: bool) -> io::Result<()> {
    let name = text(name)?;
    let flags = libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC | if exclusive { libc::O_EXCL } else { 0 };
    // SAFETY: as above.
    owned(unsafe { libc::openat(parent.as_raw_fd(), name.as_ptr(), flags, mode) }).map(drop)
}

/// Opens a held file for bytes: for reading and writing, or for reading where that is not permitted.
pub fn open_bytes(held: &OwnedFd) -> io::Result<File> {
    let path = by_descriptor(held);
    File::options().read(true).write(true).open(&path).or_else(|_| File::open(&path))
}

/// Everything about a held file.
pub fn status(held: &OwnedFd) -> io::Result<libc::stat> {
    // SAFETY: all bytes zero are a valid `stat`; the empty string asks for the descriptor itself.
    unsafe {
        let mut found = std::mem::zeroed();
        checked(libc::fstatat(held.as_raw_fd(), c"".as_ptr(), &raw mut found, libc::AT_EMPTY_PATH))?;
        Ok(found)
    }
}

/// How much room there is.
pub fn room(held: &OwnedFd) -> io::Result<libc::statvfs> {
    // SAFETY: all bytes zero are a valid `statvfs`.
    unsafe {
        let mut found = std::mem::zeroed();
        checked(libc::fstatvfs(held.as_raw_fd(), &raw mut found))?;
        Ok(found)
    }
}

/// Makes a directory.
pub fn mkdir(parent: &OwnedFd, name: &OsStr, mode: u32) -> io::Result<()> {
    let name = text(name)?;
    // SAFETY: a string that ends with a zero byte.
    checked(unsafe { libc::mkdirat(parent.as_raw_fd(), name.as_ptr(), mode) }).map(drop)
}

/// Makes a pipe, socket or plain file.
pub fn mknod(parent: &OwnedFd, name: &OsStr, mode: u32, device: u32) -> io::Result<()> {
    let name = text(name)?;
    // SAFETY: as above.
    checked(unsafe { libc::mknodat(parent.as_raw_fd(), name.as_ptr(), mode, device.into()) }).map(drop)
}

/// Removes a name; of a directory with `AT_REMOVEDIR`.
pub fn unlink(parent: &OwnedFd, name: &OsStr, flags: libc::c_int) -> io::Result<()> {
    let name = text(name)?;
    // SAFETY: as above.
    checked(unsafe { libc::unlinkat(parent.as_raw_fd(), name.as_ptr(), flags) }).map(drop)
}

/// Changes a name.
pub fn rename(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr), flags: u32) -> io::Result<()> {
    let (name, new) = (text(from.1)?, text(to.1)?);
    // SAFETY: as above.
    let returned = unsafe { libc::renameat2(from.0.as_raw_fd(), name.as_ptr(), to.0.as_raw_fd(), new.as_ptr(), flags) };
    checked(returned).map(drop)
}

/// Gives a held file a second name.
pub fn link(held: &OwnedFd, parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let (path, name) = (text(by_descriptor(held).as_os_str())?, text(name)?);
    // SAFETY: as above.
    let returned = unsafe {
        libc::linkat(libc::AT_FDCWD, path.as_ptr(), parent.as_raw_fd(), name.as_ptr(), libc::AT_SYMLINK_FOLLOW)
    };
    checked(returned).map(drop)
}

/// Makes a symbolic link.
pub fn symlink(to: &Path, parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let (to, name) = (text(to.as_os_str())?, text(name)?);
    // SAFETY: as above.
    checked(unsafe { libc::symlinkat(to.as_ptr(), parent.as_raw_fd(), name.as_ptr()) }).map(drop)
}

/// What a held symbolic link says.
pub fn read_link(held: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; libc::PATH_MAX as usize];
    // SAFETY: the buffer is as long as is said; the empty string asks for the descriptor itself.
    let len = unsafe { libc::readlinkat(held.as_raw_fd(), c"".as_ptr(), bytes.as_mut_ptr().cast(), bytes.len()) };
    bytes.truncate(usize::try_from(len).map_err(|_| io::Error::last_os_error())?);
    Ok(bytes)
}

/// The names in a held directory with their numbers.
pub fn list(held: &OwnedFd) -> io::Result<Vec<(u64, std::fs::FileType, OsString)>> {
    use std::os::unix::fs::DirEntryExt;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(by_descriptor(held))? {
        let entry = entry?;
        let name = OsString::from_vec(entry.file_name().into_vec());
        found.push((entry.ino(), entry.file_type()?, name));
    }
    Ok(found)
}

/// Sets times, each of which may be left as it is.
pub fn set_times(held: &OwnedFd, times: [libc::timespec; 2]) -> io::Result<()> {
    let path = text(by_descriptor(held).as_os_str())?;
    // SAFETY: a string that ends with a zero byte and two times.
    checked(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), 0) }).map(drop)
}

/// Reserves, clears or gives back room.
pub fn allocate(file: &File, mode: i32, offset: u64, len: u64) -> io::Result<()> {
    // SAFETY: numbers only.
    checked(unsafe { libc::fallocate(file.as_raw_fd(), mode, offset as i64, len as i64) }).map(drop)
}

/// Raises the number of files that this process may hold to what it may raise it to: one per file that is looked at.
pub fn raise_limit() {
    // SAFETY: `limit` is a valid place for the answer.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
