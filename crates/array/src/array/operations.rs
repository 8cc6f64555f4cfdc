//! RAID operations: planned over a group's members, locked where rows conflict, carried out in one or two phases.

use super::{Array, Drive, Group, Issued, Kind, OF_JOB, Operation, Rank};
use crate::calendar::Event;
use crate::raid::{Extent, Lost, Piece, ReadChoice};
use crate::slab::NONE;

/// Of two copies with equally many commands waiting, the nearer one counts; a distance has the lower bits of the cost.
const DISTANCE_BITS: u32 = 48;
const DISTANCE_MAX: u64 = (1 << DISTANCE_BITS) - 1;

impl Group {
    /// Something that it did but for rebuilding has ended.
    #[inline]
    const fn rest(&mut self, now_ns: u64) {
        self.operations -= 1;
        self.rested_ns = now_ns;
    }

    /// What a copy of a mirror would cost, by which the one that is read is chosen.
    fn cost<'a>(&'a self, drives: &'a [Drive], now_ns: u64) -> impl Fn(u16, u64) -> u64 + 'a {
        let choice = self.geometry.read_choice();
        move |member, lba| {
            let drive = &drives[usize::from(self.drives[usize::from(member)])];
            let device = &drive.device;
            match choice {
                ReadChoice::LeastQueued => {
                    (device.outstanding() as u64) << DISTANCE_BITS | drive.sent_lba.abs_diff(lba).min(DISTANCE_MAX)
                }
                // A busy copy is later by every command before it; positioning alone, or none, would send all to one.
                _ => device.positioning_ns(lba, false, now_ns).max(1) * (device.outstanding() as u64 + 1),
            }
        }
    }
}

impl Array {
    /// Starts an operation; a write that shares rows with others waits for them first.
    pub(super) fn start_operation(&mut self, number: u32) {
        let Operation { kind, group, .. } = self.operations[number];
        if kind == Kind::Fetch {
            self.start_fetch(number);
            return;
        }
        let planned = self.plan_write(number);
        let group = &mut self.groups[usize::from(group)];
        if planned.is_err() {
            self.fail_operation(number);
        } else if group.locks.acquire(number, &self.scratch.plan.rows) {
            self.start_write(number);
        } else if kind == Kind::Write {
            group.gathering.waiting.push(number);
        }
    }

    /// Plans what an operation writes, into the scratch.
    #[inline]
    fn plan_write(&mut self, number: u32) -> Result<(), Lost> {
        let Operation { group, extent, further, .. } = self.operations[number];
        if further != NONE {
            return self.plan_together(number);
        }
        let group = &self.groups[usize::from(group)];
        group.geometry.write(extent, &group.members, &mut self.scratch.plan)
    }

    /// A write has all its rows.
    fn granted(&mut self, number: u32) {
        let Operation { kind, group, .. } = self.operations[number];
        if kind == Kind::Rebuild {
            self.start_chunk(number);
            return;
        }
        let group = &mut self.groups[usize::from(group)];
        group.gathering.waiting.retain(|&waiting| waiting != number);
        match self.plan_write(number) {
            Ok(()) => self.start_write(number),
            Err(_) => self.fail_locked(number),
        }
    }

    /// Starts a fetch; nearly all are one command.
    #[inline]
    pub(super) fn start_fetch(&mut self, number: u32) {
        let Operation { group, extent, .. } = self.operations[number];
        let found = &self.groups[usize::from(group)];
        match found.geometry.read_one(extent, &found.members, found.cost(&self.drives, self.now_ns)) {
            Some(piece) => {
                self.operations[number].left = 1;
                self.issue_piece(number, group, &piece);
            }
            None => self.start_pieces_of_fetch(number),
        }
    }

