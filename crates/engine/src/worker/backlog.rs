//! What waits at the end of an interval, and what becomes of it when the run ends.
//!
//! Model: what is in flight at the end is waited for. So is what was due before the end and waits for a slot, if it is no more than a
//! lane may have in flight: that is what any queue holds at any instant, and serving it shows how long it took. A longer backlog is
//! given up, and how long it had been waiting by then is told. Once an I/O or a worker has failed so that the run ends, only what is in
//! flight is waited for: whoever waits for a failed worker's write would wait for ever.

use std::io;

use super::overlap::CALL_UP;
use super::{LOOK_NS, Worker};
use crate::backend::Backend;
use crate::lane::{Lane, Timing};
use crate::outstanding::Outstanding;
use crate::recorder::{InFlight, Outlet, Slice};
use crate::slot::{IDLE, Slot};

/// Requests of a lane's backlog that are stepped through at the end of an interval.
const STEPS_LOOK: u64 = 256;
/// Requests of a worker's backlogs that are drawn when they are given up.
const STEPS_GIVEN_UP: u64 = 1 << 20;

/// What can wait.
pub(super) struct Waiting<'w> {
    pub(super) lanes: &'w [Lane],
    pub(super) slots: &'w [Slot],
    pub(super) given_up: &'w Outstanding,
    /// The job's start on the backend's clock.
    pub(super) origin_ns: u64,
}

