//! Rebuilds: what a member held, chunk by chunk onto the drive that has taken its place.
//!
//! Model: chunk by chunk the drive gets what the survivors know, under the locks of the chunk's rows and at the pace that the
//! group allows: one chunk is read while the one before it is written, as these are different devices; into a distributed spare many go
//! on at once (`raid/declustered.rs`). While the group has
//! other things to do (fetches, writes, destages), a rebuild of less than full priority takes turns with them, one chunk at
//! a time. What a chunk has brought counts, and its rows are free, when all before it is there, too.
//!
//! Limits: a chunk that has begun is not held up: what comes after it waits for its commands as for any others of the drives.
//! Fetches ahead of a stream and destages hold a rebuild up although nobody may wait for them.

use std::collections::VecDeque;

use super::Faults;
use super::incidents::{Rebuilt, What};
use crate::array::operations::Operations;
use crate::array::topology::{Group, Topology};
use crate::calendar::Event;
use crate::raid::{Extent, MemberState, Rebuild, RebuildChunk, Spell, Throttle};

/// A member that is being rebuilt, or copied back.
#[derive(Debug)]
pub(super) struct Rebuilding {
    group: u16,
    rebuild: Rebuild,
    /// Under way, in order.
    chunks: VecDeque<Chunk>,
    /// Memory that is used again.
    spare: Vec<RebuildChunk>,
    throttle: Throttle,
    /// Chunks under way at most, alone and in a turn beside other things.
    most: (usize, usize),
    spell: Spell,
    /// When it will look whether the next chunk may begin; [`u64::MAX`] if it will not.
    look_ns: u64,
    last: Last,
    /// Over, or in vain.
    ended: bool,
}

/// What the chunks so far tell of the next one.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// When the last one began, if there was any.
    began_ns: Option<u64>,
    /// When the next one begins at the latest, by the least pace.
    latest_ns: u64,
    /// The next one's turn while the group has other things to do, if none is under way.
    turn_ns: u64,
    /// How long the last that has ended took, once one has; a step in which there was nothing to do tells nothing.
    took_ns: Option<u64>,
}

impl Rebuilding {
    /// Its next chunk has begun.
    fn begin_chunk(&mut self, chunk: Chunk) {
        let (now_ns, last) = (chunk.began_ns, &mut self.last);
        last.began_ns = Some(now_ns);
        // One that began late leaves the less time to the next, but no debt beyond that.
        last.latest_ns = self.throttle.latest_ns(now_ns.min(last.latest_ns)).max(now_ns);
        self.spell.begin_chunk(now_ns);
        self.chunks.push_back(chunk);
    }

    /// How far it has come, unless it has ended.
    pub(super) fn reached(&self, groups: &[Group]) -> Option<Rebuilt> {
        let (group, member) = (self.group, self.rebuild.device());
        let of_it = &groups[usize::from(group)];
        let copying = self.rebuild.is_copying();
        let sectors = match of_it.members.state(member) {
            MemberState::Rebuilding { rebuilt_sectors } => rebuilt_sectors,
            _ if of_it.members.is_spared(member) => of_it.members.returned_sectors(member),
            _ => of_it.copies.iter().find(|copy| copy.member == member)?.copied_sectors,
        };
        let share = sectors as f64 / of_it.geometry.member_sectors() as f64;
        (!self.ended).then_some(Rebuilt { group, member, copying, share })
    }

    /// When the next chunk may begin, or no later than that; [`u64::MAX`] if something is to end first.
    fn due_ns(&self, group: &Group, now_ns: u64) -> u64 {
        let throttle = &self.throttle;
        let idle_ns = if throttle.waits_for_idle() { self.idle_from_ns(group) } else { 0 };
        // The first waits for nothing else, and tells how long one takes.
        let Some(began_ns) = self.last.began_ns else { return idle_ns.min(self.last.latest_ns).max(now_ns) };
        let free_ns = if throttle.yields() { self.free_ns(group, now_ns) } else { 0 };
        let paced_ns = throttle.paced_ns(began_ns).max(throttle.shared_ns(&self.spell, now_ns));
        paced_ns.max(idle_ns.max(free_ns).min(self.last.latest_ns))
    }

    /// When the group has had no request for long enough; no instant is known while it has one.
    const fn idle_from_ns(&self, group: &Group) -> u64 {
        if group.jobs > 0 { u64::MAX } else { self.throttle.idle_from_ns(group.last_request_ns) }
    }

