//! The pages of a cache, and the two lists through them: those that are free, and the clean ones by their last use.
//!
//! Model: a page lies at a place and stays there; a list is places that name each other. Whoever changes a page's state takes
//! it out of its list first.

use std::ops::{Deref, DerefMut};

use crate::slab::NONE;

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Free,
    Fetching,
    Clean,
    Dirty,
    Destaging,
    Redirtied,
}

/// A stretch of a page, in sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: u8,
    pub(super) to: u8,
}

impl Stretch {
    pub(super) const fn covers(self, other: Self) -> bool {
        self.from <= other.from && other.to <= self.to
    }

    pub(super) fn join(&mut self, other: Self) {
        if self.from == self.to {
            *self = other;
        } else {
            (self.from, self.to) = (self.from.min(other.from), self.to.max(other.to));
        }
    }
}

/// One page; its neighbours are those of the LRU list, of its row, or of the free list, as its state says. While it is
/// fetched `after` is the fetch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) key: u64,
    pub(super) before: u32,
    pub(super) after: u32,
    pub(super) state: State,
    /// The epoch in which what is dirty became so, and that of what is being destaged.
    pub(super) epoch: u8,
    pub(super) destaging: u8,
    /// Sectors that were read ahead and not asked for since.
    pub(super) ahead: u8,
    pub(super) valid: Stretch,
    pub(super) dirty: Stretch,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Pages {
    pages: Vec<Page>,
    free: u32,
    free_count: u32,
    /// Most and least recently used clean page.
    newest: u32,
    oldest: u32,
    listed: u32,
}

impl Deref for Pages {
    type Target = [Page];

    #[inline(always)]
    fn deref(&self) -> &[Page] {
        &self.pages
    }
}

impl DerefMut for Pages {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Page] {
        &mut self.pages
    }
}

impl Pages {
    /// So many, all of them free.
    pub(super) fn new(count: u32) -> Self {
        let page = Page {
            key: 0,
            before: NONE,
            after: NONE,
            state: State::Free,
            epoch: 0,
            destaging: 0,
            ahead: 0,
            valid: Stretch::default(),
            dirty: Stretch::default(),
        };
        let mut pages = vec![page; count as usize];
        for (number, page) in pages.iter_mut().enumerate() {
            page.after = if number + 1 < count as usize { number as u32 + 1 } else { NONE };
        }
        let free = if count > 0 { 0 } else { NONE };
        Self { pages, free, free_count: count, newest: NONE, oldest: NONE, listed: 0 }
    }

    /// Free pages.
    pub(super) const fn free_count(&self) -> u32 {
        self.free_count
    }

    /// Clean pages in the list.
    pub(super) const fn listed(&self) -> u32 {
        self.listed
    }

    /// The clean page that was used longest ago.
    pub(super) const fn oldest(&self) -> Option<u32> {
        if self.oldest == NONE { None } else { Some(self.oldest) }
    }

    /// Takes a free page; there has to be one.
    pub(super) fn take_free(&mut self) -> u32 {
        let place = self.free;
        self.free = self.pages[place as usize].after;
        self.free_count -= 1;
        place
    }

    /// A page is free again.
    pub(super) fn give_back(&mut self, place: u32) {
        let page = &mut self.pages[place as usize];
        (page.state, page.after) = (State::Free, self.free);
        self.free = place;
        self.free_count += 1;
    }

    /// A clean page was used.
    #[inline]
    pub(super) fn refresh(&mut self, place: u32) {
        if self.newest != place {
            self.unlist(place);
            self.push_newest(place);
        }
    }

    /// A clean page enters the list as the last used one.
    pub(super) fn push_newest(&mut self, place: u32) {
        let page = &mut self.pages[place as usize];
        (page.before, page.after) = (NONE, self.newest);
        match self.pages.get_mut(self.newest as usize) {
            Some(newest) => newest.before = place,
            None => self.oldest = place,
        }
        self.newest = place;
        self.listed += 1;
    }

    /// A clean page leaves the list.
    pub(super) fn unlist(&mut self, place: u32) {
        let Page { before, after, .. } = self.pages[place as usize];
        match self.pages.get_mut(before as usize) {
            Some(page) => page.after = after,
            None => self.newest = after,
        }
        match self.pages.get_mut(after as usize) {
            Some(page) => page.before = before,
            None => self.oldest = before,
        }
        self.listed -= 1;
    }
}
