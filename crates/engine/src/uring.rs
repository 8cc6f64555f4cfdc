//! The io_uring backend, and `nop`, the same ring with NOP requests: the cost of the ring alone.
//!
//! Model: one ring per worker, made by the worker's own thread, with registered files and one registered buffer arena where
//! the kernel takes them. Submission and waiting share a system call. The submission
//! stamp is taken once per batch, right before the call that hands the batch over; the completion stamp once per batch of
//! completions, when they are first seen. A batch in which requests touch each other is handed over two at a time, because the
//! kernel joins what touches in larger ones ([`crate::neighbours`]). What takes time is handed over in groups of [`GROUP`], each
//! with a stamp of its own: the device begins with the first while the kernel still prepares the next, where a whole batch
//! would wait for its last request. What comes back within the call that hands it over gains nothing by that and is handed over whole.
//!
//! Limits: a device that cannot complete without blocking makes the kernel hand requests to worker threads of its own,
//! which costs much; the run counts them and says so.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::{cqueue, opcode, squeue, types};
use plimsoll_workload::Op;

use crate::backend::{Backend, Done, Io, Taker};
use crate::buffers::Arena;
use crate::clock::Clock;
use crate::neighbours::Neighbours;
use crate::pause;
use crate::ring::Ring;
pub use crate::ring::{RingOptions, probe};

/// Largest buffer that can be registered as one.
const REGISTERED_BYTES_MAX: usize = 1 << 30;

/// Requests that are handed over in one call without being plugged (`IO_PLUG_THRESHOLD` of Linux, io_uring/io_uring.c).
const UNPLUGGED: usize = 2;

/// Requests that are handed over in one call to what takes time. Of 2, 4, 8 and 16 on a virtual disk at depth 32, four was the largest
/// that lost neither throughput nor median to groups of two, and it took no more processor time per request than whole batches.
const GROUP: usize = 4;

/// See the module. `NOP` replaces every request by a NOP.
#[derive(Debug)]
pub struct Uring<const NOP: bool> {
    ring: Ring,
    clock: Clock,
    files: Vec<File>,
    fixed_files: bool,
    fixed_buffers: bool,
    polled: bool,
    slots: Vec<HandedIo>,
    pending: Vec<u32>,
    /// When all that can be taken was handed over, if it was the batch of one call; else each slot knows its own instant.
    batch_ns: Option<u64>,
    /// How many may be queued until they are handed over; while the target takes time, `slow_group`.
    group: usize,
    slow_group: usize,
    in_flight: usize,
    handed_over: HandedOver,
    batch: Batch,
    /// The kernel takes discards of block devices through the ring; older ones punch a hole, which may write zeros.
    discards: bool,
}

