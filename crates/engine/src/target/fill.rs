//! Filling scratch files with incompressible data, so that no read comes from a hole or an unwritten extent.
//!
//! Model: a few threads take 1 MiB chunks in order, file after file, and write random bytes that depend on the file and the
//! chunk; bypassing the page cache where that is possible. Chunks are taken in order and always finished, so after a stop
//! everything before the returned offsets is filled. All files are made durable together, at the end.
//!
//! Limits: after a write error nothing beyond the old fill marks is counted as filled.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::place::Handle;
use crate::durable;

pub(crate) const CHUNK_BYTES: u64 = 1 << 20;
/// Threads that fill one file, and more that fill many: small files keep a device busy only several at once.
const THREADS: usize = 4;
const THREADS_OF_MANY: usize = 8;
const ALIGNMENT: usize = 4096;

/// Opens a scratch file for filling, through what is held of it: without the page cache where possible.
pub(crate) fn open_for_fill(file: &Handle) -> io::Result<File> {
    let attempt = |flags| file.open(OpenOptions::new().read(true).write(true).custom_flags(flags));
    match attempt(libc::O_DIRECT) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => attempt(0),
        result => result,
    }
}

/// What is to be filled of one file; the ends are multiples of 4 KiB (the end may be the file's).
#[derive(Clone, Debug)]
pub(crate) struct Region<'a> {
    /// As [`open_for_fill`] opens it.
    pub(crate) file: &'a File,
    pub(crate) range: Range<u64>,
    pub(crate) seed: u64,
}

impl Region<'_> {
    const fn chunks(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start).div_ceil(CHUNK_BYTES)
    }
}

/// State the filling threads share.
struct Fill<'a> {
    regions: &'a [Region<'a>],
    /// The number of each region's first chunk, and of all chunks.
    firsts: Vec<u64>,
    next_chunk: AtomicU64,
    stop: &'a AtomicBool,
    failure: Mutex<Option<(usize, io::Error)>>,
}

/// Fills the regions and makes them durable. Calls `progress` with the bytes that were just written. Returns for each the
/// offset up to which it is filled: its end unless stopped.
///
/// # Errors
/// The first write error, ENOSPC for example, with the number of its region.
pub(crate) fn fill(
    regions: &[Region<'_>],
    progress: &mut dyn FnMut(u64),
    stop: &AtomicBool,
) -> Result<Vec<u64>, (usize, io::Error)> {
    let mut firsts = vec![0];
    for region in regions {
        firsts.push(firsts[firsts.len() - 1] + region.chunks());
    }
    let fill = Fill { regions, firsts, next_chunk: AtomicU64::new(0), stop, failure: Mutex::new(None) };
    let threads = if regions.len() > 1 { THREADS_OF_MANY } else { THREADS };
    let (sender, receiver) = crossbeam_channel::bounded(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (fill, sender) = (&fill, sender.clone());
            scope.spawn(move || fill.work(&sender));
        }
        drop(sender);
        receiver.iter().for_each(progress);
    });
    if let Some(failed) = fill.failure.into_inner().unwrap_or_else(|poison| poison.into_inner()) {
        return Err(failed);
    }
    durable::sync(&regions.iter().map(|region| region.file).collect::<Vec<_>>())?;
    for region in regions {
        // SAFETY: advice on an open descriptor. Reads shall come from the medium, also after a fill through the page cache.
        unsafe { libc::posix_fadvise(region.file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    }
    let taken = fill.next_chunk.into_inner();
    let filled = |(region, first): (&Region<'_>, &u64)| {
        let bytes = taken.saturating_sub(*first).saturating_mul(CHUNK_BYTES);
        region.range.start.saturating_add(bytes).min(region.range.end)
    };
    Ok(regions.iter().zip(&fill.firsts).map(filled).collect())
}

impl Fill<'_> {
    fn work(&self, written: &crossbeam_channel::Sender<u64>) {
        let mut memory = vec![0; CHUNK_BYTES as usize + ALIGNMENT];
        let aligned = memory.as_ptr().align_offset(ALIGNMENT);
        let buffer = &mut memory[aligned..aligned + CHUNK_BYTES as usize];
        while let Some((number, chunk)) = self.take() {
            let (region, bytes) = (&self.regions[number], (chunk.end - chunk.start) as usize);
            random_bytes(&mut buffer[..bytes], region.seed ^ chunk.start);
            if let Err(error) = region.file.write_all_at(&buffer[..bytes], chunk.start) {
                *self.failure.lock().unwrap_or_else(|poison| poison.into_inner()) = Some((number, error));
                self.next_chunk.store(u64::MAX / 2, Ordering::Relaxed);
                return;
            }
            if written.send(bytes as u64).is_err() {
                return;
            }
        }
    }

    /// The next chunk and the region that it is of, unless stopped or done. A chunk that was taken is always written.
    fn take(&self) -> Option<(usize, Range<u64>)> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let chunk = self.next_chunk.fetch_add(1, Ordering::Relaxed);
        // The last region that begins at or before it; regions without chunks lie before it, too.
        let number = self.firsts.partition_point(|first| *first <= chunk).checked_sub(1)?;
        let region = self.regions.get(number)?;
        let start = region.range.start + (chunk - self.firsts[number]) * CHUNK_BYTES;
        Some((number, start..(start + CHUNK_BYTES).min(region.range.end)))
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
