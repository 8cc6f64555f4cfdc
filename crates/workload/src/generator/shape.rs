//! Courses made of a simpler one: zone by zone, in runs, with trims before writes, with a pointer for each operation.
//!
//! Each wraps the generator of a plan without its own peculiarity, so that they can be combined; plans without any
//! never come here. Going to a request far away costs what the table says.
//!
//! | course | request | cost of seeking |
//! |---|---|---|
//! | zones | of the first zone's generator, moved by the zone's start; each zone begins at its start, a permutation with a new pass | one size, all random and uniform or all sequential: O(requests of a zone); otherwise O(index) |
//! | runs | the first is drawn, the others follow it or repeat it | O(run) |
//! | trims first | 2k trims what 2k + 1 writes | that of the writes |
//! | a pointer for each operation | as the general course, with the pointer of its operation | O(index) |

use super::entry::Entry;
use super::general::Lanes;
use super::size::Extent;
use super::track::Track;
use super::{Generator, Ops};
use crate::plan::{RunPlan, Sequential, StreamPlan, ZonePlan};
use crate::request::{Op, Request};
use crate::rng::mix;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) enum Shaped {
    Zoned(Zoned),
    Runs(Runs),
    TrimFirst { writes: Generator, owed: Option<Request> },
    Apart(Box<Apart>),
}

impl Shaped {
    /// The outermost peculiarity of a plan, if it has any.
    pub(crate) fn new(plan: &StreamPlan, shard: u32) -> Option<Self> {
        let access = &plan.access;
        if access.trims_first {
            return Some(Self::trims_first(Generator::new(&without_trims(plan), shard)));
        }
        if let Some(zones) = access.zones {
            return Some(Self::Zoned(Zoned::new(plan, zones, shard)));
        }
        if access.run.length > 1 {
            return Some(Self::Runs(Runs::new(plan, shard)));
        }
        let apart = access.sequential == Sequential::PerOperation
            && matches!(access.entries.as_slice(), [line] if line.random_percent < 100.0);
        apart.then(|| Self::Apart(Box::new(Apart::new(plan, shard))))
    }

    pub(crate) const fn trims_first(writes: Generator) -> Self {
        Self::TrimFirst { writes, owed: None }
    }

    pub(crate) fn next(&mut self, index: u64) -> Request {
        match self {
            Self::Zoned(zoned) => zoned.next(),
            Self::Runs(runs) => runs.next(index),
            Self::TrimFirst { writes, owed } => match owed.take() {
                Some(write) => Request { delay_ns: 0, ..write },
                None => Request { op: Op::Trim, ..*owed.insert(writes.next()) },
            },
            Self::Apart(apart) => apart.next(index),
        }
    }

    pub(crate) fn seek(&mut self, index: u64) {
        match self {
            Self::Zoned(zoned) => zoned.seek(index),
            Self::Runs(runs) => runs.seek(index),
            Self::TrimFirst { writes, owed } => {
                writes.seek(index / 2);
                *owed = (index % 2 == 1).then(|| writes.next());
            }
            Self::Apart(apart) => apart.seek(index),
        }
    }

    /// As [`Generator::restart`]; zones stand inside of nothing but trims.
    pub(super) fn restart(&mut self) {
        match self {
            Self::Runs(runs) => {
                runs.left = 0;
                runs.starts.restart();
            }
            Self::Apart(apart) => apart.pointers = [apart.origin; 3],
            Self::Zoned(_) | Self::TrimFirst { .. } => unreachable!("a zone is not divided"),
        }
    }
}

/// The plan of the writes alone.
pub(crate) fn without_trims(plan: &StreamPlan) -> StreamPlan {
    let mut writes = plan.clone();
    writes.access.trims_first = false;
    writes
}

/// One zone at a time.
#[derive(Clone, Debug)]
pub(crate) struct Zoned {
    /// Requests of the first zone.
    inner: Generator,
    zones: ZonePlan,
    /// How many whole zones there are.
    count: u64,
    zone: u64,
    /// Bytes transferred in this zone.
    done: u64,
    /// Requests of a zone, if its course is a simple one.
    per_zone: Option<u64>,
}

