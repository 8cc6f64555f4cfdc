//! A map from page numbers to frames, of a fixed capacity: open addressing, linear probing, no tombstones.
//!
//! Model: twice as many cells as frames, so a probe ends soon; an entry that goes lets those behind it move up. The order of cells
//! follows from the keys alone: equal in every process.

/// Stands for no frame.
pub(crate) const NONE: u32 = u32::MAX;

/// See the module.
#[derive(Debug)]
pub(crate) struct PageMap {
    cells: Vec<(u32, u32)>,
    shift: u32,
}

impl PageMap {
    /// A map of at most `entries`.
    pub(crate) fn new(entries: usize) -> Self {
        let cells = (entries.max(4) * 2).next_power_of_two();
        Self { cells: vec![(NONE, NONE); cells], shift: 64 - cells.trailing_zeros() }
    }

    const fn home(&self, page: u32) -> usize {
        ((page as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// The frame of a page, or [`NONE`].
    pub(crate) fn get(&self, page: u32) -> u32 {
        let mask = self.cells.len() - 1;
        let mut at = self.home(page);
        loop {
            match self.cells[at] {
                (_, NONE) => return NONE,
                (found, frame) if found == page => return frame,
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Adds a page that is not there.
    pub(crate) fn insert(&mut self, page: u32, frame: u32) {
        let mask = self.cells.len() - 1;
        let mut at = self.home(page);
        while self.cells[at].1 != NONE {
            at = (at + 1) & mask;
        }
        self.cells[at] = (page, frame);
    }

    /// Takes a page out that is there.
    pub(crate) fn remove(&mut self, page: u32) {
        let mask = self.cells.len() - 1;
        let mut hole = self.home(page);
        while self.cells[hole].0 != page || self.cells[hole].1 == NONE {
            debug_assert!(self.cells[hole].1 != NONE, "only what is there can go");
            hole = (hole + 1) & mask;
        }
        let mut at = (hole + 1) & mask;
        while self.cells[at].1 != NONE {
            let home = self.home(self.cells[at].0);
            // It may move up unless its home lies between the hole and itself.
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.cells[hole] = self.cells[at];
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.cells[hole] = (NONE, NONE);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_a_plain_map_holds(steps in prop::collection::vec((0_u32..60, any::<bool>()), 1..400)) {
            let (mut map, mut plain) = (PageMap::new(60), BTreeMap::new());
            for (number, (page, add)) in steps.into_iter().enumerate() {
                match (plain.contains_key(&page), add) {
                    (false, true) => {
                        map.insert(page, number as u32);
                        plain.insert(page, number as u32);
                    }
                    (true, false) => {
                        map.remove(page);
                        plain.remove(&page);
                    }
                    _ => {}
                }
                for page in 0..60 {
                    prop_assert_eq!(map.get(page), plain.get(&page).copied().unwrap_or(NONE));
                }
            }
        }
    }
}
