//! The seam between the worker loop and whatever carries out I/O: a [`Backend`] owns the clock.
//!
//! The same loop drives io_uring in real time and a queueing model in virtual time; it is generic over the backend, so the
//! seam costs nothing. The contract, checked by one suite over every backend (`tests/backend_contract.rs`):
//!
//! 1. Every submitted [`Io`] is reported by exactly one [`Done`], with its `slot` and `piece`.
//! 2. `submitted_ns <= completed_ns`, and neither lies after [`Backend::now`] as read when `wait` has returned.
//! 3. [`Backend::now`] never goes back.
//! 4. [`Backend::wait`] returns when something is done or `until_ns` has come, whichever is first; it hands over everything
//!    submitted before it waits. With nothing in flight it waits until `until_ns`.
//! 5. Nothing touches an [`Io`]'s buffer before `submit` or after its `Done`.
//! 6. What one `wait` reports stands in the order of `completed_ns`.
//!
//! Limits: `completed_ns` may lie before that of an earlier `wait`: threads of a pool overtake each other.

use std::io;

use plimsoll_array::{ComponentUse, WriteCaches};
use plimsoll_workload::Op;
use plimsoll_workload::job::BackendWord;

/// One I/O on one part of the target.
#[derive(Clone, Copy, Debug)]
pub struct Io {
    /// The outstanding request it belongs to.
    pub slot: u32,
    /// Which piece of that request (requests that cross parts of a striped target have several).
    pub piece: u32,
    /// Index into the table of open files the backend was made with.
    pub file: u32,
    /// What to do.
    pub op: Op,
    /// Length in bytes; zero for a flush.
    pub len: u32,
    /// First byte, on the part.
    pub offset: u64,
    /// Where the bytes are or go; at least `len` bytes of the buffer arena. Dangling for trim and flush.
    pub buffer: *mut u8,
}

/// A finished I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// As in the [`Io`].
    pub slot: u32,
    /// As in the [`Io`].
    pub piece: u32,
    /// Bytes transferred, or a negated errno; trims and flushes have succeeded if it is not negative.
    pub result: i32,
    /// When it was handed over.
    pub submitted_ns: u64,
    /// When its completion was seen.
    pub completed_ns: u64,
}

/// Whatever carries out I/O. See the module's contract.
pub trait Backend {
    /// This backend's clock in nanoseconds.
    fn now(&self) -> u64;

    /// Queues one I/O; it may be handed over now or by the next [`Backend::wait`].
    ///
    /// # Errors
    /// The operating system's, when even a retry cannot help.
    fn submit(&mut self, io: Io) -> io::Result<()>;

    /// Hands over what is queued and waits for the first completion or the instant `until_ns`; appends to `done`.
    ///
    /// # Errors
    /// The operating system's, when the backend itself failed; a failed I/O is a [`Done`] with a negative result.
    fn wait(&mut self, until_ns: u64, done: &mut Vec<Done>) -> io::Result<()>;

    /// One turn of plain requests: hands over and waits as [`Backend::wait`] does and, unless `taker` wants the completions left in `done`,
    /// has it answer each with the next I/O of its slot, which is submitted at once.
    ///
    /// # Errors
    /// Those of [`Backend::wait`] and [`Backend::submit`].
    #[inline(always)]
    fn turn<T: Taker>(&mut self, until_ns: u64, done: &mut Vec<Done>, taker: &mut T) -> io::Result<()>
    where
        Self: Sized,
    {
        plain_turn(self, until_ns, done, taker)
    }

    /// Whether all that one `wait` reports has one completion stamp, and what was handed over together one submission stamp.
    #[inline(always)]
    fn stamps_batches(&self) -> bool {
        false
    }

    /// Whether [`Backend::expect`] is of any use.
    #[inline(always)]
    fn expects(&self) -> bool {
        false
    }

    /// An I/O at this address of the target will probably be submitted soon; a model may have its tables brought near meanwhile.
    #[inline(always)]
    fn expect(&self, _offset: u64) {}

    /// Whether its clock stands still between two calls of [`Backend::wait`], so that what Plimsoll does takes no time.
    #[inline(always)]
    fn stands_still(&self) -> bool {
        false
    }

    /// When the last I/Os were handed over; `None` where submitting is handing over.
    #[inline(always)]
    fn handed_over_ns(&self) -> Option<u64> {
        None
    }

    /// What the components of a model did in the measured time.
    fn components(&self) -> Vec<ComponentUse> {
        Vec::new()
    }

    /// What the write caches of a model hold now.
    fn write_caches(&self) -> Option<WriteCaches> {
        None
    }

    /// What this backend says of itself in the result, as (name, value) pairs.
    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Who takes completions one by one and has a next request for each: see [`Backend::turn`].
pub trait Taker {
    /// So many completions are there, the last of them at `now_ns`; whether they are taken one by one.
    fn begin<B: Backend>(&mut self, backend: &B, now_ns: u64, completions: usize) -> bool;

    /// Takes one; the next I/O of its slot.
    fn take(&mut self, finished: &Done) -> Io;
}

/// [`Backend::turn`] by way of `wait` and `submit`.
#[inline(always)]
pub(crate) fn plain_turn<B: Backend, T: Taker>(
    backend: &mut B,
    until_ns: u64,
    done: &mut Vec<Done>,
    taker: &mut T,
) -> io::Result<()> {
    done.clear();
    backend.wait(until_ns, done)?;
    let now_ns = done.last().map_or_else(|| backend.now(), |last| last.completed_ns);
    if taker.begin(backend, now_ns, done.len()) {
        for finished in done.iter() {
            backend.submit(taker.take(finished))?;
        }
        done.clear();
    }
    Ok(())
}

/// Whether a backend lives in virtual time.
pub(crate) const fn is_virtual(backend: BackendWord) -> bool {
    matches!(backend, BackendWord::Queue | BackendWord::Array)
}

/// What went wrong: a negated errno, 0 for a transfer that ended early.
#[inline(always)]
pub(crate) const fn failure(op: Op, len: u32, result: i32) -> Option<i32> {
    let moves_bytes = matches!(op, Op::Read | Op::Write);
    if result < 0 {
        Some(result)
    } else if moves_bytes && result != len as i32 {
        Some(0)
    } else {
        None
    }
}

/// The result of an I/O that did all it was asked for.
pub(crate) const fn full(io: &Io) -> i32 {
    io.len as i32
}

/// A finished I/O whose stamps are equal to its hand-over and `completed_ns`.
pub(crate) const fn done(io: &Io, result: i32, submitted_ns: u64, completed_ns: u64) -> Done {
    Done { slot: io.slot, piece: io.piece, result, submitted_ns, completed_ns }
}
