//! A write cache that loses its content with the power: what was written to a file and is not durable yet. Pure.
//!
//! Model: changes stay here in the order in which they were made, over what is durable. Reads see all of them. A flush makes
//! them durable and forgets them; so does a write that asks to be durable itself (`O_DSYNC`), for its own bytes only, unless
//! the size of the file is under way, which takes everything with it. When more wait than there is room for, the oldest become
//! durable by themselves, as in every cache. A flush that *lies* makes a drawn part of them durable, in any order, and keeps
//! them all, so that only a power cut shows it.
//!
//! A power cut forgets what is not durable. How much of it the device had written by itself is drawn: of every change a share
//! `keep` has become durable, whatever was written before it, and of every write among them that has several units of
//! `tear_bytes` a share `tear` only in part.
//!
//! Limits: names and directories are durable at once. Bytes within a unit are durable together.
//!
//! ```
//! use plimsoll_faultfs::volatile::{Change, Pending};
//! let mut pending = Pending::default();
//! pending.push(Change::Write { offset: 2, data: vec![7, 7] });
//! let mut read = vec![1; 4]; // what is durable
//! pending.overlay(0, &mut read);
//! assert_eq!(read, [1, 1, 7, 7]);
//! assert_eq!(pending.flush().len(), 1);
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use serde::Deserialize;

use crate::chance::{Chance, Draw};

/// Something that was done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes written.
    Write {
        /// The first.
        offset: u64,
        /// All of them.
        data: Vec<u8>,
    },
    /// Bytes cleared.
    Zero {
        /// The first.
        offset: u64,
        /// How many.
        len: u64,
    },
    /// Another size.
    Resize {
        /// In bytes.
        size: u64,
    },
}

/// What a power cut leaves of what was not durable.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cut {
    /// The share of changes that had become durable by themselves.
    pub keep: f64,
    /// Of writes that are kept: the share that is kept in part.
    pub tear: f64,
    /// The unit that is kept or lost as one.
    pub tear_bytes: u64,
    /// What is drawn follows from it.
    pub seed: u64,
}

impl Default for Cut {
    /// Everything that is not durable is lost.
    fn default() -> Self {
        Self { keep: 0.0, tear: 0.0, tear_bytes: 512, seed: 0 }
    }
}

/// What became of one change in a power cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The bytes that it was about; of a change of size the size up to its end.
    pub range: Range<u64>,
    /// What of it is durable.
    pub kept: Vec<Change>,
    /// Whether that is only a part.
    pub torn: bool,
}

impl Change {
    /// The bytes that it is about.
    pub fn range(&self) -> Range<u64> {
        match self {
            Self::Write { offset, data } => *offset..offset + data.len() as u64,
            Self::Zero { offset, len } => *offset..offset + len,
            Self::Resize { size } => *size..*size,
        }
    }

    fn held_bytes(&self) -> u64 {
        // What a change costs besides its data, so that small ones cannot pile up without end.
        const OVERHEAD_BYTES: u64 = 64;
        OVERHEAD_BYTES + if let Self::Write { data, .. } = self { data.len() as u64 } else { 0 }
    }

    fn size_after(&self, size: u64) -> u64 {
        match self {
            Self::Resize { size } => *size,
            Self::Write { .. } | Self::Zero { .. } => size.max(self.range().end),
        }
    }
}

/// The changes of one file that are not durable, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    changes: VecDeque<Change>,
    held_bytes: u64,
}

impl Pending {
    /// Bytes that wait, with what they cost.
    pub const fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// How many changes wait.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// One more change.
    pub fn push(&mut self, change: Change) {
        self.held_bytes += change.held_bytes();
        self.changes.push_back(change);
    }

    /// The oldest change, which becomes durable.
    pub fn pop(&mut self) -> Option<Change> {
        let change = self.changes.pop_front()?;
        self.held_bytes -= change.held_bytes();
        Some(change)
    }

    /// Everything, which becomes durable in this order.
    pub fn flush(&mut self) -> Vec<Change> {
        self.held_bytes = 0;
        std::mem::take(&mut self.changes).into()
    }

    /// A share of the changes in any order, which becomes durable although all of them wait on.
    pub fn lie(&self, draw: Draw) -> Vec<Change> {
        let chance = Chance(draw.0);
        let mut drawn: Vec<(u64, &Change)> = (0..).map(|n| chance.at(n).0).zip(&self.changes).collect();
        drawn.retain(|(number, _)| Draw(*number).next().below(2) == 0);
        drawn.sort_unstable_by_key(|(number, _)| *number);
        drawn.into_iter().map(|(_, change)| change.clone()).collect()
    }

