//! The request generator: the endless, seeded, seekable sequence of requests of one thread of a stream.
//!
//! Model (Iometer's, generalised): an access line is drawn per burst; operation, size, randomness and address
//! of each request are drawn independently, every decision from a sequence of its own by the request's index (see
//! [`crate::rng`]). A request is therefore a function of (seed, shard, index) plus, where sequential requests occur,
//! the place the previous request ended at. Threads are *shards*: independent sequences over the same region; only
//! [`Sequential::Shared`] lets them follow one pointer.
//!
//! Cost: simple plans (one line, one size, all random and uniform, or all sequential) are decided once and run on a few
//! instructions per request, everything else on the general course; nothing divides or allocates per request.
//! `examples/request_cost.rs` measures it.
//!
//! Limits: with a shared pointer and several threads, which thread gets which sequential address depends on who asks
//! first; the addresses handed out do not. `next` is not an [`Iterator`], because it never ends.
//!
//! ```
//! use plimsoll_workload::{Generator, TargetShape, Workload};
//! # use serde_json::json;
//! # let file = json!({ "stream": [{ "name": "oltp", "block_size": "8KiB", "read_percent": 70 }] });
//! # let workload = Workload::from_json(&file, "oltp.toml").unwrap();
//! # let plans = workload.resolve(TargetShape { size_bytes: 1 << 30, block_bytes: 512 }, 1).unwrap();
//! let plan = &plans[0]; // of a resolved workload
//! for mut generator in Generator::family(plan) {
//!     generator.seek(1_000_000); // one per thread
//!     let request = generator.next();
//!     assert!(request.len == 8192 && request.offset % 8192 == 0);
//! }
//! ```

mod coverage;
mod entry;
mod general;
mod mix;
mod seek;
mod shape;
mod size;
mod track;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use entry::Entry;
use general::{General, Lanes};
use mix::OpMix;
use shape::{Shaped, without_trims};
use track::{Laps, Track};

use crate::plan::{Distribution, Sequential, StreamPlan};
use crate::request::{Op, Request};
use crate::rng::{Draws, below};

/// The requests of one thread of a stream.
#[derive(Clone, Debug)]
pub struct Generator {
    index: u64,
    course: Course,
}

/// How the next request is found; matched once per request.
#[derive(Clone, Debug)]
enum Course {
    Uniform(Uniform),
    Laps(Lapping),
    Long(Box<Long>),
}

/// The courses that need more than a few instructions; kept apart so that the short ones are found with
/// few comparisons.
#[derive(Clone, Debug)]
enum Long {
    General(General),
    /// With the pause before the last request.
    Shaped(Shaped, u64),
}

impl Long {
    fn next(&mut self, index: u64) -> Request {
        match self {
            Self::General(general) => general.next(index),
            Self::Shaped(shaped, delay_ns) => {
                let request = shaped.next(index);
                *delay_ns = request.delay_ns;
                request
            }
        }
    }

    fn seek(&mut self, index: u64) {
        match self {
            Self::General(general) => general.seek(index),
            Self::Shaped(shaped, _) => shaped.seek(index),
        }
    }

    fn restart(&mut self) {
        match self {
            Self::General(general) => general.restart(),
            Self::Shaped(shaped, _) => shaped.restart(),
        }
    }

    /// Pause before the burst that has just begun.
    fn delay_ns(&self) -> u64 {
        match self {
            Self::General(general) => general.delay_ns(),
            Self::Shaped(_, delay_ns) => *delay_ns,
        }
    }
}

/// One size at uniformly random addresses.
#[derive(Clone, Copy, Debug)]
struct Uniform {
    address: Draws,
    first: u64,
    align: u64,
    starts: u64,
    len: u32,
    ops: Ops,
}

impl Uniform {
    #[inline]
    const fn offset(&self, index: u64) -> u64 {
        self.first + below(self.address.at(index), self.starts) * self.align
    }
}

