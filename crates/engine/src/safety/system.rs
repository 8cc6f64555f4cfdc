//! Where the kernel shows what it knows, and the numbers it gives to devices.

use std::path::PathBuf;

/// The trees that are read. Tests put invented ones in their place.
#[derive(Clone, Debug)]
pub struct System {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
    /// `/run/udev/data`.
    pub udev: PathBuf,
}

impl System {
    /// The trees of this host.
    pub fn host() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into(), dev: "/dev".into(), udev: "/run/udev/data".into() }
    }
}

/// A device number, (major, minor).
pub type DeviceNumber = (u32, u32);

/// The number of the device node or file system that `st_rdev` or `st_dev` means.
pub fn device_number(raw: u64) -> DeviceNumber {
    (libc::major(raw), libc::minor(raw))
}
