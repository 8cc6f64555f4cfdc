//! After the cut: every write that a journal names as durable is looked for on the target.
//!
//! Model: the records add up to an account; the ranges that it names are read, 1 MiB at a time, and judged. A range that
//! cannot be read is read block by block. Nothing is written and nothing is timed.
//!
//! Limits: one thread, one read at a time. The end of a journal may be cut short by the same power cut that it is about:
//! what is behind the last whole record is left out.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::os::fd::AsRawFd;

use plimsoll_workload::job::MemoryWord;
use plimsoll_workload::journal::{Account, Header, Inspection, Kind, RECORD_BYTES, Record, Verdict, Violation};
use plimsoll_workload::stream::VerifyWord;
use serde::Serialize;

use crate::buffers::{Arena, Need};
use crate::control::Control;
use crate::error::EngineError;
use crate::job::Job;
use crate::ledger::GRANULES_MAX;
use crate::sink::Sink;
use crate::target::{OpenMode, Opened, open};

/// Longest read.
const READ_BYTES: u32 = 1 << 20;
/// Violations that are kept in the record; the counts are of all.
const NAMED: usize = 10_000;

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// The journal.
    pub journal: String,
    /// Writes that the target had promised to keep.
    pub acknowledged: u64,
    /// Sectors that had to hold one of them.
    pub sectors_checked: u64,
    /// Sectors that an unacknowledged write may have damaged.
    pub sectors_excused: u64,
    /// Whether all of it was looked at.
    pub complete: bool,
    /// Number of writes by what befell them, for example `{"lost": 2}`.
    pub counts: std::collections::BTreeMap<&'static str, usize>,
    /// The writes themselves, in the order of issue; the first ten thousand.
    pub violations: Vec<Violation>,
}

/// Whether a job looks for what a journal names.
pub(crate) fn is_asked(job: &Job) -> bool {
    job.workload.streams.iter().any(|stream| stream.verify == VerifyWord::JournalCheck)
}

/// Looks for it.
///
/// # Errors
/// When journal or target cannot be opened, or do not belong together.
pub(crate) fn check(job: &Job, sink: &mut dyn Sink, control: &Control) -> Result<(Opened, Checked), EngineError> {
    let Some(name) = &job.options.journal else {
        return Err(EngineError::Mismatch(
            "verify = \"journal-check\" needs the journal; give its file, for example --set journal=/mnt/other/cut.journal"
                .to_owned(),
        ));
    };
    let (header, account) = read(name).map_err(EngineError::Mismatch)?;
    let direct = job.workload.streams.first().is_none_or(|stream| stream.direct);
    let opened = open(&job.target, OpenMode { direct, dsync: false, writes: false }, &job.permission)?;
    if opened.volume.size() < header.region.end {
        return Err(EngineError::Mismatch(format!(
            "target {} has {} bytes, and journal {name} is about one of {} at least; give the target of that run",
            job.target,
            opened.volume.size(),
            header.region.end
        )));
    }
    sink.resolved(&[], &[]);
    let mut inspection = Inspection::new(&account);
    let complete = inspect(&opened, (&header, &account), &mut inspection, (sink, control))?;
    Ok((opened, checked(name, inspection.verdict(), complete)))
}

fn checked(name: &str, verdict: Verdict, complete: bool) -> Checked {
    let counts = Kind::ALL.map(|kind| (kind.name(), verdict.count(kind))).into_iter().filter(|(_, count)| *count > 0);
    Checked {
        journal: name.to_owned(),
        acknowledged: verdict.acknowledged,
        sectors_checked: verdict.sectors_checked,
        sectors_excused: verdict.sectors_excused,
        complete,
        counts: counts.collect(),
        violations: verdict.violations.into_iter().take(NAMED).collect(),
    }
}

