//! Files of records in a directory: read and written in order through one buffer, buffered or direct, each call counted.
//!
//! Model: a call moves one buffer, the last one less. Direct calls move whole blocks of 4 KiB: the last one is padded, and the file cut to
//! its length afterwards. Records have a fixed size and may lie across two buffers.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fs::{File, OpenOptions};
use std::ops::{Deref, DerefMut};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::Trouble;
use crate::meter::{Meter, Way};

/// What direct I/O wants memory, lengths and offsets to be multiples of.
pub const BLOCK_BYTES: usize = 4096;
/// What a reader can take from anywhere at once, whatever its buffer.
const AT_ONCE_BYTES: usize = 16 << 10;

/// How the files of a directory are read and written.
#[derive(Clone, Copy)]
pub struct Disk<'a> {
    /// The directory.
    pub folder: &'a Path,
    /// Bytes of a call.
    pub buffer_bytes: usize,
    /// Past the page cache.
    pub direct: bool,
    /// Whether a file is made durable when its last byte is written.
    pub flush_at_close: bool,
    /// Counts the calls.
    pub meter: &'a Meter<'a>,
}

impl<'a> Disk<'a> {
    /// Where a file is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A new file, to be written in order.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn writer(&self, name: &str) -> Result<Writer<'a>, Trouble> {
        let path = self.path(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).custom_flags(self.flags());
        let file = options.open(&path).map_err(Trouble::io("make it", &path))?;
        Ok(Writer { file, path, buffer: Aligned::new(self.buffer_bytes), filled: 0, offset: 0, disk: *self })
    }

    /// A file of this directory, to be read in order in records of so many bytes.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn reader(&self, name: &str, record: usize) -> Result<Reader<'a>, Trouble> {
        self.reader_at(self.path(name), record)
    }

    /// The same of a file anywhere.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn reader_at(&self, path: PathBuf, record: usize) -> Result<Reader<'a>, Trouble> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(self.flags());
        let file = options.open(&path).map_err(Trouble::io("open it", &path))?;
        let size = file.metadata().map_err(Trouble::io("look at it", &path))?.len();
        let buffer = Aligned::new(self.buffer_bytes.max(AT_ONCE_BYTES));
        let spare = vec![0; record];
        Ok(Reader { file, path, size, buffer, begin: 0, end: 0, offset: 0, spare, place: None, disk: *self })
    }

    /// Removes a file that is needed no more.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), Trouble> {
        let path = self.path(name);
        std::fs::remove_file(&path).map_err(Trouble::io("remove it", &path))
    }

    fn flags(&self) -> i32 {
        if self.direct { libc::O_DIRECT } else { 0 }
    }
}

/// Writes a file in order.
pub struct Writer<'a> {
    file: File,
    path: PathBuf,
    buffer: Aligned,
    filled: usize,
    offset: u64,
    disk: Disk<'a>,
}

impl Writer<'_> {
    /// Appends bytes.
    ///
    /// # Errors
    /// When a full buffer cannot be written.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), Trouble> {
        loop {
            let room = self.buffer.len() - self.filled;
            let part = bytes.len().min(room);
            self.buffer[self.filled..self.filled + part].copy_from_slice(&bytes[..part]);
            self.filled += part;
            bytes = &bytes[part..];
            if self.filled < self.buffer.len() {
                return Ok(());
            }
            self.put(self.filled)?;
            self.filled = 0;
        }
    }

    /// How many bytes were appended.
    pub fn length(&self) -> u64 {
        self.offset + self.filled as u64
    }

    /// Writes what is left, makes the file durable if asked; its length.
    ///
    /// # Errors
    /// When that fails.
    pub fn finish(mut self) -> Result<u64, Trouble> {
        let length = self.length();
        if self.filled > 0 {
            let padded = if self.disk.direct { self.filled.next_multiple_of(BLOCK_BYTES) } else { self.filled };
            self.buffer[self.filled..padded].fill(0);
            self.put(padded)?;
            if padded > self.filled {
                self.file.set_len(length).map_err(Trouble::io("cut it to its length", &self.path))?;
            }
        }
        if self.disk.flush_at_close {
            self.file.sync_data().map_err(Trouble::io("make it durable", &self.path))?;
        }
        Ok(length)
    }

    fn put(&mut self, length: usize) -> Result<(), Trouble> {
        let mut done = 0;
        while done < length {
            let (from, left, at) = (self.buffer[done..].as_ptr(), length - done, (self.offset + done as u64) as i64);
            let fd = self.file.as_raw_fd();
            // SAFETY: `left` bytes from `from` on are the buffer's.
            let written = self.disk.meter.call(Way::Write, || unsafe { libc::pwrite64(fd, from.cast(), left, at) });
            done += written.map_err(Trouble::io("write to it", &self.path))?;
        }
        self.offset += length as u64;
        Ok(())
    }
}

