//! Failures of devices, spares that take their place, and the rebuild of what they held.
//!
//! Model: a failed member serves nothing more; commands that it has begun still end. The first spare that fits takes its
//! place, and chunk by chunk gets what the survivors know, under the locks of the chunk's rows and at the pace that the
//! group allows: one chunk is read while the one before it is written, as these are different devices. While the group has
//! other things to do (fetches, writes, destages), a rebuild of less than full priority takes turns with them, one chunk at
//! a time. What a chunk has brought counts, and its rows are free, when all before it is there, too. Requests that need what
//! nobody knows any more fail.
//!
//! Limits: a device that fails while it is a spare is not modelled. Failures at a rate are drawn for twenty years. A chunk
//! that has begun is not held up: what comes after it waits for its commands as for any others of the drives. Fetches ahead
//! of a stream and destages hold a rebuild up although nobody may wait for them.

use std::collections::VecDeque;

use super::copying::Bay;
use super::incidents::{Incident, Rebuilt, What};
use super::replacing::Coming;
use super::{Array, Group, Kind};
use crate::calendar::Event;
use crate::raid::{Failure, MemberState, Rebuild, RebuildChunk, Replacement, SpareSpec, Spares, Spell, Throttle};

/// Failures that are drawn: those of the first twenty years.
pub(super) const HORIZON_NS: u64 = 20 * 365 * 86_400 * 1_000_000_000;

/// Chunks of a rebuild under way: one being written, the next being read.
const CHUNKS_MAX: usize = 2;

/// What fails, who waits to take its place, and what is being rebuilt.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// In order of time, with the group.
    pub(super) due: Vec<(Failure, u16)>,
    pub(super) next: usize,
    pub(super) spares: Spares,
    /// Spares that have taken over.
    pub(super) serving: Vec<SpareSpec>,
    /// By group, after how long a new drive comes for a failed one.
    pub(super) replaced_after_ns: Vec<Option<u64>>,
    /// New drives that are written down, with the group; events before the first request.
    pub(super) written: Vec<(Replacement, u16)>,
    pub(super) coming: Vec<Coming>,
    /// Drives that have failed and for which no new one has come, in the order of their failures.
    pub(super) failed: Vec<Bay>,
    /// New drives that get back, or are to get back, what a spare holds.
    pub(super) fitted: Vec<Bay>,
    pub(super) rebuilds: Vec<Rebuilding>,
    pub(super) incidents: Vec<Incident>,
}

impl Faults {
    /// A spare that stands for a member.
    pub(super) fn serving(&self, drive: u16) -> Option<SpareSpec> {
        self.serving.iter().find(|spare| spare.device == drive).copied()
    }

    /// A spare stands for no member any more.
    pub(super) fn stops_serving(&mut self, drive: u16) -> Option<SpareSpec> {
        let spare = self.serving(drive);
        self.serving.retain(|spare| spare.device != drive);
        spare
    }
}

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
    /// How long the last that has ended took.
    took_ns: u64,
}

