//! Whether a target may be written to: facts, and one pure decision.
//!
//! Purpose: a device is never harmed by accident (DESIGN, decision 9). Model: [`gather`] collects what the system
//! knows of a target, [`judge`] decides from those facts and the user's [`Permission`] alone, so that every rule is
//! tested without a device. The rules, from the first that applies:
//!
//! 1. in use (mounted, swap, held by RAID, LVM or dm, claimed, behind a loop device) or read-only: refused, always;
//! 2. a block device, or a file that Plimsoll did not make: refused without `--destroy-data`;
//! 3. carrying a partition table, file system, RAID/LVM/ZFS membership or any other known signature, or unreadable:
//!    refused unless its serial number or path is typed as well (`--destroy-data=SERIAL`), also when Plimsoll once made
//!    the file;
//! 4. what was typed names other devices only: refused, since the user means those.
//!
//! Limits: facts are a snapshot; the opener therefore takes the kernel's exclusive claim (`O_EXCL`) on block devices
//! and gathers and judges once more while it holds it. Owners that leave no trace (a database writing to a raw device
//! without a claim or a signature) cannot be seen.
//!
//! ```
//! use plimsoll_engine::safety::{DeviceFacts, Facts, Permission, judge};
//! let disk = Facts::Device(DeviceFacts { path: "/dev/sdb".into(), ..DeviceFacts::default() });
//! assert!(judge(std::slice::from_ref(&disk), &Permission::default()).is_err());
//! assert!(judge(&[disk], &Permission { destroy: true, typed: None }).is_ok());
//! ```

pub mod gather;
pub(crate) mod path_text;
mod refusal;
pub mod signature;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use refusal::Refusal;
use signature::Found;

/// What the user has said about destroying data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permission {
    /// `--destroy-data` was given.
    #[serde(default)]
    pub destroy: bool,
    /// What was typed after `--destroy-data=`: serial numbers or paths, separated by commas.
    #[serde(default)]
    pub typed: Option<String>,
}

impl Permission {
    /// The things typed. The whole text is one of them, for paths that contain commas.
    fn typed_names(&self) -> impl Iterator<Item = &str> {
        let text = self.typed.as_deref().unwrap_or_default().trim();
        let pieces = text.split(',').map(str::trim).filter(move |piece| *piece != text);
        std::iter::once(text).chain(pieces).filter(|name| !name.is_empty())
    }

    /// Whether one of them names this subject.
    fn names(&self, facts: &Facts) -> bool {
        self.typed_names().any(|name| facts.answers_to(name))
    }
}

/// A mounted file system on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// The device's kernel name, for example `sdb1` or `dm-0`.
    pub device: String,
    /// Where it is mounted.
    #[serde(serialize_with = "path_text::one")]
    pub point: PathBuf,
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
    /// Somebody has it open exclusively: a mount, RAID, ZFS, another Plimsoll.
    pub claimed: bool,
    /// The kernel refuses writes.
    pub read_only: bool,
    /// Partitions the kernel knows, as kernel names.
    pub partitions: Vec<String>,
    /// What is stored on it.
    pub signatures: Vec<Found>,
    /// Why looking for signatures failed, if it did.
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
    /// Plimsoll made this very file (same inode, birth and size as its marker says).
    pub made_by_plimsoll: bool,
    /// Who uses it: `loop0`, `swap`.
    pub used_by: Vec<String>,
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
    const fn is_ours(&self) -> bool {
        matches!(self, Self::File(file) if file.made_by_plimsoll)
    }

    /// What the user would best type to mean this and nothing else.
    fn identity(&self) -> String {
        match self {
            Self::Device(DeviceFacts { identities, .. }) if !identities.is_empty() => identities[0].clone(),
            _ => self.path().display().to_string(),
        }
    }

    /// Whether `name` is its path or one of its serial numbers.
    fn answers_to(&self, name: &str) -> bool {
        let (asked, identities): (&Path, &[String]) = match self {
            Self::Device(device) => (&device.asked, &device.identities),
            Self::File(file) => (&file.asked, &[]),
        };
        self.path() == Path::new(name) || asked == Path::new(name) || identities.iter().any(|identity| identity == name)
    }

    /// What it carries, in words; `None` when nothing is known to be there.
    fn contents(&self) -> Option<String> {
        let (signatures, unreadable, partitions): (&[Found], &Option<String>, &[String]) = match self {
            Self::Device(device) => (&device.signatures, &device.unreadable, &device.partitions),
            Self::File(file) => (&file.signatures, &file.unreadable, &[]),
        };
        let mut words: Vec<_> = signatures.iter().map(|found| found.kind.phrase(found.name)).collect();
        if words.is_empty() && !partitions.is_empty() {
            words.push(format!("partitions ({})", partitions.join(", ")));
        }
        if let Some(reason) = unreadable {
            words.push(format!("unknown contents (reading them failed: {reason})"));
        }
        (!words.is_empty()).then(|| words.join(" and "))
    }
}

