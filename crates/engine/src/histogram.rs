//! The one shape of every latency histogram: HDR, 1 ns to 4,398 s, three significant digits.
//!
//! Three digits mean 2,048 steps per power of two and a half: no value is off by more than 1/1024, inside the 1/256 that
//! is promised. Merging adds counts and loses nothing. What it answers is in `answers`, its text form in `text`.
//!
//! Model: a count for every bucket, found by the value's leading bits, because a worker counts every request with it. The counts of
//! a power of two are a *group*; which groups have any is noted, so that emptying and adding touch no others.

use std::fmt;

pub use text::{COUNT_MAX, decode, encode};

pub(crate) mod answers;
pub(crate) mod text;

/// Longest value told apart, in nanoseconds; longer ones count as this.
pub const LONGEST_NS: u64 = (1 << 42) - 1;

const SIGNIFICANT_DIGITS: u8 = 3;

/// Bits of a value's place in its group: 1,024 buckets of one width.
const GROUP_BITS: u32 = 10;
const GROUP: usize = 1 << GROUP_BITS;
/// Values below the second group's end are told apart one by one, those of each further power of two in steps of twice the width.
const GROUPS: usize = LONGEST_NS.ilog2() as usize - GROUP_BITS as usize + 2;
pub(crate) const BUCKETS: usize = GROUPS * GROUP;

/// A latency histogram in nanoseconds.
#[derive(PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
    /// A bit for each group that has a count.
    touched: u64,
}

/// The bucket of a value.
#[inline(always)]
pub(crate) const fn bucket_of(value_ns: u64) -> usize {
    let value_ns = if value_ns < LONGEST_NS { value_ns } else { LONGEST_NS };
    let halvings = (u64::BITS - GROUP_BITS - 1) - (value_ns | (2 * GROUP as u64 - 1)).leading_zeros();
    ((halvings as usize) << GROUP_BITS) + (value_ns >> halvings) as usize
}

/// The lowest and the highest value of a bucket.
pub(crate) const fn bounds_of(bucket: usize) -> (u64, u64) {
    let halvings = (bucket >> GROUP_BITS).saturating_sub(1);
    let place = (bucket - (halvings << GROUP_BITS)) as u64;
    (place << halvings, ((place + 1) << halvings) - 1)
}

impl Histogram {
    /// Counts one value; one beyond [`LONGEST_NS`] as that.
    #[inline(always)]
    pub fn saturating_record(&mut self, value_ns: u64) {
        self.saturating_record_n(value_ns, 1);
    }

    /// Counts one value so many times; a count that would exceed the largest number stays at it.
    #[inline(always)]
    pub fn saturating_record_n(&mut self, value_ns: u64, count: u64) {
        let bucket = bucket_of(value_ns);
        self.counts[bucket] = self.counts[bucket].saturating_add(count);
        self.touched |= u64::from(count > 0) << (bucket >> GROUP_BITS);
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        for group in groups(self.touched) {
            self.counts[group * GROUP..][..GROUP].fill(0);
        }
        self.touched = 0;
    }

    /// Adds another's counts; nothing is lost.
    pub fn add(&mut self, other: &Self) {
        for group in groups(other.touched) {
            let counts = self.counts[group * GROUP..][..GROUP].iter_mut().zip(&other.counts[group * GROUP..][..GROUP]);
            counts.for_each(|(mine, theirs)| *mine = mine.saturating_add(*theirs));
        }
        self.touched |= other.touched;
    }

    /// How many values were counted.
    pub fn len(&self) -> u64 {
        answers::total(self.counted())
    }

    /// Whether none was.
    pub const fn is_empty(&self) -> bool {
        self.touched == 0
    }

    /// Buckets there are.
    pub const fn distinct_values(&self) -> usize {
        BUCKETS
    }

    /// The highest value in ns and the count of every bucket that has one, ascending.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counted().map(|(bucket, count)| (bounds_of(bucket).1, count))
    }

    /// The count of the bucket that a value falls into.
    pub fn count_at(&self, value_ns: u64) -> u64 {
        self.counts[bucket_of(value_ns)]
    }

    /// Counts in buckets whose values are all at most `value_ns`.
    pub fn at_most(&self, value_ns: u64) -> u64 {
        self.recorded().take_while(|&(upper_ns, _)| upper_ns <= value_ns).map(|(_, count)| count).sum()
    }

    /// The lowest value of the first bucket that has a count; 0 without any.
    pub fn min(&self) -> u64 {
        self.counted().next().map_or(0, |(bucket, _)| bounds_of(bucket).0)
    }

    /// The highest value of the last bucket that has a count; 0 without any.
    pub fn max(&self) -> u64 {
        let Some(group) = self.touched.checked_ilog2() else { return 0 };
        let counts = &self.counts[group as usize * GROUP..][..GROUP];
        let place = counts.iter().rposition(|&count| count > 0).unwrap_or(0);
        bounds_of(group as usize * GROUP + place).1
    }

    /// The highest value of the bucket in which `quantile` (0 to 1) of the counts are reached, by nearest rank; of the quantile 0 the
    /// lowest. 0 without any.
    pub fn value_at_quantile(&self, quantile: f64) -> u64 {
        answers::value_at_quantile(|| self.counted(), quantile)
    }

    /// The mean, each value taken as the middle of its bucket; 0 without any.
    pub fn mean(&self) -> f64 {
        answers::mean(|| self.counted())
    }

    /// The standard deviation, each value taken as the middle of its bucket; 0 without any.
    pub fn stdev(&self) -> f64 {
        answers::stdev(|| self.counted())
    }

    /// The buckets that have a count, ascending.
    fn counted(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let buckets = groups(self.touched).flat_map(|group| group * GROUP..(group + 1) * GROUP);
        buckets.map(|bucket| (bucket, self.counts[bucket])).filter(|&(_, count)| count > 0)
    }
}

