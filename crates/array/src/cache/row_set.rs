//! A set of numbers below a bound that knows the next one: bitmaps over bitmaps, 64 to one.
//!
//! The destager walks the rows of a group in order of address; four levels reach 16 million rows with as many steps, and
//! nothing is allocated after it is made.

use crate::prefetch;

/// See the module.
#[derive(Debug)]
pub(crate) struct RowSet {
    /// The lowest level first; a bit of a level says that the word below it is not empty.
    levels: Vec<Vec<u64>>,
    len: u64,
}

impl RowSet {
    /// An empty set of numbers below `bound`.
    pub(crate) fn new(bound: u64) -> Self {
        let mut levels = Vec::new();
        let mut words = bound.max(1);
        loop {
            words = words.div_ceil(64);
            levels.push(vec![0; words as usize]);
            if words == 1 {
                return Self { levels, len: 0 };
            }
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A number will be asked for soon.
    #[inline]
    pub(crate) fn expect(&self, number: u64) {
        prefetch::expect(&self.levels[0], (number / 64) as usize);
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        self.levels[0].get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    pub(crate) fn insert(&mut self, number: u64) {
        if self.contains(number) {
            return;
        }
        self.len += 1;
        let mut number = number;
        for level in &mut self.levels {
            let word = &mut level[(number / 64) as usize];
            let was_empty = *word == 0;
            *word |= 1 << (number % 64);
            if !was_empty {
                return;
            }
            number /= 64;
        }
    }

    pub(crate) fn remove(&mut self, number: u64) {
        if !self.contains(number) {
            return;
        }
        self.len -= 1;
        let mut number = number;
        for level in &mut self.levels {
            let word = &mut level[(number / 64) as usize];
            *word &= !(1 << (number % 64));
            if *word != 0 {
                return;
            }
            number /= 64;
        }
    }

    /// The first number not below `from`, or the first of all when there is none.
    pub(crate) fn next_from(&self, from: u64) -> Option<u64> {
        if self.is_empty() { None } else { self.at_or_after(from).or_else(|| self.at_or_after(0)) }
    }

    fn at_or_after(&self, from: u64) -> Option<u64> {
        let mut number = from;
        for (height, level) in self.levels.iter().enumerate() {
            let word = level.get((number / 64) as usize).copied().unwrap_or(0) & (u64::MAX << (number % 64));
            if word != 0 {
                return Some(self.descend(number / 64 * 64 + u64::from(word.trailing_zeros()), height));
            }
            number = number / 64 + 1;
        }
        None
    }

    /// The lowest number below bit `number` of level `height`.
    fn descend(&self, mut number: u64, height: usize) -> u64 {
        for level in self.levels[..height].iter().rev() {
            number = number * 64 + u64::from(level[number as usize].trailing_zeros());
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_next_is_the_next_of_a_plain_set(
            numbers in prop::collection::vec(0_u64..300_000, 0..60),
            gone in prop::collection::vec(any::<bool>(), 60),
            from in 0_u64..300_000,
        ) {
            let mut set = RowSet::new(300_000);
            let mut plain = BTreeSet::new();
            for &number in &numbers {
                set.insert(number);
                plain.insert(number);
            }
            for (number, _) in numbers.iter().zip(gone).filter(|(_, gone)| *gone) {
                set.remove(*number);
                plain.remove(number);
            }
            let expected = plain.range(from..).next().or_else(|| plain.first()).copied();
            prop_assert_eq!(set.next_from(from), expected);
            prop_assert_eq!(set.is_empty(), plain.is_empty());
        }
    }

    #[test]
    fn its_ends_are_in_it() {
        let mut set = RowSet::new(64 * 64 * 64);
        set.insert(64 * 64 * 64 - 1);
        assert_eq!(set.next_from(5), Some(64 * 64 * 64 - 1));
        set.insert(0);
        assert_eq!(set.next_from(64 * 64 * 64 - 1), Some(64 * 64 * 64 - 1));
        set.remove(64 * 64 * 64 - 1);
        assert_eq!(set.next_from(5), Some(0));
    }
}
