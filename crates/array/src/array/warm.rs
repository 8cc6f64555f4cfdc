//! In which order what is addressed comes into a cache that begins warm.
//!
//! Model: steps of the golden section leave gaps of like size wherever they stop; with no common divisor they come everywhere.

use std::ops::Range;

/// Sectors from all over these ranges, one of each `step` of them.
pub(super) fn places(ranges: &[Range<u64>], step: u64) -> impl Iterator<Item = u64> {
    let ranges = joined(ranges);
    let count = ranges.iter().map(|range| (range.end - range.start).div_ceil(step)).sum::<u64>();
    let stride = stride(count);
    (0..count).map(move |number| {
        let mut place = (u128::from(number) * u128::from(stride) % u128::from(count)) as u64;
        for range in &ranges {
            let here = (range.end - range.start).div_ceil(step);
            if place < here {
                return range.start + place * step;
            }
            place -= here;
        }
        0
    })
}

/// The golden section of a count, or the next number that has no divisor with it.
pub(super) fn stride(count: u64) -> u64 {
    (count / 1000 * 618 + count % 1000 * 618 / 1000..).find(|step| common_divisor(*step, count) == 1).unwrap_or(1)
}

const fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// Ranges without what they have in common, in ascending order.
fn joined(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted: Vec<Range<u64>> = ranges.iter().filter(|range| range.start < range.end).cloned().collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_what_is_addressed_comes_once_and_evenly() {
        let ranges = [80..96, 0..40, 32..48];
        let mut all: Vec<u64> = places(&ranges, 4).collect();
        // Half of them has half of each range.
        assert_eq!(all[..8].iter().filter(|&&place| place < 48).count(), 6, "{all:?}");
        all.sort_unstable();
        assert_eq!(all, (0..48).step_by(4).chain((80..96).step_by(4)).collect::<Vec<_>>());
        assert_eq!(places(&[], 4).count(), 0);
    }
}
