//! A lane: one logical thread of a stream, with its own requests, due times and outstanding slots.
//!
//! A stream's threads are not operating system threads: a worker carries many lanes. So 64 threads × depth 32 on two cores
//! cost what two threads cost, and the streams of requests are the same.

mod free;

use std::ops::Range;
use std::sync::Arc;

use free::FreeSlots;
use plimsoll_workload::plan::Budget;
use plimsoll_workload::{ArrivalPlan, Arrivals, Content, Generator, Op, Request, StreamPlan, Thinker, Verify};

use crate::gate::{Gate, ShareGroup};
use crate::outstanding::due_in;
use crate::replay::Replay;
use crate::volume::SpreadVolume;

/// See the module.
pub(crate) struct Lane {
    /// Index of the stream among the job's.
    pub(crate) stream: usize,
    pub(crate) generator: Generator,
    pub(crate) timing: Timing,
    pub(crate) content: Content,
    /// Bytes of the target before its address 0.
    pub(crate) base: u64,
    /// How its requests are spread, where that is not how the target's are.
    pub(crate) spread: Option<Box<SpreadVolume>>,
    /// First entry of the stream's files in the backend's table: one for each part that it uses, in their order.
    pub(crate) files: u32,
    /// The parts that it uses, where they follow each other and are not all.
    pub(crate) row: Option<Range<u32>>,
    pub(crate) verify: Verify,
    pub(crate) max_len: u32,
    /// Whether its writes are stamped and accounted for.
    pub(crate) stamps: bool,
    /// Whether each of its requests follows the one before, so that none may overtake another.
    pub(crate) in_order: bool,
    /// Whether it does nothing but draw: no flushes inserted, no end.
    plain: bool,
    /// Whether each of its requests follows at once on the one before in its slot, and nothing else is to be done for it.
    pub(crate) is_lean: bool,
    flush_every: u64,
    writes_unflushed: u64,
    left: Budget,
    /// Whether nothing is issued while a flush is outstanding.
    flush_holds: bool,
    /// The slot of that flush.
    flushing: Option<u32>,
    /// Whether a flush is owed when the amount has been issued.
    pub(crate) owes_flush: bool,
    /// When it starts, from the job's start; open lanes know from their arrivals.
    pub(crate) start_ns: u64,
    /// When it issues nothing more, from the job's start.
    pub(crate) end_ns: u64,
    /// Number of the next write; unique among all lanes, so that no two writes are alike.
    pub(crate) sequence: u64,
    /// Slots without a request: open and held lanes only.
    pub(crate) free: FreeSlots,
    /// Where its requests come from in place of the generator.
    pub(crate) replay: Option<Box<Replay>>,
}

/// When a lane's requests are due. What draws instants is kept apart: a worker goes through its lanes in turn, and those that
/// are closed shall fit into the processor's nearest cache.
pub(crate) enum Timing {
    /// When the one before has completed.
    Closed,
    /// A pause after that.
    Thinking(Box<Thinker>),
    /// When the one before has completed and the gate lets it pass.
    Held(Box<Gate>),
    /// When its director asks for them; its number.
    Directed(u32),
    /// At instants of their own, or of a trace; as fast as possible a trace's requests are due at once.
    Open {
        /// Where the instants come from.
        process: Process,
        /// When the next request is due, from the job's start.
        due_ns: u64,
        /// Whether a timer is set for it.
        armed: bool,
    },
}

/// Where instants come from.
pub(crate) enum Process {
    /// They are drawn.
    Drawn(Box<Arrivals>),
    /// The lane's replay knows them.
    Recorded,
}

/// What a lane is made of, beyond its plan.
pub(crate) struct LaneSeat {
    pub(crate) stream: usize,
    pub(crate) shard: u32,
    /// Its number among the threads of all streams.
    pub(crate) ordinal: u32,
    pub(crate) files: u32,
    pub(crate) stamps: bool,
    /// The group with which its stream keeps a ratio.
    pub(crate) group: Option<Arc<ShareGroup>>,
    /// The director that says what it issues, among those of its worker.
    pub(crate) director: Option<u32>,
}

