//! A slot: one outstanding request, from being made ready to being accounted for.

use std::ops::Range;

use plimsoll_workload::stamp::{self, Findings};
use plimsoll_workload::{Op, Request, Verify};

use crate::lane::Lane;
use crate::ledger::Ledger;
use crate::replay::Mark;

/// Stands for the instant of issue of a slot that has nothing outstanding.
pub(crate) const IDLE: u64 = u64::MAX;

/// What of a request goes to one part of its target.
#[derive(Clone, Copy, Default)]
pub(crate) struct Piece {
    pub(crate) part: u32,
    pub(crate) len: u32,
}

/// The pieces of a request; most have one, which is at hand without a look elsewhere.
#[derive(Default)]
pub(crate) struct Pieces {
    first: Piece,
    count: u32,
    left: u32,
    others: Vec<Piece>,
}

impl Pieces {
    pub(crate) fn clear(&mut self) {
        (self.count, self.left) = (0, 0);
    }

    /// Takes up one more; its number.
    #[inline(always)]
    pub(crate) fn add(&mut self, piece: Piece) -> u32 {
        let number = self.count;
        match number {
            0 => self.first = piece,
            _ => self.add_other(piece),
        }
        self.count += 1;
        self.left += 1;
        number
    }

    #[cold]
    fn add_other(&mut self, piece: Piece) {
        self.others.truncate(self.count as usize - 1);
        self.others.push(piece);
    }

    #[inline(always)]
    pub(crate) fn at(&self, number: u32) -> Piece {
        match number {
            0 => self.first,
            _ => self.others[number as usize - 1],
        }
    }

    /// One of them has come back; whether it was the last.
    #[inline(always)]
    pub(crate) const fn ended(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }
}

/// One outstanding request. What every request needs stands first and begins with a cache line: a worker of many threads goes
/// through a thousand slots in turn.
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) request: Request,
    pub(crate) intended_ns: u64,
    /// Since when it is counted as outstanding, [`IDLE`] while it is not: what is between this and its submission is Plimsoll's own
    /// time.
    pub(crate) issued_ns: u64,
    /// Where its reads go.
    pub(crate) read_buffer: *mut u8,
    pub(crate) lane: u32,
    /// Negated errno of the first piece that failed; 0 for a short transfer.
    pub(crate) failure: Option<i32>,
    pub(crate) submitted_ns: u64,
    /// Only for targets of several parts.
    pub(crate) pieces: Pieces,
    /// Where its writes come from: apart from reads, which would overwrite the prepared content.
    pub(crate) write_buffer: *mut u8,
    /// Since when there was a free slot for it; later than it was due if it had to wait for one.
    pub(crate) ready_ns: u64,
    /// What a verified read may return.
    pub(crate) notes: Vec<u64>,
    /// Which request of a trace it carries; only lanes that replay one look at it.
    pub(crate) mark: Mark,
}

impl Slot {
    pub(crate) fn new(lane: u32, read_buffer: *mut u8, write_buffer: *mut u8) -> Self {
        let request = Request { offset: 0, len: 0, op: Op::Read, delay_ns: 0 };
        Self {
            lane,
            request,
            intended_ns: 0,
            ready_ns: 0,
            issued_ns: IDLE,
            submitted_ns: u64::MAX,
            failure: None,
            read_buffer,
            write_buffer,
            notes: Vec::new(),
            pieces: Pieces::default(),
            mark: Mark::NONE,
        }
    }

    /// Whether its request touches a byte of `range`.
    pub(crate) const fn overlaps(&self, range: &Range<u64>) -> bool {
        self.request.offset < range.end && range.start < self.request.offset + self.request.len as u64
    }

    /// The bytes of its request.
    pub(crate) const fn range(&self) -> Range<u64> {
        self.request.offset..self.request.offset + self.request.len as u64
    }

    #[inline(always)]
    pub(crate) fn buffer(&self) -> *mut u8 {
        if self.request.op == Op::Write { self.write_buffer } else { self.read_buffer }
    }
}

/// Makes a request ready: fresh content for a write, notes for a verified read. `false`: its granules are being written.
pub(crate) fn prepare(slot: &mut Slot, lane: &mut Lane, ledger: Option<&Ledger>) -> bool {
    let Request { offset, len, op, .. } = slot.request;
    match (op, ledger) {
        (Op::Write, Some(ledger)) if lane.stamps => {
            // SAFETY: the slot's buffer is its own and nothing is outstanding on it.
            let buffer = unsafe { std::slice::from_raw_parts_mut(slot.write_buffer, len as usize) };
            return ledger.begin_write(offset, buffer);
        }
        (Op::Write, _) => {
            // SAFETY: as above.
            let buffer = unsafe { std::slice::from_raw_parts_mut(slot.write_buffer, len as usize) };
            lane.sequence += 1;
            lane.content.refresh(buffer, offset, lane.sequence);
        }
        (Op::Read, Some(ledger)) if matches!(lane.verify, Verify::Reads | Verify::All | Verify::Journal) => {
            ledger.begin_read(offset, len as usize, &mut slot.notes);
        }
        _ => {}
    }
    true
}

/// Accounts for a finished write, or checks a finished read.
#[cold]
pub(crate) fn verify_completion(
    slot: &Slot,
    verify: Verify,
    failed: Option<i32>,
    ledger: Option<&Ledger>,
    findings: &mut Findings,
) {
    let Some(ledger) = ledger else { return };
    let Request { offset, len, op, .. } = slot.request;
    match op {
        Op::Write => ledger.end_write(offset, len as usize, failed.is_none()),
        Op::Read if failed.is_none() => {
            // SAFETY: the slot's buffer is its own and the read has completed.
            let buffer = unsafe { std::slice::from_raw_parts(slot.read_buffer.cast_const(), len as usize) };
            match verify {
                Verify::Found => drop(stamp::check_found(buffer, offset, findings)),
                _ => ledger.check_read(offset, buffer, &slot.notes, findings),
            }
        }
        _ => {}
    }
}
