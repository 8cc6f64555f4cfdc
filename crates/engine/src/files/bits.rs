//! A set of numbers `0..n` at one bit each, which threads change without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

/// See the module.
pub(crate) struct Bits {
    words: Box<[AtomicU64]>,
    len: u64,
    ones: AtomicU64,
}

impl Bits {
    pub(crate) fn new(len: u64) -> Self {
        let words = (0..len.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { words, len, ones: AtomicU64::new(0) }
    }

    /// How many numbers are in it.
    pub(crate) fn ones(&self) -> u64 {
        self.ones.load(Ordering::Relaxed)
    }

    pub(crate) fn get(&self, number: u64) -> bool {
        self.words[(number / 64) as usize].load(Ordering::Acquire) >> (number % 64) & 1 == 1
    }

    /// Puts a number in or takes it out.
    pub(crate) fn set(&self, number: u64, there: bool) {
        let (word, bit) = (&self.words[(number / 64) as usize], 1u64 << (number % 64));
        if there {
            if word.fetch_or(bit, Ordering::AcqRel) & bit == 0 {
                self.ones.fetch_add(1, Ordering::Relaxed);
            }
        } else if word.fetch_and(!bit, Ordering::AcqRel) & bit != 0 {
            self.ones.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The first number from `from` to the end that is in it (`there`) or not.
    pub(crate) fn next(&self, from: u64, there: bool) -> Option<u64> {
        self.next_in(from..self.len, there)
    }

    fn next_in(&self, range: std::ops::Range<u64>, there: bool) -> Option<u64> {
        let mut at = range.start;
        while at < range.end {
            let word = self.words[(at / 64) as usize].load(Ordering::Acquire);
            let wanted = (if there { word } else { !word }) >> (at % 64);
            if wanted != 0 {
                return Some(at + u64::from(wanted.trailing_zeros())).filter(|found| *found < range.end);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// Whether any number of a range is in it.
    pub(crate) fn any(&self, range: std::ops::Range<u64>) -> bool {
        self.next_in(range, true).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_across_words_and_not_beyond_the_end() {
        let bits = Bits::new(130);
        [3, 64, 129].into_iter().for_each(|number| bits.set(number, true));
        assert_eq!([bits.next(0, true), bits.next(4, true), bits.next(65, true)], [Some(3), Some(64), Some(129)]);
        bits.set(129, false);
        assert_eq!((bits.next(65, true), bits.next(129, false), bits.next(130, false)), (None, Some(129), None));
        assert_eq!(bits.ones(), 2);
        assert!(bits.any(4..65) && !bits.any(4..64));
    }

    #[test]
    fn setting_twice_counts_once() {
        let bits = Bits::new(10);
        bits.set(4, true);
        bits.set(4, true);
        assert_eq!(bits.ones(), 1);
        bits.set(4, false);
        bits.set(4, false);
        assert_eq!(bits.ones(), 0);
    }
}