impl Zoned {
    fn new(plan: &StreamPlan, zones: ZonePlan, shard: u32) -> Self {
        let mut first = plan.clone();
        first.access.zones = None;
        first.region = plan.region.start..plan.region.start + zones.length;
        // Threads go through the zones by themselves: each covers a zone alone and begins at its start.
        first.threads = 1;
        first.seed = mix(plan.seed ^ u64::from(shard).rotate_left(32));
        let count = (plan.region.end - plan.region.start - zones.length) / (zones.length + zones.skip) + 1;
        let inner = Generator::new(&first, 0);
        let per_zone = inner.simple_len().map(|len| zones.amount.div_ceil(len.into()));
        Self { inner, zones, count, zone: 0, done: 0, per_zone }
    }

    fn next(&mut self) -> Request {
        if self.done >= self.zones.amount {
            self.enter((self.zone + 1) % self.count);
        }
        let request = self.inner.next();
        self.done += u64::from(request.len);
        Request { offset: request.offset + self.zone * (self.zones.length + self.zones.skip), ..request }
    }

    fn enter(&mut self, zone: u64) {
        (self.zone, self.done) = (zone, 0);
        self.inner.restart();
    }

    fn seek(&mut self, index: u64) {
        let entered = self.per_zone.map_or(0, |per_zone| index / per_zone);
        let first = entered * self.per_zone.unwrap_or(0);
        self.inner.seek(first);
        self.enter(entered % self.count);
        for _ in first..index {
            self.next();
        }
    }
}

/// Several requests from each random address on.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    /// The first request of each run.
    starts: Generator,
    ops: Ops,
    run: RunPlan,
    /// The region's first aligned byte, and its last at which a request fits.
    bounds: (u64, u64),
    last: Request,
    left: u32,
}

impl Runs {
    fn new(plan: &StreamPlan, shard: u32) -> Self {
        let entry = Entry::new(plan, &plan.access.entries[0]);
        let mut alone = plan.clone();
        alone.access.run = RunPlan::NONE;
        let ops = Ops { mix: entry.mix, draws: Lanes::new(plan.seed, shard).operation };
        let starts = entry.fixed().map_or(1, |size| size.starts);
        let bounds = (entry.blocks.offset(0), entry.blocks.offset(starts - 1));
        let last = Request { offset: 0, len: 0, op: Op::Read, delay_ns: 0 };
        Self { starts: Generator::new(&alone, shard), ops, run: plan.access.run, bounds, last, left: 0 }
    }

    fn next(&mut self, index: u64) -> Request {
        if self.left == 0 {
            self.last = self.starts.next();
            self.left = self.run.length;
        } else if !self.run.repeats {
            let follows = self.last.offset + u64::from(self.last.len);
            self.last.offset = if follows > self.bounds.1 { self.bounds.0 } else { follows };
        }
        self.left -= 1;
        Request { op: self.ops.at(index), ..self.last }
    }

    fn seek(&mut self, index: u64) {
        let length = u64::from(self.run.length);
        self.starts.seek(index / length);
        self.left = 0;
        for earlier in index - index % length..index {
            self.next(earlier);
        }
    }
}

/// Reads, writes and trims that each follow their own kind.
#[derive(Clone, Debug)]
pub(crate) struct Apart {
    lanes: Lanes,
    entry: Entry,
    track: Track,
    origin: u64,
    pointers: [u64; 3],
}

impl Apart {
    fn new(plan: &StreamPlan, shard: u32) -> Self {
        let track = Track::new(plan);
        let origin = track.origin(plan, shard);
        let entry = Entry::new(plan, &plan.access.entries[0]);
        Self { lanes: Lanes::new(plan.seed, shard), entry, track, origin, pointers: [origin; 3] }
    }

    fn next(&mut self, index: u64) -> Request {
        let entry = &self.entry;
        let delay_ns = if index.is_multiple_of(entry.burst.into()) { entry.delay_ns } else { 0 };
        let op = Ops { mix: entry.mix, draws: self.lanes.operation }.at(index);
        if op == Op::Flush {
            return Request { offset: self.track.start(), len: 0, op, delay_ns };
        }
        let Extent { len, starts } = entry.sizes[op as usize].pick(|| self.lanes.size.at(index), &entry.blocks);
        let pointer = &mut self.pointers[op as usize];
        let offset = if entry.random.hit(self.lanes.randomness.at(index)) {
            entry.blocks.offset(entry.placement.block(self.lanes.address.at(index), starts))
        } else {
            self.track.place(*pointer, len, entry.blocks.align)
        };
        *pointer = self.track.after(offset, len);
        Request { offset, len, op, delay_ns }
    }

    fn seek(&mut self, index: u64) {
        self.pointers = [self.origin; 3];
        for earlier in 0..index {
            self.next(earlier);
        }
    }
}
