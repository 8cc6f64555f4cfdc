//! Files that are there whole or not at all, and stay: small ones written beside, made durable, renamed into place; and many
//! of any size made durable together.
//!
//! Model: what is written beside is always a new file (`O_EXCL`, `O_NOFOLLOW`) with a lock on it until it has its name. A
//! leftover of a killed process is known by its lock being free, and removed first; whatever else has the name (a link, a
//! file in use, somebody else's) is left alone and another name taken. A link at the path itself is replaced, not
//! followed. Many files cost one flush of their file system (`syncfs`) instead of one each; each still tells its own
//! write errors (`sync_file_range`), which `syncfs` does not before Linux 5.8.
//!
//! Limits: on a file system without locks a leftover stays, and another name is taken. File systems of other hosts or of
//! programs (NFS, FUSE) do not promise with `syncfs` what they promise with `fsync`, so there each file is flushed alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Names that are tried.
const TRIES: u32 = 16;
/// So few files are flushed each for itself, since `syncfs` also writes what others have yet to write.
const FEW: usize = 4;
/// Files that are replaced together, so that no more need be open.
pub(crate) const TOGETHER: usize = 64;

/// Puts `text` and a line end into the file with this name in an open directory, in place of what it held.
///
/// # Errors
/// The operating system's; then the file is as it was.
pub(crate) fn write_in(folder: BorrowedFd<'_>, name: &OsStr, text: &str) -> io::Result<()> {
    let beside = Beside::write(folder, name, text)?;
    sync_file(&beside.file).inspect_err(|_| unlink(folder, &beside.name))?;
    beside.rename(folder)?;
    sync_folder(folder)
}

/// Puts `text` and a line end into the file at `path`, whole, but not durable before [`sync`] and [`sync_folders`].
///
/// # Errors
/// The operating system's; then `path` is as it was.
pub(crate) fn put(path: &Path, text: &str) -> io::Result<File> {
    let (folder, name) = split(path)?;
    let folder = File::open(folder)?;
    Beside::write(folder.as_fd(), name, text)?.rename(folder.as_fd())
}

/// Puts a text and a line end into each of many files, durably: each holds the old text or the new one at any time.
///
/// # Errors
/// The operating system's, with the number of the file; what was not replaced yet is as it was.
pub(crate) fn write_all(texts: &[(PathBuf, String)]) -> Result<(), (usize, io::Error)> {
    for (number, texts) in texts.chunks(TOGETHER).enumerate() {
        replace(texts).map_err(|(at, error)| (number * TOGETHER + at, error))?;
    }
    Ok(())
}

fn replace(texts: &[(PathBuf, String)]) -> Result<(), (usize, io::Error)> {
    let mut folders: BTreeMap<&Path, File> = BTreeMap::new();
    let mut written: Vec<(&Path, Beside)> = Vec::new();
    let mut attempt = || {
        for (number, (path, text)) in texts.iter().enumerate() {
            let beside = split(path).and_then(|(folder, name)| {
                if !folders.contains_key(folder) {
                    folders.insert(folder, File::open(folder)?);
                }
                Ok((folder, Beside::write(folders[folder].as_fd(), name, text)?))
            });
            written.push(beside.map_err(|error| (number, error))?);
        }
        sync(&written.iter().map(|(_, beside)| &beside.file).collect::<Vec<_>>())
    };
    if let Err(failed) = attempt() {
        written.iter().for_each(|(folder, beside)| unlink(folders[folder].as_fd(), &beside.name));
        return Err(failed);
    }
    let mut failed = None;
    for (number, (folder, beside)) in written.into_iter().enumerate() {
        if let Err(error) = beside.rename(folders[folder].as_fd()) {
            failed.get_or_insert((number, error));
        }
    }
    for folder in folders.values() {
        sync_folder(folder.as_fd()).map_err(|error| (0, error))?;
    }
    failed.map_or(Ok(()), Err)
}

/// Removes what a killed process left beside `path`.
///
/// # Errors
/// The operating system's.
pub(crate) fn remove_beside(path: &Path) -> io::Result<()> {
    let (folder, name) = split(path)?;
    remove_leftover(File::open(folder)?.as_fd(), &name_beside(name)?);
    Ok(())
}

/// Removes the file at `path`, if there is one, and what a killed process left beside it.
///
/// # Errors
/// The operating system's.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    remove_beside(path)?;
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes all that was written to these files durable, and on few file systems the names in them, too.
///
/// # Errors
/// The operating system's, with the number of the file.
pub(crate) fn sync(files: &[&File]) -> Result<(), (usize, io::Error)> {
    let mut systems: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (number, file) in files.iter().enumerate() {
        let system = file.metadata().map_err(|error| (number, error))?.dev();
        systems.entry(system).or_default().push(number);
    }
    for numbers in systems.into_values() {
        let first = numbers[0];
        if numbers.len() <= FEW || !is_local(files[first]) {
            numbers.iter().try_for_each(|&number| sync_file(files[number]).map_err(|error| (number, error)))?;
            continue;
        }
        numbers.iter().try_for_each(|&number| written_out(files[number]).map_err(|error| (number, error)))?;
        note(Step::Flush);
        // SAFETY: a valid descriptor.
        checked(unsafe { libc::syncfs(files[first].as_raw_fd()) }).map_err(|error| (first, error))?;
    }
    Ok(())
}