    /// When the group has had nothing else to do for as long as a chunk takes, or it is a chunk's turn. While it has, and nobody
    /// knows yet how long a chunk takes, the end of one is waited for.
    fn free_ns(&self, group: &Group, now_ns: u64) -> u64 {
        let quiet_ns = match (self.last.took_ns, group.operations > 0) {
            (None, true) => u64::MAX,
            (Some(took_ns), true) => now_ns.saturating_add(took_ns.max(1)),
            (took_ns, false) => group.rested_ns.saturating_add(took_ns.unwrap_or(0).max(1)),
        };
        if self.chunks.len() < self.most.1 { quiet_ns.min(self.last.turn_ns) } else { quiet_ns }
    }
}

/// A chunk of a rebuild under way.
#[derive(Debug)]
struct Chunk {
    operation: u32,
    plan: RebuildChunk,
    began_ns: u64,
    /// Written, but not all before it is.
    done: bool,
}

impl Faults {
    /// Whether anything was ever to be rebuilt.
    pub(in crate::array) const fn are_rebuilding(&self) -> bool {
        !self.rebuilds.is_empty()
    }

    /// Begins to rebuild a member, or to copy it back.
    pub(super) fn begin_rebuild(&mut self, topology: &mut Topology, number: u16, rebuild: Rebuild) {
        let group = &topology.groups[usize::from(number)];
        let latest_ns = group.throttle.latest_ns(topology.now_ns);
        let most = rebuild.chunks_most(&group.geometry, &group.members);
        let rebuilding = Rebuilding {
            group: number,
            rebuild,
            chunks: VecDeque::with_capacity(most.0),
            spare: Vec::with_capacity(most.0),
            throttle: group.throttle,
            most,
            spell: Spell::default(),
            look_ns: u64::MAX,
            last: Last { began_ns: None, latest_ns, turn_ns: 0, took_ns: None },
            ended: false,
        };
        self.rebuilds.push(rebuilding);
        self.look_at_rebuild(topology, self.rebuilds.len() as u32 - 1, topology.now_ns);
    }

    /// A member has failed: whatever was rebuilt of it is in vain.
    pub(super) fn end_rebuilds(&mut self, number: u16, member: u16) {
        let of_it = |found: &&mut Rebuilding| found.group == number && found.rebuild.device() == member;
        self.rebuilds.iter_mut().filter(of_it).for_each(|found| found.ended = true);
    }

    /// A new drive has failed to which a member was copied back.
    pub(super) fn end_copying(&mut self, number: u16, member: u16) {
        let of_it = |found: &&mut Rebuilding| {
            found.group == number && found.rebuild.device() == member && found.rebuild.is_copying()
        };
        self.rebuilds.iter_mut().filter(of_it).for_each(|found| found.ended = true);
    }

    /// The last request of a group has ended: those of its rebuilds that wait for that look when it has rested long enough.
    #[cold]
    pub(in crate::array) fn group_is_idle(&mut self, topology: &mut Topology, group: u16) {
        for number in 0..self.rebuilds.len() {
            let found = &self.rebuilds[number];
            if found.group == group && !found.ended && found.throttle.waits_for_idle() {
                let due_ns = found.due_ns(&topology.groups[usize::from(group)], topology.now_ns);
                self.look_at_rebuild(topology, number as u32, due_ns);
            }
        }
    }

    /// Sets the event at which a rebuild looks whether its next chunk may begin, if it would not look earlier.
    fn look_at_rebuild(&mut self, topology: &mut Topology, number: u32, look_ns: u64) {
        let found = &mut self.rebuilds[number as usize];
        if look_ns < found.look_ns {
            found.look_ns = look_ns;
            topology.calendar.add(look_ns, Event::Rebuild, number);
        }
    }

