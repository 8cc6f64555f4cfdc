//! Rows with dirty pages by their keys: open addressing with the rows in the cells themselves.
//!
//! A row is looked at twice in its life, long after anything near it: one cell is one miss of the processor's cache. As in
//! [`super::index`], an entry that goes lets those behind it move up.

use crate::prefetch;
use crate::slab::NONE;

/// A row with dirty pages: the first of them, and how many are dirty as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    key: u64,
    pub(super) first: u32,
    pub(super) whole: u32,
}

const EMPTY: Row = Row { key: u64::MAX, first: NONE, whole: 0 };

/// See the module.
#[derive(Debug)]
pub(super) struct RowTable {
    cells: Vec<Row>,
    shift: u32,
}

impl RowTable {
    /// A table of at most `rows`.
    pub(super) fn new(rows: usize) -> Self {
        let cells = (rows.max(4) * 2).next_power_of_two();
        Self { cells: vec![EMPTY; cells], shift: 64 - cells.trailing_zeros() }
    }

    const fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    fn at(&self, key: u64) -> usize {
        let mask = self.cells.len() - 1;
        let mut at = self.home(key);
        while self.cells[at].key != key && self.cells[at].key != EMPTY.key {
            at = (at + 1) & mask;
        }
        at
    }

    /// A key will be looked for soon.
    #[inline]
    pub(super) fn expect(&self, key: u64) {
        prefetch::expect(&self.cells, self.home(key));
    }

    /// The first page of a row, or [`NONE`].
    #[inline]
    pub(super) fn first(&self, key: u64) -> u32 {
        self.cells[self.at(key)].first
    }

    /// The row of a key, made if it is not there; whether it was made.
    pub(super) fn entry(&mut self, key: u64) -> (&mut Row, bool) {
        let at = self.at(key);
        let row = &mut self.cells[at];
        let made = row.key != key;
        if made {
            *row = Row { key, ..EMPTY };
        }
        (row, made)
    }

    /// Takes the row of a key out; an empty one if it is not there.
    pub(super) fn remove(&mut self, key: u64) -> Row {
        let mask = self.cells.len() - 1;
        let mut hole = self.at(key);
        let row = self.cells[hole];
        if row.key == EMPTY.key {
            return row;
        }
        let mut at = (hole + 1) & mask;
        while self.cells[at].key != EMPTY.key {
            let home = self.home(self.cells[at].key);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.cells[hole] = self.cells[at];
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.cells[hole] = EMPTY;
        row
    }
}
