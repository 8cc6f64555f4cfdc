//! Division by a number that is known beforehand, without dividing: alignments may be any number of bytes.
//!
//! The reciprocal `floor((2^64 − 1) / d)` multiplied high gives the quotient or one less, so one comparison corrects it.

/// A divisor with its reciprocal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    value: u64,
    reciprocal: u64,
}

impl Divisor {
    pub(crate) const fn new(value: u32) -> Self {
        assert!(value > 0, "a divisor is positive");
        Self { value: value as u64, reciprocal: u64::MAX / value as u64 }
    }

    pub(crate) const fn value(self) -> u64 {
        self.value
    }

    /// `dividend / value`.
    #[inline]
    pub(crate) const fn quotient(self, dividend: u64) -> u64 {
        let quotient = ((dividend as u128 * self.reciprocal as u128) >> 64) as u64;
        let remainder = dividend - quotient * self.value;
        quotient + (remainder >= self.value) as u64
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
        fn agrees_with_division(value in 1_u32.., dividend: u64) {
            prop_assert_eq!(Divisor::new(value).quotient(dividend), dividend / u64::from(value));
        }

        #[test]
        fn agrees_with_division_near_multiples(value in 1_u32.., quotient in 0..1_u64 << 32, off in 0_u64..3) {
            let dividend = (quotient * u64::from(value)).saturating_add(off).saturating_sub(1);
            prop_assert_eq!(Divisor::new(value).quotient(dividend), dividend / u64::from(value));
        }
    }

    #[test]
    fn the_extremes_hold() {
        for value in [1, 2, 3, 512, u32::MAX] {
            assert_eq!(Divisor::new(value).quotient(u64::MAX), u64::MAX / u64::from(value));
        }
        assert_eq!(Divisor::new(512).ceil(513), 1024);
        assert_eq!(Divisor::new(512).ceil(512), 512);
    }
}