    #[inline(never)]
    fn start_pieces_of_fetch(&mut self, number: u32) {
        let Operation { group, extent, .. } = self.operations[number];
        let mut pieces = std::mem::take(&mut self.scratch.pieces);
        pieces.clear();
        let found = &self.groups[usize::from(group)];
        let cost = found.cost(&self.drives, self.now_ns);
        match found.geometry.read(extent, &found.members, cost, &mut pieces) {
            Ok(xor_bytes) => {
                let controller = &self.controllers[usize::from(found.controller)];
                let xor_ns = controller.xor_ns(xor_bytes);
                let operation = &mut self.operations[number];
                (operation.left, operation.xor_ns) = (pieces.len() as u32, xor_ns);
                for piece in &pieces {
                    self.issue_piece(number, group, piece);
                }
            }
            Err(_) => self.fail_operation(number),
        }
        self.scratch.pieces = pieces;
    }

    /// Issues what the plan in the scratch says: its reads now and its writes afterwards, or its writes at once.
    fn start_write(&mut self, number: u32) {
        let plan = std::mem::take(&mut self.scratch.plan);
        self.start_pieces(number, &plan.reads, &plan.writes, plan.xor_bytes);
        self.scratch.plan = plan;
    }

    /// Issues reads now and keeps writes for afterwards; issues writes at once if there is nothing to read.
    pub(super) fn start_pieces(&mut self, number: u32, reads: &[Piece], writes: &[Piece], xor_bytes: u64) {
        let group = self.operations[number].group;
        let controller = &self.controllers[usize::from(self.groups[usize::from(group)].controller)];
        let xor_ns = controller.xor_ns(xor_bytes);
        let mut second = NONE;
        if !self.groups[usize::from(group)].copies.is_empty() {
            second = self.prepare_copied(number, group, writes);
        }
        for piece in writes.iter().rev() {
            second = self.prepare(number, group, piece, second);
        }
        let operation = &mut self.operations[number];
        (operation.second, operation.xor_ns, operation.left) = (second, xor_ns, reads.len() as u32);
        operation.ready_ns = self.now_ns;
        for piece in reads {
            self.issue_piece(number, group, piece);
        }
        if reads.is_empty() {
            self.end_phase(number);
        }
    }

    #[inline(always)]
    pub(super) fn prepare(&mut self, owner: u32, group: u16, piece: &Piece, next: u32) -> u32 {
        let group = &self.groups[usize::from(group)];
        debug_assert!(
            piece.write || group.members.serves(piece),
            "{piece:?} is read of a member that does not have it"
        );
        let (controller, drive) = (group.controller, group.drives[usize::from(piece.device)]);
        let Piece { write, lba, sectors, .. } = *piece;
        self.drives[usize::from(drive)].sent_lba = lba + u64::from(sectors);
        let rank = Rank::Other;
        self.commands.insert(Issued { owner, drive, controller, write, rank, sectors, lba, offered_ns: 0, next })
    }

    #[inline]
    fn issue_piece(&mut self, owner: u32, group: u16, piece: &Piece) {
        let command = self.prepare(owner, group, piece, NONE);
        self.issue(command);
    }

    /// Reads past the cache for a job; most such reads are one command, which needs no operation.
    #[inline]
    pub(super) fn read_past_cache(&mut self, job: u32, group: u16, extent: Extent) {
        let found = &self.groups[usize::from(group)];
        if let Some(piece) = found.geometry.read_one(extent, &found.members, found.cost(&self.drives, self.now_ns)) {
            self.jobs[job].left = 1;
            self.groups[usize::from(group)].operations += 1;
            self.issue_piece(job | OF_JOB, group, &piece);
            return;
        }
        let fetch = self.new_operation(Kind::Fetch, group, extent);
        self.wait_for(job, fetch);
        self.start_pieces_of_fetch(fetch);
    }

    /// The one command of a read past the cache has ended.
    #[inline]
    pub(super) fn end_read_past_cache(&mut self, job: u32, ready_ns: u64) {
        self.groups[usize::from(self.jobs[job].group)].rest(self.now_ns);
        self.job_ready(job, ready_ns, false);
    }

