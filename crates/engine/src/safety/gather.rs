//! Facts about devices and files, from the kernel.
//!
//! Purpose: fill [`DeviceFacts`] and [`FileFacts`]. Model: the tables of a [`Survey`], taken once for all parts; a device
//! is looked at together with its relatives: its partitions when it is a disk, the disk when it is a partition,
//! everything stacked on those through `holders` and loop devices, and what shares its blocks further down
//! ([`super::stack`]). Contents are read from the descriptor that the caller opened and will write to, never by name.
//! Nothing is ever written.
//!
//! Limits: mounts of other mount namespaces are not listed, but the kernel's exclusive claim betrays them.
//!
//! ```no_run
//! use plimsoll_engine::safety::{Survey, System, gather::Subject};
//! let path = "/dev/sdb".as_ref();
//! let subject = Subject { path, asked: path, opened: std::fs::File::open(path) };
//! let facts = Survey::of(System::host()).device(&subject, (8, 16), false);
//! println!("{:?} {:?}", facts.identities, facts.mounts);
//! ```

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::contents::stored_at;
use super::loops::Base;
use super::openers::{locker_of, without_claims};
use super::signature::{FileImage, Found, scan};
use super::stack::{Below, Link};
use super::survey::Survey;
use super::sysfs::{Node, read_word};
use super::system::DeviceNumber;
use super::{DeviceFacts, FileFacts, Sharer};
use crate::display::shown;

/// What is judged: the open file or device itself.
#[derive(Debug)]
pub struct Subject<'a> {
    /// Its path, symbolic links resolved.
    pub path: &'a Path,
    /// The path as the user gave it.
    pub asked: &'a Path,
    /// Opened for reading, or why that failed.
    pub opened: io::Result<File>,
}

/// Whose a regular file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Somebody's.
    Foreign,
    /// Plimsoll made it, and somebody else has written to it or linked it since.
    Changed,
    /// Plimsoll made it.
    Ours,
}

impl Survey {
    /// Everything about the block device `number`. `claimed` says whether somebody else holds it exclusively, which the
    /// caller has found out by claiming it.
    pub fn device(&self, subject: &Subject<'_>, number: DeviceNumber, claimed: bool) -> DeviceFacts {
        let mut facts = self.kernel_facts(number);
        facts.path = subject.path.to_owned();
        facts.asked = subject.asked.to_owned();
        facts.claimed = claimed;
        facts.unwritable = is_unwritable(subject.path);
        let size = subject.opened.as_ref().map(|mut file| Ok::<_, io::Error>((file.seek(SeekFrom::End(0))?, file)));
        match size {
            Ok(Ok((size_bytes, file))) => {
                facts.size_bytes = size_bytes;
                facts.openers = without_claims(&self.system, facts.openers, file);
                match contents(file, size_bytes) {
                    Ok((signatures, stored_at)) => (facts.signatures, facts.stored_at) = (signatures, stored_at),
                    Err(error) => facts.unreadable = Some(reason(&error)),
                }
            }
            Ok(Err(error)) => facts.unreadable = Some(reason(&error)),
            Err(error) => facts.unreadable = Some(reason(error)),
        }
        facts
    }

