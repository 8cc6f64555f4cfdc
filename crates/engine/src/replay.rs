//! Replaying: the requests of a stream's trace, in their order, and what became of them.
//!
//! Model: the compact file (`plimsoll_workload::trace`) is read in slices of 64 KiB, with the next megabyte announced to the
//! kernel, so memory does not grow with the trace and no request allocates. A [`Replay`] belongs to one lane and looks one
//! record ahead, because a lane has to know when its next request is due. What became of each request goes into a
//! [`Fidelity`] and, if it was asked for, into the request log.
//!
//! Limits: a file that shrinks while it is read ends the stream, and the run says so.

mod fidelity;
mod gaps;
pub(crate) mod log;
mod reader;

use std::io;

pub use fidelity::Fidelity;
pub use log::Logged;
use log::{LogLine, Row};
use plimsoll_workload::trace::{Change, TracePlan, TraceRecord};
use plimsoll_workload::{Op, Request, StreamPlan, TraceHeader};
use reader::TraceReader;
pub(crate) use reader::read_header;

/// Which request of the trace a slot carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// Its number from 0 on; [`Mark::NONE`] for requests that the trace does not have.
    pub(crate) number: u64,
    /// How long after the request ahead of it it is due.
    gap_ns: u64,
}

impl Mark {
    pub(crate) const NONE: Self = Self { number: u64::MAX, gap_ns: 0 };

    pub(crate) const fn is_recorded(self) -> bool {
        self.number != u64::MAX
    }
}

/// The instants of a finished request, on the backend's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instants {
    pub(crate) intended_ns: u64,
    /// Since when there was a slot for it.
    pub(crate) ready_ns: u64,
    pub(crate) submitted_ns: u64,
    pub(crate) completed_ns: u64,
}

/// A request that has come back.
pub(crate) struct Ended<'a> {
    pub(crate) mark: Mark,
    pub(crate) request: &'a Request,
    pub(crate) instants: Instants,
    /// The negated errno, if it failed.
    pub(crate) failed: Option<i32>,
    /// The job's start, on the backend's clock.
    pub(crate) origin_ns: u64,
}

/// See the module.
pub(crate) struct Replay {
    reader: TraceReader,
    plan: TracePlan,
    start_ns: u64,
    /// The next record that is not left out.
    next: Option<TraceRecord>,
    due_ns: u64,
    last_due_ns: u64,
    drawn: u64,
    mark: Mark,
    failure: Option<io::Error>,
    fidelity: Box<Fidelity>,
    log: Option<LogLine>,
}