    /// What a cut leaves of each change.
    pub fn cut(&mut self, cut: &Cut, file: u64) -> Vec<Fate> {
        let chance = Chance(Chance(cut.seed).at(file).0);
        let changes = self.flush().into_iter();
        changes.zip(0..).map(|(change, n)| fate(change, cut, chance.at(n))).collect()
    }

    /// The size of a file of which `durable` bytes are durable.
    pub fn size(&self, durable: u64) -> u64 {
        self.changes.iter().fold(durable, |size, change| change.size_after(size))
    }

    /// Lays the changes over what is durable at `offset`; beyond its end that has to be zeros.
    pub fn overlay(&self, offset: u64, bytes: &mut [u8]) {
        let end = offset + bytes.len() as u64;
        for change in &self.changes {
            let range = change.range();
            match change {
                Change::Resize { size } if *size < end => bytes[size.saturating_sub(offset) as usize..].fill(0),
                Change::Resize { .. } => {}
                _ if range.end <= offset || end <= range.start => {}
                Change::Zero { .. } => bytes[within(&range, offset, end)].fill(0),
                Change::Write { data, .. } => {
                    let from = offset.saturating_sub(range.start) as usize;
                    let place = within(&range, offset, end);
                    bytes[place.clone()].copy_from_slice(&data[from..from + place.len()]);
                }
            }
        }
    }

    /// A range is about to be written durably to a file of which `durable` bytes are durable: what waits for that range is
    /// outdated and must not come after. Where sizes are under way, everything becomes durable before: what is returned.
    pub fn supersede(&mut self, range: &Range<u64>, durable: u64) -> Vec<Change> {
        let changes = self.flush();
        let sized = |change: &Change| matches!(change, Change::Resize { .. }) || change.range().end > durable;
        if range.end > durable || changes.iter().any(sized) {
            return changes;
        }
        for change in changes {
            for kept in outside(change, range) {
                self.push(kept);
            }
        }
        Vec::new()
    }
}

/// The part of `range` that lies in `offset..end`, counted from `offset`.
fn within(range: &Range<u64>, offset: u64, end: u64) -> Range<usize> {
    (range.start.max(offset) - offset) as usize..(range.end.min(end) - offset) as usize
}

/// What of a change lies outside of a range.
fn outside(change: Change, hole: &Range<u64>) -> Vec<Change> {
    let range = change.range();
    if range.end <= hole.start || hole.end <= range.start {
        return vec![change];
    }
    let sides = [range.start..hole.start.max(range.start), hole.end.min(range.end)..range.end];
    sides.into_iter().filter(|side| !side.is_empty()).map(|side| part(&change, side)).collect()
}

fn part(change: &Change, range: Range<u64>) -> Change {
    match change {
        Change::Write { offset, data } => {
            let data = data[(range.start - offset) as usize..(range.end - offset) as usize].to_vec();
            Change::Write { offset: range.start, data }
        }
        _ => Change::Zero { offset: range.start, len: range.end - range.start },
    }
}

fn fate(change: Change, cut: &Cut, draw: Draw) -> Fate {
    let range = change.range();
    if draw.unit() >= cut.keep {
        return Fate { range, kept: Vec::new(), torn: false };
    }
    let unit = cut.tear_bytes.max(1);
    let units = (range.end.div_ceil(unit)).saturating_sub(range.start / unit);
    let tears = units > 1 && !matches!(change, Change::Resize { .. }) && draw.next().unit() < cut.tear;
    if !tears {
        return Fate { range, kept: vec![change], torn: false };
    }
    // Each unit by itself, but not all and not none: one is surely kept, another surely lost.
    let chance = Chance(draw.next().next().0);
    let kept = chance.at(units).below(units);
    let lost = (kept + 1 + chance.at(units + 1).below(units - 1)) % units;
    let stays = |n: u64| n == kept || (n != lost && chance.at(n).below(2) == 0);
    let first = range.start / unit;
    let bounds = |n: u64| ((first + n) * unit).max(range.start)..((first + n + 1) * unit).min(range.end);
    let pieces = (0..units).filter(|&n| stays(n)).map(|n| part(&change, bounds(n))).collect();
    Fate { range, kept: pieces, torn: true }
}

#[cfg(test)]
mod tests;
