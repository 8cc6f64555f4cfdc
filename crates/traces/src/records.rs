//! Records of a binary trace out of whatever can be read, and the refusals that name them.

use std::io::{self, ErrorKind, Read};

use crate::error::TraceError;
use crate::reading::Reading;

/// Reads until `room` is full or the file is over; how many bytes that were.
pub fn fill(file: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match file.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(problem) if problem.kind() == ErrorKind::Interrupted => {}
            Err(problem) => return Err(problem),
        }
    }
    Ok(filled)
}

/// The next record in `room`, numbered in `reading`; `None` at the end. One that is cut off is refused.
pub fn next<'room>(
    file: &mut impl Read,
    room: &'room mut [u8],
    reading: &mut Reading,
) -> Result<Option<&'room [u8]>, TraceError> {
    let (found, size) = (fill(file, room)?, room.len());
    if found == 0 {
        return Ok(None);
    }
    reading.line += 1;
    if found < size {
        return Err(wrong(reading, format!("it has {found} of {size} bytes; the file is cut off, fetch it again.")));
    }
    Ok(Some(room))
}

/// A sentence that names the record.
#[cold]
pub fn wrong(reading: &Reading, sentence: impl Into<String>) -> TraceError {
    TraceError::Record { record: reading.line, at_byte: None, sentence: sentence.into() }
}

/// The number at a place of a record, little endian.
#[inline]
pub fn u16_at(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([record[at], record[at + 1]])
}

/// The same of four bytes.
#[inline]
pub fn u32_at(record: &[u8], at: usize) -> u32 {
    u32::from(u16_at(record, at)) | u32::from(u16_at(record, at + 2)) << 16
}

/// The same of eight.
#[inline]
pub fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from(u32_at(record, at)) | u64::from(u32_at(record, at + 4)) << 32
}
