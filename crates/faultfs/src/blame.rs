//! Where a file holds something else than was written to it, and which injection is to blame.
//!
//! Model: ranges that never overlap. What is written correctly clears the blame for it; what is written wrongly replaces
//! it. A read that touches one of them has returned wrong data, unless the page cache of the reader answered it.
//!
//! ```
//! use plimsoll_faultfs::blame::Blame;
//! let mut blame = Blame::default();
//! blame.put(0..4096, 7);
//! blame.clear(512..1024);
//! assert!(blame.touched(512..1024).is_empty());
//! assert_eq!(blame.touched(0..4096), [7]);
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Blame {
    /// By first byte: end and injection.
    ranges: BTreeMap<u64, (u64, u64)>,
}

impl Blame {
    /// Blames an injection for a range.
    pub fn put(&mut self, range: Range<u64>, injection: u64) {
        self.clear(range.clone());
        if !range.is_empty() {
            self.ranges.insert(range.start, (range.end, injection));
        }
    }

    /// A range holds again what was written to it.
    pub fn clear(&mut self, range: Range<u64>) {
        for (start, (end, injection)) in self.overlapping(&range) {
            self.ranges.remove(&start);
            if start < range.start {
                self.ranges.insert(start, (range.start, injection));
            }
            if range.end < end {
                self.ranges.insert(range.end, (end, injection));
            }
        }
    }

    /// The injections that are to blame for a part of a range, each once, ascending.
    pub fn touched(&self, range: Range<u64>) -> Vec<u64> {
        let mut found: Vec<u64> = self.overlapping(&range).into_iter().map(|(_, (_, injection))| injection).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn overlapping(&self, range: &Range<u64>) -> Vec<(u64, (u64, u64))> {
        if range.is_empty() {
            return Vec::new();
        }
        // Ranges do not overlap, so only the last one that begins before can reach into this one.
        let before = self.ranges.range(..range.start).next_back().filter(|(_, (end, _))| *end > range.start);
        let inside = self.ranges.range(range.clone());
        before.into_iter().chain(inside).map(|(&start, &found)| (start, found)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn ranges_agree_with_one_blame_per_byte() {
        for seed in 0..200 {
            let (mut blame, mut bytes) = (Blame::default(), [0_u64; 64]);
            for n in 1..40 {
                let draw = Chance(seed).at(n);
                let start = draw.below(64);
                let end = (start + draw.next().below(16)).min(64);
                let injection = if draw.next().next().below(2) == 0 { 0 } else { n };
                match injection {
                    0 => blame.clear(start..end),
                    _ => blame.put(start..end, injection),
                }
                bytes[start as usize..end as usize].fill(injection);
            }
            for at in 0..64 {
                let expected: Vec<u64> =
                    Some(bytes[at as usize]).filter(|&injection| injection > 0).into_iter().collect();
                assert_eq!(blame.touched(at..at + 1), expected, "seed {seed} byte {at}");
            }
        }
    }
}