impl Replay {
    /// The replay of a stream that has a trace.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn new(plan: &StreamPlan, trace: &TracePlan, log: Option<LogLine>) -> io::Result<Self> {
        let mut replay = Self {
            reader: TraceReader::open(&trace.path)?,
            plan: trace.clone(),
            start_ns: plan.start_ns,
            next: None,
            due_ns: 0,
            last_due_ns: plan.start_ns,
            drawn: 0,
            mark: Mark::NONE,
            failure: None,
            fidelity: Box::new(Fidelity::new(plan.queue_depth)),
            log,
        };
        replay.look_ahead();
        replay.failure.take().map_or(Ok(replay), Err)
    }

    /// Whether requests follow completions in place of the recorded instants.
    pub(crate) const fn is_fast(&self) -> bool {
        self.plan.speed.is_none()
    }

    /// When the next request is due, from the job's start; never again at the end of the trace.
    #[inline]
    pub(crate) const fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// The next request; `None` at the end of the trace.
    #[inline]
    pub(crate) fn draw(&mut self) -> Option<Request> {
        let record = self.next?;
        let (request, change) = self.plan.remap.place(&record);
        self.fidelity.changed(change);
        self.step();
        Some(request)
    }

    /// Passes over the next request if it was due before `end_ns` and never issued: its operation, and when it was due.
    pub(crate) fn pass_over(&mut self, end_ns: u64) -> Option<(Op, u64)> {
        let due_ns = self.due_ns;
        let record = self.next.filter(|_| due_ns < end_ns)?;
        self.step();
        Some((record.op, due_ns))
    }

    /// The mark of the request drawn last. Whoever draws something else in between takes none.
    pub(crate) const fn mark(&mut self) -> Mark {
        std::mem::replace(&mut self.mark, Mark::NONE)
    }

    fn step(&mut self) {
        self.mark = Mark { number: self.drawn, gap_ns: self.due_ns - self.last_due_ns };
        self.last_due_ns = self.due_ns;
        self.drawn += 1;
        self.look_ahead();
    }

    fn look_ahead(&mut self) {
        self.next = loop {
            match self.reader.next() {
                Ok(Some(record)) if self.plan.skips[record.op as usize] => {}
                Ok(Some(record)) if self.plan.header.ops[record.op as usize] == 0 => {
                    let sentence = "its header counts other requests than it has; convert the trace again";
                    self.failure = Some(io::Error::new(io::ErrorKind::InvalidData, sentence));
                    break None;
                }
                Ok(found) => break found,
                Err(failure) => {
                    self.failure = Some(failure);
                    break None;
                }
            }
        };
        let due_ns = |record: &TraceRecord| self.plan.due_ns(record).saturating_add(self.start_ns);
        self.due_ns = self.next.as_ref().map_or(u64::MAX, |record| due_ns(record).max(self.last_due_ns));
    }

    /// A request of the trace has come back, or failed.
    pub(crate) fn finished(&mut self, ended: &Ended<'_>) {
        let Ended { mark, instants, failed, origin_ns, .. } = *ended;
        let timed = !self.is_fast();
        if failed.is_none() {
            self.fidelity.completed(mark.number, timed.then_some(mark.gap_ns), instants);
        } else {
            self.fidelity.failed += 1;
        }
        if let Some(log) = &mut self.log {
            let Request { offset, len, op, .. } = *ended.request;
            log.add(Row {
                stream: 0,
                number: mark.number,
                due_ns: timed.then(|| instants.intended_ns.saturating_sub(origin_ns)),
                submitted_ns: instants.submitted_ns.saturating_sub(origin_ns),
                completed_ns: instants.completed_ns.saturating_sub(origin_ns),
                op,
                offset,
                len,
                errno: failed.map(|errno| -errno),
            });
        }
    }

    /// What is known at the end.
    pub(crate) fn into_report(self, stream: &str) -> ReplayReport {
        ReplayReport {
            stream: stream.to_owned(),
            speed: self.plan.speed,
            asked: self.plan.requests(),
            issued: self.drawn,
            fidelity: *self.fidelity,
            failure: self.failure.map(|failure| failure.to_string()),
            path: self.plan.path.clone(),
            header: std::sync::Arc::clone(&self.plan.header),
        }
    }
}

/// How faithfully a trace was replayed.
#[derive(Debug)]
pub struct ReplayReport {
    /// The stream's name.
    pub stream: String,
    /// Recorded over replayed time; `None` for as fast as possible.
    pub speed: Option<f64>,
    /// Requests of the trace.
    pub asked: u64,
    /// How many of them were drawn.
    pub issued: u64,
    /// What became of them.
    pub fidelity: Fidelity,
    /// Why the trace could not be read to its end.
    pub failure: Option<String>,
    /// The compact file.
    pub path: String,
    /// What is known of the trace.
    pub header: std::sync::Arc<TraceHeader>,
}

const _: () = assert!(Op::ALL.len() == 4, "headers count four operations");

/// What differs from the trace, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Requests that went to another address.
    pub moved: u64,
    /// Requests whose start or end was rounded.
    pub rounded: u64,
    /// Requests longer than their region.
    pub shortened: u64,
}

impl Changes {
    const fn add(&mut self, change: Change) {
        self.moved += change.moved as u64;
        self.rounded += change.rounded as u64;
        self.shortened += change.shortened as u64;
    }
}
