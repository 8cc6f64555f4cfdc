//! Writing a trace in the compact form, in one pass.

use std::io::{BufWriter, Seek, SeekFrom, Write};

use plimsoll_workload::TraceRecord;
use plimsoll_workload::trace::Prefix;

use crate::choice::{Choosing, Wanted};
use crate::error::TraceError;
use crate::header::{Gathered, Header};
use crate::order::Ordering;
use crate::request::{Request, Source};
use crate::split::{is_long, pieces};
use crate::tally::Tally;

const BUFFER_BYTES: usize = 1 << 18;

/// What was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// What the header says, but for where the trace came from.
    pub header: Header,
    /// Requests that were put in order, set later or split.
    pub changes: Tally,
    /// Names of some devices that were not wanted.
    pub others: Vec<String>,
    /// Where the header has to be written: behind everything that was.
    pub header_at: u64,
}

/// Writes what is wanted of a trace: the beginning without the place of the header, the records and the touched places.
/// `out` is empty; whoever calls writes the header behind, and where it is into bytes 16 to 31.
///
/// # Errors
/// What is wrong with the trace or with `out`, or that both do not go with what is wanted.
pub fn write(source: &mut impl Source, out: impl Write + Seek, wanted: &Wanted) -> Result<Written, TraceError> {
    let mut choosing = Choosing::new(wanted, source)?;
    let mut writing = Writing {
        gathered: Gathered::new(choosing.devices(), source.targets())?,
        out: BufWriter::with_capacity(BUFFER_BYTES, out),
        records: 0,
    };
    let (mut ordering, mut changes) = (Ordering::default(), Tally::default());
    writing.out.write_all(&[0; Prefix::BYTES])?;
    loop {
        let request = choosing.next(source)?;
        let first = ordering.take(request, &mut changes);
        match first {
            Some((at_ns, request)) if is_long(&request) => {
                changes.count("split");
                pieces(request).try_for_each(|piece| writing.record(at_ns, &piece, source))?;
            }
            Some((at_ns, request)) => writing.record(at_ns, &request, source)?,
            None if request.is_none() => break,
            None => {}
        }
    }
    let (header, header_at) = writing.end()?;
    Ok(Written { header, changes, others: choosing.others(source), header_at })
}

/// The file under way.
struct Writing<W: Write + Seek> {
    gathered: Gathered,
    out: BufWriter<W>,
    records: u64,
}

impl<W: Write + Seek> Writing<W> {
    #[inline]
    fn record(&mut self, at_ns: u64, request: &Request, source: &mut impl Source) -> Result<(), TraceError> {
        let record = self.gathered.record(at_ns, request, source.targets())?;
        self.records += 1;
        Ok(self.out.write_all(&record.to_bytes())?)
    }

    /// The header, and where it belongs.
    fn end(mut self) -> Result<(Header, u64), TraceError> {
        let places = self.gathered.places.keys();
        let touched_at = Prefix::BYTES as u64 + TraceRecord::BYTES as u64 * self.records;
        let prefix = Prefix { records: self.records, header: (0, 0), touched: (touched_at, places.len() as u64) };
        let header_at = touched_at + 8 * places.len() as u64;
        for place in places {
            self.out.write_all(&place.to_le_bytes())?;
        }
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&prefix.to_bytes())?;
        self.out.flush()?;
        Ok((self.gathered.header(), header_at))
    }
}
