//! The blocks of one die: which are free, being filled, full, or being emptied.
//!
//! Model: the host's rows and the collection's units go to blocks of their own. A block that is full is a candidate for
//! collection until it is chosen. Blocks are used in the order in which they were freed, so wear is even without being
//! modelled.

use std::collections::VecDeque;

/// A block that is being filled; `next` counts rows for the host and units for the collection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    pub(crate) block: u32,
    pub(crate) next: u32,
}

/// A block that is being emptied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Victim {
    pub(crate) block: u32,
    /// The next unit to look at.
    pub(crate) next: u32,
    /// Units to move for every row of the host.
    pub(crate) pace: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct DieBlocks {
    pub(crate) free: VecDeque<u32>,
    pub(crate) host: Option<Filling>,
    pub(crate) collection: Option<Filling>,
    pub(crate) victim: Option<Victim>,
    /// Per block, whether it is full and not chosen.
    full: Vec<bool>,
}

impl DieBlocks {
    pub(crate) fn new(blocks: u32) -> Self {
        Self {
            free: (0..blocks).collect(),
            host: None,
            collection: None,
            victim: None,
            full: vec![false; blocks as usize],
        }
    }

    pub(crate) fn seal(&mut self, block: u32) {
        self.full[block as usize] = true;
    }

    /// Chooses the full block with the fewest valid units, unless even that one would free nothing.
    pub(crate) fn choose_victim(&mut self, valid: &[u32], shape: Shape) -> bool {
        let full = (0..).zip(valid).zip(&self.full).filter(|&(_, &full)| full);
        let Some((&left, block)) = full.map(|((block, valid), _)| (valid, block)).min() else { return false };
        if left >= shape.block_units() {
            return false;
        }
        let gained = shape.block_units() - left;
        let pace = (u64::from(left) * u64::from(shape.row_units)).div_ceil(u64::from(gained)) as u32;
        self.full[block as usize] = false;
        self.victim = Some(Victim { block, next: 0, pace });
        true
    }
}

/// How many of what a block has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) row_units: u32,
    pub(crate) block_rows: u32,
    pub(crate) die_blocks: u32,
}

impl Shape {
    pub(crate) const fn block_units(self) -> u32 {
        self.row_units * self.block_rows
    }

    pub(crate) const fn die_units(self) -> u32 {
        self.block_units() * self.die_blocks
    }
}
