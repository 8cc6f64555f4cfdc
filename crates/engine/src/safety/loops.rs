//! Loop devices, and what is behind each: by device and inode as the kernel has them, not by name.
//!
//! Model: `LOOP_GET_STATUS64` tells the file's device and inode, or the device's number, however its name was spelt and
//! whether it still has one. Where the device node cannot be opened, the name in `loop/backing_file` has to do; it may be
//! deleted, renamed or another file by now, which is why it comes second.
//!
//! Source: Linux `include/uapi/linux/loop.h`, `drivers/block/loop.c` (`loop_get_status`).

use std::ffi::CStr;
use std::fs::{self, OpenOptions};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::sysfs::{Node, read_path, read_word};
use super::system::{DeviceNumber, System, device_number};

/// A file or block device, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Base {
    /// A block device.
    Device(DeviceNumber),
    /// A regular file: the number of its file system, and its inode.
    File(DeviceNumber, u64),
}

impl Base {
    /// What is at `path`, links followed.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::of(&metadata))
    }

    /// What has this metadata.
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        if metadata.mode() & libc::S_IFMT == libc::S_IFBLK {
            Self::Device(device_number(metadata.rdev()))
        } else {
            Self::File(device_number(metadata.dev()), metadata.ino())
        }
    }
}

/// A loop device in use.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) node: Node,
    /// What is behind it; `None` when that cannot be found out.
    pub(super) backing: Option<Base>,
    /// The name of that, where it has one.
    pub(super) backing_path: Option<PathBuf>,
    /// The bytes of it that the loop device shows.
    pub(super) range: Range<u64>,
}

/// Every loop device that something is attached to.
pub(super) fn attached(system: &System) -> Vec<Loop> {
    in_use(system).map(|node| look(system, node)).collect()
}

fn in_use(system: &System) -> impl Iterator<Item = Node> {
    let entries = fs::read_dir(system.sys.join("block")).into_iter().flatten().flatten();
    let nodes = entries.filter_map(|entry| Node::at(&fs::canonicalize(entry.path()).ok()?));
    nodes.filter(|node| node.dir.join("loop/backing_file").exists())
}

/// The node of each loop device in use, and the names that are looked up to find what is behind it. Neither is asked.
pub(crate) fn backing_names(system: &System) -> Vec<(PathBuf, Vec<PathBuf>)> {
    let named = |node: Node| {
        let name = read_path(&node.dir.join("loop/backing_file"));
        let before = name.as_deref().and_then(before_deletion);
        (system.dev.join(&node.name), name.into_iter().chain(before).collect())
    };
    in_use(system).map(named).collect()
}

fn look(system: &System, node: Node) -> Loop {
    let named = read_path(&node.dir.join("loop/backing_file")).map(still_named);
    let (backing, offset) = match status(&system.dev.join(&node.name), node.number) {
        Some((backing, offset)) => (Some(backing), offset),
        None => (named.as_deref().and_then(Base::at), number(&node.dir.join("loop/offset"))),
    };
    let backing_path = named.filter(|path| Base::at(path) == backing);
    let range = offset..offset.saturating_add(node.whole().end);
    Loop { node, backing, backing_path, range }
}

/// The name without the kernel's remark that it is gone: a file that is called so may be there all the same.
fn still_named(path: PathBuf) -> PathBuf {
    match before_deletion(&path) {
        Some(before) if !path.exists() => before,
        _ => path,
    }
}

/// What a file was called, if the kernel's remark that it is gone is one.
fn before_deletion(path: &Path) -> Option<PathBuf> {
    let before = path.as_os_str().as_bytes().strip_suffix(b" (deleted)")?;
    Some(std::ffi::OsString::from_vec(before.to_vec()).into())
}

fn number(path: &Path) -> u64 {
    read_word(path).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// `struct loop_info64`, as far as it is read.
#[repr(C)]
struct Status {
    device: u64,
    inode: u64,
    block_device: u64,
    offset: u64,
    rest: [u64; 25],
}

const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;

impl Status {
    const EMPTY: Self = Self { device: 0, inode: 0, block_device: 0, offset: 0, rest: [0; 25] };
}

/// What the kernel says is behind the loop device at `path`, and from which byte on.
fn status(path: &Path, number: DeviceNumber) -> Option<(Base, u64)> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if Base::of(&metadata) != Base::Device(number) {
        return None;
    }
    let mut status = Status::EMPTY;
    // SAFETY: the descriptor is open; the ioctl writes one loop_info64 of 232 bytes, which is what `Status` has.
    if unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut status) } != 0 {
        return None;
    }
    let base = match status.block_device {
        0 => Base::File(decoded(status.device), status.inode),
        device => Base::Device(decoded(device)),
    };
    Some((base, status.offset))
}

/// Asks the same with system calls alone, and keeps nothing of it.
pub(crate) fn ask_status(path: &CStr) {
    let mut status = Status::EMPTY;
    // SAFETY: a C string that outlives the call; a descriptor that is closed here; a structure as above.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC);
        if fd >= 0 {
            libc::ioctl(fd, LOOP_GET_STATUS64 as _, &raw mut status);
            libc::close(fd);
        }
    }
}

const _: () = assert!(size_of::<Status>() == 232);

/// A device number as the kernel hands it out in 64 bits. Source: Linux `include/linux/kdev_t.h`, `huge_encode_dev`.
const fn decoded(raw: u64) -> DeviceNumber {
    (((raw >> 8) & 0xfff) as u32, ((raw & 0xff) | ((raw >> 12) & 0xf_ff00)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_are_taken_apart_as_the_kernel_puts_them_together() {
        assert_eq!(decoded(0x801), (8, 1));
        assert_eq!(decoded((0x12 << 20) | (259 << 8) | 0x34), (259, 0x1234)); // minor's upper bits above the major
    }

    #[test]
    fn a_name_of_any_bytes_is_kept_to_its_last_blank() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("backing_file");
        fs::write(&file, b"/data/\xff \n").unwrap();
        assert_eq!(read_path(&file).unwrap().as_os_str().as_bytes(), b"/data/\xff ");
        let gone = directory.path().join("image (deleted)");
        assert_eq!(still_named(gone.clone()), directory.path().join("image"));
        fs::write(&gone, "").unwrap();
        assert_eq!(still_named(gone.clone()), gone, "a file that is really called so");
    }
}
