//! Requests of any plan: several lines, bursts, mixed sizes, partly random, every distribution.

use std::hint::select_unpredictable;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::coverage::Coverage;
use super::entry::Entry;
use super::track::Track;
use crate::address::Placement;
use crate::alias::Alias;
use crate::plan::StreamPlan;
use crate::request::{Op, Request};
use crate::rng::{Draws, Purpose, below};

/// The sequential pointer: a thread's own, or one for all threads of the stream.
#[derive(Clone, Debug)]
pub(crate) enum Pointer {
    Own(u64),
    Shared(Arc<AtomicU64>),
}

/// One sequence of draws per decision, so that decisions are independent and one can be skipped without moving others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    pub(crate) entry: Draws,
    pub(crate) operation: Draws,
    pub(crate) size: Draws,
    pub(crate) randomness: Draws,
    pub(crate) address: Draws,
}

impl Lanes {
    pub(crate) fn new(seed: u64, shard: u32) -> Self {
        let lane = |purpose: Purpose| Draws::new(seed, &[purpose as u64, u64::from(shard)]);
        Self {
            entry: lane(Purpose::Entry),
            operation: lane(Purpose::Operation),
            size: lane(Purpose::Size),
            randomness: lane(Purpose::Randomness),
            address: lane(Purpose::Address),
        }
    }
}

/// The state of a stream's general course.
#[derive(Clone, Debug)]
pub(crate) struct General {
    pub(super) lanes: Lanes,
    pub(super) entries: Box<[Entry]>,
    pub(super) choice: Alias,
    /// The only operation of all lines, when there is just one.
    pub(super) only: Option<Op>,
    pub(super) track: Track,
    /// Where the pointer was before the first request.
    pub(super) origin: u64,
    pub(super) pointer: Pointer,
    pub(super) coverage: Option<Coverage>,
    /// The line of the current burst and its requests left.
    pub(super) current: usize,
    pub(super) left: u32,
}

impl General {
    pub(crate) fn new(plan: &StreamPlan, shard: u32) -> Self {
        let entries: Box<[Entry]> = plan.access.entries.iter().map(|line| Entry::new(plan, line)).collect();
        let weights: Vec<f64> = plan.access.entries.iter().map(|line| line.weight).collect();
        let track = Track::new(plan);
        let origin = track.origin(plan, shard);
        let covers = matches!(entries[0].placement, Placement::Coverage);
        let coverage = covers.then(|| Coverage::new(plan.seed, entries[0].blocks.count(), shard, plan.threads));
        let only = entries[0].mix.only.filter(|&op| entries.iter().all(|entry| entry.mix.only == Some(op)));
        Self {
            lanes: Lanes::new(plan.seed, shard),
            entries,
            only,
            choice: Alias::new(&weights),
            track,
            origin,
            pointer: Pointer::Own(origin),
            coverage,
            current: 0,
            left: 0,
        }
    }

    /// Whether some request looks at the sequential pointer.
    pub(crate) fn is_partly_sequential(&self) -> bool {
        self.entries.iter().any(|entry| !entry.random.is_always())
    }

    /// Back to where the pointer was first, and to the first place of a pass.
    pub(super) fn restart(&mut self) {
        self.pointer = Pointer::Own(self.origin);
        if let Some(coverage) = &mut self.coverage {
            coverage.restart();
        }
    }

    /// Follow a pointer that other shards follow too.
    pub(crate) fn share(&mut self, pointer: &Arc<AtomicU64>) {
        self.pointer = Pointer::Shared(Arc::clone(pointer));
    }

    #[inline]
    pub(crate) fn next(&mut self, index: u64) -> Request {
        let delay_ns = if self.left == 0 { self.begin_burst(index) } else { 0 };
        self.left -= 1;
        let entry = &self.entries[self.current];
        let op = match self.only {
            Some(op) => op,
            None => entry.mix.pick(self.lanes.operation.at(index)),
        };
        if op == Op::Flush {
            return Request { offset: self.track.start(), len: 0, op, delay_ns };
        }
        let extent = entry.sizes[op as usize].pick(|| self.lanes.size.at(index), &entry.blocks);
        let len = extent.len;
        let random = entry.random.hit(self.lanes.randomness.at(index));
        let offset = match (&entry.placement, &mut self.pointer) {
            // No predictor learns which requests are random: both addresses are found and one is selected.
            (Placement::Uniform, Pointer::Own(pointer)) if !entry.random.is_always() => {
                let jump = entry.blocks.offset(below(self.lanes.address.at(index), extent.starts));
                let next = self.track.place(*pointer, len, entry.blocks.align);
                let offset = select_unpredictable(random, jump, next);
                *pointer = self.track.after(offset, len);
                offset
            }
            (_, pointer) if !random => pointer.advance(&self.track, len, entry),
            (placement, pointer) => {
                let block = match &mut self.coverage {
                    Some(coverage) => coverage.next(),
                    None => placement.block(self.lanes.address.at(index), extent.starts),
                };
                let offset = entry.blocks.offset(block);
                pointer.set(self.track.after(offset, len));
                offset
            }
        };
        Request { offset, len, op, delay_ns }
    }

    /// Pause before the burst that has just begun.
    pub(super) fn delay_ns(&self) -> u64 {
        self.entries[self.current].delay_ns
    }

    /// Draws the line of the burst that begins with request `index`; its delay is paid by that request.
    #[inline]
    pub(super) fn begin_burst(&mut self, index: u64) -> u64 {
        if self.entries.len() > 1 {
            self.current = self.choice.pick(self.lanes.entry.at(index));
        }
        let entry = &self.entries[self.current];
        self.left = entry.burst;
        entry.delay_ns
    }
}

impl Pointer {
    #[inline]
    fn set(&mut self, position: u64) {
        match self {
            Self::Own(pointer) => *pointer = position,
            Self::Shared(pointer) => pointer.store(position, Ordering::Relaxed),
        }
    }

    /// Takes the next sequential place and moves on.
    #[inline]
    fn advance(&mut self, track: &Track, len: u32, entry: &Entry) -> u64 {
        let align = entry.blocks.align;
        match self {
            Self::Own(pointer) => {
                let offset = track.place(*pointer, len, align);
                *pointer = track.after(offset, len);
                offset
            }
            Self::Shared(shared) => {
                let mut pointer = shared.load(Ordering::Relaxed);
                loop {
                    let offset = track.place(pointer, len, align);
                    let after = track.after(offset, len);
                    match shared.compare_exchange_weak(pointer, after, Ordering::Relaxed, Ordering::Relaxed) {
                        Ok(_) => return offset,
                        Err(moved) => pointer = moved,
                    }
                }
            }
        }
    }
}
