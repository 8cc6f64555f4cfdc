//! One array for any number of clients: times from the pacer, bytes from the data, and an account of both.
//!
//! Model: a front calls [`Server::read`] and its like and is answered when the model says, or hands a closure to
//! [`Server::begin`]. A request enters the model rounded out to whole sectors. Zeros take as long as other bytes; zeros and
//! trims go in pieces ([`ZEROS_BYTES`], [`TRIM_BYTES`]) one after the other. Bytes are moved while the model works, so they
//! add no time of their own.
//!
//! Limits: a request that crosses the end of the array is refused whole. A read that overlaps a write under way gives the old
//! bytes, the new ones, or a mixture of both.

use std::io;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;

use plimsoll_array::Array;
use plimsoll_workload::Op;

use crate::byte_request::{ByteRequest, SECTOR_BYTES};
use crate::data::{Data, Kept};
use crate::lateness::{Lateness, Limits};
use crate::locked;
use crate::pacer::Pacer;
use crate::report::{Counts, Report};
use crate::schedule::Answer;

/// Zeros enter the model in pieces of this size: what a host would send at once.
pub const ZEROS_BYTES: u64 = 1 << 20;
/// Trims do in pieces of this one: a whole array at once would be millions of jobs in the model.
pub const TRIM_BYTES: u64 = 64 << 20;

/// See the module.
#[derive(Debug)]
pub struct Server {
    name: String,
    size_bytes: u64,
    limits: Limits,
    pacer: Pacer,
    data: Box<dyn Data>,
    account: Mutex<Account>,
}

#[derive(Debug, Default)]
struct Account {
    counts: Counts,
    lateness: Lateness,
}

impl Server {
    /// An array at rest; its clock runs from now on.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub fn start(name: String, array: Array, data: Box<dyn Data>, limits: Limits) -> io::Result<Self> {
        let size_bytes = array.sectors() * SECTOR_BYTES;
        Ok(Self { name, size_bytes, limits, pacer: Pacer::start(array)?, data, account: Mutex::default() })
    }

    /// Bytes of the array.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What the array is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether disks alone answer.
    pub fn is_rotational(&self) -> bool {
        self.limits == Limits::of_disks()
    }

    /// The bytes, for fronts that move them themselves.
    pub fn data(&self) -> &dyn Data {
        self.data.as_ref()
    }

    /// Fills a buffer.
    ///
    /// # Errors
    /// EINVAL outside of the array, EIO when the model lost data, those of the data.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let asked = ByteRequest { op: Op::Read, offset, len: buffer.len() as u64 };
        self.carry_out(asked, || self.data.read(offset, buffer))
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// As `read`; ENOSPC when there is no room for them.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let asked = ByteRequest { op: Op::Write, offset, len: bytes.len() as u64 };
        self.carry_out(asked, || self.data.write(offset, bytes))
    }

    /// Gives bytes up; they read as zeros.
    ///
    /// # Errors
    /// As `read`.
    pub fn trim(&self, offset: u64, len: u64) -> io::Result<()> {
        self.clear(ByteRequest { op: Op::Trim, offset, len }, TRIM_BYTES)
    }

    /// Writes zeros.
    ///
    /// # Errors
    /// As `read`.
    pub fn write_zeros(&self, offset: u64, len: u64) -> io::Result<()> {
        self.clear(ByteRequest { op: Op::Write, offset, len }, ZEROS_BYTES)
    }

    fn clear(&self, asked: ByteRequest, piece_bytes: u64) -> io::Result<()> {
        self.check(asked)?;
        let mut done = 0;
        while done < asked.len {
            let (offset, len) = (asked.offset + done, (asked.len - done).min(piece_bytes));
            self.carry_out(ByteRequest { op: asked.op, offset, len }, || self.data.clear(offset, len))?;
            done += len;
        }
        Ok(())
    }

    /// Waits until the array calls earlier writes durable.
    ///
    /// # Errors
    /// EIO when the model lost data.
    pub fn flush(&self) -> io::Result<()> {
        self.carry_out(ByteRequest { op: Op::Flush, offset: 0, len: 0 }, || Ok(()))
    }

    /// Puts a request into the model; `finish` is called when it is answered, and must be quick.
    ///
    /// # Errors
    /// EINVAL outside of the array; `finish` is not called then.
    pub fn begin(
        self: &Arc<Self>,
        asked: ByteRequest,
        finish: impl FnOnce(io::Result<()>) + Send + 'static,
    ) -> io::Result<()> {
        self.check(asked)?;
        let server = Arc::clone(self);
        let done = move |answer| finish(server.account_for(asked, answer));
        self.pacer.submit(asked.in_sectors(), Box::new(done));
        Ok(())
    }

    /// Nanoseconds since the array was started.
    pub fn now_ns(&self) -> u64 {
        self.pacer.now_ns()
    }

    /// What happened so far.
    pub fn report(&self) -> Report {
        let account = locked(&self.account);
        let kept: Kept = self.data.kept();
        let (now_ns, most) = (self.pacer.now_ns(), self.pacer.outstanding_max());
        Report::new(&self.name, now_ns, &account.counts, &account.lateness)
            .with_outstanding(most)
            .with_kept(kept)
            .judged(account.lateness.verdict(self.limits))
    }

    /// Ends it: the clock stops and data that are to stay become durable.
    ///
    /// # Errors
    /// Those of the data.
    pub fn stop(&self) -> io::Result<()> {
        self.pacer.stop();
        self.data.finish()
    }

    fn check(&self, ByteRequest { offset, len, .. }: ByteRequest) -> io::Result<()> {
        let inside = offset.checked_add(len).is_some_and(|end| end <= self.size_bytes);
        if inside { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EINVAL)) }
    }

    /// Puts a request into the model, moves the bytes meanwhile, and waits.
    fn carry_out(&self, asked: ByteRequest, moves: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.check(asked)?;
        if asked.len == 0 && asked.op != Op::Flush {
            return Ok(());
        }
        let ticket = Arc::new(Ticket::default());
        let (told, waits) = (Arc::clone(&ticket), std::thread::current());
        self.pacer.submit(asked.in_sectors(), Box::new(move |answer| told.answer(answer, &waits)));
        let moved = moves();
        let answered = self.account_for(asked, ticket.wait());
        moved.and(answered)
    }

    /// Counts an answer that is about to leave.
    fn account_for(&self, asked: ByteRequest, answer: Answer) -> io::Result<()> {
        let late_ns = self.pacer.now_ns().saturating_sub(answer.due_ns);
        let mut account = locked(&self.account);
        account.lateness.add(answer.service_ns(), late_ns);
        account.counts.add(asked, answer.failed);
        if answer.failed { Err(io::Error::from_raw_os_error(libc::EIO)) } else { Ok(()) }
    }
}

/// Where a waiting thread finds its answer.
#[derive(Debug, Default)]
struct Ticket {
    answered: AtomicBool,
    answer: Mutex<Option<Answer>>,
}

impl Ticket {
    fn answer(&self, answer: Answer, waits: &Thread) {
        *locked(&self.answer) = Some(answer);
        self.answered.store(true, Ordering::Release);
        waits.unpark();
    }

    fn wait(&self) -> Answer {
        loop {
            if self.answered.load(Ordering::Acquire)
                && let Some(answer) = *locked(&self.answer)
            {
                return answer;
            }
            std::thread::park();
        }
    }
}

#[cfg(test)]
mod tests;
