//! A seeded order of `0..n` in which every number occurs exactly once, without storing it.
//!
//! An alternating Feistel network permutes the next power of two; numbers that fall outside `0..n` are sent through
//! again until they are inside ("cycle walking", Black & Rogaway 2002), less than twice on average. Halves may differ
//! by one bit, so the domain is never more than twice `n`.
//!
//! Limits: a few rounds of a fast mixing function are made for spreading load, not for secrecy.

use crate::rng::Draws;

/// Rounds of a large network, and of one so small that its halves have too few values to mix in four.
const ROUNDS: usize = 6;
const ROUNDS_SMALL: usize = 10;
const SMALL_BITS: u32 = 12;
/// An odd constant with well-spread bits (wyhash's first secret).
const MULTIPLIER: u64 = 0xa076_1d64_78bd_642f;

/// A permutation of `0..n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Permutation {
    count: u64,
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [u64; ROUNDS_SMALL],
    rounds: usize,
}

impl Permutation {
    /// The permutation of `0..count` that the first draws of a sequence define.
    pub(crate) fn new(count: u64, draws: Draws) -> Self {
        assert!(count > 0, "a permutation has at least one element");
        let bits = (u64::BITS - (count - 1).leading_zeros()).max(2);
        let low_bits = bits / 2;
        Self {
            count,
            low_bits,
            low_mask: (1 << low_bits) - 1,
            high_mask: (1 << (bits - low_bits)) - 1,
            keys: std::array::from_fn(|round| draws.at(round as u64)),
            rounds: if bits <= SMALL_BITS { ROUNDS_SMALL } else { ROUNDS },
        }
    }

    /// The number at a place of the order.
    #[inline]
    pub(crate) fn at(&self, place: u64) -> u64 {
        debug_assert!(place < self.count, "place {place} of {}", self.count);
        let mut number = self.encipher(place);
        while number >= self.count {
            number = self.encipher(number);
        }
        number
    }

    #[inline]
    fn encipher(&self, number: u64) -> u64 {
        let mut low = number & self.low_mask;
        let mut high = number >> self.low_bits;
        for pair in self.keys[..self.rounds].chunks_exact(2) {
            // The upper half first: consecutive places differ in the lower one.
            high ^= scramble(low ^ pair[0]) & self.high_mask;
            low ^= scramble(high ^ pair[1]) & self.low_mask;
        }
        high << self.low_bits | low
    }
}

/// Both words of a product folded: every output bit depends on every input bit.
#[inline]
const fn scramble(half: u64) -> u64 {
    let product = half as u128 * MULTIPLIER as u128;
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_occurs_once(count in 1_u64..5_000, seed: u64) {
            let order = Permutation::new(count, Draws::new(seed, &[]));
            let mut seen = vec![false; count as usize];
            for place in 0..count {
                let number = order.at(place) as usize;
                prop_assert!(!seen[number], "{} twice", number);
                seen[number] = true;
            }
        }

        #[test]
        fn large_counts_stay_inside(count in 1_u64..1 << 55, place: u64, seed: u64) {
            let order = Permutation::new(count, Draws::new(seed, &[]));
            prop_assert!(order.at(place % count) < count);
        }
    }

    /// Over many keys, where place 0 and place 1 go, and how far apart, must look uniform.
    #[test]
    fn places_are_spread_evenly() {
        for count in [2_u64, 3, 16, 100, 1000, 4096, 5000, 20_000] {
            let trials = 200 * count;
            let mut first = vec![0_u32; count as usize];
            let mut gap = vec![0_u32; count as usize];
            for seed in 0..trials {
                let order = Permutation::new(count, Draws::new(seed, &[]));
                let (zero, one) = (order.at(0), order.at(1));
                first[zero as usize] += 1;
                gap[((one + count - zero) % count) as usize] += 1;
            }
            assert_eq!(gap[0], 0);
            let freedom = count as f64 - 1.0;
            let limit = freedom + 4.0 * (2.0 * freedom).sqrt() + 8.0;
            let even = |counts: &[u32], expected: f64| -> f64 {
                counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum()
            };
            assert!(even(&first, 200.0) < limit, "first of {count}: {}", even(&first, 200.0));
            let expected = trials as f64 / freedom;
            assert!(even(&gap[1..], expected) < limit, "gap of {count}: {}", even(&gap[1..], expected));
        }
    }
}
