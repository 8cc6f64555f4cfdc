//! One request: what a stream asks of a target, free of any clock, thread or file.

use serde::{Deserialize, Serialize};

/// The operations a stream may issue. The order is the order of every per-operation table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Op {
    /// Read bytes.
    Read = 0,
    /// Write bytes.
    Write = 1,
    /// Discard bytes (`BLKDISCARD`, `fallocate` punch hole).
    Trim = 2,
    /// Make earlier writes durable (`fdatasync`); its length is zero.
    Flush = 3,
}

impl Op {
    /// Every operation, in table order.
    pub const ALL: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];

    /// The word used in files, tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
        }
    }
}

/// One request of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// First byte, absolute on the target (the region's start is included).
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub len: u32,
    /// What to do there.
    pub op: Op,
    /// Pause before this request, in nanoseconds (the `delay` of an access entry, paid once per burst).
    pub delay_ns: u64,
}
