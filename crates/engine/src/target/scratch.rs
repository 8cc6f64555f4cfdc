//! Scratch files: made, filled, used again, deleted.
//!
//! Model: before anything is written, every part gets a [`Step`] (keep, or fill from an offset on) and the free space
//! is checked for all of them together; then the steps are carried out. A [`Marker`] beside each file says that it is
//! ours and how far it is filled, so a killed fill goes on where it was. A marked file is refilled when it has become
//! compressible or has holes (an earlier workload wrote zeros or trimmed it), since reads of such data say nothing.
//!
//! Limits: only regular files are prepared; devices and files of others are left exactly as they are.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use plimsoll_engine::{safety::Permission, target::{prepare, remove}};
//! let spec = "/data/scratch".parse().unwrap();
//! let mut progress = |done, total| eprintln!("{done} of {total}");
//! let made = prepare(&spec, Some(1 << 30), &Permission::default(), &mut progress, &AtomicBool::new(false)).unwrap();
//! if made.created {
//!     remove(&spec).unwrap();
//! }
//! ```

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::error::TargetError;
use super::fill::{CHUNK_BYTES, fill};
use super::marker::Marker;
use super::open::facts_of;
use super::place::{Place, places};
use super::sample::{COMPRESSIBLE_BELOW_BITS, Sample};
use super::spec::{PartSpec, TargetSpec};
use crate::safety::{Permission, Refusal, judge, path_text};

/// Default size of a scratch target unless a quarter of the free space is less.
pub const DEFAULT_SIZE_BYTES: u64 = 4 << 30;
/// Sizes are multiples of this.
const STEP_BYTES: u64 = 4096;
/// Free space left to others: this, or a twentieth of a file system that is smaller than twenty times this.
const RESERVE_BYTES: u64 = 256 << 20;

/// What [`prepare`] did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prepared {
    /// Every file of the target was made by this call (and is the caller's to [`remove`]).
    pub created: bool,
    /// Bytes written by this call.
    pub filled_bytes: u64,
    /// Resolved paths of the scratch files of this target, whenever they were made.
    #[serde(serialize_with = "path_text::many")]
    pub scratch: Vec<PathBuf>,
}

/// What is to be done for one scratch file.
struct Step {
    path: PathBuf,
    /// The file does not exist.
    create: bool,
    /// Size it shall have.
    size_bytes: u64,
    /// Bytes that are filled already.
    filled_bytes: u64,
    /// Nothing is to be done.
    ready: bool,
    /// Bytes the file system has yet to allocate.
    needed_bytes: u64,
}

/// Makes and fills the scratch files of a target; whatever else the target consists of is left alone. `size_bytes` is
/// the whole target's size; without it, new files share [`DEFAULT_SIZE_BYTES`] or a quarter of the free space, and
/// existing scratch files keep theirs. `progress` gets (bytes written, bytes to write); setting `stop` ends it soon.
///
/// # Errors
/// A [`TargetError`]. What this call made is removed again, also on [`TargetError::Stopped`].
pub fn prepare(
    spec: &TargetSpec,
    size_bytes: Option<u64>,
    permission: &Permission,
    progress: &mut dyn FnMut(u64, u64),
    stop: &AtomicBool,
) -> Result<Prepared, TargetError> {
    let parts = spec.parts();
    let places = places(parts)?;
    let sizes = size_bytes.map(|size| share(spec, size)).transpose()?;
    let mut steps = Vec::new();
    for (part, place) in parts.iter().zip(&places) {
        steps.extend(plan((part, place), sizes, parts.len() as u64, permission)?);
    }
    check_space(&steps)?;

    let total: u64 = steps.iter().map(|step| step.size_bytes - step.filled_bytes).sum();
    let mut done = 0;
    let mut made = Vec::new();
    for step in steps.iter().filter(|step| !step.ready) {
        let mut advance = |bytes| {
            done += bytes;
            progress(done, total);
        };
        let result = carry_out(step, &mut advance, stop);
        if step.create {
            made.push(step.path.as_path());
        }
        if let Err(error) = result {
            made.iter().for_each(|path| discard(path));
            return Err(error);
        }
    }
    Ok(Prepared {
        created: !parts.is_empty() && made.len() == parts.len(),
        filled_bytes: done,
        scratch: steps.iter().map(|step| step.path.clone()).collect(),
    })
}