impl Rebuilding {
    /// How far it has come, unless it has ended.
    pub(super) fn reached(&self, groups: &[Group]) -> Option<Rebuilt> {
        let (group, member) = (self.group, self.rebuild.device());
        let of_it = &groups[usize::from(group)];
        let copying = self.rebuild.is_copying();
        let sectors = match of_it.members.state(member) {
            MemberState::Rebuilding { rebuilt_sectors } => rebuilt_sectors,
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

    /// When the group has had nothing else to do for as long as a chunk takes, or it is a chunk's turn.
    fn free_ns(&self, group: &Group, now_ns: u64) -> u64 {
        let since_ns = if group.operations > 0 { now_ns } else { group.rested_ns };
        let quiet_ns = since_ns.saturating_add(self.last.took_ns.max(1));
        if self.chunks.is_empty() { quiet_ns.min(self.last.turn_ns) } else { quiet_ns }
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

impl Array {
    /// Sets the event of the next failure.
    pub(super) fn expect_failure(&mut self) {
        if let Some((failure, _)) = self.faults.due.get(self.faults.next) {
            self.calendar.add(failure.time_ns.max(self.now_ns), Event::Failure, 0);
        }
    }

    /// The next failure happens.
    pub(super) fn fail(&mut self) {
        let Some(&(Failure { member, .. }, number)) = self.faults.due.get(self.faults.next) else { return };
        self.faults.next += 1;
        self.expect_failure();
        let group = &mut self.groups[usize::from(number)];
        if group.members.state(member) == MemberState::Failed {
            return;
        }
        group.members.fail(member);
        let of_it = |found: &&mut Rebuilding| found.group == number && found.rebuild.device() == member;
        self.faults.rebuilds.iter_mut().filter(of_it).for_each(|found| found.ended = true);
        let drive = self.groups[usize::from(number)].drives[usize::from(member)];
        self.note(number, member, What::Failed);
        self.order_drive(Bay { group: number, member, drive });
        match self.end_copy(number, member) {
            Some(new) => self.take_place(number, member, new, What::Renewed),
            None => self.replace(number, member),
        }
    }

    /// Puts a spare in the place of a failed member, if there is one.
    pub(super) fn replace(&mut self, number: u16, member: u16) {
        let drives = &self.drives;
        let sectors = self.groups[usize::from(number)].geometry.member_sectors();
        let sectors_of = |drive: u16| drives[usize::from(drive)].device.sectors();
        let Some(spare) = self.faults.spares.take(number, sectors, sectors_of) else { return };
        self.faults.stops_serving(spare.device);
        self.faults.serving.push(spare);
        self.take_place(number, member, spare.device, What::Replaced);
    }

    /// Puts a drive in the place of a failed member and begins to rebuild.
    pub(super) fn take_place(&mut self, number: u16, member: u16, drive: u16, what: What) {
        let group = &mut self.groups[usize::from(number)];
        group.drives[usize::from(member)] = drive;
        group.members.replace(member);
        let rebuild = Rebuild::new(member, group.chunk_sectors, &group.geometry);
        self.note(number, member, what);
        self.begin_rebuild(number, rebuild);
    }

    /// Begins to rebuild a member, or to copy it back.
    pub(super) fn begin_rebuild(&mut self, number: u16, rebuild: Rebuild) {
        let group = &self.groups[usize::from(number)];
        let rebuilding = Rebuilding {
            group: number,
            rebuild,
            chunks: VecDeque::with_capacity(CHUNKS_MAX),
            spare: Vec::with_capacity(CHUNKS_MAX),
            throttle: group.throttle,
            spell: Spell::default(),
            look_ns: u64::MAX,
            last: Last { began_ns: None, latest_ns: group.throttle.latest_ns(self.now_ns), turn_ns: 0, took_ns: 0 },
            ended: false,
        };
        self.faults.rebuilds.push(rebuilding);
        self.look_at_rebuild(self.faults.rebuilds.len() as u32 - 1, self.now_ns);
    }

    /// The last request of a group has ended: those of its rebuilds that wait for that look when it has rested long enough.
    #[cold]
    pub(super) fn group_is_idle(&mut self, group: u16) {
        for number in 0..self.faults.rebuilds.len() {
            let found = &self.faults.rebuilds[number];
            if found.group == group && !found.ended && found.throttle.waits_for_idle() {
                let due_ns = found.due_ns(&self.groups[usize::from(group)], self.now_ns);
                self.look_at_rebuild(number as u32, due_ns);
            }
        }
    }

    /// Sets the event at which a rebuild looks whether its next chunk may begin, if it would not look earlier.
    fn look_at_rebuild(&mut self, number: u32, look_ns: u64) {
        let found = &mut self.faults.rebuilds[number as usize];
        if look_ns < found.look_ns {
            found.look_ns = look_ns;
            self.calendar.add(look_ns, Event::Rebuild, number);
        }
    }

    /// The next chunk of a rebuild, unless enough are under way, or requests or its pace hold it up.
    pub(super) fn rebuild(&mut self, number: u32) {
        let found = &mut self.faults.rebuilds[number as usize];
        if found.look_ns != self.now_ns {
            return; // It has looked earlier since that was set.
        }
        found.look_ns = u64::MAX;
        if found.ended || found.chunks.len() == CHUNKS_MAX {
            return;
        }
        let group = &self.groups[usize::from(found.group)];
        let due_ns = found.due_ns(group, self.now_ns);
        if due_ns > self.now_ns {
            self.look_at_rebuild(number, due_ns);
            return;
        }
        let (place, member) = (found.group, found.rebuild.device());
        let mut plan = found.spare.pop().unwrap_or_default();
        match found.rebuild.next(&group.geometry, &group.members, &mut plan) {
            Ok(true) => self.begin_chunk(number, place, plan),
            Ok(false) => {}
            Err(_) => {
                found.ended = true;
                self.note(place, member, What::Lost);
            }
        }
    }

    fn begin_chunk(&mut self, number: u32, place: u16, plan: RebuildChunk) {
        let rows = plan.rows;
        let extent = crate::raid::Extent { lba: plan.write.lba, sectors: plan.write.sectors };
        let operation = self.new_operation(Kind::Rebuild, place, extent);
        self.operations[operation].owner = number;
        let found = &mut self.faults.rebuilds[number as usize];
        let last = &mut found.last;
        last.began_ns = Some(self.now_ns);
        // One that began late leaves the less time to the next, but no debt beyond that.
        last.latest_ns = found.throttle.latest_ns(self.now_ns.min(last.latest_ns)).max(self.now_ns);
        found.spell.begin_chunk(self.now_ns);
        found.chunks.push_back(Chunk { operation, plan, began_ns: self.now_ns, done: false });
        let has_room = found.chunks.len() < CHUNKS_MAX;
        if self.groups[usize::from(place)].locks.acquire(operation, &[rows]) {
            self.start_chunk(operation);
        }
        if has_room {
            self.look_at_rebuild(number, self.now_ns);
        }
    }

    /// A chunk has its rows: its reads, then its write.
    pub(super) fn start_chunk(&mut self, operation: u32) {
        let owner = self.operations[operation].owner as usize;
        let of_it = |chunk: &Chunk| chunk.operation == operation;
        let found = &mut self.faults.rebuilds[owner];
        let Some(place) = found.chunks.iter().position(of_it) else { return };
        let mut plan = std::mem::take(&mut found.chunks[place].plan);
        // While it waited for its rows, a survivor may have failed, or the drive that it was for.
        let group = &self.groups[usize::from(found.group)];
        if !found.ended && found.rebuild.again(&group.geometry, &group.members, &mut plan).is_err() {
            found.ended = true;
            let (number, member) = (found.group, found.rebuild.device());
            self.note(number, member, What::Lost);
        }
        if self.faults.rebuilds[owner].ended {
            self.chunk_done(operation);
            return;
        }
        self.start_pieces(operation, &plan.reads, std::slice::from_ref(&plan.write), plan.xor_bytes);
        if let Some(chunk) = self.faults.rebuilds[owner].chunks.get_mut(place) {
            chunk.plan = plan;
        }
    }

    /// A chunk is written; its rows are still locked.
    pub(super) fn chunk_done(&mut self, operation: u32) {
        let owner = self.operations[operation].owner;
        let chunks = &mut self.faults.rebuilds[owner as usize].chunks;
        if let Some(chunk) = chunks.iter_mut().find(|chunk| chunk.operation == operation) {
            chunk.done = true;
        }
        while let Some(chunk) = self.next_done(owner) {
            let Chunk { operation, plan, began_ns, .. } = chunk;
            self.note_rebuilt(owner, &plan, began_ns);
            self.faults.rebuilds[owner as usize].spare.push(plan);
            self.end_chunk(operation);
        }
    }

    /// A chunk that is written, with all before it; if the rebuild is over or in vain, any that is written.
    fn next_done(&mut self, owner: u32) -> Option<Chunk> {
        let found = &mut self.faults.rebuilds[owner as usize];
        let place = found.chunks.iter().position(|chunk| chunk.done)?;
        if place == 0 || found.ended { found.chunks.remove(place) } else { None }
    }

    /// The member serves a chunk more, and the next one may begin.
    fn note_rebuilt(&mut self, owner: u32, plan: &RebuildChunk, began_ns: u64) {
        let found = &mut self.faults.rebuilds[owner as usize];
        if found.ended {
            return;
        }
        found.spell.end_chunk(self.now_ns);
        let (place, member, copying) = (found.group, found.rebuild.device(), found.rebuild.is_copying());
        let is_over = if copying {
            self.note_copied(place, member, plan.write.end())
        } else {
            let group = &mut self.groups[usize::from(place)];
            group.members.rebuilt(member, plan.write.end(), &group.geometry);
            group.members.state(member) == MemberState::Present
        };
        let found = &mut self.faults.rebuilds[owner as usize];
        if is_over {
            found.ended = true;
            if !copying {
                self.note(place, member, What::Rebuilt);
                self.spare_is_whole(place, member);
            }
            return;
        }
        let (now_ns, last) = (self.now_ns, &mut found.last);
        (last.turn_ns, last.took_ns) = (found.throttle.turn_ns(began_ns, now_ns), now_ns - began_ns);
        self.look_at_rebuild(owner, now_ns);
    }
}
