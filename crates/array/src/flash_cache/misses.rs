//! Extents that were missed of late, as many as the cache holds: who is missed again before so many others is worth bringing in.
//!
//! Model: first in, first out (the queue A1out of T. Johnson, D. Shasha: *2Q*, VLDB 1994).

use crate::cache::index::Index;
use crate::slab::NONE;

/// See the module.
#[derive(Debug)]
pub(super) struct Misses {
    index: Index,
    /// In a ring; [`u64::MAX`] is none.
    extents: Vec<u64>,
    next: usize,
}

impl Misses {
    pub(super) fn new(count: usize) -> Self {
        Self { index: Index::new(count), extents: vec![u64::MAX; count], next: 0 }
    }

    /// Notes a miss; whether there was one before, which is forgotten then.
    pub(super) fn again(&mut self, extent: u64) -> bool {
        let place = self.index.get(extent, |place| self.extents[place as usize] == extent);
        if place != NONE {
            self.index.remove(extent, place);
            self.extents[place as usize] = u64::MAX;
            return true;
        }
        let oldest = std::mem::replace(&mut self.extents[self.next], extent);
        if oldest != u64::MAX {
            self.index.remove(oldest, self.next as u32);
        }
        self.index.insert(extent, self.next as u32);
        self.next = (self.next + 1) % self.extents.len();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_miss_counts_until_as_many_others_were_missed() {
        let mut misses = Misses::new(3);
        assert!(!misses.again(7));
        assert!(misses.again(7), "at once");
        assert!(!misses.again(7), "the pair is forgotten");
        assert!([1, 2].map(|other| misses.again(other)).iter().all(|again| !again));
        assert!(misses.again(7), "two others were missed since");
        assert!(!misses.again(7));
        assert!([3, 4, 5].map(|other| misses.again(other)).iter().all(|again| !again));
        assert!(!misses.again(7), "three others were missed since");
    }
}
