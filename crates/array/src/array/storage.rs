//! The storage behind the host: takes jobs, answers them, and decides what the end of one thing means for the others.
//!
//! Model: work goes down from jobs to operations to commands, and a stage calls only what lies below it. What ends goes up, and
//! only here is it known who waits for it. The end of a command may end a phase of an operation, and that the operation. An
//! operation that is over gives its rows to the next, answers jobs, and makes room for destages or a rebuild's next chunk.

use super::faults::{Faults, Incident, Rebuilt};
use super::jobs::{Job, Jobs};
use super::operations::{Ended, Kind, Operations, Outcome, flash_caches};
use super::topology::Topology;
use crate::calendar::Event;

/// See the module.
#[derive(Debug)]
pub(super) struct Storage {
    pub(super) topology: Topology,
    jobs: Jobs,
    operations: Operations,
    faults: Faults,
    /// Memory that is used again.
    granted: Vec<u32>,
}

impl Storage {
    /// At rest, with the failures to come.
    pub(super) fn new(mut topology: Topology, jobs: Jobs, operations: Operations, mut faults: Faults) -> Self {
        faults.expect(&mut topology);
        Self { topology, jobs, operations, faults, granted: Vec::new() }
    }

    /// How many events say when a controller has taken a job in.
    #[cfg(test)]
    pub(super) const fn being_taken_in(&self) -> u32 {
        self.jobs.being_taken_in()
    }

    /// Jobs, operations and commands that are under way.
    pub(super) const fn under_way(&self) -> usize {
        self.jobs.under_way() + self.operations.under_way()
    }

    /// Places for all that were ever needed at once.
    pub(super) const fn places(&self) -> usize {
        self.jobs.places() + self.operations.places()
    }

    /// How far what has not ended of rebuilds and copying back has come.
    pub(super) fn rebuilding(&self) -> impl Iterator<Item = Rebuilt> {
        self.faults.rebuilding(&self.topology.groups)
    }

    /// What has happened to members of groups so far.
    pub(super) fn incidents(&self) -> &[Incident] {
        self.faults.incidents()
    }

    /// The host sends a job.
    #[inline(always)]
    pub(super) fn send(&mut self, job: Job) {
        self.jobs.send(&mut self.operations, &mut self.topology, job);
    }

    /// The host sends a job at an instant to come, if what comes of it is known already; whether it did.
    #[inline(always)]
    pub(super) fn send_early(&mut self, job: Job, at_ns: u64) -> bool {
        self.jobs.send_early(&mut self.operations, (&mut self.topology, at_ns), job)
    }

    /// The limit of its volume lets a job in.
    pub(super) fn admit_job(&mut self, job: u32) {
        self.jobs.set_off(&mut self.operations, &mut self.topology, job);
    }

    /// A controller has taken a job in.
    #[inline]
    pub(super) fn enter_controller(&mut self, job: u32) {
        self.jobs.end_intake(&mut self.operations, &mut self.topology, job);
    }

    /// The data of a write have arrived.
    pub(super) fn write(&mut self, job: u32) {
        self.jobs.write(&mut self.operations, &mut self.topology, job);
    }

    /// A job's answer has reached the host; the request that it is of, and whether it failed.
    #[inline]
    pub(super) fn finish_job(&mut self, job: u32) -> (u32, bool) {
        let Job { request, failed, group, .. } = self.jobs.finish(&mut self.topology, job);
        if self.topology.groups[usize::from(group)].jobs == 0 && self.faults.are_rebuilding() {
            self.faults.group_is_idle(&mut self.topology, group);
        }
        (request, failed)
    }

    /// What a command writes has reached its device.
    pub(super) fn arrive(&mut self, command: u32) {
        self.operations.arrive(&mut self.topology, command);
    }

    /// A device has finished a command.
    #[inline]
    pub(super) fn finish_command(&mut self, number: u32) {
        match self.operations.finish_command(&mut self.topology, number) {
            Ended::Read { job, ready_ns } => self.jobs.end_read(&mut self.topology, job, ready_ns),
            Ended::Phase(operation) => self.end_phase(operation),
            Ended::Nothing => {}
        }
        self.operations.expect_next_end(&self.topology);
    }

    /// A device has carried out a trim.
    pub(super) fn finish_trim(&mut self, number: u32) {
        if let Ended::Phase(operation) = self.operations.finish_trim(&mut self.topology, number) {
            self.end_phase(operation);
        }
    }

    /// The last command of an operation's phase has ended.
    fn end_phase(&mut self, number: u32) {
        if self.operations.end_phase(&mut self.topology, number) {
            self.finish_operation(number);
        }
    }

