//! Equally spaced instants in integer arithmetic: the n-th is `floor(n · 10^9 / rate)` nanoseconds, exactly.
//!
//! A rate is a binary floating-point number, that is a fraction m / 2^s. Instants advance by whole nanoseconds and a
//! remainder out of m (Bresenham's method), so nothing is rounded twice and no error accumulates.

const NS_PER_S: u128 = 1_000_000_000;

/// A distance between instants: whole nanoseconds and a remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    ns: u64,
    remainder: u128,
}

/// An instant that moves by steps of one rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    ns: u64,
    remainder: u128,
    /// Nanoseconds per event are `numerator / divisor`.
    numerator: u128,
    divisor: u128,
}

impl Pace {
    /// At instant 0. A rate too low for a second event within 584 years (2^64 ns) never has one; a rate of zero has
    /// no event at all.
    pub(crate) fn new(rate_per_s: f64) -> Self {
        let first_ns = if rate_per_s > 0.0 { 0 } else { u64::MAX };
        if rate_per_s.is_nan() || rate_per_s < 1e-11 {
            return Self { ns: first_ns, remainder: 0, numerator: u128::MAX, divisor: 1 };
        }
        // rate = mantissa · 2^exponent with a mantissa of 53 bits; 10^9 · 2^shift stays below 2^120.
        let bits = rate_per_s.min(1e18).to_bits();
        let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
        let exponent = (bits >> 52) as i32 - 1075;
        let (numerator, divisor) = if exponent < 0 {
            (NS_PER_S << exponent.unsigned_abs(), mantissa)
        } else {
            (NS_PER_S, mantissa << exponent)
        };
        Self { ns: 0, remainder: 0, numerator, divisor }
    }

    /// The distance of `events` events.
    pub(crate) fn step(&self, events: u64) -> Step {
        let (whole, part) = (self.numerator / self.divisor, self.numerator % self.divisor);
        // part < divisor < 2^61 and events < 2^64: the product fits.
        let parts = part * u128::from(events);
        let ns = whole.saturating_mul(u128::from(events)).saturating_add(parts / self.divisor);
        Step { ns: u64::try_from(ns).unwrap_or(u64::MAX), remainder: parts % self.divisor }
    }

    /// The instant in nanoseconds; `u64::MAX` = never.
    #[inline]
    pub(crate) const fn now_ns(&self) -> u64 {
        self.ns
    }

    #[inline]
    pub(crate) const fn advance(&mut self, step: Step) {
        self.remainder += step.remainder;
        let carry = self.remainder >= self.divisor;
        if carry {
            self.remainder -= self.divisor;
        }
        self.ns = self.ns.saturating_add(step.ns).saturating_add(carry as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_third_of_a_second_returns_to_whole_seconds() {
        let mut pace = Pace::new(3.0);
        let step = pace.step(1);
        let instants: Vec<u64> = (0..=6)
            .map(|_| {
                let now = pace.now_ns();
                pace.advance(step);
                now
            })
            .collect();
        let expected = [0, 333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333, 1_666_666_666, 2_000_000_000];
        assert_eq!(instants, expected);
    }

    proptest! {
        #[test]
        fn the_error_never_accumulates(rate in 1_u32..2_000_000, events in 1_u64..1_000_000_000) {
            let mut pace = Pace::new(f64::from(rate));
            let (one, many) = (pace.step(1), pace.step(events));
            pace.advance(one);
            pace.advance(many);
            let exact = u128::from(events + 1) * NS_PER_S / u128::from(rate);
            prop_assert_eq!(u128::from(pace.now_ns()), exact);
        }
    }

    #[test]
    fn extreme_rates_do_not_overflow() {
        for rate in [0.0, f64::MIN_POSITIVE, 1e-12, f64::NAN, -1.0] {
            let mut pace = Pace::new(rate);
            pace.advance(pace.step(1));
            assert_eq!(pace.now_ns(), u64::MAX, "{rate}");
        }
        for rate in [1e-10, 0.001, 1e9, 1e18, f64::MAX] {
            let mut pace = Pace::new(rate);
            pace.advance(pace.step(1_000_000));
            pace.advance(pace.step(u64::from(u32::MAX)));
        }
    }
}
