//! What a disk remembers, and how far it reads on.
//!
//! Model: a segment is a run of sectors; a read that misses takes over the segment that was used least recently. Behind
//! the last read the head goes on reading ([`Run`]) until another command wants the arm or the limit is reached; each
//! hit moves the limit on, and a head that had stopped resumes when its sector comes round. The end of that run is
//! computed when somebody asks.
//!
//! Limits: a segment is found by its whole content or by the run's beginning, not by an overlap; while a read is under
//! way its own segment answers nothing.

use std::ops::Range;

use super::mechanics::Mechanics;
use super::spindle::Spindle;

/// A head that reads on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    segment: usize,
    /// The sector that comes by at `anchor_ns`.
    anchor_lba: u64,
    anchor_ns: u64,
    limit_lba: u64,
    /// When the read that it goes on from has ended.
    idle_from_ns: u64,
}

/// A disk as the run sees it: its tables, and where its platter stood at the beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turning<'a> {
    pub(crate) mechanics: &'a Mechanics,
    pub(crate) phase: u32,
}

impl Turning<'_> {
    /// The angle under the heads.
    #[inline]
    pub(crate) fn angle(&self, now_ns: u64) -> u32 {
        self.mechanics.spindle.angle(now_ns).wrapping_add(self.phase)
    }
}

/// As many numbers of 16 bits as every processor compares at once.
type Lanes = [u16; 8];

#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    first: Vec<u64>,
    /// Sectors that are known, without those of the run.
    length: Vec<u64>,
    /// From the most to the least recently used, round from `newest` on.
    recency: Vec<u8>,
    newest: usize,
    run: Option<Run>,
    /// The low bits of the unit in which each segment begins, filled up to whole lanes. No segment is longer than a unit, so a
    /// segment that holds a sector begins in the sector's unit or in the one before. That rules out most segments at once.
    units: Vec<Lanes>,
    unit_bits: u32,
}

impl Buffer {
    pub(crate) fn new(segments: u32, segment_sectors: u64) -> Self {
        let count = segments as usize;
        let recency = (0..segments as u8).collect();
        let units = vec![[0; 8]; count.div_ceil(8)];
        let unit_bits = segment_sectors.max(1).next_power_of_two().trailing_zeros();
        Self { first: vec![0; count], length: vec![0; count], recency, newest: 0, run: None, units, unit_bits }
    }

    #[inline]
    fn begin(&mut self, segment: usize, first: u64) {
        self.first[segment] = first;
        self.units[segment / 8][segment % 8] = (first >> self.unit_bits) as u16;
    }

    /// Whether some segment may hold a sector; wrong at most by saying so without need.
    #[inline]
    fn may_hold(&self, lba: u64) -> bool {
        let here = (lba >> self.unit_bits) as u16;
        let before = here.wrapping_sub(1);
        let mut found: Lanes = [0; 8];
        for lanes in &self.units {
            for (found, &unit) in found.iter_mut().zip(lanes) {
                *found |= if (unit == before) | (unit == here) { u16::MAX } else { 0 };
            }
        }
        found.iter().fold(0, |any, &found| any | found) != 0
    }

    /// The sector the run has come to.
    #[inline]
    pub(crate) fn reached(&self, now_ns: u64, mechanics: &Mechanics) -> Option<u64> {
        let run = self.run?;
        if now_ns <= run.anchor_ns {
            return Some(run.anchor_lba);
        }
        let passed = mechanics.geometry.sectors_within(run.anchor_lba, now_ns - run.anchor_ns);
        Some((run.anchor_lba + passed).min(run.limit_lba))
    }

    /// The sectors from which a read streams out of the run that has come to `reached`.
    #[inline]
    pub(crate) fn passing(&self, reached: u64) -> Option<Range<u64>> {
        self.run.map(|run| self.first[run.segment]..reached)
    }

    /// Whether a read finds all it wants; if so, what it found counts as used and the run goes on behind it.
    #[inline]
    pub(crate) fn answers(&mut self, lba: u64, sectors: u32, now_ns: u64, disk: Turning) -> bool {
        // A run begins where its segment does, and may have come into the unit behind.
        self.may_hold(lba) && self.answers_near(lba, sectors, now_ns, disk)
    }

    #[inline(never)]
    fn answers_near(&mut self, lba: u64, sectors: u32, now_ns: u64, disk: Turning) -> bool {
        let wanted = u64::from(sectors);
        if let Some(segment) = self.whole(lba, wanted) {
            self.touch(segment);
            self.go_on(segment, lba + wanted, now_ns, disk);
            return true;
        }
        let Some(run) = self.run.filter(|run| now_ns >= run.idle_from_ns) else { return false };
        let begins = lba >= self.first[run.segment] && lba + wanted <= run.limit_lba;
        if !begins || self.reached(now_ns, disk.mechanics).is_none_or(|reached| lba + wanted > reached) {
            return false;
        }
        self.touch(run.segment);
        self.go_on(run.segment, lba + wanted, now_ns, disk);
        true
    }

