//! What one worker saw in one interval, and the rolling over to the next.
//!
//! Model: a [`Slice`] has one [`Cell`] per stream × operation and, for targets of several parts, one per part × operation.
//! The hot path adds to a cell: bytes, sum, histogram. At a boundary the slice is handed on whole and an empty one taken
//! up, so nothing is shared between workers and memory does not grow with the run.

use std::collections::BTreeMap;
use std::ops::Range;

use plimsoll_array::WriteCaches;
use plimsoll_workload::{Op, StreamPlan};

use crate::histogram::{self, Histogram};
use crate::outstanding::Outstanding;
use crate::timeline::{Phase, Timeline};

/// Lag from which a request counts as late, in nanoseconds.
pub const LATE_NS: u64 = 100_000;

/// What happened to one kind of request.
#[derive(Debug)]
pub struct Cell {
    /// Bytes transferred.
    pub bytes: u64,
    /// Sum of the latencies in nanoseconds, for an exact mean.
    pub latency_sum_ns: u64,
    /// Sum of the service times in nanoseconds.
    pub service_sum_ns: u64,
    /// Intended to completed.
    pub latency: Histogram,
    /// Submitted to completed; `None` for closed streams, where it is the same.
    pub service: Option<Histogram>,
    /// Failures by errno; [`SHORT`] for transfers that ended early.
    pub errors: BTreeMap<i32, u64>,
}

/// Stands for a short transfer among errnos.
pub const SHORT: i32 = 0;

impl Cell {
    pub(crate) fn new(open: bool) -> Self {
        Self {
            bytes: 0,
            latency_sum_ns: 0,
            service_sum_ns: 0,
            latency: histogram::empty(),
            service: open.then(histogram::empty),
            errors: BTreeMap::new(),
        }
    }

    #[inline(always)]
    pub(crate) fn record(&mut self, len: u32, latency_ns: u64, service_ns: u64) {
        self.bytes += u64::from(len);
        self.latency_sum_ns += latency_ns;
        self.latency.saturating_record(latency_ns);
        if let Some(service) = &mut self.service {
            self.service_sum_ns += service_ns;
            service.saturating_record(service_ns);
        }
    }

    /// Records so many requests of one latency, which is their service time, too: those of a closed stream.
    #[inline(always)]
    pub(crate) fn record_alike(&mut self, count: u64, bytes: u64, service_ns: u64) {
        self.bytes += bytes;
        self.latency_sum_ns += count * service_ns;
        self.latency.saturating_record_n(service_ns, count);
    }

    pub(crate) fn fail(&mut self, errno: i32) {
        *self.errors.entry(errno).or_default() += 1;
    }

    /// Requests that succeeded.
    pub fn count(&self) -> u64 {
        self.latency.len()
    }

    /// Requests that failed.
    pub fn failures(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.latency.is_empty() && self.errors.is_empty()
    }

    /// Adds what another worker saw.
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.latency_sum_ns += other.latency_sum_ns;
        self.service_sum_ns += other.service_sum_ns;
        self.latency.add(&other.latency);
        if let (Some(service), Some(more)) = (&mut self.service, &other.service) {
            service.add(more);
        }
        for (&errno, &times) in &other.errors {
            *self.errors.entry(errno).or_default() += times;
        }
    }

    fn clear(&mut self) {
        (self.bytes, self.latency_sum_ns, self.service_sum_ns) = (0, 0, 0);
        self.latency.reset();
        if let Some(service) = &mut self.service {
            service.reset();
        }
        self.errors.clear();
    }
}

/// One worker's share of one interval.
#[derive(Debug)]
pub struct Slice {
    /// Number of the interval.
    pub index: u64,
    /// Its first instant, in nanoseconds from the job's start.
    pub start_ns: u64,
    /// First instant after it.
    pub end_ns: u64,
    /// By stream × operations + operation; `None` where the operation cannot occur.
    pub cells: Vec<Option<Cell>>,
    /// By part × 4 + operation; empty for targets that are not recorded by part.
    pub parts: Vec<Option<Cell>>,
    /// Requests outstanding × nanoseconds.
    pub in_flight_area: u64,
    /// For how long what was in flight at the interval's end had been so, summed up, in nanoseconds.
    pub in_flight_age_ns: u64,
    /// What the write caches of a modelled array held at the interval's end.
    pub write_caches: Option<WriteCaches>,
    /// Submitted minus due, of requests of open streams that had a free slot.
    pub lag: Option<Histogram>,
    /// How many of them exceeded [`LATE_NS`].
    pub late: u64,
    /// How long the oldest due request had been waiting to be issued at the interval's end, in nanoseconds.
    pub behind_ns: u64,
    /// What was outstanding at the interval's end; of the drain, what never had an answer.
    pub outstanding: Outstanding,
}

/// The most parts of a target that are recorded one by one. Each takes about 300 KiB of histograms per worker, and nobody
/// reads a thousand of them: more parts than these are files of one load, and what they do together is what is asked.
pub const PARTS_RECORDED_MAX: usize = 256;

