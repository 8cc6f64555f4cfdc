//! Operations of a group that has a flash cache before it: which devices they reach, and what fills and drains the cache.
//!
//! Model: below a controller's cache, above the group. A read takes from the flash what is there and the rest from the group; what is to
//! come in is read as whole extents and then written to the flash, for which nobody waits. A write goes to the group and, where the cache
//! has what it changes, to the flash; or it goes to the flash alone while that has all its copies and room. Dirty extents are read from the
//! flash and written to the group as a destage is, from the high watermark down to the low one, and all of them once the flash lacks a copy.
//!
//! Limits: what the flash has lost is read from the group, and a write there fails nothing; a read of what only the flash had fails. Rows of
//! the flash are not locked.

use super::command::Origin;
use super::{Kind, Operation, Operations};
use crate::array::topology::Topology;
use crate::calendar::Event;
use crate::flash_cache::{FlashCache, Leaving};
use crate::raid::{Extent, Piece, WritePlan};
use crate::slab::NONE;
use crate::spec::FlashWrites;

/// Starts a fetch: from the flash, from the group, or both.
#[inline(never)]
pub(super) fn fetch(operations: &mut Operations, topology: &mut Topology, number: u32) {
    let Operation { group, extent, .. } = operations.operations[number];
    let Some(mut cache) = topology.groups[usize::from(group)].flash_cache.take() else { return };
    let mut runs = std::mem::take(&mut operations.scratch.runs);
    let (mut near, mut far) = (Vec::new(), std::mem::take(&mut operations.scratch.pieces));
    runs.clear();
    far.clear();
    cache.read(extent, number, &mut runs);
    let (mut xor_bytes, mut is_lost) = (0, false);
    for run in &runs {
        let on_flash = run.flash_lba.map(|lba| Extent { lba, ..run.extent });
        if on_flash.is_some_and(|extent| read(topology, cache.group, extent, &mut near).is_some()) {
            continue;
        }
        if on_flash.is_some() {
            cache.lost(run.extent.lba);
        }
        is_lost |= run.only_here && on_flash.is_some();
        match read(topology, group, run.extent, &mut far) {
            Some(bytes) => xor_bytes += bytes,
            None => is_lost = true,
        }
    }
    if is_lost {
        cache.forget(extent);
    }
    let flash = cache.group;
    let controller = topology.groups[usize::from(group)].controller;
    topology.groups[usize::from(group)].flash_cache = Some(cache);
    if is_lost {
        operations.fail(topology, number);
    } else {
        let operation = &mut operations.operations[number];
        operation.left = (near.len() + far.len()) as u32;
        operation.xor_ns = topology.controllers[usize::from(controller)].xor_ns(xor_bytes);
        let origin = operations.origin(topology, number);
        far.iter().for_each(|piece| operations.commands.issue_piece(topology, origin, piece));
        let origin = Origin { group: flash, ..origin };
        near.iter().for_each(|piece| operations.commands.issue_piece(topology, origin, piece));
    }
    (operations.scratch.runs, operations.scratch.pieces) = (runs, far);
}

/// A fetch is over: what it has brought of extents that are to come in is written to the flash.
#[inline(never)]
pub(in crate::array) fn fill(operations: &mut Operations, topology: &mut Topology, number: u32) {
    let Operation { kind: Kind::Fetch, group, extent, .. } = operations.operations[number] else { return };
    let Some(cache) = &mut topology.groups[usize::from(group)].flash_cache else { return };
    let mut places = std::mem::take(&mut operations.scratch.places);
    places.clear();
    cache.arrived(extent, number, &mut places);
    let flash = cache.group;
    for &place in &places {
        let Some(cache) = &mut topology.groups[usize::from(group)].flash_cache else { break };
        let extent = cache.whole_extent(place);
        let mut plan = WritePlan::default();
        let of_flash = &topology.groups[usize::from(flash)];
        if of_flash.geometry.write(extent, &of_flash.members, &mut plan).is_err() || plan.writes.is_empty() {
            if let Some(cache) = &mut topology.groups[usize::from(group)].flash_cache {
                cache.settled(place, false);
            }
            continue;
        }
        let fill = operations.begin(topology, Kind::Fill, flash, extent);
        operations.operations[fill].page = place;
        operations.start_pieces(topology, fill, (&[], &plan.writes), 0);
    }
    operations.scratch.places = places;
}

/// An extent that has come in is on the flash.
pub(in crate::array) fn end_fill(operations: &Operations, topology: &mut Topology, number: u32) {
    let Operation { group, page: place, .. } = operations.operations[number];
    let Some(cached) = topology.groups[usize::from(group)].cached_group else { return };
    if let Some(cache) = &mut topology.groups[usize::from(cached)].flash_cache {
        cache.settled(place, true);
    }
}

