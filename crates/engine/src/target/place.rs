//! What is at a path: a regular file, a block device, nothing yet, or something that is no storage.
//!
//! Symbolic links are resolved once, and what they lead to is held from then on by a descriptor that neither reads nor
//! writes (`O_PATH`). Everything later (judging, claiming, opening) goes through that descriptor and never by name
//! again, so what was judged is what is written to, whatever is put at the path meanwhile.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::TargetError;
use super::medium;
use super::spec::PartSpec;
use crate::durable::TOGETHER;
use crate::open_files;
use crate::safety::kernel_tables::Mounts;
use crate::safety::loops::Base;
use crate::safety::{DeviceNumber, System, device_number};

/// A file or device, held without being open for anything.
#[derive(Clone, Debug)]
pub(crate) struct Handle(Arc<File>);

impl Handle {
    /// Holds what is at `path`, which contains no symbolic link.
    fn at(path: &Path) -> io::Result<Self> {
        open_without_links(path).map(|file| Self(Arc::new(file)))
    }

    /// Holds what is open already.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let link = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        // SAFETY: a C string and constant flags; the descriptor that comes back is owned here alone.
        let fd = unsafe { libc::open(link.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above.
        Ok(Self(Arc::new(unsafe { File::from_raw_fd(fd) })))
    }

    /// What it is.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }

    /// The path that leads to it and to nothing else. Source: proc(5), `/proc/self/fd`.
    pub(crate) fn link(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }

    /// Opens it. What comes back is checked to be what is held.
    pub(crate) fn open(&self, options: &OpenOptions) -> io::Result<File> {
        let file = options.open(self.link())?;
        let (opened, held) = (file.metadata()?, self.metadata()?);
        if same(&opened, &held) { Ok(file) } else { Err(io::Error::other("it is not what it was a moment ago")) }
    }

    /// Opens it for reading; a device that waits for a medium does not block.
    pub(crate) fn open_for_reading(&self) -> io::Result<File> {
        use std::os::unix::fs::OpenOptionsExt;
        self.open(OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK))
    }
}

/// Whether two descriptors are of one file or device.
fn same(first: &Metadata, second: &Metadata) -> bool {
    let of = |metadata: &Metadata| (metadata.dev(), metadata.ino(), metadata.rdev());
    of(first) == of(second)
}

/// Holds a path in which nothing may be a link any more; older kernels (before 5.6) check its last part only.
/// Source: openat2(2), `RESOLVE_NO_SYMLINKS`.
fn open_without_links(path: &Path) -> io::Result<File> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: open_how is plain data for which all zeros is valid.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = flags as u64;
    how.resolve = libc::RESOLVE_NO_SYMLINKS;
    // SAFETY: a C string and a structure of the size given.
    let fd = unsafe {
        libc::syscall(libc::SYS_openat2, libc::AT_FDCWD, name.as_ptr(), &raw const how, size_of::<libc::open_how>())
    } as libc::c_int;
    let unknown = fd < 0 && matches!(io::Error::last_os_error().raw_os_error(), Some(libc::ENOSYS | libc::EPERM));
    // SAFETY: a C string and constant flags.
    let fd = if unknown { unsafe { libc::open(name.as_ptr(), flags) } } else { fd };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was opened above and is owned here alone.
    Ok(unsafe { File::from_raw_fd(fd) })
}

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
        /// The file itself.
        handle: Handle,
        /// What the file system says of it.
        metadata: Metadata,
    },
    /// A block device.
    Device {
        /// Resolved path.
        path: PathBuf,
        /// The device itself.
        handle: Handle,
        /// Its number.
        number: DeviceNumber,
    },
}

impl Place {
    /// Looks at the path of `part`.
    pub(crate) fn of(part: &PartSpec, mounts: &Mounts) -> Result<Self, TargetError> {
        let asked = &part.path;
        let path = match fs::canonicalize(asked) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return missing(asked, mounts),
            Err(error) => return Err(TargetError::io(asked, "look at it")(error)),
        };
        let handle = Handle::at(&path).map_err(TargetError::io(&path, "look at it"))?;
        let metadata = handle.metadata().map_err(TargetError::io(&path, "look at it"))?;
        let kind = metadata.file_type();
        let not_storage = |what| Err(TargetError::NotStorage { path: path.clone(), what });
        match () {
            () if kind.is_symlink() => Err(TargetError::Dangling { path }),
            () if kind.is_file() => {
                medium::check(&path, device_number(metadata.dev()), mounts)?;
                Ok(Self::File { path, handle, metadata })
            }
            () if kind.is_block_device() && part.file_only => Err(TargetError::DeviceNotFile { path }),
            () if kind.is_block_device() => Ok(Self::Device { path, handle, number: device_number(metadata.rdev()) }),
            () if kind.is_dir() => Err(TargetError::Directory { path }),
            () if kind.is_char_device() => not_storage("character device"),
            () if kind.is_fifo() => not_storage("fifo"),
            () => not_storage("socket"),
        }
    }

    /// The place of a file that was just made.
    pub(crate) fn of_file(path: &Path, file: &File) -> Result<Self, TargetError> {
        let handle = Handle::of(file).map_err(TargetError::io(path, "look at it"))?;
        let metadata = handle.metadata().map_err(TargetError::io(path, "look at it"))?;
        Ok(Self::File { path: path.to_owned(), handle, metadata })
    }

    /// The resolved path.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Missing { path } | Self::File { path, .. } | Self::Device { path, .. } => path,
        }
    }

    /// What is there, held; nothing where there is nothing.
    pub(crate) const fn handle(&self) -> Option<&Handle> {
        match self {
            Self::Missing { .. } => None,
            Self::File { handle, .. } | Self::Device { handle, .. } => Some(handle),
        }
    }

    /// What tells this storage from any other.
    pub(crate) fn base(&self) -> Option<Base> {
        match self {
            Self::Missing { .. } => None,
            Self::File { metadata, .. } => Some(Base::of(metadata)),
            Self::Device { number, .. } => Some(Base::Device(*number)),
        }
    }
}