    /// What sysfs, procfs and udev say, without touching the device.
    fn kernel_facts(&self, number: DeviceNumber) -> DeviceFacts {
        let mut facts = DeviceFacts::default();
        let Some(node) = Node::of(&self.system.sys, number) else { return facts };
        let disk = node.disk().map_or_else(|| node.clone(), |(disk, _)| disk);
        facts.size_bytes = node.size_bytes();
        facts.model = self.model(&disk);
        facts.identities = self.identities(&node, &disk);
        facts.read_only = read_word(&node.dir.join("ro")).is_some_and(|word| word == "1");
        facts.partitions = node.partitions().into_iter().map(|node| node.name).collect();

        let below = self.stack.below(&node);
        let bases = BTreeSet::from([Base::Device(number)]);
        let apart: BTreeSet<_> = bases.iter().copied().chain(below.iter().map(|layer| layer.base)).collect();
        let mut relatives = self.stack.above(Base::Device(number), &node.whole(), &apart);
        let mut own = BTreeSet::from([node]);
        for layer in below.iter().filter(|layer| layer.same_disk) {
            relatives.extend(self.stack.above(layer.base, &layer.range, &apart));
            own.extend(layer.node.clone());
        }
        let linked =
            |link| relatives.iter().filter(move |(_, found)| **found == link).map(|(node, _)| node.name.clone());
        facts.holders = linked(Link::Holder).collect();
        facts.loops = linked(Link::Loop).collect();
        own.extend(relatives.into_keys());
        facts.mounts = self.mounts.of_devices(own.iter());
        facts.swaps = self.swaps.among(own.iter());
        let deeper = || below.iter().filter(|layer| !layer.same_disk);
        for sharer in deeper().flat_map(|layer| self.sharers(layer, &apart)) {
            if !facts.shared.contains(&sharer) {
                facts.shared.push(sharer);
            }
        }
        let same = own.iter().map(|node| Base::Device(node.number)).chain(deeper().map(|layer| layer.base));
        facts.openers = self.descriptors.writers_of(&same.collect());
        facts
    }

    /// What is in use of one layer below a target: the layer itself, and what else stands on the target's bytes of it.
    fn sharers(&self, layer: &Below, apart: &BTreeSet<Base>) -> Vec<Sharer> {
        let mut others = self.stack.above(layer.base, &layer.range, apart);
        if layer.by_slaves {
            others.retain(|_, link| *link != Link::Holder);
        }
        let nodes: Vec<_> = layer.node.iter().chain(others.keys()).collect();
        let sharer = |name: &str, usage: String| Sharer { name: name.to_owned(), usage };
        let mounts = self.mounts.of_devices(nodes.iter().copied()).into_iter();
        let mut found: Vec<_> =
            mounts.map(|mount| sharer(&mount.device, format!("mounted at {}", shown(&mount.point)))).collect();
        found.extend(
            self.swaps.among(nodes.into_iter()).iter().map(|name| sharer(name, "swap space in use".to_owned())),
        );
        if self.swaps.has_file(layer.base) {
            found.push(sharer(&layer.name, "swap space in use".to_owned()));
        }
        for (node, link) in &others {
            if *link == Link::Holder {
                found.push(sharer(&node.name, "RAID, LVM, encryption or multipath in use".to_owned()));
            } else if self.is_claimed(node) {
                found.push(sharer(&node.name, "in exclusive use".to_owned()));
            }
        }
        found
    }

    /// Whether an exclusive open fails because somebody has one. Source: open(2), `O_EXCL` on block devices.
    fn is_claimed(&self, node: &Node) -> bool {
        let path = self.system.dev.join(&node.name);
        if Base::at(&path) != Some(Base::Device(node.number)) {
            return false;
        }
        let flags = libc::O_EXCL | libc::O_NONBLOCK;
        let result = OpenOptions::new().read(true).custom_flags(flags).open(path);
        result.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
    }

    /// Everything about a regular file; whose it is, is the caller's to know, and so is when to [`forget`] what was read.
    pub fn file(&self, subject: &Subject<'_>, ownership: Ownership) -> FileFacts {
        let mut facts = FileFacts {
            path: subject.path.to_owned(),
            asked: subject.asked.to_owned(),
            made_by_plimsoll: ownership == Ownership::Ours,
            changed_since: ownership == Ownership::Changed,
            unwritable: is_unwritable(subject.path),
            ..FileFacts::default()
        };
        match subject.opened.as_ref().map(|file| Ok::<_, io::Error>((file.metadata()?, file))) {
            Ok(Ok((metadata, file))) => {
                let base = Base::of(&metadata);
                facts.used_by = self.users_of(base);
                facts.openers =
                    without_claims(&self.system, self.descriptors.writers_of(&BTreeSet::from([base])), file);
                facts.openers.extend(locker_of(&self.system, file));
                match scan(&FileImage { file, size_bytes: metadata.len() }) {
                    Ok(found) => facts.signatures = found,
                    Err(error) => facts.unreadable = Some(reason(&error)),
                }
            }
            Ok(Err(error)) => facts.unreadable = Some(reason(&error)),
            Err(error) => facts.unreadable = Some(reason(error)),
        }
        facts
    }

