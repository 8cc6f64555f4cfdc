//! Opening a target: held and claimed first, then judged, then opened through what is held.
//!
//! Model: every part gets one descriptor with the flags of an [`OpenMode`]; streams that need other flags get further
//! descriptors from [`Opened::reopen`]. Parts are opened for writing only if the workload writes or trims. Claims are taken
//! before the parts are judged and live at least as long as the [`Opened`] ([`super::claim`]); a name is looked up once
//! ([`super::place`]), so what is judged is what is opened. The marker of a scratch file says that a run may write to it
//! until the [`Opened`] is dropped.
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
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plimsoll_workload::TargetShape;
use serde::Serialize;

use super::claim::{Claims, Purpose};
use super::device::{DirectIo, logical_block_bytes};
use super::error::TargetError;
use super::look::facts_of_claimed;
use super::marker::Marker;
use super::place::{Handle, Place, places};
use super::spec::{PartSpec, TargetSpec};
use crate::safety::device_number;
use crate::safety::{Permission, judge};
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
    /// Scratch files that may be written to meanwhile.
    _written: Written,
    /// What keeps others away; dropped last.
    _claims: Arc<Claims>,
}

/// Scratch files that a run may write to: their markers say so, and when each was last written once this is dropped. Of a file
/// that several processes of a run write to, who lends it says so, and the time is noted when it is released.
#[derive(Debug)]
struct Written(Vec<(PathBuf, Handle)>);

impl Written {
    /// Marks those of the files that are Plimsoll's.
    fn begin(places: &[Place], claims: &Claims) -> Result<Self, TargetError> {
        let mut markers = Vec::new();
        let mut written = Self(Vec::new());
        for place in places {
            let Place::File { path, handle, metadata } = place else { continue };
            let lent = place.base().and_then(|base| claims.shared(base));
            if lent == Some(false) {
                continue;
            }
            let Some(mut marker) = Marker::of(path, metadata) else { continue };
            marker.wrote_ns = None;
            markers.push((path.as_path(), marker));
            if lent.is_none() {
                written.0.push((path.clone(), handle.clone()));
            }
        }
        Marker::write_all(markers.iter().map(|(path, marker)| (*path, marker)))?;
        Ok(written)
    }
}

impl Drop for Written {
    /// Best effort: a marker without the time still speaks for the file.
    fn drop(&mut self) {
        let settled = |(path, handle): &(PathBuf, Handle)| {
            let (file, metadata) = (handle.open_for_reading().ok()?, handle.metadata().ok()?);
            let mut marker = Marker::of(path, &metadata)?;
            marker.settle(&file);
            Some((path.clone(), marker))
        };
        let markers: Vec<_> = self.0.iter().filter_map(settled).collect();
        let _ = Marker::write_all(markers.iter().map(|(path, marker)| (path.as_path(), marker)));
    }
}

impl Opened {
    /// What resolving a workload needs to know.
    pub fn shape(&self) -> TargetShape {
        let block_bytes = self.parts.iter().map(|part| part.block_bytes).max().unwrap_or(MODELLED_BLOCK_BYTES);
        TargetShape { size_bytes: self.volume.size(), block_bytes }
    }

    /// Further descriptors of these parts, in this order, for a stream that needs another mode. They live under the claim
    /// and the judgement of this target, so they never write where it may not.
    ///
    /// # Errors
    /// When a part cannot be opened so, or is no longer what it was.
    pub fn reopen(&self, mode: OpenMode, parts: &[usize]) -> Result<Vec<OwnedFd>, TargetError> {
        parts.iter().map(|&part| reopen_part(&self.parts[part], mode)).collect()
    }
}

fn reopen_part(part: &Part, mode: OpenMode) -> Result<OwnedFd, TargetError> {
    // SAFETY: fcntl(F_GETFL) on an open descriptor only reads its flags.
    let flags = unsafe { libc::fcntl(part.fd.as_raw_fd(), libc::F_GETFL) };
    let writable = flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY;
    assert!(writable || !mode.writes, "a target opened for reading is not reopened for writing");
    // The link reaches the very same file, whatever its path means by now.
    let link = PathBuf::from(format!("/proc/self/fd/{}", part.fd.as_raw_fd()));
    let open = |options: &OpenOptions| options.open(&link);
    open_with(&part.path, mode, open).map(OwnedFd::from)
}

/// Opens a target. Nothing is opened for writing that [`judge`] refuses.
///
/// # Errors
/// A [`TargetError`]; writing refused is [`TargetError::Refused`].
pub fn open(spec: &TargetSpec, mode: OpenMode, permission: &Permission) -> Result<Opened, TargetError> {
    let places = places(spec.parts())?;
    if let Some(path) = places.iter().find(|place| place.handle().is_none()).map(|place| place.path().to_owned()) {
        return Err(TargetError::Missing { path });
    }
    let claims = Claims::current();
    let purpose = if mode.writes { Purpose::Write } else { Purpose::Read };
    let contested = places.iter().map(|place| claims.take(place, purpose)).collect::<Result<Vec<_>, _>>()?;
    let mut written = Written(Vec::new());
    if mode.writes {
        let found: Vec<_> = spec.parts().iter().zip(&places).collect();
        judge(&facts_of_claimed(&found, contested), permission)?;
        places.iter().for_each(|place| claims.allow(place));
        written = Written::begin(&places, &claims)?;
    }
    let parts = spec.parts().iter().zip(&places).map(|(part, place)| open_part(part, place, mode));
    let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
    whole_blocks(&mut parts);
    let volume = volume_of(spec, &parts)?;
    Ok(Opened { parts, volume, _written: written, _claims: claims })
}

fn open_part(spec: &PartSpec, place: &Place, mode: OpenMode) -> Result<Part, TargetError> {
    match place {
        Place::Missing { path } => Err(TargetError::Missing { path: path.clone() }),
        Place::Device { path, handle, .. } => {
            let mut file = open_with(path, mode, |options| handle.open(options))?;
            let block_bytes =
                logical_block_bytes(file.as_fd()).map_err(TargetError::io(path, "ask for its block size"))?;
            let size = file.seek(SeekFrom::End(0)).map_err(TargetError::io(path, "ask for its size"))?;
            part(spec, path.clone(), file, (size, block_bytes), PartKind::Device)
        }
        Place::File { path, handle, .. } => {
            let file = open_with(path, mode, |options| handle.open(options))?;
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

/// Opens with the mode's flags, and without access times where that is allowed (owners and root only). `path` is what
/// errors call it.
fn open_with(
    path: &Path,
    mode: OpenMode,
    open: impl Fn(&OpenOptions) -> io::Result<File>,
) -> Result<File, TargetError> {
    let direct = if mode.direct { libc::O_DIRECT } else { 0 };
    let dsync = if mode.dsync { libc::O_DSYNC } else { 0 };
    let attempt = |noatime: libc::c_int| {
        open(OpenOptions::new().read(true).write(mode.writes).custom_flags(direct | dsync | noatime))
    };
    let result = match attempt(libc::O_NOATIME) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => attempt(0),
        result => result,
    };
    result.map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) if mode.direct => TargetError::NoDirect { path: path.to_owned() },
        _ if mode.writes => TargetError::io(path, "open it for writing")(error),
        _ => TargetError::io(path, "open it for reading")(error),
    })
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
