//! A job at its controller: taken in, answered from the cache or by operations of its group, and answered to the host.

use plimsoll_workload::Op;

use super::operations::{Operations, Outcome, read_early};
use super::topology::Topology;
use crate::cache::Cache;
use crate::cache::read_ahead::{Asked, ReadAhead};
use crate::calendar::Event;
use crate::link::{Direction, Transfer, carry};
use crate::raid::Extent;
use crate::slab::{NONE, Slab};
use crate::volume::Share;

/// A request's part at one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) request: u32,
    pub(super) op: Op,
    pub(super) share: Share,
    pub(super) group: u16,
    /// Operations it waits for.
    left: u32,
    pub(super) failed: bool,
    /// When what it waited for has come.
    ready_ns: u64,
    /// The one behind it in a line.
    next: u32,
}

impl Job {
    const BLANK: Self = Self {
        request: NONE,
        op: Op::Flush,
        share: Share { volume: 0, stretch: 0, group: 0, extent: Extent { lba: 0, sectors: 0 } },
        group: 0,
        left: 0,
        failed: false,
        ready_ns: 0,
        next: NONE,
    };

    /// Not sent yet.
    #[inline(always)] // a share that goes through memory would be read before its parts are written
    pub(super) const fn new(request: u32, op: Op, share: Share) -> Self {
        Self { request, op, share, group: share.group, left: 0, failed: false, ready_ns: 0, next: NONE }
    }
}

/// A job that waits for an operation.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    job: u32,
    next: u32,
}

/// All jobs that are under way.
#[derive(Debug)]
pub(super) struct Jobs {
    jobs: Slab<Job>,
    waiters: Slab<Waiter>,
    /// Those of them that do not read.
    others: u32,
    /// Those of them for which an event says when their controller has taken them in.
    being_taken_in: u32,
    /// By volume; empty where nothing is read ahead.
    read_ahead: Vec<Option<ReadAhead>>,
    /// Memory that is used again.
    waits: Vec<u32>,
}

impl Jobs {
    pub(super) fn new(read_ahead: Vec<Option<ReadAhead>>) -> Self {
        let waiter = Waiter { job: NONE, next: NONE };
        Self {
            jobs: Slab::new(Job::BLANK),
            waiters: Slab::new(waiter),
            others: 0,
            being_taken_in: 0,
            read_ahead,
            waits: Vec::new(),
        }
    }

    /// How many events say when a controller has taken a job in.
    #[cfg(test)]
    pub(super) const fn being_taken_in(&self) -> u32 {
        self.being_taken_in
    }

    /// Jobs that are under way.
    pub(super) const fn under_way(&self) -> usize {
        self.jobs.len()
    }

    /// Places for all that were ever needed at once.
    pub(super) const fn places(&self) -> usize {
        self.jobs.most() + self.waiters.most()
    }

    /// A job sets off, as soon as the limit of its volume lets it in.
    #[inline(always)]
    pub(super) fn send(&mut self, operations: &mut Operations, topology: &mut Topology, job: Job) {
        let number = self.jobs.insert(job);
        self.others += u32::from(job.op != Op::Read);
        let is_limited = topology.volumes[usize::from(job.share.volume)].limit.is_some();
        if is_limited && matches!(job.op, Op::Read | Op::Write) {
            self.ask_limit(operations, topology, number);
        } else {
            self.set_off(operations, topology, number);
        }
    }

    #[cold]
    fn ask_limit(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        let Job { share, .. } = self.jobs[number];
        let Some(limit) = &mut topology.volumes[usize::from(share.volume)].limit else { return };
        let admitted_ns = limit.admit(topology.now_ns, u64::from(share.extent.sectors) * 512);
        if admitted_ns > topology.now_ns {
            topology.calendar.add(admitted_ns, Event::JobAdmitted, number);
        } else {
            self.set_off(operations, topology, number);
        }
    }

    /// A read sets off at an instant to come, if nobody is before it and what comes of it is known by then; whether it did.
    #[inline(always)]
    pub(super) fn send_early(
        &mut self,
        operations: &mut Operations,
        (topology, at_ns): (&mut Topology, u64),
        job: Job,
    ) -> bool {
        if !self.foresees(topology, job.group) {
            return false;
        }
        let number = self.jobs.insert(job);
        let now_ns = std::mem::replace(&mut topology.now_ns, at_ns);
        let ready_ns = self.take_in(topology, number);
        self.reads_by(operations, topology, number, ready_ns);
        topology.now_ns = now_ns;
        true
    }