/// One size, one after another.
#[derive(Clone, Debug)]
struct Lapping {
    laps: Laps,
    len: u32,
    ops: Ops,
}

/// Operations drawn for a simple course.
#[derive(Clone, Copy, Debug)]
struct Ops {
    mix: OpMix,
    draws: Draws,
}

impl Ops {
    #[inline]
    fn at(&self, index: u64) -> Op {
        match self.mix.only {
            Some(op) => op,
            None => self.mix.pick(self.draws.at(index)),
        }
    }
}

impl Generator {
    /// The generators of all threads of a stream, sharing a sequential pointer if the plan says so.
    pub fn family(plan: &StreamPlan) -> Vec<Self> {
        if plan.access.trims_first {
            let trims = |writes| Self { index: 0, course: Course::shaped(Shaped::trims_first(writes)) };
            return Self::family(&without_trims(plan)).into_iter().map(trims).collect();
        }
        let divided = plan.access.zones.is_some() || plan.access.run.length > 1;
        let shares = plan.threads > 1 && plan.access.sequential == Sequential::Shared && !divided;
        let shared = Arc::new(AtomicU64::new(Track::new(plan).origin(plan, 0)));
        let shard = |shard| {
            if !shares {
                return Self::new(plan, shard);
            }
            let mut general = General::new(plan, shard);
            if !general.is_partly_sequential() {
                return Self::new(plan, shard);
            }
            general.share(&shared);
            Self { index: 0, course: Course::general(general) }
        };
        (0..plan.threads).map(shard).collect()
    }

    /// The generator of one thread by itself: a pointer that others would share is its own.
    ///
    /// The plan must be a resolved one: every size fits into the region, some operation occurs, weights are positive.
    pub fn new(plan: &StreamPlan, shard: u32) -> Self {
        let course = Shaped::new(plan, shard).map(Course::shaped).or_else(|| Course::simple(plan, shard));
        Self { index: 0, course: course.unwrap_or_else(|| Course::general(General::new(plan, shard))) }
    }

    /// The length of every request of a simple course.
    const fn simple_len(&self) -> Option<u32> {
        match &self.course {
            Course::Uniform(uniform) => Some(uniform.len),
            Course::Laps(lapping) => Some(lapping.len),
            Course::Long(_) => None,
        }
    }

    /// Operation and length of all requests, if they differ in nothing but their place and are issued without pauses.
    pub const fn alike(&self) -> Option<(Op, u32)> {
        let (ops, len) = match &self.course {
            Course::Uniform(uniform) => (&uniform.ops, uniform.len),
            Course::Laps(lapping) => (&lapping.ops, lapping.len),
            Course::Long(_) => return None,
        };
        match ops.mix.only {
            Some(op) => Some((op, len)),
            None => None,
        }
    }

    /// The first byte of the next request, taken as [`Generator::next`] takes it: for those whose requests are [`Generator::alike`].
    #[inline(always)]
    pub fn next_offset(&mut self) -> u64 {
        let index = self.index;
        self.index = index.wrapping_add(1);
        match &mut self.course {
            Course::Uniform(uniform) => uniform.offset(index),
            Course::Laps(lapping) => lapping.laps.next(),
            Course::Long(long) => next_of_long(long, index).0,
        }
    }

    /// Makes the next sequential request the region's first, and the next random one of a permutation the first of a
    /// pass. The draws go on.
    fn restart(&mut self) {
        match &mut self.course {
            Course::Uniform(_) => {}
            Course::Laps(lapping) => lapping.laps.seek(0),
            Course::Long(long) => long.restart(),
        }
    }

    /// The index of the next request.
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// Makes request `index` the next one, as if all before it had been taken.
    ///
    /// Constant time for random, permuted and fixed-size sequential streams; otherwise as far back as the sequential
    /// pointer's history reaches, at worst a replay from the start (the table in `generator/seek.rs` says when). A
    /// pointer shared with other threads stays where it is.
    pub fn seek(&mut self, index: u64) {
        self.index = index;
        match &mut self.course {
            Course::Uniform(_) => {}
            Course::Laps(lapping) => lapping.laps.seek(index),
            Course::Long(long) => long.seek(index),
        }
    }

