//! Where sequential requests go: behind the last one, wrapping like Iometer.
//!
//! The *pointer* is the position at which the next sequential request begins (forward) or ends (backward). It is
//! rounded to the line's alignment in the direction of travel; a request that would stick out of the region restarts at
//! the other end. Every request moves the pointer, a random one too: "sequential" means after the previous I/O.

use std::ops::Range;

use crate::divisor::Divisor;
use crate::plan::{Sequential, StreamPlan};

/// The course of a stream's sequential requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Track {
    region: Range<u64>,
    stride: u64,
    backward: bool,
}

impl Track {
    pub(crate) fn new(plan: &StreamPlan) -> Self {
        Self { region: plan.region.clone(), stride: plan.access.stride, backward: plan.access.backward }
    }

    /// The region's first byte.
    pub(crate) const fn start(&self) -> u64 {
        self.region.start
    }

    /// The pointer before a shard's first request. From where the stream begins on, threads with one of their own start
    /// evenly spread over the region, or together.
    pub(crate) fn origin(&self, plan: &StreamPlan, shard: u32) -> u64 {
        let length = self.region.end - self.region.start;
        let spread = match plan.access.sequential {
            Sequential::Shared | Sequential::SameStart => 0,
            Sequential::PerThread | Sequential::PerOperation => {
                (u128::from(length) * u128::from(shard) / u128::from(plan.threads.max(1))) as u64
            }
        };
        let share = if plan.access.begins == 0 { spread } else { (spread + plan.access.begins) % length };
        if self.backward { self.region.end - share } else { self.region.start + share }
    }

    /// Where a sequential request of `len` bytes starts.
    #[inline]
    pub(crate) fn place(&self, pointer: u64, len: u32, align: Divisor) -> u64 {
        let len = u64::from(len);
        let last = self.region.end - len;
        if self.backward {
            let offset = align.floor(pointer.saturating_sub(len));
            if offset < self.region.start || pointer < len { align.floor(last) } else { offset }
        } else {
            let offset = align.ceil(pointer);
            if offset > last { align.ceil(self.region.start) } else { offset }
        }
    }

    /// The pointer after a request.
    #[inline]
    pub(crate) fn after(&self, offset: u64, len: u32) -> u64 {
        let len = u64::from(len);
        match (self.backward, self.stride) {
            (false, 0) => offset + len,
            (false, stride) => offset.saturating_add(stride).min(self.region.end),
            (true, 0) => offset,
            (true, stride) => (offset + len).saturating_sub(stride),
        }
    }

    /// The whole course of requests of one size and alignment, in closed form.
    pub(crate) fn laps(&self, origin: u64, len: u32, align: Divisor) -> Laps {
        let step = align.ceil(if self.stride == 0 { u64::from(len) } else { self.stride.min(self.region.end) });
        let first = self.place(origin, len, align);
        let last = self.region.end - u64::from(len);
        let (base, first_lap, lap) = if self.backward {
            let base = align.floor(last);
            (base, (first - self.region.start) / step + 1, (base - self.region.start) / step + 1)
        } else {
            let base = align.ceil(self.region.start);
            (base, (last - first) / step + 1, (last - base) / step + 1)
        };
        let step = if self.backward { step.wrapping_neg() } else { step };
        Laps { first, first_lap, base, lap, step, offset: first, left: first_lap }
    }
}

/// Sequential requests of one size: a first, partial lap from the origin and then whole laps over the region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Laps {
    first: u64,
    first_lap: u64,
    base: u64,
    lap: u64,
    /// Added to an offset, wrapping: negative when going backward.
    step: u64,
    offset: u64,
    /// Requests left in this lap, the next one included.
    left: u64,
}

impl Laps {
    /// The next request's offset.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let offset = self.offset;
        self.left -= 1;
        if self.left == 0 {
            self.offset = self.base;
            self.left = self.lap;
        } else {
            self.offset = offset.wrapping_add(self.step);
        }
        offset
    }

    /// Makes the request of this index the next one.
    pub(crate) fn seek(&mut self, index: u64) {
        let (from, done, lap) = if index < self.first_lap {
            (self.first, index, self.first_lap)
        } else {
            (self.base, (index - self.first_lap) % self.lap, self.lap)
        };
        self.offset = from.wrapping_add(self.step.wrapping_mul(done));
        self.left = lap - done;
    }
}
