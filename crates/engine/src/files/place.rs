//! The directory that trees are laid out in: whether Plimsoll may use it, and who else does.
//!
//! Limits: an empty directory counts as nobody's, and so does one with nothing but `lost+found`.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::marker::{self, Marker};
use crate::safety::{Permission, Refusal, path_text};
use crate::target::TargetError;

/// What is at a target for file operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FilesInspection {
    /// `directory`.
    pub kind: &'static str,
    /// The path as given.
    pub spec: String,
    /// The directory's absolute path.
    #[serde(serialize_with = "path_text::one")]
    pub path: PathBuf,
    /// Whether it exists.
    pub exists: bool,
    /// Never: it is a real file system.
    pub modelled: bool,
    /// Whether Plimsoll has laid trees out in it.
    pub made_by_plimsoll: bool,
    /// Why it would not be used without further words.
    pub write_refusal: Option<String>,
    /// None: it is one directory.
    pub parts: [(); 0],
}

/// Looks at a target without changing it.
///
/// # Errors
/// If there is something else than a directory, or not even a directory to make it in.
pub fn inspect(spec: &str) -> Result<FilesInspection, TargetError> {
    let path = absolute(Path::new(spec))?;
    let exists = exists(&path)?;
    let marker = if exists { Marker::read(&path) } else { None };
    let refusal = if exists && marker.is_none() { stranger(&path)? } else { None };
    Ok(FilesInspection {
        kind: "directory",
        spec: spec.to_owned(),
        exists,
        modelled: false,
        made_by_plimsoll: marker.is_some(),
        write_refusal: refusal.map(|example| Refusal::ForeignDirectory { path: path.clone(), example }.to_string()),
        path,
        parts: [],
    })
}

fn absolute(path: &Path) -> Result<PathBuf, TargetError> {
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

/// Something in a directory that is not ours.
fn stranger(path: &Path) -> Result<Option<String>, TargetError> {
    let entries = fs::read_dir(path).map_err(TargetError::io(path, "list it"))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name != "lost+found" && !name.starts_with(marker::NAME)).min())
}

/// A directory that this process works in, and nobody else's Plimsoll.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) path: PathBuf,
    pub(crate) marker: Marker,
    /// Whether this call made the directory.
    pub(crate) created: bool,
    _lock: File,
}

impl Held {
    /// Makes the directory if need be, and takes it.
    pub(crate) fn take(path: &Path, permission: &Permission) -> Result<Self, TargetError> {
        let path = absolute(path)?;
        let created = !exists(&path)?;
        if created {
            fs::create_dir(&path).map_err(TargetError::io(&path, "make it"))?;
        }
        let lock = lock(&path)?;
        let marker = match Marker::read(&path) {
            Some(marker) => marker,
            None => {
                if let Some(example) = stranger(&path)?.filter(|_| !permission.destroy) {
                    return Err(Refusal::ForeignDirectory { path, example }.into());
                }
                let metadata = fs::metadata(&path).map_err(TargetError::io(&path, "look at it"))?;
                Marker::new(&metadata, created)
            }
        };
        Ok(Self { path, marker, created, _lock: lock })
    }

    /// Takes a directory that Plimsoll works in; `None` if it is none.
    pub(crate) fn again(path: &Path) -> Result<Option<Self>, TargetError> {
        let path = absolute(path)?;
        let Some(marker) = Marker::read(&path) else { return Ok(None) };
        let lock = lock(&path)?;
        Ok(Some(Self { path, marker, created: false, _lock: lock }))
    }

    /// Writes the marker.
    pub(crate) fn mark(&self) -> Result<(), TargetError> {
        self.marker.write(&self.path).map_err(TargetError::io(&Marker::path_in(&self.path), "write the marker"))
    }
}

fn lock(path: &Path) -> Result<File, TargetError> {
    let directory = File::open(path).map_err(TargetError::io(path, "open it"))?;
    // SAFETY: a valid descriptor.
    if unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(directory);
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::EWOULDBLOCK) => Err(TargetError::Busy { path: path.to_owned() }),
        // Some network file systems know no locks.
        _ => Ok(directory),
    }
}
