//! A ring, or plain system calls where [`Changeover`] says so: the backend of `auto`.
//!
//! Model: one of both carries all requests. At a change what is outstanding comes back first, and what follows on it goes the new way, so
//! requests of the two are never outstanding together. Threads for calls are made when they are needed first.
//!
//! Limits: while it changes, which it does in the warm-up only, [`Backend::wait`] may miss its instant by [`CHANGE_NS`]. A worker that
//! cannot get threads for calls stays with the ring, and has all others stay.

use std::io;
use std::os::fd::BorrowedFd;

use crate::backend::{Backend, Done, Io, Taker, plain_turn};
use crate::changeover::Changeover;
use crate::sync::SyncIo;
use crate::uring::Uring;

/// How long what is outstanding has to come back before a change is put off.
const CHANGE_NS: u64 = 20_000_000;

/// See the module.
#[derive(Debug)]
pub(crate) struct Either<'a> {
    ring: Uring<false>,
    calls: Calls<'a>,
    changeover: &'a Changeover,
    /// Who carries what is submitted.
    by_calls: bool,
    /// Who carried what was reported last.
    reported_calls: bool,
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
        Self { ring, calls, changeover, by_calls: false, reported_calls: false }
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

    /// Has what is outstanding come back, and goes over when it has.
    #[cold]
    fn change(&mut self, finished: &mut Vec<Done>) -> io::Result<()> {
        if let Calls::NotNeeded { files, depth } = &self.calls {
            self.calls = SyncIo::new(files, *depth).map_or(Calls::Refused, Calls::Here);
            if matches!(self.calls, Calls::Refused) {
                self.changeover.refuse();
            }
        }
        if matches!(self.calls, Calls::Refused) {
            return Ok(());
        }
        let until_ns = self.now() + CHANGE_NS;
        while self.in_flight() > 0 && self.now() < until_ns {
            self.await_current(until_ns, finished)?;
        }
        self.by_calls ^= self.in_flight() == 0;
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
        match self.calls() {
            Some(calls) => calls.submit(io),
            None => self.ring.submit(io),
        }
    }

    #[inline(always)]
    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        self.reported_calls = self.by_calls;
        if self.changeover.orders().leave(self.by_calls) {
            return self.await_current(until_ns, finished);
        }
        self.watched_wait(until_ns, finished)
    }

    #[inline(always)]
    fn turn<T: Taker>(&mut self, until_ns: u64, done: &mut Vec<Done>, taker: &mut T) -> io::Result<()> {
        if !self.changeover.orders().leave(self.by_calls) {
            return watched_turn(self, until_ns, done, taker);
        }
        self.reported_calls = self.by_calls;
        match self.calls() {
            Some(calls) => calls.turn(until_ns, done, taker),
            None => self.ring.turn(until_ns, done, taker),
        }
    }

    #[inline(always)]
    fn stamps_batches(&self) -> bool {
        !self.reported_calls
    }

    #[inline(always)]
    fn handed_over_ns(&self) -> Option<u64> {
        if self.reported_calls { None } else { self.ring.handed_over_ns() }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        match &self.calls {
            Calls::Here(calls) if self.by_calls => calls.facts(),
            _ => self.ring.facts(),
        }
    }
}

impl Either<'_> {
    /// Waits while something changes, or is told.
    #[cold]
    fn watched_wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        let (before, orders) = (finished.len(), self.changeover.orders_at(self.now()));
        if orders.by_calls() != self.by_calls {
            self.change(finished)?;
        }
        if finished.len() == before {
            self.reported_calls = self.by_calls;
            self.await_current(until_ns, finished)?;
        }
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
