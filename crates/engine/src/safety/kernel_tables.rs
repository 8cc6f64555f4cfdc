//! Mounts and swap spaces, from `/proc/self/mountinfo` and `/proc/swaps`.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::Mount;
use super::gather::{DeviceNumber, System};
use super::loops::Base;
use super::sysfs::{Node, parse_number};

impl System {
    /// Mounts whose device is one of `nodes`. File systems on anonymous device numbers (btrfs) are matched by their
    /// source.
    pub(super) fn mounts_of<'a>(&self, nodes: impl Iterator<Item = &'a Node> + Clone) -> Vec<Mount> {
        let mounts = self.mount_lines().into_iter().filter_map(|line| {
            let number = if line.number.0 == 0 { number_of_node(&line.source)? } else { line.number };
            let node = nodes.clone().find(|node| node.number == number)?;
            Some(Mount { device: node.name.clone(), point: line.point })
        });
        mounts.collect()
    }

    /// Kernel names of the swap spaces among `nodes`.
    pub(super) fn swaps_of<'a>(&self, nodes: impl Iterator<Item = &'a Node>) -> Vec<String> {
        let used = self.swap_paths();
        let is_swap = |node: &&Node| {
            used.iter()
                .any(|path| number_of_node(path) == Some(node.number) || *path == Path::new("/dev").join(&node.name))
        };
        nodes.filter(is_swap).map(|node| node.name.clone()).collect()
    }

    /// Whether the kernel swaps to this file.
    pub(super) fn is_swap_file(&self, file: Base) -> bool {
        self.swap_paths().iter().any(|path| Base::at(path) == Some(file))
    }

    /// Files and devices swapped to. Format: `proc_swaps` in proc(5); a header line, then the path first.
    fn swap_paths(&self) -> Vec<PathBuf> {
        let table = fs::read(self.proc.join("swaps")).unwrap_or_default();
        let lines = table.split(|byte| *byte == b'\n').skip(1);
        let names = lines.filter_map(|line| line.split(u8::is_ascii_whitespace).next()).filter(|name| !name.is_empty());
        names.map(unescape).collect()
    }

    /// The mount table. Names in it are bytes, not text: one that is not UTF-8 must not hide the others.
    fn mount_lines(&self) -> Vec<MountLine> {
        let table = fs::read(self.proc.join("self/mountinfo")).unwrap_or_default();
        table.split(|byte| *byte == b'\n').filter_map(MountLine::parse).collect()
    }

    /// The type of the mounted file system with this number (`tmpfs`, `devtmpfs`), where the mount table has it.
    pub(crate) fn file_system_type(&self, number: DeviceNumber) -> Option<String> {
        self.mount_lines().into_iter().find(|line| line.number == number).map(|line| line.kind)
    }
}

/// The interesting fields of a line of mountinfo. Format: Linux `Documentation/filesystems/proc.rst`, 3.5.
struct MountLine {
    number: DeviceNumber,
    point: PathBuf,
    kind: String,
    source: PathBuf,
}

impl MountLine {
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
    match Base::at(path)? {
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
