//! Small files that are there whole or not at all, and stay: written beside, made durable, renamed into place.
//!
//! Model: what is written beside is always a new file (`O_EXCL`, `O_NOFOLLOW`) with a lock on it until it has its name. A
//! leftover of a killed process is known by its lock being free, and removed first; whatever else has the name (a link, a
//! file in use, somebody else's) is left alone and another name taken. A link at the path itself is replaced, not
//! followed.
//!
//! Limits: on a file system without locks a leftover stays, and another name is taken.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Names that are tried.
const TRIES: u32 = 16;

/// Puts `text` and a line end into the file at `path`, in place of what it held.
///
/// # Errors
/// The operating system's; then `path` is as it was.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    write_in(File::open(folder)?.as_fd(), name, text)
}

/// The same for the file with this name in an open directory.
///
/// # Errors
/// The operating system's; then the file is as it was.
pub(crate) fn write_in(folder: BorrowedFd<'_>, name: &OsStr, text: &str) -> io::Result<()> {
    let (beside, mut out) = fresh(folder, name)?;
    let to = CString::new(name.as_bytes())?;
    let put = || {
        out.write_all(text.as_bytes())?;
        out.write_all(b"\n")?;
        out.sync_all()?;
        // SAFETY: both names end with NUL.
        checked(unsafe { libc::renameat(folder.as_raw_fd(), beside.as_ptr(), folder.as_raw_fd(), to.as_ptr()) })
    };
    let written = { put }();
    if written.is_err() {
        unlink(folder, &beside);
        return written;
    }
    // SAFETY: a valid descriptor.
    checked(unsafe { libc::fsync(folder.as_raw_fd()) })
}

/// A new, locked file beside `name`, with its own name.
fn fresh(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<(CString, File)> {
    let mut beside = CString::new([name.as_bytes(), b".new"].concat())?;
    for attempt in 0..TRIES {
        match open(folder, &beside, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL) {
            // Whoever took it for a leftover in this instant has removed it.
            Ok(file) if lock(&file) != Lock::Taken && file.metadata()?.nlink() == 1 => return Ok((beside, file)),
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) if attempt == 0 && remove_leftover(folder, &beside) => {}
            _ => beside = CString::new([name.as_bytes(), unforeseen(attempt).as_bytes()].concat())?,
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn open(folder: BorrowedFd<'_>, name: &CString, flags: i32) -> io::Result<File> {
    let flags = flags | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: `name` ends with NUL.
    let file = unsafe { libc::openat(folder.as_raw_fd(), name.as_ptr(), flags, 0o644) };
    checked(file)?;
    // SAFETY: the kernel has just given us this descriptor.
    Ok(unsafe { File::from_raw_fd(file) })
}

/// Removes the file with this name if a process of ours that was killed has left it.
fn remove_leftover(folder: BorrowedFd<'_>, name: &CString) -> bool {
    let Ok(file) = open(folder, name, libc::O_RDONLY) else { return false };
    let Ok(facts) = file.metadata() else { return false };
    // SAFETY: asks for a number.
    let ours = unsafe { libc::geteuid() };
    let leftover = facts.is_file() && facts.nlink() == 1 && facts.uid() == ours && lock(&file) == Lock::Ours;
    if leftover {
        // Still locked, so that it is nobody's new file.
        unlink(folder, name);
    }
    leftover
}

#[derive(PartialEq, Eq)]
enum Lock {
    Ours,
    Taken,
    /// This file system has none.
    Unknown,
}

fn lock(file: &File) -> Lock {
    // SAFETY: a valid descriptor.
    match checked(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
        Ok(()) => Lock::Ours,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Lock::Taken,
        Err(_) => Lock::Unknown,
    }
}

fn unlink(folder: BorrowedFd<'_>, name: &CString) {
    // SAFETY: `name` ends with NUL. If it stays, it is a leftover for the next.
    unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), 0) };
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The end of a name that nobody can have foreseen.
fn unforeseen(attempt: u32) -> String {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(attempt);
    hasher.write_u128(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos()));
    format!(".{:016x}.new", hasher.finish())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_lies_where_it_writes_beside_is_neither_followed_nor_lost() {
        let here = tempfile::tempdir().unwrap();
        let (path, beside, secret) = (here.path().join("m"), here.path().join("m.new"), here.path().join("secret"));
        fs::write(&secret, "precious").unwrap();
        let traps: [&dyn Fn(); 3] =
            [&|| symlink(&secret, &beside).unwrap(), &|| fs::hard_link(&secret, &beside).unwrap(), &|| {
                fs::create_dir(&beside).unwrap()
            }];
        for (number, trap) in traps.iter().enumerate() {
            trap();
            write(&path, &format!("text {number}")).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("text {number}\n"));
            assert_eq!(fs::read_to_string(&secret).unwrap(), "precious", "trap {number}");
            assert!(fs::symlink_metadata(&beside).is_ok(), "trap {number} stays where it was");
            assert_eq!(fs::read_dir(here.path()).unwrap().count(), 3, "and nothing else stays");
            fs::remove_file(&beside).or_else(|_| fs::remove_dir(&beside)).unwrap();
        }
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_another_writes_is_not() {
        let here = tempfile::tempdir().unwrap();
        let (path, beside) = (here.path().join("m"), here.path().join("m.new"));
        fs::write(&beside, "half a te").unwrap();
        write(&path, "whole").unwrap();
        assert!(!beside.exists());
        let folder = File::open(here.path()).unwrap();
        let (name, other) = fresh(folder.as_fd(), path.file_name().unwrap()).unwrap();
        assert_eq!(name.to_bytes(), b"m.new");
        write(&path, "of another").unwrap();
        assert!(beside.exists() && fs::read_to_string(&path).unwrap() == "of another\n");
        drop(other);
        write(&path, "again").unwrap();
        assert!(!beside.exists());
    }

    #[test]
    fn a_link_at_the_path_is_replaced() {
        let here = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (here.path().join("m"), here.path().join("elsewhere"));
        fs::write(&elsewhere, "precious").unwrap();
        symlink(&elsewhere, &path).unwrap();
        write(&path, "text").unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }
}
