//! The CSV of the MSR-Cambridge traces (Narayanan et al., FAST 2008; SNIA IOTTA set 388).
//!
//! Model: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime` without a header; a line that names the columns
//! is skipped. A target is a host and its disk, `hm 0`.
//! Units: times and response times are ticks of 100 ns; times count from the first request. Offset and size are bytes.
//! Limits: a response time of 0 says that it was not known.

use plimsoll_workload::Op;

use crate::error::TraceError;
use crate::reading::Reading;
use crate::request::Request;
use crate::words::cells;

const COLUMNS: usize = 7;
const TICK_NS: u128 = 100;

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Msr {
    first: Option<u128>,
    /// The name of a target, in memory that is used again.
    name: String,
}

impl Msr {
    /// What a line says; `None` for one that names the columns.
    pub fn request(&mut self, line: &str, reading: &mut Reading) -> Result<Option<Request>, TraceError> {
        let ([stamp, host, disk, kind, offset, size, response], count) = cells::<COLUMNS>(line);
        if stamp.eq_ignore_ascii_case("timestamp") {
            return Ok(None);
        }
        if count != COLUMNS {
            let columns = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
            return Err(reading.columns(count, COLUMNS, columns));
        }
        let stamp = reading.whole(stamp, "the timestamp", "128166372003061629")?;
        let first = *self.first.get_or_insert(stamp);
        let op = if kind.eq_ignore_ascii_case("read") {
            Op::Read
        } else if kind.eq_ignore_ascii_case("write") {
            Op::Write
        } else {
            return Err(reading.about("the type ", kind, " is neither Read nor Write; write one of these."));
        };
        let disk = reading.whole(disk, "the disk number", "0")?;
        let offset = reading.whole(offset, "the offset", "383496192")?;
        let size = reading.whole(size, "the size", "32768")?;
        let (offset, length) = reading.extent(offset, size)?;
        let service_ns = reading.instant(reading.whole(response, "the response time", "413")? * TICK_NS)?;
        let at_ns = Some(reading.instant(stamp.saturating_sub(first) * TICK_NS)?);
        self.name.clear();
        self.name.push_str(host);
        self.name.push(' ');
        self.name.push_str(&disk.to_string());
        let target = reading.targets.number(&self.name)?;
        Ok(Some(Request { at_ns, op, offset, length, target, service_ns: (service_ns > 0).then_some(service_ns) }))
    }
}
