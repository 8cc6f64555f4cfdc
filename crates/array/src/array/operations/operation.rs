//! One RAID operation: what it is for, how far it is, and what it leaves behind.

use super::command::Rank;
use crate::raid::Extent;
use crate::slab::NONE;

/// What a RAID operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::array) enum Kind {
    /// Data for those who wait, and for the cache.
    Fetch,
    /// A job's write past the cache.
    Write,
    /// Dirty pages to the devices.
    Destage,
    /// An extent that has been read, to the flash before its group.
    Fill,
    /// An extent from the flash before a group to its devices.
    Drain,
    /// A chunk of a rebuild.
    Rebuild,
    /// A job's trim.
    Trim,
    /// A job's flush.
    Flush,
}

impl Kind {
    /// For whom its commands are.
    pub(super) const fn rank(self) -> Rank {
        match self {
            Self::Fetch | Self::Write => Rank::Request,
            Self::Destage | Self::Drain => Rank::Destage,
            Self::Fill | Self::Rebuild | Self::Trim | Self::Flush => Rank::Other,
        }
    }
}

/// A RAID operation under way.
#[derive(Clone, Copy, Debug)]
pub(in crate::array) struct Operation {
    pub(in crate::array) kind: Kind,
    pub(in crate::array) group: u16,
    pub(in crate::array) extent: Extent,
    /// Of a destage, the list of its further stretches.
    pub(in crate::array) further: u32,
    /// Commands it waits for.
    pub(in crate::array) left: u32,
    /// Of a destage, commands that it counts as: those that it has at once at most.
    pub(in crate::array) counted: u32,
    /// Whether data are lost that it needs.
    pub(in crate::array) failed: bool,
    /// When the last data it waited for have come.
    pub(in crate::array) ready_ns: u64,
    /// Time between its phases, or after the last.
    pub(in crate::array) xor_ns: u64,
    /// First command of its second phase.
    pub(in crate::array) second: u32,
    /// First of those who wait for it.
    pub(in crate::array) waiters: u32,
    /// The rebuild that it belongs to.
    pub(in crate::array) rebuild: u32,
    /// Of a fetch for the cache, where one of its pages is; of what fills or drains a flash cache, the place there.
    pub(in crate::array) page: u32,
}

impl Operation {
    pub(in crate::array) const BLANK: Self = Self {
        kind: Kind::Fetch,
        group: 0,
        extent: Extent { lba: 0, sectors: 0 },
        further: NONE,
        left: 0,
        counted: 0,
        failed: false,
        ready_ns: 0,
        xor_ns: 0,
        second: NONE,
        waiters: NONE,
        rebuild: NONE,
        page: NONE,
    };
}

/// What the end of a command ends with it.
pub(in crate::array) enum Ended {
    /// A job's read past the cache, with the instant at which its data are there.
    Read { job: u32, ready_ns: u64 },
    /// A phase of an operation.
    Phase(u32),
    /// An operation waits for other commands.
    Nothing,
}

/// What an operation leaves behind.
pub(in crate::array) struct Outcome {
    pub(in crate::array) kind: Kind,
    /// The controller, and the space of its cache.
    pub(in crate::array) controller: u16,
    pub(in crate::array) space: u32,
    /// Of a destage, the commands that it counted as.
    pub(in crate::array) counted: u32,
    /// First of those who wait for it.
    pub(in crate::array) waiters: u32,
    pub(in crate::array) ready_ns: u64,
    pub(in crate::array) failed: bool,
}
