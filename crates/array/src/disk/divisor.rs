//! Division of 32-bit numbers by one that is known beforehand, as a multiplication.
//!
//! With `m = floor(2^64 / d) + 1` the high half of `n · m` is exactly `floor(n / d)` for every `n` and `d` below 2^32
//! (Lemire, Kaser & Kurz 2019, theorem 1 with 64 fractional bits). Limit: `d` is at least 2.

/// A divisor with its reciprocal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Divisor {
    reciprocal: u64,
    value: u32,
}

impl Divisor {
    pub(super) const fn new(value: u32) -> Self {
        assert!(value >= 2, "a divisor is at least 2");
        Self { reciprocal: u64::MAX / value as u64 + 1, value }
    }

    pub(super) const fn value(self) -> u32 {
        self.value
    }

    /// Quotient and remainder.
    #[inline]
    pub(super) const fn divide(self, dividend: u32) -> (u32, u32) {
        let quotient = ((dividend as u128 * self.reciprocal as u128) >> 64) as u32;
        (quotient, dividend - quotient * self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_those_of_the_processor() {
        for divisor in [2, 3, 7, 8, 720, 1023, 65_535, 1 << 31, u32::MAX] {
            let exact = Divisor::new(divisor);
            for dividend in (0..2_000).chain((0..2_000).map(|step| step * 2_147_483)).chain([u32::MAX - 1, u32::MAX]) {
                assert_eq!(exact.divide(dividend), (dividend / divisor, dividend % divisor), "{dividend} / {divisor}");
            }
            for multiple in (0..1_000).filter_map(|factor: u32| factor.checked_mul(divisor)) {
                assert_eq!(exact.divide(multiple).1, 0);
                assert_eq!(exact.divide(multiple.wrapping_sub(1)).0, multiple.wrapping_sub(1) / divisor);
            }
        }
    }
}