/// Writes to the flash alone, if that keeps writes and has all its copies and room; `false` if it does not.
#[inline(never)]
pub(super) fn keep(operations: &mut Operations, topology: &mut Topology, number: u32) -> bool {
    let Operation { kind, group, .. } = operations.operations[number];
    let Some(cache) = &topology.groups[usize::from(group)].flash_cache else { return false };
    let keeps = cache.writes == FlashWrites::Back && topology.is_whole(cache.group);
    if !keeps || !matches!(kind, Kind::Write | Kind::Destage) {
        return false;
    }
    let written = stretches(operations, number);
    if !cache.has_room(&written) {
        return false;
    }
    let flash = cache.group;
    let mut kept = Vec::new();
    if let Some(cache) = &mut topology.groups[usize::from(group)].flash_cache {
        written.iter().for_each(|&extent| cache.keep(extent, &mut kept));
    }
    // It holds no rows of the group, which it gives up at its end all the same.
    topology.groups[usize::from(group)].locks.acquire(number, &[]);
    let writes = writes(topology, flash, &kept);
    if kind == Kind::Destage {
        operations.count_destage(topology, number, writes.len() as u32);
    }
    let origin = Origin { group: flash, ..operations.origin(topology, number) };
    let second = operations.commands.prepare_line(topology, origin, &writes);
    let operation = &mut operations.operations[number];
    (operation.second, operation.xor_ns, operation.left) = (NONE, 0, writes.len() as u32);
    operation.ready_ns = topology.now_ns;
    operations.commands.issue_line(topology, second);
    drain(operations, topology, group);
    true
}

/// Issues what a plan says, of a write or of an extent that leaves the flash, with what is read or written there.
#[inline(never)]
pub(super) fn write(operations: &mut Operations, topology: &mut Topology, number: u32, plan: &WritePlan) {
    let Operation { kind, group, extent, page: place, .. } = operations.operations[number];
    let origin = operations.origin(topology, number);
    let Some(mut cache) = topology.groups[usize::from(group)].flash_cache.take() else { return };
    let (mut near, mut also) = (Vec::new(), Vec::new());
    let flash = cache.group;
    if kind == Kind::Drain {
        operations.operations[number].failed |=
            read(topology, flash, cache.located(place, extent), &mut near).is_none();
    } else if matches!(kind, Kind::Write | Kind::Destage) {
        stretches(operations, number).iter().for_each(|&written| cache.pass(written, &mut also));
    }
    topology.groups[usize::from(group)].flash_cache = Some(cache);
    let on_flash = Origin { group: flash, ..origin };
    let second = operations.commands.prepare_line(topology, origin, &plan.writes);
    let also = writes(topology, flash, &also);
    let second = operations.commands.prepare_before(topology, on_flash, &also, second);
    let controller = topology.groups[usize::from(group)].controller;
    let xor_ns = topology.controllers[usize::from(controller)].xor_ns(plan.xor_bytes);
    let operation = &mut operations.operations[number];
    (operation.second, operation.xor_ns) = (second, xor_ns);
    operation.left = (near.len() + plan.reads.len()) as u32;
    operation.ready_ns = topology.now_ns;
    near.iter().for_each(|piece| operations.commands.issue_piece(topology, on_flash, piece));
    plan.reads.iter().for_each(|piece| operations.commands.issue_piece(topology, origin, piece));
    if near.is_empty() && plan.reads.is_empty() && operations.end_phase(topology, number) {
        topology.calendar.add(topology.now_ns, Event::SecondPhase, number);
    }
}

/// Sends as many dirty extents on their way to the group as there may be.
#[inline(never)]
pub(in crate::array) fn drain(operations: &mut Operations, topology: &mut Topology, group: u16) {
    loop {
        let found = &topology.groups[usize::from(group)];
        let Some(is_whole) = found.flash_cache.as_ref().map(|cache| topology.is_whole(cache.group)) else { return };
        let Some(cache) = &mut topology.groups[usize::from(group)].flash_cache else { return };
        let Some(Leaving { place, extent }) = next_leaving(cache, is_whole) else { return };
        let drain = operations.begin(topology, Kind::Drain, group, extent);
        operations.operations[drain].page = place;
        operations.start(topology, drain);
    }
}

/// An extent has left the flash.
pub(in crate::array) fn end_drain(operations: &Operations, topology: &mut Topology, number: u32) {
    let Operation { group, page: place, failed, .. } = operations.operations[number];
    if let Some(cache) = &mut topology.groups[usize::from(group)].flash_cache {
        cache.destager.under_way[0] -= 1;
        cache.left(place, !failed);
    }
}

/// All stretches of a write.
fn stretches(operations: &Operations, number: u32) -> Vec<Extent> {
    let Operation { extent, further, .. } = operations.operations[number];
    let mut all = vec![extent];
    operations.further.append_to(further, &mut all);
    all
}

/// The next extent that leaves, if one is due: from the high watermark down to the low one, or while copies lack.
fn next_leaving(cache: &mut FlashCache, is_whole: bool) -> Option<Leaving> {
    let dirty = cache.dirty_extents();
    cache.destager.draining = !is_whole;
    cache.destager.consider(dirty);
    if !cache.destager.works() || cache.destager.under_way[0] >= cache.destager.most[0] {
        return None;
    }
    let next = cache.next_leaving()?;
    cache.destager.under_way[0] += 1;
    Some(next)
}

/// Appends what a group reads of an extent; bytes of exclusive-or. None, and nothing appended, if data are lost.
fn read(topology: &Topology, group: u16, extent: Extent, out: &mut Vec<Piece>) -> Option<u64> {
    let found = &topology.groups[usize::from(group)];
    let before = out.len();
    let planned = found.geometry.read(extent, &found.members, found.cost(&topology.drives, topology.now_ns), out);
    if planned.is_err() {
        out.truncate(before);
    }
    planned.ok()
}

/// What a group of flash writes of extents; nothing of what it has lost.
fn writes(topology: &Topology, group: u16, extents: &[Extent]) -> Vec<Piece> {
    let found = &topology.groups[usize::from(group)];
    let (mut all, mut plan) = (Vec::new(), WritePlan::default());
    for &extent in extents {
        if found.geometry.write(extent, &found.members, &mut plan).is_ok() {
            all.extend_from_slice(&plan.writes);
        }
    }
    all
}
