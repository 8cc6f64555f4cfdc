//! A parity group: rows of data strips with one or two strips of redundancy, and what an extent touches of each row.

use std::ops::RangeInclusive;

use super::positions::first;
use super::rotation::{Rotation, Row};
use super::spec::WriteChoice;
use super::striping::Share;
use plimsoll_workload::Divisor;

/// A parity group's shape and choices; all parity groups of a group are alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parity {
    pub(super) strip: Divisor,
    /// Data strips in a row.
    pub(super) data: Divisor,
    pub(super) parities: u32,
    pub(super) rotation: Rotation,
    pub(super) write_choice: WriteChoice,
    pub(super) reconstruct_bias_ios: i64,
}

/// A range of sectors inside a strip; empty if it ends where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Range {
    pub(super) const EMPTY: Self = Self { from: 0, to: 0 };

    #[inline]
    pub(super) const fn len(self) -> u32 {
        self.to - self.from
    }

    #[inline]
    pub(super) const fn is_empty(self) -> bool {
        self.from == self.to
    }

    /// The shortest range that holds both: one command reads through a gap rather than making two.
    pub(super) fn hull(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        Self { from: self.from.min(other.from), to: self.to.max(other.to) }
    }
}

/// What an extent touches of one row: data columns `first..=last`, from `from` in the first to `to` in the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) row: u64,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) strip: u32,
}

/// What a write touches of one row.
pub(super) trait Touched {
    fn row(&self) -> u64;

    /// Sectors of a strip.
    fn strip(&self) -> u32;

    /// Data columns that may be touched: no other is.
    fn columns(&self) -> RangeInclusive<u32>;

    /// The part of a column that is touched, from the first sector to the last.
    fn of(&self, column: u32) -> Range;

    /// Sectors of these parts of all columns together.
    fn sectors(&self) -> u32;

    /// The part of the parity strips that depends on what is touched. Where the first strip is touched at its end and the
    /// next at its beginning, the gap between counts too: one command.
    fn span(&self) -> Range;

    /// The part of the span that is not touched in a column: what reconstructing has to read there.
    fn rest(&self, column: u32) -> Range;

    /// What is written of a column though it is not touched, and so has to be known.
    fn gap(&self, column: u32) -> Range;

    /// Of so many data columns, how many are touched, and how many have a rest.
    fn count(&self, data: u32) -> (u32, u32);
}

impl Touched for Touch {
    #[inline]
    fn row(&self) -> u64 {
        self.row
    }

    #[inline]
    fn strip(&self) -> u32 {
        self.strip
    }

    #[inline]
    fn columns(&self) -> RangeInclusive<u32> {
        self.first..=self.last
    }

    #[inline]
    fn of(&self, column: u32) -> Range {
        if column < self.first || column > self.last {
            return Range::EMPTY;
        }
        Range {
            from: if column == self.first { self.from } else { 0 },
            to: if column == self.last { self.to } else { self.strip },
        }
    }

    #[inline]
    fn sectors(&self) -> u32 {
        (self.last - self.first) * self.strip + self.to - self.from
    }

    #[inline]
    fn span(&self) -> Range {
        if self.first == self.last { Range { from: self.from, to: self.to } } else { Range { from: 0, to: self.strip } }
    }

    /// It is in one piece, since only the first and the last column are touched in part, and only at one end where there are
    /// several.
    #[inline]
    fn rest(&self, column: u32) -> Range {
        let (touched, span) = (self.of(column), self.span());
        if touched.is_empty() {
            span
        } else if touched.from > span.from {
            Range { from: span.from, to: touched.from }
        } else {
            Range { from: touched.to, to: span.to }
        }
    }

    #[inline]
    fn gap(&self, _: u32) -> Range {
        Range::EMPTY
    }

    #[inline]
    fn count(&self, data: u32) -> (u32, u32) {
        let strips = self.last - self.first + 1;
        let several = strips > 1;
        let partial = u32::from(several && self.from > 0) + u32::from(several && self.to < self.strip);
        (strips, data - strips + partial)
    }
}

impl Parity {
    /// The rows that a share touches, ascending.
    #[inline]
    pub(super) fn touches(&self, share: Share) -> Touches {
        let (first, from) = self.strip.split(share.start);
        let (last, to) = self.strip.split(share.end() - 1);
        let (row, column) = self.data.split(first);
        let (last_row, last_column) = self.data.split(last);
        Touches {
            row,
            column: column as u32,
            from: from as u32,
            last_row,
            last_column: last_column as u32,
            to: to as u32 + 1,
            strip: self.strip.value() as u32,
            data: self.data.value() as u32,
        }
    }

    pub(super) fn row(&self, row: u64) -> Row {
        self.rotation.row(row)
    }

    /// One bit for each member that holds data in a row.
    pub(super) fn data_positions(&self, row: Row) -> u64 {
        let everyone = first(self.rotation.members());
        (0..self.parities).fold(everyone, |positions, which| positions & !(1 << row.parity(which)))
    }
}

/// See [`Parity::touches`].
#[derive(Clone, Copy)]
pub(super) struct Touches {
    /// What is to come: the row, and where the extent begins in it.
    row: u64,
    column: u32,
    from: u32,
    /// Where the extent ends.
    last_row: u64,
    last_column: u32,
    to: u32,
    strip: u32,
    data: u32,
}

impl Touches {
    /// The rows that are still to come, as first and count.
    pub(super) const fn span(&self) -> (u64, u32) {
        (self.row, (self.last_row - self.row) as u32 + 1)
    }
}

impl Iterator for Touches {
    type Item = Touch;

    #[inline]
    fn next(&mut self) -> Option<Touch> {
        if self.row > self.last_row {
            return None;
        }
        let ends = self.row == self.last_row;
        let touch = Touch {
            row: self.row,
            first: self.column,
            last: if ends { self.last_column } else { self.data - 1 },
            from: self.from,
            to: if ends { self.to } else { self.strip },
            strip: self.strip,
        };
        (self.row, self.column, self.from) = (self.row + 1, 0, 0);
        Some(touch)
    }
}
