//! The text traces of the SSD simulator MQSim.
//!
//! Model: five numbers per line: arrival, device, address, size, type; type 1 reads and 0 writes.
//! Units: nanoseconds; address and size in sectors of 512 bytes.
//! Limits: MQSim can be told that a trace's times are picoseconds or microseconds; the file does not say so, and
//! nanoseconds, its default, are taken.

use plimsoll_workload::Op;

use crate::error::TraceError;
use crate::reading::Reading;
use crate::request::{Request, SECTOR_BYTES};
use crate::words::words;

/// What a line says.
pub fn request(line: &str, reading: &mut Reading) -> Result<Request, TraceError> {
    let words: Vec<&str> = words(line).collect();
    let &[arrival, device, sector, sectors, kind] = words.as_slice() else {
        return Err(reading.columns(words.len(), 5, "time, device, sector, sectors and type"));
    };
    let at_ns = Some(reading.instant(reading.whole(arrival, "the arrival time", "48513000")?)?);
    let device = reading.whole(device, "the device", "0")?;
    let offset = reading.whole(sector, "the sector", "303567")? * SECTOR_BYTES;
    let length = reading.whole(sectors, "the number of sectors", "8")? * SECTOR_BYTES;
    let op = match kind {
        "1" => Op::Read,
        "0" => Op::Write,
        _ => return Err(reading.about("the type ", kind, " is neither 1 (read) nor 0 (write); write one of these.")),
    };
    let (offset, length) = reading.extent(offset, length)?;
    let target = reading.targets.number(&device.to_string())?;
    Ok(Request { at_ns, op, offset, length, target, service_ns: None })
}
