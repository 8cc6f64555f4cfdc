//! Reads: past the cache for a job, or as fetches that the cache knows of.

use super::command::{OF_JOB, Origin, Rank};
use super::operation::{Kind, Operation};
use super::{Operations, flash_caches};
use crate::array::topology::Topology;
use crate::cache::Cache;
use crate::raid::Extent;

impl Operations {
    /// Reads for a job of a controller without a cache; nearly all such reads are one command, which needs no operation. Gives the
    /// operation that the others need, not started yet.
    #[inline(always)]
    pub(in crate::array) fn read_for(
        &mut self,
        topology: &mut Topology,
        job: u32,
        group: u16,
        extent: Extent,
    ) -> Option<u32> {
        let found = &topology.groups[usize::from(group)];
        if found.flash_cache.is_some() {
            return Some(self.begin(topology, Kind::Fetch, group, extent));
        }
        let cost = found.cost(&topology.drives, topology.now_ns);
        if let Some(piece) = found.geometry.read_one(extent, &found.members, cost) {
            topology.groups[usize::from(group)].operations += 1;
            // A controller without a cache keeps no writes, so it holds nothing back.
            let origin = Origin { owner: job | OF_JOB, group, rank: Rank::Other };
            self.commands.send_piece(topology, origin, &piece);
            return None;
        }
        Some(self.begin(topology, Kind::Fetch, group, extent))
    }

    /// A fetch, not started, that the cache `notes` as one that was asked for or as one ahead.
    #[inline(always)]
    pub(in crate::array) fn fetch(
        &mut self,
        topology: &mut Topology,
        (group, extent): (u16, Extent),
        notes: fn(&mut Cache, u32, Extent, u32) -> u32,
    ) -> u32 {
        let number = self.begin(topology, Kind::Fetch, group, extent);
        let group = &topology.groups[usize::from(group)];
        if let Some(cache) = &mut topology.controllers[usize::from(group.controller)].cache {
            self.operations[number].page = notes(cache, group.space, extent, number);
        }
        number
    }

    /// Starts a fetch; nearly all are one command.
    #[inline]
    pub(in crate::array) fn start_fetch(&mut self, topology: &mut Topology, number: u32) {
        let Operation { group, extent, .. } = self.operations[number];
        let found = &topology.groups[usize::from(group)];
        if found.flash_cache.is_some() {
            flash_caches::fetch(self, topology, number);
            return;
        }
        match found.geometry.read_one(extent, &found.members, found.cost(&topology.drives, topology.now_ns)) {
            Some(piece) => {
                self.operations[number].left = 1;
                let origin = self.origin(topology, number);
                self.commands.issue_piece(topology, origin, &piece);
            }
            None => self.start_pieces_of_fetch(topology, number),
        }
    }

    #[inline(never)]
    pub(in crate::array) fn start_pieces_of_fetch(&mut self, topology: &mut Topology, number: u32) {
        let Operation { group, extent, .. } = self.operations[number];
        if topology.groups[usize::from(group)].flash_cache.is_some() {
            flash_caches::fetch(self, topology, number);
            return;
        }
        let mut pieces = std::mem::take(&mut self.scratch.pieces);
        pieces.clear();
        let found = &topology.groups[usize::from(group)];
        let cost = found.cost(&topology.drives, topology.now_ns);
        match found.geometry.read(extent, &found.members, cost, &mut pieces) {
            Ok(xor_bytes) => {
                let controller = &topology.controllers[usize::from(found.controller)];
                let xor_ns = controller.xor_ns(xor_bytes);
                let operation = &mut self.operations[number];
                (operation.left, operation.xor_ns) = (pieces.len() as u32, xor_ns);
                let origin = self.origin(topology, number);
                pieces.iter().for_each(|piece| self.commands.issue_piece(topology, origin, piece));
            }
            Err(_) => self.fail(topology, number),
        }
        self.scratch.pieces = pieces;
    }
}

/// Reads for a job at an instant to come, for a group whose reads can be foreseen; `false` if this one cannot, because it is more than one
/// command or because its device may do something else before.
#[inline(always)]
pub(in crate::array) fn read_early(
    operations: &mut Operations,
    (topology, at_ns): (&mut Topology, u64),
    job: u32,
    (group, extent): (u16, Extent),
) -> bool {
    let found = &mut topology.groups[usize::from(group)];
    let Some(piece) = found.geometry.read_one(extent, &found.members, |_, _| 0) else { return false };
    let drive = found.drives[usize::from(piece.device)];
    if !topology.drives[usize::from(drive)].device.foresees(at_ns) {
        return false;
    }
    found.operations += 1;
    let now_ns = std::mem::replace(&mut topology.now_ns, at_ns);
    let origin = Origin { owner: job | OF_JOB, group, rank: Rank::Other };
    operations.commands.send_piece(topology, origin, &piece);
    topology.now_ns = now_ns;
    true
}
