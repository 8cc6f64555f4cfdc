//! The loop of lean lanes: closed, one request after the other, nothing verified, counted or waited for.
//!
//! Model: the same turn as the general loop's, with only what such lanes need: each completion is counted and answered with the next
//! request of its slot while the backend still has it in its hands, what all requests of a turn have in common is done once, and requests
//! of one pair of stamps are counted together. What a worker of one lane issues is mostly of one kind ([`Sole`]): its operation, length
//! and cell are known before the loop, which is made for such lanes a second time. The records are those of the general loop
//! (`lean/tests.rs`).
//!
//! Limits: the general loop has the first turns, until something has succeeded, and everything from the end on.

use std::io;

use plimsoll_workload::Op;

use super::backlog::Waiting;
use super::{LOOK_NS, Stops, Worker, fail};
use crate::backend::{Backend, Done, Io, Taker, failure};
use crate::control::Control;
use crate::lane::Lane;
use crate::outstanding::Outstanding;
use crate::recorder::{InFlight, Outlet, Recorder};
use crate::silence::Pulse;
use crate::slot::{Slot, prepare};

/// Requests of one cell and one latency that are not in the record yet.
#[derive(Clone, Copy, Default)]
struct Alike {
    cell: usize,
    service_ns: u64,
    count: u64,
    /// Of a sole kind only those of the first.
    bytes: u64,
}

impl Alike {
    /// With the bytes of all; `len` is what a sole kind has.
    #[inline(always)]
    fn summed<const SOLE: bool>(self, len: u32) -> Self {
        Self { bytes: if SOLE { self.count * u64::from(len) } else { self.bytes }, ..self }
    }
}

/// What all requests of a worker have in common, when it has one lane and they differ in nothing but their place.
#[derive(Clone, Copy)]
struct Sole {
    op: Op,
    len: u32,
    cell: usize,
    is_write: bool,
}

impl Sole {
    /// Stands where requests differ, and is not looked at.
    const NONE: Self = Self { op: Op::Read, len: 0, cell: 0, is_write: false };

    fn of(lanes: &[Lane]) -> Option<Self> {
        let [lane] = lanes else { return None };
        let (op, len) = lane.generator.alike().filter(|(op, _)| matches!(op, Op::Read | Op::Write))?;
        Some(Self { op, len, cell: cell_of(lane, op), is_write: op == Op::Write })
    }
}

/// The turns of lean lanes, of one kind of request if `SOLE`: see the module.
struct LeanTurn<'w, O, const SOLE: bool> {
    sole: Sole,
    lanes: &'w mut [Lane],
    slots: &'w mut [Slot],
    recorder: &'w mut Recorder<O>,
    control: &'w Control,
    given_up: &'w Outstanding,
    pulse: Option<&'w Pulse>,
    first_error: &'w mut Option<(Op, u64, i32)>,
    carries_data: bool,
    continues: bool,
    origin_ns: u64,
    end_ns: u64,
    look_ns: u64,
    in_flight: u64,
    older: u64,
    now_ns: u64,
    stopping: bool,
    /// Whether anything came back since it was last told.
    answered: bool,
    /// What of the time in flight was Plimsoll's own, as the general loop takes it back request by request.
    own_ns: u64,
    takes_back: bool,
    stamps_batches: bool,
    alike: Alike,
}

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// Whether the lean loop can go on from here.
    pub(super) fn is_lean(&self) -> bool {
        let asked = self.single && self.shared.ledger.is_none() && self.directed.is_empty() && !self.backend.expects();
        let here = self.first_done_ns.is_some() && !self.timed && !self.draining && self.waiters.is_empty();
        asked && here && self.in_flight == self.slots.len() as u64 && self.lanes.iter().all(|lane| lane.is_lean)
    }

    /// The rest of the run.
    pub(super) fn run_lean(&mut self) -> io::Result<()> {
        let stopped_ns = match Sole::of(&self.lanes) {
            Some(sole) => self.lean_turns::<true>(sole)?,
            None => self.lean_turns::<false>(Sole::NONE)?,
        };
        let done = std::mem::take(&mut self.done);
        self.finish_all(done, stopped_ns, true)?;
        if !self.stopping_turn(stopped_ns)? {
            while !self.turn()? {}
        }
        Ok(())
    }

    /// Turns until the run is to stop; the instant, with what came back until then in `done`.
    #[inline(never)]
    fn lean_turns<const SOLE: bool>(&mut self, sole: Sole) -> io::Result<u64> {
        let mut turn = LeanTurn::<O, SOLE> {
            sole,
            lanes: &mut self.lanes,
            slots: &mut self.slots,
            recorder: &mut self.recorder,
            control: self.shared.control,
            given_up: &self.given_up,
            pulse: self.shared.pulse,
            first_error: &mut self.first_error,
            carries_data: self.shared.carries_data,
            continues: self.shared.continues,
            origin_ns: self.origin_ns,
            end_ns: self.end_ns,
            look_ns: self.look_ns,
            in_flight: self.in_flight,
            older: self.older,
            now_ns: 0,
            stopping: false,
            answered: self.answered,
            own_ns: 0,
            takes_back: false,
            stamps_batches: false,
            alike: Alike { cell: sole.cell, ..Alike::default() },
        };
        let stopped = loop {
            let until_ns = turn.recorder.boundary_ns.min(turn.look_ns);
            let turned = self.backend.turn(until_ns, &mut self.done, &mut turn);
            turn.settle();
            if turned.is_err() || turn.stopping {
                break turned.map(|()| turn.now_ns);
            }
            if turn.now_ns >= turn.look_ns {
                turn.look();
            }
        };
        (self.older, self.answered, self.look_ns) = (turn.older, turn.answered, turn.look_ns);
        stopped
    }
}

