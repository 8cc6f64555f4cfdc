//! A whole array in virtual time: requests go in, completions come out, components say what they did.
//!
//! Model: a request passes the host, is divided over volumes and groups into *jobs*, each of which its controller takes in;
//! what the cache cannot answer becomes *operations* of RAID groups (fetches, writes, destages, rebuilds), and those become
//! *commands* to devices. Queues with an order of their own (devices, row locks, room in a cache) are driven by events;
//! stations and links by the instant at which they are free again. What happens is a function of specification, seed and
//! requests alone.
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
mod commands;
mod copying;
mod destage;
mod faults;
mod flushes;
mod further;
mod gathering;
mod host;
mod incidents;
mod jobs;
mod operations;
mod precedence;
mod replacing;
mod report;
mod trims;

use plimsoll_workload::Op;

use crate::cache::read_ahead::ReadAhead;
use crate::calendar::{Calendar, Event};
use crate::controller::Controller;
use crate::device::Device;
use crate::link::Link;
use crate::raid::{Extent, Gaps, Geometry, Members, Piece, RowLocks, Throttle, WritePlan};
use crate::slab::{NONE, Slab};
use crate::station::Account;
use crate::volume::{Share, Target, Volume};
use copying::CopyBack;
use faults::Faults;
use further::Stretches;
use gathering::Gathering;
use host::Host;
pub use incidents::{Incident, Rebuilt, What};
use precedence::{Precedence, Rank};

/// What is asked of the array, at an address of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read, write, trim or flush.
    pub op: Op,
    /// First sector; 0 for a flush.
    pub lba: u64,
    /// Length; 0 for a flush.
    pub sectors: u32,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// As submitted.
    pub token: u32,
    /// When.
    pub completed_ns: u64,
    /// Whether data were lost that it needed.
    pub failed: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Array {
    now_ns: u64,
    calendar: Calendar,
    host: Host,
    links: Vec<Link>,
    controllers: Vec<Controller>,
    has_cache: bool,
    groups: Vec<Group>,
    drives: Vec<Drive>,
    volumes: Vec<Volume>,
    target: Target,
    /// By volume; empty where nothing is read ahead.
    read_ahead: Vec<Option<ReadAhead>>,
    requests: Slab<Pending>,
    jobs: Slab<Job>,
    operations: Slab<Operation>,
    commands: Slab<Issued>,
    waiters: Slab<Waiter>,
    further: Stretches,
    faults: Faults,
    finished: Vec<Completion>,
    names: report::Names,
    scratch: Scratch,
}

/// Memory that is used again.
#[derive(Debug, Default)]
struct Scratch {
    shares: Vec<Share>,
    pieces: Vec<Piece>,
    plan: WritePlan,
    waits: Vec<u32>,
    page_waits: Vec<u32>,
    stretches: Vec<Extent>,
    page_stretches: Vec<Extent>,
    together: Vec<Extent>,
    granted: Vec<u32>,
}

/// A RAID group at work.
#[derive(Debug)]
struct Group {
    geometry: Geometry,
    /// What destages do with the gaps between dirty stretches of a strip.
    gaps: Gaps,
    members: Members,
    locks: RowLocks,
    gathering: Gathering,
    /// The drive that stands for each member; while members are copied back, behind them the new drive of each.
    drives: Vec<u16>,
    /// The members' own drives, if what a spare has taken over is copied back to them.
    own: Option<Vec<u16>>,
    copies: Vec<CopyBack>,
    controller: u16,
    /// Its place among the controller's groups.
    space: u32,
    /// The step, pace and priority of its rebuilds.
    chunk_sectors: u32,
    throttle: Throttle,
    /// Jobs on their way or under way, and when the last of them ended.
    jobs: u32,
    last_request_ns: u64,
    /// Operations under way but for those of rebuilds, and reads past the cache that need none.
    operations: u32,
    /// When the last of them ended.
    rested_ns: u64,
}

