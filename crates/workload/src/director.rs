//! Requests that follow from others: a director says what to issue once it knows what came back.
//!
//! Model: a storage engine reads a page before it changes it, and commits before it goes on. A [`Director`] is its state
//! machine without files and without a clock: whoever drives it tells it the time, issues what it [asks for](Asked) on one of its
//! lanes, and hands it every answer. It never has more outstanding on a lane than that lane has places.
//!
//! Limits: a request that failed is answered like any other, with `failed` set; what becomes of it is the director's matter.

use crate::request::Op;

/// A request that a director asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What the answer is told with.
    pub token: u32,
    /// On which of its lanes, counted from 0.
    pub lane: u32,
    /// What to do.
    pub op: Op,
    /// First byte, on the lane's part of the target.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub len: u32,
}

/// What became of a request.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// As in what was [`Asked`].
    pub token: u32,
    /// When the answer was seen.
    pub now_ns: u64,
    /// Whether the request failed.
    pub failed: bool,
    /// What was read, where the target keeps data.
    pub bytes: Option<&'a [u8]>,
}

/// See the module.
pub trait Director: Send {
    /// The run begins: what is asked for first.
    fn begin(&mut self, now_ns: u64, asks: &mut Vec<Asked>);

    /// A request has its answer: what follows from it.
    fn answered(&mut self, answer: Answer<'_>, asks: &mut Vec<Asked>);

    /// When it wants to be woken although nothing was answered; `u64::MAX` = not at all.
    fn due_ns(&self) -> u64;

    /// That instant has come, or a later one.
    fn wake(&mut self, now_ns: u64, asks: &mut Vec<Asked>);

    /// Puts what a write that was asked for writes into `bytes`. Not called where the target keeps no data.
    fn fill(&mut self, token: u32, bytes: &mut [u8]);

    /// Whether it will never ask for anything again.
    fn is_over(&self) -> bool {
        false
    }

    /// What it says of itself when the run is over.
    fn report(&self) -> serde_json::Value;
}
