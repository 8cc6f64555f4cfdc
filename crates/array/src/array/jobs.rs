//! A job at its controller: taken in, answered from the cache or by operations of its group, and answered to the host.

use plimsoll_workload::Op;

use super::{Array, Job, Kind, Operation, Waiter};
use crate::calendar::Event;
use crate::link::{Direction, Transfer, carry};
use crate::raid::Extent;
use crate::slab::NONE;
use crate::volume::Share;

impl Array {
    /// A job sets off: first its controller's processor takes it in.
    #[inline(always)]
    pub(super) fn send_job(&mut self, job: Job) {
        let number = self.jobs.insert(job);
        let group = &self.groups[usize::from(job.group)];
        let controller = &mut self.controllers[usize::from(group.controller)];
        if let Some(cache) = &controller.cache {
            cache.expect(group.space, job.share.extent.lba, job.op == Op::Write);
        }
        let group = &mut self.groups[usize::from(job.group)];
        group.jobs += 1;
        group.gathering.sent += u64::from(job.op == Op::Write);
        let sectors = if matches!(job.op, Op::Flush | Op::Trim) { 0 } else { job.share.extent.sectors };
        controller.cpu.account.bytes += u64::from(sectors) * 512;
        let service_ns = controller.intake_ns(sectors);
        let ready_ns = controller.cpu.visit(self.now_ns, service_ns);
        if ready_ns > self.now_ns {
            self.calendar.add(ready_ns, Event::JobReady, number);
        } else {
            self.enter_controller(number);
        }
    }

    /// A controller has taken a job in.
    #[inline]
    pub(super) fn enter_controller(&mut self, number: u32) {
        let Job { op, group, .. } = self.jobs[number];
        self.touch_cache(group);
        match op {
            Op::Read => self.read_job(number),
            Op::Write => {
                let arrived_ns = self.over_host_links(number, self.now_ns, Direction::Down);
                if arrived_ns > self.now_ns {
                    self.calendar.add(arrived_ns, Event::JobData, number);
                } else {
                    self.write_job(number);
                }
            }
            Op::Trim => self.trim_job(number),
            Op::Flush => self.flush_job(number),
        }
    }

    #[inline(always)]
    fn over_host_links(&mut self, number: u32, ready_ns: u64, direction: Direction) -> u64 {
        let share = &self.jobs[number].share;
        let path = &self.volumes[usize::from(share.volume)].path;
        let bytes = u64::from(share.extent.sectors) * 512;
        carry(&mut self.links, path, Transfer { now_ns: self.now_ns, ready_ns, bytes, direction })
    }

    #[inline(always)]
    fn read_job(&mut self, number: u32) {
        let Job { group, share: Share { extent, .. }, .. } = self.jobs[number];
        let controller = self.groups[usize::from(group)].controller;
        if self.controllers[usize::from(controller)].cache.is_some() {
            self.read_through_cache(number);
        } else {
            self.read_past_cache(number, group, extent);
        }
    }

    /// Of a controller that has a cache.
    fn read_through_cache(&mut self, number: u32) {
        let Job { group: on, share: Share { extent, .. }, .. } = self.jobs[number];
        let group = &self.groups[usize::from(on)];
        let space = group.space;
        let Some(cache) = &mut self.controllers[usize::from(group.controller)].cache else { return };
        let mut waits = std::mem::take(&mut self.scratch.waits);
        waits.clear();
        let missing = cache.read(space, extent, &mut waits);
        for &fetch in &waits {
            self.wait_for(number, fetch);
        }
        self.scratch.waits = waits;
        let fetch = missing.map(|missing| self.fetch(on, missing));
        if let Some(fetch) = fetch {
            self.wait_for(number, fetch);
            self.start_fetch(fetch);
        }
        // What is asked for has the first choice of the room.
        if let Some(ahead) = self.read_ahead(number) {
            let fetch = self.fetch(on, ahead);
            self.start_fetch(fetch);
        }
        if self.jobs[number].left == 0 && fetch.is_none() {
            self.answer(number, self.now_ns);
        }
    }

    /// What to read ahead after this read: not there yet, and room for it.
    fn read_ahead(&mut self, number: u32) -> Option<Extent> {
        let job = &self.jobs[number];
        let detector = self.read_ahead[usize::from(job.share.volume)].as_mut()?;
        let stretch = &self.volumes[usize::from(job.share.volume)].stretches[usize::from(job.share.stretch)];
        let ahead = detector.observe(job.share.extent, stretch.lba + stretch.sectors)?;
        let group = &self.groups[usize::from(job.group)];
        self.controllers[usize::from(group.controller)].cache.as_ref()?.ahead(group.space, ahead)
    }