/// Each part's share of the target's size.
fn share(spec: &TargetSpec, size_bytes: u64) -> Result<u64, TargetError> {
    let parts = (spec.parts().len() as u64).max(1);
    let unit = if let TargetSpec::Stripe { unit_bytes, .. } = spec { u64::from(*unit_bytes) } else { STEP_BYTES };
    let step_bytes = parts * unit.max(STEP_BYTES).next_multiple_of(STEP_BYTES);
    if size_bytes == 0 || !size_bytes.is_multiple_of(step_bytes) {
        let right_bytes = (size_bytes / step_bytes).max(1) * step_bytes;
        return Err(TargetError::SizeOdd { asked_bytes: size_bytes, step_bytes, right_bytes });
    }
    Ok(size_bytes / parts)
}

/// What one part needs; `None` for a device or somebody's file.
fn plan(
    (part, place): (&PartSpec, &Place),
    size_bytes: Option<u64>,
    parts: u64,
    permission: &Permission,
) -> Result<Option<Step>, TargetError> {
    match place {
        Place::Missing { path } => {
            let size_bytes = match size_bytes {
                Some(size_bytes) => size_bytes,
                None => default_size(path, parts)?,
            };
            let (path, needed_bytes) = (path.clone(), size_bytes);
            Ok(Some(Step { path, create: true, size_bytes, filled_bytes: 0, ready: false, needed_bytes }))
        }
        Place::File { path, metadata } => {
            let Some(marker) = Marker::read(path).filter(|marker| marker.is_of(metadata)) else {
                return foreign(path, metadata.len(), size_bytes);
            };
            let step = plan_again(path, metadata, &marker, size_bytes)?;
            let facts = || facts_of(std::slice::from_ref(part), std::slice::from_ref(place), false);
            // A scratch file that somebody put a file system in, or a loop device on, has become theirs.
            let theirs = !step.ready && judge(&facts(), permission).is_err();
            if theirs { foreign(path, metadata.len(), size_bytes) } else { Ok(Some(step)) }
        }
        Place::Device { path, .. } => match size_bytes {
            None => Ok(None),
            Some(asked_bytes) => {
                let mut device = File::open(path).map_err(TargetError::io(path, "open it for reading"))?;
                let end = io::Seek::seek(&mut device, io::SeekFrom::End(0));
                foreign(path, end.map_err(TargetError::io(path, "ask for its size"))?, Some(asked_bytes))
            }
        },
    }
}

/// What a scratch file of ours needs to have this size, or the one it has.
fn plan_again(
    path: &Path,
    metadata: &fs::Metadata,
    marker: &Marker,
    size_bytes: Option<u64>,
) -> Result<Step, TargetError> {
    let size_bytes = size_bytes.unwrap_or(marker.size_bytes);
    let filled_bytes = still_filled(path, marker)?.min(size_bytes);
    Ok(Step {
        path: path.to_owned(),
        create: false,
        size_bytes,
        filled_bytes,
        ready: marker.full && filled_bytes == size_bytes && marker.size_bytes == size_bytes,
        needed_bytes: size_bytes.saturating_sub(metadata.blocks() * 512),
    })
}

/// Something that is not ours to resize.
fn foreign(path: &Path, found_bytes: u64, asked: Option<u64>) -> Result<Option<Step>, TargetError> {
    match asked {
        Some(asked_bytes) if asked_bytes != found_bytes => {
            Err(TargetError::SizeNotOurs { path: path.to_owned(), found_bytes, asked_bytes })
        }
        _ => Ok(None),
    }
}

/// How much of a scratch file still holds incompressible data: what its marker says, or nothing if a sample says
/// otherwise.
fn still_filled(path: &Path, marker: &Marker) -> Result<u64, TargetError> {
    if !marker.full {
        return Ok(marker.filled_bytes);
    }
    let file = File::open(path).map_err(TargetError::io(path, "open it for reading"))?;
    let sample = Sample::of(&file).map_err(TargetError::io(path, "read it"))?;
    let holes = sample.allocated_bytes < marker.allocated_bytes - marker.allocated_bytes / 100;
    let spoilt = holes || sample.entropy_bits_per_byte < COMPRESSIBLE_BELOW_BITS;
    Ok(if spoilt { 0 } else { marker.filled_bytes })
}

