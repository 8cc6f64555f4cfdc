//! Bounds that several declarations of options share, in the units of their kinds.

/// Most bytes that a target, file or amount can have.
pub(crate) const PEBIBYTE: f64 = 1_125_899_906_842_624.0;
/// Most requests per second.
pub(crate) const MOST_PER_S: f64 = 1e9;
/// A day in nanoseconds.
pub(crate) const DAY_NS: f64 = 86_400e9;
