//! Dirty pages by row, and which row is destaged next.
//!
//! Model: the destager walks each space upwards and begins again at its bottom (C-LOOK); rows that are dirty as a whole go
//! before others, because nothing must be read to write them. Rows that a flush waits for are *due* and go before all; while
//! it has some, the destager walks over those alone. A row is taken with all its dirty stretches at once, also those that
//! came after the flush.

use super::pages::{Page, State, Stretch};
use super::row_set::RowSet;
use super::row_table::RowTable;
use super::{SPACE_SHIFT, Shape, Space};
use crate::prefetch;
use crate::raid::Extent;
use crate::slab::NONE;

/// See the module.
#[derive(Debug)]
pub(super) struct DirtyRows {
    page_sectors: u32,
    rows: RowTable,
    spaces: Vec<Rows>,
    /// Pages of the row that is being taken.
    taken: Vec<(u64, Stretch)>,
}

/// The rows of one space.
#[derive(Debug)]
struct Rows {
    row_sectors: u64,
    undivided: bool,
    /// Those that are dirty are in one of the two.
    dirty: RowSet,
    due: RowSet,
    full: RowSet,
    /// The destager's position.
    next: u64,
    /// The row that it will probably take then.
    expected: Option<u64>,
}

/// What is being taken of a space.
struct Taking<'a> {
    space: u32,
    /// The first stretch of this taking.
    first: usize,
    sectors_max: u32,
    stretches: &'a mut Vec<Extent>,
}

impl Taking<'_> {
    fn sectors(&self) -> u64 {
        self.stretches[self.first..].iter().map(|extent| u64::from(extent.sectors)).sum()
    }

    fn push(&mut self, extent: Extent) {
        match self.stretches[self.first..].last_mut() {
            Some(last)
                if last.lba + u64::from(last.sectors) == extent.lba
                    && last.sectors + extent.sectors <= self.sectors_max =>
            {
                last.sectors += extent.sectors;
            }
            _ => self.stretches.push(extent),
        }
    }
}

