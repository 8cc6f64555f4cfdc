//! How late answers were, against how long the model said they take.
//!
//! Model: the lateness of an answer is the time between the instant at which the model completed its request and the one at
//! which the front is about to send it. It is kept as a distribution beside that of the modelled service. A session is
//! *late* when the 99th percentile of lateness is more than 4 % of the mean modelled service; one whose array has flash
//! also when it is more than 150 µs, because what is served there in between is quick and the mean may hide it.
//!
//! Limits: what the front costs before a request has arrived and after its answer was sent is not in it. Percentiles are
//! right to three digits.
//!
//! ```
//! use plimsoll_serve::lateness::{Limits, Lateness};
//! let mut lateness = Lateness::default();
//! lateness.add(5_000_000, 12_000); // modelled service, lateness in nanoseconds
//! assert_eq!(lateness.verdict(Limits::of_disks()), None);
//! ```

use hdrhistogram::Histogram;
use serde::Serialize;

/// Share of the mean modelled service that the 99th percentile of lateness may be.
pub const SHARE_MAX: f64 = 0.04;
/// What the 99th percentile of lateness may be where flash answers.
pub const FLASH_MAX_NS: u64 = 150_000;
/// Longer ones count as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// See the module.
#[derive(Debug)]
pub struct Lateness {
    service: Histogram<u64>,
    late: Histogram<u64>,
}

/// What lateness may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    p99_ns: Option<u64>,
}

impl Limits {
    /// For arrays of disks alone.
    pub const fn of_disks() -> Self {
        Self { p99_ns: None }
    }

    /// For arrays with flash.
    pub const fn of_flash() -> Self {
        Self { p99_ns: Some(FLASH_MAX_NS) }
    }
}

/// A distribution in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Digest {
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        let empty =
            || Histogram::new_with_bounds(1, LONGEST_NS, 3).unwrap_or_else(|_| unreachable!("bounds are valid"));
        Self { service: empty(), late: empty() }
    }
}

impl Lateness {
    /// One answer.
    pub fn add(&mut self, service_ns: u64, late_ns: u64) {
        self.service.saturating_record(service_ns);
        self.late.saturating_record(late_ns);
    }

    /// How many answers there were.
    pub fn answers(&self) -> u64 {
        self.late.len()
    }

    /// The modelled service.
    pub fn service(&self) -> Digest {
        digest(&self.service)
    }

    /// How late.
    pub fn late(&self) -> Digest {
        digest(&self.late)
    }

    /// The 99th percentile of lateness as a share of the mean modelled service.
    pub fn share(&self) -> f64 {
        let service_ns = self.service.mean();
        if service_ns > 0.0 { self.late.value_at_quantile(0.99) as f64 / service_ns } else { 0.0 }
    }

    /// Why the session was late, if it was.
    pub fn verdict(&self, limits: Limits) -> Option<String> {
        if self.answers() == 0 {
            return None;
        }
        let (late, service) = (self.late(), self.service());
        let us = |ns: f64| ns / 1e3;
        if self.share() > SHARE_MAX {
            return Some(format!(
                "99 of 100 answers were up to {:.0} µs late, {:.1} % of the modelled service of {:.0} µs; more than {:.0} % distorts \
                 what clients see, so use a quieter machine or a smaller load",
                us(late.p99_ns as f64),
                self.share() * 100.0,
                us(service.mean_ns),
                SHARE_MAX * 100.0,
            ));
        }
        limits.p99_ns.filter(|limit_ns| late.p99_ns > *limit_ns).map(|limit_ns| {
            format!(
                "99 of 100 answers were up to {:.0} µs late; where flash answers, more than {:.0} µs distorts what clients see, so use \
                 a quieter machine or a smaller load",
                us(late.p99_ns as f64),
                us(limit_ns as f64),
            )
        })
    }
}

fn digest(histogram: &Histogram<u64>) -> Digest {
    Digest {
        mean_ns: histogram.mean(),
        p50_ns: histogram.value_at_quantile(0.5),
        p99_ns: histogram.value_at_quantile(0.99),
        max_ns: histogram.max(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 ms of service each, so that 40 µs are 4 %.
    fn of(late_ns: impl IntoIterator<Item = u64>) -> Lateness {
        let mut lateness = Lateness::default();
        late_ns.into_iter().for_each(|late_ns| lateness.add(1_000_000, late_ns));
        lateness
    }

    fn near(ns: u64, wanted_ns: u64) -> bool {
        ns.abs_diff(wanted_ns) * 1000 <= wanted_ns
    }

    #[test]
    fn percentiles_are_those_of_what_was_added() {
        let late = of(1..=1000).late();
        assert!(near(late.p50_ns, 500) && near(late.p99_ns, 990), "{late:?}");
        assert_eq!((late.max_ns, late.mean_ns), (1000, 500.5));
    }

    #[test]
    fn a_session_is_late_above_four_percent_and_not_below() {
        assert_eq!(of([39_000; 100]).verdict(Limits::of_disks()), None);
        let verdict = of([41_000; 100]).verdict(Limits::of_disks());
        assert!(verdict.is_some_and(|text| text.contains("41 µs late, 4.1 % of the modelled service of 1000 µs")));
    }

    #[test]
    fn a_single_straggler_in_a_thousand_does_not_make_a_session_late() {
        let lateness = of(std::iter::once(50_000_000).chain([1_000; 999]));
        assert_eq!(lateness.verdict(Limits::of_disks()), None);
        assert!(near(lateness.late().max_ns, 50_000_000));
    }

    #[test]
    fn two_in_a_hundred_do() {
        assert!(of([50_000_000; 2].into_iter().chain([1_000; 98])).verdict(Limits::of_disks()).is_some());
    }

    #[test]
    fn flash_has_a_limit_of_its_own() {
        let mut slow = Lateness::default();
        (0..100).for_each(|_| slow.add(10_000_000, 160_000));
        assert_eq!(slow.verdict(Limits::of_disks()), None, "1.6 % of 10 ms");
        assert!(slow.verdict(Limits::of_flash()).is_some_and(|text| text.contains("more than 150 µs")));
    }

    #[test]
    fn nothing_served_is_not_late() {
        assert_eq!(Lateness::default().verdict(Limits::of_flash()), None);
    }
}
