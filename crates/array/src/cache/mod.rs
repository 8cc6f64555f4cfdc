//! A cache of pages over the addresses of several spaces: exact LRU over clean pages, dirty ones ordered for destaging.
//!
//! Model: a page is free, being fetched, clean, dirty, being destaged, or written again while it is destaged. Clean pages leave
//! in exact LRU order, in which the first use of what was read ahead does not count; dirty ones belong to their row (stripe)
//! and leave when it is destaged. Every page knows its valid and its dirty stretch. All memory is allocated at the start, none
//! per request.
//!
//! Limits: while a second fetch brings more of a page, all of the page counts as on its way. What lies between two written
//! stretches of a page counts as written, too. A destaged page becomes the most recently used clean one, no matter when it was
//! last used.

mod dirty;
mod epochs;
pub(crate) mod index;
mod pages;
pub(crate) mod read_ahead;
mod row_set;
mod row_table;

use crate::cache::dirty::DirtyRows;
use crate::cache::epochs::Epochs;
use crate::cache::index::Index;
use crate::cache::pages::{Page, Pages, State, Stretch};
use crate::prefetch;
use crate::raid::Extent;
use crate::slab::NONE;

/// How large a cache is, in pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) page_sectors: u32,
    pub(crate) pages: u32,
    /// Clean pages and those being fetched, at most.
    pub(crate) clean_max: u32,
    /// Dirty pages at most.
    pub(crate) dirty_max: u32,
}

/// A stretch of addresses that is cached: so many rows of so many sectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    pub(crate) row_sectors: u64,
    pub(crate) rows: u64,
    /// Whether what is dirty in a row is one write, however long, since it shares the row's parity.
    pub(crate) undivided: bool,
}

/// What the cache holds and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Reads, and those that neither fetched nor waited for anything.
    pub(crate) reads: u64,
    pub(crate) hits: u64,
    pub(crate) writes: u64,
    pub(crate) bytes: u64,
    pub(crate) ahead: Ahead,
}

/// What became of what was read ahead, in sectors; the rest of it is still there. A page has been used when any of it was asked for.
/// What is read ahead of a page that was there in part counts as asked for and not here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ahead {
    pub(crate) read: u64,
    pub(crate) used: u64,
    /// Given up or written over before it was asked for.
    pub(crate) wasted: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Cache {
    shape: Shape,
    page_shift: u32,
    index: Index,
    pages: Pages,
    clean: u32,
    dirty: u32,
    rows: DirtyRows,
    epochs: Epochs,
    pub(crate) tally: Tally,
}

/// The part of an extent that lies on one page.
#[derive(Clone, Copy)]
struct Touch {
    key: u64,
    stretch: Stretch,
    lba: u64,
}

const SPACE_SHIFT: u32 = 48;

impl Cache {
    pub(crate) fn new(shape: Shape, spaces: &[Space]) -> Self {
        Self {
            shape,
            page_shift: shape.page_sectors.trailing_zeros(),
            index: Index::new(shape.pages as usize),
            pages: Pages::new(shape.pages),
            clean: 0,
            dirty: 0,
            rows: DirtyRows::new(spaces, shape),
            epochs: Epochs::default(),
            tally: Tally::default(),
        }
    }

    pub(crate) const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Pages that are not on the devices yet.
    pub(crate) const fn dirty_pages(&self) -> u32 {
        self.dirty
    }

    /// Something will be read or written soon; only its first page is made ready.
    #[inline]
    pub(crate) fn expect(&self, space: u32, lba: u64, write: bool) {
        let key = u64::from(space) << SPACE_SHIFT | lba >> self.page_shift;
        self.index.expect(key);
        if write && self.shape.dirty_max > 0 {
            self.rows.expect(key);
        }
    }

    /// Looks for what a read wants. What must be fetched, as one stretch; `waits` gets the fetches under way that bring the
    /// rest.
    pub(crate) fn read(&mut self, space: u32, extent: Extent, waits: &mut Vec<u32>) -> Option<Extent> {
        let (mut from, mut to) = (u64::MAX, 0);
        for touch in self.touches(space, extent) {
            let place = self.place(touch.key);
            let page = self.pages.get(place as usize).copied().filter(|page| page.valid.covers(touch.stretch));
            if page.is_some_and(|page| page.ahead > 0) {
                // It keeps its place: what a stream has read would else outlive what it is going to read.
                self.tally.ahead.used += u64::from(std::mem::take(&mut self.pages[place as usize].ahead));
                self.wait_for_page(place, waits);
                continue;
            }
            match page {
                Some(page) if page.state == State::Fetching => self.wait_for_page(place, waits),
                Some(page) if page.state == State::Clean => self.pages.refresh(place),
                Some(_) => {}
                None => {
                    from = from.min(touch.lba);
                    to = to.max(touch.lba + u64::from(touch.stretch.to - touch.stretch.from));
                }
            }
        }
        self.tally.reads += 1;
        self.tally.bytes += u64::from(extent.sectors) * 512;
        self.tally.hits += u64::from(from == u64::MAX && waits.is_empty());
        (from < to).then(|| Extent { lba: from, sectors: (to - from) as u32 })
    }

