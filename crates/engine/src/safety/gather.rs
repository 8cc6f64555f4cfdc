//! Facts about devices and files, from the kernel.
//!
//! Purpose: fill [`DeviceFacts`] and [`FileFacts`]. Model: a [`System`] names the three trees that are read (`/proc`,
//! `/sys`, the udev database), so that tests put invented ones in their place; a device is looked at together with
//! its relatives: its partitions when it is a disk, the disk when it is a partition, and everything stacked on those
//! through `holders`. Nothing is ever written; the one thing opened is the target itself, for reading.
//!
//! Limits: mounts of other mount namespaces are not listed, but the kernel's exclusive claim betrays them.
//!
//! ```no_run
//! let path = "/dev/sdb".as_ref();
//! let facts = plimsoll_engine::safety::gather::System::host().device(path, path, (8, 16), true);
//! println!("{:?} {:?}", facts.identities, facts.mounts);
//! ```

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::signature::{FileImage, Found, scan};
use super::{DeviceFacts, FileFacts, Mount};

/// Where the kernel's trees are.
#[derive(Clone, Debug)]
pub struct System {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// `/run/udev/data`.
    pub udev: PathBuf,
}

/// A device number, (major, minor).
pub type DeviceNumber = (u32, u32);

/// The number of the device node or file system that `st_rdev` or `st_dev` means.
pub fn device_number(raw: u64) -> DeviceNumber {
    (libc::major(raw), libc::minor(raw))
}

/// A block device in sysfs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    name: String,
    dir: PathBuf,
    number: DeviceNumber,
}

impl System {
    /// The trees of this host.
    pub fn host() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into(), udev: "/run/udev/data".into() }
    }

    /// Everything about the block device `number` at `path` (resolved), which the user called `asked`. With
    /// `probe_claim`, an exclusive open tells whether somebody holds it; leave that out while holding it oneself.
    pub fn device(&self, path: &Path, asked: &Path, number: DeviceNumber, probe_claim: bool) -> DeviceFacts {
        let mut facts = self.kernel_facts(number);
        facts.path = path.to_owned();
        facts.asked = asked.to_owned();
        facts.claimed = probe_claim && claimed(path);
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
        let size = opened.and_then(|mut file| Ok((file.seek(SeekFrom::End(0))?, file)));
        match size {
            Ok((size_bytes, file)) => {
                facts.size_bytes = size_bytes;
                (facts.signatures, facts.unreadable) = signatures(&file, size_bytes);
            }
            Err(error) => facts.unreadable = Some(reason(&error)),
        }
        facts
    }

    /// What sysfs, procfs and udev say, without touching the device.
    fn kernel_facts(&self, number: DeviceNumber) -> DeviceFacts {
        let mut facts = DeviceFacts::default();
        let Some(node) = self.node(number) else { return facts };
        let disk = disk_of(&node);
        // Always in units of 512 bytes. Source: Linux `Documentation/ABI/stable/sysfs-block`.
        facts.size_bytes = read_word(&node.dir.join("size")).and_then(|text| text.parse().ok()).unwrap_or(0) * 512;
        facts.model = self.model(&disk);
        facts.identities = self.identities(&node, &disk);
        facts.read_only = read_word(&node.dir.join("ro")).is_some_and(|word| word == "1");
        let partitions = partitions_of(&node);
        facts.partitions = partitions.iter().map(|node| node.name.clone()).collect();

        let mut relatives: BTreeSet<Node> = partitions.into_iter().chain([node, disk]).collect();
        let mut unvisited: Vec<_> = relatives.iter().cloned().collect();
        let mut holders = BTreeSet::new();
        while let Some(node) = unvisited.pop() {
            for holder in self.holders_of(&node) {
                holders.insert(holder.name.clone());
                if relatives.insert(holder.clone()) {
                    unvisited.push(holder);
                }
            }
        }
        facts.holders = holders.into_iter().collect();
        facts.mounts = self.mounts_of(&relatives);
        facts.swaps = self.swaps_of(&relatives);
        facts
    }

    /// Everything about the regular file at `path`; whether Plimsoll made it is the caller's to know.
    pub fn file(&self, path: &Path, asked: &Path, made_by_plimsoll: bool) -> FileFacts {
        let mut facts =
            FileFacts { path: path.to_owned(), asked: asked.to_owned(), made_by_plimsoll, ..FileFacts::default() };
        match File::open(path).and_then(|file| Ok((file.metadata()?, file))) {
            Ok((metadata, file)) => {
                facts.used_by = self.users_of((metadata.dev(), metadata.ino()));
                (facts.signatures, facts.unreadable) = signatures(&file, metadata.len());
            }
            Err(error) => facts.unreadable = Some(reason(&error)),
        }
        facts
    }

    /// Loop devices and swap on the file with this device and inode.
    fn users_of(&self, identity: (u64, u64)) -> Vec<String> {
        let same = |path: &Path| fs::metadata(path).is_ok_and(|other| (other.dev(), other.ino()) == identity);
        let loops = fs::read_dir(self.sys.join("block")).into_iter().flatten().flatten().filter(|entry| {
            read_word(&entry.path().join("loop/backing_file")).is_some_and(|backing| same(Path::new(&backing)))
        });
        let mut users: Vec<_> = loops.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        if self.swap_paths().iter().any(|path| same(path)) {
            users.push("swap".to_owned());
        }
        users
    }

    fn node(&self, number: DeviceNumber) -> Option<Node> {
        let link = self.sys.join(format!("dev/block/{}:{}", number.0, number.1));
        node_at(&fs::canonicalize(link).ok()?)
    }

    fn holders_of(&self, node: &Node) -> Vec<Node> {
        let names =
            fs::read_dir(node.dir.join("holders")).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter_map(|name| node_at(&fs::canonicalize(self.sys.join("block").join(name)).ok()?)).collect()
    }

    /// Mounts whose device is one of `relatives`. File systems on anonymous device numbers (btrfs) are matched by
    /// their source.
    fn mounts_of(&self, relatives: &BTreeSet<Node>) -> Vec<Mount> {
        let text = fs::read_to_string(self.proc.join("self/mountinfo")).unwrap_or_default();
        let mounts = text.lines().filter_map(MountLine::parse).filter_map(|line| {
            let number = if line.number.0 == 0 { number_of_node(&line.source)? } else { line.number };
            let node = relatives.iter().find(|node| node.number == number)?;
            Some(Mount { device: node.name.clone(), point: line.point })
        });
        mounts.collect()
    }

    fn swaps_of(&self, relatives: &BTreeSet<Node>) -> Vec<String> {
        let used = self.swap_paths();
        let is_swap = |node: &&Node| {
            used.iter()
                .any(|path| number_of_node(path) == Some(node.number) || *path == Path::new("/dev").join(&node.name))
        };
        relatives.iter().filter(is_swap).map(|node| node.name.clone()).collect()
    }

    /// Files and devices swapped to. Format: `proc_swaps` in proc(5); a header line, then the path first.
    fn swap_paths(&self) -> Vec<PathBuf> {
        let text = fs::read_to_string(self.proc.join("swaps")).unwrap_or_default();
        text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescape).collect()
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
        let text = fs::read_to_string(self.udev.join(format!("b{}:{}", number.0, number.1))).unwrap_or_default();
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

