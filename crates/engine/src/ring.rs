//! An io_uring whose queues stay at hand from one call to the next.
//!
//! Model: submission entries are written and completions are read without telling the kernel; it learns of all of them by the next
//! call, so what it shares with us is touched once per batch and not once per request. Where the kernel takes it, the ring's
//! descriptor is registered with its thread (Linux 5.18), which saves a look-up per call, and entries are taken in the order of the
//! ring, without an array of indices (6.6).
//!
//! Rings are asked for with single issuer and deferred task running (Linux 6.1), then with cooperative task running (5.19), then
//! plain; see io_uring_setup(2). Limits: the thread that makes a ring is the one that uses it.

use std::io;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use io_uring::{Builder, CompletionQueue, IoUring, SubmissionQueue, Submitter, cqueue, squeue, types};

/// Largest submission queue the kernel allows.
const ENTRIES_MAX: usize = 32_768;

/// How a ring is made.
#[derive(Clone, Copy, Debug)]
pub struct RingOptions {
    /// I/Os outstanding at most.
    pub depth: usize,
    /// Poll the device instead of waiting for its interrupts.
    pub polled: bool,
    /// NOPs in place of every request.
    pub nop: bool,
}

/// See the module.
pub(crate) struct Ring {
    submitter: ManuallyDrop<Submitter<'static>>,
    entries: ManuallyDrop<SubmissionQueue<'static>>,
    completions: ManuallyDrop<CompletionQueue<'static>>,
    /// What the three borrow; freed after them.
    whole: NonNull<IoUring>,
    registered: bool,
    flavour: &'static str,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ring").field("flavour", &self.flavour).field("registered", &self.registered).finish()
    }
}

impl Ring {
    /// Makes a ring, as good as the kernel has it.
    ///
    /// # Errors
    /// When the kernel has none for us.
    pub(crate) fn new(options: RingOptions) -> io::Result<Self> {
        Self::first_of(&FLAVOURS, options)
    }

    /// One of the first of these flavours that the kernel has.
    fn first_of(flavours: &[Flavour], options: RingOptions) -> io::Result<Self> {
        let (ring, flavour) = make(flavours, options)?;
        let whole = NonNull::from(Box::leak(Box::new(ring)));
        // SAFETY: the ring lives until `drop`, where the three that borrow it end before it; nothing else names it meanwhile.
        let (mut submitter, entries, completions) = unsafe { &mut *whole.as_ptr() }.split();
        let registered = submitter.register_ring_fd().is_ok();
        Ok(Self {
            submitter: ManuallyDrop::new(submitter),
            entries: ManuallyDrop::new(entries),
            completions: ManuallyDrop::new(completions),
            whole,
            registered,
            flavour,
        })
    }

