//! What the numbers of a document count in, as the last letters of their keys say.
//!
//! Model: a bare number counts in the unit of its key. In a file a text with a unit may stand for it (`"250us"`), which is turned
//! into a number before the document is read.

/// What a number counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// How its keys end.
    pub ending: &'static str,
    /// What it counts.
    pub name: &'static str,
    /// What a text with a unit is called.
    pub word: &'static str,
    /// Such a text.
    pub example: &'static str,
    /// Pattern of such texts.
    pub pattern: &'static str,
}

const SIZE_PATTERN: &str = r"^[0-9]+(\.[0-9]+)? ?([bB]|[kKmMgGtTpP]([iI][bB]?)?|[kMGTP]B)?$";
const RATE_PATTERN: &str = r"^[0-9]+(\.[0-9]+)? ?([bB]|[kKmMgGtTpP]([iI][bB]?)?|[kMGTP]B)?(/s)?$";
const TIME_PATTERN: &str = r"^([0-9]+(\.[0-9]+)? ?(ns|us|µs|ms|s|sec|m|min|h|d)? ?)+$";
const SHARE_PATTERN: &str = r"^[0-9]+(\.[0-9]+)? ?%?$";

/// Declares a unit.
const fn unit(
    ending: &'static str,
    name: &'static str,
    (word, example, pattern): (&'static str, &'static str, &'static str),
) -> Unit {
    Unit { ending, name, word, example, pattern }
}

/// Bytes per second.
pub const BYTES_PER_S: Unit = unit("bytes_per_s", "bytes per second", ("rate", "400MB/s", RATE_PATTERN));
/// Bytes, where the key says that it is the most.
pub const BYTES_MAX: Unit = unit("bytes_max", "bytes", ("size", "64KiB", SIZE_PATTERN));
/// Bytes.
pub const BYTES: Unit = unit("bytes", "bytes", ("size", "64KiB", SIZE_PATTERN));
/// Sectors.
pub const SECTORS: Unit = unit("sectors", "sectors of 512 bytes", ("size", "64KiB", SIZE_PATTERN));
/// Nanoseconds.
pub const NS: Unit = unit("ns", "nanoseconds", ("time", "250us", TIME_PATTERN));
/// Microseconds.
pub const US: Unit = unit("us", "microseconds", ("time", "250us", TIME_PATTERN));
/// Milliseconds.
pub const MS: Unit = unit("ms", "milliseconds", ("time", "250ms", TIME_PATTERN));
/// Seconds.
pub const S: Unit = unit("s", "seconds", ("time", "1m30s", TIME_PATTERN));
/// Hours.
pub const HOURS: Unit = unit("hours", "hours", ("time", "2d", TIME_PATTERN));
/// Percent.
pub const PERCENT: Unit = unit("percent", "percent", ("share", "70%", SHARE_PATTERN));

/// All units, in the order in which the reference lists them.
pub const ALL: [Unit; 10] = [BYTES_PER_S, BYTES_MAX, BYTES, SECTORS, NS, US, MS, S, HOURS, PERCENT];