impl Waiting<'_> {
    /// Enters into a slice what waits at `now_ns`, on the backend's clock.
    #[cold]
    pub(super) fn enter(&self, now_ns: u64, slice: &mut Slice) {
        let at_ns = now_ns - self.origin_ns;
        slice.behind_ns = self.lanes.iter().map(|lane| lane.behind_ns(at_ns)).max().unwrap_or(0);
        slice.outstanding.merge(self.given_up);
        // The slots of a lane lie side by side.
        for own in self.slots.chunk_by(|one, next| one.lane == next.lane) {
            let lane = &self.lanes[own[0].lane as usize];
            let cell = |slot: &Slot| lane.stream * 4 + slot.request.op as usize;
            let in_flight = || own.iter().filter(|slot| slot.issued_ns != IDLE);
            for slot in in_flight() {
                slice.outstanding.add(cell(slot), now_ns.saturating_sub(slot.intended_ns), 1);
                slice.in_flight_age_ns += now_ns.saturating_sub(slot.issued_ns);
            }
            let first = lane.stream * 4;
            let some = (first..first + 4).find(|&cell| slice.cells[cell].is_some()).unwrap_or(first);
            let mut cells = in_flight().map(cell).cycle();
            let width = in_flight().count().max(1) as u64;
            lane.waiting(at_ns, STEPS_LOOK, |due_ns, count| {
                for turn in 0..width.min(count) {
                    let share = count / width + u64::from(turn < count % width);
                    let cell = cells.next().unwrap_or(some);
                    slice.outstanding.add(cell, at_ns - due_ns, share);
                }
            });
        }
    }
}

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// Hands on the intervals that have ended, each with what waits at its end.
    #[cold]
    pub(super) fn close_intervals(&mut self, now_ns: u64, load: InFlight) {
        let waiting =
            Waiting { lanes: &self.lanes, slots: &self.slots, given_up: &self.given_up, origin_ns: self.origin_ns };
        let write_caches = self.backend.write_caches();
        self.recorder.close_until(now_ns, load, |at_ns, slice| {
            slice.write_caches = write_caches;
            waiting.enter(at_ns, slice);
        });
    }

    /// When the end has come: issues what is due and has a slot, and gives up every backlog that is longer than a lane's queue.
    #[cold]
    pub(super) fn begin_drain(&mut self, now_ns: u64) -> io::Result<()> {
        if self.draining {
            return Ok(());
        }
        self.draining = true;
        self.end_ns = self.end_ns.min(now_ns);
        let gone = self.shared.control.has_failed();
        self.end_overlapping(gone);
        // Who waited for one that is forgotten has its turn.
        self.call_up(now_ns)?;
        let still = !self.waiters.is_empty();
        self.timers.retain(|&std::cmp::Reverse((_, who))| still && who == CALL_UP);
        self.timed = !self.timers.is_empty();
        for number in 0..self.lanes.len() {
            if !gone && !self.lanes[number].is_fast() {
                self.issue_due(number as u32, now_ns)?;
            }
            if gone || !self.is_short(number) {
                self.give_up(number, self.end_ns);
                self.lanes[number].rest();
            }
        }
        Ok(())
    }

    /// A turn of a worker that only waits for what is left; `true` when nothing is.
    #[cold]
    pub(super) fn stopping_turn(&mut self, now_ns: u64) -> io::Result<bool> {
        self.begin_drain(now_ns)?;
        let waiting =
            Waiting { lanes: &self.lanes, slots: &self.slots, given_up: &self.given_up, origin_ns: self.origin_ns };
        let write_caches = self.backend.write_caches();
        self.recorder.cut(now_ns, |slice| {
            slice.write_caches = write_caches;
            waiting.enter(now_ns, slice);
        });
        if self.shared.pulse.is_none() {
            self.look_ns = u64::MAX;
        } else if now_ns >= self.look_ns {
            self.look_ns = now_ns + LOOK_NS;
            self.speak(now_ns);
        }
        if self.shared.control.has_failed() {
            self.break_off();
        } else if self.timed {
            self.fire_timers(now_ns)?;
        }
        Ok(self.in_flight == 0 && self.timers.is_empty() && self.waiters.is_empty())
    }

    /// The run has failed while its end was waited for: what was still to be served is given up.
    #[cold]
    fn break_off(&mut self) {
        self.end_overlapping(true);
        self.timers.clear();
        self.timed = false;
        for number in 0..self.lanes.len() {
            self.give_up(number, self.end_ns);
            self.lanes[number].rest();
        }
    }

    /// Whether what waits of a lane is no more than it may have in flight; of a trace nobody knows without reading on.
    fn is_short(&self, number: usize) -> bool {
        let depth = self.slots.iter().filter(|slot| slot.lane as usize == number).count() as u64;
        let mut waiting = 0;
        let end_ns = self.end_ns.saturating_sub(self.origin_ns);
        let lane = &self.lanes[number];
        lane.waiting(end_ns, depth + 1, |_, count| waiting += count);
        waiting <= depth && lane.replay.is_none()
    }

    /// What a slot does whose request came back in the drain: open lanes may have some that was due before the end.
    pub(super) fn follow_in_drain(&mut self, number: u32, now_ns: u64) -> io::Result<()> {
        let lane_number = self.slots[number as usize].lane;
        let lane = &mut self.lanes[lane_number as usize];
        if !matches!(lane.timing, Timing::Open { .. }) || self.shared.control.has_failed() {
            return Ok(());
        }
        lane.end_flush(number);
        lane.free.put(number, now_ns);
        self.issue_due(lane_number, now_ns)
    }

    /// A lane's time is over; what it owes is given up.
    #[cold]
    pub(super) fn end_lane(&mut self, number: usize) {
        if !self.recorder.warms_up() {
            self.give_up(number, self.origin_ns.saturating_add(self.lanes[number].end_ns));
        }
        self.lanes[number].end();
    }

    /// Gives up what of a lane was due before `end_ns`, on the backend's clock, and not issued.
    fn give_up(&mut self, number: usize, end_ns: u64) {
        let steps_max = (STEPS_GIVEN_UP / self.lanes.len().max(1) as u64).max(1_024);
        let (end_ns, lane) = (end_ns.saturating_sub(self.origin_ns), &mut self.lanes[number]);
        let (stream, given_up, unissued) = (lane.stream, &mut self.given_up, &mut self.unissued);
        lane.give_up(end_ns, steps_max, |op, due_ns, count| {
            given_up.add(stream * 4 + op as usize, end_ns.saturating_sub(due_ns), count);
            *unissued += count;
        });
    }
}
