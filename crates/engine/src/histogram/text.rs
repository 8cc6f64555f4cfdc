//! The text form of a histogram: HDR V2, deflated, base64 (the HdrHistogram project's log format), which other HDR readers open.
//!
//! Model: only buckets that have a count are written and read. What the compressor and its counterpart need, some 300 KiB, is kept by
//! each thread that writes or reads: it is dearer to come by than a histogram is to write. The text is that which the HDR crate writes.
//! What is not just as it is written here is left to that crate, which reads it all the same or says what is wrong with it.

use std::cell::RefCell;
use std::sync::LazyLock;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::Deserializer;

use super::{BUCKETS, Histogram, LONGEST_NS, SIGNIFICANT_DIGITS, bounds_of, empty};

/// Cookies of HDR V2, deflated and plain; bytes of a cookie with the length behind it, and of what stands before the counts.
const DEFLATED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;
const PRELUDE: usize = 8;
const HEAD: usize = 40;

/// The highest value of each bucket of the one shape, ascending.
static UPPERS_NS: LazyLock<Box<[u64]>> = LazyLock::new(|| (0..BUCKETS).map(|bucket| bounds_of(bucket).1).collect());

thread_local! {
    static WRITER: RefCell<Writer> = RefCell::new(Writer::new());
    static READER: RefCell<Reader> = RefCell::new(Reader::new());
}

/// RFC 4648 with padding; other writers may leave that out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The largest count of a bucket in the text form, which keeps counts as signed numbers of 64 bits: 9.2 × 10^18, which a billion
/// requests per second need 292 years for.
pub const COUNT_MAX: u64 = i64::MAX as u64;

/// HDR V2 deflated, in base64 without line breaks. A count above [`COUNT_MAX`] is written as that.
///
/// # Panics
/// Never: writing to memory cannot fail.
pub fn encode(histogram: &Histogram) -> String {
    written(histogram.counted())
}

/// The text of buckets and their counts, ascending.
pub(crate) fn written(counted: impl Iterator<Item = (usize, u64)>) -> String {
    WRITER.with_borrow_mut(|writer| writer.text(counted))
}

/// Reads what [`encode`], or any other HDR V2 writer, wrote.
///
/// # Errors
/// One sentence, when the text is no such histogram.
pub fn decode(text: &str) -> Result<Histogram, String> {
    let mut histogram = empty();
    read(text)?.into_iter().for_each(|(value_ns, count)| histogram.saturating_record_n(value_ns, count));
    Ok(histogram)
}

/// The highest value and the count of each bucket that has one, ascending.
///
/// # Errors
/// One sentence, when the text is no histogram.
pub(crate) fn read(text: &str) -> Result<Vec<(u64, u64)>, String> {
    let bytes = BASE64.decode(text).map_err(|_| "a histogram is not base64 text")?;
    match READER.with_borrow_mut(|reader| reader.as_encoded(&bytes)) {
        Some(buckets) => Ok(buckets),
        None => Ok(read_any(&bytes)?.recorded().collect()),
    }
}

/// What any HDR V2 writer wrote.
fn read_any(mut bytes: &[u8]) -> Result<Histogram, String> {
    let decoded: Hdr<u64> = Deserializer::new()
        .deserialize(&mut bytes)
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

/// An empty one of the crate that reads any text form.
pub(super) fn hdr() -> Hdr<u64> {
    Hdr::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS).expect("constant bounds are valid")
}

/// Writes one text after the other, with the same memory.
struct Writer {
    compressor: Compress,
    plain: Vec<u8>,
    deflated: Vec<u8>,
}

impl Writer {
    fn new() -> Self {
        Self { compressor: Compress::new(Compression::default(), true), plain: Vec::new(), deflated: Vec::new() }
    }

    fn text(&mut self, counted: impl Iterator<Item = (usize, u64)>) -> String {
        self.write_plain(counted);
        self.deflate();
        BASE64.encode(&self.deflated)
    }

    /// Head and counts; of buckets without a count how many follow each other, as a negative number.
    fn write_plain(&mut self, counted: impl Iterator<Item = (usize, u64)>) {
        let plain = &mut self.plain;
        plain.clear();
        // The length comes last; values are in the order of their buckets.
        plain.extend([PLAIN, 0, 0, u32::from(SIGNIFICANT_DIGITS)].iter().flat_map(|word| word.to_be_bytes()));
        plain.extend([1, LONGEST_NS, 1.0_f64.to_bits()].iter().flat_map(|word| word.to_be_bytes()));
        let mut next = 0;
        for (bucket, count) in counted {
            match bucket - next {
                0 => {}
                1 => write_number(plain, 0),
                empty => write_number(plain, -(empty as i64)),
            }
            write_number(plain, count.min(COUNT_MAX) as i64);
            next = bucket + 1;
        }
        if next == 0 {
            write_number(plain, 0);
        }
        say_length(plain, HEAD);
    }

