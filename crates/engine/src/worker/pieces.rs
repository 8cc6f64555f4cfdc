//! Requests to targets of several parts: handed over in pieces, one to each part that they touch, and finished with the last.
//!
//! Model: a request is submitted when its first piece is, and failed when any is; the record of a part counts its pieces.

use std::io;

use plimsoll_workload::{Op, Request};

use super::Worker;
use crate::backend::{Backend, Done, Io, failure};
use crate::recorder::Outlet;
use crate::slot::Piece;

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// A piece of a request to several parts; whether it was the last.
    pub(super) fn finish_piece(&mut self, finished: &Done) -> bool {
        let slot = &mut self.slots[finished.slot as usize];
        let Piece { part, len } = slot.pieces.at(finished.piece);
        let cell =
            self.recorder.slice.parts.get_mut(part as usize * 4 + slot.request.op as usize).and_then(Option::as_mut);
        let failure = failure(slot.request.op, len, finished.result);
        if let Some(cell) = cell {
            match failure {
                None => {
                    let service_ns = finished.completed_ns - finished.submitted_ns;
                    cell.record(len, service_ns, service_ns);
                }
                Some(errno) => cell.fail(-errno),
            }
        }
        slot.submitted_ns = slot.submitted_ns.min(finished.submitted_ns);
        slot.failure = slot.failure.or(failure);
        slot.pieces.ended()
    }

    /// Hands over what is ready, piece by piece.
    pub(super) fn issue_pieces(&mut self, number: u32) -> io::Result<()> {
        let slot = &mut self.slots[number as usize];
        let lane = &self.lanes[slot.lane as usize];
        (slot.submitted_ns, slot.failure) = (u64::MAX, None);
        let buffer = slot.buffer();
        let Request { offset, len, op, .. } = slot.request;
        let (pieces, backend) = (&mut slot.pieces, &mut self.backend);
        pieces.clear();
        let mut submitted = Ok(());
        // A part has a number on the target, and a place among those that the lane uses.
        let mut add = |(part, place): (usize, usize), offset: u64, len: u32, buffer_offset: u32| {
            let (part, file) = (part as u32, lane.files + place as u32);
            let buffer = buffer.wrapping_add(buffer_offset as usize);
            let piece = pieces.add(Piece { part, len });
            if submitted.is_ok() {
                submitted = backend.submit(Io { slot: number, piece, file, op, len, offset, buffer });
            }
        };
        match &lane.spread {
            Some(spread) if op == Op::Flush => {
                spread.numbers().iter().enumerate().for_each(|(place, &part)| add((part, place), 0, 0, 0));
            }
            Some(spread) => {
                let numbers = spread.numbers();
                spread.map(offset, len, &mut |place, offset, len, before| {
                    add((numbers[place], place), offset, len, before)
                });
            }
            None => {
                let volume = self.shared.volume;
                let row = lane.row.as_ref().map_or(0..volume.parts(), |row| row.start as usize..row.end as usize);
                let first = row.start;
                match op {
                    Op::Flush => row.for_each(|part| add((part, part - first), 0, 0, 0)),
                    _ => volume.map(offset, len, &mut |part, offset, len, before| {
                        add((part, part - first), offset, len, before);
                    }),
                }
            }
        }
        submitted
    }
}
