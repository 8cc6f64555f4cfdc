//! What a volume may do in a second, whatever its devices could: limits of cloud volumes, and caps per volume.
//!
//! Model: two token buckets each for requests and for bytes. One holds the credit of a burst and is refilled at the rate that
//! lasts; one has no credit and lets at most the rate of a burst through. What comes is let in, in the order in which it comes,
//! once every bucket has what it costs; a request that costs more than a bucket can ever hold waits until that is full and
//! leaves a debt. A long request counts as several where the limit says so. Flushes and trims cost nothing, and wait for nobody.
//!
//! Limits: providers merge small sequential requests before they count them; this does not. Credit is exact to the
//! billionth of a request.
//!
//! ```
//! use plimsoll_array::limit::Bucket;
//! let mut bucket = Bucket::new(100, 2, 100); // 100 a second, two at once
//! assert_eq!([1, 1, 1, 1].map(|cost| bucket.pass(0, cost)), [0, 0, 10_000_000, 20_000_000]);
//! ```

use crate::spec::LimitSpec;
use crate::station::Account;

/// A second, and what a token is divided into.
const E9: i128 = 1_000_000_000;

/// A bucket of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    rate_per_s: i128,
    /// Of tokens, times [`E9`]: the most that it holds, and what it holds at `at_ns`; less than none is a debt.
    depth_e9: i128,
    level_e9: i128,
    at_ns: u64,
}

impl Bucket {
    /// A bucket that gets `rate_per_s` tokens (at least one) and holds `depth`, of which `percent` are there at first.
    pub fn new(rate_per_s: u64, depth: u64, percent: u32) -> Self {
        let depth_e9 = i128::from(depth) * E9;
        let level_e9 = depth_e9 * i128::from(percent.min(100)) / 100;
        Self { rate_per_s: i128::from(rate_per_s.max(1)), depth_e9, level_e9, at_ns: 0 }
    }

    /// From when on what comes at `now_ns` can be paid; `now_ns` is no earlier than any instant before.
    fn ready_ns(&self, now_ns: u64, cost: u64) -> u64 {
        let needed_e9 = (i128::from(cost) * E9).min(self.depth_e9);
        let lacking_e9 = (needed_e9 - self.level_e9).max(0);
        let ready_ns = i128::from(self.at_ns) + (lacking_e9 + self.rate_per_s - 1) / self.rate_per_s;
        now_ns.max(u64::try_from(ready_ns).unwrap_or(u64::MAX))
    }

    /// Pays at an instant at which it is ready.
    fn pay(&mut self, at_ns: u64, cost: u64) {
        let gained_e9 = i128::from(at_ns - self.at_ns) * self.rate_per_s;
        // Instants are whole nanoseconds: what comes after that at which a token was there is not lost.
        let most_e9 = self.depth_e9 + self.rate_per_s - 1;
        self.level_e9 = (self.level_e9 + gained_e9).min(most_e9) - i128::from(cost) * E9;
        self.at_ns = at_ns;
    }

    /// Lets pass what comes at `now_ns`; when.
    pub fn pass(&mut self, now_ns: u64, cost: u64) -> u64 {
        let ready_ns = self.ready_ns(now_ns.max(self.at_ns), cost);
        self.pay(ready_ns, cost);
        ready_ns
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// With how many bytes a request counts once more; 0 never.
    request_bytes: u64,
    requests: Vec<Bucket>,
    bytes: Vec<Bucket>,
    last_ns: u64,
    /// What it let pass; busy is the time in which somebody was kept back.
    pub account: Account,
}

impl Limit {
    /// A limit with the credit that it has at first.
    pub fn new(spec: &LimitSpec) -> Self {
        let percent = spec.credit_percent;
        Self {
            request_bytes: spec.request_bytes.into(),
            requests: buckets(spec.requests_per_s, spec.burst_requests_per_s, spec.burst_requests, percent),
            bytes: buckets(spec.bytes_per_s, spec.burst_bytes_per_s, spec.burst_bytes, percent),
            last_ns: 0,
            account: Account::default(),
        }
    }

