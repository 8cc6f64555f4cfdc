//! Opening a target: judged first, then opened, then (block devices) judged again while nobody else can claim it.
//!
//! Model: every part gets one descriptor with the flags of an [`OpenMode`]; streams that need other flags get further
//! descriptors from [`Opened::reopen`]. Parts are opened for writing only if the workload writes or trims. Block
//! devices that are written are claimed exclusively (`O_EXCL`) for as long as the [`Opened`] lives; files carry a
//! shared lock, so that no other run of Plimsoll refills or deletes them meanwhile.
//!
//! Limits: the size is read once; a file that shrinks afterwards gives I/O errors or short reads.
//!
//! ```no_run
//! use plimsoll_engine::safety::Permission;
//! use plimsoll_engine::target::{OpenMode, open};
//! let spec = "stripe:/dev/sdb,/dev/sdc".parse().unwrap();
//! let target = open(&spec, OpenMode { direct: true, ..OpenMode::default() }, &Permission::default()).unwrap();
//! println!("{} bytes on {} parts", target.volume.size(), target.parts.len());
//! ```

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use plimsoll_workload::TargetShape;
use serde::Serialize;

use super::device::{DirectIo, logical_block_bytes};
use super::error::TargetError;
use super::marker::Marker;
use super::place::{Place, places};
use super::spec::{PartSpec, TargetSpec};
use crate::safety::gather::{System, device_number};
use crate::safety::{Facts, Permission, judge};
use crate::volume::Volume;

/// Logical block of targets that have no medium.
pub(super) const MODELLED_BLOCK_BYTES: u32 = 512;

/// How descriptors are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpenMode {
    /// Bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Every write durable before it completes (`O_DSYNC`).
    pub dsync: bool,
    /// For writing and trimming, too.
    pub writes: bool,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A regular file.
    File,
    /// A block device.
    Device,
}

/// One open part.
#[derive(Debug)]
pub struct Part {
    /// As asked for.
    pub spec: PartSpec,
    /// Symbolic links resolved.
    pub path: PathBuf,
    /// Opened as the mode says.
    pub fd: OwnedFd,
    /// Usable bytes: the size rounded down to whole blocks of all parts.
    pub size_bytes: u64,
    /// Offsets and lengths of direct I/O must be multiples of this.
    pub block_bytes: u32,
    /// File or device.
    pub kind: PartKind,
}

/// An open target.
#[derive(Debug)]
pub struct Opened {
    /// Its parts, in order; none for `null:`, `queue:` and `array:`.
    pub parts: Vec<Part>,
    /// How its bytes lie on them.
    pub volume: Volume,
}

impl Opened {
    /// What resolving a workload needs to know.
    pub fn shape(&self) -> TargetShape {
        let block_bytes = self.parts.iter().map(|part| part.block_bytes).max().unwrap_or(MODELLED_BLOCK_BYTES);
        TargetShape { size_bytes: self.volume.size(), block_bytes }
    }

    /// Further descriptors of all parts, in order, for a stream that needs another mode. They live under the claim
    /// and the judgement of this target, so they never write where it may not.
    ///
    /// # Errors
    /// When a part cannot be opened so, or is no longer what it was.
    pub fn reopen(&self, mode: OpenMode) -> Result<Vec<OwnedFd>, TargetError> {
        self.parts.iter().map(|part| reopen_part(part, mode)).collect()
    }
}

fn reopen_part(part: &Part, mode: OpenMode) -> Result<OwnedFd, TargetError> {
    // SAFETY: fcntl(F_GETFL) on an open descriptor only reads its flags.
    let flags = unsafe { libc::fcntl(part.fd.as_raw_fd(), libc::F_GETFL) };
    let writable = flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY;
    assert!(writable || !mode.writes, "a target opened for reading is not reopened for writing");
    // The magic link reaches the very same file, whatever its path means by now.
    let link = PathBuf::from(format!("/proc/self/fd/{}", part.fd.as_raw_fd()));
    let name_errors = |error| match error {
        TargetError::Io { doing, source, .. } => TargetError::Io { path: part.path.clone(), doing, source },
        TargetError::NoDirect { .. } => TargetError::NoDirect { path: part.path.clone() },
        other => other,
    };
    open_file(&link, mode, 0).map(OwnedFd::from).map_err(name_errors)
}

/// Opens a target. Nothing is opened for writing that [`judge`] refuses.
///
/// # Errors
/// A [`TargetError`]; writing refused is [`TargetError::Refused`].
pub fn open(spec: &TargetSpec, mode: OpenMode, permission: &Permission) -> Result<Opened, TargetError> {
    let places = places(spec.parts())?;
    if mode.writes {
        judge(&facts_of(spec.parts(), &places, true), permission)?;
    }
    let mut parts = Vec::with_capacity(places.len());
    for (part, place) in spec.parts().iter().zip(&places) {
        parts.push(open_part(part, place, mode)?);
    }
    if mode.writes && parts.iter().any(|part| part.kind == PartKind::Device) {
        // What came between the first look and the claim is seen now.
        judge(&facts_of(spec.parts(), &places, false), permission)?;
    }
    whole_blocks(&mut parts);
    let volume = volume_of(spec, &parts)?;
    Ok(Opened { parts, volume })
}

