//! Reading back: after the run, everything that was written is read once more and checked.
//!
//! It is no load: nothing is timed or counted but what is wrong.

use std::io;

use plimsoll_workload::{Op, Request, Verify};

use super::{LOOK_NS, Worker};
use crate::backend::{Backend, Done, failure};
use crate::recorder::Outlet;
use crate::slot::{Slot, verify_completion};

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// Reads back and checks everything that was written, as share `share` of `shares`.
    ///
    /// # Errors
    /// When the backend itself fails; a read that fails is kept as the first error.
    pub(crate) fn read_back(&mut self, share: usize, shares: usize) -> io::Result<()> {
        let Some(ledger) = self.shared.ledger else { return Ok(()) };
        let reads_back = |slot: &Slot| self.lanes[slot.lane as usize].verify == Verify::All;
        let mut free: Vec<u32> =
            (0..self.slots.len() as u32).filter(|&n| reads_back(&self.slots[n as usize])).collect();
        let lens = free.iter().map(|&number| self.lanes[self.slots[number as usize].lane as usize].max_len);
        let Some(longest_bytes) = lens.min() else { return Ok(()) };
        let mut ranges = ledger.written(share, shares, longest_bytes);
        let mut done = Vec::new();
        loop {
            while let Some(&number) = free.last() {
                let Some((offset, len)) = ranges.next() else { break };
                free.pop();
                let slot = &mut self.slots[number as usize];
                slot.request = Request { offset, len, op: Op::Read, delay_ns: 0 };
                slot.failure = None;
                let now_ns = self.backend.now();
                self.issue(number, now_ns)?;
            }
            if self.in_flight == 0 {
                return Ok(());
            }
            done.clear();
            let look_ns = if self.shared.pulse.is_some() { self.backend.now() + LOOK_NS } else { u64::MAX };
            self.backend.wait(look_ns, &mut done)?;
            self.answered |= !done.is_empty();
            if self.backend.now() >= self.look_ns {
                self.look_ns = look_ns;
                self.speak(self.backend.now());
            }
            free.extend(done.iter().filter_map(|finished| self.finish_read_back(finished)));
        }
    }

    /// A completion while reading back; the slot, if its request is complete.
    fn finish_read_back(&mut self, finished: &Done) -> Option<u32> {
        let slot = &mut self.slots[finished.slot as usize];
        let len = if self.single { slot.request.len } else { slot.pieces.at(finished.piece).len };
        if let Some(errno) = failure(Op::Read, len, finished.result) {
            slot.failure = Some(errno);
            self.first_error.get_or_insert((Op::Read, slot.request.offset, -errno));
        }
        if !self.single && !slot.pieces.ended() {
            return None;
        }
        verify_completion(slot, Verify::All, slot.failure, self.shared.ledger, &mut self.findings);
        self.in_flight -= 1;
        Some(finished.slot)
    }
}
