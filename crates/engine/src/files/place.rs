//! A directory that trees are laid out in: whether Plimsoll may use it, and who else does.
//!
//! Limits: an empty directory counts as nobody's, and so does one with nothing but `lost+found`.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::beneath::{Mounts, Root};
use super::calls;
use super::listing::each_entry;
use super::marker::{self, Marker};
use crate::display::shown;
use crate::owner::Run;
use crate::safety::device_number;
use crate::safety::{Permission, Refusal, path_text};
use crate::target::{Claims, TargetError, medium};

/// What is at a target for file operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FilesInspection {
    /// `directory`, or `directories` for several.
    pub kind: &'static str,
    /// The target as given.
    pub spec: String,
    /// The directory's absolute path; none of several.
    #[serde(serialize_with = "path_text::maybe")]
    pub path: Option<PathBuf>,
    /// Whether it exists; of several, all of them.
    pub exists: bool,
    /// Never: it is a real file system.
    pub modelled: bool,
    /// Whether Plimsoll has laid trees out in it; of several, in all.
    pub made_by_plimsoll: bool,
    /// A run that was killed left its trees behind: whoever uses them next removes them.
    pub left_behind: bool,
    /// Why it would not be used without further words.
    pub write_refusal: Option<String>,
    /// The directories of several, in order; none of one.
    pub parts: Vec<Self>,
}

/// Looks at one directory without changing it; `spec` is its name as given.
pub(super) fn inspect_directory(spec: &str, directory: &Path) -> Result<FilesInspection, TargetError> {
    let path = absolute(directory)?;
    let exists = exists(&path)?;
    check_medium(&path, exists)?;
    let root = if exists { Some(Root::of(opened(&path, 0)?)) } else { None };
    let marker = root.as_ref().and_then(Marker::read);
    let refusal = match root.filter(|_| marker.is_none()) {
        Some(root) => stranger(&root, &path)?,
        None => None,
    };
    Ok(FilesInspection {
        kind: "directory",
        spec: spec.to_owned(),
        exists,
        modelled: false,
        made_by_plimsoll: marker.is_some(),
        left_behind: marker.is_some_and(|marker| marker.is_left_behind()),
        write_refusal: refusal.map(|example| Refusal::ForeignDirectory { path: path.clone(), example }.to_string()),
        path: Some(path),
        parts: Vec::new(),
    })
}

pub(super) fn absolute(path: &Path) -> Result<PathBuf, TargetError> {
    let absolute = std::path::absolute(path).map_err(TargetError::io(path, "find out where it is"))?;
    Ok(absolute.components().collect())
}

/// Whether there is a directory; the one it would be in must be there.
fn exists(path: &Path) -> Result<bool, TargetError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(true),
        Ok(_) => Err(TargetError::NotADirectory { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(TargetError::Dangling { path: path.to_owned() });
            }
            match path.parent().filter(|parent| !parent.is_dir()) {
                Some(parent) => Err(TargetError::NoDirectory { path: path.to_owned(), directory: parent.to_owned() }),
                None => Ok(false),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(TargetError::NotADirectory { path: path.parent().unwrap_or(path).to_owned() })
        }
        Err(error) => Err(TargetError::io(path, "look at it")(error)),
    }
}

/// Refuses a directory, or a place for one, where files are no storage.
fn check_medium(path: &Path, exists: bool) -> Result<(), TargetError> {
    let look = || TargetError::io(path, "look at it");
    let there = if exists { path } else { path.parent().unwrap_or(path) };
    let resolved = fs::canonicalize(there).map_err(look())?;
    let number = device_number(fs::metadata(&resolved).map_err(look())?.dev());
    medium::check_directory(path, &resolved, number)
}

/// Makes the directory; whether nobody else just has.
fn made(path: &Path) -> Result<bool, TargetError> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|()| true).map_err(TargetError::io(path, "make it")),
    }
}