    /// Whoever wants a page that is on its way waits for the fetch that brings it.
    #[inline]
    fn wait_for_page(&self, place: u32, waits: &mut Vec<u32>) {
        let page = &self.pages[place as usize];
        if page.state == State::Fetching && !waits.contains(&page.after) {
            waits.push(page.after);
        }
    }

    /// Whether some page of an extent is not there at all.
    pub(crate) fn lacks(&self, space: u32, extent: Extent) -> bool {
        self.touches(space, extent).any(|touch| self.place(touch.key) == NONE)
    }

    /// What of `extent` is worth reading ahead: the stretch from its first page that is not there to its last, as far as all of it
    /// can be kept; what cannot be kept would be fetched once more when it is asked for. Nothing is counted or refreshed.
    pub(crate) fn ahead(&self, space: u32, extent: Extent) -> Option<Extent> {
        let (mut from, mut to) = (u64::MAX, 0);
        for touch in self.touches(space, extent) {
            let page = self.pages.get(self.place(touch.key) as usize);
            if !page.is_some_and(|page| page.valid.covers(touch.stretch)) {
                from = from.min(touch.lba);
                to = to.max(touch.lba + u64::from(touch.stretch.to - touch.stretch.from));
            }
        }
        let room = self.shape.clean_max.saturating_sub(self.clean).min(self.pages.free_count()) + self.pages.listed();
        let to = to.min((from >> self.page_shift).saturating_add(u64::from(room)) << self.page_shift);
        (from < to).then(|| Extent { lba: from, sectors: (to - from) as u32 })
    }

    /// Notes that fetch `number` brings an extent, or what another fetch does not bring of its pages. Returns where the last
    /// new page is, or `NONE`. Pages that find no room are fetched but not kept.
    pub(crate) fn fetch(&mut self, space: u32, extent: Extent, number: u32) -> u32 {
        self.bring(space, extent, number, false)
    }

    /// The same of what nobody has asked for yet.
    pub(crate) fn fetch_ahead(&mut self, space: u32, extent: Extent, number: u32) -> u32 {
        self.bring(space, extent, number, true)
    }

    fn bring(&mut self, space: u32, extent: Extent, number: u32, is_ahead: bool) -> u32 {
        let mut last = NONE;
        for touch in self.touches(space, extent) {
            let place = self.place(touch.key);
            if let Some(page) = self.pages.get_mut(place as usize) {
                if page.state == State::Fetching && !page.valid.covers(touch.stretch) {
                    page.valid.join(touch.stretch);
                    page.after = number;
                }
                continue;
            }
            let Some(place) = self.make_clean_room() else { return last };
            self.settle(place, touch, State::Fetching);
            let page = &mut self.pages[place as usize];
            page.after = number;
            if is_ahead {
                page.ahead = touch.stretch.to - touch.stretch.from;
                self.tally.ahead.read += u64::from(page.ahead);
            }
            self.clean += 1;
            last = place;
        }
        last
    }

    /// A fetch will end soon; its last new page is at this place.
    #[inline]
    pub(crate) fn expect_fetched(&self, place: u32) {
        prefetch::expect(&self.pages, place as usize);
    }

    /// Fetch `number` has brought its extent. At `likely` is one of its pages, if it is held still: most fetches bring one, for
    /// which the index need not be asked, which is far from the processor.
    pub(crate) fn fetched(&mut self, space: u32, extent: Extent, number: u32, likely: u32) {
        for touch in self.touches(space, extent) {
            let is_likely = |page: &Page| page.key == touch.key && page.state != State::Free;
            let place = match self.pages.get(likely as usize) {
                Some(page) if is_likely(page) => likely,
                _ => self.place(touch.key),
            };
            let Some(page) = self.pages.get_mut(place as usize) else { continue };
            page.valid.join(touch.stretch);
            if page.state == State::Fetching && page.after == number {
                page.state = State::Clean;
                self.pages.push_newest(place);
            }
        }
    }

