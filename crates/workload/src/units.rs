//! Sizes, durations, rates and percentages as people write them, turned into bytes, nanoseconds and numbers and back.
//!
//! Sizes: `4096`, `4KiB`, `4k`, `1.5GiB`; bare `k m g t p` and `KiB …` count in 1,024s, `kB MB …` in 1,000s. Durations:
//! `250ms`, `10s`, `1m30s`; a bare number is seconds. Rates: `20k`, `300/s`; `k` and `m` count in 1,000s. Percentages:
//! `70`, `70.5%`. Arithmetic on text is exact; limit: no exponents (`1e3`), and `KB`, `kb`, `mb` … are refused because
//! both readings are common.
//!
//! ```
//! use plimsoll_workload::units::{bytes_from_text, bytes_to_text, ns_from_text};
//! assert_eq!(bytes_from_text("1.5GiB").unwrap(), 1_610_612_736);
//! assert_eq!(ns_from_text("1m30s").unwrap(), 90_000_000_000);
//! assert_eq!(bytes_to_text(65_536), "64KiB");
//! ```

use crate::error::Problem;

/// Bytes in a gibibyte.
pub const GIB: u64 = 1 << 30;
/// Nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;

const SIZE_ADVICE: &str = "write for example 4KiB, 64k or 1GiB";
const TIME_ADVICE: &str = "write for example 250ms, 10s or 1m30s";
const RATE_ADVICE: &str = "write requests per second, for example 500, 20k or 1.5k/s";
const PERCENT_ADVICE: &str = "write for example 70, 70.5 or 70%";

const TIME_UNITS: [(&str, u64); 8] = [
    ("d", 86_400 * NS_PER_S),
    ("h", 3_600 * NS_PER_S),
    ("m", 60 * NS_PER_S),
    ("s", NS_PER_S),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// A decimal number held exactly: `digits / 10^decimals`.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u128,
    decimals: u32,
}

impl Decimal {
    /// The whole number `self × unit`; `None` if it is not whole or does not fit.
    fn times(self, unit: u64) -> Option<u64> {
        let scaled = self.digits.checked_mul(u128::from(unit))?;
        let divisor = 10u128.checked_pow(self.decimals)?;
        if scaled % divisor == 0 { u64::try_from(scaled / divisor).ok() } else { None }
    }

    fn to_f64(self) -> f64 {
        self.digits as f64 / 10f64.powi(self.decimals as i32)
    }
}

/// Splits `1.5GiB` into 1.5 and `GiB`; `None` if the text does not start with a plain number.
fn leading_number(text: &str) -> Option<(Decimal, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || number.ends_with('.') || fraction.contains('.') || number.len() > 30 {
        return None;
    }
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some((Decimal { digits, decimals: fraction.len() as u32 }, rest.trim_start()))
}

/// Refuses `text` as a value of a kind; numbers with an exponent get their own hint.
fn not_a(expected: &'static str, text: &str, advice: &str) -> Problem {
    let exponent = leading_number(text.trim()).is_some_and(|(_, rest)| {
        let mut after = rest.chars();
        matches!(after.next(), Some('e' | 'E')) && matches!(after.next(), Some('0'..='9' | '+' | '-'))
    });
    let advice = if exponent { advice.replacen("write", "write the number in full,", 1) } else { advice.to_owned() };
    Problem::NotA { found: format!("'{text}'"), expected, advice }
}

/// Bytes from text.
///
/// # Errors
/// If the text is not a size of a whole number of bytes below 2^64.
pub fn bytes_from_text(text: &str) -> Result<u64, Problem> {
    let wrong = |advice: &str| not_a("a size", text, advice);
    let (number, unit) = leading_number(text.trim()).ok_or_else(|| wrong(SIZE_ADVICE))?;
    let unit_bytes = match size_unit(unit) {
        SizeUnit::Bytes(bytes) => bytes,
        SizeUnit::Ambiguous(prefix) => {
            let decimal = if prefix == 'K' { 'k' } else { prefix };
            let advice = format!("write {prefix}iB for steps of 1024 or {decimal}B for steps of 1000");
            return Err(Problem::NotA { found: format!("'{text}'"), expected: "a clear size", advice });
        }
        SizeUnit::Unknown => return Err(wrong(SIZE_ADVICE)),
    };
    number
        .times(unit_bytes)
        .ok_or_else(|| wrong("write a whole number of bytes below 16EiB, for example 4KiB or 1.5GiB"))
}

enum SizeUnit {
    Bytes(u64),
    Ambiguous(char),
    Unknown,
}

