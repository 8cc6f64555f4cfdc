//! What several extents touch of one row: what is destaged together, with one update of the parity.
//!
//! Model: of every data column the shortest range that holds all that is touched there: one command writes it, the gaps
//! between included, whose old data are read first.
//!
//! Limits: extents of one row of one parity group only.

use super::geometry::{Geometry, Inner};
use super::loss::Lost;
use super::members::Members;
use super::parity::{Range, Touched};
use super::piece::{Extent, MEMBERS_MAX};
use super::positions::holds;
use super::write::WritePlan;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scattered {
    row: u64,
    strip: u32,
    /// Data columns.
    data: u32,
    ranges: [Range; MEMBERS_MAX],
    /// Columns that are touched with a gap.
    gaps: u64,
    span: Range,
}

impl Scattered {
    fn add(&mut self, column: u32, range: Range) {
        let found = &mut self.ranges[column as usize];
        if !found.is_empty() && found.to != range.from {
            self.gaps |= 1 << column;
        }
        *found = found.hull(range);
        self.span = self.span.hull(range);
    }
}

impl Touched for Scattered {
    fn row(&self) -> u64 {
        self.row
    }

    fn strip(&self) -> u32 {
        self.strip
    }

    fn columns(&self) -> std::ops::RangeInclusive<u32> {
        0..=self.data - 1
    }

    fn of(&self, column: u32) -> Range {
        self.ranges[column as usize]
    }

    fn sectors(&self) -> u32 {
        self.ranges.iter().map(|range| range.len()).sum()
    }

    fn span(&self) -> Range {
        self.span
    }

    /// All of the span where what is not touched is in several pieces: one command reads them.
    fn rest(&self, column: u32) -> Range {
        let (touched, span) = (self.of(column), self.span);
        if touched.is_empty() || self.has_gap(column) || (touched.from > span.from && touched.to < span.to) {
            span
        } else if touched.from > span.from {
            Range { from: span.from, to: touched.from }
        } else {
            Range { from: touched.to, to: span.to }
        }
    }

    fn has_gap(&self, column: u32) -> bool {
        holds(self.gaps, column)
    }

    fn count(&self, data: u32) -> (u32, u32) {
        let columns = || 0..data;
        let touched = columns().filter(|&column| !self.of(column).is_empty()).count();
        let rest = columns().filter(|&column| !self.rest(column).is_empty()).count();
        (touched as u32, rest as u32)
    }
}

impl Geometry {
    /// Whether extents lie in one row of one parity group, so that one operation can write all of them.
    pub fn share_row(&self, extents: &[Extent]) -> bool {
        let Inner::Parity(parity) = &self.inner else { return false };
        let row = |extent: &Extent| {
            let share = self.striping.single(*extent)?;
            let (row, count) = parity.touches(share).span();
            (count == 1).then_some((share.group, row))
        };
        let mut rows = extents.iter().map(row);
        match rows.next() {
            Some(Some(first)) => rows.all(|row| row == Some(first)),
            _ => false,
        }
    }

    /// Plans one write of several extents for which [`Self::share_row`] holds, ascending and apart; what was in `plan` is gone.
    /// On error the plan is empty.
    pub fn write_together(&self, extents: &[Extent], members: &Members, plan: &mut WritePlan) -> Result<(), Lost> {
        debug_assert!(self.share_row(extents));
        plan.clear();
        let Inner::Parity(parity) = &self.inner else { return Ok(()) };
        let mut shares = extents.iter().filter_map(|extent| self.striping.single(*extent));
        let Some(first) = shares.next() else { return Ok(()) };
        let mut touch = Scattered {
            row: parity.touches(first).span().0,
            strip: parity.strip.value() as u32,
            data: parity.data.value() as u32,
            ranges: [Range::EMPTY; MEMBERS_MAX],
            gaps: 0,
            span: Range::EMPTY,
        };
        for share in std::iter::once(first).chain(shares) {
            for part in parity.touches(share) {
                for column in part.columns() {
                    touch.add(column, part.of(column));
                }
            }
        }
        let lost = |row| self.lost(first.group, row * self.row_sectors());
        let planned = parity.write_scattered(first.group, touch, (members, self.base(first.group)), plan);
        planned.map_err(lost).inspect_err(|_| plan.clear())
    }
}
