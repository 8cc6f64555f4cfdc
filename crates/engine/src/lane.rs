//! A lane: one logical thread of a stream, with its own requests, due times and outstanding slots.
//!
//! A stream's threads are not operating system threads: a worker carries many lanes. So 64 threads × depth 32 on two cores
//! cost what two threads cost, and the streams of requests are the same.

use plimsoll_workload::plan::Budget;
use plimsoll_workload::{ArrivalPlan, Arrivals, Content, Generator, Op, Request, StreamPlan, Thinker, Verify};

/// See the module.
pub(crate) struct Lane {
    /// Index of the stream among the job's.
    pub(crate) stream: usize,
    pub(crate) generator: Generator,
    pub(crate) timing: Timing,
    pub(crate) content: Content,
    /// First entry of the stream's files in the backend's table.
    pub(crate) files: u32,
    pub(crate) verify: Verify,
    pub(crate) max_len: u32,
    /// Whether its writes are stamped and accounted for.
    pub(crate) stamps: bool,
    /// Whether it does nothing but draw: no flushes inserted, no end.
    plain: bool,
    flush_every: u64,
    writes_unflushed: u64,
    left: Budget,
    /// Whether a flush is owed when the amount has been issued.
    pub(crate) owes_flush: bool,
    /// When it starts, from the job's start; open lanes know from their arrivals.
    pub(crate) start_ns: u64,
    /// Number of the next write; unique among all lanes, so that no two writes are alike.
    pub(crate) sequence: u64,
    /// Slots without a request, and since when: open lanes only.
    pub(crate) free: Vec<(u32, u64)>,
}

/// When a lane's requests are due.
pub(crate) enum Timing {
    /// When the one before has completed.
    Closed,
    /// A pause after that.
    Thinking(Thinker),
    /// At instants of their own.
    Open {
        /// The process.
        arrivals: Arrivals,
        /// When the next request is due, from the job's start.
        due_ns: u64,
        /// Whether a timer is set for it.
        armed: bool,
    },
}

/// What a lane is made of, beyond its plan.
pub(crate) struct LaneSeat {
    pub(crate) stream: usize,
    pub(crate) shard: u32,
    pub(crate) files: u32,
    pub(crate) stamps: bool,
}

impl Lane {
    pub(crate) fn new(plan: &StreamPlan, generator: Generator, seat: &LaneSeat) -> Self {
        let timing = match &plan.arrival {
            ArrivalPlan::Closed { think_ns: 0, .. } => Timing::Closed,
            ArrivalPlan::Closed { .. } => Timing::Thinking(Thinker::new(plan, seat.shard)),
            ArrivalPlan::Open(_) => {
                let mut arrivals = Arrivals::new(plan, seat.shard);
                let due_ns = arrivals.next_ns();
                Timing::Open { arrivals, due_ns, armed: false }
            }
        };
        Self {
            stream: seat.stream,
            generator,
            timing,
            content: Content::new(plan),
            files: seat.files,
            verify: plan.verify,
            max_len: plan.max_len,
            stamps: seat.stamps,
            plain: plan.flush_every == 0 && plan.budget == Budget::ENDLESS,
            flush_every: plan.flush_every,
            writes_unflushed: 0,
            left: plan.budget,
            owes_flush: plan.flush_at_end,
            start_ns: plan.start_ns,
            sequence: ((seat.stream as u64) << 16 | u64::from(seat.shard)) << 40,
            free: Vec::new(),
        }
    }

    /// Puts the next request into `place`; a flush when enough writes have gone before. `false` when the lane has issued
    /// its amount.
    #[inline(always)]
    pub(crate) fn draw(&mut self, place: &mut Request) -> bool {
        if self.plain {
            *place = self.generator.next();
            return true;
        }
        self.draw_counted(place)
    }

    fn draw_counted(&mut self, place: &mut Request) -> bool {
        if self.flush_every > 0 && self.writes_unflushed >= self.flush_every {
            self.writes_unflushed = 0;
            *place = Request { offset: 0, len: 0, op: Op::Flush, delay_ns: 0 };
            return true;
        }
        if self.is_spent() {
            return false;
        }
        *place = self.generator.next();
        self.writes_unflushed += u64::from(place.op == Op::Write);
        if self.left != Budget::ENDLESS {
            self.left.requests = self.left.requests.saturating_sub(1);
            self.left.bytes = self.left.bytes.saturating_sub(place.len.into());
        }
        true
    }

    /// Whether it has issued its amount.
    pub(crate) const fn is_spent(&self) -> bool {
        self.left.bytes == 0 || self.left.requests == 0
    }

    /// Whether it ends at all.
    pub(crate) fn ends(&self) -> bool {
        self.left != Budget::ENDLESS
    }

    /// Nothing more is due.
    pub(crate) const fn rest(&mut self) {
        if let Timing::Open { due_ns, .. } = &mut self.timing {
            *due_ns = u64::MAX;
        }
    }

    /// How long its next request has been due at `at_ns` (from the job's start); 0 for closed lanes.
    pub(crate) fn behind_ns(&self, at_ns: u64) -> u64 {
        match &self.timing {
            Timing::Open { due_ns, .. } => at_ns.saturating_sub(*due_ns),
            _ => 0,
        }
    }
}
