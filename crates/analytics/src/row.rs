//! A row: 200 bytes that follow from seed, workflow and number, with a checksum of its own.
//!
//! Model: its number, four texts (few, many, very many values; free text), twelve numbers and three dates. Every field is drawn by
//! hashing seed, workflow, row and field, so that any row can be made without those before it. Numbers are multiples of 2^-53 below 1:
//! their sums are exact in any order, and they do not compress. The last four bytes are the CRC32C of the others.
//! Limits: texts are upper-case letters and digits, so that rows can be written as lines.

use std::ops::Range;

/// Bytes of a row.
pub const ROW_BYTES: usize = 200;
/// One row.
pub type Row = [u8; ROW_BYTES];
/// Nothing yet.
pub const EMPTY: Row = [0; ROW_BYTES];

/// Text of few values.
pub const C1: Range<usize> = 8..16;
/// Text of many values.
pub const C2: Range<usize> = 16..32;
/// Text of very many values.
pub const C3: Range<usize> = 32..56;
/// Free text.
pub const C4: Range<usize> = 56..88;
/// What rows are sorted by: C3, then C4.
pub const SORTED_BY: Range<usize> = 32..88;
/// Numbers of a row.
pub const NUMBERS: usize = 12;
/// Dates of a row.
pub const DATES: usize = 3;
/// Values of C1.
pub const C1_VALUES: u32 = 50;
/// Values of C2.
pub const C2_VALUES: u32 = 10_000;
/// Values of C3.
pub const C3_VALUES: u64 = 10_000_000;
/// The first date, in days from 1970, and how many days there are: 2001 to 2010.
const FIRST_DAY: i32 = 11_323;
const DAYS: u64 = 3652;
const NUMBERS_AT: usize = 88;
const DATES_AT: usize = NUMBERS_AT + 8 * NUMBERS;
const SEAL_AT: usize = DATES_AT + 4 * DATES;
const _: () = assert!(SEAL_AT + 4 == ROW_BYTES);
/// Steps of the numbers below 1.
const ONE: f64 = (1u64 << 53) as f64;

/// Whose rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// Of the data.
    pub seed: u64,
    /// The workflow whose rows they are; all workflows may read those of one.
    pub workflow: u64,
}

impl Rows {
    /// Makes the row of a number.
    pub fn make(&self, number: u64, row: &mut Row) {
        let mut draws = Draws::of(self, number);
        row[..8].copy_from_slice(&number.to_le_bytes());
        let first = draws.next();
        row[C1].copy_from_slice(&c1_value((first as u32) % C1_VALUES));
        row[C2].copy_from_slice(&c2_value(((first >> 32) as u32) % C2_VALUES));
        row[C3].copy_from_slice(&c3_value(draws.next() % C3_VALUES));
        let text = &mut row[C4];
        letters(draws.next(), &mut text[..12]);
        letters(draws.next(), &mut text[12..24]);
        letters(draws.next(), &mut text[24..]);
        for place in 0..NUMBERS {
            set_number(row, place, (draws.next() >> 11) as f64 / ONE);
        }
        let days = draws.next();
        for place in 0..DATES {
            let day = FIRST_DAY + ((days >> (20 * place)) % DAYS) as i32;
            row[DATES_AT + 4 * place..][..4].copy_from_slice(&day.to_le_bytes());
        }
        seal(row);
    }

    /// A number below `end` that belongs to a turn of a purpose, for choosing rows to look up.
    pub fn choice(&self, purpose: u64, turn: u64, end: u64) -> u64 {
        Draws::of(self, mixed(purpose) ^ turn).next() % end.max(1)
    }
}

/// Draws of one row, one after the other.
struct Draws(u64);

impl Draws {
    fn of(rows: &Rows, number: u64) -> Self {
        Self(mixed(mixed(mixed(rows.seed ^ 0x706c_696d_736f_6c6c) ^ rows.workflow) ^ number))
    }

    // SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }
}

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the value.
pub fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// One of the values of C1: `GROUP037`.
pub fn c1_value(value: u32) -> [u8; 8] {
    let mut text = *b"GROUP000";
    digits(value, &mut text[5..]);
    text
}

/// One of the values of C2, whose first letters already tell most of them apart.
pub fn c2_value(value: u32) -> [u8; 16] {
    let mut text = [b'P'; 16];
    letters(mixed(0xc2 ^ (u64::from(value) << 8)), &mut text[..11]);
    digits(value, &mut text[11..]);
    text
}

fn c3_value(value: u64) -> [u8; 24] {
    let mut text = [b'0'; 24];
    letters(mixed(0xc3 ^ (value << 8)), &mut text[..12]);
    digits(value as u32, &mut text[12..20]);
    text
}

fn letters(bits: u64, text: &mut [u8]) {
    for (place, letter) in text.iter_mut().enumerate() {
        // Letters A to Z and digits 0 to 5: five bits each.
        let five = ((bits >> (5 * place)) & 31) as u8;
        *letter = if five < 26 { b'A' + five } else { b'0' + five - 26 };
    }
}

fn digits(mut value: u32, text: &mut [u8]) {
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

/// The number of a row.
pub fn number_of(row: &[u8]) -> u64 {
    u64::from_le_bytes(bytes(row, 0))
}

/// One of the numbers that a row holds.
pub fn number(row: &[u8], place: usize) -> f64 {
    f64::from_le_bytes(bytes(row, NUMBERS_AT + 8 * place))
}

/// Sets one of them; the row has to be sealed afterwards.
pub fn set_number(row: &mut [u8], place: usize, value: f64) {
    row[NUMBERS_AT + 8 * place..][..8].copy_from_slice(&value.to_le_bytes());
}

/// One of the dates, in days from 1970.
pub fn date(row: &[u8], place: usize) -> i32 {
    i32::from_le_bytes(bytes(row, DATES_AT + 4 * place))
}

/// The first number in steps of 2^-53: what sums are taken of, exactly.
pub fn amount(row: &[u8]) -> u64 {
    (number(row, 0) * ONE) as u64
}

/// Four columns follow from others, as a DATA step does it.
pub fn derive(row: &mut [u8]) {
    let given: [f64; 7] = std::array::from_fn(|place| number(row, place));
    set_number(row, 8, (given[0] + given[1]) / 2.0);
    set_number(row, 9, given[2] * given[3]);
    set_number(row, 10, given[4].sqrt());
    set_number(row, 11, (given[5] - given[6]).abs());
}

/// Writes the checksum.
pub fn seal(row: &mut [u8]) {
    let seal = crc32c::crc32c(&row[..SEAL_AT]);
    row[SEAL_AT..].copy_from_slice(&seal.to_le_bytes());
}

/// Whether the checksum is that of the row.
pub fn is_sealed(row: &[u8]) -> bool {
    crc32c::crc32c(&row[..SEAL_AT]) == seal_of(row)
}

/// The checksum as it stands.
pub fn seal_of(row: &[u8]) -> u32 {
    u32::from_le_bytes(bytes(row, SEAL_AT))
}

fn bytes<const N: usize>(row: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    found.copy_from_slice(&row[at..at + N]);
    found
}

/// Months since the year 0 of a day from 1970; proleptic Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
pub fn month_of(day: i32) -> i32 {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (year, month) = if month < 10 { (year, month + 2) } else { (year + 1, month - 10) };
    12 * (year + 400 * era) + month
}

/// One row as a line of text, its fields in order, for engines that read rows as text.
pub fn csv_line(row: &[u8], line: &mut Vec<u8>) {
    use std::io::Write;
    let _ = write!(line, "{}", number_of(row));
    for text in [C1, C2, C3, C4] {
        line.push(b',');
        line.extend_from_slice(&row[text]);
    }
    for place in 0..NUMBERS {
        let _ = write!(line, ",{}", number(row, place));
    }
    for place in 0..DATES {
        let _ = write!(line, ",{}", date(row, place));
    }
    line.push(b'\n');
}
