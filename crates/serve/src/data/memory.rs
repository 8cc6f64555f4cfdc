//! Data in memory, sparse: only pages that were written hold memory.
//!
//! Model: pages of 4 KiB in 64 maps, each behind a lock of its own, so that clients rarely meet. Zeros written where nothing
//! is kept need no page; a page that is cleared is freed. A write that would need more than the bound is refused with
//! ENOSPC; the pages before it stay written, as after a failed write to a device.
//!
//! Limits: a byte written keeps a page; what the maps themselves cost (some 3 %) is not in the bound.
//!
//! ```
//! use plimsoll_serve::data::{Data, memory::Memory};
//! let memory = Memory::new(1 << 20);
//! memory.write(1 << 44, b"far out").unwrap();
//! let mut read = [0; 7];
//! memory.read(1 << 44, &mut read).unwrap();
//! assert_eq!((&read, memory.kept().kept_bytes), (b"far out", 4096));
//! ```

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Data, Kept};
use crate::locked;

const PAGE_BYTES: u64 = 4096;
const SHARDS: u64 = 64;

type Page = Box<[u8; PAGE_BYTES as usize]>;

/// See the module.
#[derive(Debug)]
pub struct Memory {
    shards: Vec<Mutex<HashMap<u64, Page>>>,
    bound_pages: u64,
    pages: AtomicU64,
    refused_writes: AtomicU64,
}

impl Memory {
    /// Nothing, with room for so much.
    pub fn new(bound_bytes: u64) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            bound_pages: bound_bytes / PAGE_BYTES,
            pages: AtomicU64::new(0),
            refused_writes: AtomicU64::new(0),
        }
    }

    fn shard(&self, page: u64) -> &Mutex<HashMap<u64, Page>> {
        &self.shards[(page % SHARDS) as usize]
    }

    /// Room for one more page, if there is any.
    fn take_room(&self) -> io::Result<()> {
        if self.pages.fetch_add(1, Ordering::Relaxed) < self.bound_pages {
            return Ok(());
        }
        self.pages.fetch_sub(1, Ordering::Relaxed);
        self.refused_writes.fetch_add(1, Ordering::Relaxed);
        Err(io::Error::from_raw_os_error(libc::ENOSPC))
    }
}

/// The pages that a range of bytes touches: number, bytes within the page, bytes within the range.
fn pieces(offset: u64, len: u64) -> impl Iterator<Item = (u64, Range<usize>, Range<usize>)> {
    let end = offset + len;
    (offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES)).map(move |page| {
        let first = page * PAGE_BYTES;
        let (from, to) = (offset.max(first), end.min(first + PAGE_BYTES));
        let within = |base: u64| (from - base) as usize..(to - base) as usize;
        (page, within(first), within(offset))
    })
}

impl Data for Memory {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        for (page, inside, outside) in pieces(offset, buffer.len() as u64) {
            match locked(self.shard(page)).get(&page) {
                Some(bytes) => buffer[outside].copy_from_slice(&bytes[inside]),
                None => buffer[outside].fill(0),
            }
        }
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        for (page, inside, outside) in pieces(offset, bytes.len() as u64) {
            let piece = &bytes[outside];
            let mut shard = locked(self.shard(page));
            if let Some(kept) = shard.get_mut(&page) {
                kept[inside].copy_from_slice(piece);
            } else if piece.iter().any(|byte| *byte != 0) {
                self.take_room()?;
                let mut kept = Box::new([0; PAGE_BYTES as usize]);
                kept[inside].copy_from_slice(piece);
                shard.insert(page, kept);
            }
        }
        Ok(())
    }

    fn clear(&self, offset: u64, len: u64) -> io::Result<()> {
        let forget = |shard: &mut HashMap<u64, Page>, page: u64, inside: Range<usize>| {
            if inside.len() == PAGE_BYTES as usize {
                self.pages.fetch_sub(u64::from(shard.remove(&page).is_some()), Ordering::Relaxed);
            } else if let Some(kept) = shard.get_mut(&page) {
                kept[inside].fill(0);
            }
        };
        // A trim of a whole array concerns billions of pages, of which few are kept.
        if len / PAGE_BYTES <= self.pages.load(Ordering::Relaxed) {
            pieces(offset, len).for_each(|(page, inside, _)| forget(&mut locked(self.shard(page)), page, inside));
            return Ok(());
        }
        for shard in &self.shards {
            let mut shard = locked(shard);
            let touched = |page: &&u64| **page * PAGE_BYTES < offset + len && (**page + 1) * PAGE_BYTES > offset;
            let pages: Vec<u64> = shard.keys().filter(touched).copied().collect();
            for page in pages {
                let from = offset.max(page * PAGE_BYTES) - page * PAGE_BYTES;
                let to = (offset + len).min((page + 1) * PAGE_BYTES) - page * PAGE_BYTES;
                forget(&mut shard, page, from as usize..to as usize);
            }
        }
        Ok(())
    }

    fn kept(&self) -> Kept {
        Kept {
            kind: "memory",
            kept_bytes: self.pages.load(Ordering::Relaxed) * PAGE_BYTES,
            bound_bytes: self.bound_pages * PAGE_BYTES,
            refused_writes: self.refused_writes.load(Ordering::Relaxed),
            differing_writes: 0,
        }
    }

    fn finish(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(memory: &Memory, offset: u64, len: usize) -> Vec<u8> {
        let mut buffer = vec![0xff; len];
        memory.read(offset, &mut buffer).unwrap();
        buffer
    }

    #[test]
    fn what_was_written_across_pages_is_read_back_and_the_rest_is_zero() {
        let memory = Memory::new(1 << 20);
        let bytes: Vec<u8> = (0..9000).map(|at| (at % 251) as u8 + 1).collect();
        memory.write(4000, &bytes).unwrap();
        assert_eq!(read(&memory, 4000, 9000), bytes);
        assert_eq!((read(&memory, 3990, 10), read(&memory, 13000, 10)), (vec![0; 10], vec![0; 10]));
        assert_eq!(memory.kept().kept_bytes, 4 * 4096, "bytes 4000 to 13000 touch four pages");
    }

    #[test]
    fn a_write_beyond_the_bound_is_refused_and_one_to_a_kept_page_is_not() {
        let memory = Memory::new(2 * 4096);
        memory.write(0, &[1; 8192]).unwrap();
        assert_eq!(memory.write(8192, &[1]).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
        memory.write(100, &[2; 100]).unwrap();
        assert_eq!((memory.kept().refused_writes, memory.kept().kept_bytes), (1, 8192));
        memory.clear(0, 4096).unwrap();
        memory.write(8192, &[1]).unwrap();
    }

    #[test]
    fn zeros_need_no_page() {
        let memory = Memory::new(0);
        memory.write(0, &[0; 1 << 16]).unwrap();
        assert_eq!(memory.kept().kept_bytes, 0);
    }

    #[test]
    fn clearing_frees_whole_pages_and_zeroes_parts_whichever_way_it_goes() {
        for len in [8192 + 100, 1 << 44] {
            let memory = Memory::new(1 << 20);
            memory.write(0, &[7; 4 * 4096]).unwrap();
            memory.clear(100, len).unwrap();
            let mut wanted = vec![7; 4 * 4096];
            let end = (100 + len).min(4 * 4096) as usize;
            wanted[100..end].fill(0);
            assert_eq!(read(&memory, 0, 4 * 4096), wanted, "{len} bytes");
            let whole = if len > 1 << 20 { 3 } else { 1 };
            assert_eq!(memory.kept().kept_bytes, (4 - whole) * 4096, "{len} bytes");
        }
    }
}
