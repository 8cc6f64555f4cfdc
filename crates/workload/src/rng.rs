//! Random access randomness: the n-th number of a sequence without the n − 1 before it.
//!
//! A stream must be seekable, sharded and equal on every machine, so nothing here has a state that moves: draw `n`
//! of a [`Draws`] is the SplitMix64 finaliser (Steele, Lea & Flood 2014, with Stafford's "Mix13" constants) of `key +
//! n·odd`. Keys come from a seed and a path such as `[shard, lane]`; sequences of different paths are independent for
//! every practical purpose (two 64-bit keys would have to fall onto the same stretch of one Weyl sequence).
//!
//! Limits: statistical quality only, nothing here is secret; bounded numbers are taken by multiply-high without
//! rejection, whose bias is at most `bound / 2^64`.
//!
//! ```ignore
//! let draws = Draws::new(42, &[0, 3]);
//! let block = below(draws.at(17), 1_000);   // the 18th draw, in 0..1000
//! ```

/// The golden ratio as an odd 64-bit integer: the step of the Weyl sequence.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of 64-bit integers whose output bits all depend on all input bits.
#[inline]
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Undoes [`mix`]: each of its steps is a bijection, undone from the last to the first.
pub(crate) const fn unmix(value: u64) -> u64 {
    let value = value ^ (value >> 31) ^ (value >> 62);
    let value = value.wrapping_mul(0x3196_42b2_d24d_8ec3); // times the second factor: 1
    let value = value ^ (value >> 27) ^ (value >> 54);
    let value = value.wrapping_mul(0x96de_1b17_3f11_9089); // times the first factor: 1
    value ^ (value >> 30) ^ (value >> 60)
}

/// Draw `number` of the sequence that a size or another number stands for.
pub const fn drawn(key: u64, number: u64) -> u64 {
    mix(mix(key.wrapping_add(STEP)).wrapping_add(number.wrapping_mul(STEP)))
}

/// The draw that follows `draw` when one request needs several, as rejection does.
#[inline]
pub(crate) const fn again(draw: u64) -> u64 {
    mix(draw.wrapping_add(STEP))
}

/// `draw` scaled to `0..bound`.
#[inline]
pub(crate) const fn below(draw: u64, bound: u64) -> u64 {
    ((draw as u128 * bound as u128) >> 64) as u64
}

/// `draw` scaled to the open interval (0, 1): 2^52 equidistant values, exact in every arithmetic step.
#[inline]
pub fn unit(draw: u64) -> f64 {
    const SCALE: f64 = 1.0 / (1_u64 << 52) as f64;
    ((draw >> 12) as f64 + 0.5) * SCALE
}

/// An endless sequence of 64-bit draws with random access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    key: u64,
}

impl Draws {
    /// The sequence of a seed at a path; every element of the path separates sequences.
    pub fn new(seed: u64, path: &[u64]) -> Self {
        let key = path.iter().fold(mix(seed.wrapping_add(STEP)), |key, &element| {
            mix(key ^ mix(element.wrapping_add(1).wrapping_mul(STEP)))
        });
        Self { key }
    }

    /// The draw at an index.
    #[inline]
    pub const fn at(self, index: u64) -> u64 {
        mix(self.key.wrapping_add(index.wrapping_mul(STEP)))
    }
}

/// What the sequences of a stream are for: the first element of every path, so that no two purposes share draws.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Purpose {
    Entry,
    Operation,
    Size,
    Randomness,
    Address,
    Scatter,
    Pass,
    Arrival,
    Think,
    Fill,
    Unique,
    Duplicate,
    FileSize,
    FileFilled,
    FileOperation,
    FileSelection,
    FileTransfer,
    FilePlace,
    MailTask,
    MailLetter,
}

/// A probability, compared with one draw in one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chance {
    /// Out of 2^63, so that "always" has a number too.
    threshold: u64,
}

impl Chance {
    const CERTAIN: u64 = 1 << 63;

    /// From a fraction; what lies outside 0..=1 is clamped.
    pub(crate) fn new(fraction: f64) -> Self {
        Self { threshold: (fraction.clamp(0.0, 1.0) * Self::CERTAIN as f64) as u64 }
    }

    /// From a percentage.
    pub(crate) fn percent(percent: f64) -> Self {
        Self::new(percent / 100.0)
    }

    #[inline]
    pub(crate) const fn hit(self, draw: u64) -> bool {
        draw >> 1 < self.threshold
    }

    pub(crate) const fn is_never(self) -> bool {
        self.threshold == 0
    }

    pub(crate) const fn is_always(self) -> bool {
        self.threshold == Self::CERTAIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finaliser_agrees_with_the_published_splitmix64() {
        // First outputs for seed 1234567, from the reference implementation (prng.di.unimi.it/splitmix64.c).
        let draws = Draws { key: 1_234_567 };
        assert_eq!(draws.at(1), 6_457_827_717_110_365_317);
        assert_eq!(draws.at(2), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_finaliser_can_be_undone() {
        for value in [0, 1, 42, STEP, u64::MAX, 0x0123_4567_89ab_cdef] {
            assert_eq!(unmix(mix(value)), value);
        }
    }

    #[test]
    fn certain_and_impossible_are_exact() {
        for draw in [0, 1, u64::MAX / 2, u64::MAX] {
            assert!(Chance::percent(100.0).hit(draw));
            assert!(!Chance::percent(0.0).hit(draw));
        }
    }

    #[test]
    fn unit_never_touches_its_ends() {
        assert!(unit(0) > 0.0);
        assert!(unit(u64::MAX) < 1.0);
    }

    #[test]
    fn every_element_of_a_path_separates_sequences() {
        let first = [
            Draws::new(1, &[0, 0]),
            Draws::new(1, &[0, 1]),
            Draws::new(1, &[1, 0]),
            Draws::new(2, &[0, 0]),
            Draws::new(1, &[0]),
        ];
        let mut keys: Vec<u64> = first.iter().map(|draws| draws.at(0)).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), first.len());
    }
}
