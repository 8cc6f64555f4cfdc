//! Writes past the cache that touch each other become one before anything is written.
//!
//! Model: a controller with memory takes in what is on its way to a group before it plans a write to it, and adds to a write
//! that waits for its rows what comes meanwhile. Writes that touch are one operation then, up to the length that is
//! destaged at once: rows become full, and a row that two requests share is read and written once.
//!
//! Limits: only writes that touch are joined; of those that overlap each is carried out. Who shares an operation is answered
//! when all of it is done.

use super::{Kind, Operations};
use crate::array::topology::Topology;
use crate::raid::Extent;

/// Writes of a group on their way to an operation of their own.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// Operations that are not planned yet, each with the number of arrivals that it waits for.
    gathered: Vec<(u32, u64)>,
    /// Operations that wait for rows.
    waiting: Vec<u32>,
}

impl Gathering {
    /// Takes out an operation for which nothing more is on its way when so many have arrived.
    #[inline]
    fn next(&mut self, arrived: u64) -> Option<u32> {
        let next = self.gathered.iter().position(|&(_, until)| until <= arrived)?;
        Some(self.gathered.remove(next).0)
    }

    /// An operation waits for rows.
    pub(super) fn waits(&mut self, number: u32) {
        self.waiting.push(number);
    }

    /// An operation has its rows.
    pub(super) fn waits_no_more(&mut self, number: u32) {
        self.waiting.retain(|&waiting| waiting != number);
    }
}

impl Operations {
    /// The operation that does a write which is not kept: one that it touches, or one of its own that waits for what is on its
    /// way. Without a memory to gather in, it is not started yet.
    pub(in crate::array) fn gather(&mut self, topology: &mut Topology, group: u16, extent: Extent) -> u32 {
        let place = usize::from(group);
        let controller = &topology.controllers[usize::from(topology.groups[place].controller)];
        if controller.cache.is_none() {
            return self.begin(topology, Kind::Write, group, extent);
        }
        let sectors_max = controller.destager.sectors_max;
        self.joined(topology, place, extent, sectors_max).unwrap_or_else(|| {
            let write = self.begin(topology, Kind::Write, group, extent);
            self.gathering[place].gathered.push((write, topology.groups[place].writes_sent));
            write
        })
    }

    /// The operation that does `extent` as well from now on, if there is one that it touches.
    fn joined(&mut self, topology: &mut Topology, place: usize, extent: Extent, sectors_max: u32) -> Option<u32> {
        let group = &mut topology.groups[place];
        let gathering = &self.gathering[place];
        for &(number, _) in &gathering.gathered {
            if let Some(both) = union(self.operations[number].extent, extent, sectors_max) {
                self.operations[number].extent = both;
                return Some(number);
            }
        }
        for &number in &gathering.waiting {
            let Some(both) = union(self.operations[number].extent, extent, sectors_max) else { continue };
            let plan = &mut self.scratch.plan;
            if group.geometry.write(both, &group.members, plan).is_ok() && group.locks.extend(number, &plan.rows) {
                self.operations[number].extent = both;
                return Some(number);
            }
        }
        None
    }

    /// A write has arrived, kept or not: starts what has waited for all that was on its way when it came.
    #[inline]
    pub(in crate::array) fn start_gathered(&mut self, topology: &mut Topology, group: u16) {
        let place = usize::from(group);
        while let Some(write) = self.gathering[place].next(topology.groups[place].writes_arrived) {
            self.start(topology, write);
        }
    }
}

/// Two stretches as one, if they touch and are not too long together.
fn union(one: Extent, other: Extent, sectors_max: u32) -> Option<Extent> {
    let sectors = one.sectors + other.sectors;
    let touch = one.lba + u64::from(one.sectors) == other.lba || other.lba + u64::from(other.sectors) == one.lba;
    (touch && sectors <= sectors_max).then_some(Extent { lba: one.lba.min(other.lba), sectors })
}
