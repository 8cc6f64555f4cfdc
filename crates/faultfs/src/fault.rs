//! The sixteen kinds of fault, and the operations that they can strike.

use serde::{Deserialize, Serialize};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The request fails with EIO.
    Eio,
    /// The request fails with ENOSPC.
    Enospc,
    /// Fewer bytes are transferred than were asked for: `bytes` of them, or half.
    Short,
    /// The write is acknowledged and does not happen.
    Lost,
    /// Of the write only a part of its sectors (of `bytes`, 512 by default) arrives.
    Torn,
    /// The write goes to another place, `bytes` further (64 KiB by default); a read comes from there.
    Misdirected,
    /// A read returns what stood there before the last write.
    Stale,
    /// One bit is not what it was.
    Flipped,
    /// Zeros instead of data.
    Zeros,
    /// The request is carried out `ms` later.
    Stall,
    /// The request is carried out when it is released, which may be never.
    Hang,
    /// The file is cut to `bytes` (half its size by default) behind its user's back.
    Truncated,
    /// The file is removed behind its user's back: its name is gone, and what is open fails with ESTALE.
    Removed,
    /// What would change something fails with EROFS.
    ReadOnly,
    /// What concerns names, sizes and times takes `ms` longer.
    SlowMetadata,
    /// A flush is acknowledged although only some writes, in any order, are durable. Shows only after a power cut.
    Reordered,
}

/// What is asked of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Bytes of a file.
    Read,
    /// Bytes into a file.
    Write,
    /// fsync and fdatasync of a file.
    Fsync,
    /// Room reserved, cleared or given back.
    Fallocate,
    /// A file opened; reading only.
    Open,
    /// A file opened for writing.
    OpenWrite,
    /// A file made.
    Create,
    /// A directory made.
    Mkdir,
    /// A name removed.
    Unlink,
    /// A directory removed.
    Rmdir,
    /// A name changed.
    Rename,
    /// A second name, or a symbolic link.
    Link,
    /// A name looked up.
    Lookup,
    /// Size, times and mode asked for.
    Getattr,
    /// Size, times or mode changed.
    Setattr,
    /// A directory listed.
    Readdir,
    /// Room asked for.
    Statfs,
    /// fsync of a directory.
    Fsyncdir,
}

const CHANGES: [Op; 10] = [
    Op::Write,
    Op::Fallocate,
    Op::OpenWrite,
    Op::Create,
    Op::Mkdir,
    Op::Unlink,
    Op::Rmdir,
    Op::Rename,
    Op::Link,
    Op::Setattr,
];

const METADATA: [Op; 14] = [
    Op::Open,
    Op::OpenWrite,
    Op::Create,
    Op::Mkdir,
    Op::Unlink,
    Op::Rmdir,
    Op::Rename,
    Op::Link,
    Op::Lookup,
    Op::Getattr,
    Op::Setattr,
    Op::Readdir,
    Op::Statfs,
    Op::Fsyncdir,
];

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 16] = [
        Self::Eio,
        Self::Enospc,
        Self::Short,
        Self::Lost,
        Self::Torn,
        Self::Misdirected,
        Self::Stale,
        Self::Flipped,
        Self::Zeros,
        Self::Stall,
        Self::Hang,
        Self::Truncated,
        Self::Removed,
        Self::ReadOnly,
        Self::SlowMetadata,
        Self::Reordered,
    ];

    /// What it strikes where a rule does not say.
    pub const fn strikes(self) -> &'static [Op] {
        match self {
            Self::Eio | Self::Stall | Self::Hang => &[Op::Read, Op::Write, Op::Fsync],
            Self::Enospc => &[Op::Write, Op::Fallocate, Op::Create, Op::Mkdir],
            Self::Short | Self::Truncated | Self::Removed => &[Op::Read, Op::Write],
            Self::Lost | Self::Torn | Self::Misdirected => &[Op::Write],
            Self::Stale | Self::Flipped | Self::Zeros => &[Op::Read],
            Self::ReadOnly => &CHANGES,
            Self::SlowMetadata => &METADATA,
            Self::Reordered => &[Op::Fsync],
        }
    }

    /// Whether it can strike an operation at all: corruption needs bytes, a flush is all that can be reordered.
    pub fn can_strike(self, op: Op) -> bool {
        match self {
            Self::Lost | Self::Torn => op == Op::Write,
            Self::Short | Self::Misdirected | Self::Flipped | Self::Zeros | Self::Truncated | Self::Removed => {
                matches!(op, Op::Read | Op::Write)
            }
            Self::Stale => op == Op::Read,
            Self::Reordered => op == Op::Fsync,
            Self::Eio | Self::Enospc | Self::Stall | Self::Hang | Self::ReadOnly | Self::SlowMetadata => true,
        }
    }

    /// The error that it answers with.
    pub const fn errno(self) -> Option<i32> {
        match self {
            Self::Eio => Some(libc::EIO),
            Self::Enospc => Some(libc::ENOSPC),
            Self::ReadOnly => Some(libc::EROFS),
            _ => None,
        }
    }

    /// How often it strikes where a rule does not say; None is always.
    pub const fn times(self) -> Option<u64> {
        match self {
            Self::Truncated | Self::Removed => Some(1),
            _ => None,
        }
    }
}
