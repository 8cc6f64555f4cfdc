//! Where on a target a recorded request goes.
//!
//! Model: the devices of a trace lie in *spaces*, one above the other or each in one of its own, and every space has a
//! region of the target. An address of a space becomes one of its region by the mode:
//!
//! - *refuse*: it stays; resolving has made sure that all fit.
//! - *wrap*: modulo the region.
//! - *scale*: places of 1 MiB are spread over the region (or folded onto it) in proportion; inside a place nothing
//!   changes, so that short sequential runs stay what they were.
//! - *squeeze*: the places that were touched stand side by side in their order, the others vanish.
//!
//! Starts are then rounded down and ends up to the unit, and what sticks out of the region is moved back into it.
//! Limits: a run that crosses places of 1 MiB is broken there by *scale*. With *squeeze*, a trim of a place that no
//! read or write touched goes to the next one that was.

use std::ops::Range;

use super::file::TraceRecord;
use crate::request::{Op, Request};

/// The size of places that *scale* moves.
pub(super) const SCALED_BYTES: u64 = 1 << 20;
pub(super) const DEVICE_SHIFT: u32 = 48;

/// What differs from the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// It goes to another address.
    pub moved: bool,
    /// Start or end was rounded.
    pub rounded: bool,
    /// It was longer than its region, or than the trace says its requests are.
    pub shortened: bool,
}

/// Puts recorded requests onto a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Remap {
    /// Starts and lengths are multiples of this.
    pub(super) unit: u64,
    /// The longest request that there is room for in memory, by operation.
    pub(super) longest: [u64; 4],
    /// By device: its space, and its first byte there.
    pub(super) seats: Vec<(usize, u64)>,
    pub(super) spaces: Vec<Space>,
    /// Size of the touched places, and they: device << 48 | place.
    pub(super) touched: (u64, Vec<u64>),
}

/// Addresses that one region of the target stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Space {
    pub(super) region: Range<u64>,
    pub(super) mode: Mode,
}

/// How an address of a space becomes one of its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Stay,
    Wrap,
    /// Places of the space, places of the region.
    Scale(u64, u64),
    Squeeze,
}

impl Remap {
    /// The request for a record, and what differs.
    #[inline]
    pub fn place(&self, record: &TraceRecord) -> (Request, Change) {
        if record.op == Op::Flush {
            return (Request { offset: 0, len: 0, op: Op::Flush, delay_ns: 0 }, Change::default());
        }
        let (number, base) = self.seats[usize::from(record.device).min(self.seats.len() - 1)];
        let space = &self.spaces[number];
        let room = space.region.end - space.region.start;
        let asked = base.saturating_add(record.offset);
        // A file may hold other records than its header says: whatever it holds, nothing leaves the region or the buffer.
        let found = room.min(match space.mode {
            Mode::Stay => asked,
            Mode::Wrap => asked % room,
            Mode::Scale(places, shown) => {
                let place = u128::from(asked / SCALED_BYTES) * u128::from(shown) / u128::from(places);
                place.min(u128::from(shown)) as u64 * SCALED_BYTES + asked % SCALED_BYTES
            }
            Mode::Squeeze => self.squeezed(record) % room,
        });
        let mut start = found - found % self.unit;
        let wanted = (found + u64::from(record.len)).next_multiple_of(self.unit) - start;
        let longest = room.min(self.longest[record.op as usize]) / self.unit * self.unit;
        let len = wanted.min(longest);
        let mut change = Change {
            moved: found != asked,
            rounded: start != found || wanted != u64::from(record.len),
            shortened: len < wanted,
        };
        if start > room - len {
            start = (room - len) / self.unit * self.unit;
            change.moved = true;
        }
        (Request { offset: space.region.start + start, len: len as u32, op: record.op, delay_ns: 0 }, change)
    }

    fn squeezed(&self, record: &TraceRecord) -> u64 {
        let (place_bytes, touched) = (self.touched.0, &self.touched.1);
        let device = u64::from(record.device) << DEVICE_SHIFT;
        let place = touched.partition_point(|&place| place < device | (record.offset / place_bytes));
        // Devices with a space of their own begin at its first byte.
        let first = if self.spaces.len() > 1 { touched.partition_point(|&place| place < device) } else { 0 };
        (place - first) as u64 * place_bytes + record.offset % place_bytes
    }
}
