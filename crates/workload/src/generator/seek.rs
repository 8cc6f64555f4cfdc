//! Going to any request of a general course.
//!
//! What a request depends on besides its own draws decides the cost:
//!
//! | depends on | found by | cost |
//! |---|---|---|
//! | nothing (all random; bursts of one length) | arithmetic | O(1) |
//! | the permutation's place (all random, no flushes) | arithmetic | O(1) |
//! | the pointer, all sequential, one size and alignment, no flushes | closed form of the laps | O(1) |
//! | the pointer, partly random, bursts of one length | walking back to the last random request | 1 / random share, expected |
//! | which burst it is in, bursts of several lengths, all random | walking the bursts | O(bursts) |
//! | anything else (several sizes in sequence; flushes with a permutation) | replay from the start | O(index) |

use super::general::{General, Pointer};
use crate::address::Placement;
use crate::request::Op;

impl General {
    /// Makes request `index` the next one. A pointer shared with other shards stays where it is: it belongs to all.
    pub(crate) fn seek(&mut self, index: u64) {
        let cover = self.coverage.is_some();
        let addressed = !self.entries.iter().any(|entry| entry.flushes());
        let sequential = self.is_partly_sequential();
        let burst = self.burst_of_all();
        match burst {
            Some(burst) if !sequential && (!cover || addressed) => {
                self.enter_burst(index, burst);
                self.cover(index);
            }
            Some(burst) if !cover && self.restore_pointer(index, burst) => self.enter_burst(index, burst),
            None if !sequential && (!cover || addressed) => {
                self.walk_bursts(index);
                self.cover(index);
            }
            _ => self.replay(index),
        }
    }

    fn cover(&mut self, index: u64) {
        if let Some(coverage) = &mut self.coverage {
            coverage.seek(index);
        }
    }

    /// The burst length, if all lines have the same (with one line bursts of any length change nothing).
    fn burst_of_all(&self) -> Option<u64> {
        let first = self.entries[0].burst;
        self.entries.iter().all(|entry| entry.burst == first).then_some(u64::from(first))
    }

    /// The line of the burst that contains request `index`.
    fn entry_at(&self, index: u64, burst: u64) -> usize {
        if self.entries.len() == 1 { 0 } else { self.choice.pick(self.lanes.entry.at(index - index % burst)) }
    }

    /// Stands right before request `index` inside its burst.
    fn enter_burst(&mut self, index: u64, burst: u64) {
        let done = index % burst;
        self.current = self.entry_at(index, burst);
        self.left = if done == 0 { 0 } else { (burst - done) as u32 };
    }

    fn walk_bursts(&mut self, index: u64) {
        let mut start = 0;
        self.left = 0;
        while start < index {
            self.begin_burst(start);
            let end = start + u64::from(self.left);
            self.left = end.saturating_sub(index) as u32;
            start = end;
        }
    }

    /// Sets the pointer to what it is before request `index`; false if only a replay can tell.
    fn restore_pointer(&mut self, index: u64, burst: u64) -> bool {
        if matches!(self.pointer, Pointer::Shared(_)) {
            return true;
        }
        if let Some(pointer) = self.pointer_on_lap(index) {
            self.pointer = Pointer::Own(pointer);
            return true;
        }
        if self.entries.iter().all(|entry| entry.random.is_never()) {
            return false;
        }
        let Some(from) = (0..index).rev().find(|&earlier| self.jumps(earlier, burst)) else { return false };
        self.enter_burst(from, burst);
        for earlier in from..index {
            self.next(earlier);
        }
        true
    }

    /// The pointer before request `index` of a purely sequential course of one size.
    fn pointer_on_lap(&self, index: u64) -> Option<u64> {
        let first = &self.entries[0];
        let size = first.fixed()?;
        let alike = |entry: &super::entry::Entry| {
            entry.random.is_never() && entry.fixed() == Some(size) && entry.blocks.align == first.blocks.align
        };
        if !self.entries.iter().all(alike) {
            return None;
        }
        let Some(previous) = index.checked_sub(1) else { return Some(self.origin) };
        let mut laps = self.track.laps(self.origin, size.len, first.blocks.align);
        laps.seek(previous);
        Some(self.track.after(laps.next(), size.len))
    }

    /// Whether request `index` went to a random address and so forgot where the pointer was.
    fn jumps(&self, index: u64, burst: u64) -> bool {
        let entry = &self.entries[self.entry_at(index, burst)];
        let flushes = || entry.mix.pick(self.lanes.operation.at(index)) == Op::Flush;
        !matches!(entry.placement, Placement::Coverage)
            && entry.random.hit(self.lanes.randomness.at(index))
            && !(entry.flushes() && flushes())
    }

    fn replay(&mut self, index: u64) {
        let kept = std::mem::replace(&mut self.pointer, Pointer::Own(self.origin));
        self.left = 0;
        self.cover(0);
        for earlier in 0..index {
            self.next(earlier);
        }
        if matches!(kept, Pointer::Shared(_)) {
            self.pointer = kept;
        }
    }
}
