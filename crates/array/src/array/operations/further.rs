//! The stretches of a destage that has several: what is dirty in a row of parity, written as one operation.
//!
//! Model: the operation holds its first stretch, a list here the others, in ascending order. Room for all that can be
//! under way is asked for when the array is built.

use super::{Kind, Operations};
use crate::array::topology::{Group, Topology};
use crate::controller::Controller;
use crate::raid::{Extent, Lost};
use crate::slab::{NONE, Slab};

/// A stretch, and the one behind it.
#[derive(Clone, Copy, Debug)]
struct Further {
    extent: Extent,
    next: u32,
}

/// The lists of all operations; a list is known by its first entry, [`NONE`] if it is empty.
#[derive(Debug)]
pub(super) struct Stretches {
    entries: Slab<Further>,
}

impl Stretches {
    /// None; with room for all pages that controllers destage at once to rows of parity.
    pub(super) fn new(groups: &[Group], controllers: &[Controller]) -> Self {
        let pages = |group: &Group| {
            let Controller { cache, writes_back, destager, .. } = &controllers[usize::from(group.controller)];
            let Some(cache) = cache.as_ref().filter(|_| *writes_back && group.geometry.has_parity()) else { return 0 };
            let row_pages = group.geometry.row_sectors().div_ceil(cache.shape().page_sectors.into()) + 1;
            let most = u64::from(destager.most[group.space as usize]);
            most.saturating_mul(row_pages).min(cache.shape().dirty_max.into()) as usize
        };
        let room = groups.iter().map(pages).sum();
        Self { entries: Slab::with_room(Further { extent: Extent { lba: 0, sectors: 0 }, next: NONE }, room) }
    }

    fn keep(&mut self, extents: &[Extent]) -> u32 {
        extents.iter().rev().fold(NONE, |next, &extent| self.entries.insert(Further { extent, next }))
    }

    /// Gives an entry up: what it was, and the one behind it.
    pub(super) fn remove(&mut self, first: u32) -> (Extent, u32) {
        let Further { extent, next } = self.entries.remove(first);
        (extent, next)
    }

    pub(super) fn append_to(&self, mut first: u32, extents: &mut Vec<Extent>) {
        while first != NONE {
            extents.push(self.entries[first].extent);
            first = self.entries[first].next;
        }
    }

    /// Places for as many as there were at once, or up to twice that.
    pub(super) const fn most(&self) -> usize {
        self.entries.most()
    }
}

impl Operations {
    /// Starts the destage of stretches that one write can take together.
    pub(super) fn destage_together(&mut self, topology: &mut Topology, group: u16, stretches: &[Extent]) {
        let operation = self.begin(topology, Kind::Destage, group, stretches[0]);
        self.count_destage(topology, operation, 1);
        self.operations[operation].further = self.further.keep(&stretches[1..]);
        self.start(topology, operation);
    }

    /// Plans a destage of several stretches, into the scratch.
    pub(super) fn plan_together(&mut self, topology: &Topology, number: u32) -> Result<(), Lost> {
        let operation = &self.operations[number];
        let group = &topology.groups[usize::from(operation.group)];
        let extents = &mut self.scratch.together;
        extents.clear();
        extents.push(operation.extent);
        self.further.append_to(operation.further, extents);
        group.geometry.write_together(extents, group.gaps, &group.members, &mut self.scratch.plan)
    }
}