impl<O: Outlet, const SOLE: bool> Taker for LeanTurn<'_, O, SOLE> {
    #[inline(always)]
    fn begin<B: Backend>(&mut self, backend: &B, now_ns: u64, completions: usize) -> bool {
        self.now_ns = now_ns;
        self.answered |= completions > 0;
        // A backend may change its ways between two turns.
        self.takes_back = backend.handed_over_ns().is_none() && !backend.stands_still();
        self.stamps_batches = backend.stamps_batches();
        let handed_over_ns = backend.handed_over_ns().unwrap_or(0);
        let load = InFlight { all: self.in_flight, older: self.older, handed_over_ns };
        if now_ns >= self.recorder.boundary_ns {
            self.close_intervals(backend, load);
        }
        self.recorder.add_area(now_ns, load);
        self.stopping = now_ns >= self.end_ns || self.control.is_stopped();
        // What comes back is older, and what follows on it is not.
        self.older = self.in_flight - if self.stopping { 0 } else { completions as u64 };
        !self.stopping
    }

    #[inline(always)]
    fn take(&mut self, finished: &Done) -> Io {
        let number = finished.slot;
        let slot = &mut self.slots[number as usize];
        let lane = &mut self.lanes[if SOLE { 0 } else { slot.lane as usize }];
        let (op, len, cell) = if SOLE {
            (self.sole.op, self.sole.len, self.sole.cell)
        } else {
            (slot.request.op, slot.request.len, cell_of(lane, slot.request.op))
        };
        let service_ns = finished.completed_ns - finished.submitted_ns;
        if self.takes_back {
            if slot.issued_ns >= self.recorder.begin_ns() {
                self.own_ns += self.recorder.last_ns() - slot.issued_ns - service_ns;
            } else {
                self.recorder.take_back(slot.issued_ns, finished.submitted_ns..finished.completed_ns);
            }
        }
        // Of reads and writes alone this says it with one comparison.
        let succeeded = SOLE && finished.result == len as i32;
        if !succeeded && let Some(result) = failure(op, len, finished.result) {
            slot.failure = Some(-result);
            let stops = Stops { control: self.control, continues: self.continues };
            fail(&slot.request, self.recorder.slice.cells[cell].as_mut(), -result, self.first_error, &stops);
        } else if !self.stamps_batches {
            record(self.recorder, Alike { cell, service_ns, count: 1, bytes: u64::from(len) });
        } else if (SOLE || self.alike.cell == cell) && self.alike.service_ns == service_ns {
            self.alike.count += 1;
            if !SOLE {
                self.alike.bytes += u64::from(len);
            }
        } else {
            record(self.recorder, self.alike.summed::<SOLE>(len));
            self.alike = Alike { cell, service_ns, count: 1, bytes: u64::from(len) };
        }
        if SOLE {
            slot.request.offset = lane.generator.next_offset() + lane.base;
        } else {
            let mut request = lane.generator.next();
            request.offset += lane.base;
            slot.request = request;
        }
        (slot.intended_ns, slot.issued_ns) = (self.now_ns, self.recorder.last_ns());
        let (op, len) = if SOLE { (op, len) } else { (slot.request.op, slot.request.len) };
        let is_write = if SOLE { self.sole.is_write } else { op == Op::Write };
        if is_write && self.carries_data {
            prepare(slot, lane, None);
        }
        let buffer = if is_write { slot.write_buffer } else { slot.read_buffer };
        Io { slot: number, piece: 0, file: lane.files, op, len, offset: slot.request.offset, buffer }
    }
}

impl<O: Outlet, const SOLE: bool> LeanTurn<'_, O, SOLE> {
    /// Puts into the record what the turn has gathered.
    #[inline(always)]
    fn settle(&mut self) {
        if self.stamps_batches {
            record(self.recorder, self.alike.summed::<SOLE>(self.sole.len));
            (self.alike.count, self.alike.bytes) = (0, 0);
        }
        self.recorder.slice.in_flight_area -= self.own_ns;
        self.own_ns = 0;
    }

    /// Says whether answers come.
    #[cold]
    fn look(&mut self) {
        self.look_ns = self.now_ns + LOOK_NS;
        if let Some(pulse) = self.pulse {
            pulse.speak(self.now_ns, self.in_flight, self.answered);
            self.answered = false;
        }
    }

    /// Hands on the intervals that have ended, each with what waits at its end.
    #[cold]
    fn close_intervals<B: Backend>(&mut self, backend: &B, load: InFlight) {
        let (lanes, slots) = (&*self.lanes, &*self.slots);
        let waiting = Waiting { lanes, slots, given_up: self.given_up, origin_ns: self.origin_ns };
        let write_caches = backend.write_caches();
        self.recorder.close_until(self.now_ns, load, |at_ns, slice| {
            slice.write_caches = write_caches;
            waiting.enter(at_ns, slice);
        });
    }
}

/// The cell of a lane's requests.
#[inline(always)]
const fn cell_of(lane: &Lane, op: Op) -> usize {
    lane.stream * 4 + op as usize
}

/// Puts requests into the record, if there are any.
#[inline(always)]
fn record<O>(recorder: &mut Recorder<O>, alike: Alike) {
    if alike.count == 0 {
        return;
    }
    let Some(cell) = &mut recorder.slice.cells[alike.cell] else {
        unreachable!("the plan says which operations occur")
    };
    cell.record_alike(alike.count, alike.bytes, alike.service_ns);
}

#[cfg(test)]
mod tests;
