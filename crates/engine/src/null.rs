//! The backend that completes everything at once: what remains is the cost of Plimsoll itself.
//!
//! Both stamps are really read for every I/O, one on submission and one on completion, as a device would need them.

use std::io;

use crate::backend::{Backend, Done, Io, done, full};
use crate::clock::Clock;

/// See the module.
#[derive(Debug)]
pub struct Null {
    clock: Clock,
    pending: Vec<(Io, u64)>,
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
        self.pending.push((io, submitted_ns));
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        if self.pending.is_empty() {
            crate::pause::until(&self.clock, until_ns);
            return Ok(());
        }
        for (io, submitted_ns) in self.pending.drain(..) {
            finished.push(done(&io, full(&io), submitted_ns, self.clock.now()));
        }
        Ok(())
    }
}
