//! The CSV of Alibaba's block traces (github.com/alibaba/block-traces, `io_traces.csv`).
//!
//! Model: `device_id,opcode,offset,length,timestamp`; opcode R or W. The targets are virtual disks, named by their number.
//! Units: offset and length in bytes, times in microseconds since 1970, counted here from the first request.
//! Limits: the trace has no response times.

use plimsoll_workload::Op;

use crate::error::TraceError;
use crate::reading::Reading;
use crate::request::Request;
use crate::words::cells;

const COLUMNS: usize = 5;
const NS_PER_US: u128 = 1000;

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Alibaba {
    first: Option<u128>,
}

impl Alibaba {
    /// What a line says; `None` for one that names the columns.
    pub fn request(&mut self, line: &str, reading: &mut Reading) -> Result<Option<Request>, TraceError> {
        let ([device, opcode, offset, length, stamp], count) = cells::<COLUMNS>(line);
        if device.eq_ignore_ascii_case("device_id") {
            return Ok(None);
        }
        if count != COLUMNS {
            return Err(reading.columns(count, COLUMNS, "device_id,opcode,offset,length,timestamp"));
        }
        let device = reading.whole(device, "the device", "419")?;
        let op = match opcode {
            "R" | "r" => Op::Read,
            "W" | "w" => Op::Write,
            _ => return Err(reading.about("the opcode ", opcode, " is neither R nor W; write one of these.")),
        };
        let offset = reading.whole(offset, "the offset", "8792731648")?;
        let length = reading.whole(length, "the length", "16384")?;
        let (offset, length) = reading.extent(offset, length)?;
        let stamp = reading.whole(stamp, "the timestamp", "1577808144360767")?;
        let first = *self.first.get_or_insert(stamp);
        let at_ns = Some(reading.instant(stamp.saturating_sub(first) * NS_PER_US)?);
        let target = reading.targets.number(&device.to_string())?;
        Ok(Some(Request { at_ns, op, offset, length, target, service_ns: None }))
    }
}