/// The I/O of a slot.
#[derive(Clone, Copy, Debug, Default)]
struct HandedIo {
    /// When it was handed over.
    submitted_ns: u64,
    /// Its length; NOPs answer with it.
    len: u32,
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
        let ring = Ring::new(options)?;
        let fds: Vec<i32> = files.iter().map(AsRawFd::as_raw_fd).collect();
        let fixed_files = !fds.is_empty() && ring.submitter().register_files(&fds).is_ok();
        let fixed_buffers = !NOP && arena.is_registered() && register(&ring, arena);
        let together = together.iter().copied().chain(std::iter::repeat(1)).map(|count| count.max(UNPLUGGED));
        let file = |(&fd, together)| File { fd, is_device: is_device(fd), together };
        let files: Vec<File> = fds.iter().zip(together).map(file).collect();
        // Neighbours that shall be joined reach the kernel in one call.
        let joined = files.iter().map(|file| file.together).filter(|&together| together < usize::MAX);
        let slow_group = joined.fold(GROUP, usize::max);
        Ok(Self {
            ring,
            clock: Clock::calibrated(),
            files,
            fixed_files,
            fixed_buffers,
            polled: options.polled,
            slots: vec![HandedIo::default(); slots],
            pending: Vec::with_capacity(slots),
            batch_ns: None,
            group: usize::MAX,
            slow_group,
            in_flight: 0,
            handed_over: HandedOver::default(),
            batch: Batch { neighbours: Neighbours::new(options.depth), touching: false, together: usize::MAX },
            discards: kernel_is_at_least(6, 12),
        })
    }

    /// I/Os that were submitted and not reported.
    pub(crate) const fn in_flight(&self) -> usize {
        self.in_flight
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

    /// A completion that was seen at an instant.
    #[inline(always)]
    fn done(&self, completion: &cqueue::Entry, completed_ns: u64) -> Done {
        let slot = completion.user_data() as u32;
        let submitted_ns = self.batch_ns.unwrap_or_else(|| self.slots[slot as usize].submitted_ns);
        let mut result = completion.result();
        if NOP && result == 0 {
            result = self.slots[slot as usize].len as i32;
        }
        Done { slot, piece: (completion.user_data() >> 32) as u32, result, submitted_ns, completed_ns }
    }

    /// Hands over what is queued and waits for the first completion or the instant; how many there are.
    #[inline(always)]
    fn await_some(&mut self, until_ns: u64) -> io::Result<usize> {
        let now_ns = self.note_hand_over();
        let nothing_else = self.pending.len() == self.in_flight;
        let entered = self.ring.enter(None);
        if nothing_else && self.ring.finished() == self.in_flight {
            // All came back within the call: nobody asks their slots.
            self.pending.clear();
            (self.batch_ns, self.group) = (Some(now_ns), usize::MAX);
            self.handed_over.end_turn();
            return entered.map(|()| self.in_flight);
        }
        self.batch_ns = None;
        self.stamp(now_ns);
        entered?;
        self.await_first(until_ns)
    }

    /// Waits for the first completion of what was handed over or the instant; how many there are.
    #[inline(always)]
    fn await_first(&mut self, until_ns: u64) -> io::Result<usize> {
        loop {
            let finished = self.ring.finished();
            let left_ns = if finished > 0 { 0 } else { until_ns.saturating_sub(self.clock.now()) };
            if left_ns == 0 {
                self.handed_over.end_turn();
                self.group = if finished == self.in_flight { usize::MAX } else { self.slow_group };
                return Ok(finished);
            }
            // A polled ring finds completions only while it is asked; others sleep until shortly before the instant.
            let sleeps = left_ns > pause::SPIN_NS && !self.polled;
            self.ring.enter(sleeps.then(|| left_ns - pause::SPIN_NS))?;
        }
    }

    /// Everything that is queued is about to be handed over; the instant, which the slots do not know yet.
    #[inline(always)]
    fn note_hand_over(&mut self) -> u64 {
        let now_ns = self.clock.now();
        if !self.pending.is_empty() {
            self.handed_over.add(now_ns, self.pending.len() as u64);
            self.batch.clear();
        }
        now_ns
    }

    /// Tells the slots that were queued when they were handed over.
    #[inline(always)]
    fn stamp(&mut self, now_ns: u64) {
        for slot in self.pending.drain(..) {
            self.slots[slot as usize].submitted_ns = now_ns;
        }
    }

    /// Queues a request, which may hand over those before it.
    #[inline(always)]
    fn queue(&mut self, io: &Io) -> io::Result<()> {
        if !NOP {
            if self.pending.len() >= self.group {
                self.hand_over()?;
            }
            self.keep_apart(io)?;
        } else if self.slots[io.slot as usize].len != io.len {
            self.slots[io.slot as usize].len = io.len;
        }
        let entry = self.entry(io).user_data(u64::from(io.piece) << 32 | u64::from(io.slot));
        // SAFETY: the buffer lies in the arena, which outlives the ring, and is left alone until the completion.
        while !unsafe { self.ring.push(&entry) } {
            self.make_room()?;
        }
        self.pending.push(io.slot);
        Ok(())
    }

    /// Hands over what is queued if the kernel would join this request, or others of the batch, with their neighbours.
    #[inline(always)]
    fn keep_apart(&mut self, io: &Io) -> io::Result<()> {
        let together = self.files[io.file as usize].together;
        self.batch.add(io, together);
        if self.batch.touching && self.pending.len() >= self.batch.together {
            self.hand_over()?;
            self.batch.add(io, together);
        }
        Ok(())
    }

    /// Hands over what is queued, and looks for no completion.
    #[inline(always)]
    fn hand_over(&mut self) -> io::Result<()> {
        let now_ns = self.note_hand_over();
        self.stamp(now_ns);
        self.ring.hand_over()
    }

    /// Lets the kernel take entries where the ring is full.
    #[cold]
    fn make_room(&mut self) -> io::Result<()> {
        if self.ring.has_room() {
            return Ok(());
        }
        let now_ns = self.note_hand_over();
        self.stamp(now_ns);
        self.ring.enter(None)
    }
}

impl<const NOP: bool> Backend for Uring<NOP> {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    #[inline(always)]
    fn submit(&mut self, io: Io) -> io::Result<()> {
        self.in_flight += 1;
        self.queue(&io)
    }

    #[inline(always)]
    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        if self.in_flight == 0 {
            pause::until(&self.clock, until_ns);
            return Ok(());
        }
        if self.await_some(until_ns)? > 0 {
            let completed_ns = self.clock.now();
            while let Some(completion) = self.ring.next() {
                finished.push(self.done(&completion, completed_ns));
                self.in_flight -= 1;
            }
        }
        Ok(())
    }

    /// Completions are taken as they lie in the ring.
    #[inline(always)]
    fn turn<T: Taker>(&mut self, until_ns: u64, done: &mut Vec<Done>, taker: &mut T) -> io::Result<()> {
        done.clear();
        let finished = if self.in_flight > 0 { self.await_some(until_ns)? } else { 0 };
        if self.in_flight == 0 {
            pause::until(&self.clock, until_ns);
        }
        let now_ns = self.clock.now();
        if taker.begin(self, now_ns, finished) {
            // Each is followed by another, so as many stay in flight.
            for _ in 0..finished {
                let Some(completion) = self.ring.next() else { break };
                let finished = self.done(&completion, now_ns);
                self.queue(&taker.take(&finished))?;
            }
            return Ok(());
        }
        for _ in 0..finished {
            let Some(completion) = self.ring.next() else { break };
            done.push(self.done(&completion, now_ns));
            self.in_flight -= 1;
        }
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
            ("ring", self.ring.flavour().to_owned()),
            ("registered_ring", self.ring.is_registered().to_string()),
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

/// Registers the arena as one buffer; without, requests name their memory and the kernel pins it each time.
fn register(ring: &Ring, arena: &Arena) -> bool {
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

#[cfg(test)]
mod tests;