/// A device with what leads to it.
#[derive(Debug)]
struct Drive {
    device: Device,
    path: Vec<u16>,
    account: Account,
    precedence: Precedence,
    /// Where the last command that its controller made for it ends.
    sent_lba: u64,
}

/// Who wants a request done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The user.
    Asked,
    /// The page cache, to fetch.
    PageFetch,
    /// The page cache, to write out.
    PageWrite,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    token: u32,
    purpose: Purpose,
    request: Request,
    /// Jobs, or fetches of the page cache, that it waits for.
    left: u32,
    failed: bool,
    /// Requests that wait for it (of a page fetch), or the one behind it in a line.
    next: u32,
    /// Of the page cache's own: the piece that is under way.
    piece: Stretch,
}

/// A piece of a request: sectors before it, and its own.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    offset: u32,
    sectors: u32,
}

/// A request's part at one group.
#[derive(Clone, Copy, Debug)]
struct Job {
    request: u32,
    op: Op,
    share: Share,
    group: u16,
    /// Operations it waits for.
    left: u32,
    failed: bool,
    /// When what it waited for has come.
    ready_ns: u64,
    /// The one behind it in a line.
    next: u32,
}

/// What a RAID operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Data for those who wait, and for the cache.
    Fetch,
    /// A job's write past the cache.
    Write,
    /// Dirty pages to the devices.
    Destage,
    /// A chunk of a rebuild.
    Rebuild,
    /// A job's trim.
    Trim,
    /// A job's flush.
    Flush,
}

/// A RAID operation under way.
#[derive(Clone, Copy, Debug)]
struct Operation {
    kind: Kind,
    group: u16,
    extent: Extent,
    /// Of a destage, the list of its further stretches.
    further: u32,
    /// Commands it waits for.
    left: u32,
    failed: bool,
    /// When the last data it waited for have come.
    ready_ns: u64,
    /// Time between its phases, or after the last.
    xor_ns: u64,
    /// First command of its second phase.
    second: u32,
    /// First of those who wait for it.
    waiters: u32,
    /// The rebuild that it belongs to.
    owner: u32,
    /// Of a fetch for the cache, where one of its pages is.
    page: u32,
}

/// Marks a command that is all of a job's read past the cache, which needs no operation, instead of one of an operation.
const OF_JOB: u32 = 1 << 31;

/// A command to a device.
#[derive(Clone, Copy, Debug)]
struct Issued {
    /// The operation, or the job with [`OF_JOB`].
    owner: u32,
    drive: u16,
    controller: u16,
    write: bool,
    rank: Rank,
    sectors: u32,
    lba: u64,
    offered_ns: u64,
    next: u32,
}

impl Pending {
    const BLANK: Self = Self {
        token: 0,
        purpose: Purpose::Asked,
        request: Request { op: Op::Flush, lba: 0, sectors: 0 },
        left: 0,
        failed: false,
        next: NONE,
        piece: Stretch { offset: 0, sectors: 0 },
    };
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
}

impl Operation {
    const BLANK: Self = Self {
        kind: Kind::Fetch,
        group: 0,
        extent: Extent { lba: 0, sectors: 0 },
        further: NONE,
        left: 0,
        failed: false,
        ready_ns: 0,
        xor_ns: 0,
        second: NONE,
        waiters: NONE,
        owner: NONE,
        page: NONE,
    };
}

impl Issued {
    const BLANK: Self = Self {
        owner: NONE,
        drive: 0,
        controller: 0,
        write: false,
        rank: Rank::Other,
        sectors: 0,
        lba: 0,
        offered_ns: 0,
        next: NONE,
    };
}

/// Who waits for an operation (a job) or a page fetch (a request).
#[derive(Clone, Copy, Debug)]
struct Waiter {
    who: u32,
    next: u32,
}