    /// Whether a write of `extent` finds room.
    pub(crate) fn has_room(&self, space: u32, extent: Extent) -> bool {
        let is_dirty = |touch: &Touch| {
            let page = self.pages.get(self.place(touch.key) as usize);
            page.is_some_and(|page| matches!(page.state, State::Dirty | State::Destaging | State::Redirtied))
        };
        let most = self.pages_of(extent);
        if self.dirty + most <= self.shape.dirty_max && self.pages.free_count() + self.pages.listed() >= most {
            return true;
        }
        let more = self.touches(space, extent).filter(|touch| !is_dirty(touch)).count() as u32;
        self.dirty + more <= self.shape.dirty_max && self.pages.free_count() + self.pages.listed() >= more
    }

    /// Whether a write of `extent` could ever find room.
    pub(crate) const fn fits(&self, extent: Extent) -> bool {
        self.pages_of(extent) <= self.shape.dirty_max
    }

    /// Keeps a write; [`Self::has_room`] was asked before.
    pub(crate) fn write(&mut self, space: u32, extent: Extent) {
        self.tally.writes += 1;
        self.tally.bytes += u64::from(extent.sectors) * 512;
        for touch in self.touches(space, extent) {
            let place = self.dirty_page(touch);
            let Some(page) = self.pages.get_mut(place as usize) else { return };
            page.valid.join(touch.stretch);
            let was_whole = page.dirty.to - page.dirty.from == self.shape.page_sectors as u8;
            page.dirty.join(touch.stretch);
            let is_whole = page.dirty.to - page.dirty.from == self.shape.page_sectors as u8;
            if page.state == State::Dirty {
                self.rows.note(&mut self.pages, place, is_whole && !was_whole);
            }
        }
    }

    /// The page of a touch, dirty from now on; [`NONE`] if there is no room at all.
    fn dirty_page(&mut self, touch: Touch) -> u32 {
        let place = self.place(touch.key);
        let Some(page) = self.pages.get(place as usize).copied() else {
            let Some(place) = self.make_room() else { return NONE };
            self.settle(place, touch, State::Dirty);
            self.pages[place as usize].before = NONE;
            self.pages[place as usize].epoch = self.epochs.enter();
            self.dirty += 1;
            return place;
        };
        match page.state {
            State::Clean => {
                self.pages.unlist(place);
                self.clean -= 1;
                self.waste(place);
            }
            State::Fetching => {
                self.clean -= 1;
                self.waste(place);
                // What it was to hold is on its way, but not there.
                self.pages[place as usize].valid = Stretch::default();
            }
            State::Destaging => {
                let page = &mut self.pages[place as usize];
                (page.state, page.epoch) = (State::Redirtied, self.epochs.enter());
                return place;
            }
            State::Dirty | State::Redirtied | State::Free => return place,
        }
        let page = &mut self.pages[place as usize];
        (page.state, page.dirty, page.before, page.after) = (State::Dirty, Stretch::default(), NONE, NONE);
        page.epoch = self.epochs.enter();
        self.dirty += 1;
        place
    }

    /// Takes the next row to destage after the last one, and rows behind it while they are full: appends stretches that
    /// were dirty, adjacent ones as one of at most `sectors_max`, or of a row that is not divided. `false` if nothing of the space is dirty.
    pub(crate) fn destage(&mut self, space: u32, sectors_max: u32, out: &mut Vec<Extent>) -> bool {
        self.rows.take(&mut self.pages, space, sectors_max, out)
    }

    /// A stretch has reached the devices.
    pub(crate) fn destaged(&mut self, space: u32, extent: Extent) {
        self.rows.expect_taking(space, &self.pages);
        let mut closed_late = false;
        for touch in self.touches(space, extent) {
            let place = self.place(touch.key);
            let Some(page) = self.pages.get_mut(place as usize) else { continue };
            match page.state {
                State::Destaging => {
                    closed_late |= self.epochs.leave(page.destaging);
                    self.dirty -= 1;
                    self.make_clean(place);
                }
                State::Redirtied => {
                    closed_late |= self.epochs.leave(page.destaging);
                    page.state = State::Dirty;
                    let is_whole = page.dirty.to - page.dirty.from == self.shape.page_sectors as u8;
                    page.before = NONE;
                    let is_due = self.epochs.is_closed(page.epoch);
                    self.rows.note(&mut self.pages, place, is_whole);
                    if is_due {
                        self.rows.make_due(touch.key);
                    }
                }
                _ => {}
            }
        }
        if closed_late {
            self.rows.make_all_due();
        }
    }

