//! The backend that uses plain system calls: `pread`, `pwrite`, `fdatasync` and the trims.
//!
//! Purpose: what most programs do, and what a run falls back to where io_uring is forbidden. Model: with one
//! outstanding I/O the calls are made by the worker itself, inside [`Backend::submit`]; with more, by a pool of
//! exactly as many threads as there may be I/Os outstanding, fed through a channel. Stamps are taken right around the
//! system call by the thread that makes it.
//!
//! Limits: an I/O given to the pool waits for its thread to wake up (some microseconds), which shows up in latency
//! from the intended instant but not in service time. A call that hangs in the kernel cannot be cancelled.
//!
//! ```no_run
//! # use std::{fs::File, os::fd::AsFd};
//! use plimsoll_engine::sync::SyncIo;
//! let file = File::open("/data/scratch").unwrap();
//! let backend = SyncIo::new(&[file.as_fd()], 32).unwrap();
//! ```

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use plimsoll_workload::Op;

use crate::backend::{Backend, Done, Io, done, full};
use crate::clock::Clock;
use crate::pause;

/// Stack of a pool thread; it only makes system calls.
const STACK_BYTES: usize = 128 << 10;

/// See the module.
#[derive(Debug)]
pub struct SyncIo {
    clock: Clock,
    caller: Caller,
}

/// Who makes the calls.
#[derive(Debug)]
enum Caller {
    Inline { files: Arc<[Target]>, finished: Vec<Done> },
    Pool(Pool),
}

/// An open file or device.
#[derive(Debug)]
struct Target {
    fd: OwnedFd,
    is_device: bool,
}

/// Threads that make calls. Dropping it waits for the calls being made.
#[derive(Debug)]
struct Pool {
    jobs: Option<Sender<Job>>,
    results: Option<Receiver<Done>>,
    threads: Vec<JoinHandle<()>>,
    in_flight: usize,
}

/// An I/O on its way to a pool thread.
struct Job(Io);

// SAFETY: the buffer belongs to the I/O until its Done is reported (backend contract, 5), so exactly one thread uses
// it.
unsafe impl Send for Job {}

impl SyncIo {
    /// A backend for these files with at most `depth` I/Os outstanding. The descriptors are duplicated.
    ///
    /// # Errors
    /// When a descriptor cannot be duplicated or a thread cannot be started.
    pub fn new(files: &[BorrowedFd<'_>], depth: usize) -> io::Result<Self> {
        let files = files.iter().map(Target::new).collect::<io::Result<Arc<[_]>>>()?;
        let clock = Clock::calibrated();
        let caller = if depth <= 1 {
            Caller::Inline { files, finished: Vec::with_capacity(1) }
        } else {
            Caller::Pool(Pool::new(&files, depth, clock)?)
        };
        Ok(Self { clock, caller })
    }

    /// I/Os that were submitted and not reported.
    pub(crate) const fn in_flight(&self) -> usize {
        match &self.caller {
            Caller::Inline { finished, .. } => finished.len(),
            Caller::Pool(pool) => pool.in_flight,
        }
    }
}

impl Backend for SyncIo {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn submit(&mut self, io: Io) -> io::Result<()> {
        match &mut self.caller {
            Caller::Inline { files, finished } => {
                finished.push(perform(files, &io, &self.clock));
                Ok(())
            }
            Caller::Pool(pool) => pool.submit(io),
        }
    }

    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        match &mut self.caller {
            Caller::Inline { finished: ready, .. } if ready.is_empty() => pause::until(&self.clock, until_ns),
            Caller::Inline { finished: ready, .. } => finished.append(ready),
            Caller::Pool(pool) if pool.in_flight == 0 => pause::until(&self.clock, until_ns),
            Caller::Pool(pool) => pool.wait(&self.clock, until_ns, finished)?,
        }
        Ok(())
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let threads = match &self.caller {
            Caller::Inline { .. } => 0,
            Caller::Pool(pool) => pool.threads.len(),
        };
        vec![("pool_threads", threads.to_string())]
    }
}

