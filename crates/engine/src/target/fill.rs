//! Filling a scratch file with incompressible data, so that no read comes from a hole or an unwritten extent.
//!
//! Model: a few threads take 1 MiB chunks in order and write random bytes that depend on the file and the chunk;
//! bypassing the page cache where that is possible. Chunks are taken in order and always finished, so after a stop
//! everything before the returned offset is filled.
//!
//! Limits: after a write error nothing beyond the old fill mark is counted as filled.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::place::Handle;

pub(crate) const CHUNK_BYTES: u64 = 1 << 20;
const THREADS: usize = 4;
const ALIGNMENT: usize = 4096;

/// Opens a scratch file for filling, through what is held of it: without the page cache where possible.
fn open_for_fill(file: &Handle) -> io::Result<File> {
    let attempt = |flags| file.open(OpenOptions::new().write(true).custom_flags(flags));
    match attempt(libc::O_DIRECT) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => attempt(0),
        result => result,
    }
}

/// State the filling threads share.
struct Fill<'a> {
    file: File,
    range: Range<u64>,
    seed: u64,
    next_chunk: AtomicU64,
    stop: &'a AtomicBool,
    failure: Mutex<Option<io::Error>>,
}

/// Fills `range` of the file that is held, whose ends are multiples of 4 KiB (the end may be the file's), and makes it
/// durable. Calls `progress` with the bytes that were just written. Returns the offset up to which it is filled: the
/// range's end unless stopped.
///
/// # Errors
/// The first write error, ENOSPC for example.
pub(crate) fn fill(
    held: &Handle,
    range: Range<u64>,
    seed: u64,
    progress: &mut dyn FnMut(u64),
    stop: &AtomicBool,
) -> io::Result<u64> {
    let fill = Fill {
        file: open_for_fill(held)?,
        range,
        seed,
        next_chunk: AtomicU64::new(0),
        stop,
        failure: Mutex::new(None),
    };
    let (sender, receiver) = crossbeam_channel::bounded(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let (fill, sender) = (&fill, sender.clone());
            scope.spawn(move || fill.work(&sender));
        }
        drop(sender);
        receiver.iter().for_each(progress);
    });
    if let Some(error) = fill.failure.into_inner().unwrap_or_else(|poison| poison.into_inner()) {
        return Err(error);
    }
    fill.file.sync_data()?;
    // SAFETY: advice on an open descriptor. Reads shall come from the medium, also after a fill through the page cache.
    unsafe { libc::posix_fadvise(fill.file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    let taken = fill.next_chunk.into_inner().saturating_mul(CHUNK_BYTES);
    Ok(fill.range.start.saturating_add(taken).min(fill.range.end))
}

impl Fill<'_> {
    fn work(&self, written: &crossbeam_channel::Sender<u64>) {
        let mut memory = vec![0; CHUNK_BYTES as usize + ALIGNMENT];
        let aligned = memory.as_ptr().align_offset(ALIGNMENT);
        let buffer = &mut memory[aligned..aligned + CHUNK_BYTES as usize];
        while let Some(chunk) = self.take() {
            let bytes = (chunk.end - chunk.start) as usize;
            random_bytes(&mut buffer[..bytes], self.seed ^ chunk.start);
            if let Err(error) = self.file.write_all_at(&buffer[..bytes], chunk.start) {
                *self.failure.lock().unwrap_or_else(|poison| poison.into_inner()) = Some(error);
                self.next_chunk.store(u64::MAX / 2, Ordering::Relaxed);
                return;
            }
            if written.send(bytes as u64).is_err() {
                return;
            }
        }
    }

    /// The next chunk, unless stopped or done. A chunk that was taken is always written.
    fn take(&self) -> Option<Range<u64>> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let offset = self.next_chunk.fetch_add(1, Ordering::Relaxed).saturating_mul(CHUNK_BYTES);
        let start = self.range.start.checked_add(offset).filter(|start| *start < self.range.end)?;
        Some(start..(start + CHUNK_BYTES).min(self.range.end))
    }
}

/// Fills `buffer`, whose length is a multiple of 8, with bytes that no compressor shortens. Source: splitmix64
/// (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
fn random_bytes(buffer: &mut [u8], seed: u64) {
    let mut state = seed.wrapping_mul(0xd134_2543_de82_ef95);
    for word in buffer.chunks_exact_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes());
    }
}
