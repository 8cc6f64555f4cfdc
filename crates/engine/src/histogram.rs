//! The one shape of every latency histogram: HDR, 1 ns to 4,398 s, three significant digits.
//!
//! Three digits mean 2,048 steps per power of two and a half: no value is off by more than 1/1024, inside the 1/256 that
//! is promised. Merging adds counts and loses nothing. Text form: HDR V2, deflated, base64 (the HdrHistogram project's log
//! format), which other HDR readers open.
//!
//! Model: a count for every bucket, found by the value's leading bits, because a worker counts every request with it. The counts of
//! a power of two are a *group*; which groups have any is noted, so that emptying and adding touch no others.

use std::fmt;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

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
const fn bucket_of(value_ns: u64) -> usize {
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
        self.counted().fold(0, |sum, (_, count)| sum.saturating_add(count))
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
        let rank = ((quantile.min(1.0) * self.len() as f64).ceil() as u64).max(1);
        let mut reached = 0_u64;
        let found = self.counted().find(|&(_, count)| {
            reached = reached.saturating_add(count);
            reached >= rank
        });
        let Some((bucket, _)) = found else { return if self.is_empty() { 0 } else { self.max() } };
        if quantile == 0.0 { bounds_of(bucket).0 } else { bounds_of(bucket).1 }
    }

    /// The mean, each value taken as the middle of its bucket; 0 without any.
    pub fn mean(&self) -> f64 {
        let total = self.len().max(1) as f64;
        self.counted().fold(0.0, |mean, (bucket, count)| mean + middle_of(bucket) * count as f64 / total)
    }

    /// The standard deviation, each value taken as the middle of its bucket; 0 without any.
    pub fn stdev(&self) -> f64 {
        let (mean, total) = (self.mean(), self.len().max(1) as f64);
        let squares = |sum, (bucket, count)| sum + (middle_of(bucket) - mean).powi(2) * count as f64;
        (self.counted().fold(0.0, squares) / total).sqrt()
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

/// The middle of a bucket, rounded as HDR readers do.
fn middle_of(bucket: usize) -> f64 {
    let (low_ns, high_ns) = bounds_of(bucket);
    (low_ns + (high_ns - low_ns).div_ceil(2)) as f64
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

/// RFC 4648 with padding; other writers may leave that out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// An empty histogram.
///
/// # Panics
/// Never: the counts are as many as there are buckets.
pub fn empty() -> Histogram {
    // Zeroed memory of the system is not touched before it is used.
    let counts = vec![0; BUCKETS].into_boxed_slice().try_into().expect("a count for each bucket");
    Histogram { counts, touched: 0 }
}

/// The largest count of a bucket in the text form, which keeps counts as signed numbers of 64 bits: 9.2 × 10^18, which a billion
/// requests per second need 292 years for.
pub const COUNT_MAX: u64 = i64::MAX as u64;

/// HDR V2 deflated, in base64 without line breaks. A count above [`COUNT_MAX`] is written as that.
///
/// # Panics
/// Never: writing to memory cannot fail.
pub fn encode(histogram: &Histogram) -> String {
    let mut hdr = hdr();
    histogram.recorded().for_each(|(value_ns, count)| hdr.saturating_record_n(value_ns, count.min(COUNT_MAX)));
    encoded(&hdr)
}

/// The text form of any histogram of the crate.
pub(crate) fn encoded(hdr: &Hdr<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(hdr, &mut bytes).expect("a vector takes every byte");
    BASE64.encode(&bytes)
}

/// An empty one of the crate that reads and writes the text form.
fn hdr() -> Hdr<u64> {
    Hdr::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS).expect("constant bounds are valid")
}

/// The bytes in base64 text.
pub(crate) fn unwrapped(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok()
}

/// Reads what [`encode`], or any other HDR V2 writer, wrote.
///
/// # Errors
/// One sentence, when the text is no such histogram.
pub fn decode(text: &str) -> Result<Histogram, String> {
    let bytes = unwrapped(text).ok_or("a histogram is not base64 text")?;
    let decoded: Hdr<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("a histogram cannot be read as HDR V2: {error}"))?;
    let mut histogram = empty();
    let steps = decoded.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
    if decoded.high() == LONGEST_NS && decoded.sigfig() == SIGNIFICANT_DIGITS && decoded.low() == 1 {
        steps.for_each(|(value_ns, count)| histogram.saturating_record_n(value_ns, count));
        return Ok(histogram);
    }
    let mut same = hdr();
    same.add(&decoded).map_err(|error| format!("a histogram has values beyond {LONGEST_NS} ns: {error}"))?;
    let steps = same.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
    steps.for_each(|(value_ns, count)| histogram.saturating_record_n(value_ns, count));
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::rng::drawn as draw;

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
        let (mut ours, mut theirs) = (empty(), hdr());
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
        assert_eq!(encode(&ours), encoded(&theirs));
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
    fn text_form_loses_nothing() {
        let mut histogram = empty();
        (1..10_000u64).for_each(|value| histogram.saturating_record(value * value));
        let text = encode(&histogram);
        assert!(text.starts_with("HISTFAAA"), "the cookie of a deflated V2 histogram: {text}");
        assert_eq!(decode(&text).unwrap(), histogram);
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

    #[test]
    fn counts_beyond_what_the_text_form_holds_are_written_as_the_largest() {
        for count in [1, (1 << 62) - 1, 1 << 62, (1 << 62) + 1, COUNT_MAX, COUNT_MAX + 1, u64::MAX] {
            let mut histogram = empty();
            histogram.saturating_record_n(1_000, count);
            histogram.saturating_record_n(5_000_000, 3);
            let read = decode(&encode(&histogram)).unwrap();
            assert_eq!(read.count_at(1_000), count.min(COUNT_MAX));
            assert_eq!(read.count_at(5_000_000), 3);
        }
    }

    #[test]
    fn text_without_its_padding_is_read_as_well() {
        let padded = (1..20_000_u64).map(|value| {
            let mut histogram = empty();
            histogram.saturating_record(value * value);
            encode(&histogram)
        });
        let padded = padded.into_iter().find(|text| text.ends_with('=')).unwrap();
        assert_eq!(decode(padded.trim_end_matches('=')).unwrap(), decode(&padded).unwrap());
    }

    #[test]
    fn junk_is_refused_in_words() {
        assert!(decode("not a histogram!").unwrap_err().contains("base64"));
        assert!(decode("AAAA").unwrap_err().contains("HDR V2"));
    }
}