fn size_unit(unit: &str) -> SizeUnit {
    let mut letters = unit.chars();
    let Some(first) = letters.next() else { return SizeUnit::Bytes(1) };
    let prefix = first.to_ascii_uppercase();
    let power = "KMGTP".find(prefix).map(|index| index as u32 + 1);
    match (power, letters.as_str()) {
        (None, "") if prefix == 'B' => SizeUnit::Bytes(1),
        (Some(power), rest) if rest.is_empty() || rest.eq_ignore_ascii_case("ib") || rest.eq_ignore_ascii_case("i") => {
            SizeUnit::Bytes(1024u64.pow(power))
        }
        (Some(power), "B") if "kMGTP".contains(first) => SizeUnit::Bytes(1000u64.pow(power)),
        (Some(_), rest) if rest.eq_ignore_ascii_case("b") => SizeUnit::Ambiguous(prefix),
        _ => SizeUnit::Unknown,
    }
}

/// The longest text of a size that reads at a glance, such as 9999GiB.
const LONGEST_WORD: usize = 7;

/// A size in the largest unit of 1,024s that divides it: `4KiB`, `1000B`.
pub fn bytes_to_text(bytes: u64) -> String {
    let units = ["PiB", "TiB", "GiB", "MiB", "KiB"];
    for (index, unit) in units.iter().enumerate() {
        let unit_bytes = 1024u64.pow(5 - index as u32);
        if bytes != 0 && bytes.is_multiple_of(unit_bytes) {
            return format!("{}{unit}", bytes / unit_bytes);
        }
    }
    format!("{bytes}B")
}

/// A size for people: as [`bytes_to_text`] where that is short, otherwise in bytes, followed by the rounded size.
pub fn bytes_to_words(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let text = bytes_to_text(bytes);
    let Some(power) = (1..=5).rev().find(|power| bytes >> (10 * power) > 0) else { return text };
    if text.len() <= LONGEST_WORD {
        return text;
    }
    format!("{bytes}B ({:.1} {})", bytes as f64 / 1024f64.powi(power), units[power as usize - 1])
}

/// Nanoseconds from text.
///
/// # Errors
/// If the text is not a duration of a whole number of nanoseconds below 2^64.
pub fn ns_from_text(text: &str) -> Result<u64, Problem> {
    let wrong = || not_a("a duration", text, TIME_ADVICE);
    let mut rest = text.trim();
    let mut total_ns = 0u64;
    let mut last_unit_ns = u64::MAX;
    while last_unit_ns == u64::MAX || !rest.is_empty() {
        let (number, after) = leading_number(rest).ok_or_else(wrong)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let unit_ns = time_unit_ns(after[..end].trim_end()).ok_or_else(wrong)?;
        let bare = after.is_empty() && last_unit_ns != u64::MAX;
        if unit_ns >= last_unit_ns || bare {
            return Err(wrong());
        }
        let part_ns = number.times(unit_ns).ok_or_else(wrong)?;
        total_ns = total_ns.checked_add(part_ns).ok_or_else(wrong)?;
        last_unit_ns = unit_ns;
        rest = &after[end..];
    }
    Ok(total_ns)
}

fn time_unit_ns(unit: &str) -> Option<u64> {
    let unit = match unit {
        "" | "sec" => "s",
        "min" => "m",
        other => other,
    };
    TIME_UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ns)| *ns)
}

/// A duration in the largest unit that divides it: `250ms`, `90s`.
pub fn ns_to_text(ns: u64) -> String {
    let fits = |unit_ns: u64| ns != 0 && ns.is_multiple_of(unit_ns);
    TIME_UNITS
        .iter()
        .find(|(_, unit_ns)| fits(*unit_ns))
        .map_or_else(|| "0s".to_owned(), |(name, unit_ns)| format!("{}{name}", ns / unit_ns))
}

/// Requests per second from text.
///
/// # Errors
/// If the text is not a rate.
pub fn rate_from_text(text: &str) -> Result<f64, Problem> {
    let wrong = || not_a("a rate", text, RATE_ADVICE);
    let (number, unit) = leading_number(text.trim()).ok_or_else(wrong)?;
    let factor = match unit.strip_suffix("/s").unwrap_or(unit).trim_end() {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        _ => return Err(wrong()),
    };
    Ok(number.to_f64() * factor)
}