/// Free and total bytes of the file system that holds `directory`.
fn free_space(directory: &Path) -> io::Result<(u64, u64)> {
    let path = CString::new(directory.as_os_str().as_bytes())?;
    // SAFETY: statvfs is plain data for which all zeros is valid; the path is a C string.
    let facts = unsafe {
        let mut facts: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(path.as_ptr(), &raw mut facts) != 0 {
            return Err(io::Error::last_os_error());
        }
        facts
    };
    Ok((facts.f_bavail * facts.f_frsize, facts.f_blocks * facts.f_frsize))
}

/// What is free in a directory: bytes, bytes of them that are left to others, and files, where the file system counts
/// those.
///
/// # Errors
/// If the file system does not say.
pub(crate) fn room(directory: &Path) -> Result<(u64, u64, Option<u64>), TargetError> {
    let refused = || TargetError::io(directory, "ask for free space");
    let (free_bytes, total_bytes) = free_space(directory).map_err(refused())?;
    let path = CString::new(directory.as_os_str().as_bytes()).map_err(|error| refused()(error.into()))?;
    // SAFETY: statvfs is plain data for which all zeros is valid; the path is a C string.
    let (all, free) = unsafe {
        let mut facts: libc::statvfs = std::mem::zeroed();
        libc::statvfs(path.as_ptr(), &raw mut facts);
        (facts.f_files, facts.f_favail)
    };
    Ok((free_bytes, RESERVE_BYTES.min(total_bytes / 20), (all > 0).then_some(free)))
}

fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Size of a new file when none is asked for: its share of 4 GiB or of a quarter of the free space, in whole MiB.
pub(super) fn default_size(path: &Path, parts: u64) -> Result<u64, TargetError> {
    let (free_bytes, _) = free_space(directory_of(path)).map_err(TargetError::io(path, "ask for free space"))?;
    let size_bytes = DEFAULT_SIZE_BYTES.min(free_bytes / 4) / parts / CHUNK_BYTES * CHUNK_BYTES;
    if size_bytes == 0 {
        let (needed_bytes, reserve_bytes) = (4 * parts * CHUNK_BYTES, 0);
        return Err(TargetError::NoSpace { path: path.to_owned(), needed_bytes, free_bytes, reserve_bytes });
    }
    Ok(size_bytes)
}

/// Whether every file system has room for all that is to be allocated on it.
fn check_space(steps: &[Step]) -> Result<(), TargetError> {
    let mut needed: BTreeMap<u64, (u64, &Path)> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.needed_bytes > 0) {
        let metadata =
            fs::metadata(directory_of(&step.path)).map_err(TargetError::io(&step.path, "look at its directory"))?;
        needed.entry(metadata.dev()).or_insert((0, &step.path)).0 += step.needed_bytes;
    }
    for (needed_bytes, path) in needed.into_values() {
        let (free_bytes, total_bytes) =
            free_space(directory_of(path)).map_err(TargetError::io(path, "ask for free space"))?;
        let reserve_bytes = RESERVE_BYTES.min(total_bytes / 20);
        if needed_bytes > free_bytes.saturating_sub(reserve_bytes) {
            return Err(TargetError::NoSpace { path: path.to_owned(), needed_bytes, free_bytes, reserve_bytes });
        }
    }
    Ok(())
}

/// Makes, resizes and fills one file. A file that existed keeps at least what was filled before, whatever happens.
fn carry_out(step: &Step, advance: &mut dyn FnMut(u64), stop: &AtomicBool) -> Result<(), TargetError> {
    let path = &step.path;
    let (file, mut marker) = if step.create { create(step)? } else { take_up(step)? };
    let save = |marker: &Marker| marker.write(path).map_err(TargetError::io(path, "write its marker"));
    (marker.size_bytes, marker.filled_bytes, marker.full) = (step.size_bytes, step.filled_bytes, false);
    save(&marker)?;

    let range = step.filled_bytes..step.size_bytes;
    let result = resize(&file, step.size_bytes).and_then(|()| fill(path, range, marker.seed(), advance, stop));
    match result {
        Ok(filled_bytes) => marker.filled_bytes = filled_bytes,
        Err(error) => {
            if !step.create && step.filled_bytes > 0 && file.set_len(step.filled_bytes).is_ok() {
                (marker.size_bytes, marker.full) = (step.filled_bytes, true);
                save(&marker)?;
            }
            return Err(failure(error, step));
        }
    }
    marker.full = marker.filled_bytes == marker.size_bytes;
    marker.allocated_bytes = file.metadata().map_or(0, |metadata| metadata.blocks() * 512);
    save(&marker)?;
    if marker.full { Ok(()) } else { Err(TargetError::Stopped) }
}