    /// Begins the next chunk of a rebuild, unless enough are under way, or requests or its pace hold it up; its operation, and
    /// whether that has its rows.
    pub(in crate::array) fn begin_chunk(
        &mut self,
        operations: &mut Operations,
        topology: &mut Topology,
        number: u32,
    ) -> Option<(u32, bool)> {
        let found = &mut self.rebuilds[number as usize];
        if found.look_ns != topology.now_ns {
            return None; // It has looked earlier since that was set.
        }
        found.look_ns = u64::MAX;
        if found.ended || found.chunks.len() >= found.most.0 {
            return None;
        }
        let group = &topology.groups[usize::from(found.group)];
        let due_ns = found.due_ns(group, topology.now_ns);
        if due_ns > topology.now_ns {
            self.look_at_rebuild(topology, number, due_ns);
            return None;
        }
        let (place, member) = (found.group, found.rebuild.device());
        let mut plan = found.spare.pop().unwrap_or_default();
        match found.rebuild.next(&group.geometry, &group.members, &mut plan) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(_) => {
                found.ended = true;
                self.note(topology, place, member, What::Lost);
                return None;
            }
        }
        let (rows, extent) = (plan.rows, Extent { lba: plan.write.lba, sectors: plan.write.sectors });
        let operation = operations.begin_chunk(topology, place, extent, number);
        found.begin_chunk(Chunk { operation, plan, began_ns: topology.now_ns, done: false });
        Some((operation, topology.groups[usize::from(place)].locks.acquire(operation, &[rows])))
    }

    /// A chunk has begun: another may, if there is room for it.
    pub(in crate::array) fn look_for_another(&mut self, topology: &mut Topology, number: u32) {
        let found = &self.rebuilds[number as usize];
        if found.chunks.len() < found.most.0 {
            self.look_at_rebuild(topology, number, topology.now_ns);
        }
    }

    /// A chunk has its rows: its reads, then its write; `false` if it is in vain.
    pub(in crate::array) fn start_chunk(
        &mut self,
        operations: &mut Operations,
        topology: &mut Topology,
        operation: u32,
    ) -> bool {
        let owner = operations.get(operation).rebuild as usize;
        let of_it = |chunk: &Chunk| chunk.operation == operation;
        let found = &mut self.rebuilds[owner];
        let Some(place) = found.chunks.iter().position(of_it) else { return true };
        let mut plan = std::mem::take(&mut found.chunks[place].plan);
        // While it waited for its rows, a survivor may have failed, or the drive that it was for.
        let group = &topology.groups[usize::from(found.group)];
        if !found.ended && found.rebuild.again(&group.geometry, &group.members, &mut plan).is_err() {
            found.ended = true;
            let (number, member) = (found.group, found.rebuild.device());
            self.note(topology, number, member, What::Lost);
        }
        if self.rebuilds[owner].ended {
            return false;
        }
        plan.with_writes(|writes| {
            operations.start_pieces(topology, operation, (&plan.reads, writes), plan.xor_bytes);
        });
        if let Some(chunk) = self.rebuilds[owner].chunks.get_mut(place) {
            chunk.plan = plan;
        }
        true
    }

    /// A chunk is written, or in vain; its rows are still locked.
    pub(in crate::array) fn chunk_is_done(&mut self, number: u32, operation: u32) {
        let chunks = &mut self.rebuilds[number as usize].chunks;
        if let Some(chunk) = chunks.iter_mut().find(|chunk| chunk.operation == operation) {
            chunk.done = true;
        }
    }

    /// The operation of a chunk that is done with all before it, and counts from now on; if the rebuild is over or in vain, of
    /// any that is done.
    pub(in crate::array) fn next_done(&mut self, topology: &mut Topology, number: u32) -> Option<u32> {
        let found = &mut self.rebuilds[number as usize];
        let place = found.chunks.iter().position(|chunk| chunk.done)?;
        let over = if place == 0 || found.ended { found.chunks.remove(place) } else { None };
        let Chunk { operation, plan, began_ns, .. } = over?;
        self.note_rebuilt(topology, number, &plan, began_ns);
        self.rebuilds[number as usize].spare.push(plan);
        Some(operation)
    }

    /// The member serves a chunk more, and the next one may begin.
    fn note_rebuilt(&mut self, topology: &mut Topology, number: u32, plan: &RebuildChunk, began_ns: u64) {
        let found = &mut self.rebuilds[number as usize];
        if found.ended {
            return;
        }
        found.spell.end_chunk(topology.now_ns);
        let (place, member, copying) = (found.group, found.rebuild.device(), found.rebuild.is_copying());
        let is_over = if copying {
            self.note_copied(topology, place, member, plan.end)
        } else {
            let group = &mut topology.groups[usize::from(place)];
            group.members.rebuilt(member, plan.end, &group.geometry);
            group.members.state(member) == MemberState::Present
        };
        let found = &mut self.rebuilds[number as usize];
        if is_over {
            found.ended = true;
            if !copying {
                self.note(topology, place, member, What::Rebuilt);
                self.spare_is_whole(topology, place, member);
            }
            return;
        }
        let (now_ns, last) = (topology.now_ns, &mut found.last);
        if plan.write.sectors > 0 {
            (last.turn_ns, last.took_ns) = (found.throttle.turn_ns(began_ns, now_ns), Some(now_ns - began_ns));
        }
        self.look_at_rebuild(topology, number, now_ns);
    }
}
