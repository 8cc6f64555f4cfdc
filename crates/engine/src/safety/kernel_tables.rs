//! Mounts and swap spaces, from `/proc/self/mountinfo` and `/proc/swaps`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::Mount;
use super::loops::Base;
use super::sysfs::{Node, parse_number};
use super::system::{DeviceNumber, System};

/// The mount table.
#[derive(Debug)]
pub(crate) struct Mounts(Vec<MountLine>);

impl Mounts {
    /// Names in the table are bytes, not text: one that is not UTF-8 must not hide the others.
    pub(crate) fn of(system: &System) -> Self {
        let table = fs::read(system.proc.join("self/mountinfo")).unwrap_or_default();
        Self(table.split(|byte| *byte == b'\n').filter_map(MountLine::parse).collect())
    }

    /// Mounts whose device is one of `nodes`. File systems on anonymous device numbers (btrfs) are matched by their
    /// source.
    pub(super) fn of_devices<'a>(&self, nodes: impl Iterator<Item = &'a Node> + Clone) -> Vec<Mount> {
        let mounts = self.0.iter().filter_map(|line| {
            let number = if line.is_numbered() { line.number } else { number_of_node(&line.source)? };
            let node = nodes.clone().find(|node| node.number == number)?;
            Some(Mount { device: node.name.clone(), point: line.point.clone() })
        });
        mounts.collect()
    }

    /// The paths that are looked up to know the device below a file system on an anonymous number.
    pub(crate) fn unnumbered_sources(&self) -> BTreeSet<PathBuf> {
        let unnumbered = self.0.iter().filter(|line| !line.is_numbered() && line.source.is_absolute());
        unnumbered.map(|line| line.source.clone()).collect()
    }

    /// The type of the mounted file system with this number (`tmpfs`, `devtmpfs`), where the table has it.
    pub(crate) fn file_system_type(&self, number: DeviceNumber) -> Option<&str> {
        self.0.iter().find(|line| line.number == number).map(|line| line.kind.as_str())
    }
}

/// A file or device swapped to.
#[derive(Debug)]
struct Swap {
    path: PathBuf,
    base: Option<Base>,
}

/// What the kernel swaps to.
#[derive(Debug)]
pub(super) struct Swaps(Vec<Swap>);

impl Swaps {
    pub(super) fn of(system: &System) -> Self {
        let looked_up = |path: PathBuf| Swap { base: Base::at(&path), path };
        Self(swap_paths(system).into_iter().map(looked_up).collect())
    }

    /// Kernel names of the swap spaces among `nodes`.
    pub(super) fn among<'a>(&self, nodes: impl Iterator<Item = &'a Node>) -> Vec<String> {
        let is_swap = |node: &&Node| {
            let (base, named) = (Some(Base::Device(node.number)), Path::new("/dev").join(&node.name));
            self.0.iter().any(|swap| swap.base == base || swap.path == named)
        };
        nodes.filter(is_swap).map(|node| node.name.clone()).collect()
    }

    /// Whether this file is one.
    pub(super) fn has_file(&self, file: Base) -> bool {
        self.0.iter().any(|swap| swap.base == Some(file))
    }
}

/// Files and devices swapped to. Format: `proc_swaps` in proc(5); a header line, then the path first.
pub(crate) fn swap_paths(system: &System) -> Vec<PathBuf> {
    let table = fs::read(system.proc.join("swaps")).unwrap_or_default();
    let lines = table.split(|byte| *byte == b'\n').skip(1);
    let names = lines.filter_map(|line| line.split(u8::is_ascii_whitespace).next()).filter(|name| !name.is_empty());
    names.map(unescape).collect()
}

/// The interesting fields of a line of mountinfo. Format: Linux `Documentation/filesystems/proc.rst`, 3.5.
#[derive(Debug)]
struct MountLine {
    number: DeviceNumber,
    point: PathBuf,
    kind: String,
    source: PathBuf,
}

impl MountLine {
    /// Whether its number is that of the device below it.
    const fn is_numbered(&self) -> bool {
        self.number.0 != 0
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let number = parse_number(str::from_utf8(fields.next()?).ok()?)?;
        let point = unescape(fields.nth(1)?);
        let mut rest = fields.skip_while(|field| *field != b"-").skip(1);
        let (kind, source) = (String::from_utf8_lossy(rest.next()?).into_owned(), unescape(rest.next()?));
        Some(Self { number, point, kind, source })
    }
}

/// The device number of the block device node at `path`.
fn number_of_node(path: &Path) -> Option<DeviceNumber> {
    match Base::at(path.is_absolute().then_some(path)?)? {
        Base::Device(number) => Some(number),
        Base::File(..) => None,
    }
}

/// A path in which the kernel wrote space, tab, newline and backslash as three octal digits.
pub(super) fn unescape(bytes: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        let octal = digits.and_then(|digits| str::from_utf8(digits).ok());
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
