//! What nobody waits for: maintenance that reads the database through, and log files that are read for copies elsewhere.
//!
//! Model: maintenance reads the pages in use from the file's start to their end, 256 KiB at a time, and over again; when it is late it
//! does not catch up. A closed log file is read once for each copy, in the order of closing. A backup is maintenance without a pause
//! that ends after one pass.

use std::collections::VecDeque;

use crate::options::Test;
use crate::plan::{CHECKPOINT_ROOM, DatabasePlan, SWEEP_BYTES};
use crate::store::{SWEEP, Store, Token};

/// The way of maintenance, or of a backup, through the database.
#[derive(Debug)]
pub(crate) struct Sweep {
    /// Nanoseconds from one read to the next; `None` = there is none.
    gap_ns: Option<u64>,
    offset: u64,
    asked_ns: u64,
    once: bool,
}

impl Sweep {
    pub(crate) fn new(plan: &DatabasePlan) -> Self {
        let once = plan.test == Test::Backup;
        let rate = plan.maintenance_per_s;
        let paced = (rate > 0 && plan.test.operates()).then(|| u64::from(SWEEP_BYTES) * 1_000_000_000 / rate.max(1));
        Self { gap_ns: if once { Some(0) } else { paced }, offset: 0, asked_ns: 0, once }
    }
}

/// Log files on their way to copies.
#[derive(Debug)]
pub(crate) struct Replication {
    copies: u32,
    /// Closed files, and how many copies still lack each.
    files: VecDeque<(u64, u32)>,
    /// Bytes of the first that its next copy has.
    offset: u32,
    reading: bool,
}

impl Replication {
    pub(crate) const fn new(plan: &DatabasePlan) -> Self {
        Self { copies: plan.copies, files: VecDeque::new(), offset: 0, reading: false }
    }

    /// Where the first file begins that a copy lacks.
    pub(crate) fn needed_lsn(&self, file_bytes: u64) -> u64 {
        self.files.front().map_or(u64::MAX, |(file, _)| file * file_bytes)
    }

    pub(crate) fn forget(&mut self) {
        self.files.clear();
        (self.offset, self.reading) = (0, false);
    }
}

impl Store {
    pub(crate) fn begin_sweep(&mut self) {
        if self.sweep.gap_ns.is_some() {
            self.sweep_on();
        }
    }

    /// Reads on.
    pub(crate) fn sweep_on(&mut self) {
        let bytes = u64::from(self.tree.pages_used()) * u64::from(self.plan.page_bytes);
        let left = bytes - self.sweep.offset;
        let len = left.min(SWEEP_BYTES.into()) as u32;
        self.sweep.asked_ns = self.now_ns;
        let offset = self.plan.database_start + self.sweep.offset;
        self.sweep.offset += u64::from(len);
        self.ask(Token::Sweep, offset, len);
    }

    /// A read of maintenance or of a backup came back.
    pub(crate) fn swept(&mut self) {
        let bytes = u64::from(self.tree.pages_used()) * u64::from(self.plan.page_bytes);
        if self.sweep.offset >= bytes {
            self.sweep.offset = 0;
            if self.sweep.once {
                return self.ended();
            }
        }
        let due_ns = self.sweep.asked_ns + self.sweep.gap_ns.unwrap_or(0);
        if due_ns > self.now_ns { self.set_timer(due_ns, SWEEP) } else { self.sweep_on() }
    }

    /// A log file is closed.
    pub(crate) fn replicate(&mut self, file: u64) {
        if self.replication.copies > 0 && !self.settling {
            self.replication.files.push_back((file, self.replication.copies));
            self.replicate_on();
        }
    }

    fn replicate_on(&mut self) {
        let Some(&(file, _)) = self.replication.files.front() else { return };
        if self.replication.reading {
            return;
        }
        let file_bytes = self.plan.log.file_bytes;
        let len = SWEEP_BYTES.min(file_bytes - self.replication.offset);
        let start = self.plan.log_start + CHECKPOINT_ROOM + self.log.offset_of(file * u64::from(file_bytes));
        let offset = start + u64::from(self.replication.offset);
        self.replication.reading = true;
        self.outstanding += 1;
        self.ask(Token::Replication, offset, len);
    }

    /// A piece of a log file was read.
    pub(crate) fn replicated(&mut self) {
        self.outstanding -= 1;
        self.replication.reading = false;
        self.replication.offset += SWEEP_BYTES.min(self.plan.log.file_bytes - self.replication.offset);
        if self.replication.offset >= self.plan.log.file_bytes {
            self.replication.offset = 0;
            let done = self.replication.files.front_mut().is_some_and(|(_, copies)| {
                *copies -= 1;
                *copies == 0
            });
            if done {
                self.replication.files.pop_front();
                self.ready.extend(self.wait_for_log.drain(..));
            }
        }
        self.replicate_on();
    }
}
