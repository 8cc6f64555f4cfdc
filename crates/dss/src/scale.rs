//! How much data: the scale, 1 for about 1 GB.

use crate::error::DataError;

/// A size of the database that can be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(f64);

/// Rows of a table at scale 1.
pub(crate) const SUPPLIERS: u32 = 10_000;
pub(crate) const PARTS: u32 = 200_000;
pub(crate) const CUSTOMERS: u32 = 150_000;
pub(crate) const ORDERS: u32 = 1_500_000;

impl Scale {
    /// Refuses what the rules of the data cannot make.
    pub fn new(scale: f64) -> Result<Self, DataError> {
        // Keys are drawn with 31 bits up to 10,000 and with 64 bits from 30,000 on; in between they would overflow.
        let made = (0.01..=10_000.0).contains(&scale) || scale == 30_000.0 || scale == 100_000.0;
        if !made {
            return Err(DataError::Scale(scale));
        }
        let this = Self(scale);
        if this.suppliers_repeat() { Err(DataError::Suppliers(scale)) } else { Ok(this) }
    }

    /// The number itself.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// `base` rows at scale 1 are so many here.
    pub(crate) fn of(self, base: u32) -> u64 {
        // As tpchgen computes it, so that counts agree.
        (f64::from(base) * self.0) as u64
    }

    /// Whether some part would have one supplier twice: its four suppliers lie `step` apart in a ring of all of them.
    fn suppliers_repeat(self) -> bool {
        let suppliers = self.of(SUPPLIERS);
        let rounds = (self.of(PARTS) - 1) / suppliers;
        (0..=rounds).any(|round| {
            let step = suppliers / 4 + round;
            (1..=3).any(|apart| (apart * step).is_multiple_of(suppliers))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_refused_where_a_part_would_have_a_supplier_twice() {
        // 120 suppliers, 30 + 10 apart: the first and the fourth are the same.
        assert_eq!(Scale::new(0.012), Err(DataError::Suppliers(0.012)));
        for scale in [0.01, 0.023, 0.05, 0.1, 0.3, 1.0, 2.5, 30.0, 300.0, 10_000.0, 30_000.0, 100_000.0] {
            assert_eq!(Scale::new(scale).map(Scale::get), Ok(scale));
        }
    }

    #[test]
    fn a_scale_is_refused_where_keys_would_overflow_or_nothing_is_left() {
        for scale in [0.0, -1.0, 0.009, 10_001.0, 29_999.0, 100_001.0, f64::INFINITY, f64::NAN] {
            assert!(matches!(Scale::new(scale), Err(DataError::Scale(_))), "{scale}");
        }
    }
}
