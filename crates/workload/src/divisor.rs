//! Division by a number that is known beforehand, without dividing: alignments, strips, rows and members may
//! be any number.
//!
//! With `r = floor((2^64 − 1) / d)`, the high half of `x·r` falls short of `x / d` by less than `x / 2^64 < 1`, so it
//! is the quotient or one less, and one comparison settles which.

/// A divisor with its reciprocal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    value: u64,
    reciprocal: u64,
}

impl Divisor {
    /// The divisor `value`.
    ///
    /// # Panics
    /// If it is 0.
    pub const fn new(value: u64) -> Self {
        assert!(value > 0, "a divisor is positive");
        Self { value, reciprocal: u64::MAX / value }
    }

    /// The number itself.
    pub const fn value(self) -> u64 {
        self.value
    }

    /// Quotient and remainder.
    #[inline]
    pub const fn split(self, dividend: u64) -> (u64, u64) {
        let quotient = ((dividend as u128 * self.reciprocal as u128) >> 64) as u64;
        let remainder = dividend - quotient * self.value;
        if remainder >= self.value { (quotient + 1, remainder - self.value) } else { (quotient, remainder) }
    }

    /// `dividend / value`.
    #[inline]
    pub const fn quotient(self, dividend: u64) -> u64 {
        self.split(dividend).0
    }

    /// `dividend % value`.
    #[inline]
    pub const fn remainder(self, dividend: u64) -> u64 {
        self.split(dividend).1
    }

    /// The greatest multiple that is not above `position`.
    #[inline]
    pub(crate) const fn floor(self, position: u64) -> u64 {
        self.quotient(position) * self.value
    }

    /// The least multiple that is not below `position`.
    #[inline]
    pub(crate) const fn ceil(self, position: u64) -> u64 {
        self.floor(position + (self.value - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_division(value in 1_u64.., dividend: u64) {
            prop_assert_eq!(Divisor::new(value).split(dividend), (dividend / value, dividend % value));
        }

        #[test]
        fn agrees_with_division_near_multiples(value in 1..1_u64 << 32, quotient in 0..1_u64 << 32, off in 0_u64..3) {
            let dividend = (quotient * value).saturating_add(off).saturating_sub(1);
            prop_assert_eq!(Divisor::new(value).split(dividend), (dividend / value, dividend % value));
        }
    }

    #[test]
    fn the_extremes_hold() {
        for value in [1, 2, 3, 128, 512, u64::from(u32::MAX), u64::MAX / 2 + 1, u64::MAX] {
            assert_eq!(Divisor::new(value).split(u64::MAX), (u64::MAX / value, u64::MAX % value));
            assert_eq!(Divisor::new(value).split(value), (1, 0));
        }
        assert_eq!(Divisor::new(512).ceil(513), 1024);
        assert_eq!(Divisor::new(512).ceil(512), 512);
    }
}