    /// The second phase of an operation may begin; one that has failed before it held rows is over.
    pub(super) fn second_phase(&mut self, number: u32) {
        if self.operations.get(number).failed {
            self.conclude(number);
        } else if self.operations.second_phase(&mut self.topology, number) {
            self.finish_operation(number);
        }
    }

    /// All commands of an operation have ended.
    #[inline(always)]
    fn finish_operation(&mut self, number: u32) {
        match self.operations.get(number).kind {
            Kind::Rebuild => self.end_chunk(number),
            Kind::Fetch | Kind::Trim | Kind::Flush => self.conclude(number),
            Kind::Fill => {
                flash_caches::end_fill(&self.operations, &mut self.topology, number);
                self.conclude(number);
            }
            Kind::Drain => {
                let group = self.operations.get(number).group;
                flash_caches::end_drain(&self.operations, &mut self.topology, number);
                self.release_rows(number);
                self.conclude(number);
                flash_caches::drain(&mut self.operations, &mut self.topology, group);
            }
            Kind::Write | Kind::Destage => {
                self.release_rows(number);
                self.conclude(number);
            }
        }
    }

    /// Gives the rows of an operation to those that have waited for them.
    fn release_rows(&mut self, number: u32) {
        let mut granted = std::mem::take(&mut self.granted);
        granted.clear();
        let group = self.operations.get(number).group;
        self.topology.groups[usize::from(group)].locks.release(number, &mut granted);
        for &next in &granted {
            self.start_locked(next);
        }
        // What it granted may have released rows, too; the memory that they took is of no use.
        self.granted = granted;
    }

    /// An operation has all its rows.
    fn start_locked(&mut self, number: u32) {
        if self.operations.get(number).kind == Kind::Rebuild {
            self.start_chunk(number);
        } else if self.operations.start_locked(&mut self.topology, number).is_err() {
            self.finish_operation(number);
        }
    }

    /// An operation is over: tells those who wait for it.
    fn conclude(&mut self, number: u32) {
        if self.topology.groups[usize::from(self.operations.get(number).group)].flash_cache.is_some() {
            flash_caches::fill(&mut self.operations, &mut self.topology, number);
        }
        let outcome = self.operations.conclude(&mut self.topology, number);
        self.jobs.end_operation(&mut self.topology, &outcome);
        let Outcome { kind, controller: number, space, counted, .. } = outcome;
        let controller = &mut self.topology.controllers[usize::from(number)];
        if kind == Kind::Destage {
            controller.destager.under_way[space as usize] -= counted;
            self.jobs.admit(&mut self.topology, number);
            self.operations.destage(&mut self.topology, number);
        } else if kind == Kind::Fetch && controller.lacks_pages() && self.jobs.admit(&mut self.topology, number) {
            // The pages of a fetch can be given up when it has ended: the write had waited for nothing else.
            self.operations.destage(&mut self.topology, number);
        }
    }

    /// A device fails.
    pub(super) fn fail(&mut self) {
        self.faults.fail(&mut self.topology);
        // What a flash cache keeps that has lost a copy goes to its group.
        for group in 0..self.topology.groups.len() as u16 {
            if self.topology.groups[usize::from(group)].flash_cache.is_some() {
                flash_caches::drain(&mut self.operations, &mut self.topology, group);
            }
        }
    }

    /// A new drive comes for one that has failed.
    pub(super) fn drive_comes(&mut self, number: u32) {
        self.faults.drive_comes(&mut self.topology, number);
    }

    /// A cache may have been left alone for long enough.
    pub(super) fn cache_idle(&mut self, number: u32) {
        match self.topology.controllers[number as usize].destager.rested(self.topology.now_ns) {
            Some(due_ns) => self.topology.calendar.add(due_ns, Event::CacheIdle, number),
            None => self.operations.destage(&mut self.topology, number as u16),
        }
    }

    /// A rebuild may take its next step.
    pub(super) fn rebuild(&mut self, number: u32) {
        let begun = self.faults.begin_chunk(&mut self.operations, &mut self.topology, number);
        if let Some((operation, has_rows)) = begun {
            if has_rows {
                self.start_chunk(operation);
            }
            self.faults.look_for_another(&mut self.topology, number);
        }
    }

    /// A chunk of a rebuild has its rows.
    fn start_chunk(&mut self, operation: u32) {
        if !self.faults.start_chunk(&mut self.operations, &mut self.topology, operation) {
            self.end_chunk(operation);
        }
    }

    /// A chunk is written, or in vain: its rows are free when all before it is there, too.
    fn end_chunk(&mut self, operation: u32) {
        let rebuild = self.operations.get(operation).rebuild;
        self.faults.chunk_is_done(rebuild, operation);
        while let Some(over) = self.faults.next_done(&mut self.topology, rebuild) {
            self.release_rows(over);
            self.conclude(over);
        }
    }
}