    /// First the controller's processor takes a job in.
    #[inline(always)]
    pub(super) fn set_off(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        let ready_ns = self.take_in(topology, number);
        if ready_ns <= topology.now_ns {
            self.enter_controller(operations, topology, number);
            return;
        }
        let Job { op, group, .. } = self.jobs[number];
        if op == Op::Read && self.foresees(topology, group) {
            self.reads_by(operations, topology, number, ready_ns);
        } else {
            self.end_intake_later(topology, number, ready_ns);
        }
    }

    /// A job goes to its controller; when its processor has taken it in.
    #[inline(always)]
    fn take_in(&self, topology: &mut Topology, number: u32) -> u64 {
        let job = self.jobs[number];
        let group = &mut topology.groups[usize::from(job.group)];
        let controller = &mut topology.controllers[usize::from(group.controller)];
        if let Some(cache) = &controller.cache {
            cache.expect(group.space, job.share.extent.lba, job.op == Op::Write);
        }
        group.jobs += 1;
        group.writes_sent += u64::from(job.op == Op::Write);
        let sectors = if matches!(job.op, Op::Flush | Op::Trim) { 0 } else { job.share.extent.sectors };
        controller.cpu.account.bytes += u64::from(sectors) * 512;
        let service_ns = controller.intake_ns(sectors, job.op == Op::Write);
        controller.cpu.visit(topology.now_ns, service_ns)
    }

    /// An event says when a controller has taken a job in.
    #[inline(always)]
    fn end_intake_later(&mut self, topology: &mut Topology, number: u32, ready_ns: u64) {
        self.being_taken_in += 1;
        topology.calendar.add(ready_ns, Event::JobReady, number);
    }

    /// Whether nothing can come to a group's devices, or to its controller, before a read that is sent now.
    #[inline(always)]
    fn foresees(&self, topology: &Topology, group: u16) -> bool {
        topology.groups[usize::from(group)].foreseen && self.others == 0 && self.being_taken_in == 0
    }

    /// Sends a read to its device before its controller has taken it in, which is at `ready_ns`, if what comes of it is known already;
    /// otherwise an event does then.
    #[inline(always)]
    fn reads_by(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32, ready_ns: u64) {
        let Job { group, share: Share { extent, .. }, .. } = self.jobs[number];
        if read_early(operations, (topology, ready_ns), number, (group, extent)) {
            self.jobs[number].left = 1;
        } else {
            self.end_intake_later(topology, number, ready_ns);
        }
    }

    /// A controller has taken a job in, at the instant that an event said.
    #[inline]
    pub(super) fn end_intake(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        self.being_taken_in -= 1;
        self.enter_controller(operations, topology, number);
    }

    /// A controller has taken a job in.
    #[inline]
    fn enter_controller(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        let Job { op, group, .. } = self.jobs[number];
        topology.touch_cache(group);
        match op {
            Op::Read => self.read(operations, topology, number),
            Op::Write => {
                let arrived_ns = self.over_host_links(topology, number, topology.now_ns, Direction::Down);
                if arrived_ns > topology.now_ns {
                    topology.calendar.add(arrived_ns, Event::JobData, number);
                } else {
                    self.write(operations, topology, number);
                }
            }
            Op::Trim => self.trim(operations, topology, number),
            Op::Flush => self.flush(operations, topology, number),
        }
    }

    #[inline(always)]
    fn over_host_links(&self, topology: &mut Topology, number: u32, ready_ns: u64, direction: Direction) -> u64 {
        let share = &self.jobs[number].share;
        let path = &topology.volumes[usize::from(share.volume)].path;
        let bytes = u64::from(share.extent.sectors) * 512;
        carry(&mut topology.links, path, Transfer { now_ns: topology.now_ns, ready_ns, bytes, direction })
    }

    #[inline(always)]
    fn read(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        let Job { group, share: Share { extent, .. }, .. } = self.jobs[number];
        let controller = topology.groups[usize::from(group)].controller;
        if topology.controllers[usize::from(controller)].cache.is_some() {
            self.read_through_cache(operations, topology, number);
        } else if let Some(fetch) = operations.read_for(topology, number, group, extent) {
            self.wait_for(operations, number, fetch);
            operations.start_pieces_of_fetch(topology, fetch);
        } else {
            self.jobs[number].left = 1;
        }
    }

