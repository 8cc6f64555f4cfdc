//! One device of an array, whichever kind it is.
//!
//! Model: the array holds the calendar, a device holds its queue and its mechanics. `offer` queues, `start` begins all
//! that can begin now and names the instants at which it will end, `finish` frees what the command held. After `finish`
//! and after `offer` comes a `start`; between them nothing changes by itself.
//!
//! A device may have work of its own (a disk that has reported a write before writing it). Such work is started under
//! the handle [`INTERNAL`]: it is scheduled and finished like any other, and nobody waits for it.
//!
//! Devices of one kind share their tables: make one [`DeviceModel`] and take all of them from it.

pub(crate) mod command;
pub(crate) mod error;

use plimsoll_workload::choices;

pub use command::{Command, INTERNAL, SECTOR_BYTES};
pub use error::SpecError;

use crate::disk::{Disk, DiskModel, DiskSpec};
use crate::flash::{Flash, FlashModel, FlashSpec, Written};
use crate::prefetch::expect_lines;

/// No device is quicker with a trim (assumed): a drive without overheads would do any number of them at one instant.
const TRIMMING_NS_MIN: u64 = 1_000;

choices! {
    /// What a device is, as it stands in a file; the key `kind` says which.
    pub enum DeviceSpec: "a kind of device", tag "kind" {
        /// A rotating disk.
        Disk(DiskSpec) = "disk",
        /// A flash drive.
        Flash(FlashSpec) = "flash",
    }
}

/// A checked specification with its tables, from which any number of equal devices are made.
#[derive(Clone, Debug)]
pub enum DeviceModel {
    /// A rotating disk.
    Disk(DiskModel),
    /// A flash drive.
    Flash(FlashModel),
}

impl DeviceModel {
    /// Checks a specification and makes its tables.
    ///
    /// # Errors
    /// One sentence that names the key.
    pub fn new(spec: &DeviceSpec) -> Result<Self, SpecError> {
        Ok(match spec {
            DeviceSpec::Disk(disk) => Self::Disk(DiskModel::new(disk)?),
            DeviceSpec::Flash(flash) => Self::Flash(FlashModel::new(flash)?),
        })
    }

    /// One device; seed and number decide where its platters stand at the beginning, and which senses of flash are repeated.
    pub fn device(&self, seed: u64, number: u32) -> Device {
        match self {
            Self::Disk(model) => Device::Disk(Box::new(Disk::new(model, seed, number))),
            Self::Flash(model) => Device::Flash(Box::new(Flash::numbered(model, seed, number))),
        }
    }
}

/// One device.
#[derive(Clone, Debug)]
pub enum Device {
    /// A rotating disk.
    Disk(Box<Disk>),
    /// A flash drive.
    Flash(Box<Flash>),
}

/// The same call on whichever kind it is.
macro_rules! each {
    ($device:expr, $inner:ident => $call:expr) => {
        match $device {
            Device::Disk($inner) => $call,
            Device::Flash($inner) => $call,
        }
    };
}

impl Device {
    /// A device with tables of its own.
    ///
    /// # Errors
    /// One sentence that names the key.
    pub fn new(spec: &DeviceSpec, seed: u64, number: u32) -> Result<Self, SpecError> {
        Ok(DeviceModel::new(spec)?.device(seed, number))
    }

    /// How many sectors it has.
    pub fn sectors(&self) -> u64 {
        each!(self, device => device.sectors())
    }

    /// Queues a command.
    #[inline]
    pub fn offer(&mut self, command: Command, now_ns: u64) {
        debug_assert!(command.handle != INTERNAL, "the handle {INTERNAL} is the device's own");
        debug_assert!(command.sectors > 0 && command.end_lba() <= self.sectors(), "{command:?} lies on the device");
        each!(self, device => device.offer(command, now_ns));
    }

    /// It will be looked at soon.
    #[inline]
    pub(crate) fn expect(&self) {
        if let Self::Disk(disk) = self {
            expect_lines::<Disk, 6>(disk);
        }
    }

