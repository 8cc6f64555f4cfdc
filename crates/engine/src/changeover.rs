//! Whether `auto` stays with the ring: decided in the warm-up, and only where the kernel hands the ring's requests to threads of its own.
//!
//! Model: the collecting thread sees such threads. It then counts what the ring completes for a while, has the workers go over to plain
//! system calls, and counts as long again. Calls stay if they completed at least [`GAIN`] times as much; of a load whose rate is given, if
//! the worker itself makes its calls and they took that much less time.
//!
//! Nothing that is measured is part of a trial: when the warm-up is over, workers take one that was not decided as never begun.
//!
//! Limits: it takes a warm-up of [`LEAST_NS`]. The time in which a thread of a pool wakes up counts for neither side, so a load of a
//! given rate with more than one request outstanding stays with the ring.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

/// How much better calls have to be, so that runs do not differ by chance.
const GAIN: f64 = 1.1;
/// From this part of the ring's rate on calls carry as much as it does.
const AS_MUCH: f64 = 0.97;
/// What has to be left of the warm-up for a trial.
const LEAST_NS: u64 = 200_000_000;
/// How long each side is counted at most; at least an eighth of [`LEAST_NS`].
const SHARE_MAX_NS: u64 = 250_000_000;

/// What workers are told, and tell.
#[derive(Debug, Default)]
pub(crate) struct Changeover {
    orders: AtomicU8,
    completed: AtomicU64,
    service_ns: AtomicU64,
    /// The instant at which the warm-up is over.
    warm_ns: AtomicU64,
    /// Whether a worker cannot make calls.
    refused: AtomicBool,
}

/// What the workers are to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Orders(u8);

impl Orders {
    const CALLS: u8 = 1;
    const TELL: u8 = 2;

    /// Whether requests go by plain system calls.
    #[inline(always)]
    pub(crate) const fn by_calls(self) -> bool {
        self.0 & Self::CALLS != 0
    }

    /// Whether what completes is counted.
    #[inline(always)]
    pub(crate) const fn tell(self) -> bool {
        self.0 & Self::TELL != 0
    }

    /// Whether a worker can go on as it did.
    #[inline(always)]
    pub(crate) const fn leave(self, by_calls: bool) -> bool {
        self.0 == by_calls as u8
    }
}

impl Changeover {
    /// What is to be done now.
    #[inline(always)]
    pub(crate) fn orders(&self) -> Orders {
        Orders(self.orders.load(Relaxed))
    }

    /// What is to be done at `now_ns`, where [`Orders::leave`] does not hold: a trial is over with the warm-up.
    pub(crate) fn orders_at(&self, now_ns: u64) -> Orders {
        match self.orders() {
            trial if trial.tell() && now_ns >= self.warm_ns.load(Relaxed) => Orders(0),
            orders => orders,
        }
    }

    /// Has workers go by plain system calls or by the ring, and tell what completes or not.
    pub(crate) fn order(&self, by_calls: bool, tell: bool) {
        let orders = u8::from(by_calls) * Orders::CALLS + u8::from(tell) * Orders::TELL;
        self.orders.store(orders, Relaxed);
    }

    /// So many requests of a worker have completed, which took so long together.
    pub(crate) fn tell(&self, completed: u64, service_ns: u64) {
        self.completed.fetch_add(completed, Relaxed);
        self.service_ns.fetch_add(service_ns, Relaxed);
    }

    /// A worker cannot make calls, so none is to.
    pub(crate) fn refuse(&self) {
        self.refused.store(true, Relaxed);
    }

