//! Directories in a target that are Plimsoll's: what another program, say a database, keeps there for us.
//!
//! Model: the marker names such a directory before it is made, and it is only made where nothing has its name. What that
//! program writes there has known names ([`super::possession`]) and goes when the directory goes; whatever else lies there
//! somebody has put in, and it stays.
//! Limits: nothing is removed through a symbolic link or a mount point; links are removed as such.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::beneath::{Mounts, Root, text};
use super::calls::{self, Errno, Kind};
use super::listing::each_entry;
use super::place::Held;
use super::possession::{Possession, Whose};
use crate::safety::{Permission, Refusal};
use crate::target::TargetError;

/// Takes a directory, makes one called `name` in it that is Plimsoll's, or finds it again; its path.
///
/// # Errors
/// When the directory is somebody's, in use by another run, or cannot be written to.
///
/// # Panics
/// When nobody has said what is written into a directory of that name.
pub fn own(directory: &Path, permission: &Permission, name: &str) -> Result<PathBuf, TargetError> {
    assert!(Possession::of(name).is_some(), "{name}: nothing is known of what is written there");
    let mut held = Held::take(directory, permission)?;
    let path = held.path.join(name);
    let refused = |errno| TargetError::io(&path, "make it")(io::Error::from_raw_os_error(errno));
    let entry = text(OsStr::new(name)).map_err(refused)?;
    if !held.marker.owned.iter().any(|owned| owned == name) {
        if calls::stat(held.root.fd(), &entry).is_ok() {
            return Err(Refusal::ForeignName { path }.into());
        }
        held.marker.owned.push(name.to_owned());
        held.mark()?;
    }
    match calls::mkdir(held.root.fd(), &entry) {
        Ok(()) => Ok(path),
        Err(libc::EEXIST) if calls::stat(held.root.fd(), &entry).is_ok_and(|seen| seen.kind == Kind::Directory) => {
            Ok(path)
        }
        Err(errno) => Err(refused(errno)),
    }
}

/// Keeps other runs from a directory that Plimsoll works in, as long as this run's claims are kept; `false` when it does not work there.
///
/// # Errors
/// [`TargetError::Busy`] when another run has it.
pub fn claim(directory: &Path) -> Result<bool, TargetError> {
    Ok(Held::again(directory)?.is_some())
}

/// Removes one of the directories that the marker names, with what Plimsoll's programs wrote there; what somebody else has put
/// there stays, and is named in order.
pub(super) fn remove_owned(held: &Held, name: &str) -> Result<Vec<PathBuf>, TargetError> {
    let path = held.path.join(name);
    let Some(possession) = Possession::of(name) else { return Ok(vec![path]) };
    let mut foreign = Vec::new();
    let removed = text(OsStr::new(name)).and_then(|entry| {
        let opened = held.root.listing(&entry, Mounts::Refused)?;
        emptied(&Root::of(opened), possession, &mut Vec::new(), &mut foreign)?;
        calls::rmdir(held.root.fd(), &entry)
    });
    match removed {
        Err(libc::ENOTEMPTY | libc::EEXIST) if !foreign.is_empty() => {}
        // Gone, or no directory of ours: whatever has the name now stays.
        Ok(()) | Err(libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::EXDEV) => {}
        Err(errno) => return Err(TargetError::io(&path, "remove it")(io::Error::from_raw_os_error(errno))),
    }
    let mut found: Vec<PathBuf> = foreign.iter().map(|below| path.join(below)).collect();
    found.sort();
    Ok(found)
}

/// The bytes that files in one of the directories take.
pub(super) fn owned_bytes(directory: &Root, name: &str) -> u64 {
    let opened = text(OsStr::new(name)).and_then(|entry| directory.listing(&entry, Mounts::Refused));
    opened.map_or(0, |opened| allocated_bytes(&Root::of(opened)))
}

/// Removes what is ours in the directory at `above`; what is not is added to `foreign`.
fn emptied(
    directory: &Root,
    possession: Possession,
    above: &mut Vec<CString>,
    foreign: &mut Vec<PathBuf>,
) -> Result<(), Errno> {
    for (name, kind) in entries(directory)? {
        above.push(name.clone());
        let path: Vec<&CStr> = above.iter().map(CString::as_c_str).collect();
        let whose = possession.whose(&path, kind);
        if whose == Whose::Foreign {
            foreign.push(above.iter().map(|name| OsStr::from_bytes(name.as_bytes())).collect());
        } else if kind == Kind::Directory {
            let before = foreign.len();
            emptied(&Root::of(directory.listing(&name, Mounts::Refused)?), possession, above, foreign)?;
            if foreign.len() == before {
                calls::rmdir(directory.fd(), &name)?;
            }
        } else {
            match calls::unlink(directory.fd(), &name) {
                Ok(()) | Err(libc::ENOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
        above.pop();
    }
    Ok(())
}

fn allocated_bytes(directory: &Root) -> u64 {
    let sizes = entries(directory).unwrap_or_default().into_iter().map(|(name, kind)| match kind {
        Kind::Directory => {
            directory.listing(&name, Mounts::Refused).map_or(0, |opened| allocated_bytes(&Root::of(opened)))
        }
        _ => calls::stat(directory.fd(), &name).map_or(0, |seen| seen.size_bytes),
    });
    sizes.sum()
}

fn entries(directory: &Root) -> Result<Vec<(CString, Kind)>, Errno> {
    let opened: OwnedFd = directory.listing(c".", Mounts::Refused)?;
    let mut found = Vec::new();
    each_entry(opened, |_, name, kind| {
        found.push((name.to_owned(), kind));
        Ok(())
    })?;
    Ok(found)
}
