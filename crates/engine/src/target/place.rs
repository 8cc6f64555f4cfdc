//! What is at a path: a regular file, a block device, nothing yet, or something that is no storage.
//!
//! Symbolic links are resolved first, so that everything later (checks, messages, opening) speaks of the same thing.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::error::TargetError;
use super::spec::PartSpec;
use crate::safety::gather::{DeviceNumber, device_number};

/// What is at a path.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Nothing; the directory is there.
    Missing {
        /// Resolved directory and the name.
        path: PathBuf,
    },
    /// A regular file.
    File {
        /// Resolved path.
        path: PathBuf,
        /// What the file system says of it.
        metadata: Metadata,
    },
    /// A block device.
    Device {
        /// Resolved path.
        path: PathBuf,
        /// Its number.
        number: DeviceNumber,
    },
}

impl Place {
    /// Looks at the path of `part`.
    pub(crate) fn of(part: &PartSpec) -> Result<Self, TargetError> {
        let asked = &part.path;
        let path = match fs::canonicalize(asked) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return missing(asked),
            Err(error) => return Err(TargetError::io(asked, "look at it")(error)),
        };
        let metadata = fs::metadata(&path).map_err(TargetError::io(&path, "look at it"))?;
        let kind = metadata.file_type();
        let not_storage = |what| Err(TargetError::NotStorage { path: path.clone(), what });
        match () {
            () if kind.is_file() => Ok(Self::File { path, metadata }),
            () if kind.is_block_device() && part.file_only => Err(TargetError::DeviceNotFile { path }),
            () if kind.is_block_device() => Ok(Self::Device { path, number: device_number(metadata.rdev()) }),
            () if kind.is_dir() => Err(TargetError::Directory { path }),
            () if kind.is_char_device() => not_storage("character device"),
            () if kind.is_fifo() => not_storage("fifo"),
            () => not_storage("socket"),
        }
    }

    /// The resolved path.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Missing { path } | Self::File { path, .. } | Self::Device { path, .. } => path,
        }
    }

    /// What tells this storage from any other: (is a device, device, inode).
    pub(crate) fn identity(&self) -> Option<(bool, u64, u64)> {
        match self {
            Self::Missing { .. } => None,
            Self::File { metadata, .. } => Some((false, metadata.dev(), metadata.ino())),
            Self::Device { number, .. } => Some((true, number.0.into(), number.1.into())),
        }
    }
}

fn missing(asked: &Path) -> Result<Place, TargetError> {
    if fs::symlink_metadata(asked).is_ok() {
        return Err(TargetError::Dangling { path: asked.to_owned() });
    }
    let directory = match asked.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let no_directory = || TargetError::NoDirectory { path: asked.to_owned(), directory: directory.to_owned() };
    let name = asked.file_name().ok_or_else(no_directory)?;
    let directory = fs::canonicalize(directory).map_err(|_| no_directory())?;
    Ok(Place::Missing { path: directory.join(name) })
}

/// The places of all parts, when no two are the same storage.
pub(crate) fn places(parts: &[PartSpec]) -> Result<Vec<Place>, TargetError> {
    let places = parts.iter().map(Place::of).collect::<Result<Vec<_>, _>>()?;
    for (index, place) in places.iter().enumerate() {
        let same = |other: &&Place| {
            other.path() == place.path() || (other.identity().is_some() && other.identity() == place.identity())
        };
        if let Some(first) = places[..index].iter().find(same) {
            return Err(TargetError::SamePart { first: first.path().to_owned(), second: place.path().to_owned() });
        }
    }
    Ok(places)
}
