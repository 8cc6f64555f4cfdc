//! Instants at which a worker has something to do besides answers: arrivals, delays that are over, ends of lanes, directors to be woken.
//!
//! Model: a heap of instants, each with whom it is for: a slot, or a lane, an end or a director by the bit that marks it.

use std::cmp::Reverse;
use std::io;

use super::{END, LANE, Worker, directed_lanes, overlap};
use crate::backend::Backend;
use crate::lane::Timing;
use crate::recorder::Outlet;

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    pub(super) fn set_timer(&mut self, due_ns: u64, who: u32) {
        self.timers.push(Reverse((due_ns, who)));
        self.timed = true;
    }

    pub(super) fn fire_timers(&mut self, now_ns: u64) -> io::Result<()> {
        while let Some(&Reverse((due_ns, who))) = self.timers.peek() {
            if due_ns > now_ns {
                return Ok(());
            }
            self.timers.pop();
            if who == overlap::CALL_UP {
                self.call_up_all(now_ns)?;
            } else if who & LANE != 0 {
                match &mut self.lanes[(who & !LANE) as usize].timing {
                    Timing::Open { armed, .. } => *armed = false,
                    Timing::Held(gate) => gate.armed = false,
                    Timing::Closed | Timing::Thinking(_) | Timing::Directed(_) => {}
                }
                self.issue_due(who & !LANE, now_ns)?;
                self.issue_held(who & !LANE, now_ns)?;
            } else if who & END != 0 {
                self.end_lane((who & !END) as usize);
            } else if who & directed_lanes::DIRECTOR != 0 {
                self.wake_director(who & !directed_lanes::DIRECTOR, now_ns)?;
            } else {
                self.issue_delayed(who, due_ns, now_ns)?;
            }
        }
        self.timed = false;
        Ok(())
    }

    /// The delay of a slot's request is over, unless its lane has ended meanwhile; a flush that holds the lane holds it, too.
    pub(super) fn issue_delayed(&mut self, number: u32, due_ns: u64, now_ns: u64) -> io::Result<()> {
        let lane = &mut self.lanes[self.slots[number as usize].lane as usize];
        if now_ns >= self.origin_ns.saturating_add(lane.end_ns) {
            return Ok(());
        }
        let flushing = lane.is_flushing();
        match &mut lane.timing {
            Timing::Held(gate) if flushing => gate.delayed.push(number),
            _ => return self.issue(number, due_ns),
        }
        Ok(())
    }
}