    /// Loop devices and swap on a file.
    fn users_of(&self, file: Base) -> Vec<String> {
        let above = self.stack.above(file, &(0..u64::MAX), &BTreeSet::new());
        let loops = above.into_iter().filter(|(_, link)| *link == Link::Loop);
        let swap = self.swaps.has_file(file).then(|| "swap".to_owned());
        loops.map(|(node, _)| node.name).chain(swap).collect()
    }

    fn model(&self, disk: &Node) -> Option<String> {
        read_word(&disk.dir.join("device/model"))
    }

    /// Names of this device that no other device has, the most readable first.
    fn identities(&self, node: &Node, disk: &Node) -> Vec<String> {
        const FILES: [&str; 7] =
            ["device/serial", "serial", "device/wwid", "wwid", "dm/name", "dm/uuid", "loop/backing_file"];
        let mut names: Vec<String> = Vec::new();
        for owner in [node, disk] {
            names.extend(self.udev_names(owner.number));
        }
        for owner in [node, disk] {
            names.extend(FILES.iter().filter_map(|file| read_word(&owner.dir.join(file))));
        }
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// Serial numbers and partition identifiers of the udev database. Format: lines `E:KEY=value`.
    fn udev_names(&self, number: DeviceNumber) -> Vec<String> {
        const KEYS: [&str; 4] = ["ID_SERIAL_SHORT", "ID_SERIAL", "ID_WWN", "ID_PART_ENTRY_UUID"];
        let text = fs::read_to_string(self.system.udev.join(format!("b{}:{}", number.0, number.1))).unwrap_or_default();
        let value = |key: &str| {
            let prefix = format!("E:{key}=");
            text.lines()
                .find_map(|line| line.strip_prefix(&prefix))
                .map(str::to_owned)
                .filter(|value| !value.is_empty())
        };
        KEYS.iter().filter_map(|key| value(key)).collect()
    }
}

/// Whether the rights of a path keep this user from writing to it. Source: access(2).
fn is_unwritable(path: &Path) -> bool {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: a plain system call on a terminated text.
    let refused = unsafe { libc::faccessat(libc::AT_FDCWD, name.as_ptr(), libc::W_OK, libc::AT_EACCESS) } != 0;
    refused && io::Error::last_os_error().kind() == io::ErrorKind::PermissionDenied
}

/// An error's words without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// The signatures on a device, and where something unknown is stored on it if it has none.
fn contents(file: &File, size_bytes: u64) -> io::Result<(Vec<Found>, Option<u64>)> {
    let found = scan(&FileImage { file, size_bytes });
    forget(file);
    let found = found?;
    // SAFETY: a plain system call on an open descriptor; advice only. Nothing shall be read ahead of a few places.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    let stored = if found.is_empty() { stored_at(&FileImage { file, size_bytes }) } else { Ok(None) };
    forget(file);
    Ok((found, stored?))
}

/// Every known signature on the file or block device at `path`; nothing of it stays in the page cache.
///
/// # Errors
/// It cannot be opened or read.
pub fn signatures(path: &Path) -> io::Result<Vec<Found>> {
    let mut file = File::open(path)?;
    let size_bytes = file.seek(SeekFrom::End(0))?;
    forget(&file);
    let found = scan(&FileImage { file: &file, size_bytes });
    forget(&file);
    found
}

/// The pages just read shall not serve the benchmark.
pub(crate) fn forget(file: &File) {
    // SAFETY: a plain system call on an open descriptor; advice only.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

#[cfg(test)]
mod tests;
