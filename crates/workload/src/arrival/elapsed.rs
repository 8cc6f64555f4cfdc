//! Time that advances by fractions of a nanosecond.

/// An instant in nanoseconds, with the fraction that whole nanoseconds leave behind.
///
/// Each step adds at most half a unit in the last place of the gap; the running total itself is an integer and loses
/// nothing, however long the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Elapsed {
    ns: u64,
    fraction: f64,
}

impl Elapsed {
    pub(crate) const fn at(ns: u64) -> Self {
        Self { ns, fraction: 0.0 }
    }

    /// Whole nanoseconds; `u64::MAX` = never.
    #[inline]
    pub(crate) const fn ns(self) -> u64 {
        self.ns
    }

    /// Nanoseconds until a later instant.
    pub(crate) fn until(self, later_ns: u64) -> f64 {
        (later_ns.saturating_sub(self.ns)) as f64 - self.fraction
    }

    /// Moves on by a non-negative number of nanoseconds; too many end at "never".
    #[inline]
    pub(crate) fn advance(&mut self, gap_ns: f64) {
        let gap_ns = self.fraction + gap_ns;
        let whole = gap_ns as u64;
        self.ns = self.ns.saturating_add(whole);
        self.fraction = if self.ns == u64::MAX { 0.0 } else { gap_ns - whole as f64 };
    }
}
