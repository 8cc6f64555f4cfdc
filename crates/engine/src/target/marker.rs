//! The marker beside a scratch file: proof that Plimsoll made it, and how far it is filled.
//!
//! `/data/scratch` is marked by `/data/scratch.plimsoll`, a JSON document. A marker speaks for a file only if device,
//! inode, birth time and size are those it names: inode numbers are used again as soon as a file is deleted, so
//! another file put at the path later must not pass for ours. It is written before the first byte of data and
//! replaced atomically.
//!
//! Limits: a file overwritten in place by somebody else, with exactly as many bytes, still passes; [`crate::safety`]
//! therefore looks for signatures in marked files, too. Device numbers of some file systems change on reboot: then
//! the file is taken for somebody else's, which is the safe error.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::durable;

const SCHEMA: &str = "plimsoll.scratch/1";

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
        let text = fs::read_to_string(Self::path_for(file)).ok()?;
        serde_json::from_str(&text).ok().filter(|marker: &Self| marker.schema == SCHEMA)
    }

    /// Whether it speaks for the file with this metadata. A file that is still being filled may have any size.
    pub(crate) fn is_of(&self, metadata: &Metadata) -> bool {
        let same = (self.device, self.inode, self.born_ns) == (metadata.dev(), metadata.ino(), born_ns(metadata));
        same && (!self.full || metadata.len() == self.size_bytes)
    }

    /// Different for every file, so that the parts of a set are no duplicates of each other.
    pub(crate) fn seed(&self) -> u64 {
        self.device.rotate_left(48) ^ self.inode.rotate_left(24) ^ self.born_ns.unwrap_or(self.created_s)
    }

    /// Writes it beside `file`, durably.
    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        durable::write(&Self::path_for(file), &serde_json::to_string_pretty(self)?)
    }

    /// Deletes the marker of `file`.
    pub(crate) fn remove(file: &Path) -> io::Result<()> {
        match fs::remove_file(Self::path_for(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn born_ns(metadata: &Metadata) -> Option<u64> {
    let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(born.as_nanos()).ok()
}
