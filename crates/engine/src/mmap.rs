//! The backend that copies from and to a shared mapping, as programs with memory-mapped files do.
//!
//! Model: every part is mapped once; a read or write is one copy within [`Backend::submit`], which the page cache
//! serves or the kernel interrupts with a page fault. A flush is `msync` of the whole part; where a part is open with `O_DSYNC`,
//! each write ends with `msync` of its own pages. `madvise` says how far to read ahead. Faults that the kernel cannot serve (the
//! file was truncated, the device failed, the disk is full below a hole) arrive as SIGBUS; `bus` turns them into
//! the result EIO.
//!
//! Limits: the page cache is always in between, so `direct` has no effect; trims are not supported; one
//! I/O is done after the other, whatever the queue depth; which error the device gave is not known, it is always EIO.
//!
//! ```no_run
//! # use std::{fs::File, os::fd::AsFd};
//! use plimsoll_engine::mmap::Mmap;
//! let file = File::open("/data/scratch").unwrap();
//! let backend = Mmap::new(&[file.as_fd()], &[]).unwrap();
//! ```

mod bus;

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use plimsoll_workload::Op;
use plimsoll_workload::plan::ReadAhead;

use crate::backend::{Backend, Done, Io, done, full};
use crate::clock::Clock;
use crate::pause;

/// See the module.
#[derive(Debug)]
pub struct Mmap {
    clock: Clock,
    mappings: Vec<Mapping>,
    finished: Vec<Done>,
}

impl Mmap {
    /// A backend with these files mapped, for writing too if they are open for it. The descriptors are duplicated. `read_ahead` says
    /// for each file how far the kernel reads ahead; without an entry as usual.
    ///
    /// # Errors
    /// When a file cannot be mapped.
    pub fn new(files: &[BorrowedFd<'_>], read_ahead: &[ReadAhead]) -> io::Result<Self> {
        bus::install()?;
        let mappings = files.iter().map(Mapping::new).collect::<io::Result<Vec<_>>>()?;
        mappings.iter().zip(read_ahead).for_each(|(mapping, &read_ahead)| mapping.advise(read_ahead));
        Ok(Self { clock: Clock::calibrated(), mappings, finished: Vec::new() })
    }
}

impl Backend for Mmap {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn submit(&mut self, io: Io) -> io::Result<()> {
        let mapping = &self.mappings[io.file as usize];
        let submitted_ns = self.clock.now();
        let result = mapping.perform(&io);
        self.finished.push(done(&io, result, submitted_ns, self.clock.now()));
        Ok(())
    }

    fn wait(&mut self, until_ns: u64, finished: &mut Vec<Done>) -> io::Result<()> {
        if self.finished.is_empty() {
            pause::until(&self.clock, until_ns);
        }
        finished.append(&mut self.finished);
        Ok(())
    }
}

/// One mapped file.
#[derive(Debug)]
struct Mapping {
    file: File,
    start: *mut u8,
    len: usize,
    protection: libc::c_int,
    /// Each write is written through.
    durable: bool,
    region: &'static bus::Region,
}

// SAFETY: the mapping is plain memory that belongs to this value; it is only used through `&self` of the one backend
// that owns it, and unmapped when dropped.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(file: &BorrowedFd<'_>) -> io::Result<Self> {
        let mut file = File::from(file.try_clone_to_owned()?);
        let len = usize::try_from(file.seek(SeekFrom::End(0))?).map_err(io::Error::other)?;
        // SAFETY: reads the flags of an open descriptor.
        let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
        let writable = flags & libc::O_ACCMODE == libc::O_RDWR;
        let durable = flags & libc::O_DSYNC != 0;
        let protection = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let region = bus::Region::register(start as usize, len);
        Ok(Self { file, start: start.cast(), len, protection, durable, region })
    }

    /// The result of one I/O: its length, 0 for flushes, or a negated errno.
    fn perform(&self, io: &Io) -> i32 {
        let (offset, len) = (io.offset as usize, io.len as usize);
        let inside = offset.checked_add(len).is_some_and(|end| end <= self.len);
        match io.op {
            _ if !inside => -libc::EINVAL,
            Op::Trim => -libc::EOPNOTSUPP,
            Op::Write if self.protection & libc::PROT_WRITE == 0 => -libc::EBADF,
            Op::Flush => self.write_back(0, self.len),
            Op::Read | Op::Write => {
                let faults = self.region.faults();
                // SAFETY: both ranges are valid for `len` bytes: the buffer by the backend's contract, the mapping
                // because it was just checked; a fault inside it is answered by `bus`.
                unsafe {
                    let place = self.start.add(offset);
                    match io.op {
                        Op::Read => ptr::copy_nonoverlapping(place, io.buffer, len),
                        _ => ptr::copy_nonoverlapping(io.buffer, place, len),
                    }
                }
                if self.region.faults() != faults {
                    return self.restore(offset, len);
                }
                let written = if self.durable && io.op == Op::Write { self.write_back(offset, len) } else { 0 };
                if written < 0 { written } else { full(io) }
            }
        }
    }

    /// Writes the pages of a range back and waits for it: 0, or a negated errno.
    fn write_back(&self, offset: usize, len: usize) -> i32 {
        let first = offset / bus::page_bytes() * bus::page_bytes();
        // SAFETY: the range lies inside this mapping.
        match unsafe { libc::msync(self.start.add(first).cast(), offset + len - first, libc::MS_SYNC) } {
            0 => 0,
            _ => -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO),
        }
    }

    fn advise(&self, read_ahead: ReadAhead) {
        let advice = match read_ahead {
            ReadAhead::Usual => return,
            ReadAhead::Off => libc::MADV_RANDOM,
            ReadAhead::Far => libc::MADV_SEQUENTIAL,
        };
        // SAFETY: the range is this mapping; the advice changes no content.
        unsafe { libc::madvise(self.start.cast(), self.len, advice) };
    }

    /// Puts the file's pages back where faults were answered with empty ones, so that later I/O meets the file again.
    #[cold]
    fn restore(&self, offset: usize, len: usize) -> i32 {
        let page = bus::page_bytes();
        let first = offset / page * page;
        let pages = (offset + len).next_multiple_of(page) - first;
        // SAFETY: replaces pages inside this mapping by the same pages of the same file.
        let mapped = unsafe {
            let place = self.start.add(first).cast();
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            libc::mmap(place, pages, self.protection, flags, self.file.as_raw_fd(), first as libc::off_t)
        };
        assert!(mapped != libc::MAP_FAILED, "remapping pages of a mapping: {}", io::Error::last_os_error());
        -libc::EIO
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.region.release();
        // SAFETY: the mapping is this value's own and nothing uses it any more.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}

#[cfg(test)]
mod tests;
