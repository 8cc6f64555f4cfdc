//! What the rules go by: everything the system knows of one part of a target, as data.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::path_text;
use super::signature::Found;
use crate::display::shown;

/// A mounted file system on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// The device's kernel name, for example `sdb1` or `dm-0`.
    pub device: String,
    /// Where it is mounted.
    #[serde(serialize_with = "path_text::one")]
    pub point: PathBuf,
}

/// Something in use whose blocks are those of the target, although it is not built on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sharer {
    /// Its kernel name or path.
    pub name: String,
    /// What it is, in words that follow "which is": `mounted at /srv`.
    pub usage: String,
}

/// A program that uses the target without having claimed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Opener {
    /// Its process, where the kernel tells.
    pub pid: Option<u32>,
    /// Its name, as the kernel has it.
    pub program: String,
    /// What it does: `has it open for writing`.
    pub does: &'static str,
}

impl Opener {
    /// `qemu (pid 123) has it open for writing`.
    pub(crate) fn words(&self) -> String {
        match self.pid {
            Some(pid) => format!("{} (pid {pid}) {}", self.program, self.does),
            None => format!("{} {}", self.program, self.does),
        }
    }
}

/// What the system knows of a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceFacts {
    /// The device node, symbolic links resolved.
    #[serde(serialize_with = "path_text::one")]
    pub path: PathBuf,
    /// The path as the user gave it.
    #[serde(serialize_with = "path_text::one")]
    pub asked: PathBuf,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Model as the kernel reports it.
    pub model: Option<String>,
    /// Serial numbers, world-wide names, the file behind a loop device: each identifies the device, the best one first.
    pub identities: Vec<String>,
    /// Mounts of the device, its partitions, the disk it is part of, and whatever is stacked on them.
    pub mounts: Vec<Mount>,
    /// The same for swap space, as kernel names.
    pub swaps: Vec<String>,
    /// Device-mapper, RAID and similar devices on top, as kernel names.
    pub holders: Vec<String>,
    /// Loop devices attached to it, as kernel names.
    pub loops: Vec<String>,
    /// What is in use of the blocks below it: of the file or device behind a loop device, of the members of a RAID.
    pub shared: Vec<Sharer>,
    /// Somebody has it open exclusively: a mount, RAID, ZFS, another Plimsoll.
    pub claimed: bool,
    /// Programs that have it, or what is below it, open for writing. Complete for root only.
    pub openers: Vec<Opener>,
    /// The kernel refuses writes.
    pub read_only: bool,
    /// This user may not write to it.
    pub unwritable: bool,
    /// Partitions the kernel knows, as kernel names.
    pub partitions: Vec<String>,
    /// What is stored on it.
    pub signatures: Vec<Found>,
    /// The first place of the sample that holds something unknown: neither zeros nor what Plimsoll writes.
    pub stored_at: Option<u64>,
    /// Why looking for contents failed, if it did.
    pub unreadable: Option<String>,
}

/// What the system knows of a regular file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileFacts {
    /// The file, symbolic links resolved.
    #[serde(serialize_with = "path_text::one")]
    pub path: PathBuf,
    /// The path as the user gave it.
    #[serde(serialize_with = "path_text::one")]
    pub asked: PathBuf,
    /// Plimsoll made this very file, and nobody else has written to it since.
    pub made_by_plimsoll: bool,
    /// Plimsoll made this very file, but somebody else has written to it or linked it since.
    pub changed_since: bool,
    /// Who uses it: `loop0`, `swap`.
    pub used_by: Vec<String>,
    /// Programs that have it open for writing, or have locked it.
    pub openers: Vec<Opener>,
    /// This user may not write to it.
    pub unwritable: bool,
    /// What is stored in it.
    pub signatures: Vec<Found>,
    /// Why looking for signatures failed, if it did.
    pub unreadable: Option<String>,
}

/// What the system knows of one part of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Facts {
    /// A block device.
    Device(DeviceFacts),
    /// A regular file.
    File(FileFacts),
}

impl Facts {
    /// The resolved path.
    pub fn path(&self) -> &Path {
        match self {
            Self::Device(device) => &device.path,
            Self::File(file) => &file.path,
        }
    }

    /// Whether Plimsoll made it.
    pub(super) const fn is_ours(&self) -> bool {
        matches!(self, Self::File(file) if file.made_by_plimsoll)
    }

    /// What the user would best type to mean this and nothing else.
    pub(super) fn identity(&self) -> String {
        match self {
            Self::Device(DeviceFacts { identities, .. }) if !identities.is_empty() => identities[0].clone(),
            _ => shown(self.path()).to_string(),
        }
    }

    /// Whether `name` is its path or one of its serial numbers.
    pub(super) fn answers_to(&self, name: &str) -> bool {
        let (asked, identities): (&Path, &[String]) = match self {
            Self::Device(device) => (&device.asked, &device.identities),
            Self::File(file) => (&file.asked, &[]),
        };
        self.path() == Path::new(name) || asked == Path::new(name) || identities.iter().any(|identity| identity == name)
    }

    /// What it carries, in words; `None` when nothing is known to be there.
    pub(super) fn contents(&self) -> Option<String> {
        let (signatures, unreadable, partitions, stored_at): (&[Found], &Option<String>, &[String], Option<u64>) =
            match self {
                Self::Device(device) => (&device.signatures, &device.unreadable, &device.partitions, device.stored_at),
                Self::File(file) => (&file.signatures, &file.unreadable, &[], None),
            };
        let mut words: Vec<_> = signatures.iter().map(|found| found.kind.phrase(found.name)).collect();
        if words.is_empty() && !partitions.is_empty() {
            words.push(format!("partitions ({})", partitions.join(", ")));
        }
        if let Some(at) = stored_at.filter(|_| words.is_empty()) {
            words.push(format!("something that Plimsoll does not know (not zeros at byte {at})"));
        }
        if let Some(reason) = unreadable {
            words.push(format!("unknown contents (reading them failed: {reason})"));
        }
        (!words.is_empty()).then(|| words.join(" and "))
    }

    /// Size, model and serial number of a device, to recognise it by.
    pub(super) fn description(&self) -> Option<String> {
        let Self::Device(device) = self else { return None };
        let size = format!("{:.1} GB", device.size_bytes as f64 / 1e9);
        let serial = device.identities.first().map(|identity| format!("serial {identity}"));
        let words: Vec<_> = [Some(size), device.model.clone(), serial].into_iter().flatten().collect();
        Some(words.join(", "))
    }
}
