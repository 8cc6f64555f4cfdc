//! The stopwatch of one thread: begins and ends calls, and hands them in at its desk.

use plimsoll_workload::files::FileOp;

use super::calls::Errno;
use super::desk::{Call, Desk};
use crate::clock::Clock;

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch<'a> {
    pub(crate) clock: Clock,
    pub(crate) desk: &'a Desk,
    pub(crate) seat: usize,
    pub(crate) stream: usize,
}

/// A call under way.
#[derive(Clone, Copy)]
pub(crate) struct Under {
    op: FileOp,
    intended_ns: u64,
    submitted_ns: u64,
}

impl Under {
    pub(crate) const fn op(&self) -> FileOp {
        self.op
    }

    pub(crate) const fn submitted_ns(&self) -> u64 {
        self.submitted_ns
    }
}

impl Stopwatch<'_> {
    /// A call begins now; `due_ns` is when it was to begin, if it was due at an instant of its own.
    pub(crate) fn begin(&self, op: FileOp, due_ns: Option<u64>) -> Under {
        let submitted_ns = self.clock.now();
        let intended_ns = due_ns.unwrap_or(submitted_ns).min(submitted_ns);
        self.desk.seat(self.seat).begin(self.stream, op, intended_ns, submitted_ns);
        Under { op, intended_ns, submitted_ns }
    }

    /// It has succeeded.
    pub(crate) fn succeed(&self, under: Under, bytes: u64) {
        self.desk.record(self.seat, &self.call(under), bytes);
    }

    /// It has failed.
    pub(crate) fn fail(&self, under: Under, errno: Errno) {
        self.desk.fail(self.seat, &self.call(under), errno);
    }

    /// It was given up, and counts as neither.
    pub(crate) fn withdraw(&self) {
        self.desk.seat(self.seat).withdraw();
    }

    fn call(&self, under: Under) -> Call {
        Call {
            stream: self.stream,
            op: under.op,
            intended_ns: under.intended_ns,
            submitted_ns: under.submitted_ns,
            completed_ns: self.clock.now(),
        }
    }
}
