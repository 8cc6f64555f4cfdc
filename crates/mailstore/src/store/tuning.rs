//! Automatic tuning: how many threads a store may have before its pages take too long, found within one run.
//!
//! Model: a state machine that is told the mean latencies of reads and writes once a second, as the original's does. A cycle begins with
//! a number of threads. It is *transient* until the slope of the last 30 samples of reads is below 5 ms per sample; then it is *stable*, and 120
//! samples are averaged and held against the limit. Threads double until they are too many, and are then closed in on. A cycle that does not
//! become stable within ten minutes fails, and so does tuning that takes longer than an hour
//! (learn.microsoft.com/archive/blogs/hmlee, the tuning process).
//!
//! Limits: the original does not say by how much it changes its threads; doubling and halving is ours.

use std::collections::VecDeque;

use serde::Serialize;

use crate::plan::DatabasePlan;
use crate::store::Token;

/// A sample is taken every second.
pub(crate) const SAMPLE_NS: u64 = 1_000_000_000;
/// Samples that the slope is of.
const TRANSIENT_SAMPLES: usize = 30;
/// Samples that are averaged.
const STABLE_SAMPLES: u32 = 120;
/// The slope, in nanoseconds per sample, from which on latency is not stable.
const SLOPE_NS: f64 = 5e6;
const CYCLE_NS_MAX: u64 = 600 * SAMPLE_NS;
const ALL_NS_MAX: u64 = 3_600 * SAMPLE_NS;

/// What comes after a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The next sample.
    On,
    /// So many threads from now on.
    Threads(u32),
    /// Nothing more.
    Over,
}

/// A number of threads that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Cycle {
    threads: u32,
    read_ns: f64,
    write_ns: f64,
    /// Seconds until latency was stable.
    transient_s: u64,
    holds: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Tuning {
    limit_ns: f64,
    threads_max: u32,
    /// Threads of this cycle.
    pub(crate) threads: u32,
    /// The most that held, and the fewest that did not.
    held: u32,
    failed: Option<u32>,
    began_ns: u64,
    cycle_began_ns: u64,
    last: VecDeque<f64>,
    /// Samples of the stable part, and their sums; none while it is transient.
    stable: Option<(u32, f64, f64)>,
    transient_s: u64,
    cycles: Vec<Cycle>,
    failure: Option<String>,
    is_over: bool,
}

impl Tuning {
    pub(crate) fn new(limit_ns: u64, threads_max: u32) -> Self {
        Self {
            limit_ns: limit_ns as f64,
            threads_max,
            threads: 1,
            held: 0,
            failed: None,
            began_ns: 0,
            cycle_began_ns: 0,
            last: VecDeque::new(),
            stable: None,
            transient_s: 0,
            cycles: Vec::new(),
            failure: None,
            is_over: false,
        }
    }