    /// Which kind of ring the kernel gave.
    pub(crate) const fn flavour(&self) -> &'static str {
        self.flavour
    }

    /// Whether its descriptor is registered with the thread.
    pub(crate) const fn is_registered(&self) -> bool {
        self.registered
    }

    /// Where files and buffers are registered.
    pub(crate) fn submitter(&self) -> &Submitter<'static> {
        &self.submitter
    }

    /// Whether there is room for an entry; otherwise there is when the kernel has taken some.
    pub(crate) fn has_room(&mut self) -> bool {
        if self.entries.is_full() {
            // Room that the kernel has made since the last call is not known yet.
            self.entries.sync();
        }
        !self.entries.is_full()
    }

    /// Queues an entry, if there [is room](Self::has_room) as far as is known; whether there was.
    ///
    /// # Safety
    /// What the entry points to is left alone, and lives, until its completion.
    #[inline(always)]
    #[must_use]
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: as promised above.
        unsafe { self.entries.push(entry) }.is_ok()
    }

    /// One system call: hands over everything queued, and looks for no completion.
    ///
    /// # Errors
    /// The kernel's, but for a signal and want of memory or completion space, after which the caller's loop goes on.
    #[inline]
    pub(crate) fn hand_over(&mut self) -> io::Result<()> {
        let queued = self.publish();
        // SAFETY: no argument is passed; what the entries point to outlives them.
        let answer = unsafe { self.submitter.enter::<libc::sigset_t>(queued, 0, 0, None) };
        self.entries.sync();
        goes_on(answer)
    }

    /// One system call: hands over everything queued and, with `sleep_ns`, waits that long for a completion.
    ///
    /// # Errors
    /// As of [`Self::hand_over`]; that the time is over is none.
    #[inline]
    pub(crate) fn enter(&mut self, sleep_ns: Option<u64>) -> io::Result<()> {
        const GETEVENTS: u32 = 1;
        const EXT_ARG: u32 = 8;
        let queued = self.publish();
        let answer = match sleep_ns {
            // SAFETY: no argument is passed; what the entries point to outlives them.
            None => unsafe { self.submitter.enter::<libc::sigset_t>(queued, 0, GETEVENTS, None) },
            Some(sleep_ns) => {
                let time = types::Timespec::new().sec(sleep_ns / 1_000_000_000).nsec((sleep_ns % 1_000_000_000) as u32);
                let argument = Wait { sigmask: 0, sigmask_bytes: 0, pad: 0, time: &time };
                // SAFETY: `argument` has the layout of io_uring_getevents_arg and lives through the call.
                unsafe { self.submitter.enter(queued, 1, GETEVENTS | EXT_ARG, Some(&argument)) }
            }
        };
        // What the kernel took makes room for the next batch.
        self.entries.sync();
        goes_on(answer)
    }

    /// Shows the kernel what is queued and which completions were read; how many are queued.
    #[inline(always)]
    fn publish(&mut self) -> u32 {
        self.completions.sync();
        self.entries.sync();
        self.entries.len() as u32
    }

    /// How many completions are there to be read.
    #[inline(always)]
    pub(crate) fn finished(&mut self) -> usize {
        self.completions.sync();
        self.completions.len()
    }

    /// Reads the next of them.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<cqueue::Entry> {
        self.completions.next()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.registered {
            // On another thread than the ring's this fails, and the registration ends with its own.
            let _ = self.submitter.unregister_ring_fd();
        }
        // SAFETY: each is dropped once and not used again; the ring was a box, and nothing borrows it any more.
        unsafe {
            ManuallyDrop::drop(&mut self.completions);
            ManuallyDrop::drop(&mut self.entries);
            ManuallyDrop::drop(&mut self.submitter);
            drop(Box::from_raw(self.whole.as_ptr()));
        }
    }
}

/// struct io_uring_getevents_arg of the kernel's interface.
#[repr(C)]
struct Wait<'a> {
    sigmask: u64,
    sigmask_bytes: u32,
    pad: u32,
    time: &'a types::Timespec,
}

/// Woken by the clock, by a signal, or for want of memory or completion space, the caller's loop goes on.
#[inline(always)]
fn goes_on(answer: io::Result<usize>) -> io::Result<()> {
    const HARMLESS: [i32; 4] = [libc::ETIME, libc::EINTR, libc::EAGAIN, libc::EBUSY];
    match answer {
        Ok(_) => Ok(()),
        Err(error) if error.raw_os_error().is_some_and(|errno| HARMLESS.contains(&errno)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A name, and how a builder is told of it.
type Flavour = (&'static str, fn(&mut Builder));

/// From the newest kernel's to the oldest's; a kernel that has one has all that follow.
const FLAVOURS: [Flavour; 4] = [
    ("single issuer, deferred task running, no submission array", |builder| {
        builder.setup_single_issuer().setup_defer_taskrun().setup_no_sqarray();
    }),
    ("single issuer, deferred task running", |builder| {
        builder.setup_single_issuer().setup_defer_taskrun();
    }),
    ("cooperative task running", |builder| {
        builder.setup_coop_taskrun();
    }),
    ("plain", |_| {}),
];

fn make(flavours: &[Flavour], options: RingOptions) -> io::Result<(IoUring, &'static str)> {
    let entries = options.depth.next_power_of_two().clamp(1, ENTRIES_MAX) as u32;
    let mut refused = io::Error::from_raw_os_error(libc::ENOSYS);
    for &(flavour, adjust) in flavours {
        let mut builder = IoUring::builder();
        if options.polled && !options.nop {
            builder.setup_iopoll();
        }
        adjust(&mut builder);
        match builder.build(entries) {
            Ok(ring) => return Ok((ring, flavour)),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Whether the kernel lets this process make rings.
///
/// # Errors
/// Its refusal: EPERM when `kernel.io_uring_disabled` or a seccomp filter forbids it, ENOSYS when it has none.
pub fn probe() -> io::Result<&'static str> {
    make(&FLAVOURS, RingOptions { depth: 2, polled: false, nop: false }).map(|(_, flavour)| flavour)
}

#[cfg(test)]
mod tests;
