//! Several stretches of one row of a parity group, written with one update of the parity: what is destaged together.
//!
//! Model: reconstructed or modified as any row is, whichever needs fewer commands; of each strip one command reads all that is
//! needed there, gaps included. [`Gaps`] says what becomes of a gap between two stretches of a strip. A disk passes it in the
//! time that writing it takes, so one command writes the strip from the first stretch to the last, with the old data of the gap,
//! and one the parity. Flash would wear by it, so every stretch is a command, and of the parity only the heights that change
//! are written.
//!
//! Limits: stretches of one row only; clean data of the gaps are read even where the cache has them, and the exclusive-or passes
//! the gaps too.

use super::geometry::{Geometry, Inner};
use super::locks::RowSpan;
use super::loss::Lost;
use super::members::Members;
use super::parity::{Parity, Range, Touched};
use super::piece::{Appending, Extent, MEMBERS_MAX};
use super::striping::Share;
use super::write::RowWrite;
use super::write_plan::WritePlan;

/// What becomes of the gaps between stretches of a strip that are written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// They are read and written again.
    Written,
    /// They are left as they are.
    Left,
}

/// What is touched of a row: of each column the hull of it and, in that, the hull of what is not.
#[derive(Clone, Copy, Debug)]
struct Scattered {
    row: u64,
    strip: u32,
    /// Data columns.
    data: u32,
    hulls: [Range; MEMBERS_MAX],
    between: [Range; MEMBERS_MAX],
    span: Range,
    gaps: Gaps,
}

impl Scattered {
    /// Nothing yet; of every column the ranges come in ascending order.
    const fn new(parity: &Parity, row: u64, gaps: Gaps) -> Self {
        Self {
            row,
            strip: parity.strip.value() as u32,
            data: parity.data.value() as u32,
            hulls: [Range::EMPTY; MEMBERS_MAX],
            between: [Range::EMPTY; MEMBERS_MAX],
            span: Range::EMPTY,
            gaps,
        }
    }

    fn add(&mut self, column: u32, range: Range) {
        let (hull, between) = (&mut self.hulls[column as usize], &mut self.between[column as usize]);
        if !hull.is_empty() {
            *between = between.hull(Range { from: hull.to, to: range.from });
        }
        *hull = hull.hull(range);
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
        self.hulls[column as usize]
    }

    fn sectors(&self) -> u32 {
        self.hulls.iter().map(|hull| hull.len()).sum()
    }

    fn span(&self) -> Range {
        self.span
    }

    fn rest(&self, column: u32) -> Range {
        let (hull, span) = (self.of(column), self.span);
        if hull.is_empty() {
            return span;
        }
        let before = Range { from: span.from, to: hull.from };
        let behind = Range { from: hull.to, to: span.to };
        before.hull(self.between[column as usize]).hull(behind)
    }

    fn gap(&self, column: u32) -> Range {
        match self.gaps {
            Gaps::Written => self.between[column as usize],
            Gaps::Left => Range::EMPTY,
        }
    }

    fn count(&self, data: u32) -> (u32, u32) {
        let count = |is_counted: &dyn Fn(u32) -> bool| (0..data).filter(|&column| is_counted(column)).count() as u32;
        (count(&|column| !self.of(column).is_empty()), count(&|column| !self.rest(column).is_empty()))
    }
}

impl Geometry {
    /// How many extents, from the first on, one write can take together: those that lie in the same row of a parity group. An
    /// extent that lies in several rows, or where there is no parity, is a write of its own.
    pub fn together(&self, extents: &[Extent]) -> usize {
        let parity = match &self.inner {
            Inner::Parity(parity) => parity,
            Inner::Records(records) => return self.together_in_record(records, extents),
            Inner::Declustered(declustered) => return self.together_in_record(&**declustered, extents),
            Inner::Copies => return 1,
        };
        let row = |extent: &Extent| {
            let share = self.striping.single(*extent)?;
            let (row, count) = parity.touches(share).span();
            (count == 1).then_some((share.group, row))
        };
        let Some(first) = extents.first().and_then(row) else { return 1 };
        extents.iter().take_while(|extent| row(extent) == Some(first)).count()
    }

    /// Plans one write of extents that [`Self::together`] counts, in ascending order and apart; what was in `plan` is gone. On
    /// error the plan is empty.
    pub fn write_together(
        &self,
        extents: &[Extent],
        gaps: Gaps,
        members: &Members,
        plan: &mut WritePlan,
    ) -> Result<(), Lost> {
        debug_assert!(!extents.is_empty() && self.together(extents) == extents.len());
        if let [extent] = extents {
            return self.write(*extent, members, plan);
        }
        plan.clear();
        let parity = match &self.inner {
            Inner::Parity(parity) => parity,
            Inner::Records(records) => {
                return self.write_record_together(records, extents, members, plan).inspect_err(|_| plan.clear());
            }
            Inner::Declustered(declustered) => {
                return self
                    .write_record_together(&**declustered, extents, members, plan)
                    .inspect_err(|_| plan.clear());
            }
            Inner::Copies => return Ok(()),
        };
        let shares = || extents.iter().filter_map(|extent| self.striping.single(*extent));
        let Some(Share { group, start, .. }) = shares().next() else { return Ok(()) };
        let parts = || {
            let touches = shares().flat_map(|share| parity.touches(share));
            touches.flat_map(|touch| touch.columns().map(move |column| (column, touch.of(column))))
        };
        let row = parity.data.quotient(parity.strip.quotient(start));
        let mut touch = Scattered::new(parity, row, gaps);
        parts().for_each(|(column, range)| touch.add(column, range));
        let missing = members.missing(group, (row + 1) * parity.strip.value());
        let task = RowWrite { touch, row: parity.row(row), missing, base: self.base(group) };
        plan.rows.push(RowSpan { group, first: row, count: 1 });
        match parity.read_before(&task, &mut Appending(&mut plan.reads), &mut plan.choices) {
            Ok(xor_bytes) => plan.xor_bytes = xor_bytes,
            Err(row) => {
                plan.clear();
                return Err(self.lost(group, row * self.row_sectors()));
            }
        }
        let mut writes = Appending(&mut plan.writes);
        match gaps {
            Gaps::Written => parity.write_hulls(&task, &mut writes),
            Gaps::Left => {
                parts().for_each(|(column, range)| task.write(task.row.data(column), range, &mut writes));
                let ranges = || parts().map(|(_, range)| range);
                let mut next = union_from(ranges(), 0);
                while let Some(heights) = next {
                    let parities = 0..parity.parities;
                    parities.for_each(|which| task.write(task.row.parity(which), heights, &mut writes));
                    next = union_from(ranges(), heights.to);
                }
            }
        }
        Ok(())
    }
}

/// Of the union of ranges, the first part that has anything at or behind `from`, if that is a border of a part.
fn union_from(ranges: impl Iterator<Item = Range> + Clone, from: u32) -> Option<Range> {
    let first = ranges.clone().filter(|range| range.to > from).min_by_key(|range| range.from)?;
    let reach = |to| ranges.clone().filter(|range| range.from <= to).map(|range| range.to).max().unwrap_or(to);
    let mut to = first.to;
    while reach(to) > to {
        to = reach(to);
    }
    Some(Range { from: first.from, to })
}
