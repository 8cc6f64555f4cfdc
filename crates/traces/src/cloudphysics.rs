//! The CSV of the CloudPhysics traces of virtual machines, as libCacheSim hands on its sample (`cloudPhysicsIO.csv`).
//!
//! Model: `version,time,op,size,lbn` below a header of these words: the version of the binary record it was made from, the
//! time, the SCSI operation code in hexadecimal ([`crate::scsi`]), bytes, and the logical block. A trace is of one virtual
//! machine; its disks are not told apart.
//! Units: blocks of 512 bytes. Times are seconds in the sample; numbers of 10¹¹ or more, which would be thousands of
//! years, are taken as the microseconds of the binary record. They are counted from the first request.
//! Limits: with times in whole seconds the order within a second is known, and the gaps are not. There are no response
//! times.
//! Source: libCacheSim's FAQ (units) and its sample.
//!
//! ```text
//! 1,33898,2a,512,42932745
//! ```

use plimsoll_workload::Op;

use crate::error::TraceError;
use crate::reading::{Reading, WITHOUT_SECTORS};
use crate::request::{Request, SECTOR_BYTES};
use crate::scsi::operation;
use crate::words::cells;

/// What the requests are of; the trace has no names.
pub const TARGET: &str = "vm";
/// What is said of times without a fraction.
pub const WHOLE_SECONDS: &str = "its times are whole seconds, so the requests of a second are due together";
const MICROSECONDS: &str = "its times are microseconds";
const COLUMNS: usize = 5;
/// From here on a time is not of seconds.
const MICROSECONDS_FROM: u128 = 100_000_000_000;
const NS_PER_S: u128 = 1_000_000_000;
const NS_PER_US: u128 = 1000;

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Cloudphysics {
    first_ns: Option<u64>,
}

impl Cloudphysics {
    /// What a line says; `None` for one that names the columns or moves nothing.
    pub fn request(&mut self, line: &str, reading: &mut Reading) -> Result<Option<Request>, TraceError> {
        let ([version, time, code, size, block], count) = cells::<COLUMNS>(line);
        if version.eq_ignore_ascii_case("version") {
            return Ok(None);
        }
        if count != COLUMNS {
            return Err(reading.columns(count, COLUMNS, "version,time,op,size,lbn"));
        }
        let at_ns = instant(time, reading)?;
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        let Some(known) = number_of(code) else {
            let after = " is no SCSI code in hexadecimal; write for example 28 (read) or 2a (write).";
            return Err(reading.about("the operation ", code, after));
        };
        let length = reading.whole(size, "the size", "4096")?;
        let offset = reading.whole(block, "the block", "42932745")? * SECTOR_BYTES;
        let Some(op) = operation(known, length > 0) else {
            reading.left_out.count(WITHOUT_SECTORS);
            return Ok(None);
        };
        let (offset, length) = if op == Op::Flush { (0, 0) } else { reading.extent(offset, length)? };
        let target = reading.targets.number(TARGET)?;
        Ok(Some(Request { at_ns: Some(at_ns.saturating_sub(first_ns)), op, offset, length, target, service_ns: None }))
    }
}

/// One or two digits in hexadecimal, with or without `0x` before them.
fn number_of(code: &str) -> Option<u16> {
    let digits = code.strip_prefix("0x").or_else(|| code.strip_prefix("0X")).unwrap_or(code);
    let fits = (1..=2).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if fits { u16::from_str_radix(digits, 16).ok() } else { None }
}

/// A time, which says by its size what it is of.
fn instant(text: &str, reading: &mut Reading) -> Result<u64, TraceError> {
    let is_digits =
        |text: &str, most| (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |digits: &str| digits.bytes().fold(0, |number, digit| number * 10 + u128::from(digit - b'0'));
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    if !is_digits(whole, 16) || !fraction.is_none_or(|fraction| is_digits(fraction, 9)) {
        return Err(reading.about("the time ", text, " is not a number of seconds; write for example 33898."));
    }
    let seconds = number(whole);
    if seconds >= MICROSECONDS_FROM {
        reading.assume(MICROSECONDS);
        return reading.instant(seconds * NS_PER_US);
    }
    let fraction = fraction.unwrap_or_else(|| {
        reading.assume(WHOLE_SECONDS);
        ""
    });
    let scale = 10_u128.pow(9 - fraction.len() as u32);
    reading.instant(seconds * NS_PER_S + number(fraction) * scale)
}
