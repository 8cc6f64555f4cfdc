//! The places that reads and writes touched, in bounded memory: when there are too many, they become twice as large.

use std::collections::BTreeSet;

/// Places kept at most.
pub const MOST_PLACES: usize = 65_536;
const FIRST_SHIFT: u32 = 20;
const DEVICE_SHIFT: u32 = 48;
const BELOW_DEVICE: u64 = (1 << DEVICE_SHIFT) - 1;

/// Device and place of each.
#[derive(Debug)]
pub struct Places {
    shift: u32,
    touched: BTreeSet<u64>,
    /// The place that was touched last, which the next request often touches, too.
    latest: Option<u64>,
}

impl Places {
    /// None is touched; places are of 1 MiB.
    pub fn new() -> Self {
        Self { shift: FIRST_SHIFT, touched: BTreeSet::new(), latest: None }
    }

    /// The size of a place.
    pub fn bytes(&self) -> u64 {
        1 << self.shift
    }

    /// Reads and writes of at least one byte touch every place they reach into.
    #[inline]
    pub fn touch(&mut self, device: u16, offset: u64, length: u64) {
        let (first, last) = (offset >> self.shift, (offset + length - 1) >> self.shift);
        let base = u64::from(device) << DEVICE_SHIFT;
        if first == last && self.latest == Some(base | first) {
            return;
        }
        self.latest = Some(base | last);
        self.touched.extend((first..=last).map(|place| base | place));
        while self.touched.len() > MOST_PLACES {
            self.double();
        }
    }

    /// All of them, ascending.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = u64> {
        self.touched.iter().copied()
    }

    #[cold]
    fn double(&mut self) {
        self.shift += 1;
        let doubled = |key: &u64| (key & !BELOW_DEVICE) | ((key & BELOW_DEVICE) >> 1);
        self.touched = self.touched.iter().map(doubled).collect();
        self.latest = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]

        #[test]
        fn touched_places_stay_few_however_many_are_touched(
            touched in prop::collection::vec((0_u16..3, 0_u64..1 << 50), 100_000..150_000),
        ) {
            let mut places = Places::new();
            touched.iter().for_each(|&(device, offset)| places.touch(device, offset, 4096));
            let keys: BTreeSet<u64> = places.keys().collect();
            prop_assert!(keys.len() <= MOST_PLACES && places.bytes() > 1 << FIRST_SHIFT);
            for (device, offset) in touched {
                let last = (offset + 4095) / places.bytes();
                prop_assert!(keys.contains(&((u64::from(device) << DEVICE_SHIFT) | (offset / places.bytes()))));
                prop_assert!(keys.contains(&((u64::from(device) << DEVICE_SHIFT) | last)));
            }
        }
    }
}
