//! When requests are due: the intended instants of an open stream and the think times of a closed one.
//!
//! Model: a stream offers one process of requests; its threads are shards of it.
//!
//! - *Constant* and *burst*: request g of the stream is due at `floor(g / size) · size / rate` (size 1 = constant);
//!   thread k of n takes the requests k, k + n, k + 2n, … Instants stay exact to the nanosecond, rounded down,
//!   however long the run.
//! - *Poisson* and *schedule*: each thread is an independent Poisson process of rate / n; together they are one of the
//!   full rate. A schedule is inverted exactly: a unit-exponential amount of expected requests is spent along the
//!   integrated rate, across as many steps as it takes (Çinlar 1975, ch. 4), so nothing is thinned out.
//!
//! Units: nanoseconds from the job's start; `u64::MAX` = never again. Logarithms come from `libm`, so that equal seeds
//! give equal instants on every machine.
//!
//! ```
//! use plimsoll_workload::{Arrivals, TargetShape, Workload};
//! # use serde_json::json;
//! # let file = json!({ "stream": [{ "name": "oltp", "block_size": "8KiB", "read_percent": 70, "arrival": "constant", "rate": 1000 }] });
//! # let workload = Workload::from_json(&file, "oltp.toml").unwrap();
//! # let plans = workload.resolve(TargetShape { size_bytes: 1 << 30, block_bytes: 512 }, 1).unwrap();
//! let plan = &plans[0]; // of a resolved workload
//! let mut arrivals = Arrivals::new(plan, 0);
//! assert_eq!([0, 1_000_000, 2_000_000], [(); 3].map(|()| arrivals.next_ns()));
//! ```

mod elapsed;
mod pace;
mod think;

use std::ops::Range;

use elapsed::Elapsed;
use pace::{Pace, Step};
pub use think::Thinker;

use crate::plan::{ArrivalPlan, OpenPlan, StreamPlan};
use crate::rng::{Draws, Purpose, unit};

const NS_PER_S: f64 = 1e9;

/// A unit-exponential number from a draw.
#[inline]
fn exponential(draw: u64) -> f64 {
    -libm::log(unit(draw))
}

/// What decides when the requests of a stream are due.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The process.
    pub arrival: &'a ArrivalPlan,
    /// The threads that share it.
    pub threads: u32,
    /// When it begins, in nanoseconds from the job's start.
    pub start_ns: u64,
    /// Seed of the stream.
    pub seed: u64,
}

impl<'a> From<&'a StreamPlan> for Offer<'a> {
    fn from(plan: &'a StreamPlan) -> Self {
        Self { arrival: &plan.arrival, threads: plan.threads, start_ns: plan.start_ns, seed: plan.seed }
    }
}

/// The intended instants of one thread.
#[derive(Clone, Debug)]
pub struct Arrivals {
    process: Process,
    /// When the process begins.
    start_ns: u64,
    /// Requests of this thread per nanosecond; a schedule has steps in place of it.
    per_ns: f64,
}

#[derive(Clone, Debug)]
enum Process {
    Groups(Groups),
    Poisson { now: Elapsed, mean_gap_ns: f64, draws: Draws, index: u64 },
    Schedule(Schedule),
    Never,
}