    /// The first cycle begins.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        (self.began_ns, self.cycle_began_ns) = (now_ns, now_ns);
    }

    /// Takes the means of a second; one in which nothing came back has none, and does not count.
    pub(crate) fn sample(&mut self, now_ns: u64, read_ns: Option<f64>, write_ns: Option<f64>) -> Step {
        if now_ns - self.began_ns > ALL_NS_MAX {
            return self.fail("no number of threads was settled on within an hour");
        }
        let Some(read_ns) = read_ns else { return self.waited(now_ns) };
        if let Some((count, reads, writes)) = &mut self.stable {
            *count += 1;
            *reads += read_ns;
            *writes += write_ns.unwrap_or(0.0);
            if *count < STABLE_SAMPLES {
                return Step::On;
            }
            let (read_ns, write_ns) = (*reads / f64::from(*count), *writes / f64::from(*count));
            return self.judge(now_ns, read_ns, write_ns);
        }
        self.last.push_back(read_ns);
        if self.last.len() > TRANSIENT_SAMPLES {
            self.last.pop_front();
        }
        if self.last.len() == TRANSIENT_SAMPLES && slope(&self.last).abs() < SLOPE_NS {
            self.transient_s = (now_ns - self.cycle_began_ns) / SAMPLE_NS;
            self.stable = Some((0, 0.0, 0.0));
            return Step::On;
        }
        self.waited(now_ns)
    }

    fn waited(&mut self, now_ns: u64) -> Step {
        if now_ns - self.cycle_began_ns > CYCLE_NS_MAX {
            return self.fail("latency was not stable within ten minutes");
        }
        Step::On
    }

    fn fail(&mut self, why: &str) -> Step {
        self.failure = Some(format!("{why}, with {}", counted(self.threads)));
        self.is_over = true;
        Step::Over
    }

    /// A cycle is over: what it says of its threads, and which come next.
    fn judge(&mut self, now_ns: u64, read_ns: f64, write_ns: f64) -> Step {
        let holds = read_ns <= self.limit_ns && write_ns <= self.limit_ns;
        self.cycles.push(Cycle { threads: self.threads, read_ns, write_ns, transient_s: self.transient_s, holds });
        if holds {
            self.held = self.threads;
        } else {
            self.failed = Some(self.threads);
        }
        let next = self.failed.map_or((self.held * 2).min(self.threads_max), |failed| self.held.midpoint(failed));
        if next == self.held {
            if self.held == 0 {
                return self.fail("even that was too much");
            }
            self.is_over = true;
            return Step::Over;
        }
        (self.threads, self.cycle_began_ns, self.stable) = (next, now_ns, None);
        self.last.clear();
        Step::Threads(next)
    }

    /// What was found.
    pub(crate) fn report(&self) -> serde_json::Value {
        let failure =
            if self.is_over { self.failure.clone() } else { Some("the run ended before tuning did".to_owned()) };
        serde_json::json!({
            "threads": self.held,
            "threads_max": self.threads_max,
            "limit_ns": self.limit_ns,
            "failed_at": self.failed,
            "cycles": self.cycles,
            "failure": failure,
        })
    }
}

fn counted(threads: u32) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// What a store measures for its tuning: when pages were asked for, and how long those took that came back in this second.
#[derive(Debug)]
pub(crate) struct Tuned {
    pub(crate) tuning: Tuning,
    /// By frame, and by place of a write.
    reads_asked_ns: Vec<u64>,
    writes_asked_ns: Vec<u64>,
    /// How many came back, and their nanoseconds.
    reads: (u64, u64),
    writes: (u64, u64),
}

impl Tuned {
    pub(crate) fn new(plan: &DatabasePlan) -> Self {
        Self {
            tuning: Tuning::new(plan.tuning_limit_ns, plan.threads),
            reads_asked_ns: vec![0; plan.frames as usize],
            writes_asked_ns: vec![0; plan.writes_max as usize],
            reads: (0, 0),
            writes: (0, 0),
        }
    }

    pub(crate) fn asked(&mut self, token: Token, now_ns: u64) {
        match token {
            Token::Read(frame) => self.reads_asked_ns[frame as usize] = now_ns,
            Token::Write(place) => self.writes_asked_ns[place as usize] = now_ns,
            _ => {}
        }
    }

    pub(crate) fn answered(&mut self, token: Token, now_ns: u64) {
        let (sum, asked_ns) = match token {
            Token::Read(frame) => (&mut self.reads, self.reads_asked_ns[frame as usize]),
            Token::Write(place) => (&mut self.writes, self.writes_asked_ns[place as usize]),
            _ => return,
        };
        sum.0 += 1;
        sum.1 += now_ns - asked_ns;
    }

    /// A second is over.
    pub(crate) fn sample(&mut self, now_ns: u64) -> Step {
        let mean = |(count, sum_ns): (u64, u64)| (count > 0).then(|| sum_ns as f64 / count as f64);
        let (reads, writes) = (mean(std::mem::take(&mut self.reads)), mean(std::mem::take(&mut self.writes)));
        self.tuning.sample(now_ns, reads, writes)
    }
}

