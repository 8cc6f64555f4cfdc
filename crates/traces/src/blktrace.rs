//! The binary trace of the kernel's block layer, as blktrace writes it and `blkparse -d` merges it.
//!
//! Model: records of 48 bytes (`struct blk_io_trace` of the kernel's `blktrace_api.h`, version 7), each followed by a
//! payload that is skipped. The magic number of every record tells the byte order. Requests are counted where blkparse's
//! are: at the issue, at the queue or at the completion; the category bits of the action say what is done.
//! Units: nanoseconds, sectors of 512 bytes, lengths in bytes.
//! Limits: blktrace writes one file per processor; put together with `blkparse -i sda -d sda.bin` they are in the order of
//! time. Errors name the record in place of a line.
//!
//! ```text
//! 07 74 61 65 …        # 0x65617407, little endian: magic and version
//! ```

use std::io::{self, Read};

use plimsoll_workload::Op;

use crate::completions::{Event, Events};
use crate::counted_action::Counted;
use crate::error::TraceError;
use crate::reading::{MOST, OTHER_ACTIONS, Reading, WITHOUT_SECTORS};
use crate::records::fill;
use crate::request::{Request, SECTOR_BYTES};

const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
const RECORD_BYTES: usize = 48;
const ACTION_BITS: u32 = 0xffff;
const CATEGORY_SHIFT: u32 = 16;
const QUEUE: u32 = 1;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const COMMAND: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;
const MINOR_BITS: u32 = 20;

