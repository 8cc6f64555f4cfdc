//! How faithfully a trace was replayed: lateness, gaps and outstanding requests, asked and achieved.
//!
//! Model: *lateness* is the time from when a request was due to its hand-over, whatever held it back; a request *waited*
//! when all slots of its stream were taken at that time, that is, the target was slower than the one recorded. Gaps are
//! between neighbours of the trace, so a request that overtakes another in the backend counts as 0 behind it. Everything
//! is counted over the whole run.

use super::gaps::Gaps;
use super::{Change, Changes, Instants};
use crate::histogram::{self, Histogram};

/// Limits of lateness that are counted, in nanoseconds.
pub const LATE_NS: [u64; 2] = [100_000, 1_000_000];

/// See the module.
#[derive(Debug)]
pub struct Fidelity {
    /// Due to handed over.
    pub lateness: Histogram,
    /// Requests that were later than each of [`LATE_NS`].
    pub late: [u64; 2],
    /// Requests that were later than a tenth of the gap ahead of them, and those that had such a gap.
    pub late_for_gap: (u64, u64),
    /// Requests for which there was no slot when they were due.
    pub waited: u64,
    /// Gaps between instants due.
    pub gaps_asked: Histogram,
    /// Gaps between hand-overs.
    pub gaps_left: Gaps,
    /// Completed requests.
    pub completed: u64,
    /// Failed ones.
    pub failed: u64,
    /// Sum of the times from hand-over to completion, in nanoseconds.
    pub service_sum_ns: u64,
    /// First hand-over, and last completion.
    pub course_ns: (u64, u64),
    /// What differs from the trace.
    pub changes: Changes,
}

impl Fidelity {
    pub(super) fn new(queue_depth: u32) -> Self {
        Self {
            lateness: histogram::empty(),
            late: [0; 2],
            late_for_gap: (0, 0),
            waited: 0,
            gaps_asked: histogram::empty(),
            gaps_left: Gaps::new(queue_depth),
            completed: 0,
            failed: 0,
            service_sum_ns: 0,
            course_ns: (u64::MAX, 0),
            changes: Changes::default(),
        }
    }

    #[inline]
    pub(super) const fn changed(&mut self, change: Change) {
        self.changes.add(change);
    }

    /// A request has come back; without a gap nothing was due at an instant of its own.
    pub(super) fn completed(&mut self, number: u64, gap_ns: Option<u64>, instants: Instants) {
        let Instants { intended_ns, ready_ns, submitted_ns, completed_ns } = instants;
        self.completed += 1;
        self.service_sum_ns += completed_ns - submitted_ns;
        self.course_ns = (self.course_ns.0.min(submitted_ns), self.course_ns.1.max(completed_ns));
        let Some(gap_ns) = gap_ns else { return };
        let lateness_ns = submitted_ns.saturating_sub(intended_ns);
        self.lateness.saturating_record(lateness_ns);
        for (count, limit_ns) in self.late.iter_mut().zip(LATE_NS) {
            *count += u64::from(lateness_ns > limit_ns);
        }
        if number > 0 {
            self.gaps_asked.saturating_record(gap_ns);
            self.late_for_gap.0 += u64::from(gap_ns > 0 && lateness_ns > gap_ns / 10);
            self.late_for_gap.1 += u64::from(gap_ns > 0);
        }
        self.waited += u64::from(ready_ns > intended_ns);
        self.gaps_left.take(number, submitted_ns);
    }

    /// Requests that were outstanding on average, from the first hand-over to the last completion.
    pub fn outstanding(&self) -> f64 {
        let (first_ns, last_ns) = self.course_ns;
        if last_ns > first_ns { self.service_sum_ns as f64 / (last_ns - first_ns) as f64 } else { 0.0 }
    }
}