/// Makes the file and its marker.
fn create(step: &Step) -> Result<(File, Marker), TargetError> {
    let path = &step.path;
    if fs::symlink_metadata(Marker::path_for(path)).is_ok() && Marker::read(path).is_none() {
        return Err(TargetError::MarkerInTheWay { path: Marker::path_for(path) });
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let file = options.open(path).map_err(TargetError::io(path, "make it"))?;
    let marked = lock_exclusively(&file, path).and_then(|()| {
        let metadata = file.metadata().map_err(TargetError::io(path, "look at it"))?;
        let marker = Marker::new(&metadata, step.size_bytes);
        marker.write(path).map_err(TargetError::io(path, "write its marker"))?;
        Ok(marker)
    });
    match marked {
        Ok(marker) => Ok((file, marker)),
        Err(error) => {
            // Made an instant ago by this very function, and empty.
            let _ = fs::remove_file(path);
            let _ = Marker::remove(path);
            Err(error)
        }
    }
}

/// Opens a scratch file that exists, with a lock that keeps other runs away until it is ready.
fn take_up(step: &Step) -> Result<(File, Marker), TargetError> {
    let path = &step.path;
    let file =
        OpenOptions::new().read(true).write(true).open(path).map_err(TargetError::io(path, "open it for writing"))?;
    lock_exclusively(&file, path)?;
    let metadata = file.metadata().map_err(TargetError::io(path, "look at it"))?;
    match Marker::read(path).filter(|marker| marker.is_of(&metadata)) {
        Some(marker) => Ok((file, marker)),
        None => Err(Refusal::ForeignFile { path: path.clone() }.into()),
    }
}

fn lock_exclusively(file: &File, path: &Path) -> Result<(), TargetError> {
    // SAFETY: flock on an open descriptor; the lock ends with the descriptor.
    let result = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
    if result != 0 && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock {
        return Err(TargetError::Busy { path: path.to_owned() });
    }
    Ok(())
}

/// Gives the file its size and, where the file system can, its blocks.
fn resize(file: &File, size_bytes: u64) -> io::Result<()> {
    file.set_len(size_bytes)?;
    let length = i64::try_from(size_bytes).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    // SAFETY: a plain system call on an open descriptor.
    if unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, length) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => Ok(()),
        error => Err(error),
    }
}

/// The sentence for a failed fill.
fn failure(error: io::Error, step: &Step) -> TargetError {
    let path = step.path.clone();
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => TargetError::BecameFull { path },
        Some(libc::EFBIG) => TargetError::TooLarge { path, size_bytes: step.size_bytes },
        _ => TargetError::Io { path, doing: "write it", source: error },
    }
}

/// Removes what this call made. Best effort: the error that led here matters more.
fn discard(path: &Path) {
    if Marker::read(path).is_some_and(|marker| fs::metadata(path).is_ok_and(|metadata| marker.is_of(&metadata))) {
        let _ = fs::remove_file(path);
        let _ = Marker::remove(path);
    }
}

/// Deletes the target's scratch files with their markers, and says which. Files that Plimsoll did not make stay.
///
/// # Errors
/// When a file of ours cannot be deleted, or another run uses it.
pub fn remove(spec: &TargetSpec) -> Result<Vec<PathBuf>, TargetError> {
    let mut removed = Vec::new();
    for place in places(spec.parts())? {
        let path = place.path();
        match (&place, Marker::read(path)) {
            (Place::File { metadata, .. }, Some(marker)) if marker.is_of(metadata) => {
                let file = File::open(path).map_err(TargetError::io(path, "open it"))?;
                lock_exclusively(&file, path)?;
                fs::remove_file(path).map_err(TargetError::io(path, "delete it"))?;
                Marker::remove(path).map_err(TargetError::io(path, "delete its marker"))?;
                removed.push(path.to_owned());
            }
            (Place::Missing { .. }, Some(_)) => {
                Marker::remove(path).map_err(TargetError::io(path, "delete its marker"))?;
            }
            _ => {}
        }
    }
    Ok(removed)
}
