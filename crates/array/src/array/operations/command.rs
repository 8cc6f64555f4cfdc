//! A command to a device: of whom, for whom, and where.

use crate::slab::NONE;

/// Marks a command that is all of a job's read past the cache, which needs no operation, instead of one of an operation.
pub(super) const OF_JOB: u32 = 1 << 31;

/// For whom a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// A request.
    Request,
    /// A destage.
    Destage,
    /// Neither is it held back, nor is anything for it.
    Other,
}

/// A command to a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issued {
    /// The operation, or the job with [`OF_JOB`].
    pub(super) owner: u32,
    pub(super) drive: u16,
    pub(super) controller: u16,
    pub(super) write: bool,
    pub(super) rank: Rank,
    pub(super) sectors: u32,
    pub(super) lba: u64,
    pub(super) offered_ns: u64,
    /// The one behind it in a line.
    pub(super) next: u32,
}

impl Issued {
    pub(super) const BLANK: Self = Self {
        owner: NONE,
        drive: 0,
        controller: 0,
        write: false,
        rank: Rank::Other,
        sectors: 0,
        lba: 0,
        offered_ns: 0,
        next: NONE,
    };
}

/// Who makes commands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The operation, or the job with [`OF_JOB`].
    pub(super) owner: u32,
    pub(super) group: u16,
    /// [`Rank::Other`] if the group's controller holds nothing back.
    pub(super) rank: Rank,
}
