//! What stood in a file before it was last written, for reads that return old data.
//!
//! Model: of each write the bytes that it replaced are kept, the newest of a place alone. Limits: 64 MiB; then everything is
//! forgotten and the keeping begins anew.
//!
//! ```
//! use plimsoll_faultfs::past::Past;
//! let mut past = Past::default();
//! past.replaced(4096, vec![1; 512]);
//! let mut read = vec![2; 1024];
//! assert_eq!(past.return_to(3584, &mut read), [4096..4608]);
//! assert_eq!(read[511..513], [2, 1]);
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

const ROOM_BYTES: usize = 64 << 20;
const SECTOR_BYTES: usize = 512;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// By first byte; never overlapping.
    kept: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
}

impl Past {
    /// These bytes at `offset` are about to be replaced.
    pub fn replaced(&mut self, offset: u64, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let outdated: Vec<u64> = self.within(&(offset..offset + bytes.len() as u64)).map(|(start, _)| start).collect();
        for start in outdated {
            self.bytes -= self.kept.remove(&start).map_or(0, |old| old.len());
        }
        if self.bytes + bytes.len() > ROOM_BYTES {
            *self = Self::default();
        }
        self.bytes += bytes.len();
        self.kept.insert(offset, bytes);
    }

    /// Whether anything older is known in a range.
    pub fn knows(&self, range: &Range<u64>) -> bool {
        self.within(range).next().is_some()
    }

    /// What is kept of a range, whole.
    fn within(&self, range: &Range<u64>) -> impl Iterator<Item = (u64, &Vec<u8>)> {
        let (start, end) = (range.start, range.end);
        let before = self.kept.range(..start).next_back().filter(move |(at, old)| *at + old.len() as u64 > start);
        before.into_iter().chain(self.kept.range(start..end)).map(|(&at, old)| (at, old))
    }

    /// Puts what was read at `offset` back to what stood there before; the sectors that differ now.
    pub fn return_to(&self, offset: u64, read: &mut [u8]) -> Vec<Range<u64>> {
        let end = offset + read.len() as u64;
        let mut wrong = Vec::new();
        for (start, old) in self.within(&(offset..end)) {
            let (from, to) = (start.max(offset), (start + old.len() as u64).min(end));
            let old = &old[(from - start) as usize..(to - start) as usize];
            let now = &mut read[(from - offset) as usize..(to - offset) as usize];
            for (number, (now, old)) in now.chunks_mut(SECTOR_BYTES).zip(old.chunks(SECTOR_BYTES)).enumerate() {
                if now != old {
                    now.copy_from_slice(old);
                    let at = from + (number * SECTOR_BYTES) as u64;
                    wrong.push(at..at + old.len() as u64);
                }
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_state_before_the_newest_is_returned_to() {
        let mut past = Past::default();
        past.replaced(0, vec![1; 512]);
        past.replaced(0, vec![2; 512]);
        let mut read = vec![3; 512];
        assert_eq!(past.return_to(0, &mut read), [0..512]);
        assert_eq!(read, [2; 512]);
        assert_eq!(past.return_to(0, &mut read), [], "equal data is not wrong");
        assert!(past.knows(&(511..512)) && !past.knows(&(512..513)));
    }

    #[test]
    fn a_part_of_what_is_known_is_returned_to() {
        let mut past = Past::default();
        past.replaced(1024, vec![1; 4096]);
        let mut read = vec![2; 512];
        assert_eq!(past.return_to(2048, &mut read), [2048..2560]);
        assert_eq!(read, [1; 512]);
        past.replaced(0, vec![3; 2048]);
        assert!(!past.knows(&(2048..8192)), "what overlaps is forgotten as a whole");
    }

    #[test]
    fn memory_does_not_grow_without_end() {
        let mut past = Past::default();
        (0..70).for_each(|n| past.replaced(n << 20, vec![0; 1 << 20]));
        assert!(!past.knows(&(0..64 << 20)) && past.knows(&(64 << 20..65 << 20)));
    }
}
