//! Writes past the cache that touch each other become one before anything is written.
//!
//! Model: a controller with memory takes in what is on its way to a group before it plans a write to it, and adds to a write
//! that waits for its rows what comes meanwhile. Writes that touch are one operation then, up to the length that is
//! destaged at once: rows become full, and a row that two requests share is read and written once.
//!
//! Limits: only writes that touch are joined; of those that overlap each is carried out. Who shares an operation is answered
//! when all of it is done.

use super::{Array, Kind};
use crate::raid::Extent;

/// Writes of a group on their way to an operation of their own.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// Jobs that write, as many as were sent and as have arrived with their data.
    pub(super) sent: u64,
    pub(super) arrived: u64,
    /// Operations that are not planned yet, each with the number of arrivals that it waits for.
    gathered: Vec<(u32, u64)>,
    /// Operations that wait for rows.
    pub(super) waiting: Vec<u32>,
}

impl Gathering {
    /// Takes out an operation for which nothing more is on its way.
    #[inline]
    fn next(&mut self) -> Option<u32> {
        let next = self.gathered.iter().position(|&(_, until)| until <= self.arrived)?;
        Some(self.gathered.remove(next).0)
    }
}

impl Array {
    /// A write is not kept: it joins one that it touches, or waits for what is on its way, or begins.
    pub(super) fn gather(&mut self, number: u32) {
        let job = self.jobs[number];
        let (place, extent) = (usize::from(job.group), job.share.extent);
        let controller = &self.controllers[usize::from(self.groups[place].controller)];
        if controller.cache.is_none() {
            let write = self.new_operation(Kind::Write, job.group, extent);
            self.wait_for(number, write);
            self.start_operation(write);
            return;
        }
        let sectors_max = controller.destager.sectors_max;
        let write = self.joined(place, extent, sectors_max).unwrap_or_else(|| {
            let write = self.new_operation(Kind::Write, job.group, extent);
            let gathering = &mut self.groups[place].gathering;
            gathering.gathered.push((write, gathering.sent));
            write
        });
        self.wait_for(number, write);
    }

    /// The operation that does `extent` as well from now on, if there is one that it touches.
    fn joined(&mut self, place: usize, extent: Extent, sectors_max: u32) -> Option<u32> {
        let group = &mut self.groups[place];
        let gathering = &group.gathering;
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
    pub(super) fn start_gathered(&mut self, place: usize) {
        while let Some(write) = self.groups[place].gathering.next() {
            self.start_operation(write);
        }
    }
}

/// Two stretches as one, if they touch and are not too long together.
fn union(one: Extent, other: Extent, sectors_max: u32) -> Option<Extent> {
    let sectors = one.sectors + other.sectors;
    let touch = one.lba + u64::from(one.sectors) == other.lba || other.lba + u64::from(other.sectors) == one.lba;
    (touch && sectors <= sectors_max).then_some(Extent { lba: one.lba.min(other.lba), sectors })
}