/// The header of a journal, and what its records add up to; the error is a sentence.
fn read(name: &str) -> Result<(Header, Account), String> {
    if name.starts_with("tcp://") {
        return Err(format!(
            "journal {name}: a journal is read from a file; give the one that 'plimsoll journal' wrote there"
        ));
    }
    let file = File::open(name)
        .map_err(|error| format!("journal {name} cannot be read ({error}); give the file that the run wrote"))?;
    let unreadable = |error: io::Error| format!("journal {name} cannot be read ({error})");
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut number = 0u64;
    let mut next = || -> Result<Option<[u8; RECORD_BYTES]>, String> {
        let mut bytes = [0; RECORD_BYTES];
        let mut filled = 0;
        while filled < RECORD_BYTES {
            match file.read(&mut bytes[filled..]).map_err(unreadable)? {
                0 => return Ok(None),
                more => filled += more,
            }
        }
        Ok(Some(bytes))
    };
    let header = next()?.as_ref().and_then(Record::decode);
    let Some(header) = header.and_then(sound) else {
        return Err(format!(
            "{name} is no journal of Plimsoll's; give the file that a run with verify = \"journal\" wrote"
        ));
    };
    let mut account = Account::new(&header);
    while let Some(bytes) = next()? {
        number += 1;
        if Record::decode(&bytes).is_some_and(|record| account.take(&record)) {
            continue;
        }
        // A torn end is what a power cut of the journal's own host leaves behind; anything behind it says otherwise.
        while let Some(later) = next()? {
            if Record::decode(&later).is_some() {
                return Err(format!(
                    "journal {name} is damaged at byte {}, so nothing can be told from it; use a copy that is whole",
                    number * RECORD_BYTES as u64
                ));
            }
        }
        break;
    }
    Ok((header, account))
}

/// The header of a journal that an account can be kept for.
fn sound(record: Record) -> Option<Header> {
    let Record::Header(header) = record else { return None };
    let blocks = |header: &Header| (header.region.end - header.region.start) / u64::from(header.granule_bytes);
    (header.is_sound() && blocks(&header) <= GRANULES_MAX).then_some(header)
}

/// Reads what the account names; whether it came to the end.
fn inspect(
    opened: &Opened,
    (header, account): (&Header, &Account),
    inspection: &mut Inspection<'_>,
    (sink, control): (&mut dyn Sink, &Control),
) -> Result<bool, EngineError> {
    let longest = READ_BYTES.max(header.granule_bytes);
    let memory = Arena::new(&[Need { slots: 1, len: longest as usize, own: true }], MemoryWord::Arena);
    let mut memory = memory.map_err(|source| EngineError::Backend {
        backend: "sync",
        doing: "getting memory to read with",
        source,
        advice: "free some memory",
    })?;
    let buffer = memory.bytes_mut(0);
    for range in account.named(longest) {
        sink.poll();
        if control.is_stopped() {
            return Ok(false);
        }
        let bytes = &mut buffer[..(range.end - range.start) as usize];
        if read_range(opened, range.start, bytes).is_ok() {
            inspection.look(range.start, bytes);
            continue;
        }
        for block in blocks(range, u64::from(header.granule_bytes)) {
            let len = block.end - block.start;
            match read_range(opened, block.start, &mut buffer[..len as usize]) {
                Ok(()) => inspection.look(block.start, &buffer[..len as usize]),
                Err(_) => inspection.unreadable(block.start, len),
            }
        }
    }
    Ok(true)
}

fn blocks(range: Range<u64>, granule_bytes: u64) -> impl Iterator<Item = Range<u64>> {
    range.step_by(granule_bytes as usize).map(move |start| start..start + granule_bytes)
}

/// Reads a range of the target, piece by piece.
fn read_range(opened: &Opened, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    let mut result = Ok(());
    opened.volume.map(offset, bytes.len() as u32, &mut |part, offset, len, place| {
        if result.is_ok() {
            result = read_piece(&opened.parts[part], offset, &mut bytes[place as usize..][..len as usize]);
        }
    });
    result
}

fn read_piece(part: &crate::target::Part, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = &mut bytes[filled..];
        // SAFETY: the descriptor is open and the memory is ours.
        let read = unsafe {
            libc::pread(part.fd.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len(), (offset + filled as u64) as i64)
        };
        match read {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            1.. => filled += read as usize,
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}
