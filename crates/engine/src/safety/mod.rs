//! Whether a target may be written to: facts, and one pure decision.
//!
//! Purpose: a device is never harmed by accident (docs/safety.md). Model: [`gather`] collects what the system
//! knows of a target, [`judge`] decides from those facts and the user's [`Permission`] alone, so that every rule is
//! tested without a device. The rules, from the first that applies:
//!
//! 1. in use, read-only or not this user's to write: refused, always. In use is what is mounted, swap, held by RAID, LVM or dm, claimed, behind a
//!    loop device, open for writing in another program or locked by one, and what shares its blocks with something of
//!    the kind below it ([`stack`]);
//! 2. a block device, or a file that Plimsoll did not make: refused without `--destroy-data`;
//! 3. carrying a partition table, file system, RAID/LVM/ZFS membership or any other known signature, or unreadable, or a
//!    device with anything but zeros and Plimsoll's own content at the places of a sample ([`contents`]): refused unless
//!    its serial number or path is typed as well (`--destroy-data=SERIAL`), also when Plimsoll once made the file;
//! 4. what was typed names other devices only: refused, since the user means those.
//!
//! Limits: facts are a snapshot; the opener therefore takes its claims first (`O_EXCL`, `flock`), judges what it holds,
//! and keeps the claims to the end. Programs of other users are seen by root only. Users inside the kernel that leave no
//! trace in sysfs (an exported LUN or NVMe namespace on a file) cannot be seen.
//!
//! ```
//! use plimsoll_engine::safety::{DeviceFacts, Facts, Permission, judge};
//! let disk = Facts::Device(DeviceFacts { path: "/dev/sdb".into(), ..DeviceFacts::default() });
//! assert!(judge(std::slice::from_ref(&disk), &Permission::default()).is_err());
//! assert!(judge(&[disk], &Permission { destroy: true, typed: None }).is_ok());
//! ```

mod contents;
mod facts;
pub mod gather;
pub(crate) mod kernel_tables;
pub(crate) mod loops;
pub(crate) mod openers;
pub(crate) mod path_text;
mod refusal;
pub mod signature;
mod stack;
mod survey;
mod sysfs;
mod system;

use serde::{Deserialize, Serialize};

pub use facts::{DeviceFacts, Facts, FileFacts, Mount, Opener, Sharer};
pub use openers::accompanied_by;
pub use refusal::Refusal;
pub use survey::Survey;
pub use system::{DeviceNumber, System, device_number};

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
            if let Some(Sharer { name, usage }) = device.shared.first().cloned() {
                return Err(Refusal::Shared { path, name, usage });
            }
            if !device.loops.is_empty() {
                return Err(Refusal::LoopAttached { path, loops: device.loops.join(", ") });
            }
            if device.claimed {
                return Err(Refusal::Claimed { path });
            }
            if let Some(opener) = device.openers.first() {
                return Err(Refusal::Opened { path, opener: opener.words() });
            }
            if device.read_only {
                return Err(Refusal::ReadOnly { path });
            }
            if device.unwritable {
                return Err(Refusal::Unwritable { path });
            }
        }
        Facts::File(file) => {
            if !file.used_by.is_empty() {
                return Err(Refusal::FileInUse { path, users: file.used_by.join(", ") });
            }
            if let Some(opener) = file.openers.first() {
                return Err(Refusal::Opened { path, opener: opener.words() });
            }
            if file.unwritable {
                return Err(Refusal::Unwritable { path });
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
        None if !(facts.is_ours() || permission.destroy) => Err(match (facts.description(), facts) {
            (Some(description), _) => Refusal::Device { path, description },
            (None, Facts::File(file)) if file.changed_since => Refusal::ChangedSince { path },
            (None, _) => Refusal::ForeignFile { path },
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
