//! Gaps between the hand-overs of neighbours, which come back in another order.
//!
//! Model: hand-overs wait in a ring, by number, until those before them are known. Limit: a request that stays outstanding
//! while four queue depths of later ones come back is passed over; its gaps are missing.

use crate::histogram::{self, Histogram};

/// See the module.
#[derive(Debug)]
pub struct Gaps {
    /// The gaps known so far.
    pub histogram: Histogram,
    /// Hand-over plus one of each number awaited, 0 when it is not known.
    ring: Vec<u64>,
    /// The number whose hand-over is awaited.
    next: u64,
    last_ns: Option<u64>,
}

impl Gaps {
    pub(super) fn new(queue_depth: u32) -> Self {
        let places = (queue_depth as usize * 4).next_power_of_two().max(64);
        Self { histogram: histogram::empty(), ring: vec![0; places], next: 0, last_ns: None }
    }

    /// Request `number` was handed over at `submitted_ns`.
    pub(super) fn take(&mut self, number: u64, submitted_ns: u64) {
        if number < self.next {
            return;
        }
        while number - self.next >= self.ring.len() as u64 {
            self.settle();
        }
        let place = self.place(number);
        self.ring[place] = submitted_ns + 1;
        while self.ring[self.place(self.next)] != 0 {
            self.settle();
        }
    }

    const fn place(&self, number: u64) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    /// The next number is known, or is not waited for any longer.
    fn settle(&mut self) {
        let place = self.place(self.next);
        let known = std::mem::take(&mut self.ring[place]);
        self.next += 1;
        if let Some(submitted_ns) = known.checked_sub(1) {
            if let Some(last_ns) = self.last_ns {
                self.histogram.saturating_record(submitted_ns.saturating_sub(last_ns));
            }
            self.last_ns = Some(submitted_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_those_of_neighbours_whatever_comes_back_first() {
        let mut gaps = Gaps::new(4);
        for (number, at_ns) in [(2, 30), (0, 0), (1, 10), (4, 100), (3, 60)] {
            gaps.take(number, at_ns);
        }
        let found: Vec<u64> = gaps.histogram.recorded().map(|(value_ns, _)| value_ns).collect();
        assert_eq!((found, gaps.histogram.len()), (vec![10, 20, 30, 40], 4));
    }

    #[test]
    fn a_straggler_is_passed_over_and_memory_stays_what_it_was() {
        let mut gaps = Gaps::new(1);
        let places = gaps.ring.len();
        for number in 1..10_000 {
            gaps.take(number, number * 7);
        }
        gaps.take(0, 1_000_000);
        assert_eq!(gaps.ring.len(), places);
        assert_eq!((gaps.histogram.len(), gaps.histogram.max(), gaps.histogram.min()), (9_998, 7, 7));
    }
}
