//! What a device is asked to do, in sectors.

/// Bytes of one sector, the unit of every address and length.
pub const SECTOR_BYTES: u64 = 512;

/// The handle of a device's own work.
pub const INTERNAL: u32 = u32::MAX;

/// What a device is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The caller's name for it; not [`INTERNAL`], and not used twice at a time.
    pub handle: u32,
    /// Whether data go to the device.
    pub write: bool,
    /// First sector.
    pub lba: u64,
    /// Length, at least one.
    pub sectors: u32,
}

impl Command {
    /// The sector after the last.
    #[inline]
    pub const fn end_lba(&self) -> u64 {
        self.lba + self.sectors as u64
    }
}
