//! Requests of a length that streams replay.

use plimsoll_workload::Op;

use crate::request::Request;

/// The longest request of an operation, in bytes; trims move none through memory.
pub const fn longest_bytes(op: Op) -> u64 {
    match op {
        Op::Read | Op::Write => 16 << 20,
        Op::Trim => 1 << 30,
        Op::Flush => 1,
    }
}

/// Whether a request is longer than its operation may be.
#[inline]
pub fn is_long(request: &Request) -> bool {
    request.length > longest_bytes(request.op)
}

/// The pieces of a request, in order; one that is short enough is its only piece.
pub fn pieces(request: Request) -> impl Iterator<Item = Request> {
    let longest = longest_bytes(request.op);
    let count = request.length.div_ceil(longest).max(1);
    (0..count).map(move |piece| Request {
        offset: request.offset + piece * longest,
        length: longest.min(request.length - piece * longest),
        ..request
    })
}
