//! The buckets of histograms that have a count: all that a report draws of a distribution, read without the rest.
//!
//! Model: a histogram has 33,792 buckets, of which some hundreds have a count. Only these are read from the text form, and added
//! up in order; what they answer equals what the whole histogram answers.

mod curve;

use crate::histogram::{Histogram, answers, bounds_of, bucket_of, text};

/// Highest value in ns and count of each bucket that has one, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buckets(Vec<(u64, u64)>);

impl Buckets {
    /// Those of all histograms of `texts` together.
    ///
    /// # Errors
    /// One sentence, when a text is no histogram.
    pub fn merged<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut total = Self::default();
        for text in texts {
            total.add(&Self::read(text)?);
        }
        Ok(total)
    }

    /// Those of one text.
    ///
    /// # Errors
    /// One sentence, when the text is no histogram.
    pub fn read(text: &str) -> Result<Self, String> {
        Ok(Self(text::read(text)?))
    }

    /// Those of so many single values in ns.
    pub fn of(values_ns: &[u64]) -> Self {
        let mut uppers: Vec<u64> = values_ns.iter().map(|&value_ns| bounds_of(bucket_of(value_ns)).1).collect();
        uppers.sort_unstable();
        Self(uppers.chunk_by(|one, next| one == next).map(|same| (same[0], same.len() as u64)).collect())
    }

    /// The text form ([`crate::histogram::encode`]).
    pub fn encode(&self) -> String {
        text::written(self.counted())
    }

    /// Adds another's counts; nothing is lost.
    pub fn add(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let mut waiting = self.0.iter().copied().peekable();
        for &(upper_ns, count) in &other.0 {
            while let Some(before) = waiting.next_if(|&(mine_ns, _)| mine_ns < upper_ns) {
                sum.push(before);
            }
            let same = waiting.next_if(|&(mine_ns, _)| mine_ns == upper_ns).map_or(0, |(_, mine)| mine);
            sum.push((upper_ns, count.saturating_add(same)));
        }
        sum.extend(waiting);
        self.0 = sum;
    }

    /// The highest value of each bucket in ns, and its count.
    pub fn into_vec(self) -> Vec<(u64, u64)> {
        self.0
    }

    /// The same, to be looked at.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// The latency that `percent` of the requests did not exceed, by nearest rank; none when there is no request.
    pub fn value_at(&self, percent: f64) -> Option<u64> {
        let rank = curve::rank(percent, self.count());
        let mut running = 0u64;
        let reached = self.0.iter().find(|&&(_, count)| {
            running = running.saturating_add(count);
            running >= rank
        });
        reached.or(self.0.last()).map(|&(upper_ns, _)| upper_ns)
    }

    /// The answers of a whole histogram ([`crate::histogram::Histogram`]): the highest value at a quantile, 0 to 1.
    pub fn value_at_quantile(&self, quantile: f64) -> u64 {
        answers::value_at_quantile(|| self.counted(), quantile)
    }

    /// Counts in buckets whose values are all at most `value_ns`.
    pub fn at_most(&self, value_ns: u64) -> u64 {
        self.0.iter().take_while(|&&(upper_ns, _)| upper_ns <= value_ns).map(|&(_, count)| count).sum()
    }

    /// The lowest value of the first bucket, and the highest of the last; 0 without any.
    pub fn ends(&self) -> (u64, u64) {
        let low_ns = self.counted().next().map_or(0, |(bucket, _)| bounds_of(bucket).0);
        (low_ns, self.0.last().map_or(0, |&(upper_ns, _)| upper_ns))
    }

    /// Mean and standard deviation; 0 without any.
    pub fn mean_and_stdev(&self) -> (f64, f64) {
        (answers::mean(|| self.counted()), answers::stdev(|| self.counted()))
    }

    /// The number of each bucket and its count.
    fn counted(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.0.iter().map(|&(upper_ns, count)| (bucket_of(upper_ns), count))
    }

    /// The number of the first band with a request, and the counts of it and those that follow up to the last; `edges_ns` are the
    /// lowest latencies of the bands, ascending. Empty when there is no request.
    pub fn bands(&self, edges_ns: &[u64]) -> Vec<u64> {
        let band_of = |upper_ns: u64| edges_ns.partition_point(|&edge_ns| edge_ns <= upper_ns).saturating_sub(1);
        let (Some(&(lowest_ns, _)), Some(&(highest_ns, _))) = (self.0.first(), self.0.last()) else {
            return Vec::new();
        };
        let (first, last) = (band_of(lowest_ns), band_of(highest_ns));
        let mut column = vec![0; last - first + 2];
        column[0] = first as u64;
        let mut band = first;
        for &(upper_ns, count) in &self.0 {
            while band < last && edges_ns[band + 1] <= upper_ns {
                band += 1;
            }
            let held = &mut column[band - first + 1];
            *held = held.saturating_add(count);
        }
        column
    }
}

