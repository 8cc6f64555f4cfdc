//! Why a target is not written to: one sentence each, with what to do or to type.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::display::shown;
use thiserror::Error;

/// Why a target is not written to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Something has a name that a tree of files would give.
    #[error(
        "{} is in the way of the files to be laid out, and Plimsoll did not make it; move it away, or give another \
         directory or another path of the tree",
        shown(path)
    )]
    InTheWay {
        /// What is there.
        path: PathBuf,
    },
    /// A link where a tree has a directory or file.
    #[error(
        "{} is a symbolic link, and Plimsoll neither follows nor removes links in a tree of files; put the directory or \
         file itself there, remove the link, or give another directory",
        shown(path)
    )]
    LinkInTree {
        /// The link.
        path: PathBuf,
    },
    /// Something is mounted within a tree.
    #[error(
        "{} is a mount point, and Plimsoll stays on one file system within a tree of files; unmount it, or measure it as \
         a target of its own",
        shown(path)
    )]
    MountInTree {
        /// The mount point.
        path: PathBuf,
    },
    /// A directory with somebody's files in it.
    #[error(
        "{} will not be written to: it holds files that Plimsoll did not make, for example {example}; give a new \
         directory in it, or allow it with `--destroy-data`, which leaves those files alone",
        shown(path)
    )]
    ForeignDirectory {
        /// The directory.
        path: PathBuf,
        /// A name in it.
        example: String,
    },
    /// Something of somebody's where Plimsoll would make a directory of its own.
    #[error(
        "{} will not be written to: Plimsoll did not make it and would keep its own data under this name; move it away, or \
         give a new directory",
        shown(path)
    )]
    ForeignName {
        /// What has the name.
        path: PathBuf,
    },
    /// Mounted, itself or something on it.
    #[error(
        "{} will not be written to: {device} is mounted at {}; {}choose another target",
        shown(path),
        shown(point),
        unmount(point)
    )]
    Mounted {
        /// The target.
        path: PathBuf,
        /// The mounted device's kernel name.
        device: String,
        /// Where it is mounted.
        point: PathBuf,
    },
    /// Used as swap space.
    #[error(
        "{} will not be written to: {device} is swap space in use; release it (`swapoff /dev/{device}`) or choose \
         another target",
        shown(path)
    )]
    Swap {
        /// The target.
        path: PathBuf,
        /// The swapping device's kernel name.
        device: String,
    },
    /// RAID, LVM, multipath or the like is on top.
    #[error(
        "{} will not be written to: {holders} (RAID, LVM, encryption or multipath) is built on it; \
         stop that first, or give {holders} as the target",
        shown(path)
    )]
    Held {
        /// The target.
        path: PathBuf,
        /// Kernel names of what is on top.
        holders: String,
    },
    /// A loop device is attached to it.
    #[error(
        "{} will not be written to: {loops} is attached to it; detach that first (`losetup --detach /dev/{loops}`) or \
         choose another target",
        shown(path)
    )]
    LoopAttached {
        /// The target.
        path: PathBuf,
        /// Kernel names of the loop devices.
        loops: String,
    },
    /// What is below it is in use.
    #[error(
        "{} will not be written to: its blocks are those of {name}, which is {usage}; release that first or choose \
         another target",
        shown(path)
    )]
    Shared {
        /// The target.
        path: PathBuf,
        /// What is in use: a kernel name or a path.
        name: String,
        /// How it is used.
        usage: String,
    },
    /// A program uses it without a claim.
    #[error("{} will not be written to: {opener}; end that program first or choose another target", shown(path))]
    Opened {
        /// The target.
        path: PathBuf,
        /// Who, and what it does.
        opener: String,
    },
    /// A program has locked it by flock(2).
    #[error(
        "{} will not be written to: {by} has locked it; end that program first or choose another target",
        shown(path)
    )]
    Locked {
        /// The target.
        path: PathBuf,
        /// Who: `mysqld (pid 12)`.
        by: String,
    },
    /// Opened exclusively by somebody.
    #[error(
        "{} will not be written to: it is in exclusive use (a mount in another namespace, ZFS, btrfs, a cluster, or \
         another Plimsoll run); `lsof {}` may tell by whom",
        shown(path),
        shown(path)
    )]
    Claimed {
        /// The target.
        path: PathBuf,
    },
    /// Writes are refused by the kernel.
    #[error(
        "{} is read-only for the kernel; `blockdev --setrw {}` changes that if the device allows it",
        shown(path),
        shown(path)
    )]
    ReadOnly {
        /// The target.
        path: PathBuf,
    },
    /// The rights of the file or device keep this user from writing.
    #[error(
        "{} cannot be written to by this user; run as root or as a member of the group that may (`ls -l {}`), or choose \
         another target",
        path.display(), quoted(&path.to_string_lossy())
    )]
    Unwritable {
        /// The target.
        path: PathBuf,
    },
    /// The file is a loop device's backing or a swap file.
    #[error(
        "{} will not be written to: it is in use by {users}; detach that first or choose another file",
        shown(path)
    )]
    FileInUse {
        /// The target.
        path: PathBuf,
        /// Kernel names of its users.
        users: String,
    },
    /// What was typed is something else.
    #[error(
        "`{typed}` names no part of this target, so nothing is written; its own name is `--destroy-data={}`",
        quoted(right)
    )]
    OtherName {
        /// What was typed.
        typed: String,
        /// What would name the target's parts.
        right: String,
    },
    /// Somebody's data is there.
    #[error(
        "{} carries {contents}, which this workload would destroy; if you mean it, repeat with `--destroy-data={}`",
        shown(path),
        quoted(identity)
    )]
    Carries {
        /// The target.
        path: PathBuf,
        /// What is there, in words.
        contents: String,
        /// What to type.
        identity: String,
    },
    /// A block device that looks empty.
    #[error(
        "{} is a block device ({description}) and this workload writes to it, which destroys whatever is there; \
         if you mean it, repeat with `--destroy-data`",
        shown(path)
    )]
    Device {
        /// The target.
        path: PathBuf,
        /// Size, model, serial.
        description: String,
    },
    /// A scratch file that is somebody's by now.
    #[error(
        "{} was made by Plimsoll, but something else has written to it or linked it since, and this workload would \
         overwrite it; give a path that does not exist yet or, if you mean this file, repeat with `--destroy-data`",
        shown(path)
    )]
    ChangedSince {
        /// The target.
        path: PathBuf,
    },
    /// A file that Plimsoll did not make.
    #[error(
        "{} exists and was not made by Plimsoll, and this workload would overwrite it; give a path that does not \
         exist yet to have a scratch file made there or, if you mean this file, repeat with `--destroy-data`",
        shown(path)
    )]
    ForeignFile {
        /// The target.
        path: PathBuf,
    },
}

/// The other way out, unless it is the running system that is mounted there.
fn unmount(point: &Path) -> String {
    if point == Path::new("/") { String::new() } else { format!("unmount it (`umount {}`) or ", quoted_path(point)) }
}

/// The path as a shell takes it for one word, whatever its bytes.
fn quoted_path(path: &Path) -> String {
    match path.to_str() {
        Some(text) => quoted(text),
        None => {
            let escaped = path.as_os_str().as_bytes().utf8_chunks().map(|chunk| {
                let text = chunk.valid().replace('\\', r"\\").replace('\'', r"\'");
                format!("{text}{}", chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>())
            });
            format!("$'{}'", escaped.collect::<String>())
        }
    }
}

/// The text as a shell takes it for one word.
fn quoted(text: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_./:,+@%=".contains(character);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