impl Pool {
    fn new(files: &Arc<[Target]>, depth: usize, clock: Clock) -> io::Result<Self> {
        let (jobs, queue) = unbounded::<Job>();
        let (report, results) = unbounded();
        let mut pool =
            Self { jobs: Some(jobs), results: Some(results), threads: Vec::with_capacity(depth), in_flight: 0 };
        for _ in 0..depth {
            let (files, queue, report) = (Arc::clone(files), queue.clone(), report.clone());
            let work = move || {
                for Job(io) in queue {
                    if report.send(perform(&files, &io, &clock)).is_err() {
                        return;
                    }
                }
            };
            let builder = std::thread::Builder::new().name("plimsoll-io".to_owned()).stack_size(STACK_BYTES);
            pool.threads.push(builder.spawn(work)?);
        }
        Ok(pool)
    }

    fn submit(&mut self, io: Io) -> io::Result<()> {
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(Job(io)));
        if !matches!(sent, Some(Ok(()))) {
            return Err(gone());
        }
        self.in_flight += 1;
        Ok(())
    }

    /// Waits for the first result, sleeping while the instant is far and spinning when it is near.
    fn wait(&mut self, clock: &Clock, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        let results = self.results.as_ref().ok_or_else(gone)?;
        let before = finished.len();
        loop {
            finished.extend(results.try_iter());
            let left_ns = until_ns.saturating_sub(clock.now());
            if finished.len() > before || left_ns == 0 {
                break;
            }
            if left_ns <= pause::SPIN_NS {
                std::hint::spin_loop();
                continue;
            }
            match results.recv_timeout(Duration::from_nanos(left_ns - pause::SPIN_NS)) {
                Ok(result) => finished.push(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
        }
        self.in_flight -= finished.len() - before;
        // A thread may be overtaken between its stamp and its report.
        finished[before..].sort_unstable_by_key(|done| done.completed_ns);
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        self.results = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("the pool of I/O threads has ended")
}

impl Target {
    fn new(file: &BorrowedFd<'_>) -> io::Result<Self> {
        let fd = file.try_clone_to_owned()?;
        let file = std::fs::File::from(fd);
        let is_device = file.metadata()?.file_type().is_block_device();
        Ok(Self { fd: file.into(), is_device })
    }
}

/// Makes the call and stamps it.
fn perform(files: &[Target], io: &Io, clock: &Clock) -> Done {
    let target = &files[io.file as usize];
    let submitted_ns = clock.now();
    let mut result = call(target, io);
    while result == -libc::EINTR {
        result = call(target, io);
    }
    done(io, result, submitted_ns, clock.now())
}

/// One system call: bytes transferred (the length for trims, 0 for flushes), or a negated errno.
fn call(target: &Target, io: &Io) -> i32 {
    let fd = target.fd.as_raw_fd();
    let (len, offset) = (io.len as usize, io.offset as libc::off_t);
    // SAFETY: the descriptor is open as long as `target`; the buffer holds `len` bytes and is ours until the Done.
    match io.op {
        Op::Read => outcome(unsafe { libc::pread(fd, io.buffer.cast(), len, offset) }),
        Op::Write => outcome(unsafe { libc::pwrite(fd, io.buffer.cast_const().cast(), len, offset) }),
        Op::Flush => outcome(unsafe { libc::fdatasync(fd) } as isize),
        Op::Trim => match trim(fd, target.is_device, [io.offset, u64::from(io.len)]) {
            0 => full(io),
            _ => outcome(-1),
        },
    }
}

/// `BLKDISCARD` for devices, a hole for files. Source: Linux `include/uapi/linux/fs.h`, fallocate(2).
fn trim(fd: RawFd, is_device: bool, range: [u64; 2]) -> i32 {
    const BLKDISCARD: libc::c_ulong = 0x1277;
    const HOLE: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: the ioctl reads the two numbers (start, length); fallocate takes plain values.
    unsafe {
        if is_device {
            libc::ioctl(fd, BLKDISCARD as _, range.as_ptr())
        } else {
            libc::fallocate(fd, HOLE, range[0] as libc::off_t, range[1] as libc::off_t)
        }
    }
}

/// The call's result, or the negated errno of this thread.
fn outcome(result: isize) -> i32 {
    if result >= 0 { result as i32 } else { -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) }
}

#[cfg(test)]
mod tests;
