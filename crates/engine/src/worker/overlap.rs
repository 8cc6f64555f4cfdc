//! Writes that wait for others: two writes of one block of a verified run are never outstanding together, because the order in
//! which they arrive is nobody's promise.
//!
//! Model: who finds a block busy waits, in the order in which it came, and everything that is drawn is issued: nothing is exchanged or left
//! out. Each write that comes back calls up those that overlap it. Who comes later and overlaps one that waits, waits behind it; a
//! sequential stream keeps its order altogether ([`super::waiters`] knows who is behind whom). A flush that holds its thread holds those that wait,
//! too. Requests that are due at an instant keep it, so their wait is part of their latency; the others count from when they are handed
//! over. Nobody is called up once the run has failed.
//!
//! Limits: a block may be busy with another worker's write, of whose end nobody tells; then all that could go are called up every 10 µs.

use std::io;

use plimsoll_workload::Op;

use super::Worker;
use super::waiters::Claim;
use crate::backend::Backend;
use crate::lane::{Lane, Timing};
use crate::recorder::Outlet;
use crate::slot::{IDLE, Slot, prepare};

/// Marks the timer at which all that wait are called up.
pub(super) const CALL_UP: u32 = super::LANE | super::END;
/// How long a write waits before it is tried again, if it may be waiting for another worker.
const AGAIN_NS: u64 = 10_000;

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// Whether a request has to wait behind others that do.
    #[inline(always)]
    pub(super) fn is_behind_others(&self, number: u32) -> bool {
        !self.waiters.is_empty() && self.is_behind(number)
    }

    #[cold]
    fn is_behind(&self, number: u32) -> bool {
        self.waiters.is_before(&self.claim(number))
    }

    /// What the request of a slot wants to itself.
    fn claim(&self, number: u32) -> Claim {
        let slot = &self.slots[number as usize];
        let granule_bytes = self.shared.ledger.map_or(1, |ledger| u64::from(ledger.granule_bytes()));
        let bytes = slot.range();
        Claim {
            granules: bytes.start / granule_bytes..bytes.end.div_ceil(granule_bytes),
            writes: slot.request.op == Op::Write,
            lane: slot.lane,
            in_order: self.lanes[slot.lane as usize].in_order,
        }
    }

    /// The request of a slot waits.
    #[cold]
    pub(super) fn put_off(&mut self, number: u32) {
        self.waiters.join(number, self.claim(number));
        let slot = &mut self.slots[number as usize];
        if is_due(&self.lanes, slot) {
            // It is outstanding for whoever asked for it.
            slot.issued_ns = slot.intended_ns;
        }
        self.call_up_later();
    }

    /// Sets the timer for those that may wait for another worker.
    fn call_up_later(&mut self) {
        if self.shared.workers > 1 && !self.calls_up {
            self.calls_up = true;
            self.set_timer(self.backend.now() + AGAIN_NS, CALL_UP);
        }
    }

    /// A request has come back: those that wait for the bytes of a write have their turn, or for a flush that held their lane.
    #[cold]
    pub(super) fn call_up_for(&mut self, number: u32, now_ns: u64) -> io::Result<()> {
        match self.slots[number as usize].request.op {
            Op::Write => {
                let granules = self.claim(number).granules;
                self.waiters.call_at(granules);
            }
            Op::Flush => {
                let lane = self.slots[number as usize].lane;
                self.lanes[lane as usize].end_flush(number);
                self.waiters.call_lane(lane);
            }
            Op::Read | Op::Trim => return Ok(()),
        }
        self.call_up(now_ns)
    }

    /// The timer of those that wait has gone off.
    pub(super) fn call_up_all(&mut self, now_ns: u64) -> io::Result<()> {
        self.calls_up = false;
        self.waiters.call_all();
        self.call_up(now_ns)?;
        if !self.waiters.is_empty() {
            self.call_up_later();
        }
        Ok(())
    }

    /// Tries those that are called. Whose turn it is not yet, or not after all, waits on at its place.
    pub(super) fn call_up(&mut self, now_ns: u64) -> io::Result<()> {
        if self.shared.control.has_failed() {
            return Ok(());
        }
        while let Some((place, number)) = self.waiters.next_called() {
            let slot = &mut self.slots[number as usize];
            let lane = &mut self.lanes[slot.lane as usize];
            if lane.is_flushing() {
                self.waiters.hold(place, slot.lane);
            } else if prepare(slot, lane, self.shared.ledger) {
                self.waiters.leave(place);
                if !is_due(&self.lanes, slot) {
                    slot.intended_ns = now_ns;
                }
                self.hand_over(number)?;
            }
        }
        Ok(())
    }

    /// The end has come: those of open lanes were due and still have their turn, the others are forgotten; if the target is gone, all are.
    #[cold]
    pub(super) fn end_overlapping(&mut self, gone: bool) {
        for (place, number) in self.waiters.places() {
            let slot = &mut self.slots[number as usize];
            let due = is_due(&self.lanes, slot);
            if due && gone {
                slot.issued_ns = IDLE;
                let waited_ns = self.end_ns.saturating_sub(slot.intended_ns);
                let stream = self.lanes[slot.lane as usize].stream;
                self.given_up.add(stream * 4 + slot.request.op as usize, waited_ns, 1);
                self.unissued += 1;
            }
            if !due || gone {
                self.waiters.leave(place);
            }
        }
    }
}

/// Whether the request of a slot is due at an instant of its own.
fn is_due(lanes: &[Lane], slot: &Slot) -> bool {
    matches!(lanes[slot.lane as usize].timing, Timing::Open { .. })
}