/// A percentage from text, with or without its sign.
///
/// # Errors
/// If the text is not a percentage. The option checks the range.
pub fn percent_from_text(text: &str) -> Result<f64, Problem> {
    match leading_number(text.trim()) {
        Some((number, "" | "%")) => Ok(number.to_f64()),
        _ => Err(not_a("a percentage", text, PERCENT_ADVICE)),
    }
}

/// A number without a needless fraction: `70`, `70.5`.
pub fn number_to_text(number: f64) -> String {
    format!("{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_storage_people_write_them() {
        let cases = [
            ("4096", 4096),
            ("4KiB", 4096),
            ("4kib", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4Ki", 4096),
            ("4 KiB", 4096),
            ("4kB", 4000),
            ("2MB", 2_000_000),
            ("1.5GiB", 1_610_612_736),
            ("0.5k", 512),
            ("512B", 512),
            ("512b", 512),
            ("1t", 1 << 40),
            ("0", 0),
        ];
        for (text, bytes) in cases {
            assert_eq!(bytes_from_text(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn a_size_that_cannot_be_taken_in_is_told_twice() {
        for (bytes, words) in [
            (0, "0B"),
            (1000, "1000B"),
            (4 << 40, "4TiB"),
            (9999 << 30, "9999GiB"),
            (876_346_400_256, "876346400256B (816.2 GiB)"),
            (855_806_054 * 1024, "876345399296B (816.2 GiB)"),
            (123_456, "123456B"),
        ] {
            assert_eq!(bytes_to_words(bytes), words);
        }
    }

    #[test]
    fn sizes_that_are_junk_say_how_to_write_one() {
        let sentence = |text: &str| bytes_from_text(text).unwrap_err().to_string();
        assert_eq!(sentence("4 potatoes"), "'4 potatoes' is not a size; write for example 4KiB, 64k or 1GiB");
        assert_eq!(sentence("1e3"), "'1e3' is not a size; write the number in full, for example 4KiB, 64k or 1GiB");
        for text in ["", "k", "-4k", "4.5x", "4..5k", "4.k", ".5k", "1.0001k", "99999999999t", "4kk", "٤k"] {
            assert!(sentence(text).contains("is not a size"), "{text}");
        }
    }

    #[test]
    fn a_size_in_kb_is_refused_because_it_is_ambiguous() {
        assert_eq!(
            bytes_from_text("4KB").unwrap_err().to_string(),
            "'4KB' is not a clear size; write KiB for steps of 1024 or kB for steps of 1000"
        );
        for text in ["4kb", "4Kb", "4mb", "4gb", "4Mb", "4mB"] {
            assert!(bytes_from_text(text).unwrap_err().to_string().contains("clear size"), "{text}");
        }
    }

    #[test]
    fn durations_read_with_and_without_units() {
        let cases = [
            ("10", 10 * NS_PER_S),
            ("10s", 10 * NS_PER_S),
            ("250ms", 250_000_000),
            ("1m30s", 90 * NS_PER_S),
            ("1m 30s", 90 * NS_PER_S),
            ("1.5h", 5_400 * NS_PER_S),
            ("100us", 100_000),
            ("100µs", 100_000),
            ("7ns", 7),
            ("2min", 120 * NS_PER_S),
            ("0", 0),
        ];
        for (text, ns) in cases {
            assert_eq!(ns_from_text(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn durations_that_are_junk_are_refused() {
        for text in ["", "s", "10 parsecs", "30s1m", "1m30", "10s10s", "1e3", "-1s", "0.1ns"] {
            assert!(ns_from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_count_in_thousands() {
        assert_eq!(rate_from_text("20k"), Ok(20_000.0));
        assert_eq!(rate_from_text("1.5k/s"), Ok(1_500.0));
        assert_eq!(rate_from_text("0.5"), Ok(0.5));
        assert!(rate_from_text("20 per second").is_err());
    }

    #[test]
    fn percentages_read_with_and_without_sign() {
        assert_eq!(percent_from_text("70%"), Ok(70.0));
        assert_eq!(percent_from_text("70.5 %"), Ok(70.5));
        assert!(percent_from_text("70 percent").is_err());
    }

    #[test]
    fn what_is_written_reads_back() {
        for bytes in [0, 1, 512, 1000, 4096, 66_560, 3 << 30, u64::MAX] {
            assert_eq!(bytes_from_text(&bytes_to_text(bytes)), Ok(bytes));
        }
        for ns in [0, 1, 999, 1_000, 90 * NS_PER_S, 86_400 * NS_PER_S, u64::MAX] {
            assert_eq!(ns_from_text(&ns_to_text(ns)), Ok(ns));
        }
    }
}