/// Makes the names of these files durable.
///
/// # Errors
/// The operating system's, with the number of the file.
pub(crate) fn sync_folders(paths: &[&Path]) -> Result<(), (usize, io::Error)> {
    let mut done = BTreeSet::new();
    for (number, path) in paths.iter().enumerate() {
        let synced =
            split(path).and_then(
                |(folder, _)| {
                    if done.insert(folder) { sync_folder(File::open(folder)?.as_fd()) } else { Ok(()) }
                },
            );
        synced.map_err(|error| (number, error))?;
    }
    Ok(())
}

/// Whether the file is on a file system that this host's kernel keeps itself. Source: the numbers of Linux
/// `include/uapi/linux/magic.h` and of the file systems themselves.
pub(crate) fn is_local(file: &File) -> bool {
    const LOCAL: [u32; 9] = [
        0xef53,      // ext2, ext3, ext4
        0x5846_5342, // xfs
        0x9123_683e, // btrfs
        0xf2f5_2010, // f2fs
        0xca45_1a4e, // bcachefs
        0x2fc1_2fc1, // zfs
        0x3153_464a, // jfs
        0x0102_1994, // tmpfs
        0x794c_7630, // overlay
    ];
    // SAFETY: statfs is plain data for which all zeros is valid; the descriptor is open.
    let kind = unsafe {
        let mut facts: libc::statfs = std::mem::zeroed();
        if libc::fstatfs(file.as_raw_fd(), &raw mut facts) == 0 { facts.f_type as u32 } else { 0 }
    };
    LOCAL.contains(&kind)
}

/// The directory of a path and the name in it.
fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")), name))
}

/// Hands what is in the page cache of a file to its device, and tells what went wrong on the way.
fn written_out(file: &File) -> io::Result<()> {
    let how = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: a valid descriptor.
    match checked(unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, how) }) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) => sync_file(file),
        result => result,
    }
}

fn sync_file(file: &File) -> io::Result<()> {
    note(Step::Flush);
    file.sync_all()
}

fn sync_folder(folder: BorrowedFd<'_>) -> io::Result<()> {
    note(Step::Flush);
    // SAFETY: a valid descriptor.
    checked(unsafe { libc::fsync(folder.as_raw_fd()) })
}

/// A text that is written, but has not its name yet.
struct Beside {
    file: File,
    name: CString,
    to: CString,
}

impl Beside {
    fn write(folder: BorrowedFd<'_>, name: &OsStr, text: &str) -> io::Result<Self> {
        let to = CString::new(name.as_bytes())?;
        let (name, mut file) = fresh(folder, name)?;
        match file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n")) {
            Ok(()) => Ok(Self { file, name, to }),
            Err(error) => {
                unlink(folder, &name);
                Err(error)
            }
        }
    }

    fn rename(self, folder: BorrowedFd<'_>) -> io::Result<File> {
        note(Step::Rename);
        let at = folder.as_raw_fd();
        // SAFETY: both names end with NUL.
        match checked(unsafe { libc::renameat(at, self.name.as_ptr(), at, self.to.as_ptr()) }) {
            Ok(()) => Ok(self.file),
            Err(error) => {
                unlink(folder, &self.name);
                Err(error)
            }
        }
    }
}

/// What tests count, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A wait until a device has something.
    Flush,
    /// A text got its name.
    Rename,
}

#[cfg(test)]
thread_local! {
    /// What this thread did.
    pub(crate) static STEPS: std::cell::RefCell<Vec<Step>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[cfg_attr(not(test), expect(clippy::missing_const_for_fn, reason = "it takes note in tests"))]
fn note(_step: Step) {
    #[cfg(test)]
    STEPS.with_borrow_mut(|steps| steps.push(_step));
}

/// The name that a text has until it is whole, if nobody else has it.
fn name_beside(name: &OsStr) -> io::Result<CString> {
    Ok(CString::new([name.as_bytes(), b".new"].concat())?)
}

/// A new, locked file beside `name`, with its own name.
fn fresh(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<(CString, File)> {
    let mut beside = name_beside(name)?;
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

    fn write(path: &Path, text: &str) -> Result<(), (usize, io::Error)> {
        write_all(&[(path.to_owned(), text.to_owned())])
    }

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
