//! Counts and times the system calls that move bytes, and tells of them once in a while, since that costs whoever hears it.

use std::cell::RefCell;
use std::io;

use plimsoll_engine::histogram::{self, Histogram};

use crate::counters::monotonic_ns;
use crate::step::{Step, StepRecord};

/// How often what was moved is told, where nobody says.
const TOLD_EVERY_NS: u64 = 1_000_000_000;

/// Calls of one direction since they were told of the last time.
#[derive(Debug)]
pub struct Moved {
    /// What they moved.
    pub bytes: u64,
    /// Their times, added up.
    pub sum_ns: u64,
    /// Their times.
    pub latency: Histogram,
}

impl Moved {
    fn none() -> Self {
        Self { bytes: 0, sum_ns: 0, latency: histogram::empty() }
    }

    fn clear(&mut self) {
        self.bytes = 0;
        self.sum_ns = 0;
        self.latency.reset();
    }
}

/// Hears what a workflow does.
pub trait Listener {
    /// Reads and writes since the last time.
    fn moved(&mut self, read: &Moved, written: &Moved);

    /// A step begins; nanoseconds of CLOCK_MONOTONIC.
    fn began(&mut self, _step: Step, _at_ns: u64) {}

    /// A step has ended, well or not.
    fn ended(&mut self, _record: &StepRecord) {}
}

/// Nobody hears.
#[derive(Debug, Default)]
pub struct Silent;

impl Listener for Silent {
    fn moved(&mut self, _read: &Moved, _written: &Moved) {}
}

/// Shared by all files of a workflow.
pub struct Meter<'a>(RefCell<State<'a>>);

struct State<'a> {
    read: Moved,
    written: Moved,
    /// Since the beginning, read and written.
    totals: (u64, u64),
    told_ns: u64,
    told_every_ns: u64,
    listener: &'a mut dyn Listener,
}

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From a file.
    Read,
    /// To a file.
    Write,
}

impl<'a> Meter<'a> {
    /// One that tells `listener` once a second.
    pub fn new(listener: &'a mut dyn Listener) -> Self {
        Self::telling(listener, TOLD_EVERY_NS)
    }

    /// One that tells `listener` so often.
    pub fn telling(listener: &'a mut dyn Listener, told_every_ns: u64) -> Self {
        let (read, written) = (Moved::none(), Moved::none());
        Self(RefCell::new(State { read, written, totals: (0, 0), told_ns: 0, told_every_ns, listener }))
    }

    /// Bytes read and written since the beginning.
    pub fn totals(&self) -> (u64, u64) {
        self.0.borrow().totals
    }

    /// Tells that a step begins.
    pub fn began(&self, step: Step, at_ns: u64) {
        self.0.borrow_mut().listener.began(step, at_ns);
    }

    /// Tells that a step has ended, and before it what it moved.
    pub fn ended(&self, record: &StepRecord) {
        let mut state = self.0.borrow_mut();
        state.tell(monotonic_ns());
        state.listener.ended(record);
    }

    /// Makes a call, times it and counts the bytes that it says it moved; one that is interrupted is made again.
    pub fn call(&self, way: Way, mut call: impl FnMut() -> isize) -> io::Result<usize> {
        loop {
            let begun_ns = monotonic_ns();
            let moved = call();
            let ended_ns = monotonic_ns();
            if moved >= 0 {
                self.0.borrow_mut().record(way, moved as u64, begun_ns, ended_ns);
                return Ok(moved as usize);
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

impl State<'_> {
    fn record(&mut self, way: Way, bytes: u64, begun_ns: u64, ended_ns: u64) {
        let taken_ns = ended_ns - begun_ns;
        let (moved, total) = match way {
            Way::Read => (&mut self.read, &mut self.totals.0),
            Way::Write => (&mut self.written, &mut self.totals.1),
        };
        moved.bytes += bytes;
        moved.sum_ns += taken_ns;
        moved.latency.saturating_record(taken_ns.max(1));
        *total += bytes;
        if ended_ns >= self.told_ns + self.told_every_ns {
            self.tell(ended_ns);
        }
    }

    fn tell(&mut self, now_ns: u64) {
        self.told_ns = now_ns;
        if self.read.latency.is_empty() && self.written.latency.is_empty() {
            return;
        }
        self.listener.moved(&self.read, &self.written);
        self.read.clear();
        self.written.clear();
    }
}