    fn told(&self) -> Told {
        Told { completed: self.completed.load(Relaxed), service_ns: self.service_ns.load(Relaxed) }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    completed: u64,
    service_ns: u64,
}

/// What one side did.
#[derive(Clone, Copy, Debug)]
struct Pace {
    per_s: f64,
    service_ns: f64,
}

impl Pace {
    fn between(from: (u64, Told), to: (u64, Told)) -> Self {
        let completed = (to.1.completed - from.1.completed) as f64;
        Self {
            per_s: completed / (to.0 - from.0).max(1) as f64 * 1e9,
            service_ns: (to.1.service_ns - from.1.service_ns) as f64 / completed.max(1.0),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// No thread of the kernel was seen yet.
    Looks,
    CountsRing {
        since: (u64, Told),
    },
    /// What the ring had comes back.
    Settles {
        since_ns: u64,
        ring: Pace,
    },
    CountsCalls {
        since: (u64, Told),
        ring: Pace,
    },
    Over,
}

/// The collecting thread's side.
#[derive(Debug)]
pub(crate) struct Trial<'a> {
    changeover: &'a Changeover,
    warmup_ns: u64,
    /// Whether workers make their calls themselves.
    inline: bool,
    step: Step,
    share_ns: u64,
    ring_threads: usize,
    /// What came of it, in words.
    outcome: Option<String>,
}

impl<'a> Trial<'a> {
    /// One that has not begun, of a load that starts at `start_ns`; `inline` if workers make their calls themselves, because each has one
    /// request outstanding.
    pub(crate) fn new(changeover: &'a Changeover, (start_ns, warmup_ns): (u64, u64), inline: bool) -> Self {
        changeover.warm_ns.store(start_ns.saturating_add(warmup_ns), Relaxed);
        Self { changeover, warmup_ns, inline, step: Step::Looks, share_ns: 0, ring_threads: 0, outcome: None }
    }

    /// Whether it was decided that requests go by plain system calls.
    pub(crate) fn is_by_calls(&self) -> bool {
        let orders = self.changeover.orders();
        orders.by_calls() && !orders.tell()
    }

    /// What came of it, if there was a trial.
    pub(crate) fn into_outcome(self) -> Option<String> {
        self.outcome
    }

    /// Looks, `now_ns` after the start; `ring_threads` counts threads of the kernel that carry out the ring's requests.
    pub(crate) fn look(&mut self, now_ns: u64, ring_threads: impl FnOnce() -> usize) {
        let is_late = now_ns >= self.warmup_ns;
        let told = self.changeover.told();
        self.step = match self.step {
            Step::Over => return,
            Step::Looks if self.warmup_ns < now_ns + LEAST_NS => Step::Over,
            Step::Looks => {
                self.ring_threads = ring_threads();
                if self.ring_threads == 0 {
                    return;
                }
                self.share_ns = ((self.warmup_ns - now_ns) / 8).min(SHARE_MAX_NS);
                self.changeover.order(false, true);
                Step::CountsRing { since: (now_ns, told) }
            }
            Step::CountsRing { since } if !is_late && now_ns - since.0 >= self.share_ns => {
                self.changeover.order(true, true);
                Step::Settles { since_ns: now_ns, ring: Pace::between(since, (now_ns, told)) }
            }
            Step::Settles { since_ns, ring } if !is_late && now_ns - since_ns >= self.share_ns / 4 => {
                Step::CountsCalls { since: (now_ns, told), ring }
            }
            Step::CountsCalls { since, ring } if !is_late && now_ns - since.0 >= self.share_ns => {
                self.decide(now_ns, ring, Pace::between(since, (now_ns, told)));
                Step::Over
            }
            _ if is_late => {
                // The warm-up was over too soon, on a busy host: nothing was compared.
                self.changeover.order(false, false);
                Step::Over
            }
            step => step,
        };
    }

