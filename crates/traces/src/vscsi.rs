//! The binary traces of CloudPhysics: records of what virtual machines asked of their virtual SCSI disks, in two versions.
//!
//! Model: little-endian records without header, 32 bytes in version 1 and 40 in version 2, whose high byte of the field
//! `ver` is the version. Version 1: sn, len, nSG (4 bytes each), cmd, ver (2), lbn, ts (8). Version 2: cmd, ver (2), sn,
//! len, nSG (4), lbn, ts, rt (8).
//! Units: blocks of 512 bytes, lengths in bytes, times in microseconds, counted from the first request.
//! Limits: disks of a machine are not told apart. `rt` of version 2 is taken for a response time by its name; its unit is
//! told nowhere, so it is not read. Errors name the record in place of a line.
//! Source: the public header and reader of libCacheSim and of mimircache before it (layout, version, microseconds).

use std::io::{Cursor, Read};

use plimsoll_workload::Op;

use crate::cloudphysics::TARGET;
use crate::error::TraceError;
use crate::reading::{MOST, Reading, WITHOUT_SECTORS};
use crate::records::{fill, next, u16_at, u32_at, u64_at, wrong};
use crate::request::{Request, SECTOR_BYTES, Source, Targets};
use crate::scsi::operation;

/// The records in these many bytes decide of which version a file is.
const HEAD_BYTES: usize = 640;
const LARGEST_COMMAND: u16 = 0xff;
/// No command moves more.
const LONGEST: u32 = 1 << 30;
const BLOCK: usize = 16;
const TIME: usize = 24;
const NS_PER_US: u128 = 1000;

/// One version of the record, and where what matters stands in it.
#[derive(Debug)]
struct Layout {
    version: u16,
    size: usize,
    length: usize,
    command: usize,
    kind: usize,
}

static LAYOUTS: [Layout; 2] = [
    Layout { version: 2, size: 40, length: 8, command: 0, kind: 2 },
    Layout { version: 1, size: 32, length: 4, command: 12, kind: 14 },
];

impl Layout {
    /// The layout of the records that bytes begin with.
    fn of(head: &[u8]) -> Option<&'static Self> {
        let fits = |layout: &&Self| {
            let mut records = head.chunks_exact(layout.size);
            records.len() > 0 && records.all(|record| layout.fits(record))
        };
        LAYOUTS.iter().find(fits)
    }

    fn fits(&self, record: &[u8]) -> bool {
        let block = u128::from(u64_at(record, BLOCK)) * SECTOR_BYTES;
        self.version_of(record) == self.version
            && u16_at(record, self.command) <= LARGEST_COMMAND
            && u32_at(record, self.length) <= LONGEST
            && block < MOST
    }

    fn version_of(&self, record: &[u8]) -> u16 {
        u16_at(record, self.kind) >> 8
    }
}

/// The requests of such a trace.
#[derive(Debug)]
pub struct Vscsi<R> {
    file: R,
    /// What was looked at before the first record.
    head: Cursor<Vec<u8>>,
    layout: Option<&'static Layout>,
    first_us: Option<u64>,
    /// Where it is, and what it has to say besides.
    pub reading: Reading,
}

impl<R: Read> Vscsi<R> {
    /// A reader before the first record of `file`.
    pub fn new(file: R) -> Self {
        Self { file, head: Cursor::default(), layout: None, first_us: None, reading: Reading::default() }
    }

    fn layout(&mut self) -> Result<&'static Layout, TraceError> {
        if let Some(layout) = self.layout {
            return Ok(layout);
        }
        let mut head = vec![0; HEAD_BYTES];
        let found = fill(&mut self.file, &mut head)?;
        head.truncate(found);
        let layout = Layout::of(&head);
        (self.head, self.layout) = (Cursor::new(head), layout);
        layout.ok_or_else(|| TraceError::Record {
            record: 1,
            at_byte: None,
            sentence: "it is of neither version 1 nor version 2; give a trace as CloudPhysics handed it on.".to_owned(),
        })
    }

    /// The request of a record; `None` for a command that moves nothing and flushes nothing.
    fn request_of(&mut self, layout: &Layout, record: &[u8]) -> Result<Option<Request>, TraceError> {
        let version = layout.version_of(record);
        if version != layout.version {
            let before = layout.version;
            let sentence = format!("it is of version {version}, and those before it of {before}; the file is damaged.");
            return Err(wrong(&self.reading, sentence));
        }
        let stamp_us = u64_at(record, TIME);
        let first_us = *self.first_us.get_or_insert(stamp_us);
        let at_ns = u128::from(stamp_us.saturating_sub(first_us)) * NS_PER_US;
        let length = u32_at(record, layout.length);
        let Some(op) = operation(u16_at(record, layout.command), length > 0) else {
            self.reading.left_out.count(WITHOUT_SECTORS);
            return Ok(None);
        };
        if at_ns >= MOST {
            let sentence = "its time is more than 292 years after the first; the file is damaged.";
            return Err(wrong(&self.reading, sentence));
        }
        let block = u64_at(record, BLOCK);
        let offset = u128::from(block) * SECTOR_BYTES;
        if op != Op::Flush && offset + u128::from(length) > MOST {
            let sentence = format!("its block {block} is beyond any storage; the file is damaged.");
            return Err(wrong(&self.reading, sentence));
        }
        let (offset, length) = if op == Op::Flush { (0, 0) } else { (offset as u64, u64::from(length)) };
        let target = self.reading.targets.number(TARGET)?;
        Ok(Some(Request { at_ns: Some(at_ns as u64), op, offset, length, target, service_ns: None }))
    }
}

impl<R: Read> Source for Vscsi<R> {
    fn request(&mut self) -> Result<Option<Request>, TraceError> {
        let layout = self.layout()?;
        let mut room = [0; 40];
        loop {
            let mut file = (&mut self.head).chain(&mut self.file);
            let Some(record) = next(&mut file, &mut room[..layout.size], &mut self.reading)? else { return Ok(None) };
            let found = self.request_of(layout, record)?;
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    fn targets(&mut self) -> &mut Targets {
        &mut self.reading.targets
    }
}
