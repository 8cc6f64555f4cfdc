//! Block sizes: what direct I/O on a file or device must be aligned to, and what spins below it.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::safety::DeviceNumber;

/// Assumed where the kernel does not say (tmpfs, network and older overlay file systems): a page.
const DEFAULT_BLOCK_BYTES: u32 = 4096;
/// Assumed where direct I/O is impossible anyway.
const BUFFERED_BLOCK_BYTES: u32 = 512;

/// The logical block of an open block device. Source: `BLKSSZGET`, Linux `include/uapi/linux/fs.h`.
pub(crate) fn logical_block_bytes(device: BorrowedFd<'_>) -> io::Result<u32> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open, and the ioctl writes one int to the place given.
    if unsafe { libc::ioctl(device.as_raw_fd(), libc::BLKSSZGET as _, &raw mut bytes) } != 0 {
        return Err(io::Error::last_os_error());
    }
    u32::try_from(bytes).map_err(|_| io::Error::other("the device reports a negative block size"))
}

/// What a file system demands of direct I/O on an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectIo {
    /// Offsets and lengths must be multiples of this many bytes.
    Aligned(u32),
    /// Not possible on this file.
    Impossible,
    /// The kernel does not say.
    Unknown,
}

impl DirectIo {
    /// Asks the kernel (6.1 and later). Source: statx(2), `STATX_DIOALIGN`.
    pub(crate) fn of(file: BorrowedFd<'_>) -> Self {
        match statx(file, libc::STATX_DIOALIGN) {
            Some(facts) if facts.stx_mask & libc::STATX_DIOALIGN != 0 => match facts.stx_dio_offset_align {
                0 => Self::Impossible,
                bytes => Self::Aligned(bytes),
            },
            _ => Self::Unknown,
        }
    }

    /// Whether it works, if the kernel says.
    pub(crate) const fn is_possible(self) -> Option<bool> {
        match self {
            Self::Aligned(_) => Some(true),
            Self::Impossible => Some(false),
            Self::Unknown => None,
        }
    }

    /// The block to assume for a file on the device with this number.
    pub(crate) fn block_bytes(self, below: DeviceNumber) -> u32 {
        match self {
            Self::Aligned(bytes) => bytes,
            Self::Impossible => BUFFERED_BLOCK_BYTES,
            Self::Unknown => queue_number(below, "logical_block_size").unwrap_or(DEFAULT_BLOCK_BYTES),
        }
    }
}

/// statx(2) on an open file; `None` when the kernel or file system has none.
pub(crate) fn statx(file: BorrowedFd<'_>, mask: libc::c_uint) -> Option<libc::statx> {
    // SAFETY: statx is plain data for which all zeros is valid; the kernel fills it for an open descriptor and empty
    // path.
    unsafe {
        let mut facts: libc::statx = std::mem::zeroed();
        let flags = libc::AT_EMPTY_PATH;
        (libc::statx(file.as_raw_fd(), c"".as_ptr(), flags, mask, &raw mut facts) == 0).then_some(facts)
    }
}

/// Whether the medium below spins; `None` when sysfs does not know the device (network, several devices).
pub(crate) fn rotational(number: DeviceNumber) -> Option<bool> {
    queue_number(number, "rotational").map(|value| value != 0)
}

/// A number of the device's request queue. A partition's queue is its disk's.
fn queue_number(number: DeviceNumber, name: &str) -> Option<u32> {
    let node = fs::canonicalize(format!("/sys/dev/block/{}:{}", number.0, number.1)).ok()?;
    let directories = [Some(node.as_path()), node.parent()];
    let texts = directories.into_iter().flatten().map(|directory| directory.join("queue").join(name));
    texts.filter_map(|path| fs::read_to_string(path).ok()).find_map(|text| text.trim().parse().ok())
}
