//! libCacheSim's `oracleGeneral`: the form in which many traces are handed on, those of CloudPhysics among them.
//!
//! Model: little-endian records of 24 bytes without header: clock_time (4 bytes), obj_id (8), obj_size (4),
//! next_access_vtime (8). It is made for simulators of caches, so it says neither what was done nor where: every request is
//! taken as a read, and the object's number as its block, which it is in traces of disks that were converted with the block
//! as the number (`obj-id-col` of libCacheSim's traceConv). Both are said wherever the trace is used.
//! Units: seconds, counted from the first request; blocks of 512 bytes; sizes in bytes.
//! Limits: times are whole seconds. Traces whose object numbers are hashes have no blocks and are refused at the first
//! number beyond any storage; where all hashes are small, nothing tells. Errors name the record in place of a line.
//! Source: libCacheSim's FAQ (the structure, its units, and the conversion of its CloudPhysics sample) and its reader.
//!
//! ```text
//! 0a 00 00 00  89 9c 8f 02 00 00 00 00  00 02 00 00  ff ff ff ff ff ff ff ff    # at 10 s, block 42,966,153, 512 bytes
//! ```

use std::io::Read;

use plimsoll_workload::Op;

use crate::cloudphysics::{TARGET, WHOLE_SECONDS};
use crate::error::TraceError;
use crate::reading::{MOST, Reading};
use crate::records::{next, u32_at, u64_at, wrong};
use crate::request::{Request, SECTOR_BYTES, Source, Targets};

const RECORD_BYTES: usize = 24;
const NS_PER_S: u64 = 1_000_000_000;
const ASSUMED: [&str; 3] = [
    "every request is taken as a read, as the format does not say what was done",
    "an object's number is taken as its block of 512 bytes, as in traces of disks",
    WHOLE_SECONDS,
];

/// The requests of such a trace.
#[derive(Debug)]
pub struct OracleGeneral<R> {
    file: R,
    first_s: Option<u32>,
    /// Where it is, and what it has to say besides.
    pub reading: Reading,
}

impl<R: Read> OracleGeneral<R> {
    /// A reader before the first record of `file`.
    pub fn new(file: R) -> Self {
        let mut reading = Reading::default();
        ASSUMED.into_iter().for_each(|what| reading.assume(what));
        Self { file, first_s: None, reading }
    }
}

impl<R: Read> Source for OracleGeneral<R> {
    fn request(&mut self) -> Result<Option<Request>, TraceError> {
        let mut room = [0; RECORD_BYTES];
        while let Some(record) = next(&mut self.file, &mut room, &mut self.reading)? {
            let (time_s, object, size) = (u32_at(record, 0), u64_at(record, 4), u32_at(record, 12));
            let first_s = *self.first_s.get_or_insert(time_s);
            let offset = u128::from(object) * SECTOR_BYTES;
            if offset + u128::from(size) > MOST {
                let remedy = "give a trace whose objects are blocks and not hashes";
                return Err(wrong(&self.reading, format!("object {object} is no block of any storage; {remedy}.")));
            }
            if size == 0 {
                self.reading.left_out.count("requests of no bytes");
                continue;
            }
            let at_ns = Some(u64::from(time_s.saturating_sub(first_s)) * NS_PER_S);
            let (offset, length) = (offset as u64, u64::from(size));
            let target = self.reading.targets.number(TARGET)?;
            return Ok(Some(Request { at_ns, op: Op::Read, offset, length, target, service_ns: None }));
        }
        Ok(None)
    }

    fn targets(&mut self) -> &mut Targets {
        &mut self.reading.targets
    }
}
