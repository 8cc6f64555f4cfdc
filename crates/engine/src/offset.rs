//! How far another host's clock is from ours, out of round trips: an estimate with a bound that holds for certain.
//!
//! Model: we read our clock, ask, the other reads its clock, we read ours again. Whatever the ways took, the other read its
//! clock between our two readings, so its clock is ahead of ours by no less than `theirs − received` and by no more than
//! `theirs − sent`. Each round trip is such a span; clocks that keep their distance lie in all of them at once. The estimate
//! is the middle of what they have in common, the bound half its width: at most half the shortest round trip, and less when
//! short ways there and short ways back fell into different round trips. (The rule is that of Marzullo and Owicki, "Maintaining the
//! time in a distributed system", 1983, with one server.)
//!
//! Limits: clocks drift. Round trips that took [`DRIFT_PPM`] of drift apart still agree, and the bound grows by it. Round
//! trips that have nothing in common come from a clock that was set, or from a host that stood still between two readings;
//! the estimate is then that of the shortest one alone, and says so.
//!
//! ```
//! use plimsoll_engine::offset::{Offset, RoundTrip};
//! let trips = [RoundTrip { sent_ns: 100, theirs_ns: 1_150, received_ns: 200 }];
//! assert_eq!(Offset::of(&trips), Some(Offset { offset_ns: 1_000, bound_ns: 50, agree: true }));
//! ```

/// Clocks of computers run apart by less than this, in parts per million; crystals are good to some tens of them.
const DRIFT_PPM: i128 = 200;

/// One question and its answer: our clock before, theirs, our clock after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Our clock when we asked.
    pub sent_ns: i64,
    /// Their clock when they answered.
    pub theirs_ns: i64,
    /// Our clock when the answer was here.
    pub received_ns: i64,
}

/// How far their clock is ahead of ours (behind, when negative): within `bound_ns` of `offset_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The estimate.
    pub offset_ns: i64,
    /// The truth is no further from it.
    pub bound_ns: i64,
    /// Whether all round trips can be true of two clocks that keep their distance.
    pub agree: bool,
}

impl RoundTrip {
    fn length_ns(&self) -> i64 {
        self.received_ns.saturating_sub(self.sent_ns)
    }

    /// The least and the most that their clock can be ahead, allowing for drift since `at_ns` of our clock.
    fn span(&self, at_ns: i64) -> (i128, i128) {
        let apart_ns = (i128::from(self.sent_ns) - i128::from(at_ns)).abs();
        let drift_ns = (apart_ns * DRIFT_PPM).div_euclid(1_000_000);
        let theirs = i128::from(self.theirs_ns);
        (theirs - i128::from(self.received_ns) - drift_ns, theirs - i128::from(self.sent_ns) + drift_ns)
    }
}

impl Offset {
    /// The estimate at the time of the shortest round trip; none without round trips whose answer came after the question.
    pub fn of(trips: &[RoundTrip]) -> Option<Self> {
        let possible = || trips.iter().filter(|trip| trip.received_ns >= trip.sent_ns);
        let shortest = possible().min_by_key(|trip| trip.length_ns())?;
        let spans = || possible().map(|trip| trip.span(shortest.sent_ns));
        let least = spans().map(|span| span.0).max()?;
        let most = spans().map(|span| span.1).min()?;
        let agree = least <= most;
        let (least, most) = if agree { (least, most) } else { shortest.span(shortest.sent_ns) };
        let offset_ns = (least + most).div_euclid(2);
        Some(Self {
            offset_ns: clamped(offset_ns),
            bound_ns: clamped((most - offset_ns).max(offset_ns - least)),
            agree,
        })
    }
}

fn clamped(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that is `ahead_ns` ahead at our zero and gains `ppm`, asked at `sent_ns` over ways that take so long.
    fn asked(ahead_ns: i64, ppm: i64, sent_ns: i64, there_ns: i64, back_ns: i64) -> RoundTrip {
        let read_ns = sent_ns + there_ns;
        RoundTrip { sent_ns, theirs_ns: read_ns + ahead_ns + read_ns * ppm / 1_000_000, received_ns: read_ns + back_ns }
    }

    #[test]
    fn the_planted_offset_lies_within_the_bound_whatever_the_ways_took() {
        // Ways in no order: a linear congruential generator, so that every run has the same ones.
        let mut state = 12_345_u64;
        let mut way_ns = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            20_000 + (state >> 33) as i64 % 400_000
        };
        for ahead_ns in [-86_400_000_000_000, -7, 0, 1_234_567, 86_400_000_000_000] {
            let trips: Vec<_> = (0..50).map(|n| asked(ahead_ns, 0, n * 1_000_000, way_ns(), way_ns())).collect();
            let found = Offset::of(&trips).expect("there are round trips");
            let shortest_ns = trips.iter().map(RoundTrip::length_ns).min().expect("there are round trips");
            assert!(found.agree);
            assert!((found.offset_ns - ahead_ns).abs() <= found.bound_ns, "{ahead_ns}: {found:?}");
            // 50 ms of 200 ppm are 10 µs.
            assert!(found.bound_ns <= shortest_ns / 2 + 10_000, "{ahead_ns}: {found:?} of {shortest_ns}");
        }
    }

    #[test]
    fn a_way_that_is_longer_in_one_direction_is_within_the_bound() {
        let found = Offset::of(&[asked(5_000, 0, 0, 90_000, 10_000)]).expect("there is one");
        assert_eq!((found.offset_ns, found.bound_ns), (5_000 + 40_000, 50_000));
    }

    #[test]
    fn a_short_way_there_and_a_short_way_back_narrow_the_bound_below_half_a_round_trip() {
        let trips = [asked(5_000, 0, 0, 10_000, 90_000), asked(5_000, 0, 1_000, 90_000, 10_000)];
        let found = Offset::of(&trips).expect("there are two");
        assert!(found.bound_ns <= 10_001, "{found:?}");
        assert!((found.offset_ns - 5_000).abs() <= found.bound_ns, "{found:?}");
    }

    #[test]
    fn clocks_that_drift_like_crystals_agree() {
        let trips: Vec<_> = (0..100).map(|n| asked(1_000_000, 50, n * 10_000_000, 30_000, 30_000)).collect();
        let found = Offset::of(&trips).expect("there are round trips");
        assert!(found.agree, "{found:?}");
    }

    #[test]
    fn a_clock_that_was_set_between_two_round_trips_is_noticed() {
        let trips = [asked(0, 0, 0, 20_000, 20_000), asked(50_000_000, 0, 1_000_000, 30_000, 30_000)];
        let found = Offset::of(&trips).expect("there are two");
        assert_eq!(found, Offset { offset_ns: 0, bound_ns: 20_000, agree: false }, "the shortest counts");
    }

    #[test]
    fn without_an_answer_there_is_no_estimate() {
        assert_eq!(Offset::of(&[]), None);
        assert_eq!(Offset::of(&[RoundTrip { sent_ns: 10, theirs_ns: 0, received_ns: 9 }]), None);
    }

    #[test]
    fn the_bound_reaches_the_further_end() {
        // [1, 2] has no middle in whole nanoseconds.
        let found = Offset::of(&[RoundTrip { sent_ns: 0, theirs_ns: 2, received_ns: 1 }]).expect("there is one");
        assert_eq!((found.offset_ns, found.bound_ns), (1, 1));
    }
}