    /// Lets a request in that comes at `now_ns`; when.
    pub fn admit(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let counted = counted(self.request_bytes, bytes);
        let begin_ns = now_ns.max(self.last_ns);
        let of_requests = self.requests.iter().map(|bucket| bucket.ready_ns(begin_ns, counted));
        let of_bytes = self.bytes.iter().map(|bucket| bucket.ready_ns(begin_ns, bytes));
        let at_ns = of_requests.chain(of_bytes).max().unwrap_or(begin_ns);
        self.requests.iter_mut().for_each(|bucket| bucket.pay(at_ns, counted));
        self.bytes.iter_mut().for_each(|bucket| bucket.pay(at_ns, bytes));
        self.last_ns = at_ns;
        self.account.busy_ns += at_ns - begin_ns;
        self.account.resident_ns += at_ns - now_ns;
        self.account.operations += 1;
        self.account.bytes += bytes;
        at_ns
    }
}

/// As how many a request of so many bytes counts.
pub(crate) const fn counted(request_bytes: u64, bytes: u64) -> u64 {
    if request_bytes == 0 || bytes == 0 { 1 } else { bytes.div_ceil(request_bytes) }
}

/// The bucket of what lasts and that of the burst; none where nothing is limited.
fn buckets(lasting: Option<u64>, burst: Option<u64>, credit: u64, percent: u32) -> Vec<Bucket> {
    let lasting = lasting.map(|rate| Bucket::new(rate, credit, percent));
    lasting.into_iter().chain(burst.map(|rate| Bucket::new(rate, 0, 0))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn limit(spec: LimitSpec) -> Limit {
        Limit::new(&LimitSpec { credit_percent: 100, ..spec })
    }

    #[test]
    fn a_burst_lasts_as_long_as_its_credit_and_then_the_rate_is_what_lasts() {
        // 300 requests a second, 3,000 while 5,400 credits last, which are 2 s.
        let spec = LimitSpec {
            requests_per_s: Some(300),
            burst_requests_per_s: Some(3000),
            burst_requests: 5_400,
            ..LimitSpec::default()
        };
        let mut limit = limit(spec);
        let admitted: Vec<u64> = (0..6_900).map(|_| limit.admit(0, 4096)).collect();
        let within =
            |from: u64, to: u64| admitted.iter().filter(|at| (from * SECOND..to * SECOND).contains(at)).count();
        // The last credit is whole at two seconds, and not a third of a millisecond before.
        assert_eq!([within(0, 1), within(1, 2), within(3, 4)], [3000, 2999, 300]);
        assert_eq!(admitted.iter().position(|at| *at > 2 * SECOND), Some(6_000));
        assert_eq!(limit.account.busy_ns, admitted[6_899]);
    }

    #[test]
    fn what_is_left_of_a_burst_is_refilled_while_nobody_asks() {
        let mut bucket = Bucket::new(10, 5, 0);
        assert_eq!(bucket.pass(0, 1), 100_000_000);
        // Half a second later all five are there, and a minute later no more.
        let passed = [0; 6].map(|_| bucket.pass(60 * SECOND, 1) - 60 * SECOND);
        assert_eq!(passed, [0, 0, 0, 0, 0, 100_000_000]);
    }

    #[test]
    fn long_requests_count_as_several_and_bytes_are_limited_beside_them() {
        let per_request = |request_bytes, bytes_per_s| {
            limit(LimitSpec { requests_per_s: Some(1000), request_bytes, bytes_per_s, ..LimitSpec::default() })
        };
        let rate = |mut limit: Limit| {
            let last_ns = (0..1001).map(|_| limit.admit(0, 1 << 20)).last().unwrap_or(0);
            1000 * SECOND / last_ns
        };
        assert_eq!(rate(per_request(0, None)), 1000);
        assert_eq!(rate(per_request(256 << 10, None)), 250);
        assert_eq!(rate(per_request(256 << 10, Some(125 << 20))), 125);
    }

    proptest! {
        #[test]
        fn no_span_of_time_gets_more_than_credit_and_rate(
            rate in 1_u64..5000, depth in 0_u64..50, each in proptest::collection::vec((0_u64..20_000_000, 1_u64..9), 1..80),
        ) {
            let mut bucket = Bucket::new(rate, depth, 100);
            let mut now_ns = 0;
            let mut passed = Vec::new();
            for (pause_ns, cost) in each {
                now_ns += pause_ns;
                let at_ns = bucket.pass(now_ns, cost);
                prop_assert!(at_ns >= now_ns);
                passed.push((at_ns, cost));
            }
            for (first, &(begin_ns, _)) in passed.iter().enumerate() {
                // The last of a span may go with a debt, so it does not count.
                let mut sum = 0;
                for &(at_ns, cost) in &passed[first..] {
                    let fair = i128::from(depth) * E9 + i128::from(rate) * i128::from(at_ns - begin_ns + 1);
                    prop_assert!(i128::from(sum) * E9 <= fair, "{sum} by {at_ns}");
                    sum += cost;
                }
            }
        }

        #[test]
        fn nobody_waits_for_what_is_there(rate in 1_u64..5000, depth in 0_u64..50, cost in 1_u64..9, count in 2_u64..60) {
            // Of what waits all the time, the last goes exactly when all before it and its own share have been paid.
            let mut bucket = Bucket::new(rate, depth, 100);
            let last_ns = (0..count).map(|_| bucket.pass(0, cost)).last().unwrap_or(0);
            let needed_e9 = i128::from((count - 1) * cost + cost.min(depth)) * E9 - i128::from(depth) * E9;
            let exact_ns = needed_e9.max(0).div_euclid(i128::from(rate));
            prop_assert!((exact_ns..=exact_ns + i128::from(count)).contains(&i128::from(last_ns)), "{last_ns} {exact_ns}");
        }
    }
}
