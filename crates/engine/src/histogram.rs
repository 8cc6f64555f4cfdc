//! The one shape of every latency histogram: HDR, 1 ns to 4,398 s, three significant digits.
//!
//! Three digits mean 2,048 steps per power of two and a half: no value is off by more than 1/1024, inside the 1/256 that
//! is promised. Merging adds counts and loses nothing. Text form: HDR V2, deflated, base64 (the HdrHistogram project's log
//! format), which other HDR readers open.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// A latency histogram in nanoseconds.
pub type Histogram = hdrhistogram::Histogram<u64>;

/// Longest value told apart, in nanoseconds; longer ones count as this.
pub const LONGEST_NS: u64 = (1 << 42) - 1;

const SIGNIFICANT_DIGITS: u8 = 3;

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
/// Never: the bounds are constants that the crate accepts.
pub fn empty() -> Histogram {
    Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS).expect("constant bounds are valid")
}

/// The largest count of a bucket in the text form, which keeps counts as signed numbers of 64 bits: 9.2 × 10^18, which a billion
/// requests per second need 292 years for.
pub const COUNT_MAX: u64 = i64::MAX as u64;

/// HDR V2 deflated, in base64 without line breaks. A count above [`COUNT_MAX`] is written as that.
///
/// # Panics
/// Never: writing to memory cannot fail.
pub fn encode(histogram: &Histogram) -> String {
    let mut bytes = Vec::new();
    let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    if written.is_err() {
        bytes.clear();
        V2DeflateSerializer::new().serialize(&limited(histogram), &mut bytes).expect("a vector takes every byte");
    }
    BASE64.encode(&bytes)
}

/// The same with no count above what the text form can hold.
fn limited(histogram: &Histogram) -> Histogram {
    let mut limited = empty();
    for step in histogram.iter_recorded() {
        limited.saturating_record_n(step.value_iterated_to(), step.count_at_value().min(COUNT_MAX));
    }
    limited
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
    let decoded: Histogram = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("a histogram cannot be read as HDR V2: {error}"))?;
    let mut histogram = empty();
    if decoded.high() == LONGEST_NS && decoded.sigfig() == SIGNIFICANT_DIGITS && decoded.low() == histogram.low() {
        return Ok(decoded);
    }
    histogram.add(&decoded).map_err(|error| format!("a histogram has values beyond {LONGEST_NS} ns: {error}"))?;
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        left.add(&right).unwrap();
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