/// The interesting fields of a line of mountinfo. Format: Linux `Documentation/filesystems/proc.rst`, 3.5.
struct MountLine {
    number: DeviceNumber,
    point: PathBuf,
    source: PathBuf,
}

impl MountLine {
    fn parse(line: &str) -> Option<Self> {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(2);
        let number = parse_number(fields.next()?)?;
        let point = unescape(fields.nth(1)?);
        let source = unescape(file_system.split(' ').nth(1)?);
        Some(Self { number, point, source })
    }
}

/// `8:17` as a device number.
fn parse_number(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The device number of the block device node at `path`.
fn number_of_node(path: &Path) -> Option<DeviceNumber> {
    let metadata = fs::metadata(path).ok()?;
    let block = metadata.mode() & libc::S_IFMT == libc::S_IFBLK;
    block.then(|| device_number(metadata.rdev()))
}

/// A path in which the kernel wrote space, tab, newline and backslash as three octal digits.
fn unescape(text: &str) -> PathBuf {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = text.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 4;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    std::ffi::OsString::from_vec(out).into()
}

fn node_at(dir: &Path) -> Option<Node> {
    let name = dir.file_name()?.to_string_lossy().replace('!', "/");
    let number = parse_number(&read_word(&dir.join("dev"))?)?;
    Some(Node { name, dir: dir.to_owned(), number })
}

/// The disk that a partition is part of; a disk is its own.
fn disk_of(node: &Node) -> Node {
    let parent = if node.dir.join("partition").exists() { node.dir.parent().and_then(node_at) } else { None };
    parent.unwrap_or_else(|| node.clone())
}

fn partitions_of(node: &Node) -> Vec<Node> {
    let entries = fs::read_dir(&node.dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut partitions: Vec<_> =
        entries.filter(|dir| dir.join("partition").exists()).filter_map(|dir| node_at(&dir)).collect();
    partitions.sort();
    partitions
}

/// A file's text without surrounding blanks; `None` when it is missing, unreadable or empty.
fn read_word(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let word = text.trim_matches(|character: char| character.is_whitespace() || character == '\0');
    (!word.is_empty()).then(|| word.to_owned())
}

/// Whether an exclusive open fails because somebody has one. Source: open(2), `O_EXCL` on block devices.
fn claimed(path: &Path) -> bool {
    let flags = libc::O_EXCL | libc::O_NONBLOCK;
    let result = OpenOptions::new().read(true).custom_flags(flags).open(path);
    result.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
}

/// An error's words without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// What is stored there, or why that could not be found out.
fn signatures(file: &File, size_bytes: u64) -> (Vec<Found>, Option<String>) {
    let result = scan(&FileImage { file, size_bytes });
    // SAFETY: a plain system call on an open descriptor; advice only. The pages just read shall not serve the
    // benchmark.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    match result {
        Ok(found) => (found, None),
        Err(error) => (Vec::new(), Some(reason(&error))),
    }
}

#[cfg(test)]
mod tests;
