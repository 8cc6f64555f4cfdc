//! The worker loop: keeps the lanes' requests flowing through a backend and tells the recorder what came back.
//!
//! Model: a *slot* is one outstanding request. Closed lanes reissue a slot when it completes; lanes with think time, access
//! entries with a delay, and open lanes go through a heap of timers. Per turn: submit, wait, account, record, reissue.
//! Latency counts from the intended instant (open lanes: when the request was due; otherwise when it was handed over),
//! service time from the hand-over.
//!
//! Limits: one thread, one backend; a turn in which a slow sink or the scheduler holds the thread shows up as lag.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::ops::Range;

use plimsoll_workload::director::Asked;
use plimsoll_workload::stamp::Findings;
use plimsoll_workload::{Op, Request, Verify};

use crate::backend::{Backend, Done, Io, failure};
use crate::buffers::Arena;
use crate::control::{Control, StoppedBy};
use crate::lane::{Lane, Timing};
use crate::ledger::Ledger;
use crate::outstanding::Outstanding;
use crate::recorder::{Cell, InFlight, Outlet, Recorder};
use crate::replay::ReplayReport;
use crate::silence::Pulse;
use crate::slot::{IDLE, Slot, prepare, verify_completion};
use crate::volume::Volume;

mod backlog;
mod directed_lanes;
mod due;
mod end;
mod gated_lanes;
mod lean;
mod overlap;
mod pieces;
mod read_back;
mod timers;
mod waiters;

pub(crate) use directed_lanes::Directed;
use waiters::Waiters;

/// Marks a timer that belongs to a lane, not to a slot.
const LANE: u32 = 1 << 31;
/// Marks the timer at which a lane ends.
const END: u32 = 1 << 30;
/// How long a worker with nothing to do may miss that it is told to stop.
const LOOK_NS: u64 = 100_000_000;
/// The same for a worker that has issued all it had to and waits for the others.
const LOOK_SPENT_NS: u64 = 100_000;

/// What all workers of a run share.
pub(crate) struct Shared<'a> {
    pub(crate) volume: &'a Volume,
    pub(crate) ledger: Option<&'a Ledger>,
    pub(crate) control: &'a Control,
    /// Whether writes need content.
    pub(crate) carries_data: bool,
    pub(crate) continues: bool,
    pub(crate) workers: usize,
    /// Where this worker says whether it has answers; nowhere in virtual time.
    pub(crate) pulse: Option<&'a Pulse>,
}

/// See the module.
pub(crate) struct Worker<'a, B, O> {
    pub(crate) backend: B,
    shared: Shared<'a>,
    lanes: Vec<Lane>,
    slots: Vec<Slot>,
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    timed: bool,
    /// Requests that wait for others.
    waiters: Waiters,
    /// Whether a timer is set for them.
    calls_up: bool,
    single: bool,
    /// Those who say what lanes of theirs issue, what each slot's answer is told with, and room for what they ask.
    pub(crate) directed: Vec<Directed>,
    tokens: Vec<u32>,
    asks: Vec<Asked>,
    recorder: Recorder<O>,
    origin_ns: u64,
    end_ns: u64,
    /// When to look at the control even if nothing happens.
    look_ns: u64,
    /// Whether anything came back since then.
    answered: bool,
    /// Whether a lane of this worker can issue its amount and end.
    ends: bool,
    /// When everything of this worker was issued and had come back.
    pub(crate) spent_ns: Option<u64>,
    in_flight: u64,
    /// Those of them that were outstanding before the current turn's requests.
    older: u64,
    pub(crate) findings: Findings,
    pub(crate) first_done_ns: Option<u64>,
    pub(crate) unissued: u64,
    /// Whether the end has come, and what is outstanding is waited for.
    draining: bool,
    /// What was due and will never have an answer.
    given_up: Outstanding,
    pub(crate) first_error: Option<(Op, u64, i32)>,
    done: Vec<Done>,
    _arena: &'a Arena,
}

/// When a worker begins and ends, on its backend's clock.
pub(crate) struct Window {
    pub(crate) origin_ns: u64,
    pub(crate) end_ns: u64,
}

