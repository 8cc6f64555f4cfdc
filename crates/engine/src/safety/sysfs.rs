//! Block devices as sysfs shows them: names, numbers, sizes, disks and partitions.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-block`; sizes and starts there are in units of 512 bytes, always.

use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::system::DeviceNumber;

/// A block device in sysfs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) dir: PathBuf,
    pub(super) number: DeviceNumber,
}

impl Node {
    /// The device with this number.
    pub(super) fn of(sys: &Path, number: DeviceNumber) -> Option<Self> {
        Self::at(&fs::canonicalize(sys.join(format!("dev/block/{}:{}", number.0, number.1))).ok()?)
    }

    /// The device with this name in `/sys/block`, or with the name of a partition.
    pub(super) fn named(sys: &Path, name: &std::ffi::OsStr) -> Option<Self> {
        let candidates = [sys.join("block").join(name), sys.join("class/block").join(name)];
        candidates.iter().find_map(|link| Self::at(&fs::canonicalize(link).ok()?))
    }

    /// The device that a directory of sysfs describes.
    pub(super) fn at(dir: &Path) -> Option<Self> {
        let name = dir.file_name()?.to_string_lossy().replace('!', "/");
        let number = parse_number(&read_word(&dir.join("dev"))?)?;
        Some(Self { name, dir: dir.to_owned(), number })
    }

    /// Size in bytes; 0 where sysfs does not say.
    pub(super) fn size_bytes(&self) -> u64 {
        self.sectors("size").unwrap_or(0)
    }

    /// All of it; up to the end of all things where the size is not known.
    pub(super) fn whole(&self) -> Range<u64> {
        match self.size_bytes() {
            0 => 0..u64::MAX,
            size => 0..size,
        }
    }

    /// The disk that a partition is part of, and the bytes of it that it is.
    pub(super) fn disk(&self) -> Option<(Self, Range<u64>)> {
        if !self.dir.join("partition").exists() {
            return None;
        }
        let disk = self.dir.parent().and_then(Self::at)?;
        let start = self.sectors("start").unwrap_or(0);
        Some((disk, start..start.saturating_add(self.whole().end)))
    }

    /// Its partitions, in order.
    pub(super) fn partitions(&self) -> Vec<Self> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut partitions: Vec<_> =
            entries.filter(|dir| dir.join("partition").exists()).filter_map(|dir| Self::at(&dir)).collect();
        partitions.sort();
        partitions
    }

    /// The devices named in its directory `holders` or `slaves`.
    pub(super) fn linked(&self, sys: &Path, directory: &str) -> Vec<Self> {
        let entries = fs::read_dir(self.dir.join(directory)).into_iter().flatten().flatten();
        entries.filter_map(|entry| Self::named(sys, &entry.file_name())).collect()
    }

    fn sectors(&self, file: &str) -> Option<u64> {
        read_word(&self.dir.join(file))?.parse::<u64>().ok()?.checked_mul(512)
    }
}

/// `8:17` as a device number.
pub(super) fn parse_number(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A file's text without surrounding blanks; `None` when it is missing, unreadable, no text or empty.
pub(super) fn read_word(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let word = text.trim_matches(|character: char| character.is_whitespace() || character == '\0');
    (!word.is_empty()).then(|| word.to_owned())
}

/// A path that sysfs gives as one line: any bytes, blanks at its end included.
pub(super) fn read_path(file: &Path) -> Option<PathBuf> {
    let mut bytes = fs::read(file).ok()?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    (!bytes.is_empty()).then(|| OsString::from_vec(bytes).into())
}