    fn decide(&mut self, now_ns: u64, ring: Pace, calls: Pace) {
        let faster = calls.per_s >= GAIN * ring.per_s;
        let sooner = self.inline && calls.per_s >= AS_MUCH * ring.per_s && calls.service_ns * GAIN <= ring.service_ns;
        let by_calls = (faster || sooner) && !self.changeover.refused.load(Relaxed);
        self.changeover.order(by_calls, false);
        let told = |pace: Pace| format!("{:.0}/s of {:.1} us", pace.per_s, pace.service_ns / 1e3);
        let after_s = now_ns as f64 / 1e9;
        let threads =
            if self.ring_threads == 1 { "a thread".to_owned() } else { format!("{} threads", self.ring_threads) };
        let chosen = if by_calls { "system calls carry them" } else { "they stay with the ring" };
        self.outcome = Some(format!(
            "the kernel handed requests of the ring to {threads} of its own; since {after_s:.1} s of the warm-up {chosen}: {} by calls, {} by the ring",
            told(calls),
            told(ring)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A trial whose workers complete so many requests per millisecond, each of so many nanoseconds, by ring and by calls.
    fn tried(warmup_ms: u64, inline: bool, ring: (u64, u64), calls: (u64, u64)) -> (bool, Option<String>) {
        let changeover = Changeover::default();
        let mut trial = Trial::new(&changeover, (0, warmup_ms * MS), inline);
        for now_ms in 0..2 * warmup_ms {
            trial.look(now_ms * MS, || if now_ms < 10 { 0 } else { 3 });
            let orders = changeover.orders();
            let (completed, service_ns) = if orders.by_calls() { calls } else { ring };
            if orders.tell() {
                changeover.tell(completed, completed * service_ns);
            }
        }
        assert!(!changeover.orders().tell(), "nothing is counted after the warm-up");
        (trial.is_by_calls(), trial.into_outcome())
    }

    #[test]
    fn calls_stay_where_they_complete_more() {
        let (by_calls, told) = tried(1_000, false, (120, 8_000), (920, 1_000));
        assert!(by_calls);
        let told = told.unwrap();
        assert!(
            told.contains("3 threads") && told.contains("since 0.3 s of the warm-up system calls carry them"),
            "{told}"
        );
        assert!(told.contains("920000/s of 1.0 us by calls, 120000/s of 8.0 us by the ring"), "{told}");
    }

    #[test]
    fn the_ring_stays_where_calls_complete_hardly_more_or_less() {
        for calls in [400, 430, 200] {
            let (by_calls, told) = tried(1_000, false, (400, 8_000), (calls, 1_000));
            assert!(!by_calls, "{calls}");
            assert!(told.unwrap().contains("they stay with the ring"));
        }
    }

    #[test]
    fn at_a_given_rate_time_decides_where_workers_make_their_calls() {
        assert!(tried(1_000, true, (50, 40_000), (50, 2_000)).0);
        assert!(!tried(1_000, true, (50, 40_000), (50, 39_000)).0);
        assert!(!tried(1_000, false, (50, 40_000), (50, 2_000)).0, "a pool's threads wake up outside of that time");
    }

    #[test]
    fn a_short_warm_up_and_a_ring_without_threads_change_nothing() {
        assert_eq!(tried(150, false, (120, 8_000), (920, 1_000)), (false, None));
        assert_eq!(tried(0, false, (120, 8_000), (920, 1_000)), (false, None));
        let changeover = Changeover::default();
        let mut trial = Trial::new(&changeover, (0, 1_000 * MS), false);
        (0..1_200).for_each(|now_ms| trial.look(now_ms * MS, || 0));
        assert_eq!((trial.is_by_calls(), trial.into_outcome()), (false, None));
    }

    #[test]
    fn calls_that_a_worker_cannot_make_are_nobodys() {
        let changeover = Changeover::default();
        changeover.refuse();
        let mut trial = Trial::new(&changeover, (0, 1_000 * MS), false);
        for now_ms in 0..1_000 {
            trial.look(now_ms * MS, || 3);
            changeover.tell(if changeover.orders().by_calls() { 900 } else { 100 }, 0);
        }
        assert!(!trial.is_by_calls());
        assert!(trial.into_outcome().unwrap().contains("they stay with the ring"));
    }

    #[test]
    fn a_host_that_looks_too_seldom_goes_back_to_the_ring() {
        let changeover = Changeover::default();
        let mut trial = Trial::new(&changeover, (0, 1_000 * MS), false);
        for now_ms in [0, 300, 1_100] {
            trial.look(now_ms * MS, || 3);
        }
        assert_eq!((trial.is_by_calls(), changeover.orders().tell()), (false, false));
    }

    #[test]
    fn a_trial_that_nobody_ends_is_none_when_the_warm_up_is_over() {
        let changeover = Changeover::default();
        let mut trial = Trial::new(&changeover, (5 * MS, 1_000 * MS), false);
        for now_ms in [0, 300] {
            trial.look(now_ms * MS, || 3);
        }
        let orders = |now_ms: u64| changeover.orders_at(now_ms * MS);
        assert!(orders(1_004).by_calls() && orders(1_004).tell());
        assert!(orders(1_005).leave(false), "nobody has looked since, and the measured time begins by the ring");
    }
}
