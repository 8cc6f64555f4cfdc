//! The parts of a compact trace as they lie in the file.

use serde::Deserialize;

use crate::request::Op;

const MAGIC: [u8; 8] = *b"PLIMTRC1";

/// Where the parts of the file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Number of records.
    pub records: u64,
    /// First byte and length of the header.
    pub header: (u64, u64),
    /// First byte and number of the touched places.
    pub touched: (u64, u64),
}

impl Prefix {
    /// Its length in bytes; the records follow.
    pub const BYTES: usize = 64;

    /// What the first bytes of a file of `size_bytes` say; a sentence when they are not those of a compact trace.
    ///
    /// # Errors
    /// If the magic is another one, or the parts do not fill the file.
    pub fn read(bytes: &[u8; Self::BYTES], size_bytes: u64) -> Result<Self, &'static str> {
        let number = |at: usize| u64_at(bytes, at);
        if bytes[..8] != MAGIC {
            return Err("it is no compact trace; make one with 'plimsoll replay TRACE --convert FILE'");
        }
        let found = Self { records: number(8), header: (number(16), number(24)), touched: (number(32), number(40)) };
        let records_end = found.records.checked_mul(TraceRecord::BYTES as u64).and_then(|end| end.checked_add(64));
        let touched_end = found.touched.1.checked_mul(8).and_then(|bytes| bytes.checked_add(found.touched.0));
        let header_end = found.header.0.checked_add(found.header.1);
        let fits = records_end == Some(found.touched.0)
            && touched_end == Some(found.header.0)
            && header_end == Some(size_bytes);
        if fits { Ok(found) } else { Err("the file is cut off or damaged; convert the trace again") }
    }

    /// As it lies in the file.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        let numbers = [self.records, self.header.0, self.header.1, self.touched.0, self.touched.1];
        for (place, number) in bytes[8..48].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

/// One request as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// When it was issued, in nanoseconds from the trace's first request; never before the record ahead of it.
    pub due_ns: u64,
    /// First byte, on its device.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub len: u32,
    /// What was done.
    pub op: Op,
    /// Index into [`TraceHeader::devices`].
    pub device: u16,
}

impl TraceRecord {
    /// Its length in the file.
    pub const BYTES: usize = 24;

    /// Reads one; bits of an operation beyond the known ones are not looked at.
    #[inline]
    pub fn read(bytes: &[u8; Self::BYTES]) -> Self {
        let [b16, b17, b18, b19, op, _, device_low, device_high] = *last_eight(bytes);
        Self {
            due_ns: u64_at(bytes, 0),
            offset: u64_at(bytes, 8),
            len: u32::from_le_bytes([b16, b17, b18, b19]),
            op: Op::ALL[usize::from(op & 3)],
            device: u16::from_le_bytes([device_low, device_high]),
        }
    }

    /// As it lies in the file.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.due_ns.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.len.to_le_bytes());
        bytes[20] = self.op as u8;
        bytes[22..].copy_from_slice(&self.device.to_le_bytes());
        bytes
    }
}

const fn last_eight(bytes: &[u8; TraceRecord::BYTES]) -> &[u8; 8] {
    match bytes.last_chunk() {
        Some(chunk) => chunk,
        None => unreachable!(),
    }
}

fn u64_at<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

/// What is known of a trace as a whole. Keys that a later version may add are not looked at.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TraceHeader {
    /// The last instant, in nanoseconds from the first.
    pub span_ns: u64,
    /// Whether the trace has times; without them all instants are 0.
    pub timed: bool,
    /// Requests by operation, indexed by [`Op`].
    pub ops: [u64; 4],
    /// The longest request by operation, in bytes.
    pub longest: [u32; 4],
    /// Greatest common divisor of all offsets and lengths; 0 without any.
    pub granule: u64,
    /// What the requests were of, in the order of first appearance.
    pub devices: Vec<TraceDevice>,
    /// Size of the places that were touched.
    pub place_bytes: u64,
    /// Response times, where they were recorded.
    #[serde(default)]
    pub service: TraceService,
    /// Where it came from.
    #[serde(default)]
    pub source: TraceSource,
    /// The places that were touched by reads and writes, ascending: device << 48 | place. Read only when needed.
    #[serde(skip)]
    pub touched: Vec<u64>,
}

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TraceDevice {
    /// As the trace calls it.
    pub name: String,
    /// First byte after its last request.
    pub end_bytes: u64,
}

/// Response times of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct TraceService {
    /// Requests whose completion was recorded.
    pub count: u64,
    /// Sum of their response times in nanoseconds.
    pub sum_ns: u64,
}

/// Where a trace came from.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct TraceSource {
    /// The file's name.
    pub name: String,
    /// Its format, as people call it.
    pub format: String,
    /// Of all bytes that were read, in hexadecimal digits.
    pub sha256: String,
}

impl TraceHeader {
    /// Reads it from the JSON in the file.
    ///
    /// # Errors
    /// A sentence when it is not one.
    pub fn read(json: &[u8]) -> Result<Self, String> {
        let header: Self = serde_json::from_slice(json)
            .map_err(|problem| format!("its header cannot be read ({problem}); convert the trace again"))?;
        if header.devices.is_empty() || header.place_bytes == 0 {
            return Err("its header names no device; convert the trace again".to_owned());
        }
        Ok(header)
    }

    /// The longest request that moves bytes through memory, and the longest of all.
    pub(crate) fn longest_moving(&self, skips: &[bool; 4]) -> (u32, u32) {
        let longest = |op: Op| if skips[op as usize] { 0 } else { self.longest[op as usize] };
        let moving = longest(Op::Read).max(longest(Op::Write));
        (moving, moving.max(longest(Op::Trim)))
    }
}