fn missing(asked: &Path, mounts: &Mounts) -> Result<Place, TargetError> {
    if fs::symlink_metadata(asked).is_ok() {
        return Err(TargetError::Dangling { path: asked.to_owned() });
    }
    let directory = match asked.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let no_directory = || match medium::no_such_device(asked) {
        Some(error) => error,
        None => TargetError::NoDirectory { path: asked.to_owned(), directory: directory.to_owned() },
    };
    let name = asked.file_name().ok_or_else(no_directory)?;
    let directory = fs::canonicalize(directory).map_err(|_| no_directory())?;
    let path = directory.join(name);
    let number = fs::metadata(&directory).map_err(TargetError::io(&directory, "look at it"))?.dev();
    medium::check(&path, device_number(number), mounts)?;
    Ok(Place::Missing { path })
}

/// Descriptors of a part while a target is used: what holds it, its lock, and what it is read and written through.
const FILES_PER_PART: u64 = 3;
/// Files that are open beside those, among them the markers that are written together.
const OTHER_FILES: u64 = 32 + TOGETHER as u64;

/// The places of all parts, when no two are the same storage and all can be open at the same time.
pub(crate) fn places(parts: &[PartSpec]) -> Result<Vec<Place>, TargetError> {
    let needed = parts.len() as u64 * FILES_PER_PART + OTHER_FILES;
    let limit = open_files::allow(needed);
    if parts.len() > 1 && limit < needed {
        return Err(TargetError::TooManyParts { parts: parts.len(), needed, limit });
    }
    let mounts = Mounts::of(&System::host());
    let places = parts.iter().map(|part| Place::of(part, &mounts)).collect::<Result<Vec<_>, _>>()?;
    let mut paths: BTreeMap<&Path, &Place> = BTreeMap::new();
    let mut bases: BTreeMap<Base, &Place> = BTreeMap::new();
    for place in &places {
        let named = paths.insert(place.path(), place);
        let stored = place.base().and_then(|base| bases.insert(base, place));
        if let Some(first) = named.or(stored) {
            return Err(TargetError::SamePart { first: first.path().to_owned(), second: place.path().to_owned() });
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    fn place(path: &Path) -> Place {
        let part = PartSpec { path: path.to_owned(), file_only: false, size_bytes: None };
        Place::of(&part, &Mounts::of(&System::host())).unwrap()
    }

    #[test]
    fn what_is_opened_is_what_was_looked_at_whatever_is_put_at_its_path() {
        let directory = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
        let (path, victim) = (directory.path().join("scratch"), directory.path().join("victim"));
        fs::write(&path, "scratch").unwrap();
        fs::write(&victim, "precious").unwrap();
        let place = place(&path);
        let Place::File { handle, .. } = &place else { panic!("{place:?}") };
        fs::rename(&path, directory.path().join("moved")).unwrap();
        symlink(&victim, &path).unwrap();
        handle.open(OpenOptions::new().write(true)).unwrap().write_all(b"written").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(fs::read(directory.path().join("moved")).unwrap(), b"written");
    }

    #[test]
    fn another_file_under_the_same_descriptor_number_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (directory.path().join("a"), directory.path().join("b"));
        fs::write(&first, "a").unwrap();
        fs::write(&second, "b").unwrap();
        let of = |path: &Path| fs::metadata(path).unwrap();
        assert!(same(&of(&first), &of(&first)) && !same(&of(&first), &of(&second)));
    }

    #[test]
    fn a_directory_that_became_a_link_after_the_path_was_resolved_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir(root.join("elsewhere")).unwrap();
        fs::write(root.join("elsewhere/file"), "precious").unwrap();
        symlink(root.join("elsewhere"), root.join("link")).unwrap();
        assert!(Handle::at(&root.join("elsewhere/file")).is_ok());
        assert_eq!(Handle::at(&root.join("link/file")).unwrap_err().raw_os_error(), Some(libc::ELOOP));
    }
}
