//! Requests and their ends, as the array's user sees them.

use plimsoll_workload::Op;

/// What is asked of the array, at an address of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read, write, trim or flush.
    pub op: Op,
    /// First sector; 0 for a flush.
    pub lba: u64,
    /// Length; 0 for a flush.
    pub sectors: u32,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// As submitted.
    pub token: u32,
    /// When.
    pub completed_ns: u64,
    /// Whether data were lost that it needed.
    pub failed: bool,
}
