//! The marker beside a scratch file: proof that Plimsoll made it, how far it is filled, which run uses it, and whether
//! it is to stay.
//!
//! `/data/scratch` is marked by `/data/scratch.plimsoll`, a JSON document. A marker speaks for a file only if device,
//! inode, birth time and size are those it names and both have the same owner: inode numbers are used again as soon as a
//! file is deleted, so another file put at the path later must not pass for ours. It is written before the first byte of
//! data, durable before it, and replaced atomically.
//!
//! A file is still ours only if nobody else has written to it or linked it since: the marker holds the time of our own
//! last write, taken when a run had ended. It was *left behind* when the run that it names is dead and nobody asked to
//! keep it; whoever uses it next removes it.
//!
//! Limits: the time of the last write is compared on file systems of this host only, since others may set it later. A run
//! that was killed while it wrote leaves no such time. Device numbers of some file systems change on reboot: then the
//! file is taken for somebody else's, which is the safe error.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::error::TargetError;
use crate::durable;
use crate::owner::Run;
use crate::safety::gather::Ownership;

const SCHEMA: &str = "plimsoll.scratch/1";
/// No marker is larger.
const BYTES_MAX: u64 = 64 << 10;
/// What went wrong when a marker could not be written.
pub(crate) const DOING: &str = "write its marker";

/// What a scratch file is to become of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// Being filled; goes with its run.
    Filling,
    /// Filled; goes with its run.
    InUse,
    /// Stays when no run uses it.
    Kept,
}

/// What the marker says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marker {
    schema: String,
    /// Version of Plimsoll that made the file.
    plimsoll: String,
    /// `st_dev`.
    device: u64,
    /// `st_ino`.
    inode: u64,
    /// Birth in nanoseconds since 1970, where the file system records it.
    born_ns: Option<u64>,
    /// When the marker was first written, in seconds since 1970.
    created_s: u64,
    /// Size the file has or, while it is not full, is to have.
    pub(crate) size_bytes: u64,
    /// Bytes from the start that hold incompressible data.
    pub(crate) filled_bytes: u64,
    /// The file has its size, and every byte was written.
    pub(crate) full: bool,
    /// Bytes the file system had allocated when the file was full; 0 before that.
    pub(crate) allocated_bytes: u64,
    /// What it is to become of. Versions that did not say left files to be kept.
    #[serde(default = "kept")]
    pub(crate) state: State,
    /// The run that uses it.
    #[serde(default)]
    pub(crate) run: Option<Run>,
    /// When Plimsoll last wrote to the file, in nanoseconds since 1970; none while a run may write to it.
    #[serde(default)]
    pub(crate) wrote_ns: Option<u64>,
}

const fn kept() -> State {
    State::Kept
}