/// Reads a file in order, record by record.
pub struct Reader<'a> {
    file: File,
    path: PathBuf,
    size: u64,
    buffer: Aligned,
    begin: usize,
    end: usize,
    offset: u64,
    /// A record that lies across two buffers.
    spare: Vec<u8>,
    /// Where in the buffer the record is; `None` when it is the spare one.
    place: Option<usize>,
    disk: Disk<'a>,
}

impl Reader<'_> {
    /// Goes to the next record; `false` at the end.
    ///
    /// # Errors
    /// When the file cannot be read, or ends within a record.
    pub fn advance(&mut self) -> Result<bool, Trouble> {
        let record = self.spare.len();
        if self.end - self.begin >= record {
            self.place = Some(self.begin);
            self.begin += record;
            return Ok(true);
        }
        let mut held = 0;
        loop {
            let part = (self.end - self.begin).min(record - held);
            self.spare[held..held + part].copy_from_slice(&self.buffer[self.begin..self.begin + part]);
            self.begin += part;
            held += part;
            if held == record {
                self.place = None;
                return Ok(true);
            }
            if !self.fill()? {
                break;
            }
            if held == 0 && self.end >= record {
                self.place = Some(0);
                self.begin = record;
                return Ok(true);
            }
        }
        if held > 0 {
            return Err(Trouble::wrong(&self.path, format!("it ends within a record, after {} bytes", self.size)));
        }
        Ok(false)
    }

    /// The record that was gone to.
    pub fn current(&self) -> &[u8] {
        self.place.map_or(&self.spare, |place| &self.buffer[place..place + self.spare.len()])
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads bytes from anywhere into `into`; direct I/O reads the blocks around them.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read_at(&mut self, at: u64, into: &mut [u8]) -> Result<(), Trouble> {
        let (from, skipped) = if self.disk.direct {
            let skipped = (at % BLOCK_BYTES as u64) as usize;
            (at - skipped as u64, skipped)
        } else {
            (at, 0)
        };
        let wanted = skipped + into.len();
        let length = if self.disk.direct { wanted.next_multiple_of(BLOCK_BYTES) } else { wanted };
        // The buffer holds nothing that is read in order any more.
        self.begin = self.end;
        let mut done = 0;
        while done < wanted {
            let read = self.get(done, length - done, from + done as u64)?;
            if read == 0 {
                return Err(Trouble::wrong(&self.path, format!("it ends before byte {}", at + into.len() as u64)));
            }
            done += read;
        }
        into.copy_from_slice(&self.buffer[skipped..wanted]);
        Ok(())
    }

    fn fill(&mut self) -> Result<bool, Trouble> {
        let left = self.size - self.offset;
        if left == 0 {
            return Ok(false);
        }
        let whole = self.disk.buffer_bytes;
        let length = if self.disk.direct { whole } else { whole.min(usize::try_from(left).unwrap_or(whole)) };
        let read = self.get(0, length, self.offset)?;
        if read == 0 {
            return Err(Trouble::wrong(&self.path, format!("it ends at byte {} and had {}", self.offset, self.size)));
        }
        self.offset += read as u64;
        self.begin = 0;
        self.end = read;
        Ok(true)
    }

    fn get(&mut self, to: usize, length: usize, at: u64) -> Result<usize, Trouble> {
        let fd = self.file.as_raw_fd();
        let into = self.buffer[to..to + length].as_mut_ptr();
        // SAFETY: `length` bytes from `into` on are the buffer's.
        let read = self.disk.meter.call(Way::Read, || unsafe { libc::pread64(fd, into.cast(), length, at as i64) });
        read.map_err(Trouble::io("read it", &self.path))
    }
}

/// Memory that direct I/O can use.
struct Aligned {
    bytes: *mut u8,
    layout: Layout,
}

impl Aligned {
    fn new(size: usize) -> Self {
        let size = size.max(BLOCK_BYTES).next_multiple_of(BLOCK_BYTES);
        let layout = Layout::from_size_align(size, BLOCK_BYTES).expect("buffers are far below the limit of a layout");
        // SAFETY: the size is not 0.
        let bytes = unsafe { alloc_zeroed(layout) };
        if bytes.is_null() {
            handle_alloc_error(layout);
        }
        Self { bytes, layout }
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and nobody else's.
        unsafe { dealloc(self.bytes, self.layout) };
    }
}

impl Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes were allocated, zeroed.
        unsafe { std::slice::from_raw_parts(self.bytes, self.layout.size()) }
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed for writing.
        unsafe { std::slice::from_raw_parts_mut(self.bytes, self.layout.size()) }
    }
}