/// The numbers of the bits that are set, ascending.
fn groups(mut touched: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let group = (touched != 0).then(|| touched.trailing_zeros() as usize)?;
        touched &= touched - 1;
        Some(group)
    })
}

impl Clone for Histogram {
    fn clone(&self) -> Self {
        let mut copy = empty();
        copy.add(self);
        copy
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.recorded()).finish()
    }
}

/// An empty histogram.
///
/// # Panics
/// Never: the counts are as many as there are buckets.
pub fn empty() -> Histogram {
    // Zeroed memory of the system is not touched before it is used.
    let counts = vec![0; BUCKETS].into_boxed_slice().try_into().expect("a count for each bucket");
    Histogram { counts, touched: 0 }
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::rng::drawn as draw;

    use super::text::tests::written_by_the_crate;
    use super::*;

    fn drawn(number: u64) -> u64 {
        draw(7, number)
    }

    #[test]
    fn relative_error_is_below_one_in_256() {
        for exponent in 0..42 {
            for value in [(1u64 << exponent) + 1, (1u64 << exponent) * 3 / 2 + 1] {
                let value = value.min(LONGEST_NS);
                let mut histogram = empty();
                histogram.saturating_record(value);
                let read = histogram.value_at_quantile(1.0);
                assert!(read.abs_diff(value) as f64 <= value as f64 / 256.0, "{value} read as {read}");
            }
        }
    }

    /// The crate that other readers are like: one bucket of it is one of ours, and so is every answer.
    #[test]
    fn answers_are_those_of_hdr_histogram() {
        let edges = (0..64).flat_map(|power| [(1_u64 << power) - 1, 1 << power, (1 << power) + 1]);
        let spread = (0..40_000_u64).map(|number| drawn(number) >> (drawn(number + 1) % 64));
        let (mut ours, mut theirs) = (empty(), text::hdr());
        for (number, value_ns) in edges.chain(spread).enumerate() {
            let count = 1 + number as u64 % 3;
            ours.saturating_record_n(value_ns, count);
            theirs.saturating_record_n(value_ns, count);
            assert_eq!(ours.count_at(value_ns), theirs.count_at(value_ns), "{value_ns}");
        }
        let buckets = theirs.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
        assert!(ours.recorded().eq(buckets));
        assert_eq!((ours.len(), ours.min(), ours.max()), (theirs.len(), theirs.min(), theirs.max()));
        assert_eq!((ours.mean(), ours.stdev()), (theirs.mean(), theirs.stdev()));
        for quantile in [0.0, 1e-9, 0.1, 0.5, 0.99, 0.9999, 1.0, 7.0] {
            assert_eq!(ours.value_at_quantile(quantile), theirs.value_at_quantile(quantile), "{quantile}");
        }
        assert_eq!(encode(&ours), written_by_the_crate(&theirs));
    }

    #[test]
    fn an_emptied_one_is_as_new() {
        let mut histogram = empty();
        (0..1_000_u64).for_each(|number| histogram.saturating_record(drawn(number) >> 20));
        assert_eq!(histogram.clone(), histogram);
        histogram.saturating_record_n(5, 0);
        histogram.reset();
        histogram.saturating_record_n(5, 0);
        assert_eq!(histogram, empty());
        assert_eq!((histogram.len(), histogram.min(), histogram.max(), histogram.value_at_quantile(0.5)), (0, 0, 0, 0));
    }

    #[test]
    fn merging_equals_recording_together() {
        let (mut left, mut right, mut both) = (empty(), empty(), empty());
        for value in 1..5_000u64 {
            if value % 3 == 0 {
                left.saturating_record(value * 77)
            } else {
                right.saturating_record(value * 77)
            }
            both.saturating_record(value * 77);
        }
        left.add(&right);
        assert_eq!(left, both);
    }
}