impl Lane {
    pub(crate) fn new(plan: &StreamPlan, generator: Generator, seat: &LaneSeat, replay: Option<Box<Replay>>) -> Self {
        let gate = Gate::new(plan.hold, plan.queue_depth, seat.group.clone());
        let timing = match (&plan.arrival, &replay) {
            _ if seat.director.is_some() => Timing::Directed(seat.director.unwrap_or_default()),
            (_, Some(replay)) => Timing::Open { process: Process::Recorded, due_ns: replay.due_ns(), armed: false },
            (ArrivalPlan::Closed { think_ns: 0, .. }, _) => {
                gate.map_or(Timing::Closed, |gate| Timing::Held(Box::new(gate)))
            }
            (ArrivalPlan::Closed { .. }, _) => Timing::Thinking(Box::new(Thinker::new(plan, seat.shard))),
            (ArrivalPlan::Open(_), _) => {
                let mut arrivals = Arrivals::new(plan, seat.shard);
                let due_ns = arrivals.next_ns();
                Timing::Open { process: Process::Drawn(Box::new(arrivals)), due_ns, armed: false }
            }
        };
        let plain = plan.flush_every == 0 && plan.budget == Budget::ENDLESS && plan.end_ns == u64::MAX;
        let pauses = plan.access.entries.iter().any(|entry| entry.delay_ns > 0);
        Self {
            stream: seat.stream,
            generator,
            is_lean: plain
                && !pauses
                && plan.start_ns == 0
                && !plan.hold.flush_holds
                && plan.placed.spread.is_none()
                && replay.is_none()
                && matches!(timing, Timing::Closed),
            timing,
            content: Content::new(plan),
            base: plan.placed.base,
            spread: plan.placed.spread.as_ref().map(|spread| Box::new(SpreadVolume::new(spread))),
            files: seat.files,
            row: plan.row(),
            verify: plan.verify,
            max_len: plan.max_len,
            stamps: seat.stamps,
            in_order: plan.trace.is_none() && plan.access.entries.iter().all(|entry| entry.random_percent == 0.0),
            plain,
            flush_every: plan.flush_every,
            writes_unflushed: 0,
            left: plan.budget,
            flush_holds: plan.hold.flush_holds,
            flushing: None,
            owes_flush: plan.flush_at_end,
            start_ns: plan.start_ns,
            end_ns: plan.end_ns,
            sequence: u64::from(seat.ordinal) << 40,
            free: FreeSlots::default(),
            replay,
        }
    }

    /// Puts the next request into `place`; a flush when enough writes have gone before and more follow. `false` when the
    /// lane has issued its amount or its time is over.
    #[inline(always)]
    pub(crate) fn draw(&mut self, place: &mut Request) -> bool {
        if self.plain {
            *place = self.generator.next();
            place.offset += self.base;
            return true;
        }
        self.draw_counted(place)
    }

    fn draw_counted(&mut self, place: &mut Request) -> bool {
        if self.is_spent() {
            return false;
        }
        if self.flush_every > 0 && self.writes_unflushed >= self.flush_every {
            self.writes_unflushed = 0;
            *place = Request { offset: 0, len: 0, op: Op::Flush, delay_ns: 0 };
            return true;
        }
        let Some(next) = self.next_counted() else { return false };
        *place = next;
        self.writes_unflushed += u64::from(place.op == Op::Write);
        if self.left != Budget::ENDLESS {
            self.left.requests = self.left.requests.saturating_sub(1);
            self.left.bytes = self.left.bytes.saturating_sub(place.len.into());
        }
        true
    }

    /// Its time is over: nothing more is drawn.
    pub(crate) fn end(&mut self) {
        self.left.requests = 0;
        match &mut self.timing {
            Timing::Held(gate) => gate.leave(),
            _ => self.rest(),
        }
    }

    fn next_counted(&mut self) -> Option<Request> {
        let Some(replay) = &mut self.replay else {
            let mut next = self.generator.next();
            next.offset += self.base;
            return Some(next);
        };
        let next = replay.draw();
        if next.is_none() {
            // The trace could not be read to its end.
            self.left.requests = 0;
        }
        next
    }

