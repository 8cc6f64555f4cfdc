//! The backend that completes everything at once: what remains is the cost of Plimsoll itself.
//!
//! Both stamps are really read for every I/O, one on submission and one on completion, as a device would need them.

use std::io;

use crate::backend::{Backend, Done, Io, Taker, full};
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
    /// Only within a turn.
    completed_ns: u64,
    result: i64,
}

impl Pending {
    #[inline(always)]
    const fn done(&self, completed_ns: u64) -> Done {
        let (slot, piece) = (self.id as u32, (self.id >> 32) as u32);
        Done { slot, piece, result: self.result as i32, submitted_ns: self.submitted_ns, completed_ns }
    }
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
        self.pending.push(Pending { id, submitted_ns, completed_ns: 0, result: i64::from(full(&io)) });
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        if self.pending.is_empty() {
            crate::pause::until(&self.clock, until_ns);
            return Ok(());
        }
        for pending in self.pending.drain(..) {
            finished.push(pending.done(self.clock.now()));
        }
        Ok(())
    }

    #[inline(always)]
    fn turn<T: Taker>(&mut self, until_ns: u64, finished: &mut Vec<Done>, taker: &mut T) -> io::Result<()> {
        finished.clear();
        if self.pending.is_empty() {
            crate::pause::until(&self.clock, until_ns);
        }
        let mut now_ns = None;
        for pending in &mut self.pending {
            pending.completed_ns = self.clock.now();
            now_ns = Some(pending.completed_ns);
        }
        let now_ns = now_ns.unwrap_or_else(|| self.clock.now());
        if !taker.begin(self, now_ns, self.pending.len()) {
            finished.extend(self.pending.drain(..).map(|pending| pending.done(pending.completed_ns)));
            return Ok(());
        }
        for pending in &mut self.pending {
            let io = taker.take(&pending.done(pending.completed_ns));
            (pending.result, pending.submitted_ns) = (i64::from(full(&io)), self.clock.now());
        }
        Ok(())
    }
}