impl DirtyRows {
    pub(super) fn new(spaces: &[Space], shape: Shape) -> Self {
        let rows = |space: &Space| {
            let bound = if shape.dirty_max > 0 { space.rows + 1 } else { 1 };
            Rows {
                row_sectors: space.row_sectors,
                undivided: space.undivided,
                dirty: RowSet::new(bound),
                due: RowSet::new(bound),
                full: RowSet::new(bound),
                next: 0,
                expected: None,
            }
        };
        Self {
            page_sectors: shape.page_sectors,
            rows: RowTable::new(shape.dirty_max as usize),
            spaces: spaces.iter().map(rows).collect(),
            taken: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn has(&self, space: u32) -> bool {
        let rows = &self.spaces[space as usize];
        !rows.dirty.is_empty() || !rows.due.is_empty()
    }

    pub(super) fn has_due(&self, space: u32) -> bool {
        !self.spaces[space as usize].due.is_empty()
    }

    /// A flush waits for all that is dirty now.
    pub(super) fn make_all_due(&mut self) {
        for rows in &mut self.spaces {
            if rows.due.is_empty() {
                std::mem::swap(&mut rows.due, &mut rows.dirty);
            }
            while let Some(row) = rows.dirty.next_from(0) {
                rows.dirty.remove(row);
                rows.due.insert(row);
            }
        }
    }

    /// A flush waits for the dirty page of a key.
    pub(super) fn make_due(&mut self, key: u64) {
        let row = self.row_of(key);
        let rows = &mut self.spaces[(key >> SPACE_SHIFT) as usize];
        rows.dirty.remove(row);
        rows.due.insert(row);
    }

    /// A page will be written soon.
    #[inline]
    pub(super) fn expect(&self, key: u64) {
        let row = self.row_of(key);
        self.rows.expect(key >> SPACE_SHIFT << SPACE_SHIFT | row);
        self.spaces[(key >> SPACE_SHIFT) as usize].dirty.expect(row);
    }

    /// The destager of a space will take the next row soon.
    #[inline]
    pub(super) fn expect_taking(&self, space: u32, pages: &[Page]) {
        if let Some(row) = self.spaces[space as usize].expected {
            let first = self.rows.first(u64::from(space) << SPACE_SHIFT | row);
            prefetch::expect(pages, first as usize);
        }
    }

    #[inline]
    fn row_of(&self, key: u64) -> u64 {
        let rows = &self.spaces[(key >> SPACE_SHIFT) as usize];
        (key & ((1 << SPACE_SHIFT) - 1)) * u64::from(self.page_sectors) / rows.row_sectors
    }

    /// A dirty page was written; `became_whole` by this write. A page that is new here has `before == NONE`.
    pub(super) fn note(&mut self, pages: &mut [Page], place: u32, became_whole: bool) {
        let page = &mut pages[place as usize];
        let is_new = page.before == NONE;
        if !is_new && !became_whole {
            return;
        }
        let space = (page.key >> SPACE_SHIFT) as usize;
        let row = self.row_of(page.key);
        let rows = &mut self.spaces[space];
        let key = (space as u64) << SPACE_SHIFT | row;
        let (entry, made) = self.rows.entry(key);
        if made {
            rows.dirty.insert(row);
        }
        if is_new {
            // Only whether it is in a list matters, not what is before it.
            (page.before, page.after) = (place, entry.first);
            entry.first = place;
        }
        entry.whole += u32::from(became_whole);
        if u64::from(entry.whole) * u64::from(self.page_sectors) >= rows.row_sectors {
            rows.full.insert(row);
        }
    }

    pub(super) fn take(&mut self, pages: &mut [Page], space: u32, sectors_max: u32, out: &mut Vec<Extent>) -> bool {
        let rows = &self.spaces[space as usize];
        let due = rows.due.next_from(rows.next);
        let full = if due.is_some() { None } else { rows.full.next_from(rows.next) };
        let Some(row) = due.or(full).or_else(|| rows.dirty.next_from(rows.next)) else { return false };
        let was_full = rows.full.contains(row);
        let longest = if rows.undivided { rows.row_sectors.min(u32::MAX.into()) as u32 } else { 1 };
        let mut out = Taking { space, first: out.len(), sectors_max: sectors_max.max(longest), stretches: out };
        self.take_row(pages, row, &mut out);
        let mut next = row + 1;
        while was_full && self.spaces[space as usize].full.contains(next) {
            if out.sectors() + self.spaces[space as usize].row_sectors > u64::from(sectors_max) {
                break;
            }
            self.take_row(pages, next, &mut out);
            next += 1;
        }
        let rows = &mut self.spaces[space as usize];
        rows.next = next;
        rows.expected = if was_full || due.is_some() { None } else { rows.dirty.next_from(next) };
        if let Some(expected) = rows.expected {
            self.rows.expect(u64::from(space) << SPACE_SHIFT | expected);
        }
        true
    }

    /// Takes all pages of a row; those that touch the last stretch taken before lengthen it.
    fn take_row(&mut self, pages: &mut [Page], row: u64, out: &mut Taking<'_>) {
        let space = out.space;
        let key = u64::from(space) << SPACE_SHIFT | row;
        let taken = self.rows.remove(key);
        let rows = &mut self.spaces[space as usize];
        rows.dirty.remove(row);
        rows.due.remove(row);
        if u64::from(taken.whole) * u64::from(self.page_sectors) >= rows.row_sectors {
            rows.full.remove(row);
        }
        let mut place = taken.first;
        self.taken.clear();
        while let Some(page) = pages.get_mut(place as usize) {
            self.taken.push((page.key & ((1 << SPACE_SHIFT) - 1), page.dirty));
            (page.state, page.destaging, page.dirty) = (State::Destaging, page.epoch, Stretch::default());
            place = page.after;
        }
        self.taken.sort_unstable_by_key(|(number, _)| *number);
        for &(number, stretch) in &self.taken {
            let lba = number * u64::from(self.page_sectors) + u64::from(stretch.from);
            out.push(Extent { lba, sectors: u32::from(stretch.to - stretch.from) });
        }
    }
}
