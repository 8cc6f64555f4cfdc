//! Why a target cannot be used: one sentence each, with what would be right.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::spec::SpecError;
use crate::display::shown;
use crate::safety::Refusal;
use crate::safety::gather::reason;

/// Why a target cannot be used.
#[derive(Debug, Error)]
pub enum TargetError {
    /// The text is no specification.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Writing to it could destroy data.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The user stopped the preparation.
    #[error("stopped before the target was ready")]
    Stopped,
    /// The operating system refused something.
    #[error("{}: cannot {doing}: {}{}", shown(path), reason(source), advice(source))]
    Io {
        /// The file or device.
        path: PathBuf,
        /// What was tried, as a verb: `open it for writing`.
        doing: &'static str,
        /// The refusal.
        source: io::Error,
    },
    /// Nothing is there.
    #[error("{} does not exist; check the path, or let `prepare` make a scratch file there", shown(path))]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// A device that is not there.
    #[error("{}: there is no such device; {hint}", shown(path))]
    NoSuchDevice {
        /// The path.
        path: PathBuf,
        /// What may be meant.
        hint: String,
    },
    /// A regular file where devices are.
    #[error(
        "{} is no device but a file in memory, among the devices; remove it (`rm {}`) and check the name with `lsblk`",
        shown(path),
        shown(path)
    )]
    FileAmongDevices {
        /// The file.
        path: PathBuf,
    },
    /// A file system of the kernel's own.
    #[error(
        "{}: {kind} is a file system of the kernel's own and stores nothing; choose a path on a disk's file system",
        shown(path)
    )]
    KernelOwn {
        /// The path.
        path: PathBuf,
        /// Its file system's type.
        kind: String,
    },
    /// Where programs keep what they need until the next restart.
    #[error(
        "{}: what lies below /run is lost with the next restart, and mostly lies in memory; choose a path on a disk's file system",
        path.display()
    )]
    Runtime {
        /// The path.
        path: PathBuf,
    },
    /// Not even the directory is there.
    #[error("{}: the directory {} does not exist; make it first or check the path", shown(path), shown(directory))]
    NoDirectory {
        /// The path asked for.
        path: PathBuf,
        /// Its directory.
        directory: PathBuf,
    },
    /// A symbolic link to nothing.
    #[error("{} is a symbolic link to nothing; remove it or give the file itself", shown(path))]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// A directory.
    #[error(
        "{} is a directory; give a file in it, for example {}",
        shown(path), shown(&path.join("plimsoll-scratch"))
    )]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// A character device, fifo or socket.
    #[error("{} is a {what}; a target is a regular file or a block device{}", shown(path), hint(path))]
    NotStorage {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A device where a file was asked for.
    #[error(
        "{} is a block device, but `file:` takes regular files only; write it without `file:` if you mean the \
         device",
        shown(path)
    )]
    DeviceNotFile {
        /// The device.
        path: PathBuf,
    },
    /// No room for a single block.
    #[error(
        "{} holds {size_bytes} bytes, less than one block of {block_bytes}; a target needs at least one block",
        shown(path)
    )]
    TooSmall {
        /// The path.
        path: PathBuf,
        /// Its size.
        size_bytes: u64,
        /// Its block.
        block_bytes: u32,
    },
    /// The parts of a stripe hold less than one unit.
    #[error("a part of the stripe is smaller than its unit of {unit_bytes} bytes; choose a smaller `unit`")]
    PartBelowUnit {
        /// The stripe's unit.
        unit_bytes: u64,
    },
    /// The unit of a stripe does not fit the device's blocks.
    #[error(
        "a stripe unit of {unit_bytes} bytes is not a multiple of {}'s block of {block_bytes} bytes; choose a \
         larger `unit`",
        shown(path)
    )]
    UnitBelowBlock {
        /// The stripe's unit.
        unit_bytes: u64,
        /// The part.
        path: PathBuf,
        /// Its block.
        block_bytes: u32,
    },
    /// More files than may be open.
    #[error(
        "the target has {parts} parts, for which a run has {needed} files open at least, and {limit} are allowed here; raise \
         the limit (`ulimit -Hn {needed}`), or use fewer files"
    )]
    TooManyParts {
        /// The parts.
        parts: usize,
        /// Files that a run has open for them.
        needed: u64,
        /// Files that a process may have open.
        limit: u64,
    },
    /// The same storage under two names.
    #[error(
        "{} and {} are the same storage; every part of a set must be another file or device",
        shown(first),
        shown(second)
    )]
    SamePart {
        /// One name.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// The file system cannot bypass the page cache.
    #[error(
        "{}: its file system does not support direct I/O; choose a file on a disk's own file system, or measure \
         through the page cache with `--set direct=false`",
        shown(path)
    )]
    NoDirect {
        /// The file.
        path: PathBuf,
    },
    /// Another process works on it.
    #[error("{} is in use by {by}; wait for it to end or choose another target", shown(path))]
    Busy {
        /// The file, directory or device.
        path: PathBuf,
        /// Who: `another run of Plimsoll (pid 12)`.
        by: String,
    },
    /// A size was asked for, but the target has one.
    #[error(
        "{} has a size of its own ({found_bytes} bytes), so a size of {asked_bytes} bytes cannot be made; {advice}, \
         and use `region_length` to load only a part of it",
        shown(path)
    )]
    SizeNotOurs {
        /// The device or foreign file.
        path: PathBuf,
        /// Its size.
        found_bytes: u64,
        /// The size asked for.
        asked_bytes: u64,
        /// How to ask for none: `leave `size` out`.
        advice: &'static str,
    },
    /// A size was asked for, but the target says that of its parts.
    #[error(
        "the target says with `sizes` how long its files are made, so a size of {asked_bytes} bytes for all of them cannot \
         be made; leave `size` out, or drop `sizes` from the target"
    )]
    SizeTwice {
        /// The size asked for.
        asked_bytes: u64,
    },
    /// A size that no scratch file can have.
    #[error(
        "a scratch file of {asked_bytes} bytes cannot be made: sizes are multiples of {step_bytes} bytes; write \
         size={right_bytes}"
    )]
    SizeOdd {
        /// The size asked for.
        asked_bytes: u64,
        /// What it must be a multiple of.
        step_bytes: u64,
        /// The nearest possible size.
        right_bytes: u64,
    },
    /// Not enough free space.
    #[error(
        "{}: {} are needed and {} are free there, of which {} stay free for others; choose a size of at most {} or \
         another file system",
        shown(path),
        at_least(*needed_bytes),
        about(*free_bytes),
        about(*reserve_bytes),
        at_most(free_bytes.saturating_sub(*reserve_bytes))
    )]
    NoSpace {
        /// The file to be made.
        path: PathBuf,
        /// Bytes still to be allocated.
        needed_bytes: u64,
        /// Bytes free.
        free_bytes: u64,
        /// Bytes that are left to others.
        reserve_bytes: u64,
    },
    /// Not enough free space for trees of files.
    #[error(
        "{}: its trees need {}, and {} are free there, of which {} stay free for others; lower files, sizes or \
         total_size until they need at most {}, or choose another file system",
        shown(path),
        at_least(*needed_bytes),
        about(*free_bytes),
        about(*reserve_bytes),
        at_most(free_bytes.saturating_sub(*reserve_bytes))
    )]
    NoSpaceForTrees {
        /// The directory they would be laid out in.
        path: PathBuf,
        /// Bytes that all files and their entries take.
        needed_bytes: u64,
        /// Bytes free.
        free_bytes: u64,
        /// Bytes that are left to others.
        reserve_bytes: u64,
    },
    /// The file system was filled up by somebody meanwhile.
    #[error(
        "{}: the file system became full while the scratch file was written; free some space or choose a smaller \
         `size`",
        shown(path)
    )]
    BecameFull {
        /// The file.
        path: PathBuf,
    },
    /// The file system was filled up while trees were laid out.
    #[error(
        "{}: the file system became full while its tree was laid out; free some space, or lower files, sizes or \
         total_size",
        shown(path)
    )]
    BecameFullOfTrees {
        /// The file or directory that had no room.
        path: PathBuf,
    },
    /// The file system or a limit does not allow files of this size.
    #[error(
        "{}: a file of {} is larger than the file system or `ulimit -f` allows; choose a smaller `size`",
        shown(path), about(*size_bytes)
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The size asked for.
        size_bytes: u64,
    },
    /// A tree of files needs a directory.
    #[error("{} is no directory; file operations need one, for example {}.files", shown(path), shown(path))]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// A tree in a part that the target has not.
    #[error(
        "tree \"{tree}\" lies in part {part}, and the target has {parts} {}; give it a lower part, or name more \
         directories, for example concat:/mnt/a,/srv/b",
        if *parts == 1 { "directory" } else { "directories, counted from 0" }
    )]
    NoPart {
        /// The tree's name.
        tree: String,
        /// Its part.
        part: usize,
        /// How many the target has.
        parts: usize,
    },
    /// A directory of the target that nothing would be laid out in.
    #[error("{}: no tree lies in it; leave it out, or set part = {part} of a tree", shown(path))]
    NoTreeInPart {
        /// The directory.
        path: PathBuf,
        /// Its number.
        part: usize,
    },
    /// Two parts are one directory.
    #[error("{} and {} are one directory; every part must be another one", shown(other), shown(path))]
    OneDirectory {
        /// One name of it.
        path: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// A part within another one.
    #[error(
        "{} lies in {}, so that trees could reach into each other; give directories that lie beside each other",
        shown(path),
        shown(outer)
    )]
    DirectoryInPart {
        /// The inner one.
        path: PathBuf,
        /// The outer one.
        outer: PathBuf,
    },
    /// More files than the file system can hold.
    #[error(
        "{}: {needed} files and directories are needed, and its file system has room for {free} more; lower files, \
         width or depth, or choose another file system",
        shown(path)
    )]
    TooManyFiles {
        /// The directory.
        path: PathBuf,
        /// Files and directories still to be made.
        needed: u64,
        /// What the file system can still hold.
        free: u64,
    },
    /// Something of somebody's lay among what was removed.
    #[error(
        "{}{} stays, since Plimsoll did not make it; what Plimsoll made beside it is removed",
        shown(path),
        if *others == 0 { String::new() } else { format!(" (and {others} more)") }
    )]
    Foreign {
        /// The first of what stays.
        path: PathBuf,
        /// How many more there are.
        others: usize,
    },
    /// Something else is where the marker goes.
    #[error(
        "{} is in the way: Plimsoll keeps its marker for the scratch file there; move it away or choose another \
         path",
        shown(path)
    )]
    MarkerInTheWay {
        /// The marker's path.
        path: PathBuf,
    },
}