/// Whether a target of so many parts is recorded part by part.
pub const fn is_recorded_by_part(parts: usize) -> bool {
    parts > 1 && parts <= PARTS_RECORDED_MAX
}

impl Slice {
    /// An empty slice for these streams on a target of `parts` parts.
    pub fn new(plans: &[StreamPlan], parts: usize) -> Self {
        let open = plans.iter().any(|plan| plan.arrival.is_open());
        let cells = plans
            .iter()
            .flat_map(|plan| Op::ALL.map(|op| plan.issues(op).then(|| Cell::new(plan.arrival.is_open()))))
            .collect();
        let occurs = |op| plans.iter().any(|plan| plan.issues(op));
        let part_cells = if is_recorded_by_part(parts) {
            (0..parts).flat_map(|_| Op::ALL.map(|op| occurs(op).then(|| Cell::new(false)))).collect()
        } else {
            Vec::new()
        };
        Self { parts: part_cells, ..Self::of(cells, open) }
    }

    /// An empty slice of these cells; `open` if some stream has due times of its own.
    pub(crate) fn of(cells: Vec<Option<Cell>>, open: bool) -> Self {
        Self {
            index: 0,
            start_ns: 0,
            end_ns: 0,
            cells,
            parts: Vec::new(),
            in_flight_area: 0,
            in_flight_age_ns: 0,
            write_caches: None,
            lag: open.then(histogram::empty),
            late: 0,
            behind_ns: 0,
            outstanding: Outstanding::NONE,
        }
    }

    /// Empties it for another interval.
    pub fn clear(&mut self) {
        self.cells.iter_mut().chain(&mut self.parts).flatten().for_each(Cell::clear);
        if let Some(lag) = &mut self.lag {
            lag.reset();
        }
        (self.in_flight_area, self.in_flight_age_ns, self.late, self.behind_ns) = (0, 0, 0, 0);
        self.write_caches = None;
        self.outstanding.clear();
    }

    /// Adds another worker's share of the same interval.
    pub fn merge(&mut self, other: &Self) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.in_flight_area += other.in_flight_area;
        self.in_flight_age_ns += other.in_flight_age_ns;
        self.write_caches = self.write_caches.or(other.write_caches);
        self.late += other.late;
        self.behind_ns = self.behind_ns.max(other.behind_ns);
        self.outstanding.merge(&other.outstanding);
        for (mine, theirs) in self.cells.iter_mut().chain(&mut self.parts).zip(other.cells.iter().chain(&other.parts)) {
            if let (Some(mine), Some(theirs)) = (mine, theirs) {
                mine.merge(theirs);
            }
        }
        if let (Some(mine), Some(theirs)) = (&mut self.lag, &other.lag) {
            mine.add(theirs);
        }
    }
}

/// Where a worker hands its slices, and takes empty ones from.
pub(crate) trait Outlet {
    /// Hands on a full slice and returns an empty one.
    fn exchange(&mut self, full: Slice) -> Slice;
}

/// How many requests were outstanding since the recorder was last told.
#[derive(Clone, Copy)]
pub(crate) struct InFlight {
    /// From the hand-over on.
    pub(crate) all: u64,
    /// Before it.
    pub(crate) older: u64,
    /// When the newer ones were handed over.
    pub(crate) handed_over_ns: u64,
}

/// Puts what a worker sees into the slice of the right interval.
pub(crate) struct Recorder<O> {
    pub(crate) slice: Slice,
    outlet: O,
    timeline: Timeline,
    /// The job's start on the backend's clock.
    origin_ns: u64,
    /// When the current interval began, on the backend's clock.
    begin_ns: u64,
    /// When the current interval ends, on the backend's clock.
    pub(crate) boundary_ns: u64,
    last_ns: u64,
}

impl<O: Outlet> Recorder<O> {
    pub(crate) fn new(slice: Slice, outlet: O, timeline: Timeline, origin_ns: u64) -> Self {
        let mut recorder = Self { slice, outlet, timeline, origin_ns, begin_ns: 0, boundary_ns: 0, last_ns: origin_ns };
        recorder.open(0);
        recorder
    }

    fn open(&mut self, index: u64) {
        self.slice.index = index;
        self.slice.start_ns = self.timeline.start_of(index);
        self.begin_ns = self.origin_ns + self.slice.start_ns;
        let end_ns = self.timeline.end_of(index);
        let drains = index >= self.timeline.intervals();
        self.boundary_ns = if drains { u64::MAX } else { self.origin_ns + end_ns };
        self.slice.end_ns = end_ns;
    }

    /// Hands on every interval that has ended at `now_ns`, with the requests that were outstanding in it; `look` enters what waits at the
    /// end of one.
    #[cold]
    pub(crate) fn close_until(&mut self, now_ns: u64, load: InFlight, look: impl Fn(u64, &mut Slice)) {
        while now_ns >= self.boundary_ns {
            self.add_area(self.boundary_ns, load);
            look(self.boundary_ns, &mut self.slice);
            let next = self.slice.index + 1;
            self.hand_on();
            self.open(next);
        }
    }

