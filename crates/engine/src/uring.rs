//! The io_uring backend, and `nop`, the same ring with NOP requests: the cost of the ring alone.
//!
//! Model: one ring per worker, made by the worker's own thread, with registered files and one registered buffer arena where
//! the kernel takes them. Submission and waiting share a system call. The submission
//! stamp is taken once per batch, right before the call that hands the batch over; the completion stamp once per batch of
//! completions, when they are first seen. A batch in which requests touch each other is handed over two at a time, because the
//! kernel joins what touches in larger ones ([`crate::neighbours`]).
//!
//! Rings are asked for with single issuer and deferred task running (Linux 6.1), then with cooperative task running
//! (5.19), then plain; see io_uring_setup(2).
//!
//! Limits: a device that cannot complete without blocking makes the kernel hand requests to worker threads of its own,
//! which costs much; the run counts them and says so.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::{IoUring, opcode, squeue, types};
use plimsoll_workload::Op;

use crate::backend::{Backend, Done, Io};
use crate::buffers::Arena;
use crate::clock::Clock;
use crate::neighbours::Neighbours;
use crate::pause;

/// Largest submission queue the kernel allows.
const ENTRIES_MAX: usize = 32_768;
/// Largest buffer that can be registered as one.
const REGISTERED_BYTES_MAX: usize = 1 << 30;

/// Requests that are handed over in one call without being plugged (`IO_PLUG_THRESHOLD` of Linux, io_uring/io_uring.c).
const UNPLUGGED: usize = 2;

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

/// See the module. `NOP` replaces every request by a NOP.
#[derive(Debug)]
pub struct Uring<const NOP: bool> {
    ring: Ring,
    clock: Clock,
    files: Vec<File>,
    fixed_files: bool,
    fixed_buffers: bool,
    polled: bool,
    flavour: &'static str,
    /// When the I/O of each slot was handed over.
    submitted_ns: Vec<u64>,
    /// Length of the I/O of each slot; NOPs answer with it.
    lens: Vec<u32>,
    pending: Vec<u32>,
    in_flight: usize,
    handed_over: HandedOver,
    batch: Batch,
    /// The kernel takes discards of block devices through the ring; older ones punch a hole, which may write zeros.
    discards: bool,
}

struct Ring(IoUring);

impl std::fmt::Debug for Ring {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("IoUring")
    }
}

#[derive(Clone, Copy, Debug)]
struct File {
    fd: i32,
    is_device: bool,
    /// How many requests that touch each other may be handed over at once.
    together: usize,
}

/// What is queued and not handed over.
#[derive(Debug)]
struct Batch {
    neighbours: Neighbours,
    /// Whether requests in it touch each other.
    touching: bool,
    /// How many there may be if they do: the least that their files say.
    together: usize,
}

impl Batch {
    fn clear(&mut self) {
        self.neighbours.clear();
        (self.touching, self.together) = (false, usize::MAX);
    }

    /// Takes a request in; `together` is what its file says.
    #[inline(always)]
    fn add(&mut self, io: &Io, together: usize) {
        if together < usize::MAX && io.op != Op::Flush {
            self.touching |= self.neighbours.meets(io.op, io.offset, io.len);
            self.together = self.together.min(together);
        }
    }
}

/// When the requests of the current turn were handed over.
#[derive(Clone, Copy, Debug, Default)]
struct HandedOver {
    /// The mean instant of the last turn that handed any over.
    mean_ns: u64,
    first_ns: u64,
    count: u64,
    /// Nanoseconds since `first_ns`, summed over the requests.
    after_ns: u64,
}

impl HandedOver {
    fn add(&mut self, now_ns: u64, count: u64) {
        if self.count == 0 {
            self.first_ns = now_ns;
        }
        self.count += count;
        self.after_ns += (now_ns - self.first_ns) * count;
    }

