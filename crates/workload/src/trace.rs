//! Traces: requests that were recorded, in the compact form that streams replay.
//!
//! Model: a compact trace is a [`Prefix`], then one [`TraceRecord`] of fixed size per request in the order of their
//! instants, then the places that were touched, then a [`TraceHeader`] as JSON. [`Remap`] puts a record onto a target:
//! which byte, how long, and whether that differs from what was recorded. [`TracePlan`] is what a stream replays.
//!
//! Everything here is pure: bytes come from whoever opened the file. Numbers are little-endian.
//!
//! ```text
//! 0   "PLIMTRC1"           magic and version
//! 8   u64                  number of records
//! 16  u64, u64             first byte and length of the header
//! 32  u64, u64             first byte and number of the touched places (u64 each: device << 48 | place)
//! 48  16 bytes             zero
//! 64  24 bytes per record  u64 due ns, u64 offset, u32 length, u8 operation, u8 zero, u16 device
//! ```

mod file;
mod options;
mod place;
mod remap;
mod resolve;

use std::sync::Arc;

pub use file::{Prefix, TraceDevice, TraceHeader, TraceRecord, TraceService, TraceSource};
pub(crate) use options::a_trace_stands_alone;
pub use place::{Change, Remap};
pub use remap::{Recorded, Traced};

use crate::request::Op;

/// What a stream replays, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePlan {
    /// The compact file.
    pub path: String,
    /// What is known of it.
    pub header: Arc<TraceHeader>,
    /// Recorded time over replayed time; `None`: each request follows a completion.
    pub speed: Option<f64>,
    /// Operations that are left out, indexed by [`Op`].
    pub skips: [bool; 4],
    /// Where its requests go.
    pub remap: Arc<Remap>,
}

impl TracePlan {
    /// Requests that are replayed.
    pub fn requests(&self) -> u64 {
        Op::ALL.iter().filter(|&&op| !self.skips[op as usize]).map(|&op| self.header.ops[op as usize]).sum()
    }

    /// When a record is due, in nanoseconds from the stream's start; 0 where requests follow completions.
    #[inline]
    pub fn due_ns(&self, record: &TraceRecord) -> u64 {
        match self.speed {
            None => 0,
            Some(1.0) => record.due_ns,
            // Exact to the nanosecond for 104 days, which no trace reaches.
            Some(speed) => (record.due_ns as f64 / speed).round() as u64,
        }
    }
}