    /// A flush: what is dirty now is destaged before all else. The epoch that it waits for; see [`Self::is_flushed`].
    pub(crate) fn flush(&mut self) -> u64 {
        self.rows.make_all_due();
        self.epochs.close()
    }

    /// Whether all that a flush waits for has reached the devices.
    pub(crate) const fn is_flushed(&self, epoch: u64) -> bool {
        self.epochs.is_over(epoch)
    }

    /// Whether a flush waits for something of a space that is not under way.
    pub(crate) fn has_due_rows(&self, space: u32) -> bool {
        self.rows.has_due(space)
    }

    /// Whether anything of a space waits to be destaged (and is not under way).
    #[cfg(test)]
    pub(crate) fn has_dirty_rows(&self, space: u32) -> bool {
        self.rows.has(space)
    }

    /// Forgets clean pages of an extent that was trimmed or written past the cache.
    pub(crate) fn forget(&mut self, space: u32, extent: Extent) {
        for touch in self.touches(space, extent) {
            let place = self.place(touch.key);
            if self.pages.get(place as usize).is_some_and(|page| page.state == State::Clean) {
                self.pages.unlist(place);
                self.release(place);
            }
        }
    }

    /// Where a page is held, or [`NONE`].
    #[inline]
    fn place(&self, key: u64) -> u32 {
        self.index.get(key, |place| self.pages[place as usize].key == key)
    }

    const fn pages_of(&self, extent: Extent) -> u32 {
        let end = extent.lba + extent.sectors as u64 - 1;
        ((end >> self.page_shift) - (extent.lba >> self.page_shift) + 1) as u32
    }

    fn touches(&self, space: u32, extent: Extent) -> impl Iterator<Item = Touch> + use<> {
        let shift = self.page_shift;
        let end = extent.lba + u64::from(extent.sectors);
        let pages = extent.lba >> shift..=(end - 1) >> shift;
        pages.map(move |number| {
            let start = number << shift;
            let lba = start.max(extent.lba);
            let stop = (start + (1 << shift)).min(end);
            let stretch = Stretch { from: (lba - start) as u8, to: (stop - start) as u8 };
            Touch { key: u64::from(space) << SPACE_SHIFT | number, stretch, lba }
        })
    }

    fn settle(&mut self, place: u32, touch: Touch, state: State) {
        let page = &mut self.pages[place as usize];
        let valid = if state == State::Fetching { touch.stretch } else { Stretch::default() };
        let dirty = Stretch::default();
        *page =
            Page { key: touch.key, before: NONE, after: NONE, state, epoch: 0, destaging: 0, ahead: 0, valid, dirty };
        self.index.insert(touch.key, place);
    }

    /// A free page for a clean one; evicts the oldest when the share of clean pages is used up.
    fn make_clean_room(&mut self) -> Option<u32> {
        if self.clean >= self.shape.clean_max && !self.evict() {
            return None;
        }
        self.make_room()
    }

    fn make_room(&mut self) -> Option<u32> {
        if self.pages.free_count() == 0 && !self.evict() {
            return None;
        }
        Some(self.pages.take_free())
    }

    fn evict(&mut self) -> bool {
        let Some(place) = self.pages.oldest() else { return false };
        self.pages.unlist(place);
        self.release(place);
        if let Some(next) = self.pages.oldest() {
            let next = &self.pages[next as usize];
            self.index.expect(next.key);
            prefetch::expect(&self.pages, next.before as usize);
        }
        true
    }

    /// Frees a page that was clean.
    fn release(&mut self, place: u32) {
        self.clean -= 1;
        self.free_page(place);
    }

    fn free_page(&mut self, place: u32) {
        self.waste(place);
        self.index.remove(self.pages[place as usize].key, place);
        self.pages.give_back(place);
    }

    /// What was read ahead of a page will not be asked for there.
    fn waste(&mut self, place: u32) {
        self.tally.ahead.wasted += u64::from(std::mem::take(&mut self.pages[place as usize].ahead));
    }

    /// A destaged page stays as a clean one if there may be any.
    fn make_clean(&mut self, place: u32) {
        if self.shape.clean_max == 0 {
            self.free_page(place);
            return;
        }
        if self.clean >= self.shape.clean_max && !self.evict() {
            self.free_page(place);
            return;
        }
        self.pages[place as usize].state = State::Clean;
        self.clean += 1;
        self.pages.push_newest(place);
    }
}

#[cfg(test)]
mod tests;
