//! What a histogram answers, from its buckets that have a count, ascending, however these are kept.
//!
//! Model: each value of a bucket is taken as its middle for means, as its highest for quantiles, as HDR readers do. Empty ones answer 0.

use super::bounds_of;

/// How many values were counted.
pub(crate) fn total(counted: impl Iterator<Item = (usize, u64)>) -> u64 {
    counted.fold(0, |sum, (_, count)| sum.saturating_add(count))
}

/// The highest value of the bucket in which `quantile` (0 to 1) of the counts are reached, by nearest rank; of the quantile 0 the lowest.
pub(crate) fn value_at_quantile<I: Iterator<Item = (usize, u64)>>(counted: impl Fn() -> I, quantile: f64) -> u64 {
    let rank = ((quantile.min(1.0) * total(counted()) as f64).ceil() as u64).max(1);
    let (mut reached, mut last) = (0_u64, None);
    for (bucket, count) in counted() {
        reached = reached.saturating_add(count);
        last = Some(bounds_of(bucket));
        if reached >= rank {
            break;
        }
    }
    last.map_or(0, |(low_ns, high_ns)| if quantile == 0.0 { low_ns } else { high_ns })
}

/// The mean.
pub(crate) fn mean<I: Iterator<Item = (usize, u64)>>(counted: impl Fn() -> I) -> f64 {
    let total = total(counted()).max(1) as f64;
    counted().fold(0.0, |mean, (bucket, count)| mean + middle_of(bucket) * count as f64 / total)
}

/// The standard deviation.
pub(crate) fn stdev<I: Iterator<Item = (usize, u64)>>(counted: impl Fn() -> I) -> f64 {
    let (mean, total) = (mean(&counted), total(counted()).max(1) as f64);
    let squares = |sum, (bucket, count)| sum + (middle_of(bucket) - mean).powi(2) * count as f64;
    (counted().fold(0.0, squares) / total).sqrt()
}

/// The middle of a bucket, rounded as HDR readers do.
fn middle_of(bucket: usize) -> f64 {
    let (low_ns, high_ns) = bounds_of(bucket);
    (low_ns + (high_ns - low_ns).div_ceil(2)) as f64
}