impl TargetError {
    /// Turns an operating-system error into one that says what was tried, and on what.
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, doing, source }
    }
}

/// What may help.
fn advice(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            "; run as root, or as a member of the group that may (for devices often `disk`)"
        }
        Some(libc::EROFS) => "; its file system or device is read-only",
        Some(libc::ENXIO | libc::ENODEV | libc::ENOMEDIUM) => "; the device is gone or has no medium",
        Some(libc::EBUSY) => "; somebody else uses it exclusively",
        Some(libc::EMFILE) => {
            "; a target of many files needs several descriptors for each: raise the limit (`ulimit -Hn`), or use fewer files"
        }
        _ => "",
    }
}

fn hint(path: &Path) -> &'static str {
    if path == Path::new("/dev/null") { "; to measure Plimsoll's own cost use `null:`" } else { "" }
}

/// A size for a person.
fn about(bytes: u64) -> String {
    rounded(bytes, f64::round)
}

/// What is needed, rounded up: more than [`at_most`] says of anything less.
fn at_least(bytes: u64) -> String {
    rounded(bytes, f64::ceil)
}

/// What there is room for, rounded down, so that it fits.
fn at_most(bytes: u64) -> String {
    rounded(bytes, f64::floor)
}

fn rounded(bytes: u64, round: fn(f64) -> f64) -> String {
    let gib = bytes as f64 / (1u64 << 30) as f64;
    let tenths = |value: f64| round(value * 10.0) / 10.0;
    if gib >= 1.0 { format!("{:.1} GiB", tenths(gib)) } else { format!("{:.1} MiB", tenths(gib * 1024.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_and_what_there_is_room_for_never_look_alike() {
        for [needed, most] in [[10 << 30, (10 << 30) - 1], [(1 << 30) + 1, 1 << 30], [5 << 20, (5 << 20) - 4096]] {
            assert_ne!(at_least(needed), at_most(most), "{needed} {most}");
        }
        let refusal = TargetError::NoSpace {
            path: "/tmp/x".into(),
            needed_bytes: 10 << 30,
            free_bytes: (11 << 30) - 4096,
            reserve_bytes: 1 << 30,
        };
        let sentence = refusal.to_string();
        assert!(sentence.contains("10.0 GiB are needed") && sentence.contains("at most 9.9 GiB"), "{sentence}");
    }
}