    /// The next request.
    #[inline(always)]
    #[allow(clippy::should_implement_trait)] // endless: an `Option` would have to be checked on the hottest path
    pub fn next(&mut self) -> Request {
        let index = self.index;
        self.index = index.wrapping_add(1);
        let (offset, shape) = match &mut self.course {
            Course::Uniform(uniform) => (uniform.offset(index), Shape::new(uniform.len, uniform.ops.at(index))),
            Course::Laps(lapping) => (lapping.laps.next(), Shape::new(lapping.len, lapping.ops.at(index))),
            Course::Long(long) => next_of_long(long, index),
        };
        let delay_ns = if shape.begins_burst() { self.delay_ns() } else { 0 };
        Request { offset, len: shape.len(), op: shape.op(), delay_ns }
    }

    /// Where the next request will be, if that follows from its index alone: [`Generator::next`] will say the same.
    #[inline]
    pub fn foreseen(&self) -> Option<u64> {
        match &self.course {
            Course::Uniform(uniform) => Some(uniform.offset(self.index)),
            Course::Laps(_) | Course::Long(_) => None,
        }
    }

    #[cold]
    fn delay_ns(&self) -> u64 {
        match &self.course {
            Course::Long(long) => long.delay_ns(),
            Course::Uniform(_) | Course::Laps(_) => 0,
        }
    }
}

/// Length and operation of a request in one register: a `Request` that is put together in memory by one branch and
/// copied by the next cannot be forwarded by the processor and costs 5 ns.
#[derive(Clone, Copy)]
struct Shape(u64);

impl Shape {
    const DELAYED: u64 = 1 << 40;

    #[inline(always)]
    const fn new(len: u32, op: Op) -> Self {
        Self(len as u64 | (op as u64) << 32)
    }

    #[inline(always)]
    const fn len(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    const fn op(self) -> Op {
        // Looked up: the jumps of a match cost more than everything around them.
        Op::ALL[(self.0 >> 32) as usize & 3]
    }

    #[inline(always)]
    const fn begins_burst(self) -> bool {
        self.0 & Self::DELAYED != 0
    }
}

#[inline(never)]
fn next_of_long(long: &mut Long, index: u64) -> (u64, Shape) {
    let Request { offset, len, op, delay_ns } = long.next(index);
    let Shape(shape) = Shape::new(len, op);
    (offset, Shape(if delay_ns > 0 { shape | Shape::DELAYED } else { shape }))
}

impl Course {
    fn general(general: General) -> Self {
        Self::Long(Box::new(Long::General(general)))
    }

    fn shaped(shaped: Shaped) -> Self {
        Self::Long(Box::new(Long::Shaped(shaped, 0)))
    }

    /// The short way for plans that allow it; it yields exactly what the general course would.
    fn simple(plan: &StreamPlan, shard: u32) -> Option<Self> {
        let [line] = plan.access.entries.as_slice() else { return None };
        let entry = Entry::new(plan, line);
        let size = entry.fixed()?;
        if entry.delay_ns > 0 {
            return None;
        }
        let lanes = Lanes::new(plan.seed, shard);
        let ops = Ops { mix: entry.mix, draws: lanes.operation };
        if entry.random.is_always() && plan.access.distribution == Distribution::Uniform {
            let (first, align) = (entry.blocks.offset(0), entry.blocks.align.value());
            return Some(Self::Uniform(Uniform {
                address: lanes.address,
                first,
                align,
                starts: size.starts,
                len: size.len,
                ops,
            }));
        }
        if entry.random.is_never() {
            let track = Track::new(plan);
            let laps = track.laps(track.origin(plan, shard), size.len, entry.blocks.align);
            return Some(Self::Laps(Lapping { laps, len: size.len, ops }));
        }
        None
    }
}