    /// The last command of a phase has ended.
    pub(super) fn end_phase(&mut self, number: u32) {
        let Operation { ready_ns, xor_ns, second, .. } = self.operations[number];
        if second == NONE {
            self.finish_operation(number);
            return;
        }
        let begin_ns = ready_ns + xor_ns;
        if begin_ns > self.now_ns {
            self.calendar.add(begin_ns, Event::SecondPhase, number);
        } else {
            self.second_phase(number);
        }
    }

    /// Issues the writes of an operation's second phase.
    pub(super) fn second_phase(&mut self, number: u32) {
        let operation = &mut self.operations[number];
        operation.xor_ns = 0;
        if operation.failed {
            self.conclude(number);
            return;
        }
        let mut next = std::mem::replace(&mut operation.second, NONE);
        let mut count = 0;
        let mut place = next;
        while place != NONE {
            count += 1;
            place = self.commands[place].next;
        }
        self.operations[number].left = count;
        while next != NONE {
            let command = next;
            next = self.commands[command].next;
            self.issue(command);
        }
    }

    /// All commands of an operation have ended.
    #[inline]
    fn finish_operation(&mut self, number: u32) {
        match self.operations[number].kind {
            Kind::Rebuild => self.chunk_done(number),
            Kind::Fetch | Kind::Trim | Kind::Flush => self.conclude(number),
            Kind::Write | Kind::Destage => {
                self.release_rows(number);
                self.conclude(number);
            }
        }
    }

    /// What a chunk of a rebuild has brought counts.
    pub(super) fn end_chunk(&mut self, number: u32) {
        self.release_rows(number);
        self.conclude(number);
    }

    fn release_rows(&mut self, number: u32) {
        let mut granted = std::mem::take(&mut self.scratch.granted);
        granted.clear();
        self.groups[usize::from(self.operations[number].group)].locks.release(number, &mut granted);
        for &next in &granted {
            self.granted(next);
        }
        // Granting may have taken the scratch again; what it left there is of no use.
        self.scratch.granted = granted;
    }

    /// Data are lost that an operation needs, which it learns before it holds rows.
    #[cold]
    fn fail_operation(&mut self, number: u32) {
        self.operations[number].failed = true;
        self.calendar.add(self.now_ns, Event::SecondPhase, number);
    }

    #[cold]
    fn fail_locked(&mut self, number: u32) {
        self.operations[number].failed = true;
        self.finish_operation(number);
    }

    /// An operation is over: tells those who wait for it.
    fn conclude(&mut self, number: u32) {
        let Operation { kind, group, extent, mut further, failed, ready_ns, xor_ns, waiters, page, .. } =
            self.operations.remove(number);
        let ready_ns = (ready_ns + xor_ns).max(self.now_ns);
        let group = &mut self.groups[usize::from(group)];
        if kind != Kind::Rebuild {
            group.rest(self.now_ns);
        }
        let (controller, space) = (group.controller, group.space);
        if let Some(cache) = &mut self.controllers[usize::from(controller)].cache {
            match kind {
                Kind::Fetch => cache.fetched(space, extent, number, page),
                Kind::Destage => {
                    cache.destaged(space, extent);
                    while further != NONE {
                        let (extent, next) = self.further.remove(further);
                        cache.destaged(space, extent);
                        further = next;
                    }
                }
                Kind::Write | Kind::Rebuild | Kind::Trim | Kind::Flush => {}
            }
        }
        let mut next = waiters;
        while next != NONE {
            let waiter = self.waiters.remove(next);
            next = waiter.next;
            self.job_ready(waiter.who, ready_ns, failed);
        }
        if kind == Kind::Destage {
            self.controllers[usize::from(controller)].destager.under_way[space as usize] -= 1;
            self.admit(controller);
            self.destage(controller);
        }
    }
}