    /// Accounts for the requests that were outstanding until `until_ns`, in an interval that has not ended by then. Until the hand-over
    /// only the older ones were; the time until then is Plimsoll's own.
    #[inline(always)]
    pub(crate) fn add_area(&mut self, until_ns: u64, load: InFlight) {
        if until_ns > self.last_ns {
            let handed_over_ns = load.handed_over_ns.clamp(self.last_ns, until_ns);
            self.slice.in_flight_area +=
                load.older * (handed_over_ns - self.last_ns) + load.all * (until_ns - handed_over_ns);
            self.last_ns = until_ns;
        }
    }

    /// The instant until which outstanding requests are accounted for.
    #[inline(always)]
    pub(crate) const fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// A request counts as outstanding from the turn that issued it, at `issued_ns`, to the one that sees its end, which is the last
    /// that was accounted for. Takes back what of this was before or after its `service`, as far as it is in the interval.
    #[inline(always)]
    pub(crate) fn take_back(&mut self, issued_ns: u64, service: Range<u64>) {
        let begin_ns = self.begin_ns;
        let own_ns = |span: Range<u64>| span.end.saturating_sub(span.start.max(begin_ns));
        let own_ns = own_ns(issued_ns..service.start) + own_ns(service.end..self.last_ns);
        debug_assert!(service.end <= self.last_ns && own_ns <= self.slice.in_flight_area, "more than was counted");
        self.slice.in_flight_area -= own_ns;
    }

    /// When the current interval began.
    #[inline(always)]
    pub(crate) const fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Whether the current interval is of the warm-up.
    pub(crate) fn warms_up(&self) -> bool {
        self.timeline.phase_of(self.slice.index) == Phase::Warmup
    }

    fn hand_on(&mut self) {
        let full = std::mem::replace(&mut self.slice, BLANK);
        self.slice = self.outlet.exchange(full);
    }

    /// Ends the current interval early, at `now_ns`, and opens the drain; `look` enters what waits then.
    pub(crate) fn cut(&mut self, now_ns: u64, look: impl Fn(&mut Slice)) {
        if self.slice.index < self.timeline.intervals() {
            // Completions of a pool of threads are not in order: this one may be from before the interval's start.
            let now_ns = now_ns.max(self.last_ns);
            self.slice.end_ns = now_ns - self.origin_ns;
            look(&mut self.slice);
            self.hand_on();
            self.open(self.timeline.intervals());
            self.slice.start_ns = now_ns - self.origin_ns;
            self.begin_ns = now_ns;
        }
    }

    /// Hands on the last slice.
    pub(crate) fn finish(mut self, now_ns: u64) -> O {
        self.slice.end_ns = now_ns.saturating_sub(self.origin_ns).max(self.slice.start_ns);
        self.hand_on();
        self.outlet
    }
}

/// Stands in for a slice that has been handed on.
pub(crate) const BLANK: Slice = Slice {
    index: 0,
    start_ns: 0,
    end_ns: 0,
    cells: Vec::new(),
    parts: Vec::new(),
    in_flight_area: 0,
    in_flight_age_ns: 0,
    write_caches: None,
    lag: None,
    late: 0,
    behind_ns: 0,
    outstanding: Outstanding::NONE,
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Kept(Vec<Slice>);

    impl Outlet for Kept {
        fn exchange(&mut self, full: Slice) -> Slice {
            self.0.push(full);
            Slice::of(Vec::new(), false)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        /// A backend whose threads overtake each other: in each turn some come back, perhaps from before the last turn.
        #[test]
        fn requests_are_in_flight_for_exactly_their_service_however_late_that_is_seen(
            turns in prop::collection::vec(prop::collection::vec((any::<prop::sample::Index>(), 0u64..50, 0u64..50), 0..4), 1..60),
        ) {
            let origin_ns = 1_000;
            let timeline = Timeline { warmup_ns: 0, duration_ns: 1 << 40, interval_ns: 1 << 40 };
            let mut recorder = Recorder::new(Slice::of(Vec::new(), false), Kept(Vec::new()), timeline, origin_ns);
            let (mut outstanding, mut service_ns) = (vec![origin_ns; 4], 0);
            for turn in turns {
                let mut done: Vec<(u64, Range<u64>)> = turn.into_iter().map(|(which, before, service)| {
                    let issued_ns = outstanding.swap_remove(which.index(outstanding.len()));
                    (issued_ns, issued_ns + before..issued_ns + before + service)
                }).take(4).collect();
                done.sort_by_key(|(_, service)| service.end);
                let all = (outstanding.len() + done.len()) as u64;
                let now_ns = done.last().map_or(recorder.last_ns(), |(_, service)| service.end);
                recorder.add_area(now_ns, InFlight { all, older: all / 2, handed_over_ns: 0 });
                for (issued_ns, service) in done {
                    service_ns += service.end - service.start;
                    recorder.take_back(issued_ns, service);
                    outstanding.push(recorder.last_ns());
                }
            }
            let last_ns = recorder.last_ns();
            let still_ns: u64 = outstanding.iter().map(|issued_ns| last_ns - issued_ns).sum();
            prop_assert_eq!(recorder.finish(last_ns).0[0].in_flight_area, service_ns + still_ns);
        }
    }
}