    fn deflate(&mut self) {
        let Self { compressor, plain, deflated } = self;
        compressor.reset();
        deflated.clear();
        deflated.extend([DEFLATED, 0].iter().flat_map(|word| word.to_be_bytes()));
        let mut status = Status::Ok;
        while status != Status::StreamEnd {
            deflated.reserve(plain.len() / 2 + 64);
            let rest = &plain[compressor.total_in() as usize..];
            status = compressor.compress_vec(rest, deflated, FlushCompress::Finish).expect("memory takes every byte");
        }
        say_length(deflated, PRELUDE);
    }
}

/// Says behind the cookie how many bytes follow the first `head`.
fn say_length(bytes: &mut [u8], head: usize) {
    let length = (bytes.len() - head) as u32;
    bytes[4..PRELUDE].copy_from_slice(&length.to_be_bytes());
}

/// A number in zigzag, seven bits to a byte, the lowest first; a ninth byte holds eight.
fn write_number(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            break;
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
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

    /// The buckets of what is just as [`encode`] writes it.
    fn as_encoded(&mut self, bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
        let (cookie, length) = (number(bytes, 0)?, number(bytes, 4)?);
        let packed = bytes.get(PRELUDE..)?;
        if cookie != DEFLATED || packed.len() != length as usize || !self.inflate(packed) {
            return None;
        }
        let shape = [PLAIN, (self.inflated.len().checked_sub(HEAD)?) as u32, 0, u32::from(SIGNIFICANT_DIGITS), 0, 1];
        let long = |at| Some(u64::from(number(&self.inflated, at)?) << 32 | u64::from(number(&self.inflated, at + 4)?));
        let told = shape.iter().enumerate().all(|(place, &word)| number(&self.inflated, 4 * place) == Some(word));
        if !told || long(24)? != LONGEST_NS || f64::from_bits(long(32)?) != 1.0 {
            return None;
        }
        counts(&self.inflated[HEAD..])
    }

    /// Whether `packed` is one deflated whole; it then stands in `inflated`.
    fn inflate(&mut self, packed: &[u8]) -> bool {
        loop {
            self.inflater.reset(true);
            self.inflated.clear();
            match self.inflater.decompress_vec(packed, &mut self.inflated, FlushDecompress::Finish) {
                Ok(Status::StreamEnd) => return self.inflater.total_in() as usize == packed.len(),
                // In one piece or not at all, so it begins anew with more room.
                Ok(_) if self.inflated.capacity() < 9 * BUCKETS => {
                    self.inflated = Vec::with_capacity(2 * self.inflated.capacity())
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
pub(crate) mod tests {
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    use plimsoll_workload::rng::drawn as draw;

    use super::*;

    /// As the HDR crate writes it.
    pub(crate) fn written_by_the_crate(hdr: &Hdr<u64>) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(hdr, &mut bytes).expect("a vector takes every byte");
        BASE64.encode(&bytes)
    }

    /// Few values and many, near each other and far apart, one text after the other by the same writer.
    #[test]
    fn the_text_is_that_of_the_crate() {
        for number in 0..200_u64 {
            let (mut ours, mut theirs) = (empty(), hdr());
            for value in 0..1 << (number % 14) {
                let value_ns = draw(number, value) >> (draw(7, number) % 64);
                let count = (draw(9, value) >> (draw(11, number ^ value) % 64) >> 1).max(1);
                ours.saturating_record_n(value_ns, count);
                theirs.saturating_record_n(value_ns, count);
            }
            if ours.recorded().all(|(_, count)| count <= COUNT_MAX) {
                assert_eq!(encode(&ours), written_by_the_crate(&theirs), "{number}");
            }
            let bytes = BASE64.decode(encode(&ours)).unwrap();
            assert_eq!(
                Reader::new().as_encoded(&bytes).map(|read| read.len()),
                Some(ours.recorded().count()),
                "{number}"
            );
        }
        assert_eq!(encode(&empty()), written_by_the_crate(&hdr()));
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