    /// Finds when the request after the one just drawn is due.
    pub(crate) fn look_ahead(&mut self) {
        if let Timing::Open { process, due_ns, .. } = &mut self.timing {
            *due_ns = match process {
                Process::Drawn(arrivals) => arrivals.next_ns(),
                Process::Recorded => self.replay.as_ref().map_or(u64::MAX, |replay| replay.due_ns()),
            };
        }
    }

    /// Gives up the requests that are due before `end_ns` and were not issued: tells `each` of their operations, when they were due
    /// and how many, oldest first. Nothing more is due then.
    pub(crate) fn give_up(&mut self, end_ns: u64, steps_max: u64, mut each: impl FnMut(Op, u64, u64)) {
        let Timing::Open { process, due_ns, .. } = &self.timing else { return };
        let first_ns = *due_ns;
        if first_ns >= end_ns || self.is_spent() || self.is_fast() {
            return;
        }
        if let Process::Drawn(arrivals) = process {
            let mut arrivals = arrivals.clone();
            let mut request = Request { offset: 0, len: 0, op: Op::Read, delay_ns: 0 };
            let (mut drawn, mut total) = ([0_u64; 4], 0);
            due_in(&mut arrivals, first_ns..end_ns, steps_max, |due_ns, count| {
                if count == 1 && total < steps_max {
                    if self.draw(&mut request) {
                        (drawn[request.op as usize], total) = (drawn[request.op as usize] + 1, total + 1);
                        each(request.op, due_ns, 1);
                    }
                    return;
                }
                // What is not drawn is taken to be mixed as what was.
                let count = count.min(self.left.requests);
                self.left.requests -= if self.left.requests == u64::MAX { 0 } else { count };
                let shares =
                    Op::ALL.map(|op| u128::from(count) * u128::from(drawn[op as usize]) / u128::from(total.max(1)));
                let rest = u128::from(count) - shares.iter().sum::<u128>();
                let most = Op::ALL.into_iter().max_by_key(|op| drawn[*op as usize]).unwrap_or(Op::Read);
                for op in Op::ALL {
                    each(op, due_ns, (shares[op as usize] + if op == most { rest } else { 0 }) as u64);
                }
            });
        } else {
            while let Some((op, due_ns)) = self.replay.as_mut().and_then(|replay| replay.pass_over(end_ns)) {
                self.left.requests = self.left.requests.saturating_sub(1);
                each(op, due_ns, 1);
            }
        }
        self.rest();
    }

    /// Tells `each` of the requests that are due before `at_ns` and were not issued yet; of a trace only the first is known.
    pub(crate) fn waiting(&self, at_ns: u64, steps_max: u64, mut each: impl FnMut(u64, u64)) {
        let Timing::Open { process, due_ns, .. } = &self.timing else { return };
        if *due_ns >= at_ns || self.is_spent() || self.is_fast() {
            return;
        }
        match process {
            Process::Drawn(arrivals) => due_in(&mut arrivals.clone(), *due_ns..at_ns, steps_max, each),
            Process::Recorded => each(*due_ns, 1),
        }
    }

    /// A flush is issued in this slot.
    pub(crate) fn begin_flush(&mut self, number: u32) {
        self.flushing = self.flush_holds.then_some(number);
    }

    /// The request of this slot has come back.
    #[inline]
    pub(crate) fn end_flush(&mut self, number: u32) {
        if self.flushing == Some(number) {
            self.flushing = None;
        }
    }

    /// Whether it waits for a flush and issues nothing.
    pub(crate) const fn is_flushing(&self) -> bool {
        self.flushing.is_some()
    }

    /// Whether it replays a trace as fast as possible.
    pub(crate) fn is_fast(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.is_fast())
    }

    /// Whether it has issued its amount, or its time is over.
    pub(crate) const fn is_spent(&self) -> bool {
        self.left.bytes == 0 || self.left.requests == 0
    }

    /// Whether it ends at all.
    pub(crate) fn ends(&self) -> bool {
        self.left != Budget::ENDLESS || self.end_ns != u64::MAX
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
            Timing::Open { .. } if self.is_fast() => 0,
            Timing::Open { due_ns, .. } => at_ns.saturating_sub(*due_ns),
            _ => 0,
        }
    }
}
