//! Opens what lies beneath a directory, and nothing else: no symbolic link is followed, no mount point is entered.
//!
//! Model: `openat2` has the kernel refuse both while it walks a path (`RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS`,
//! `RESOLVE_NO_XDEV`). Kernels before 5.6, and sandboxes that forbid the call, are found out once per root; there a path
//! is walked directory by directory, each opened with `O_NOFOLLOW` relative to the one before. Either way ELOOP says
//! that a link was met, EXDEV a mount point. What is opened here is then changed by descriptor and single name
//! ([`super::calls`]), which no exchange of directories can lead elsewhere.
//!
//! Limits: hard links are no matter of paths ([`super::calls::Seen`]). Without `openat2`, mount points are told by
//! `/proc/self/fdinfo`; where that is missing too, they are entered.
//!
//! ```ignore
//! let root = Root::of(directory);
//! let inner = root.directory(c"d0/d2", Mounts::Refused)?;
//! calls::unlink(inner.as_fd(), c"f17")?;
//! ```

use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use super::calls::{self, Errno};

/// How often a walk is tried that met a rename or mount elsewhere at the same instant.
const TRIES: u32 = 64;
const DIRECTORY: i32 = libc::O_DIRECTORY | libc::O_NOFOLLOW;

/// Whether a path may lead through mount points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mounts {
    /// Between the target and the anchor of a tree: users mount file systems there.
    Crossed,
    /// Within a tree.
    Refused,
}

/// How paths are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By the kernel.
    InOneCall,
    /// By us, below a directory on this mount.
    ByStep(Option<u64>),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Root {
    directory: OwnedFd,
    way: Way,
}

impl Root {
    /// What lies beneath an open directory.
    pub(crate) fn of(directory: OwnedFd) -> Self {
        let probe = openat2(directory.as_fd(), c".", libc::O_PATH | DIRECTORY, resolve(Mounts::Refused));
        let way = if probe.is_ok() { Way::InOneCall } else { Way::ByStep(mount_of(directory.as_fd())) };
        Self { directory, way }
    }

    /// The directory itself.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// A directory beneath, to work in by names; it cannot be listed.
    pub(crate) fn directory(&self, path: &CStr, mounts: Mounts) -> Result<OwnedFd, Errno> {
        self.open(self.fd(), path, libc::O_PATH | DIRECTORY, mounts)
    }

    /// A directory beneath, to be listed or to work in.
    pub(crate) fn listing(&self, path: &CStr, mounts: Mounts) -> Result<OwnedFd, Errno> {
        self.open(self.fd(), path, libc::O_RDONLY | DIRECTORY, mounts)
    }

    /// The file with this name in `directory`, which was opened beneath this root.
    pub(crate) fn file(&self, directory: BorrowedFd<'_>, name: &CStr, flags: i32) -> Result<OwnedFd, Errno> {
        self.open(directory, name, flags | libc::O_NOFOLLOW, Mounts::Refused)
    }

    /// The directory at a path of plain names, as a root of its own; those on the way are made if `make` says so.
    pub(crate) fn below(&self, path: &Path, make: bool) -> Result<Self, Errno> {
        let mut at = self.listing(c".", Mounts::Crossed)?;
        for component in path.components() {
            let Component::Normal(name) = component else { return Err(libc::EXDEV) };
            let name = text(name)?;
            if make {
                match calls::mkdir(at.as_fd(), &name) {
                    Ok(()) | Err(libc::EEXIST) => {}
                    Err(errno) => return Err(errno),
                }
            }
            at = self.open(at.as_fd(), &name, libc::O_RDONLY | DIRECTORY, Mounts::Crossed)?;
        }
        Ok(Self::of(at))
    }

    fn open(&self, at: BorrowedFd<'_>, path: &CStr, flags: i32, mounts: Mounts) -> Result<OwnedFd, Errno> {
        let opened = match self.way {
            Way::InOneCall => openat2(at, path, flags, resolve(mounts)),
            Way::ByStep(mount) => by_step(at, path, flags, if mounts == Mounts::Crossed { None } else { mount }),
        };
        match opened {
            // O_DIRECTORY is what the kernel minds first in a link.
            Err(libc::ENOTDIR) if flags & libc::O_DIRECTORY != 0 && is_link(at, path) => Err(libc::ELOOP),
            opened => opened,
        }
    }
}

/// A name as the kernel takes it.
pub(crate) fn text(name: &OsStr) -> Result<CString, Errno> {
    CString::new(name.as_bytes()).map_err(|_| libc::EINVAL)
}

const fn resolve(mounts: Mounts) -> u64 {
    let inside = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_NO_MAGICLINKS;
    match mounts {
        Mounts::Crossed => inside,
        Mounts::Refused => inside | libc::RESOLVE_NO_XDEV,
    }
}

fn openat2(at: BorrowedFd<'_>, path: &CStr, flags: i32, resolve: u64) -> Result<OwnedFd, Errno> {
    // SAFETY: zeroes are a valid open_how.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (flags | libc::O_CLOEXEC) as u64;
    how.resolve = resolve;
    for _ in 0..TRIES {
        // SAFETY: `path` ends with NUL, and `how` has the size that is given.
        let opened = unsafe {
            libc::syscall(libc::SYS_openat2, at.as_raw_fd(), path.as_ptr(), &raw const how, size_of::<libc::open_how>())
        };
        match i32::try_from(opened) {
            // SAFETY: the kernel has just given us this descriptor.
            Ok(file) if file >= 0 => return Ok(unsafe { OwnedFd::from_raw_fd(file) }),
            _ => match calls::errno() {
                libc::EAGAIN => {}
                errno => return Err(errno),
            },
        }
    }
    Err(libc::EAGAIN)
}

/// Walks a path one directory after the other; `mount` is the one it has to stay on, if it has to.
fn by_step(at: BorrowedFd<'_>, path: &CStr, flags: i32, mount: Option<u64>) -> Result<OwnedFd, Errno> {
    let (mut reached, mut names) = (None::<OwnedFd>, path.to_bytes().split(|byte| *byte == b'/').peekable());
    while let Some(name) = names.next() {
        // Neither up nor to the file system's root, as the kernel has it.
        if name == b".." || name.is_empty() {
            return Err(libc::EXDEV);
        }
        let name = text(OsStr::from_bytes(name))?;
        let last = names.peek().is_none();
        let here = reached.as_ref().map_or(at, AsFd::as_fd);
        let flags = if last { flags | libc::O_NOFOLLOW } else { libc::O_PATH | DIRECTORY };
        let next = match calls::open(here, &name, flags) {
            Err(libc::ENOTDIR) if is_link(here, &name) => return Err(libc::ELOOP),
            next => next?,
        };
        if mount.is_some() && mount_of(next.as_fd()) != mount {
            return Err(libc::EXDEV);
        }
        if last {
            return Ok(next);
        }
        reached = Some(next);
    }
    Err(libc::ENOENT)
}

fn is_link(at: BorrowedFd<'_>, path: &CStr) -> bool {
    calls::stat(at, path).is_ok_and(|seen| seen.kind == calls::Kind::Link)
}

/// The mount that an open file is on.
fn mount_of(file: BorrowedFd<'_>) -> Option<u64> {
    let facts = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    facts.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok())
}

#[cfg(test)]
mod tests;
