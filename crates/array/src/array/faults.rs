//! Failures of devices, spares that take their place, and the rebuild of what they held.
//!
//! Model: a failed member serves nothing more; commands that it has begun still end. The first spare that fits takes its
//! place, and chunk by chunk gets what the survivors know, under the locks of the chunk's rows and at the pace that the
//! group allows: one chunk is read while the one before it is written, as these are different devices. What a chunk has
//! brought counts, and its rows are free, when all before it is there, too. Requests that need what nobody knows any more
//! fail.
//!
//! Limits: a device that fails while it is a spare is not modelled. Failures at a rate are drawn for twenty years.

use std::collections::VecDeque;

use super::{Array, Kind};
use crate::calendar::Event;
use crate::raid::{Failure, MemberState, Rebuild, RebuildChunk, Spares, Throttle};

/// Failures that are drawn: those of the first twenty years.
pub(super) const HORIZON_NS: u64 = 20 * 365 * 86_400 * 1_000_000_000;

/// Chunks of a rebuild under way: one being written, the next being read.
const CHUNKS_MAX: usize = 2;

/// What happened to a member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It failed.
    Failed,
    /// A spare took its place.
    Replaced,
    /// The spare holds everything.
    Rebuilt,
    /// Too many are missing to rebuild it.
    Lost,
}

impl What {
    /// As a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Replaced => "replaced by a spare",
            Self::Rebuilt => "rebuilt",
            Self::Lost => "cannot be rebuilt",
        }
    }
}

/// Something that happened to a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// When.
    pub time_ns: u64,
    /// The group's number in the specification.
    pub group: u16,
    /// The member's number in the group.
    pub member: u16,
    /// What.
    pub what: What,
}

/// What fails, who waits to take its place, and what is being rebuilt.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// In order of time, with the group.
    pub(super) due: Vec<(Failure, u16)>,
    pub(super) next: usize,
    pub(super) spares: Spares,
    pub(super) rebuilds: Vec<Rebuilding>,
    pub(super) incidents: Vec<Incident>,
}

/// A member that is being rebuilt.
#[derive(Debug)]
pub(super) struct Rebuilding {
    group: u16,
    rebuild: Rebuild,
    /// Under way, in order.
    chunks: VecDeque<Chunk>,
    /// Memory that is used again.
    spare: Vec<RebuildChunk>,
    throttle: Throttle,
    /// When the last chunk began.
    began_ns: Option<u64>,
    /// Over, or in vain.
    ended: bool,
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
    /// What has happened to members of groups so far.
    pub fn incidents(&self) -> &[Incident] {
        &self.faults.incidents
    }

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
        self.note(number, member, What::Failed);
        self.replace(number, member);
    }

    fn note(&mut self, group: u16, member: u16, what: What) {
        self.faults.incidents.push(Incident { time_ns: self.now_ns, group, member, what });
    }

    /// Puts a spare in the place of a failed member, if there is one, and begins to rebuild.
    fn replace(&mut self, number: u16, member: u16) {
        let drives = &self.drives;
        let group = &mut self.groups[usize::from(number)];
        let sectors_of = |drive: u16| drives[usize::from(drive)].device.sectors();
        let Some(drive) = self.faults.spares.take(number, group.geometry.member_sectors(), sectors_of) else { return };
        group.drives[usize::from(member)] = drive;
        group.members.replace(member);
        let rebuilding = Rebuilding {
            group: number,
            rebuild: Rebuild::new(member, group.chunk_sectors, &group.geometry),
            chunks: VecDeque::with_capacity(CHUNKS_MAX),
            spare: Vec::with_capacity(CHUNKS_MAX),
            throttle: group.throttle,
            began_ns: None,
            ended: false,
        };
        self.faults.rebuilds.push(rebuilding);
        self.note(number, member, What::Replaced);
        self.calendar.add(self.now_ns, Event::Rebuild, self.faults.rebuilds.len() as u32 - 1);
    }

    /// The next chunk of a rebuild, unless enough are under way, or requests or its pace hold it up.
    pub(super) fn rebuild(&mut self, number: u32) {
        let found = &mut self.faults.rebuilds[number as usize];
        if found.ended || found.chunks.len() == CHUNKS_MAX {
            return;
        }
        let group = &mut self.groups[usize::from(found.group)];
        let idle_ns =
            if found.throttle.waits_for_idle() { found.throttle.idle_from_ns(group.last_request_ns) } else { 0 };
        let due_ns = found.began_ns.map_or(0, |began_ns| found.throttle.paced_ns(began_ns)).max(idle_ns);
        if due_ns > self.now_ns {
            self.calendar.add(due_ns, Event::Rebuild, number);
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
        found.began_ns = Some(self.now_ns);
        found.chunks.push_back(Chunk { operation, plan, began_ns: self.now_ns, done: false });
        let has_room = found.chunks.len() < CHUNKS_MAX;
        if self.groups[usize::from(place)].locks.acquire(operation, &[rows]) {
            self.start_chunk(operation);
        }
        if has_room {
            self.calendar.add(self.now_ns, Event::Rebuild, number);
        }
    }

    /// A chunk has its rows: its reads, then its write.
    pub(super) fn start_chunk(&mut self, operation: u32) {
        let owner = self.operations[operation].owner as usize;
        let of_it = |chunk: &Chunk| chunk.operation == operation;
        let Some(place) = self.faults.rebuilds[owner].chunks.iter().position(of_it) else { return };
        let plan = std::mem::take(&mut self.faults.rebuilds[owner].chunks[place].plan);
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
        let (place, member) = (found.group, found.rebuild.device());
        let group = &mut self.groups[usize::from(place)];
        group.members.rebuilt(member, plan.write.end(), &group.geometry);
        if group.members.state(member) == MemberState::Present {
            found.ended = true;
            self.note(place, member, What::Rebuilt);
            return;
        }
        let next_ns = found.throttle.next_ns(began_ns, self.now_ns);
        self.calendar.add(next_ns, Event::Rebuild, owner);
    }
}
