//! The backend that completes everything at once: what remains is the cost of Plimsoll itself.
//!
//! Both stamps are really read for every I/O, one on submission and one on completion, as a device would need them.

use std::io;

use crate::backend::{Backend, Done, Io, full};
use crate::clock::Clock;

/// See the module.
#[derive(Debug)]
pub struct Null {
    clock: Clock,
    pending: Vec<Pending>,
}

/// An I/O that has not been reported yet. Slot and piece are one word: two halves written apart and read together cannot
/// be forwarded by the processor, which would cost more than everything else here.
#[derive(Clone, Copy, Debug)]
struct Pending {
    id: u64,
    submitted_ns: u64,
    result: i64,
}

impl Null {
    /// A backend for at most `depth` outstanding I/Os.
    pub fn new(depth: usize) -> Self {
        Self { clock: Clock::calibrated(), pending: Vec::with_capacity(depth) }
    }
}

impl Backend for Null {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io) -> io::Result<()> {
        let submitted_ns = self.clock.now();
        let id = u64::from(io.piece) << 32 | u64::from(io.slot);
        self.pending.push(Pending { id, submitted_ns, result: i64::from(full(&io)) });
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        if self.pending.is_empty() {
            crate::pause::until(&self.clock, until_ns);
            return Ok(());
        }
        for Pending { id, submitted_ns, result } in self.pending.drain(..) {
            let (slot, piece) = (id as u32, (id >> 32) as u32);
            finished.push(Done { slot, piece, result: result as i32, submitted_ns, completed_ns: self.clock.now() });
        }
        Ok(())
    }
}
