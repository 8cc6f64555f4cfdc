//! What SCSI operation codes do, for traces that hold them.
//!
//! Model: reads and writes of 6, 10, 12 and 16 bytes, verified writes, writes of one block to many, unmapping, and flushing
//! of the cache (SCSI Block Commands, SBC-4, table of operation codes). Every other command moves no data of the disk.
//! Limits: where UNMAP has several extents, a trace has the first.

use plimsoll_workload::Op;

/// Our operation of a code; `None` for a command that moves nothing and flushes nothing.
pub const fn operation(code: u16, moves: bool) -> Option<Op> {
    match code {
        0x35 | 0x91 => Some(Op::Flush),
        _ if !moves => None,
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e | 0x41 | 0x93 => Some(Op::Write),
        0x42 => Some(Op::Trim),
        _ => None,
    }
}