/// Whether a target with these parts may be written to.
///
/// # Errors
/// The first reason against it, as a sentence that says what to do or to type.
pub fn judge(parts: &[Facts], permission: &Permission) -> Result<(), Refusal> {
    for facts in parts {
        in_use(facts)?;
    }
    named_rightly(parts, permission)?;
    for facts in parts {
        permitted(facts, permission)?;
    }
    Ok(())
}

/// Rule 1: what no permission can override.
fn in_use(facts: &Facts) -> Result<(), Refusal> {
    let path = facts.path().to_owned();
    match facts {
        Facts::Device(device) => {
            if let Some(mount) = device.mounts.first() {
                return Err(Refusal::Mounted { path, device: mount.device.clone(), point: mount.point.clone() });
            }
            if let Some(swap) = device.swaps.first() {
                return Err(Refusal::Swap { path, device: swap.clone() });
            }
            if !device.holders.is_empty() {
                return Err(Refusal::Held { path, holders: device.holders.join(", ") });
            }
            if device.claimed {
                return Err(Refusal::Claimed { path });
            }
            if device.read_only {
                return Err(Refusal::ReadOnly { path });
            }
        }
        Facts::File(file) => {
            if !file.used_by.is_empty() {
                return Err(Refusal::FileInUse { path, users: file.used_by.join(", ") });
            }
        }
    }
    Ok(())
}

/// Rule 4: of what was typed, something names a part of this target. One command may have several targets, so the
/// rest may belong to another one; and files that Plimsoll made need no name.
fn named_rightly(parts: &[Facts], permission: &Permission) -> Result<(), Refusal> {
    let typed = permission.typed.as_deref().unwrap_or_default().trim();
    let named = typed.is_empty() || parts.iter().any(|facts| permission.names(facts));
    if named || parts.iter().all(Facts::is_ours) {
        return Ok(());
    }
    let right = parts.iter().map(Facts::identity).collect::<Vec<_>>().join(",");
    Err(Refusal::OtherName { typed: typed.to_owned(), right })
}

/// Rules 2 and 3.
fn permitted(facts: &Facts, permission: &Permission) -> Result<(), Refusal> {
    let (path, identity) = (facts.path().to_owned(), facts.identity());
    match facts.contents() {
        Some(contents) if !(permission.destroy && permission.names(facts)) => {
            Err(Refusal::Carries { path, contents, identity })
        }
        None if !(facts.is_ours() || permission.destroy) => Err(match facts {
            Facts::Device(device) => Refusal::Device { path, description: describe(device) },
            Facts::File(_) => Refusal::ForeignFile { path },
        }),
        _ => Ok(()),
    }
}

/// Size, model and serial number in brackets, to recognise a device by.
fn describe(device: &DeviceFacts) -> String {
    let size = format!("{:.1} GB", device.size_bytes as f64 / 1e9);
    let serial = device.identities.first().map(|identity| format!("serial {identity}"));
    let words: Vec<_> = [Some(size), device.model.clone(), serial].into_iter().flatten().collect();
    words.join(", ")
}

#[cfg(test)]
mod tests;