    /// Of a controller that has a cache.
    fn read_through_cache(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        let Job { group: on, share: Share { extent, .. }, .. } = self.jobs[number];
        let group = &topology.groups[usize::from(on)];
        let space = group.space;
        let Some(cache) = &mut topology.controllers[usize::from(group.controller)].cache else { return };
        let mut waits = std::mem::take(&mut self.waits);
        waits.clear();
        let missing = cache.read(space, extent, &mut waits);
        let missed = missing.is_some_and(|missing| cache.lacks(space, missing));
        for &fetch in &waits {
            self.wait_for(operations, number, fetch);
        }
        self.waits = waits;
        let fetch = missing.map(|missing| operations.fetch(topology, (on, missing), Cache::fetch));
        if let Some(fetch) = fetch {
            self.wait_for(operations, number, fetch);
            operations.start_fetch(topology, fetch);
        }
        // What is asked for has the first choice of the room.
        if let Some(ahead) = self.read_ahead(topology, number, missed) {
            let fetch = operations.fetch(topology, (on, ahead), Cache::fetch_ahead);
            operations.start_fetch(topology, fetch);
        }
        if self.jobs[number].left == 0 && fetch.is_none() {
            self.answer(topology, number, topology.now_ns);
        }
    }

    /// What to read ahead after this read: not there yet, and room for it.
    fn read_ahead(&mut self, topology: &Topology, number: u32, missed: bool) -> Option<Extent> {
        let job = &self.jobs[number];
        let detector = self.read_ahead[usize::from(job.share.volume)].as_mut()?;
        let stretch = &topology.volumes[usize::from(job.share.volume)].stretches[usize::from(job.share.stretch)];
        let ahead = detector.observe(Asked { extent: job.share.extent, missed }, stretch.lba + stretch.sectors)?;
        let group = &topology.groups[usize::from(job.group)];
        topology.controllers[usize::from(group.controller)].cache.as_ref()?.ahead(group.space, ahead)
    }

    #[inline(always)]
    fn wait_for(&mut self, operations: &mut Operations, job: u32, operation: u32) {
        let first = operations.first_waiter(operation);
        *first = self.waiters.insert(Waiter { job, next: *first });
        self.jobs[job].left += 1;
    }

    /// The data of a write have arrived.
    pub(super) fn write(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        let Job { group: on, share: Share { extent, .. }, .. } = self.jobs[number];
        let group = &mut topology.groups[usize::from(on)];
        group.writes_arrived += 1;
        let controller = &mut topology.controllers[usize::from(group.controller)];
        match &mut controller.cache {
            Some(cache) if controller.writes_back && cache.fits(extent) => {
                let waiting = &mut controller.destager.waiting;
                if waiting.0 == NONE && cache.has_room(group.space, extent) {
                    self.keep_write(topology, number);
                } else if waiting.0 == NONE {
                    *waiting = (number, number);
                } else {
                    self.jobs[waiting.1].next = number;
                    waiting.1 = number;
                }
                let controller = topology.groups[usize::from(on)].controller;
                operations.destage(topology, controller);
            }
            _ => self.write_past_cache(operations, topology, number),
        }
        operations.start_gathered(topology, on);
    }

    /// A write is not kept: it joins one that it touches, or waits for what is on its way, or begins.
    fn write_past_cache(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        let Job { group, share: Share { extent, .. }, .. } = self.jobs[number];
        topology.forget(group, extent);
        let write = operations.gather(topology, group, extent);
        self.wait_for(operations, number, write);
        let controller = topology.groups[usize::from(group)].controller;
        if topology.controllers[usize::from(controller)].cache.is_none() {
            operations.start(topology, write);
        }
    }

