//! A map from 64-bit keys to places, of a fixed capacity: open addressing, linear probing, no tombstones.
//!
//! Model: twice as many cells as entries, so a probe ends soon; an entry that goes lets those behind it move up, so nothing
//! is ever rebuilt. A cell keeps half of the mixed key and the place, eight bytes; whoever owns the places compares the
//! rest. The order of cells follows from the keys alone: equal in every process.

use crate::prefetch;
use crate::slab::NONE;

/// See the module.
#[derive(Debug)]
pub(crate) struct Index {
    /// 32 bits of the mixed key above the place.
    cells: Vec<u64>,
    shift: u32,
}

const EMPTY: u64 = u64::MAX;

const fn place_of(cell: u64) -> u32 {
    cell as u32
}

#[inline]
const fn mixed(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// What a cell keeps of a key. Homes are the upper bits of the same 64, so that a cell knows its own.
#[inline]
const fn tag_of(key: u64) -> u64 {
    mixed(key) >> 32 << 32
}

impl Index {
    /// A map of at most `entries`, which are 2^31 at most.
    pub(crate) fn new(entries: usize) -> Self {
        let cells = (entries.clamp(4, 1 << 31) * 2).next_power_of_two();
        Self { cells: vec![EMPTY; cells], shift: 64 - cells.trailing_zeros() }
    }

    const fn home(&self, tag: u64) -> usize {
        (tag >> self.shift) as usize
    }

    /// The place of a key, or [`NONE`]; `is_it` says whether a place has the key.
    #[inline]
    pub(crate) fn get(&self, key: u64, is_it: impl Fn(u32) -> bool) -> u32 {
        let mask = self.cells.len() - 1;
        let tag = tag_of(key);
        let mut at = self.home(tag);
        loop {
            let cell = self.cells[at];
            if cell == EMPTY {
                return NONE;
            }
            if cell >> 32 << 32 == tag && is_it(place_of(cell)) {
                return place_of(cell);
            }
            at = (at + 1) & mask;
        }
    }

    /// A key will be looked for soon.
    #[inline]
    pub(crate) fn expect(&self, key: u64) {
        prefetch::expect(&self.cells, self.home(tag_of(key)));
    }

    /// Adds a key that is not there.
    #[inline]
    pub(crate) fn insert(&mut self, key: u64, place: u32) {
        let mask = self.cells.len() - 1;
        let tag = tag_of(key);
        let mut at = self.home(tag);
        while self.cells[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.cells[at] = tag | u64::from(place);
    }

    /// Takes a key out that is at this place.
    #[inline]
    pub(crate) fn remove(&mut self, key: u64, place: u32) {
        let mask = self.cells.len() - 1;
        let tag = tag_of(key);
        let mut hole = self.home(tag);
        while self.cells[hole] != tag | u64::from(place) {
            debug_assert!(self.cells[hole] != EMPTY, "only what is there can go");
            hole = (hole + 1) & mask;
        }
        let mut at = (hole + 1) & mask;
        while self.cells[at] != EMPTY {
            let home = self.home(self.cells[at]);
            // It may move up unless its home lies between the hole and itself.
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.cells[hole] = self.cells[at];
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.cells[hole] = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_a_plain_map_holds(steps in prop::collection::vec((0_u64..60, any::<bool>()), 1..400)) {
            let mut index = Index::new(60);
            let mut plain = BTreeMap::new();
            for (number, (key, add)) in steps.into_iter().enumerate() {
                let key = key.wrapping_mul(0x10_0000_0001);
                match (plain.contains_key(&key), add) {
                    (false, true) => {
                        index.insert(key, number as u32);
                        plain.insert(key, number as u32);
                    }
                    (true, false) => {
                        index.remove(key, plain[&key]);
                        plain.remove(&key);
                    }
                    _ => {}
                }
                for probe in 0..60_u64 {
                    let probe = probe.wrapping_mul(0x10_0000_0001);
                    let found = index.get(probe, |place| plain.get(&probe) == Some(&place));
                    prop_assert_eq!(found, plain.get(&probe).copied().unwrap_or(NONE));
                }
            }
        }
    }
}
