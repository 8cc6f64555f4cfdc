//! The shape of a database's B+ trees: which pages an operation passes on its way to a leaf, and where they lie.
//!
//! Model: a table for each mailbox, all of one size. Leaves lie in groups behind the page above them, as many as it has entries for;
//! the pages above those lie at the file's start. What is above that is always in memory. A split adds a leaf behind all others and,
//! where a group is full, begins the next.
//!
//! Limits: which keys a leaf holds is not kept, only how many of its records there are room for; a leaf that a split added hangs below
//! the group in which it lies, and not beside the one it was split from.

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Entries of an inner page.
    fanout: u32,
    /// Pages at the file's start: those above the groups.
    upper: u32,
    /// Leaves that the file has room for.
    capacity: u32,
    /// Leaves that exist.
    leaves: u32,
    /// Leaves that existed at the beginning.
    initial: u32,
    records_per_page: u32,
    /// How many inserts each leaf has had since it was last split, modulo the records of a page.
    inserts: Vec<u8>,
}

/// What a tree is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TreeShape {
    /// Pages of the file.
    pub(crate) pages: u32,
    /// The fraction of them that is in use at the beginning.
    pub(crate) filled: f64,
    pub(crate) fanout: u32,
    pub(crate) records_per_page: u32,
}

impl Tree {
    pub(crate) fn new(shape: TreeShape) -> Self {
        let TreeShape { pages, filled, fanout, records_per_page } = shape;
        let groups = pages / (fanout + 1) + 1;
        let upper = groups.div_ceil(fanout);
        let room = pages - upper;
        // The last group may be cut short; its first page is an inner one all the same.
        let capacity = room / (fanout + 1) * fanout + (room % (fanout + 1)).saturating_sub(1);
        let initial = ((f64::from(capacity) * filled) as u32).clamp(1, capacity);
        let inserts = vec![0; capacity as usize];
        Self { fanout, upper, capacity, leaves: initial, initial, records_per_page, inserts }
    }

    pub(crate) const fn leaves(&self) -> u32 {
        self.leaves
    }

    pub(crate) const fn initial(&self) -> u32 {
        self.initial
    }

    /// The page of a leaf.
    pub(crate) const fn page_of(&self, leaf: u32) -> u32 {
        self.parent_of(leaf) + 1 + leaf % self.fanout
    }

    /// The page above a leaf.
    pub(crate) const fn parent_of(&self, leaf: u32) -> u32 {
        self.upper + leaf / self.fanout * (self.fanout + 1)
    }

    /// The page above that.
    pub(crate) const fn grandparent_of(&self, leaf: u32) -> u32 {
        leaf / self.fanout / self.fanout
    }

    /// Pages that are in use, from the file's start on.
    pub(crate) const fn pages_used(&self) -> u32 {
        self.page_of(self.leaves - 1) + 1
    }

    /// Whether an insert into this leaf splits it.
    pub(crate) fn splits(&self, leaf: u32) -> bool {
        u32::from(self.inserts[leaf as usize]) + 1 >= self.records_per_page && self.leaves < self.capacity
    }

    /// Counts an insert.
    pub(crate) fn insert(&mut self, leaf: u32) {
        let inserts = &mut self.inserts[leaf as usize];
        *inserts = if u32::from(*inserts) + 1 >= self.records_per_page { 0 } else { *inserts + 1 };
    }

    /// Splits a leaf: the number of the new one.
    pub(crate) fn split(&mut self, leaf: u32) -> u32 {
        debug_assert!(self.leaves < self.capacity, "there is room for one more");
        self.inserts[leaf as usize] = 0;
        self.leaves += 1;
        self.leaves - 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SHAPE: TreeShape = TreeShape { pages: 1000, filled: 0.5, fanout: 10, records_per_page: 4 };

    #[test]
    fn every_page_has_one_place_and_inner_pages_lie_before_what_is_below_them() {
        let tree = Tree::new(SHAPE);
        let leaves: BTreeSet<u32> = (0..tree.capacity).map(|leaf| tree.page_of(leaf)).collect();
        let parents: BTreeSet<u32> = (0..tree.capacity).map(|leaf| tree.parent_of(leaf)).collect();
        let upper: BTreeSet<u32> = (0..tree.capacity).map(|leaf| tree.grandparent_of(leaf)).collect();
        assert_eq!(leaves.len() as u32, tree.capacity);
        assert!(leaves.is_disjoint(&parents) && upper.iter().all(|page| *page < tree.upper));
        assert!(leaves.iter().chain(&parents).all(|page| (tree.upper..1000).contains(page)));
        // Ten pages above; behind them 90 groups of one inner page and ten leaves.
        assert_eq!((parents.len(), upper.len(), tree.capacity), (90, 9, 900));
    }

    #[test]
    fn every_insert_that_fills_a_page_splits_it_until_the_file_is_full() {
        let mut tree = Tree::new(TreeShape { pages: 40, filled: 0.9, ..SHAPE });
        let mut splits = 0;
        for _ in 0..1000 {
            if tree.splits(0) {
                assert_eq!(tree.split(0), tree.leaves() - 1);
                splits += 1;
            } else {
                tree.insert(0);
            }
        }
        assert_eq!(splits, tree.capacity - tree.initial());
        assert_eq!(tree.pages_used(), 40);
        let mut fresh = Tree::new(SHAPE);
        let every: Vec<bool> = (0..8)
            .map(|_| {
                let splits = fresh.splits(3);
                if splits {
                    let _ = fresh.split(3);
                } else {
                    fresh.insert(3);
                }
                splits
            })
            .collect();
        assert_eq!(every, [false, false, false, true, false, false, false, true]);
    }
}