    /// The segment that holds all `wanted` sectors.
    fn whole(&self, lba: u64, wanted: u64) -> Option<usize> {
        let from = |first: u64| lba.wrapping_sub(first);
        self.first
            .iter()
            .zip(&self.length)
            .position(|(&first, &length)| from(first) < length && from(first) + wanted <= length)
    }

    /// When the run, which has come to `reached`, will have read the end of a read that begins within it.
    #[inline]
    pub(crate) fn streams(&mut self, wanted: (u64, u32), reached: u64, now_ns: u64, disk: Turning) -> Option<u64> {
        let segment = self.run?.segment;
        if wanted.0 < self.first[segment] || wanted.0 > reached {
            return None;
        }
        let end_lba = wanted.0 + u64::from(wanted.1);
        self.touch(segment);
        self.go_on(segment, end_lba, now_ns, disk);
        let run = self.run.as_mut()?;
        let mut end_ns = now_ns + disk.mechanics.interface_ns(wanted.1);
        if end_lba > run.anchor_lba {
            let place = disk.mechanics.geometry.locate(run.anchor_lba);
            let passing = disk.mechanics.geometry.transfer(place, run.anchor_lba, (end_lba - run.anchor_lba) as u32);
            end_ns = end_ns.max(run.anchor_ns + passing.0);
        }
        run.idle_from_ns = end_ns;
        Some(end_ns)
    }

    /// Moves the limit on behind a read; a head at the old limit starts again.
    fn go_on(&mut self, segment: usize, end_lba: u64, now_ns: u64, disk: Turning) {
        let mechanics = disk.mechanics;
        let reached = self.reached(now_ns, mechanics);
        let (Some(run), Some(reached)) = (&mut self.run, reached) else { return };
        let limit_lba = (end_lba + mechanics.prefetch_sectors).min(mechanics.geometry.sectors());
        if run.segment != segment || limit_lba <= run.limit_lba {
            return;
        }
        if reached == run.limit_lba && now_ns > run.anchor_ns {
            let angle = disk.angle(now_ns);
            let target = mechanics.geometry.angle(mechanics.geometry.locate(reached));
            run.anchor_lba = reached;
            run.anchor_ns = now_ns + mechanics.spindle.ns(Spindle::wait(angle, target));
        }
        run.limit_lba = limit_lba;
        self.begin(segment, self.first[segment].max(limit_lba.saturating_sub(mechanics.segment_sectors)));
    }

    /// Ends the run; what it has read stays in its segment.
    #[inline]
    pub(crate) fn stop(&mut self, reached: u64) {
        if let Some(run) = self.run.take() {
            let length = reached.saturating_sub(self.first[run.segment]);
            debug_assert!(length <= 1 << self.unit_bits, "a segment of {length} sectors is longer than any may be");
            self.length[run.segment] = length;
        }
    }

    /// A read that misses, which ends at an instant to come; the head reads on from there.
    #[inline]
    pub(crate) fn fill(&mut self, lba: u64, sectors: u32, end_ns: u64, mechanics: &Mechanics) {
        if self.recency.is_empty() {
            return;
        }
        // The oldest lies just before the newest.
        self.newest = self.newest.checked_sub(1).unwrap_or(self.recency.len() - 1);
        let segment = usize::from(self.recency[self.newest]);
        let end_lba = lba + u64::from(sectors);
        let limit_lba = (end_lba + mechanics.prefetch_sectors).min(mechanics.geometry.sectors());
        self.begin(segment, lba.max(limit_lba.saturating_sub(mechanics.segment_sectors)).min(end_lba));
        self.length[segment] = 0;
        self.run = Some(Run { segment, anchor_lba: end_lba, anchor_ns: end_ns, limit_lba, idle_from_ns: end_ns });
    }

    /// Forgets what is written over. A run that meets it ends; then the sector it has come to is returned.
    #[inline]
    pub(crate) fn forget(&mut self, lba: u64, sectors: u32, now_ns: u64, mechanics: &Mechanics) -> Option<u64> {
        let end_lba = lba + u64::from(sectors);
        let (unit, last) = (lba >> self.unit_bits, (end_lba - 1) >> self.unit_bits);
        let before = (unit as u16).wrapping_sub(1);
        for ((&begins, first), length) in self.units.as_flattened().iter().zip(&self.first).zip(&mut self.length) {
            let is_near = u64::from(begins.wrapping_sub(before)) <= last - unit + 1;
            if is_near && lba < first + *length && end_lba > *first {
                *length = 0;
            }
        }
        let run = self.run.filter(|run| lba < run.limit_lba && end_lba > self.first[run.segment])?;
        let reached = self.reached(now_ns, mechanics);
        self.run = None;
        self.length[run.segment] = 0;
        reached
    }

    /// Makes a segment the most recently used.
    fn touch(&mut self, segment: usize) {
        let (count, mut carried) = (self.recency.len(), segment as u8);
        for step in 0..count {
            let position = (self.newest + step) % count;
            std::mem::swap(&mut self.recency[position], &mut carried);
            if usize::from(carried) == segment {
                return;
            }
        }
    }
}
