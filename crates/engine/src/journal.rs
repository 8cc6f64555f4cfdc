//! The power-cut journal of a run: what `plimsoll_workload::journal` describes, kept on another disk or host.
//!
//! Model: [`Journal`] is shared by the workers. [`backend::Journaled`] stands between a worker and its backend: a write is
//! handed over when its *begun* is durable in the journal, and a completion is passed on when the *durable* of what it
//! promises is. [`check`] is the other half: it reads the journal and the target after the cut.
//!
//! A write is promised by its own completion where its stream has `dsync`, otherwise by the completion of a flush of its
//! part that was issued when the write had completed. A flush that failed promises nothing, and neither does a later one
//! for the writes before it: the kernel may have dropped them.
//!
//! Limits: two round trips to the journal per turn of a worker, so take no speed from such a run.

pub(crate) mod backend;
pub mod check;
mod place;

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_workload::journal::{Header, Record, Write};
use serde::Serialize;

use place::Place;
pub(crate) use place::lies_apart;

/// See the module.
#[derive(Debug)]
pub(crate) struct Journal {
    name: String,
    run: u64,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    place: Place,
    newest_begun: u64,
    parts: Vec<Unflushed>,
    kept: Kept,
    failure: Option<String>,
}

/// The writes of one part that have completed since they were last promised.
#[derive(Debug, Default)]
struct Unflushed {
    writes: VecDeque<(u64, Write)>,
    completed: u64,
}

/// What was kept of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Kept {
    /// Where.
    pub journal: String,
    /// Writes that were begun.
    pub begun: u64,
    /// Writes that the target has promised to keep.
    pub durable: u64,
}

impl Journal {
    /// A new journal at `name`, for a target of `parts` parts.
    ///
    /// # Errors
    /// A sentence: it is there already, cannot be made, or nobody listens.
    pub(crate) fn begin(name: &str, header: &Header, parts: usize) -> Result<Self, String> {
        let mut place = Place::make(name)?;
        place.write(&Record::Header(header.clone()).encode()).map_err(|error| unwritable(name, &error))?;
        let inner = Inner {
            place,
            newest_begun: 0,
            parts: (0..parts.max(1)).map(|_| Unflushed::default()).collect(),
            kept: Kept { journal: name.to_owned(), ..Kept::default() },
            failure: None,
        };
        Ok(Self { name: name.to_owned(), run: header.run, inner: Mutex::new(inner) })
    }

    /// The run whose stamps it is about.
    pub(crate) const fn run(&self) -> u64 {
        self.run
    }

    /// What was kept so far.
    pub(crate) fn kept(&self) -> Kept {
        self.inner().kept.clone()
    }

    /// Why it could not be written, if it could not.
    pub(crate) fn failure(&self) -> Option<String> {
        self.inner().failure.clone()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes are about to be issued.
    pub(crate) fn begun(&self, writes: &[Write]) -> io::Result<()> {
        let mut inner = self.inner();
        inner.kept.begun += writes.len() as u64;
        inner.newest_begun = writes.iter().map(|write| write.sequence).fold(inner.newest_begun, u64::max);
        let records: Vec<Record> = writes.iter().copied().map(Record::Begun).collect();
        self.put(&mut inner, &records)
    }

    /// A write has completed that nothing promises yet.
    pub(crate) fn completed(&self, part: usize, write: Write) {
        let part = &mut self.inner().parts[part];
        part.writes.push_back((part.completed, write));
        part.completed += 1;
    }

    /// A flush of a part is about to be issued: the number of writes that it will promise, for [`Journal::flushed`].
    pub(crate) fn flushes(&self, part: usize) -> u64 {
        self.inner().parts[part].completed
    }

    /// A flush has come back: the writes that it promises, none if it failed.
    pub(crate) fn flushed(&self, part: usize, until: u64, succeeded: bool) -> Vec<Write> {
        let unflushed = &mut self.inner().parts[part];
        if !succeeded {
            // Not even those that completed while it was outstanding: nobody says which of them it dropped.
            unflushed.writes.clear();
            return Vec::new();
        }
        let promised = unflushed.writes.iter().take_while(|(number, _)| *number < until).count();
        unflushed.writes.drain(..promised).map(|(_, write)| write).collect()
    }

    /// The target has promised to keep writes, and nobody has been told yet.
    pub(crate) fn durable(&self, writes: &[Write], at_ns: u64) -> io::Result<()> {
        let mut inner = self.inner();
        inner.kept.durable += writes.len() as u64;
        let horizon = inner.newest_begun;
        let record = |write: &Write| Record::Durable { write: *write, horizon, at_ns };
        let records: Vec<Record> = writes.iter().map(record).collect();
        self.put(&mut inner, &records)
    }

    fn put(&self, inner: &mut Inner, records: &[Record]) -> io::Result<()> {
        let bytes: Vec<u8> = records.iter().flat_map(Record::encode).collect();
        inner.place.write(&bytes).inspect_err(|error| {
            inner.failure.get_or_insert_with(|| unwritable(&self.name, error));
        })
    }
}

fn unwritable(name: &str, error: &io::Error) -> String {
    format!(
        "journal {name} cannot be written ({error}); without it nothing can be told of a power cut, so the run ends"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn write(sequence: u64) -> Write {
        Write { sequence, address: 4096 * sequence, len: 4096 }
    }

    fn journal() -> (tempfile::TempDir, Journal) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let name = directory.path().join("journal").display().to_string();
        let header = Header { run: 1, granule_bytes: 4096, region: 0..1 << 20, started_ns: 0 };
        let journal = Journal::begin(&name, &header, 2).expect("a journal");
        (directory, journal)
    }

    #[test]
    fn a_flush_promises_what_had_completed_on_its_part_when_it_was_issued() {
        let (_directory, journal) = journal();
        journal.completed(0, write(1));
        journal.completed(1, write(2));
        let until = journal.flushes(0);
        journal.completed(0, write(3));
        assert_eq!(journal.flushed(0, until, true), [write(1)]);
        let until = journal.flushes(0);
        assert_eq!(journal.flushed(0, until, true), [write(3)]);
    }

    #[test]
    fn a_flush_that_failed_promises_nothing_and_neither_does_the_next_for_the_same_writes() {
        let (_directory, journal) = journal();
        journal.completed(0, write(1));
        let until = journal.flushes(0);
        assert_eq!(journal.flushed(0, until, false), []);
        let until = journal.flushes(0);
        assert_eq!(journal.flushed(0, until, true), []);
    }

    #[test]
    fn a_journal_that_is_there_is_not_written_over() {
        let (directory, _journal) = journal();
        let name = directory.path().join("journal").display().to_string();
        let header = Header { run: 2, granule_bytes: 4096, region: 0..1 << 20, started_ns: 0 };
        let problem = Journal::begin(&name, &header, 1).expect_err("refused");
        assert!(problem.contains("is there already"), "{problem}");
    }
}
