//! The end of a worker whose lanes have all issued their amounts: what they owe, and telling the others.

use std::cmp::Reverse;
use std::io;

use plimsoll_workload::{Op, Request};

use super::{END, LOOK_SPENT_NS, Worker};
use crate::backend::Backend;
use crate::lane::Timing;
use crate::recorder::Outlet;
use crate::replay::Mark;

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// Whether no request waits, and no timer but for the end of a lane.
    pub(super) fn nothing_comes(&self) -> bool {
        self.waiters.is_empty() && self.timers.iter().all(|&Reverse((_, who))| who & END != 0)
    }

    /// Everything was issued and came back: the job ends here when the other workers are as far.
    #[cold]
    pub(super) fn spent_turn(&mut self, now_ns: u64) -> io::Result<bool> {
        if self.flush_what_is_owed(now_ns)? {
            return Ok(false);
        }
        if self.spent_ns.is_none() {
            self.spent_ns = Some(now_ns);
            self.shared.control.spend(self.shared.workers);
        }
        self.look_ns = now_ns + LOOK_SPENT_NS;
        self.speak(now_ns);
        if self.shared.control.is_stopped() { self.stopping_turn(now_ns) } else { Ok(false) }
    }

    /// Issues the last flush of every lane that owes one; whether any did.
    fn flush_what_is_owed(&mut self, now_ns: u64) -> io::Result<bool> {
        for number in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[number as usize];
            let lane = &mut self.lanes[slot.lane as usize];
            if std::mem::take(&mut lane.owes_flush) {
                slot.request = Request { offset: 0, len: 0, op: Op::Flush, delay_ns: 0 };
                (slot.ready_ns, slot.mark) = (now_ns, Mark::NONE);
                if let Timing::Held(gate) = &mut lane.timing {
                    gate.issued(number, now_ns);
                }
                self.issue(number, now_ns)?;
            }
        }
        Ok(self.in_flight > 0)
    }
}