impl Array {
    /// Sectors of the target.
    pub const fn sectors(&self) -> u64 {
        self.target.sectors
    }

    /// The instant that the array has come to.
    pub const fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Whether some controller has a cache, whose tables are larger than what is near the processor.
    #[inline]
    pub const fn has_cache(&self) -> bool {
        self.has_cache
    }

    /// A request at a sector of the target will probably come soon.
    #[inline]
    pub fn expect(&self, lba: u64) {
        if let Some(share) = self.target.whole(&self.volumes, Extent { lba, sectors: 1 }, 1) {
            let group = &self.groups[usize::from(share.group)];
            if let Some(cache) = &self.controllers[usize::from(group.controller)].cache {
                cache.expect(group.space, share.extent.lba, false);
            }
        }
    }

    /// Takes a request at `now_ns`, which is no earlier than any instant before.
    #[inline]
    pub fn submit(&mut self, now_ns: u64, token: u32, request: Request) {
        self.now_ns = self.now_ns.max(now_ns);
        let pending = Pending { token, request, ..Pending::BLANK };
        let number = self.requests.insert(pending);
        let moved_sectors = if request.op == Op::Trim { 0 } else { request.sectors };
        let done_ns = self.host.take(self.now_ns, moved_sectors);
        if done_ns > self.now_ns {
            self.calendar.add(done_ns, Event::HostDone, number);
        } else {
            self.enter_host(number);
        }
    }

    /// When something happens next, or has happened and was not fetched.
    pub fn next_ns(&self) -> Option<u64> {
        if self.finished.is_empty() { self.calendar.next_ns() } else { Some(self.now_ns) }
    }

    /// Lets time pass until the first completions or to `until_ns`, whichever comes first; appends completions.
    #[inline]
    pub fn run_until(&mut self, until_ns: u64, done: &mut Vec<Completion>) {
        let mut limit_ns = until_ns;
        loop {
            if !self.finished.is_empty() {
                limit_ns = until_ns.min(self.now_ns);
            }
            let Some((time_ns, event, index)) = self.calendar.pop_until(limit_ns) else { break };
            debug_assert!(time_ns >= self.now_ns, "{event:?} at {time_ns} lies before {}", self.now_ns);
            self.now_ns = time_ns;
            self.carry_out(event, index);
        }
        if self.finished.is_empty() {
            if until_ns != u64::MAX {
                self.now_ns = self.now_ns.max(until_ns);
            }
        } else if done.is_empty() {
            std::mem::swap(done, &mut self.finished);
        } else {
            done.append(&mut self.finished);
        }
    }

    /// Carries out an event.
    #[inline]
    fn carry_out(&mut self, event: Event, index: u32) {
        match event {
            Event::HostDone => self.leave_processor(index),
            Event::JobReady => self.enter_controller(index),
            Event::JobData => self.write_job(index),
            Event::JobDone => self.finish_job(index),
            Event::DeviceOffer => self.arrive(index),
            Event::DeviceFinish => self.finish_command(index),
            Event::DeviceInternal => self.finish_internal(index),
            Event::DeviceTrimmed => self.finish_trim(index),
            Event::SecondPhase => self.second_phase(index),
            Event::CacheIdle => self.cache_idle(index),
            Event::PageCacheIdle => self.page_cache_idle(),
            Event::Failure => self.fail(),
            Event::Rebuild => self.rebuild(index),
            Event::Replacement => self.drive_comes(index),
        }
    }

    /// Places for all of these that were ever needed at once: what memory follows.
    pub const fn places(&self) -> usize {
        let asked = self.requests.most() + self.jobs.most();
        asked + self.operations.most() + self.commands.most() + self.waiters.most() + self.further.most()
    }

    /// Requests, jobs, operations and commands that are under way.
    pub const fn under_way(&self) -> usize {
        self.requests.len() + self.jobs.len() + self.operations.len() + self.commands.len()
    }
}