/// The safety facts of existing parts.
pub(super) fn facts_of(parts: &[PartSpec], places: &[Place], probe_claim: bool) -> Vec<Facts> {
    let system = System::host();
    let facts = parts.iter().zip(places).filter_map(|(part, place)| match place {
        Place::Missing { .. } => None,
        Place::File { path, metadata } => {
            let ours = Marker::read(path).is_some_and(|marker| marker.is_of(metadata));
            Some(Facts::File(system.file(path, &part.path, ours)))
        }
        Place::Device { path, number } => Some(Facts::Device(system.device(path, &part.path, *number, probe_claim))),
    });
    facts.collect()
}

fn open_part(spec: &PartSpec, place: &Place, mode: OpenMode) -> Result<Part, TargetError> {
    match place {
        Place::Missing { path } => Err(TargetError::Missing { path: path.clone() }),
        Place::Device { path, .. } => {
            let claim = if mode.writes { libc::O_EXCL } else { 0 };
            let mut file = open_file(path, mode, claim)?;
            let block_bytes =
                logical_block_bytes(file.as_fd()).map_err(TargetError::io(path, "ask for its block size"))?;
            let size = file.seek(SeekFrom::End(0)).map_err(TargetError::io(path, "ask for its size"))?;
            part(spec, path.clone(), file, (size, block_bytes), PartKind::Device)
        }
        Place::File { path, .. } => {
            let file = open_file(path, mode, 0)?;
            lock_shared(&file).map_err(|()| TargetError::Busy { path: path.clone() })?;
            let metadata = file.metadata().map_err(TargetError::io(path, "look at it"))?;
            let direct = DirectIo::of(file.as_fd());
            if mode.direct && direct == DirectIo::Impossible {
                return Err(TargetError::NoDirect { path: path.clone() });
            }
            let block_bytes = direct.block_bytes(device_number(metadata.dev()));
            part(spec, path.clone(), file, (metadata.len(), block_bytes), PartKind::File)
        }
    }
}

fn part(
    spec: &PartSpec,
    path: PathBuf,
    file: File,
    (size_bytes, block_bytes): (u64, u32),
    kind: PartKind,
) -> Result<Part, TargetError> {
    let usable = size_bytes - size_bytes % u64::from(block_bytes);
    if usable == 0 {
        return Err(TargetError::TooSmall { path, size_bytes, block_bytes });
    }
    Ok(Part { spec: spec.clone(), path, fd: file.into(), size_bytes: usable, block_bytes, kind })
}

/// Opens with the mode's flags, and without access times where that is allowed (owners and root only).
fn open_file(path: &std::path::Path, mode: OpenMode, extra: libc::c_int) -> Result<File, TargetError> {
    let direct = if mode.direct { libc::O_DIRECT } else { 0 };
    let dsync = if mode.dsync { libc::O_DSYNC } else { 0 };
    let attempt = |noatime: libc::c_int| {
        let flags = direct | dsync | extra | noatime;
        OpenOptions::new().read(true).write(mode.writes).custom_flags(flags).open(path)
    };
    let result = match attempt(libc::O_NOATIME) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => attempt(0),
        result => result,
    };
    result.map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) if mode.direct => TargetError::NoDirect { path: path.to_owned() },
        Some(libc::EBUSY) if extra & libc::O_EXCL != 0 => {
            TargetError::Refused(crate::safety::Refusal::Claimed { path: path.to_owned() })
        }
        _ if mode.writes => TargetError::io(path, "open it for writing")(error),
        _ => TargetError::io(path, "open it for reading")(error),
    })
}

/// A shared lock on a file that nobody is preparing or removing. File systems without locks do without.
fn lock_shared(file: &File) -> Result<(), ()> {
    // SAFETY: flock on an open descriptor; the lock ends with the descriptor.
    let result = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) };
    let busy = result != 0 && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock;
    if busy { Err(()) } else { Ok(()) }
}

/// Rounds every size down to the largest block of all parts, so that aligned requests stay aligned on every part.
fn whole_blocks(parts: &mut [Part]) {
    let block_bytes = u64::from(parts.iter().map(|part| part.block_bytes).max().unwrap_or(1));
    parts.iter_mut().for_each(|part| part.size_bytes -= part.size_bytes % block_bytes);
}

fn volume_of(spec: &TargetSpec, parts: &[Part]) -> Result<Volume, TargetError> {
    let sizes: Vec<_> = parts.iter().map(|part| part.size_bytes).collect();
    match spec {
        TargetSpec::Part(_) | TargetSpec::Concat(_) => Ok(Volume::concat(&sizes)),
        TargetSpec::Null { size_bytes } => Ok(Volume::Single { size_bytes: *size_bytes }),
        TargetSpec::Queue(queue) => Ok(Volume::Single { size_bytes: queue.size_bytes }),
        TargetSpec::Array(array) => Ok(Volume::Single { size_bytes: array.size_bytes }),
        TargetSpec::Stripe { unit_bytes, .. } => {
            let unit = u64::from(*unit_bytes);
            if let Some(part) = parts.iter().find(|part| !unit.is_multiple_of(u64::from(part.block_bytes))) {
                let (path, block_bytes) = (part.path.clone(), part.block_bytes);
                return Err(TargetError::UnitBelowBlock { unit_bytes: unit, path, block_bytes });
            }
            match Volume::stripe(*unit_bytes, &sizes) {
                volume if volume.size() == 0 => Err(TargetError::PartBelowUnit { unit_bytes: unit }),
                volume => Ok(volume),
            }
        }
    }
}
