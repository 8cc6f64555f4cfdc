//! Lanes with a gate: their slots wait in the lane until it lets a request pass.

use std::io;

use super::{LANE, Worker};
use crate::backend::Backend;
use crate::gate::Turn;
use crate::lane::Timing;
use crate::recorder::Outlet;

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// A slot of a held lane has its answer.
    pub(super) fn release(&mut self, lane_number: u32, number: u32, now_ns: u64) -> io::Result<()> {
        let lane = &mut self.lanes[lane_number as usize];
        lane.end_flush(number);
        if let Timing::Held(gate) = &mut lane.timing {
            gate.completed(number);
            lane.free.put(number, now_ns);
        }
        if !lane.is_flushing() {
            self.issue_held_back(lane_number, now_ns)?;
        }
        self.issue_held(lane_number, now_ns)
    }

    /// Issues the requests whose delays ended while a flush held their lane.
    fn issue_held_back(&mut self, lane_number: u32, now_ns: u64) -> io::Result<()> {
        let Timing::Held(gate) = &mut self.lanes[lane_number as usize].timing else { return Ok(()) };
        std::mem::take(&mut gate.delayed).into_iter().try_for_each(|number| self.issue_delayed(number, now_ns, now_ns))
    }

    /// Issues what a held lane may, and sets the timer for the next.
    pub(super) fn issue_held(&mut self, lane_number: u32, now_ns: u64) -> io::Result<()> {
        while let Some(number) = self.next_held(lane_number, now_ns) {
            let lane = &mut self.lanes[lane_number as usize];
            let Timing::Held(gate) = &mut lane.timing else { return Ok(()) };
            let slots = &self.slots;
            let range = slots[number as usize].range();
            let overlaps = |&busy: &u32| busy != number && slots[busy as usize].overlaps(&range);
            if gate.busy.iter().any(overlaps) {
                gate.held = Some(number);
                return Ok(());
            }
            match self.slots[number as usize].request.delay_ns {
                0 => self.issue(number, now_ns)?,
                delay_ns => self.set_timer(now_ns + delay_ns, number),
            }
        }
        Ok(())
    }

    /// The slot whose request is next: the one that was held, or a free one with a new request.
    fn next_held(&mut self, lane_number: u32, now_ns: u64) -> Option<u32> {
        let start_ns = self.origin_ns;
        let lane = &mut self.lanes[lane_number as usize];
        if lane.is_flushing() {
            return None;
        }
        let spent = lane.is_spent();
        let Timing::Held(gate) = &mut lane.timing else { return None };
        if let Some(number) = gate.held.take() {
            return Some(number);
        }
        if spent {
            gate.leave();
            return None;
        }
        let number = lane.free.next()?;
        let starts_ns = start_ns + lane.start_ns;
        let turn = if now_ns < starts_ns { Turn::Until(starts_ns) } else { gate.turn(now_ns) };
        match turn {
            Turn::Completion => return None,
            Turn::Until(_) if gate.armed => return None,
            Turn::Until(due_ns) => {
                gate.armed = true;
                self.set_timer(due_ns, lane_number | LANE);
                return None;
            }
            Turn::Issue => {}
        }
        let draws = lane.draw(&mut self.slots[number as usize].request);
        let Timing::Held(gate) = &mut lane.timing else { return None };
        if !draws {
            gate.leave();
            return None;
        }
        gate.issued(number, now_ns);
        let _ = lane.free.take();
        Some(number)
    }
}
