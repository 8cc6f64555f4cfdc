//! The buckets of histograms that have a count: all that a report draws of a distribution, read without the rest.
//!
//! Model: a histogram has 33,792 buckets, of which some hundreds have a count. Only these are read from the text form, and added
//! up in order; what they answer equals what the whole histogram answers. Text that is not just as [`histogram::encode`] writes it
//! is left to [`histogram::decode`], which reads it all the same or says what is wrong with it.

mod curve;

use std::sync::LazyLock;

use flate2::{Decompress, FlushDecompress, Status};

use crate::histogram::{self, LONGEST_NS};

/// Cookies of HDR V2, deflated and plain, and how long what stands before the counts is.
const DEFLATED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;
const HEAD: usize = 40;

/// The highest value of each bucket of the one shape, ascending.
static UPPERS_NS: LazyLock<Box<[u64]>> =
    LazyLock::new(|| (0..histogram::BUCKETS).map(|bucket| histogram::bounds_of(bucket).1).collect());

/// Highest value in ns and count of each bucket that has one, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buckets(Vec<(u64, u64)>);

impl Buckets {
    /// Those of all histograms of `texts` together.
    ///
    /// # Errors
    /// One sentence, when a text is no histogram.
    pub fn merged<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut reader = Reader::new();
        let mut total = Self::default();
        for text in texts {
            total.add(&Self(reader.read(text)?));
        }
        Ok(total)
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

/// Reads one text after the other, with the same memory.
struct Reader {
    inflater: Decompress,
    inflated: Vec<u8>,
}

impl Reader {
    fn new() -> Self {
        Self { inflater: Decompress::new(true), inflated: Vec::with_capacity(16 << 10) }
    }

    fn read(&mut self, text: &str) -> Result<Vec<(u64, u64)>, String> {
        if let Some(buckets) = self.as_encoded(text) {
            return Ok(buckets);
        }
        let whole = histogram::decode(text)?;
        Ok(whole.recorded().collect())
    }

    /// The buckets of a text that is just as `histogram::encode` writes it.
    fn as_encoded(&mut self, text: &str) -> Option<Vec<(u64, u64)>> {
        let bytes = histogram::unwrapped(text)?;
        let (cookie, length) = (number(&bytes, 0)?, number(&bytes, 4)?);
        let packed = bytes.get(8..)?;
        if cookie != DEFLATED || packed.len() != length as usize || !self.inflate(packed) {
            return None;
        }
        let shape = [PLAIN, (self.inflated.len().checked_sub(HEAD)?) as u32, 0, 3, 0, 1];
        let long = |at| Some(u64::from(number(&self.inflated, at)?) << 32 | u64::from(number(&self.inflated, at + 4)?));
        let told = shape.iter().enumerate().all(|(place, &word)| number(&self.inflated, 4 * place) == Some(word));
        if !told || long(24)? != LONGEST_NS || f64::from_bits(long(32)?) != 1.0 {
            return None;
        }
        counts(&self.inflated[HEAD..])
    }

    /// Whether `packed` is one deflated whole; it then stands in `inflated`.
    fn inflate(&mut self, packed: &[u8]) -> bool {
        self.inflater.reset(true);
        self.inflated.clear();
        loop {
            let read = self.inflater.total_in() as usize;
            match self.inflater.decompress_vec(&packed[read..], &mut self.inflated, FlushDecompress::Finish) {
                Ok(Status::StreamEnd) => return self.inflater.total_in() as usize == packed.len(),
                Ok(_)
                    if self.inflated.len() == self.inflated.capacity() && self.inflated.len() < 9 * UPPERS_NS.len() =>
                {
                    self.inflated.reserve(self.inflated.len());
                }
                _ => return false,
            }
        }
    }
}

/// The counts above zero: numbers in zigzag, those below zero say how many buckets without a count follow each other.
fn counts(mut coded: &[u8]) -> Option<Vec<(u64, u64)>> {
    let mut found = Vec::with_capacity(coded.len());
    let mut bucket = 0usize;
    while !coded.is_empty() {
        let (mut zigzag, mut read) = (0u64, 0);
        loop {
            let byte = u64::from(*coded.get(read)?);
            let last = read == 8 || byte < 0x80;
            zigzag |= (if read == 8 { byte } else { byte & 0x7f }) << (7 * read);
            read += 1;
            if last {
                break;
            }
        }
        coded = &coded[read..];
        let number = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        if number < 0 {
            bucket = bucket.checked_add(usize::try_from(number.unsigned_abs()).ok()?)?;
        } else {
            let upper_ns = *UPPERS_NS.get(bucket)?;
            if number > 0 {
                found.push((upper_ns, number.unsigned_abs()));
            }
            bucket += 1;
        }
    }
    (bucket <= UPPERS_NS.len()).then_some(found)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::{COUNT_MAX, Histogram, decode, empty, encode};

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
        assert_eq!(UPPERS_NS.len(), empty().distinct_values());
        for histogram in spread() {
            let text = encode(&histogram);
            assert_eq!(Reader::new().as_encoded(&text), Some(whole(&histogram)), "it is read without the rest");
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
        let text = histogram::encoded(&other);
        assert_eq!(Buckets::merged([text.as_str()]).unwrap().as_slice(), whole(&decode(&text).unwrap()));
        let text = encode(&spread()[11]);
        for junk in ["", "AAAA", "not a histogram!", &text[..text.len() / 2], &text[..text.len() - 8]] {
            let read = Buckets::merged([junk]).map(|buckets| buckets.as_slice().to_vec());
            assert_eq!(read, decode(junk).map(|histogram| whole(&histogram)), "{junk}");
        }
    }
}