/// Something in a directory that is not ours.
fn stranger(root: &Root, path: &Path) -> Result<Option<String>, TargetError> {
    let mut first: Option<String> = None;
    let listed = root.listing(c".", Mounts::Crossed).and_then(|directory| {
        each_entry(directory, |_, name, _| {
            let name = shown(OsStr::from_bytes(name.to_bytes())).to_string();
            let ours = name == "lost+found" || name.starts_with(marker::NAME);
            if !ours && first.as_deref().is_none_or(|first| *name < *first) {
                first = Some(name);
            }
            Ok(())
        })
    });
    listed.map_err(|errno| TargetError::io(path, "list it")(io::Error::from_raw_os_error(errno)))?;
    Ok(first)
}

/// A directory that this process works in, and nobody else's Plimsoll. It is worked in by its descriptor, which bears the
/// lock: what becomes of its path meanwhile changes nothing.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) path: PathBuf,
    pub(crate) root: Root,
    pub(crate) marker: Marker,
    /// Whether this call made the directory.
    pub(crate) created: bool,
}

impl Held {
    /// Makes the directory if need be, and takes it.
    pub(crate) fn take(path: &Path, permission: &Permission) -> Result<Self, TargetError> {
        let path = absolute(path)?;
        let missing = !exists(&path)?;
        check_medium(&path, !missing)?;
        let created = missing && made(&path)?;
        // A link that the user names is followed; one in place of what was just made is not.
        let root = Root::of(locked(&path, if missing { libc::O_NOFOLLOW } else { 0 })?);
        let (marker, found) = match Marker::read(&root) {
            Some(found) => {
                let mut marker = found.clone();
                marker.run = Some(Run::this());
                (marker, Some(found))
            }
            None => {
                if let Some(example) = stranger(&root, &path)?.filter(|_| !permission.destroy) {
                    return Err(Refusal::ForeignDirectory { path, example }.into());
                }
                (Marker::new(identity(&root, &path)?, created), None)
            }
        };
        let held = Self { path, root, marker, created };
        if found.is_some_and(|found| found != held.marker) {
            held.mark()?;
        }
        Ok(held)
    }

    /// Takes a directory that Plimsoll works in; `None` if it is none.
    pub(crate) fn again(path: &Path) -> Result<Option<Self>, TargetError> {
        let path = absolute(path)?;
        let Ok(root) = opened(&path, 0).map(Root::of) else { return Ok(None) };
        if Marker::read(&root).is_none() {
            return Ok(None);
        }
        let root = Root::of(locked(&path, 0)?);
        Ok(Marker::read(&root).map(|marker| Self { path, root, marker, created: false }))
    }

    /// Writes the marker.
    pub(crate) fn mark(&self) -> Result<(), TargetError> {
        self.marker.write(self.root.fd()).map_err(TargetError::io(&Marker::path_in(&self.path), "write the marker"))
    }

    /// Removes the directory if it is empty, and if its path still leads to it.
    pub(crate) fn remove_directory(&self) -> bool {
        let Ok(there) = fs::symlink_metadata(&self.path) else { return false };
        let held = calls::seen(self.root.fd()).map(|seen| seen.identity);
        held == Ok((there.dev(), there.ino())) && fs::remove_dir(&self.path).is_ok()
    }
}

fn identity(root: &Root, path: &Path) -> Result<(u64, u64), TargetError> {
    let seen = calls::seen(root.fd());
    let seen = seen.map_err(|errno| TargetError::io(path, "look at it")(io::Error::from_raw_os_error(errno)))?;
    Ok(seen.identity)
}

pub(super) fn opened(path: &Path, flags: i32) -> Result<OwnedFd, TargetError> {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | flags).open(path);
    opened.map(OwnedFd::from).map_err(TargetError::io(path, "open it"))
}

fn locked(path: &Path, flags: i32) -> Result<OwnedFd, TargetError> {
    Claims::current().take_directory(path, opened(path, flags)?)
}