impl Arrivals {
    /// The instants of thread `shard`; a closed stream has none.
    pub fn new<'a>(offer: impl Into<Offer<'a>>, shard: u32) -> Self {
        let plan = offer.into();
        let ArrivalPlan::Open(open) = plan.arrival else {
            return Self { process: Process::Never, start_ns: 0, per_ns: 0.0 };
        };
        let threads = plan.threads.max(1);
        let per_ns = match open {
            OpenPlan::Constant { rate_per_s }
            | OpenPlan::Burst { rate_per_s, .. }
            | OpenPlan::Poisson { rate_per_s } => rate_per_s / NS_PER_S / f64::from(threads),
            OpenPlan::Schedule(_) | OpenPlan::Recorded => 0.0,
        };
        let draws = Draws::new(plan.seed, &[Purpose::Arrival as u64, u64::from(shard)]);
        let process = match open {
            OpenPlan::Constant { rate_per_s } => Process::Groups(Groups::new(*rate_per_s, 1, shard, threads)),
            OpenPlan::Burst { rate_per_s, size } => Process::Groups(Groups::new(*rate_per_s, *size, shard, threads)),
            OpenPlan::Poisson { rate_per_s } => {
                let mean_gap_ns = f64::from(threads) / rate_per_s * NS_PER_S;
                Process::Poisson { now: Elapsed::default(), mean_gap_ns, draws, index: 0 }
            }
            OpenPlan::Schedule(steps) => Process::Schedule(Schedule::new(steps, threads, draws)),
            // Whoever reads the trace knows its instants.
            OpenPlan::Recorded => Process::Never,
        };
        Self { process, start_ns: plan.start_ns, per_ns }
    }

    /// How many instants of this thread to expect in a span of time, without drawing them.
    pub fn expected(&self, span_ns: Range<u64>) -> f64 {
        let (from_ns, until_ns) =
            (span_ns.start.saturating_sub(self.start_ns), span_ns.end.saturating_sub(self.start_ns));
        let Process::Schedule(schedule) = &self.process else {
            return self.per_ns * (until_ns - from_ns.min(until_ns)) as f64;
        };
        let ends = schedule.steps.iter().skip(1).map(|step| step.0).chain([u64::MAX]);
        let steps = schedule.steps.iter().zip(ends);
        steps
            .map(|(&(at_ns, per_ns), end_ns)| per_ns * end_ns.min(until_ns).saturating_sub(at_ns.max(from_ns)) as f64)
            .sum()
    }

    /// The next intended instant in nanoseconds from the job's start, never before the last; `u64::MAX` = never.
    #[inline]
    pub fn next_ns(&mut self) -> u64 {
        let due_ns = match &mut self.process {
            Process::Groups(groups) => groups.next_ns(),
            Process::Poisson { now, mean_gap_ns, draws, index } => {
                now.advance(exponential(draws.at(*index)) * *mean_gap_ns);
                *index += 1;
                now.ns()
            }
            Process::Schedule(schedule) => schedule.next_ns(),
            Process::Never => u64::MAX,
        };
        due_ns.saturating_add(self.start_ns)
    }
}

/// Every n-th request of equally spaced groups.
#[derive(Clone, Debug)]
struct Groups {
    pace: Pace,
    size: u64,
    /// The next request's place in its group.
    place: u64,
    /// How far a thread's next request is: whole groups, and places in the group.
    whole: Step,
    places: u64,
    /// One group more, when the places overflow.
    one: Step,
}

impl Groups {
    fn new(rate_per_s: f64, size: u32, shard: u32, threads: u32) -> Self {
        let (size, shard, threads) = (u64::from(size.max(1)), u64::from(shard), u64::from(threads));
        let mut pace = Pace::new(rate_per_s);
        pace.advance(pace.step(shard / size * size));
        let whole = pace.step(threads / size * size);
        let one = pace.step(size);
        Self { pace, size, place: shard % size, whole, places: threads % size, one }
    }

    #[inline]
    fn next_ns(&mut self) -> u64 {
        let now_ns = self.pace.now_ns();
        self.pace.advance(self.whole);
        self.place += self.places;
        if self.place >= self.size {
            self.place -= self.size;
            self.pace.advance(self.one);
        }
        now_ns
    }
}

/// A Poisson process whose rate is a step function of time.
#[derive(Clone, Debug)]
struct Schedule {
    /// (from ns, expected requests of this thread per ns), ascending.
    steps: Box<[(u64, f64)]>,
    current: usize,
    now: Elapsed,
    draws: Draws,
    index: u64,
}

impl Schedule {
    fn new(steps: &[(u64, f64)], threads: u32, draws: Draws) -> Self {
        assert!(steps.is_sorted_by_key(|step| step.0), "a schedule ascends in time");
        let per_ns = |rate_per_s: f64| rate_per_s / NS_PER_S / f64::from(threads);
        let mut steps: Vec<(u64, f64)> = steps.iter().map(|&(from, rate)| (from, per_ns(rate))).collect();
        if steps.first().is_none_or(|first| first.0 > 0) {
            steps.insert(0, (0, 0.0));
        }
        Self { steps: steps.into_boxed_slice(), current: 0, now: Elapsed::default(), draws, index: 0 }
    }

    #[inline]
    fn next_ns(&mut self) -> u64 {
        let mut due = exponential(self.draws.at(self.index));
        self.index += 1;
        loop {
            let rate = self.steps[self.current].1;
            let Some(&(until, _)) = self.steps.get(self.current + 1) else {
                // No division by a rate of zero: 0 forever means never.
                self.now.advance(if rate > 0.0 { due / rate } else { f64::INFINITY });
                return self.now.ns();
            };
            let expected = self.now.until(until).max(0.0) * rate;
            if due < expected {
                self.now.advance(due / rate);
                return self.now.ns();
            }
            due -= expected;
            self.now = Elapsed::at(until.max(self.now.ns()));
            self.current += 1;
        }
    }
}