/// The events of such a trace.
#[derive(Debug)]
pub struct Blktrace<R> {
    file: R,
    code: u32,
    order: Option<ByteOrder>,
    at_byte: u64,
    /// The device of the record before, and its target.
    latest: Option<(u32, u32)>,
    reading: Reading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// That of a record, by its magic number.
    fn of(head: &[u8]) -> Option<Self> {
        let mark = *head.first_chunk::<4>()?;
        [Self::Little, Self::Big].into_iter().find(|order| order.u32(mark) & !0xff == MAGIC)
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// The fields that matter, of one record.
struct Record {
    version: u32,
    time_ns: u64,
    sector: u64,
    length: u32,
    action: u32,
    device: u32,
    payload: u64,
}

impl Record {
    fn new(content: &[u8; RECORD_BYTES], order: ByteOrder) -> Self {
        let short = |at: usize| order.u32([content[at], content[at + 1], content[at + 2], content[at + 3]]);
        let long = |at: usize| order.u64(std::array::from_fn(|byte| content[at + byte]));
        let payload = match order {
            ByteOrder::Little => u16::from_le_bytes([content[46], content[47]]),
            ByteOrder::Big => u16::from_be_bytes([content[46], content[47]]),
        };
        Self {
            version: short(0) & 0xff,
            time_ns: long(8),
            sector: long(16),
            length: short(24),
            action: short(28),
            device: short(36),
            payload: payload.into(),
        }
    }
}

impl<R: Read> Blktrace<R> {
    pub fn new(counted: Counted, file: R) -> Self {
        let code = match counted {
            Counted::Queue => QUEUE,
            Counted::Issue => ISSUE,
            Counted::Complete => COMPLETE,
        };
        Self { file, code, order: None, at_byte: 0, latest: None, reading: Reading::default() }
    }

    /// The next record, with where it begins; its payload is read past.
    fn record(&mut self) -> Result<Option<(Record, u64)>, TraceError> {
        let mut content = [0; RECORD_BYTES];
        let (found, at_byte) = (fill(&mut self.file, &mut content)?, self.at_byte);
        if found == 0 {
            return Ok(None);
        }
        self.reading.line += 1;
        let Some(order) = ByteOrder::of(&content[..found]) else {
            let sentence =
                "it does not begin with blktrace's magic number; the file is damaged, or not one of blktrace's.";
            return Err(self.wrong(at_byte, sentence));
        };
        if found < RECORD_BYTES {
            return Err(self.cut_off(at_byte, "it", found as u64, RECORD_BYTES as u64));
        }
        if self.order.is_some_and(|before| before != order) {
            let sentence = "its byte order is not that of the records before; put traces of different machines in files of their own.";
            return Err(self.wrong(at_byte, sentence));
        }
        self.order = Some(order);
        let record = Record::new(&content, order);
        if record.version != VERSION {
            let sentence = format!("it is of version {}; only version {VERSION} is read.", record.version);
            return Err(self.wrong(at_byte, sentence));
        }
        let passed = io::copy(&mut self.file.by_ref().take(record.payload), &mut io::sink())?;
        if passed < record.payload {
            return Err(self.cut_off(at_byte, "its payload", passed, record.payload));
        }
        self.at_byte += RECORD_BYTES as u64 + record.payload;
        Ok(Some((record, at_byte)))
    }

    /// The request; `None` for what moves no data and flushes nothing.
    fn request(&mut self, record: &Record, at_byte: u64) -> Result<Option<Request>, TraceError> {
        let category = record.action >> CATEGORY_SHIFT;
        if category & (COMMAND | NOTIFY) != 0 {
            self.reading.left_out.count(WITHOUT_SECTORS);
            return Ok(None);
        }
        if u128::from(record.time_ns) >= MOST {
            return Err(self.wrong(at_byte, "its time is more than 292 years; the file is damaged."));
        }
        let at_ns = Some(record.time_ns);
        if record.length == 0 {
            if category & FLUSH == 0 || record.action & ACTION_BITS == COMPLETE {
                self.reading.left_out.count(WITHOUT_SECTORS);
                return Ok(None);
            }
            let target = self.target(record.device)?;
            return Ok(Some(Request { at_ns, op: Op::Flush, offset: 0, length: 0, target, service_ns: None }));
        }
        let op = if category & DISCARD != 0 {
            Op::Trim
        } else if category & WRITE != 0 {
            Op::Write
        } else {
            Op::Read
        };
        let offset = u128::from(record.sector) * SECTOR_BYTES;
        if offset + u128::from(record.length) > MOST {
            let sentence = format!("its sector {} is beyond any storage; the file is damaged.", record.sector);
            return Err(self.wrong(at_byte, sentence));
        }
        let (offset, length, target) = (offset as u64, record.length.into(), self.target(record.device)?);
        Ok(Some(Request { at_ns, op, offset, length, target, service_ns: None }))
    }

    /// The number of a device's name, which most records share with the one before.
    fn target(&mut self, device: u32) -> Result<u32, TraceError> {
        match self.latest {
            Some((latest, target)) if latest == device => Ok(target),
            _ => {
                let name = format!("{},{}", device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1));
                let target = self.reading.targets.number(&name)?;
                self.latest = Some((device, target));
                Ok(target)
            }
        }
    }

    #[cold]
    fn wrong(&self, at_byte: u64, sentence: impl Into<String>) -> TraceError {
        TraceError::Record { record: self.reading.line, at_byte: Some(at_byte), sentence: sentence.into() }
    }

    #[cold]
    fn cut_off(&self, at_byte: u64, what: &str, found: u64, size: u64) -> TraceError {
        let remedy = "the file is cut off, record it again or cut it there";
        self.wrong(at_byte, format!("{what} has {found} of {size} bytes; {remedy}."))
    }
}

impl<R: Read> Events for Blktrace<R> {
    fn event(&mut self) -> Result<Option<Event>, TraceError> {
        while let Some((record, at_byte)) = self.record()? {
            let action = record.action & ACTION_BITS;
            if action != self.code && action != COMPLETE {
                self.reading.left_out.count(OTHER_ACTIONS);
                continue;
            }
            let Some(request) = self.request(&record, at_byte)? else { continue };
            if action == self.code {
                return Ok(Some(if action == COMPLETE { Event::Whole(request) } else { Event::Issued(request) }));
            }
            if request.op != Op::Flush {
                return Ok(Some(Event::Completed(request)));
            }
        }
        Ok(None)
    }

    fn reading(&mut self) -> &mut Reading {
        &mut self.reading
    }
}
