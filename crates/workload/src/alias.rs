//! Choosing one of several by weight in constant time: Walker's alias method (1977) in Vose's construction (1991).
//!
//! One draw is enough: its product with the number of slots has the slot in the high word and a uniform fraction in the
//! low one. Building uses only IEEE addition, multiplication and division, so tables are equal on every machine.

use crate::rng::below;

/// A constant, because `powi` may differ between machines.
const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    /// Fractions (of 2^64) below this stay with the slot.
    keep: u64,
    other: u32,
}

/// A table of weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alias {
    slots: Box<[Slot]>,
}

impl Alias {
    /// From positive weights; their sum does not matter.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        assert!(total > 0.0, "at least one weight is positive");
        let mut share: Vec<f64> = weights.iter().map(|weight| weight / total * weights.len() as f64).collect();
        let mut slots: Vec<Slot> = (0..weights.len()).map(|own| Slot { keep: u64::MAX, other: own as u32 }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..share.len()).partition(|&index| share[index] < 1.0);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            slots[poor] = Slot { keep: (share[poor] * TWO_TO_THE_64) as u64, other: rich as u32 };
            share[rich] -= 1.0 - share[poor];
            if share[rich] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        Self { slots: slots.into_boxed_slice() }
    }

    /// The index that a draw chooses.
    #[inline]
    pub(crate) fn pick(&self, draw: u64) -> usize {
        let count = self.slots.len() as u64;
        let own = below(draw, count) as usize;
        let slot = &self.slots[own];
        if draw.wrapping_mul(count) < slot.keep { own } else { slot.other as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::Alias;
    use crate::rng::{Draws, Purpose};

    #[test]
    fn choices_follow_the_weights() {
        let weights = [10.0, 5.0, 5.0, 60.0, 2.0, 4.0, 4.0, 10.0]; // Intel's file server
        let alias = Alias::new(&weights);
        let draws = Draws::new(7, &[Purpose::Entry as u64]);
        let total = 1_000_000;
        let mut counts = [0_u32; 8];
        for index in 0..total {
            counts[alias.pick(draws.at(index))] += 1;
        }
        let chi_square: f64 = counts
            .iter()
            .zip(weights)
            .map(|(&count, weight)| {
                let expected = weight / 100.0 * total as f64;
                (f64::from(count) - expected).powi(2) / expected
            })
            .sum();
        assert!(chi_square < 24.3, "χ²(7) at 0.1 %: {chi_square}");
    }

    #[test]
    fn a_weight_of_zero_is_never_chosen() {
        let alias = Alias::new(&[1.0, 0.0, 1.0]);
        let draws = Draws::new(7, &[]);
        assert!((0..100_000).all(|index| alias.pick(draws.at(index)) != 1));
    }

    #[test]
    fn one_choice_is_always_taken() {
        let alias = Alias::new(&[0.3]);
        assert_eq!(alias.pick(0), 0);
        assert_eq!(alias.pick(u64::MAX), 0);
    }
}