    /// Puts a write that has room into the cache and answers it.
    fn keep_write(&mut self, topology: &mut Topology, number: u32) {
        let Job { group, share: Share { extent, .. }, .. } = self.jobs[number];
        let group = &topology.groups[usize::from(group)];
        let controller = &mut topology.controllers[usize::from(group.controller)];
        if let Some(cache) = &mut controller.cache {
            cache.write(group.space, extent);
        }
        let now_ns = topology.now_ns;
        let bytes = u64::from(extent.sectors) * 512;
        let mut done_ns = now_ns;
        if let Some(memory) = controller.cache_links.memory {
            let kept = Transfer { now_ns, ready_ns: now_ns, bytes, direction: Direction::Down };
            done_ns = carry(&mut topology.links, &[memory], kept);
        }
        if let Some(mirror) = controller.cache_links.mirror {
            let copy = Transfer { now_ns, ready_ns: now_ns, bytes, direction: mirror.direction };
            done_ns = done_ns.max(carry(&mut topology.links, &[mirror.link], copy));
        }
        self.answer(topology, number, done_ns);
    }

    /// Lets those in that wait for room in a controller's cache, in their order, as far as there is some; whether any came in.
    pub(super) fn admit(&mut self, topology: &mut Topology, number: u16) -> bool {
        let mut came_in = false;
        loop {
            let controller = &mut topology.controllers[usize::from(number)];
            let Some(cache) = &mut controller.cache else { return came_in };
            let first = controller.destager.waiting.0;
            if first == NONE {
                return came_in;
            }
            let job = self.jobs[first];
            if !cache.has_room(topology.groups[usize::from(job.group)].space, job.share.extent) {
                return came_in;
            }
            controller.destager.waiting.0 = job.next;
            self.keep_write(topology, first);
            came_in = true;
        }
    }

    /// The controller forgets what it has read of a trim, and ends it when all devices have.
    fn trim(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        let Job { group, share: Share { extent, .. }, .. } = self.jobs[number];
        topology.forget(group, extent);
        match operations.trim(topology, group, extent) {
            Some(trim) => self.wait_for(operations, number, trim),
            None => self.answer(topology, number, topology.now_ns),
        }
    }

    fn flush(&mut self, operations: &mut Operations, topology: &mut Topology, number: u32) {
        let Job { group, share: Share { extent, .. }, .. } = self.jobs[number];
        match operations.flush(topology, group, extent) {
            Some(flush) => self.wait_for(operations, number, flush),
            None => self.answer(topology, number, topology.now_ns),
        }
    }

    /// The one command of a read past the cache has ended.
    #[inline]
    pub(super) fn end_read(&mut self, topology: &mut Topology, number: u32, ready_ns: u64) {
        topology.groups[usize::from(self.jobs[number].group)].rest(topology.now_ns);
        self.ready(topology, number, ready_ns, false);
    }

    /// An operation is over, which all jobs learn that wait for it.
    #[inline(always)]
    pub(super) fn end_operation(&mut self, topology: &mut Topology, outcome: &Outcome) {
        let mut next = outcome.waiters;
        while next != NONE {
            let waiter = self.waiters.remove(next);
            next = waiter.next;
            self.ready(topology, waiter.job, outcome.ready_ns, outcome.failed);
        }
    }

    /// Something that a job waited for has come at `ready_ns`.
    #[inline]
    fn ready(&mut self, topology: &mut Topology, number: u32, ready_ns: u64, failed: bool) {
        let job = &mut self.jobs[number];
        job.left -= 1;
        job.failed |= failed;
        job.ready_ns = job.ready_ns.max(ready_ns);
        if job.left == 0 {
            let ready_ns = job.ready_ns;
            self.answer(topology, number, ready_ns);
        }
    }

    /// A job's answer is ready at `ready_ns` and goes to the host.
    #[inline]
    fn answer(&self, topology: &mut Topology, number: u32, ready_ns: u64) {
        let ready_ns = ready_ns.max(topology.now_ns);
        let done_ns = match self.jobs[number].op {
            Op::Read => self.over_host_links(topology, number, ready_ns, Direction::Up),
            Op::Write | Op::Trim | Op::Flush => ready_ns,
        };
        // An event even if it is due now: nothing ends inside of what began it.
        topology.calendar.add(done_ns, Event::JobDone, number);
    }

    /// A job's answer has reached the host; the job, which is no more.
    #[inline]
    pub(super) fn finish(&mut self, topology: &mut Topology, number: u32) -> Job {
        let job = self.jobs.remove(number);
        self.others -= u32::from(job.op != Op::Read);
        let group = &mut topology.groups[usize::from(job.group)];
        group.jobs -= 1;
        group.last_request_ns = topology.now_ns;
        job
    }
}