    fn end_turn(&mut self) {
        if let Some(mean_after_ns) = self.after_ns.checked_div(self.count) {
            *self = Self { mean_ns: self.first_ns + mean_after_ns, ..Self::default() };
        }
    }
}

impl<const NOP: bool> Uring<NOP> {
    /// A ring for these files and this arena, which must outlive it. Call it on the thread that will use it. `together` says for
    /// each file how many requests that touch each other may be handed over at once; without an entry none.
    ///
    /// # Errors
    /// When the kernel has no ring for us; what merely makes it faster is done without.
    pub fn new(
        files: &[BorrowedFd<'_>],
        together: &[usize],
        arena: &Arena,
        slots: usize,
        options: RingOptions,
    ) -> io::Result<Self> {
        let (ring, flavour) = make_ring(options)?;
        let fds: Vec<i32> = files.iter().map(AsRawFd::as_raw_fd).collect();
        let fixed_files = !fds.is_empty() && ring.submitter().register_files(&fds).is_ok();
        let fixed_buffers = !NOP && register(&ring, arena);
        let together = together.iter().copied().chain(std::iter::repeat(1)).map(|count| count.max(UNPLUGGED));
        let file = |(&fd, together)| File { fd, is_device: is_device(fd), together };
        let files = fds.iter().zip(together).map(file).collect();
        Ok(Self {
            ring: Ring(ring),
            clock: Clock::calibrated(),
            files,
            fixed_files,
            fixed_buffers,
            polled: options.polled,
            flavour,
            submitted_ns: vec![0; slots],
            lens: vec![0; slots],
            pending: Vec::with_capacity(slots),
            in_flight: 0,
            handed_over: HandedOver::default(),
            batch: Batch { neighbours: Neighbours::new(options.depth), touching: false, together: usize::MAX },
            discards: kernel_is_at_least(6, 12),
        })
    }

    #[inline(always)]
    fn entry(&self, io: &Io) -> squeue::Entry {
        if NOP {
            return opcode::Nop::new().build();
        }
        if self.fixed_files {
            entry_on(types::Fd(io.file as i32), self, io).flags(squeue::Flags::FIXED_FILE)
        } else {
            entry_on(types::Fd(self.files[io.file as usize].fd), self, io)
        }
    }

    /// One system call: hands over everything queued, and looks for no completion.
    #[inline]
    fn hand_over(&mut self) -> io::Result<()> {
        let queued = self.ring.0.submission().len() as u32;
        // SAFETY: as in `enter`.
        let answer = unsafe { self.ring.0.submitter().enter::<libc::sigset_t>(queued, 0, 0, None) };
        match answer {
            Ok(_) => Ok(()),
            Err(error) if [libc::EINTR, libc::EAGAIN, libc::EBUSY].contains(&errno(&error)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// One system call: hands over everything queued and, with `sleep_ns`, waits that long for a completion.
    #[inline]
    fn enter(&mut self, sleep_ns: Option<u64>) -> io::Result<()> {
        const GETEVENTS: u32 = 1;
        const EXT_ARG: u32 = 8;
        let queued = self.ring.0.submission().len() as u32;
        let answer = match sleep_ns {
            // SAFETY: no argument is passed; every queued entry points to memory that outlives it (backend contract).
            None => unsafe { self.ring.0.submitter().enter::<libc::sigset_t>(queued, 0, GETEVENTS, None) },
            Some(sleep_ns) => {
                let time = types::Timespec::new().sec(sleep_ns / 1_000_000_000).nsec((sleep_ns % 1_000_000_000) as u32);
                let argument = Wait { sigmask: 0, sigmask_bytes: 0, pad: 0, time: &time };
                // SAFETY: `argument` has the layout of io_uring_getevents_arg and lives through the call.
                unsafe { self.ring.0.submitter().enter(queued, 1, GETEVENTS | EXT_ARG, Some(&argument)) }
            }
        };
        match answer {
            Ok(_) => Ok(()),
            // Woken by the clock, by a signal, or for want of memory or completion space: the caller's loop goes on.
            Err(error) if [libc::ETIME, libc::EINTR, libc::EAGAIN, libc::EBUSY].contains(&errno(&error)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    #[inline(always)]
    fn reap(&mut self, finished: &mut Vec<Done>) -> bool {
        let mut completions = self.ring.0.completion();
        if completions.is_empty() {
            return false;
        }
        let completed_ns = self.clock.now();
        for completion in &mut completions {
            let slot = completion.user_data() as u32;
            let piece = (completion.user_data() >> 32) as u32;
            let mut result = completion.result();
            if NOP && result == 0 {
                result = self.lens[slot as usize] as i32;
            }
            self.in_flight -= 1;
            let submitted_ns = self.submitted_ns[slot as usize];
            finished.push(Done { slot, piece, result, submitted_ns, completed_ns });
        }
        true
    }

    /// Everything that is queued is about to be handed over.
    #[inline(always)]
    fn stamp(&mut self) {
        if !self.pending.is_empty() {
            let now_ns = self.clock.now();
            self.handed_over.add(now_ns, self.pending.len() as u64);
            for slot in self.pending.drain(..) {
                self.submitted_ns[slot as usize] = now_ns;
            }
            self.batch.clear();
        }
    }

    /// Hands over what is queued if the kernel would join this request, or others of the batch, with their neighbours.
    #[inline(always)]
    fn keep_apart(&mut self, io: &Io) -> io::Result<()> {
        let together = self.files[io.file as usize].together;
        self.batch.add(io, together);
        if self.batch.touching && self.pending.len() >= self.batch.together {
            self.stamp();
            self.hand_over()?;
            self.batch.add(io, together);
        }
        Ok(())
    }
}

impl<const NOP: bool> Backend for Uring<NOP> {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io) -> io::Result<()> {
        let entry = self.entry(&io).user_data(u64::from(io.piece) << 32 | u64::from(io.slot));
        if NOP {
            self.lens[io.slot as usize] = io.len;
        } else {
            self.keep_apart(&io)?;
        }
        self.pending.push(io.slot);
        self.in_flight += 1;
        // SAFETY: the buffer lies in the arena, which outlives the ring, and is left alone until the completion.
        while unsafe { self.ring.0.submission().push(&entry) }.is_err() {
            self.stamp();
            self.enter(None)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        if self.in_flight == 0 {
            pause::until(&self.clock, until_ns);
            return Ok(());
        }
        self.stamp();
        self.enter(None)?;
        while !self.reap(finished) {
            let left_ns = until_ns.saturating_sub(self.clock.now());
            if left_ns == 0 {
                break;
            }
            // A polled ring finds completions only while it is asked; others sleep until shortly before the instant.
            let sleeps = left_ns > pause::SPIN_NS && !self.polled;
            self.enter(sleeps.then(|| left_ns - pause::SPIN_NS))?;
        }
        self.handed_over.end_turn();
        Ok(())
    }

    #[inline(always)]
    fn stamps_batches(&self) -> bool {
        true
    }

    #[inline(always)]
    fn handed_over_ns(&self) -> Option<u64> {
        Some(self.handed_over.mean_ns)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ring", self.flavour.to_owned()),
            ("registered_files", self.fixed_files.to_string()),
            ("registered_buffers", self.fixed_buffers.to_string()),
            ("polled", self.polled.to_string()),
        ]
    }
}

/// The entry for an I/O; `file` is a descriptor, or the number of a registered file.
#[inline(always)]
fn entry_on<const NOP: bool>(file: types::Fd, ring: &Uring<NOP>, io: &Io) -> squeue::Entry {
    match (io.op, ring.fixed_buffers) {
        (Op::Read, true) => opcode::ReadFixed::new(file, io.buffer, io.len, 0).offset(io.offset).build(),
        (Op::Read, false) => opcode::Read::new(file, io.buffer, io.len).offset(io.offset).build(),
        (Op::Write, true) => opcode::WriteFixed::new(file, io.buffer, io.len, 0).offset(io.offset).build(),
        (Op::Write, false) => opcode::Write::new(file, io.buffer, io.len).offset(io.offset).build(),
        (Op::Flush, _) => opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build(),
        (Op::Trim, _) if ring.discards && ring.files[io.file as usize].is_device => discard(file, io),
        (Op::Trim, _) => opcode::Fallocate::new(file, u64::from(io.len))
            .offset(io.offset)
            .mode(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE)
            .build(),
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

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

fn make_ring(options: RingOptions) -> io::Result<(IoUring, &'static str)> {
    let entries = options.depth.next_power_of_two().clamp(1, ENTRIES_MAX) as u32;
    let plain = || {
        let mut builder = IoUring::builder();
        if options.polled && !options.nop {
            builder.setup_iopoll();
        }
        builder
    };
    type Adjustment = fn(&mut io_uring::Builder);
    let attempts: [(&'static str, Adjustment); 3] = [
        ("single issuer, deferred task running", |builder| {
            builder.setup_single_issuer().setup_defer_taskrun();
        }),
        ("cooperative task running", |builder| {
            builder.setup_coop_taskrun();
        }),
        ("plain", |_| {}),
    ];
    let mut refused = io::Error::from_raw_os_error(libc::ENOSYS);
    for (flavour, adjust) in attempts {
        let mut builder = plain();
        adjust(&mut builder);
        match builder.build(entries) {
            Ok(ring) => return Ok((ring, flavour)),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Registers the arena as one buffer; without, requests name their memory and the kernel pins it each time.
fn register(ring: &IoUring, arena: &Arena) -> bool {
    let (base, bytes) = arena.span();
    let vector = libc::iovec { iov_base: base.cast(), iov_len: bytes };
    // SAFETY: the arena outlives the ring.
    bytes <= REGISTERED_BYTES_MAX && unsafe { ring.submitter().register_buffers(&[vector]) }.is_ok()
}

/// BLOCK_URING_CMD_DISCARD of Linux 6.12 (include/uapi/linux/blkdev.h): `addr` is the first byte, `addr3` the length.
fn discard(file: types::Fd, io: &Io) -> squeue::Entry {
    const DISCARD: u32 = 0x12 << 8;
    let mut command = [0u8; 16];
    command[..8].copy_from_slice(&u64::from(io.len).to_le_bytes());
    let entry = opcode::UringCmd16::new(file, DISCARD).cmd(command).build();
    // SAFETY: an entry is the 64 plain bytes of struct io_uring_sqe; bytes 16..24 are its `addr`.
    unsafe {
        let mut bytes: [u8; 64] = std::mem::transmute(entry);
        bytes[16..24].copy_from_slice(&io.offset.to_le_bytes());
        std::mem::transmute(bytes)
    }
}

fn is_device(fd: i32) -> bool {
    let mut status = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: fstat fills the struct when it returns 0.
    unsafe { libc::fstat(fd, status.as_mut_ptr()) == 0 && status.assume_init().st_mode & libc::S_IFMT == libc::S_IFBLK }
}

/// Whether the running kernel has this version or a newer one.
fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let Ok(release) = std::fs::read_to_string("/proc/sys/kernel/osrelease") else { return false };
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(found_major)), Some(Ok(found_minor))) => (found_major, found_minor) >= (major, minor),
        _ => false,
    }
}

/// Whether the kernel lets this process make rings.
///
/// # Errors
/// Its refusal: EPERM when `kernel.io_uring_disabled` or a seccomp filter forbids it, ENOSYS when it has none.
pub fn probe() -> io::Result<&'static str> {
    make_ring(RingOptions { depth: 2, polled: false, nop: false }).map(|(_, flavour)| flavour)
}
