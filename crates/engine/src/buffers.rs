//! Memory that requests read into and write from.
//!
//! Model: one anonymous mapping per worker, aligned to 2 MiB so that it may lie in huge pages, cut into one buffer per
//! outstanding request. Asked for pages as programs have them, it lies in small ones and is not registered. Streams that
//! only read and do not verify share buffers beyond [`SHARED_BYTES`]: what they read is never looked at, and memory stays
//! bounded however many requests are outstanding. A buffer that is written from, or looked at, belongs to one request.

use std::io;
use std::ptr::NonNull;

use plimsoll_workload::job::MemoryWord;

/// Memory after which read-only streams share buffers, per worker.
const SHARED_BYTES: usize = 32 << 20;

const ALIGN_BYTES: usize = 2 << 20;
const PAGE_BYTES: usize = 4096;

/// What one stream's share of a worker needs.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Requests outstanding.
    pub slots: usize,
    /// Longest request in bytes.
    pub len: usize,
    /// Each request has a buffer of its own.
    pub own: bool,
}

/// The memory of one worker.
#[derive(Debug)]
pub struct Arena {
    mapping: NonNull<u8>,
    mapped_bytes: usize,
    base: *mut u8,
    bytes: usize,
    memory: MemoryWord,
    /// First byte and length of the buffer of each slot, in the order of the needs.
    places: Vec<(usize, usize)>,
}

// SAFETY: the arena owns its mapping; whoever holds it may use it from any thread.
unsafe impl Send for Arena {}

impl Arena {
    /// Buffers for all slots of all needs, zeroed.
    ///
    /// # Errors
    /// When the system has no such amount of memory.
    pub fn new(needs: &[Need], memory: MemoryWord) -> io::Result<Self> {
        let mut places = Vec::new();
        let mut bytes = 0;
        for need in needs {
            let len = need.len.next_multiple_of(PAGE_BYTES);
            let distinct =
                if need.own || len == 0 { need.slots } else { (SHARED_BYTES / len).clamp(1, need.slots.max(1)) };
            places.extend((0..need.slots).map(|slot| (bytes + slot % distinct.max(1) * len, need.len)));
            bytes += distinct * len;
        }
        let bytes = bytes.max(PAGE_BYTES);
        let mapped_bytes = bytes + ALIGN_BYTES;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice.
        let mapping = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = NonNull::new(mapping.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let base = mapping.as_ptr().wrapping_add(mapping.as_ptr().align_offset(ALIGN_BYTES));
        let advice = match memory {
            MemoryWord::Arena => (bytes >= ALIGN_BYTES).then_some(libc::MADV_HUGEPAGE),
            MemoryWord::Pages => Some(libc::MADV_NOHUGEPAGE),
        };
        if let Some(advice) = advice {
            // SAFETY: the range lies inside the mapping; a refusal of the advice changes nothing.
            unsafe { libc::madvise(base.cast(), bytes, advice) };
        }
        Ok(Self { mapping, mapped_bytes, base, bytes, memory, places })
    }

    /// Start of the buffer of slot `slot`.
    pub fn buffer(&self, slot: usize) -> *mut u8 {
        self.base.wrapping_add(self.places[slot].0)
    }

    /// The whole memory.
    pub const fn span(&self) -> (*mut u8, usize) {
        (self.base, self.bytes)
    }

    /// Whether it is to be registered with a ring.
    pub const fn is_registered(&self) -> bool {
        matches!(self.memory, MemoryWord::Arena)
    }

    /// The buffer of slot `slot` as bytes.
    pub fn bytes_mut(&mut self, slot: usize) -> &mut [u8] {
        let (offset, len) = self.places[slot];
        // SAFETY: the place lies inside the mapping, and the exclusive borrow keeps others out.
        unsafe { std::slice::from_raw_parts_mut(self.base.wrapping_add(offset), len) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `new` and is not used any more.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapped_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_buffers_never_overlap_and_shared_ones_stay_bounded() {
        let own = Need { slots: 8, len: 5000, own: true };
        let read = Need { slots: 1000, len: 1 << 20, own: false };
        let arena = Arena::new(&[own, read], MemoryWord::Arena).unwrap();
        for slot in 1..8 {
            assert!(arena.buffer(slot) as usize - arena.buffer(slot - 1) as usize >= 5000);
        }
        assert!(arena.span().1 <= 8 * 8192 + SHARED_BYTES);
        assert_eq!(arena.buffer(0) as usize % PAGE_BYTES, 0);
        assert!(arena.buffer(8) as usize >= arena.buffer(7) as usize + 5000);
    }

    /// The flags of the mapping at an address; format: proc(5), `/proc/pid/smaps`.
    fn flags_at(address: usize) -> String {
        let table = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut holds = false;
        for line in table.lines() {
            let span = line.split(' ').next().and_then(|span| span.split_once('-'));
            let ends = span.map(|(first, end)| (usize::from_str_radix(first, 16), usize::from_str_radix(end, 16)));
            match ends {
                Some((Ok(first), Ok(end))) => holds = (first..end).contains(&address),
                _ if holds && line.starts_with("VmFlags:") => return format!("{line} "),
                _ => {}
            }
        }
        panic!("nothing is mapped at {address:#x}");
    }

    #[test]
    fn an_arena_asks_for_huge_pages_and_pages_refuse_them() {
        let need = Need { slots: 4, len: 1 << 20, own: true };
        let few = Arena::new(&[Need { slots: 1, len: PAGE_BYTES, own: true }], MemoryWord::Pages).unwrap();
        assert!(
            flags_at(few.buffer(0) as usize).contains(" nh "),
            "a host that makes all memory huge does so with little, too"
        );
        for (memory, asked, other) in [(MemoryWord::Arena, " hg ", " nh "), (MemoryWord::Pages, " nh ", " hg ")] {
            let arena = Arena::new(&[need], memory).unwrap();
            let flags = flags_at(arena.buffer(1) as usize);
            assert!(flags.contains(asked) && !flags.contains(other), "{memory:?}: {flags}");
            assert_eq!(arena.is_registered(), memory == MemoryWord::Arena);
        }
    }
}
