//! Which requests of a batch touch each other.
//!
//! Purpose: requests that the kernel takes in one go are *plugged*: where one begins where another ends, the block layer joins them,
//! and the device sees one long request in place of the short ones that were asked for. Linux looks at the last request of the
//! plug (5.16 and later), at all of them (before), or, with a scheduler, at all that are queued; so all of a batch are looked at here.
//!
//! Model: a table of bounds, found by a hash of the address: who of the batch begins there, who ends there. A request touches one
//! that ends where it begins, or begins where it ends, if both are of one operation; which file they are for is not looked at.
//! An entry whose place is taken by another bound of the same batch is taken for a match: a batch may be cut for nothing (once
//! in a hundred requests, or less), and never is one whole that should be cut.
//!
//! ```
//! # use plimsoll_engine::neighbours::Neighbours;
//! # use plimsoll_workload::Op;
//! let mut batch = Neighbours::new(8);
//! assert!(!batch.meets(Op::Read, 4096, 4096));
//! assert!(batch.meets(Op::Read, 8192, 4096) && !batch.meets(Op::Write, 12288, 4096));
//! ```

use plimsoll_workload::Op;

/// Bounds in the table for each request of the largest batch.
const PLACES_PER_REQUEST: usize = 128;
/// Bounds in the table at most: 512 KiB of memory.
const PLACES_MAX: usize = 1 << 16;

/// See the module.
#[derive(Debug)]
pub struct Neighbours {
    places: Vec<Place>,
    shift: u32,
    /// Marks what is of the current batch.
    batch: u32,
}

/// The last batch that had a request begin at an address, and the last one that had one end there.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    begins: u32,
    ends: u32,
}

impl Neighbours {
    /// For batches of up to so many requests.
    pub fn new(batch_max: usize) -> Self {
        let places = (batch_max * PLACES_PER_REQUEST).next_power_of_two().clamp(1 << 10, PLACES_MAX);
        Self { places: vec![Place::default(); places], shift: 64 - places.trailing_zeros(), batch: 1 }
    }

    /// Begins an empty batch.
    #[inline(always)]
    pub const fn clear(&mut self) {
        self.batch = self.batch.wrapping_add(1);
    }

    /// Takes a request into the batch; whether it touches one that is in it.
    #[inline(always)]
    pub fn meets(&mut self, op: Op, offset: u64, len: u32) -> bool {
        let (begin, end) = (self.place(op, offset), self.place(op, offset.wrapping_add(len.into())));
        let met = self.places[begin].ends == self.batch || self.places[end].begins == self.batch;
        self.places[begin].begins = self.batch;
        self.places[end].ends = self.batch;
        met
    }

    #[inline(always)]
    const fn place(&self, op: Op, address: u64) -> usize {
        ((address ^ (op as u64) << 60).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn who_touches_one_of_the_batch_is_found(places in prop::collection::vec((0u64..200, 1u32..5, 0usize..2), 1..64)) {
            let mut batch = Neighbours::new(64);
            for (index, &(place, blocks, op)) in places.iter().enumerate() {
                let (offset, len, op) = (place * 512, blocks * 512, [Op::Read, Op::Write][op]);
                let touches = places[..index].iter().any(|&(other, length, its)| {
                    [Op::Read, Op::Write][its] == op
                        && (other + u64::from(length) == place || place + u64::from(blocks) == other)
                });
                let met = batch.meets(op, offset, len);
                prop_assert!(met || !touches, "request {index} of {places:?}");
            }
        }
    }

    #[test]
    fn who_touches_nobody_is_hardly_ever_taken_for_a_neighbour() {
        let mut batch = Neighbours::new(32);
        let mistaken = (0..100u64).map(|round| {
            batch.clear();
            // Every other block, in an order that is no order.
            (0..32u64).filter(|index| batch.meets(Op::Read, (round * 32 + index * 7 % 32) * 8192, 4096)).count()
        });
        assert!(mistaken.sum::<usize>() < 3_200 / 100);
    }

    #[test]
    fn a_batch_that_was_handed_over_is_forgotten() {
        let mut batch = Neighbours::new(8);
        assert!(!batch.meets(Op::Write, 0, 512));
        batch.clear();
        assert!(!batch.meets(Op::Write, 512, 512));
        assert!(batch.meets(Op::Write, 1024, 512));
    }
}
