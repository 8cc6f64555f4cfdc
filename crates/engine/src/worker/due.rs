//! Lanes whose requests are due at instants: drawn ones, or those of a trace.
//!
//! A trace that is replayed as fast as possible is due all at once, so that every free slot takes the next request; its
//! latency counts from the hand-over, like that of closed lanes.

use std::io;
use std::ops::Range;

use super::{LANE, Worker};
use crate::backend::Backend;
use crate::lane::Timing;
use crate::recorder::{LATE_NS, Outlet};
use crate::replay::{Ended, Instants};

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// Records a finished request that was due at an instant of its own, or comes from a trace.
    pub(super) fn complete_due(&mut self, number: u32, index: usize, service: Range<u64>, failed: Option<i32>) {
        let slot = &self.slots[number as usize];
        let lane = &mut self.lanes[slot.lane as usize];
        if let Some(replay) = lane.replay.as_mut().filter(|_| slot.mark.is_recorded()) {
            let (intended_ns, ready_ns) = (slot.intended_ns, slot.ready_ns);
            let instants = Instants { intended_ns, ready_ns, submitted_ns: service.start, completed_ns: service.end };
            let (mark, origin_ns) = (slot.mark, self.origin_ns);
            replay.finished(&Ended { mark, request: &slot.request, instants, failed, origin_ns });
        }
        if let Some(errno) = failed {
            self.fail(number, index, -errno);
            return;
        }
        let service_ns = service.end - service.start;
        let slice = &mut self.recorder.slice;
        let latency_ns = if lane.is_fast() { service_ns } else { service.end.saturating_sub(slot.intended_ns) };
        if let Some(cell) = &mut slice.cells[index] {
            cell.record(slot.request.len, latency_ns, service_ns);
        }
        if let Some(lag) = slice.lag.as_mut().filter(|_| !lane.is_fast()) {
            let lag_ns = service.start.saturating_sub(slot.intended_ns.max(slot.ready_ns));
            slice.late += u64::from(lag_ns > LATE_NS);
            lag.saturating_record(lag_ns);
        }
        if self.first_done_ns.is_none() {
            self.first_done_ns = Some(service.end);
        }
    }

    /// Issues what an open lane has due, as far as it has free slots, and sets the timer for the next.
    pub(super) fn issue_due(&mut self, lane_number: u32, now_ns: u64) -> io::Result<()> {
        loop {
            let origin_ns = self.origin_ns;
            let lane = &mut self.lanes[lane_number as usize];
            if lane.is_spent() {
                lane.rest();
                return Ok(());
            }
            if lane.is_flushing() {
                return Ok(());
            }
            let fast = lane.is_fast();
            let Timing::Open { due_ns, armed, .. } = &mut lane.timing else { return Ok(()) };
            let intended_ns = origin_ns.saturating_add(*due_ns);
            if intended_ns >= self.end_ns || lane.free.is_empty() {
                return Ok(());
            }
            if intended_ns > now_ns {
                if !*armed {
                    *armed = true;
                    self.set_timer(intended_ns, lane_number | LANE);
                }
                return Ok(());
            }
            let Some((number, ready_ns)) = lane.free.take() else { return Ok(()) };
            let slot = &mut self.slots[number as usize];
            slot.ready_ns = ready_ns;
            if !lane.draw(&mut slot.request) {
                lane.free.put_back(number, ready_ns);
                continue;
            }
            if let Some(replay) = &mut lane.replay {
                slot.mark = replay.mark();
            }
            lane.look_ahead();
            self.issue(number, if fast { now_ns } else { intended_ns })?;
        }
    }
}