impl<'a, B: Backend, O: Outlet> Worker<'a, B, O> {
    pub(crate) fn new(
        backend: B,
        shared: Shared<'a>,
        (lanes, slots): (Vec<Lane>, Vec<Slot>),
        (recorder, window): (Recorder<O>, Window),
        arena: &'a Arena,
    ) -> Self {
        let single = shared.volume.parts() <= 1;
        let depth = slots.len();
        let ends = lanes.iter().any(Lane::ends);
        Self {
            backend,
            shared,
            lanes,
            slots,
            timers: BinaryHeap::new(),
            timed: false,
            waiters: Waiters::default(),
            calls_up: false,
            single,
            directed: Vec::new(),
            tokens: Vec::new(),
            asks: Vec::new(),
            recorder,
            origin_ns: window.origin_ns,
            end_ns: window.end_ns,
            look_ns: window.origin_ns,
            answered: false,
            ends,
            spent_ns: None,
            in_flight: 0,
            older: 0,
            findings: Findings::default(),
            first_done_ns: None,
            unissued: 0,
            draining: false,
            given_up: Outstanding::NONE,
            first_error: None,
            done: Vec::with_capacity(depth),
            _arena: arena,
        }
    }

    /// Runs from the window's start to its end and drains.
    ///
    /// # Errors
    /// When the backend itself fails.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        self.begin()?;
        while !self.turn()? {
            if self.is_lean() {
                return self.run_lean();
            }
        }
        Ok(())
    }

    /// What became of the traces, once everything is over; `names` are those of the streams.
    pub(crate) fn replayed(&mut self, names: impl Fn(usize) -> String) -> Vec<ReplayReport> {
        let lanes = self.lanes.iter_mut();
        lanes.filter_map(|lane| lane.replay.take().map(|replay| replay.into_report(&names(lane.stream)))).collect()
    }

    /// Hands on what was recorded until the drain was over, at `end_ns`.
    pub(crate) fn into_outlet(mut self, end_ns: u64) -> (O, B) {
        self.recorder.slice.outstanding.merge(&self.given_up);
        (self.recorder.finish(end_ns), self.backend)
    }

    fn begin(&mut self) -> io::Result<()> {
        for slot in 0..self.slots.len() as u32 {
            let lane = self.slots[slot as usize].lane;
            if matches!(self.lanes[lane as usize].timing, Timing::Open { .. } | Timing::Held(_) | Timing::Directed(_)) {
                self.lanes[lane as usize].free.put(slot, self.origin_ns);
            } else if self.lanes[lane as usize].start_ns > 0 {
                self.start_later(slot);
            } else {
                self.issue_next(slot, self.origin_ns)?;
            }
        }
        for lane in 0..self.lanes.len() as u32 {
            self.issue_due(lane, self.origin_ns)?;
            self.issue_held(lane, self.origin_ns)?;
            let end_ns = self.lanes[lane as usize].end_ns;
            if end_ns < u64::MAX {
                self.set_timer(self.origin_ns.saturating_add(end_ns), lane | END);
            }
        }
        self.begin_directed(self.origin_ns)
    }

    /// Sets the timer for the first request of a slot whose stream starts later than the job.
    fn start_later(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        let lane = &mut self.lanes[slot.lane as usize];
        if lane.draw(&mut slot.request) {
            let due_ns = self.origin_ns.saturating_add(lane.start_ns).saturating_add(slot.request.delay_ns);
            self.set_timer(due_ns, number);
        }
    }

    /// One turn of the loop; `true` when everything is over.
    #[inline(always)]
    fn turn(&mut self) -> io::Result<bool> {
        let mut until_ns = self.recorder.boundary_ns.min(self.look_ns);
        if self.timed {
            until_ns = self.timers.peek().map_or(until_ns, |&Reverse((due_ns, _))| due_ns.min(until_ns));
        }
        let mut done = std::mem::take(&mut self.done);
        done.clear();
        self.backend.wait(until_ns, &mut done)?;
        let now_ns = done.last().map_or_else(|| self.backend.now(), |last| last.completed_ns);
        self.answered |= !done.is_empty();
        let handed_over_ns = self.backend.handed_over_ns().unwrap_or(0);
        let load = InFlight { all: self.in_flight, older: self.older, handed_over_ns };
        if now_ns >= self.recorder.boundary_ns {
            self.close_intervals(now_ns, load);
        }
        self.recorder.add_area(now_ns, load);
        self.older = self.in_flight;
        let stopping = now_ns >= self.end_ns || self.shared.control.is_stopped();
        self.finish_all(done, now_ns, stopping)?;
        if stopping {
            return self.stopping_turn(now_ns);
        }
        if self.timed {
            self.fire_timers(now_ns)?;
        }
        if self.ends && self.in_flight == 0 && self.lanes.iter().all(Lane::is_spent) && self.nothing_comes() {
            return self.spent_turn(now_ns);
        }
        if now_ns >= self.look_ns {
            self.look_ns = now_ns + LOOK_NS;
            self.speak(now_ns);
        }
        Ok(false)
    }

    /// What came back, in order; at the end nothing follows on it.
    #[inline(always)]
    fn finish_all(&mut self, done: Vec<Done>, now_ns: u64, stopping: bool) -> io::Result<()> {
        if stopping {
            self.begin_drain(now_ns)?;
        }
        for finished in &done {
            self.finish(finished, now_ns, stopping)?;
        }
        self.done = done;
        Ok(())
    }

    /// Says whether answers come.
    #[cold]
    fn speak(&mut self, now_ns: u64) {
        if let Some(pulse) = self.shared.pulse {
            pulse.speak(now_ns, self.in_flight, self.answered);
            self.answered = false;
        }
    }

    /// A completion: of a piece, and of its request when it is the last.
    #[inline(always)]
    fn finish(&mut self, finished: &Done, now_ns: u64, stopping: bool) -> io::Result<()> {
        let slot = &self.slots[finished.slot as usize];
        let (mut submitted_ns, mut failed) =
            (finished.submitted_ns, failure(slot.request.op, slot.request.len, finished.result));
        if !self.single {
            if !self.finish_piece(finished) {
                return Ok(());
            }
            let slot = &self.slots[finished.slot as usize];
            (submitted_ns, failed) = (slot.submitted_ns, slot.failure);
        }
        if self.backend.handed_over_ns().is_none() && !self.backend.stands_still() {
            // It was counted from the turn that issued it to the one that saw it end; the target had it for less.
            let issued_ns = self.slots[finished.slot as usize].issued_ns;
            self.recorder.take_back(issued_ns, submitted_ns..finished.completed_ns);
        }
        self.complete(finished.slot, submitted_ns..finished.completed_ns, failed);
        self.slots[finished.slot as usize].issued_ns = IDLE;
        self.in_flight -= 1;
        self.older -= 1;
        if !self.waiters.is_empty() {
            self.call_up_for(finished.slot, now_ns)?;
        }
        if !stopping {
            return self.follow(finished.slot, now_ns);
        }
        self.follow_in_drain(finished.slot, now_ns)
    }

    /// Records a finished request.
    #[inline(always)]
    fn complete(&mut self, number: u32, service: Range<u64>, failed: Option<i32>) {
        let slot = &self.slots[number as usize];
        let lane = &self.lanes[slot.lane as usize];
        let op = slot.request.op;
        let open = matches!(lane.timing, Timing::Open { .. });
        let accounts = if op == Op::Write { lane.stamps } else { lane.verify != Verify::Off };
        if self.shared.ledger.is_some() && accounts {
            verify_completion(slot, lane.verify, failed, self.shared.ledger, &mut self.findings);
        }
        let index = lane.stream * 4 + op as usize;
        let Some(cell) = &mut self.recorder.slice.cells[index] else {
            unreachable!("the plan says which operations occur")
        };
        if open {
            return self.complete_due(number, index, service, failed);
        }
        if let Some(errno) = failed {
            self.fail(number, index, -errno);
            return;
        }
        let service_ns = service.end - service.start;
        cell.record(slot.request.len, service_ns, service_ns);
        if self.first_done_ns.is_none() {
            self.first_done_ns = Some(service.end);
        }
    }

    #[cold]
    fn fail(&mut self, number: u32, cell: usize, errno: i32) {
        let slot = &mut self.slots[number as usize];
        slot.failure = Some(errno);
        let shared = &self.shared;
        let stops = Stops { control: shared.control, continues: shared.continues };
        fail(&slot.request, self.recorder.slice.cells[cell].as_mut(), errno, &mut self.first_error, &stops);
    }

    /// What a slot does after its request.
    #[inline(always)]
    fn follow(&mut self, number: u32, now_ns: u64) -> io::Result<()> {
        let lane_number = self.slots[number as usize].lane;
        let lane = &mut self.lanes[lane_number as usize];
        match &mut lane.timing {
            Timing::Closed => self.issue_next(number, now_ns),
            Timing::Thinking(thinker) => {
                let think_ns = thinker.next_ns();
                if !lane.draw(&mut self.slots[number as usize].request) {
                    return Ok(());
                }
                let due_ns = now_ns + think_ns + self.slots[number as usize].request.delay_ns;
                self.set_timer(due_ns, number);
                Ok(())
            }
            Timing::Open { .. } => {
                lane.end_flush(number);
                lane.free.put(number, now_ns);
                self.issue_due(lane_number, now_ns)
            }
            Timing::Held(_) => self.release(lane_number, number, now_ns),
            &mut Timing::Directed(director) => self.answer(number, director, now_ns),
        }
    }

    /// Draws the next request for a slot of a closed lane and issues it, after its delay if it has one.
    #[inline(always)]
    fn issue_next(&mut self, number: u32, now_ns: u64) -> io::Result<()> {
        let slot = &mut self.slots[number as usize];
        let lane = &mut self.lanes[slot.lane as usize];
        if !lane.draw(&mut slot.request) {
            return Ok(());
        }
        if self.single
            && self.backend.expects()
            && let Some(offset) = lane.generator.foreseen()
        {
            self.backend.expect(offset);
        }
        let delay_ns = slot.request.delay_ns;
        if delay_ns > 0 {
            self.set_timer(now_ns + delay_ns, number);
            return Ok(());
        }
        self.issue(number, now_ns)
    }

    /// Hands a slot's request to the backend, or puts it off.
    #[inline(always)]
    fn issue(&mut self, number: u32, intended_ns: u64) -> io::Result<()> {
        let slot = &mut self.slots[number as usize];
        slot.intended_ns = intended_ns;
        let prepares = (slot.request.op == Op::Write && self.shared.carries_data) || self.shared.ledger.is_some();
        if prepares && !self.is_ready(number) {
            self.put_off(number);
            return Ok(());
        }
        self.hand_over(number)
    }

    /// Makes a slot's request ready, unless it has to wait.
    #[inline(always)]
    fn is_ready(&mut self, number: u32) -> bool {
        if self.is_behind_others(number) {
            return false;
        }
        let slot = &mut self.slots[number as usize];
        prepare(slot, &mut self.lanes[slot.lane as usize], self.shared.ledger)
    }

    /// Hands over a request that is ready.
    #[inline(always)]
    fn hand_over(&mut self, number: u32) -> io::Result<()> {
        let slot = &mut self.slots[number as usize];
        let lane = &mut self.lanes[slot.lane as usize];
        self.in_flight += 1;
        slot.issued_ns = self.recorder.last_ns();
        let Request { offset, len, op, .. } = slot.request;
        if op == Op::Flush {
            lane.begin_flush(number);
        }
        if self.single {
            let io = Io { slot: number, piece: 0, file: lane.files, op, len, offset, buffer: slot.buffer() };
            return self.backend.submit(io);
        }
        self.issue_pieces(number)
    }
}

/// Whether and how a failure ends the run.
struct Stops<'a> {
    control: &'a Control,
    continues: bool,
}

/// Accounts for a request that failed.
#[cold]
fn fail(request: &Request, cell: Option<&mut Cell>, errno: i32, first: &mut Option<(Op, u64, i32)>, stops: &Stops<'_>) {
    if let Some(cell) = cell {
        cell.fail(errno);
    }
    first.get_or_insert((request.op, request.offset, errno));
    let gone = [libc::ENODEV, libc::ENXIO, libc::ENOMEDIUM, libc::EBADF].contains(&errno);
    if gone || !stops.continues {
        stops.control.stop(StoppedBy::Error);
    }
}