    /// A fetch that the cache knows of; not started.
    fn fetch(&mut self, group: u16, extent: Extent) -> u32 {
        let number = self.new_operation(Kind::Fetch, group, extent);
        let group = &self.groups[usize::from(group)];
        if let Some(cache) = &mut self.controllers[usize::from(group.controller)].cache {
            self.operations[number].page = cache.fetch(group.space, extent, number);
        }
        number
    }

    #[inline]
    pub(super) fn new_operation(&mut self, kind: Kind, group: u16, extent: Extent) -> u32 {
        self.groups[usize::from(group)].operations += u32::from(kind != Kind::Rebuild);
        self.operations.insert(Operation {
            kind,
            group,
            extent,
            further: NONE,
            left: 0,
            failed: false,
            ready_ns: self.now_ns,
            xor_ns: 0,
            second: NONE,
            waiters: NONE,
            owner: NONE,
            page: NONE,
        })
    }

    #[inline(always)]
    pub(super) fn wait_for(&mut self, job: u32, operation: u32) {
        let next = self.operations[operation].waiters;
        self.operations[operation].waiters = self.waiters.insert(Waiter { who: job, next });
        self.jobs[job].left += 1;
    }

    /// The data of a write have arrived.
    pub(super) fn write_job(&mut self, number: u32) {
        let Job { group: on, share: Share { extent, .. }, .. } = self.jobs[number];
        let group = &mut self.groups[usize::from(on)];
        group.gathering.arrived += 1;
        let controller = &mut self.controllers[usize::from(group.controller)];
        match &mut controller.cache {
            Some(cache) if controller.writes_back && cache.fits(extent) => {
                let waiting = &mut controller.destager.waiting;
                if waiting.0 == NONE && cache.has_room(group.space, extent) {
                    self.keep_write(number);
                } else if waiting.0 == NONE {
                    *waiting = (number, number);
                } else {
                    self.jobs[waiting.1].next = number;
                    waiting.1 = number;
                }
                let controller = self.groups[usize::from(on)].controller;
                self.destage(controller);
            }
            _ => {
                self.forget(number);
                self.gather(number);
            }
        }
        self.start_gathered(usize::from(on));
    }

    /// Puts a write that has room into the cache and answers it.
    pub(super) fn keep_write(&mut self, number: u32) {
        let Job { group, share: Share { extent, .. }, .. } = self.jobs[number];
        let group = &self.groups[usize::from(group)];
        let controller = &mut self.controllers[usize::from(group.controller)];
        if let Some(cache) = &mut controller.cache {
            cache.write(group.space, extent);
        }
        let mut done_ns = self.now_ns;
        if let Some(mirror) = controller.mirror {
            let bytes = u64::from(extent.sectors) * 512;
            let copy = Transfer { now_ns: done_ns, ready_ns: done_ns, bytes, direction: mirror.direction };
            done_ns = carry(&mut self.links, &[mirror.link], copy);
        }
        self.answer(number, done_ns);
    }

    pub(super) fn forget(&mut self, number: u32) {
        let job = &self.jobs[number];
        let group = &self.groups[usize::from(job.group)];
        if let Some(cache) = &mut self.controllers[usize::from(group.controller)].cache {
            cache.forget(group.space, job.share.extent);
        }
    }

    /// Something that a job waited for has come at `ready_ns`.
    #[inline]
    pub(super) fn job_ready(&mut self, number: u32, ready_ns: u64, failed: bool) {
        let job = &mut self.jobs[number];
        job.left -= 1;
        job.failed |= failed;
        job.ready_ns = job.ready_ns.max(ready_ns);
        if job.left == 0 {
            let ready_ns = job.ready_ns;
            self.answer(number, ready_ns);
        }
    }

    /// A job's answer is ready at `ready_ns` and goes to the host.
    #[inline]
    pub(super) fn answer(&mut self, number: u32, ready_ns: u64) {
        let ready_ns = ready_ns.max(self.now_ns);
        let done_ns = match self.jobs[number].op {
            Op::Read => self.over_host_links(number, ready_ns, Direction::Up),
            Op::Write | Op::Trim | Op::Flush => ready_ns,
        };
        // An event even if it is due now: nothing ends inside of what began it.
        self.calendar.add(done_ns, Event::JobDone, number);
    }

    /// A job's answer has reached the host.
    #[inline]
    pub(super) fn finish_job(&mut self, number: u32) {
        let Job { request, failed, group, .. } = self.jobs.remove(number);
        let found = &mut self.groups[usize::from(group)];
        found.jobs -= 1;
        found.last_request_ns = self.now_ns;
        if found.jobs == 0 && !self.faults.rebuilds.is_empty() {
            self.group_is_idle(group);
        }
        self.job_done(request, failed);
    }
}