impl Marker {
    /// A marker for a file that was just made and is to have `size_bytes`.
    pub(crate) fn new(metadata: &Metadata, size_bytes: u64) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            device: metadata.dev(),
            inode: metadata.ino(),
            born_ns: born_ns(metadata),
            created_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
            size_bytes,
            filled_bytes: 0,
            full: false,
            allocated_bytes: 0,
            state: State::Filling,
            run: Some(Run::this()),
            wrote_ns: None,
        }
    }

    /// Where the marker of `file` is.
    pub(crate) fn path_for(file: &Path) -> PathBuf {
        let mut path = file.as_os_str().to_owned();
        path.push(".plimsoll");
        path.into()
    }

    /// The marker beside `file`, if there is a readable one.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        Self::read_with_owner(file).map(|(marker, _)| marker)
    }

    /// With the user that it belongs to. A link in its place is nobody's marker.
    fn read_with_owner(file: &Path) -> Option<(Self, u32)> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let marker = OpenOptions::new().read(true).custom_flags(flags).open(Self::path_for(file)).ok()?;
        let metadata = marker.metadata().ok().filter(Metadata::is_file)?;
        let mut text = String::with_capacity(metadata.len().min(BYTES_MAX) as usize + 1);
        marker.take(BYTES_MAX).read_to_string(&mut text).ok()?;
        let marker: Self = serde_json::from_str(&text).ok()?;
        (marker.schema == SCHEMA).then_some((marker, metadata.uid()))
    }

    /// The marker of `file`, whose metadata this is, when it speaks for it and the file is Plimsoll's still.
    pub(crate) fn of(file: &Path, metadata: &Metadata) -> Option<Self> {
        (Self::ownership(file, metadata) == Ownership::Ours).then(|| Self::read(file)).flatten()
    }

    /// Whose the file with this metadata is.
    pub(crate) fn ownership(file: &Path, metadata: &Metadata) -> Ownership {
        match Self::read_with_owner(file) {
            Some((marker, owner)) if owner == metadata.uid() && marker.is_of(metadata) => {
                let written = marker.wrote_ns.is_some_and(|wrote_ns| wrote_ns != modified_ns(metadata));
                if written || metadata.nlink() > 1 { Ownership::Changed } else { Ownership::Ours }
            }
            _ => Ownership::Foreign,
        }
    }

    /// Whether a run that was killed left the file behind.
    pub(crate) fn is_left_behind(&self) -> bool {
        self.state != State::Kept && self.run.as_ref().is_none_or(|run| !run.is_alive())
    }

    /// Whether it speaks for the file with this metadata. A file that is still being filled may have any size.
    fn is_of(&self, metadata: &Metadata) -> bool {
        let same = (self.device, self.inode, self.born_ns) == (metadata.dev(), metadata.ino(), born_ns(metadata));
        same && (!self.full || metadata.len() == self.size_bytes)
    }

    /// Notes when the open file was last written to, all writes having ended.
    pub(crate) fn settle(&mut self, file: &File) {
        // Elsewhere the time may change later.
        let metadata = file.metadata().ok().filter(|_| durable::is_local(file));
        self.wrote_ns = metadata.map(|metadata| modified_ns(&metadata));
    }

    /// Different for every file, so that the parts of a set are no duplicates of each other.
    pub(crate) fn seed(&self) -> u64 {
        self.device.rotate_left(48) ^ self.inode.rotate_left(24) ^ self.born_ns.unwrap_or(self.created_s)
    }

    /// Writes it beside `file`, which was just made; it is durable only once what is given back is.
    pub(crate) fn put(&self, file: &Path) -> io::Result<File> {
        durable::put(&Self::path_for(file), &serde_json::to_string_pretty(self)?)
    }

    /// Writes markers beside their files, durably: each says the old or the new at any time.
    pub(crate) fn write_all<'a>(markers: impl IntoIterator<Item = (&'a Path, &'a Self)>) -> Result<(), TargetError> {
        let mut texts = Vec::new();
        for (file, marker) in markers {
            let text = serde_json::to_string_pretty(marker).map_err(io::Error::from);
            texts.push((Self::path_for(file), text.map_err(TargetError::io(file, DOING))?));
        }
        durable::write_all(&texts).map_err(|(number, error)| {
            let file = texts[number].0.with_extension("");
            TargetError::io(&file, DOING)(error)
        })
    }

    /// Deletes what a killed run left of a marker of `file`, which is not there. Best effort: the next marker does it, too.
    pub(crate) fn remove_leftover(file: &Path) {
        let _ = durable::remove_beside(&Self::path_for(file));
    }

    /// Deletes the marker of `file`, and what a killed run left of one.
    pub(crate) fn remove(file: &Path) -> io::Result<()> {
        durable::remove(&Self::path_for(file))
    }
}

fn born_ns(metadata: &Metadata) -> Option<u64> {
    let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(born.as_nanos()).ok()
}

/// The time of the last write in nanoseconds since 1970.
fn modified_ns(metadata: &Metadata) -> u64 {
    (metadata.mtime() as u64).wrapping_mul(1_000_000_000).wrapping_add(metadata.mtime_nsec() as u64)
}
