//! A whole array in virtual time: requests go in, completions come out, components say what they did.
//!
//! Model: the host divides a request over volumes and groups into *jobs*, which a controller takes in. What its cache cannot
//! answer becomes *operations* of RAID groups (fetches, writes, destages, rebuilds), and those become *commands* to devices.
//! Each stage keeps its own work in progress and calls only the stages below it. The storage (`storage.rs`) passes on what has
//! ended, and the array tells the host. Queues with an order of their own (devices, row locks, room in a cache) are driven by
//! events; stations and links by the instant at which they are free again. Where nothing can come before it, a read passes the
//! processors of host and controller without an event of its own. The outcome depends on specification, seed and requests
//! alone.
//!
//! Limits: timing only, no data. Of all components only devices fail.
//!
//! ```no_run
//! use plimsoll_array::{Array, Request, Sourced, spec::ArraySpec};
//! use plimsoll_workload::Op;
//! # let document = serde_json::Value::Null;
//! let Sourced { spec, .. } = ArraySpec::read(&document).unwrap();
//! let mut array = Array::new(&spec, 1).unwrap();
//! array.submit(0, 7, Request { op: Op::Read, lba: 4096, sectors: 16 });
//! let mut done = Vec::new();
//! array.run_until(u64::MAX, &mut done);
//! println!("{} ns", done[0].completed_ns);
//! ```

mod build;
mod faults;
#[cfg(test)]
mod foresight_tests;
mod host;
mod jobs;
mod operations;
mod report;
mod request;
mod storage;
mod topology;
mod volumes;
mod warm;

use std::ops::Range;

use crate::calendar::Event;
use crate::raid::Extent;
pub use faults::{Incident, Rebuilt, What};
use host::Host;
use report::Names;
pub use request::{Completion, Request};
use storage::Storage;

/// See the module.
#[derive(Debug)]
pub struct Array {
    host: Host,
    storage: Storage,
    has_cache: bool,
    names: Names,
}

impl Array {
    /// Sectors of the target.
    pub const fn sectors(&self) -> u64 {
        self.host.target().sectors
    }

    /// The instant that the array has come to.
    pub const fn now_ns(&self) -> u64 {
        self.storage.topology.now_ns
    }

    /// Whether some controller has a cache, whose tables are larger than what is near the processor.
    #[inline]
    pub const fn has_cache(&self) -> bool {
        self.has_cache
    }

    /// A request at a sector of the target will probably come soon.
    #[inline]
    pub fn expect(&self, lba: u64) {
        let topology = &self.storage.topology;
        if let Some(share) = self.host.target().whole(&topology.volumes, Extent { lba, sectors: 1 }, 1) {
            let group = &topology.groups[usize::from(share.group)];
            if let Some(cache) = &topology.controllers[usize::from(group.controller)].cache {
                cache.expect(group.space, share.extent.lba, false);
            }
        }
    }

    /// Flash caches that begin warm hold what a load that has gone on for long leaves of these sectors of the target: as much from every
    /// part of them, and no part used later than another.
    pub fn warm(&mut self, addressed: &[Range<u64>]) {
        let topology = &mut self.storage.topology;
        let caches = topology.groups.iter().filter_map(|group| group.flash_cache.as_ref());
        let warm: Vec<u32> =
            caches.filter(|cache| cache.shape().warm).map(|cache| cache.shape().extent_sectors).collect();
        let Some(&step) = warm.iter().min() else { return };
        let places = warm::places(addressed, step.into());
        for lba in places {
            if topology.groups.iter().filter_map(|group| group.flash_cache.as_ref()).all(|cache| cache.is_full()) {
                return;
            }
            let extent = Extent { lba, sectors: 1 };
            let Some(share) = self.host.target().whole(&topology.volumes, extent, 1) else { continue };
            if let Some(cache) = &mut topology.groups[usize::from(share.group)].flash_cache
                && cache.shape().warm
            {
                cache.put(share.extent.lba);
            }
        }
    }

    /// The same where all of the target is going to be addressed.
    pub fn warm_all(&mut self) {
        let all = 0..self.sectors();
        self.warm(std::slice::from_ref(&all));
    }

    /// Takes a request at `now_ns`, which is no earlier than any instant before.
    #[inline]
    pub fn submit(&mut self, now_ns: u64, token: u32, request: Request) {
        let topology = &mut self.storage.topology;
        topology.now_ns = topology.now_ns.max(now_ns);
        self.host.submit(&mut self.storage, token, request);
    }

    /// When something happens next, or has happened and was not fetched.
    pub fn next_ns(&self) -> Option<u64> {
        let topology = &self.storage.topology;
        if self.host.has_finished() { Some(topology.now_ns) } else { topology.calendar.next_ns() }
    }

    /// Lets time pass until the first completions or to `until_ns`, whichever comes first; appends completions.
    #[inline]
    pub fn run_until(&mut self, until_ns: u64, done: &mut Vec<Completion>) {
        let mut limit_ns = until_ns;
        loop {
            if self.host.has_finished() {
                limit_ns = until_ns.min(self.now_ns());
            }
            let Some((time_ns, event, index)) = self.storage.topology.calendar.pop_until(limit_ns) else { break };
            debug_assert!(time_ns >= self.now_ns(), "{event:?} at {time_ns} lies before {}", self.now_ns());
            self.storage.topology.now_ns = time_ns;
            self.carry_out(event, index);
        }
        if self.host.has_finished() {
            self.host.fetch_finished(done);
        } else if until_ns != u64::MAX {
            let topology = &mut self.storage.topology;
            topology.now_ns = topology.now_ns.max(until_ns);
        }
    }

    /// Carries out an event.
    #[inline]
    fn carry_out(&mut self, event: Event, index: u32) {
        let Self { host, storage, .. } = self;
        match event {
            Event::HostDone => host.leave_processor(storage, index),
            Event::PageCacheIdle => host.page_cache_idle(storage),
            Event::JobAdmitted => storage.admit_job(index),
            Event::JobReady => storage.enter_controller(index),
            Event::JobData => storage.write(index),
            Event::JobDone => {
                let (request, failed) = storage.finish_job(index);
                host.job_done(storage, request, failed);
            }
            Event::DeviceOffer => storage.arrive(index),
            Event::DeviceFinish => storage.finish_command(index),
            Event::DeviceInternal => storage.topology.finish_internal(index),
            Event::DeviceTrimmed => storage.finish_trim(index),
            Event::SecondPhase => storage.second_phase(index),
            Event::CacheIdle => storage.cache_idle(index),
            Event::Failure => storage.fail(),
            Event::Rebuild => storage.rebuild(index),
            Event::Replacement => storage.drive_comes(index),
        }
    }

    /// Places for all of these that were ever needed at once: what memory follows.
    pub const fn places(&self) -> usize {
        self.host.places() + self.storage.places()
    }

    /// Requests, jobs, operations and commands that are under way.
    pub const fn under_way(&self) -> usize {
        self.host.under_way() + self.storage.under_way()
    }

    /// How far what has not ended of rebuilds and copying back has come.
    pub fn rebuilding(&self) -> impl Iterator<Item = Rebuilt> {
        self.storage.rebuilding()
    }

    /// What has happened to members of groups so far.
    pub fn incidents(&self) -> &[Incident] {
        self.storage.incidents()
    }
}