/// The slope of a line through the values, by least squares, per value.
fn slope(values: &VecDeque<f64>) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (mut above, mut below) = (0.0, 0.0);
    for (place, value) in values.iter().enumerate() {
        let from_middle = place as f64 - middle;
        above += from_middle * (value - mean);
        below += from_middle * from_middle;
    }
    above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    /// Lets tuning run against a store whose reads take so long with so many threads; what it ended with, and after how many seconds.
    fn tuned(threads_max: u32, read_ns: impl Fn(u32, u64) -> Option<f64>) -> (Tuning, u64) {
        let mut tuning = Tuning::new(20_000_000, threads_max);
        tuning.begin(0);
        let mut cycle_s = 0;
        for second in 1..10_000 {
            cycle_s += 1;
            match tuning.sample(second * SAMPLE_NS, read_ns(tuning.threads, cycle_s), Some(0.1 * MS)) {
                Step::On => {}
                Step::Threads(_) => cycle_s = 0,
                Step::Over => return (tuning, second),
            }
        }
        unreachable!("tuning ends within an hour")
    }

    #[test]
    fn threads_double_until_they_are_too_many_and_are_then_closed_in_on() {
        let (tuning, seconds) = tuned(1024, |threads, _| Some(f64::from(threads) * 1.4 * MS));
        let tried: Vec<u32> = tuning.cycles.iter().map(|cycle| cycle.threads).collect();
        // 14 threads take 19.6 ms.
        assert_eq!((tuning.held, tuning.failed, tuning.failure), (14, Some(15), None));
        assert_eq!(tried, [1, 2, 4, 8, 16, 12, 14, 15]);
        // Every cycle takes 30 samples until it is stable, and 120 more.
        assert_eq!(seconds, 8 * 150);
    }

    #[test]
    fn a_cycle_is_judged_by_what_comes_after_its_transient() {
        // Latency falls by 6 ms each second for the first 20 seconds of a cycle, from far above the limit.
        let falling =
            |_, second: u64| Some(if second < 20 { (10.0 + 6.0 * (20 - second) as f64) * MS } else { 10.0 * MS });
        let (tuning, seconds) = tuned(2, falling);
        assert_eq!((tuning.held, tuning.failed), (2, None));
        assert!(tuning.cycles.iter().all(|cycle| (cycle.read_ns / MS - 10.0).abs() < 0.01 && cycle.transient_s >= 30));
        assert!(seconds >= 300);
    }

    #[test]
    fn latency_that_never_becomes_stable_fails_the_cycle_after_ten_minutes() {
        let (tuning, seconds) = tuned(64, |_, second| Some(second as f64 * 6.0 * MS));
        assert_eq!(tuning.failure.as_deref(), Some("latency was not stable within ten minutes, with 1 thread"));
        assert_eq!(seconds, 601);
    }

    #[test]
    fn tuning_that_takes_longer_than_an_hour_fails() {
        // Every cycle takes nearly ten minutes to become stable.
        let slow = |_, second: u64| Some(if second < 560 { second as f64 * 6.0 * MS } else { 1.0 * MS });
        let (tuning, seconds) = tuned(1024, slow);
        assert!(
            tuning
                .failure
                .as_deref()
                .is_some_and(|said| said.starts_with("no number of threads was settled on within an hour"))
        );
        assert_eq!(seconds, 3_601);
    }

    #[test]
    fn tuning_that_a_run_cut_short_says_so_and_one_that_came_to_its_end_does_not() {
        let mut cut = Tuning::new(20_000_000, 64);
        cut.begin(0);
        for second in 1..=200 {
            let _ = cut.sample(second * SAMPLE_NS, Some(MS), None);
        }
        assert_eq!(
            (&cut.report()["failure"], &cut.report()["threads"]),
            (&"the run ended before tuning did".into(), &1.into())
        );
        let (whole, _) = tuned(4, |_, _| Some(MS));
        assert_eq!((&whole.report()["failure"], &whole.report()["threads"]), (&serde_json::Value::Null, &4.into()));
    }

    #[test]
    fn one_thread_that_is_too_many_is_told_and_so_is_a_write_that_is_too_slow() {
        let (tuning, _) = tuned(64, |_, _| Some(30.0 * MS));
        assert_eq!(tuning.failure.as_deref(), Some("even that was too much, with 1 thread"));
        let mut writes = Tuning::new(20_000_000, 64);
        writes.begin(0);
        let last = (1..=150).map(|second| writes.sample(second * SAMPLE_NS, Some(5.0 * MS), Some(25.0 * MS))).last();
        assert_eq!(last, Some(Step::Over));
        assert!(!writes.cycles[0].holds);
    }
}
