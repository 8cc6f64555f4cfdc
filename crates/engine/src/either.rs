//! A ring, or plain system calls where [`Changeover`] says so: the backend of `auto`.
//!
//! Model: one of both carries all requests. At a change what is outstanding comes back first; what is submitted meanwhile is held until then
//! and goes the new way, so requests of the two are never outstanding together, and nobody waits for more than one completion. Threads for
//! calls are made when they are needed first. Since the first call requests are accounted for one by one: what was held was not outstanding.
//!
//! Limits: a request that does not come back holds its worker's others until the warm-up is over. A worker that cannot get threads for
//! calls stays with the ring, and has all others stay.

use std::io;
use std::os::fd::BorrowedFd;

use crate::backend::{Backend, Done, Io, Taker, plain_turn};
use crate::changeover::Changeover;
use crate::sync::SyncIo;
use crate::uring::Uring;

/// See the module.
#[derive(Debug)]
pub(crate) struct Either<'a> {
    ring: Uring<false>,
    calls: Calls<'a>,
    changeover: &'a Changeover,
    /// Who carries what is submitted.
    by_calls: bool,
    /// Whether what went the old way is not back yet.
    changing: bool,
    /// What was submitted meanwhile.
    held: Vec<Io>,
    /// Whether requests are accounted for one by one.
    one_by_one: bool,
}

#[derive(Debug)]
enum Calls<'a> {
    NotNeeded { files: &'a [BorrowedFd<'a>], depth: usize },
    Here(SyncIo),
    Refused,
}

impl<'a> Either<'a> {
    /// Begins with the ring; calls are for these files, with at most `depth` outstanding.
    pub(crate) const fn new(
        ring: Uring<false>,
        (files, depth): (&'a [BorrowedFd<'a>], usize),
        changeover: &'a Changeover,
    ) -> Self {
        let calls = Calls::NotNeeded { files, depth };
        Self { ring, calls, changeover, by_calls: false, changing: false, held: Vec::new(), one_by_one: false }
    }

    #[inline(always)]
    const fn calls(&mut self) -> Option<&mut SyncIo> {
        match &mut self.calls {
            Calls::Here(calls) if self.by_calls => Some(calls),
            _ => None,
        }
    }

    fn in_flight(&mut self) -> usize {
        match self.calls() {
            Some(calls) => calls.in_flight(),
            None => self.ring.in_flight(),
        }
    }

    #[inline(always)]
    fn await_current(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        match self.calls() {
            Some(calls) => calls.wait(until_ns, finished),
            None => self.ring.wait(until_ns, finished),
        }
    }

    /// Whether calls can be made; makes their threads if there are none yet.
    fn can_call(&mut self) -> bool {
        if let Calls::NotNeeded { files, depth } = &self.calls {
            self.calls = SyncIo::new(files, *depth).map_or(Calls::Refused, Calls::Here);
            if matches!(self.calls, Calls::Refused) {
                self.changeover.refuse();
            }
        }
        matches!(self.calls, Calls::Here(_))
    }

    /// Goes on with a change to what was ordered, or ends one that was not: goes over if everything has come back.
    #[cold]
    fn change(&mut self, by_calls: bool) -> io::Result<()> {
        self.changing = by_calls != self.by_calls && (!by_calls || self.can_call());
        if self.changing && self.in_flight() == 0 {
            (self.by_calls, self.changing) = (by_calls, false);
            self.one_by_one = true;
        }
        if !self.changing {
            for io in std::mem::take(&mut self.held) {
                self.submit(io)?;
            }
        }
        Ok(())
    }
}

impl Backend for Either<'_> {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.ring.now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io) -> io::Result<()> {
        if self.changing {
            self.held.push(io);
            return Ok(());
        }
        match self.calls() {
            Some(calls) => calls.submit(io),
            None => self.ring.submit(io),
        }
    }

    #[inline(always)]
    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        if self.goes_on() {
            return self.await_current(until_ns, finished);
        }
        self.watched_wait(until_ns, finished)
    }

    #[inline(always)]
    fn turn<T: Taker>(&mut self, until_ns: u64, done: &mut Vec<Done>, taker: &mut T) -> io::Result<()> {
        if !self.goes_on() {
            return watched_turn(self, until_ns, done, taker);
        }
        match self.calls() {
            Some(calls) => calls.turn(until_ns, done, taker),
            None => self.ring.turn(until_ns, done, taker),
        }
    }

    #[inline(always)]
    fn stamps_batches(&self) -> bool {
        !self.one_by_one
    }

    #[inline(always)]
    fn handed_over_ns(&self) -> Option<u64> {
        if self.one_by_one { None } else { self.ring.handed_over_ns() }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        match &self.calls {
            Calls::Here(calls) if self.by_calls => calls.facts(),
            _ => self.ring.facts(),
        }
    }
}

impl Either<'_> {
    /// Whether nothing changes and nothing is told.
    #[inline(always)]
    fn goes_on(&self) -> bool {
        !self.changing && self.changeover.orders().leave(self.by_calls)
    }

    /// Waits while something changes, or is told.
    #[cold]
    fn watched_wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        let (before, orders) = (finished.len(), self.changeover.orders_at(self.now()));
        self.change(orders.by_calls())?;
        self.await_current(until_ns, finished)?;
        if orders.tell() {
            let service_ns = finished[before..].iter().map(|done| done.completed_ns - done.submitted_ns).sum();
            self.changeover.tell((finished.len() - before) as u64, service_ns);
        }
        Ok(())
    }
}

/// A turn in which something changes, or is told.
#[cold]
fn watched_turn<T: Taker>(
    either: &mut Either<'_>,
    until_ns: u64,
    done: &mut Vec<Done>,
    taker: &mut T,
) -> io::Result<()> {
    plain_turn(either, until_ns, done, taker)
}

#[cfg(test)]
mod tests;
