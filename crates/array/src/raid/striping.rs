//! The outer map: data addresses dealt out in chunks to redundancy groups.
//!
//! The share of a contiguous extent that falls to one group is contiguous there, because the chunks of a group follow each
//! other: so an extent of any length is one [`Share`] per group.

use super::piece::Extent;
use plimsoll_workload::Divisor;

/// What one redundancy group gets of an extent, in addresses inside the group's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) group: u16,
    pub(super) start: u64,
    pub(super) sectors: u32,
}

impl Share {
    pub(super) const fn end(&self) -> u64 {
        self.start + self.sectors as u64
    }
}

/// Chunks in turn over groups; a single group takes everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Striping {
    chunk: Divisor,
    groups: Divisor,
}

impl Striping {
    pub(super) fn new(chunk_sectors: u64, groups: u16) -> Self {
        let chunk = if groups == 1 { u64::MAX } else { chunk_sectors };
        Self { chunk: Divisor::new(chunk), groups: Divisor::new(u64::from(groups)) }
    }

    pub(super) const fn groups(&self) -> u16 {
        self.groups.value() as u16
    }

    /// The share of an extent that lies in one chunk.
    #[inline]
    pub(super) fn single(&self, extent: Extent) -> Option<Share> {
        if self.groups.value() == 1 {
            return Some(Share { group: 0, start: extent.lba, sectors: extent.sectors });
        }
        let (chunk, inside) = self.chunk.split(extent.lba);
        let (height, group) = self.groups.split(chunk);
        (inside + u64::from(extent.sectors) <= self.chunk.value()).then(|| Share {
            group: group as u16,
            start: height * self.chunk.value() + inside,
            sectors: extent.sectors,
        })
    }

    /// The shares of an extent that spans chunks, in the order in which it meets the groups.
    pub(super) fn shares(&self, extent: Extent) -> Shares {
        let (first, head) = self.chunk.split(extent.lba);
        let (last, tail) = self.chunk.split(extent.lba + u64::from(extent.sectors) - 1);
        let (height, group) = self.groups.split(first);
        Shares { striping: *self, first, last, head, tail: tail + 1, height, group, given: 0 }
    }

    /// The data address of a place inside a group.
    pub(super) fn address(&self, group: u16, inner: u64) -> u64 {
        if self.groups.value() == 1 {
            return inner;
        }
        let (height, inside) = self.chunk.split(inner);
        (height * self.groups.value() + u64::from(group)) * self.chunk.value() + inside
    }
}

/// See [`Striping::shares`].
pub(super) struct Shares {
    striping: Striping,
    first: u64,
    last: u64,
    /// Where the extent begins in its first chunk, and ends in its last.
    head: u64,
    tail: u64,
    /// The chunk to come: its height in its group, and the group.
    height: u64,
    group: u64,
    given: u64,
}

impl Iterator for Shares {
    type Item = Share;

    fn next(&mut self) -> Option<Share> {
        let chunk = self.first + self.given;
        let groups = self.striping.groups.value();
        if chunk > self.last || self.given == groups {
            return None;
        }
        let sectors = self.striping.chunk.value();
        let (more, behind) = self.striping.groups.split(self.last - chunk);
        let start = self.height * sectors + if self.given == 0 { self.head } else { 0 };
        let end = (self.height + more) * sectors + if behind == 0 { self.tail } else { sectors };
        let share = Share { group: self.group as u16, start, sectors: (end - start) as u32 };
        self.given += 1;
        self.group += 1;
        if self.group == groups {
            (self.group, self.height) = (0, self.height + 1);
        }
        Some(share)
    }
}
