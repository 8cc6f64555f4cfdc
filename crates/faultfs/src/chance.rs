//! Draws from a seed: the n-th draw without the ones before it, by the finaliser of SplitMix64.
//!
//! Shares no code with the program under test, so that a mistake in its draws cannot hide here.
//!
//! ```
//! use plimsoll_faultfs::chance::Chance;
//! assert_eq!(Chance(7).at(3), Chance(7).at(3));
//! assert!(Chance(7).at(3).below(10) < 10);
//! ```

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance(pub u64);

/// 64 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(pub u64);

impl Chance {
    /// Draw number `n`.
    pub const fn at(self, n: u64) -> Draw {
        Draw(mix(mix(self.0).wrapping_add(n.wrapping_mul(STEP))))
    }
}

impl Draw {
    /// A number in `0..bound`; 0 if there is none.
    pub const fn below(self, bound: u64) -> u64 {
        ((self.0 as u128 * bound as u128) >> 64) as u64
    }

    /// A number in 0..1.
    pub const fn unit(self) -> f64 {
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Another draw that follows from this one.
    pub const fn next(self) -> Self {
        Self(mix(self.0.wrapping_add(STEP)))
    }
}

const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(STEP);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_evenly() {
        let mut tenths = [0; 10];
        for n in 0..10_000 {
            tenths[Chance(1).at(n).below(10) as usize] += 1;
        }
        assert!(tenths.iter().all(|&count| (900..1100).contains(&count)), "{tenths:?}");
        assert!((0..1000).all(|n| (0.0..1.0).contains(&Chance(2).at(n).unit())));
    }
}
