//! Writes that wait for others: two writes of one block of a verified run are never outstanding together, because the order in
//! which they arrive is nobody's promise.
//!
//! Model: who finds a block busy waits, in the order in which it came, and everything that is drawn is issued: nothing is exchanged or left
//! out. Each write that comes back calls up those that overlap it. Who comes later and overlaps one that waits, waits behind it; a
//! sequential stream keeps its order altogether. A flush that holds its thread holds those that wait, too. Requests that are due at an
//! instant keep it, so their wait is part of their latency. Nobody is called up once the run has failed.
//!
//! Limits: a block may be busy with another worker's write, of whose end nobody tells; then all are called up every 10 µs.

use std::io;
use std::ops::Range;

use plimsoll_workload::Op;

use super::Worker;
use crate::backend::Backend;
use crate::lane::Timing;
use crate::recorder::Outlet;
use crate::slot::IDLE;

/// Marks the timer at which all that wait are called up.
pub(super) const CALL_UP: u32 = super::LANE | super::END;
/// How long a write waits before it is tried again, if it may be waiting for another worker.
const AGAIN_NS: u64 = 10_000;

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// Whether a request has to wait behind others that do.
    #[inline(always)]
    pub(super) fn is_behind_others(&self, number: u32) -> bool {
        !self.overlapping.is_empty() && self.is_behind(number)
    }

    #[cold]
    fn is_behind(&self, number: u32) -> bool {
        let slot = &self.slots[number as usize];
        let in_order = self.lanes[slot.lane as usize].in_order;
        let range = slot.range();
        self.overlapping.iter().map(|&other| &self.slots[other as usize]).any(|other| {
            (in_order && other.lane == slot.lane) || (slot.request.op == Op::Write && other.overlaps(&range))
        })
    }

    /// The request of a slot waits.
    #[cold]
    pub(super) fn put_off(&mut self, number: u32) {
        self.overlapping.push(number);
        let slot = &mut self.slots[number as usize];
        if matches!(self.lanes[slot.lane as usize].timing, Timing::Open { .. }) {
            // It is due, and so outstanding for whoever asked for it.
            slot.issued_ns = slot.intended_ns;
        }
        if self.shared.workers > 1 && !self.calls_up {
            self.calls_up = true;
            self.set_timer(self.backend.now() + AGAIN_NS, CALL_UP);
        }
    }

    /// A request has come back: those that wait for the bytes of a write have their turn, or for a flush that held their lane.
    #[cold]
    pub(super) fn call_up_for(&mut self, number: u32) -> io::Result<()> {
        let slot = &self.slots[number as usize];
        match slot.request.op {
            Op::Write => self.call_up(&slot.range()),
            Op::Flush => {
                self.lanes[slot.lane as usize].end_flush(number);
                self.call_up(&(0..u64::MAX))
            }
            Op::Read | Op::Trim => Ok(()),
        }
    }

    /// The timer of those that wait has gone off.
    pub(super) fn call_up_all(&mut self) -> io::Result<()> {
        self.calls_up = false;
        self.call_up(&(0..u64::MAX))
    }

    /// Those whose turn it is not yet, or not after all, wait on in their order.
    fn call_up(&mut self, freed: &Range<u64>) -> io::Result<()> {
        if self.shared.control.has_failed() {
            return Ok(());
        }
        for number in std::mem::take(&mut self.overlapping) {
            let slot = &self.slots[number as usize];
            let lane = &self.lanes[slot.lane as usize];
            if !lane.is_flushing() && (slot.overlaps(freed) || lane.in_order) {
                self.issue(number, slot.intended_ns)?;
            } else {
                self.overlapping.push(number);
            }
        }
        Ok(())
    }

    /// The end has come: those of open lanes were due and still have their turn, the others are forgotten; if the target is gone, all are.
    #[cold]
    pub(super) fn end_overlapping(&mut self, gone: bool) {
        for number in std::mem::take(&mut self.overlapping) {
            let slot = &mut self.slots[number as usize];
            let lane = &self.lanes[slot.lane as usize];
            if !matches!(lane.timing, Timing::Open { .. }) {
                continue;
            }
            if gone {
                slot.issued_ns = IDLE;
                let waited_ns = self.end_ns.saturating_sub(slot.intended_ns);
                self.given_up.add(lane.stream * 4 + slot.request.op as usize, waited_ns, 1);
                self.unissued += 1;
            } else {
                self.overlapping.push(number);
            }
        }
    }
}