impl From<&Histogram> for Buckets {
    fn from(histogram: &Histogram) -> Self {
        Self(histogram.recorded().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::text::tests::written_by_the_crate;
    use crate::histogram::{COUNT_MAX, LONGEST_NS, decode, empty, encode};

    fn whole(histogram: &Histogram) -> Vec<(u64, u64)> {
        histogram.recorded().collect()
    }

    /// Histograms of many spreads, with values at both ends and large counts.
    fn spread() -> Vec<Histogram> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let filled = (0..60).map(|number| {
            let mut histogram = empty();
            for _ in 0..(1 << (number % 12)) {
                histogram.saturating_record_n(random() >> (20 + random() % 44), random() % 1_000 + 1);
            }
            histogram
        });
        let mut ends = empty();
        ends.saturating_record_n(0, 7);
        ends.saturating_record_n(1, COUNT_MAX / 2);
        ends.saturating_record(LONGEST_NS);
        filled.chain([empty(), ends]).collect()
    }

    #[test]
    fn buckets_are_those_of_the_whole_histogram() {
        for histogram in spread() {
            let text = encode(&histogram);
            assert_eq!(Buckets::read(&text).unwrap().encode(), text);
            assert_eq!(Buckets::merged([text.as_str()]).unwrap().as_slice(), whole(&decode(&text).unwrap()));
        }
    }

    #[test]
    fn buckets_of_many_are_those_of_the_sum() {
        let mut sum = empty();
        let texts: Vec<String> = spread().iter().take(60).map(encode).collect();
        texts.iter().for_each(|text| sum.add(&decode(text).unwrap()));
        let merged = Buckets::merged(texts.iter().map(String::as_str)).unwrap();
        assert_eq!(merged.as_slice(), whole(&sum));
        for percent in [0.0, 10.0, 50.0, 95.0, 99.0, 99.9, 99.999, 100.0] {
            assert_eq!(merged.value_at(percent), Some(sum.value_at_quantile(percent / 100.0)), "{percent} percent");
        }
        assert_eq!(Buckets::default().value_at(50.0), None);
    }

    #[test]
    fn a_few_values_answer_as_a_whole_histogram_does() {
        let values_ns = [0, 7, 7, 2_048, 2_049, 5_000_000, 5_000_001, u64::MAX];
        for count in 0..=values_ns.len() {
            let mut histogram = empty();
            values_ns[..count].iter().for_each(|&value_ns| histogram.saturating_record(value_ns));
            let few = Buckets::of(&values_ns[..count]);
            assert_eq!(few.as_slice(), whole(&histogram));
            assert_eq!(few.encode(), encode(&histogram));
            assert_eq!((few.count(), few.ends()), (histogram.len(), (histogram.min(), histogram.max())));
            assert_eq!(few.mean_and_stdev(), (histogram.mean(), histogram.stdev()));
            for quantile in [0.0, 0.1, 0.5, 0.99, 1.0] {
                assert_eq!(few.value_at_quantile(quantile), histogram.value_at_quantile(quantile), "{quantile}");
            }
            for (value_ns, at_most) in [(0, 1), (6, 1), (7, 3), (4_000_000, 5), (u64::MAX, 8)] {
                let expected = count.min(at_most) as u64;
                assert_eq!((few.at_most(value_ns), histogram.at_most(value_ns)), (expected, expected), "{value_ns}");
            }
        }
    }

    #[test]
    fn every_request_is_in_the_band_of_its_latency() {
        let edges_ns = [0, 10, 10, 100, 1_000];
        let of = |buckets: &[(u64, u64)]| Buckets(buckets.to_vec()).bands(&edges_ns);
        assert_eq!(of(&[(9, 1), (10, 2), (99, 3), (1_000, 4), (5_000, 5)]), [0, 1, 0, 5, 0, 9]);
        assert_eq!(of(&[(100, 6)]), [3, 6]);
        assert_eq!(of(&[]), [0u64; 0]);
    }

    #[test]
    fn text_of_other_writers_is_read_and_junk_refused_as_ever() {
        let mut other = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 2).unwrap();
        (1..2_000u64).for_each(|value| other.saturating_record(value * value));
        let text = written_by_the_crate(&other);
        assert_eq!(Buckets::merged([text.as_str()]).unwrap().as_slice(), whole(&decode(&text).unwrap()));
        let text = encode(&spread()[11]);
        for junk in ["", "AAAA", "not a histogram!", &text[..text.len() / 2], &text[..text.len() - 8]] {
            let read = Buckets::merged([junk]).map(|buckets| buckets.as_slice().to_vec());
            assert_eq!(read, decode(junk).map(|histogram| whole(&histogram)), "{junk}");
        }
    }
}