    /// Starts whatever can start now; pushes handle and end of every command started.
    #[inline]
    pub fn start(&mut self, now_ns: u64, started: &mut Vec<(u32, u64)>) {
        each!(self, device => device.start(now_ns, started));
    }

    /// Whether a read that comes at an instant finds it as it is now, but for reads that came before: a disk that works beyond the
    /// instant, because nothing begins or ends in it meanwhile; a flash drive that starts whatever comes at once.
    #[inline(always)]
    pub(crate) fn foresees(&self, at_ns: u64) -> bool {
        match self {
            Self::Disk(disk) => disk.is_busy_beyond(at_ns),
            Self::Flash(flash) => flash.starts_at_once(),
        }
    }

    /// Whether a start may find something that can begin.
    #[inline]
    pub(crate) fn may_start(&self) -> bool {
        match self {
            Self::Disk(disk) => disk.may_start(),
            Self::Flash(_) => true,
        }
    }

    /// The same with a call for each command, which needs no list.
    #[inline]
    pub(crate) fn start_each(&mut self, now_ns: u64, started: impl FnMut(u32, u64)) {
        each!(self, device => device.start_each(now_ns, started));
    }

    /// A started command has ended.
    #[inline]
    pub fn finish(&mut self, handle: u32, now_ns: u64) {
        each!(self, device => device.finish(handle, now_ns));
    }

    /// Forgets the contents of sectors at once; means nothing to a disk.
    pub fn trim(&mut self, lba: u64, sectors: u64) {
        if let Self::Flash(flash) = self {
            flash.trim(lba, sectors);
        }
    }

    /// How long a trim takes, however long it is: what a command costs that neither platters nor cells do (assumed).
    pub fn trimming_ns(&self) -> u64 {
        each!(self, device => device.trimming_ns()).max(TRIMMING_NS_MIN)
    }

    /// What was written to a flash drive, and to its cells.
    pub fn written(&self) -> Option<Written> {
        match self {
            Self::Disk(_) => None,
            Self::Flash(flash) => Some(flash.written()),
        }
    }

    /// Whether it has reported writes that a loss of power would cost: of flash, what is reported is safe, in a buffer that
    /// survives or in the cells.
    pub fn owes_writes(&self) -> bool {
        matches!(self, Self::Disk(disk) if disk.owes_writes())
    }

    /// Queues a flush, which ends when it owes no writes any more; for devices that do.
    pub fn flush(&mut self, handle: u32) {
        if let Self::Disk(disk) = self {
            disk.flush(handle);
        }
    }

    /// How long an access would take until its data begin to move if it came next: what a mirror compares.
    #[inline]
    pub fn positioning_ns(&self, lba: u64, write: bool, now_ns: u64) -> u64 {
        each!(self, device => device.positioning_ns(lba, write, now_ns))
    }

    /// For how long, until a read ended, its data have been leaving the device already.
    #[inline]
    pub fn sending_ns(&self, sectors: u32) -> u64 {
        match self {
            Self::Disk(disk) => disk.interface_ns(sectors),
            Self::Flash(flash) => flash.interface_ns(sectors),
        }
    }

    /// For how long a write's data enter the device while they still arrive: of disks, none do.
    #[inline]
    pub fn taking_ns(&self, sectors: u32) -> u64 {
        match self {
            Self::Disk(_) => 0,
            Self::Flash(flash) => flash.interface_ns(sectors),
        }
    }

    /// Commands that have not started.
    #[inline]
    pub fn queued(&self) -> usize {
        each!(self, device => device.queued())
    }

    /// Commands that have not ended.
    #[inline]
    pub fn outstanding(&self) -> usize {
        each!(self, device => device.outstanding())
    }

    /// How long it has worked: a disk's mechanics, the mean of a flash drive's dies. Work under way counts to its end.
    pub fn busy_ns(&self) -> u64 {
        each!(self, device => device.busy_ns())
    }
}
