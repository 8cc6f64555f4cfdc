//! The places of a flash cache: which are free, which extent has which, and which clean one was used longest ago.

use std::ops;

use super::stretch::Stretch;
use crate::cache::index::Index;
use crate::slab::NONE;

/// What a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Free,
    /// On its way, read by this fetch; given up when it comes if it has been written since.
    Coming {
        fetch: u32,
        stale: bool,
    },
    Clean,
    Dirty,
    /// On its way to the group.
    Leaving,
    /// The same, and written meanwhile.
    Rewritten,
}

/// Room for an extent on the flash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) extent: u64,
    /// Neighbours of a clean one by their last use; [`NONE`] at the ends.
    before: u32,
    after: u32,
    pub(super) state: State,
    pub(super) valid: Stretch,
    pub(super) dirty: Stretch,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Places {
    index: Index,
    all: Vec<Place>,
    free: Vec<u32>,
    most: u32,
    newest: u32,
    oldest: u32,
    /// Extents on their way in.
    coming: u32,
    clean: u32,
}

impl Places {
    pub(super) fn new(most: u32) -> Self {
        Self {
            index: Index::new(most as usize),
            all: Vec::new(),
            free: Vec::new(),
            most,
            newest: NONE,
            oldest: NONE,
            coming: 0,
            clean: 0,
        }
    }

    pub(super) fn get(&self, place: u32) -> Option<&Place> {
        self.all.get(place as usize)
    }

    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Place> {
        self.all.get_mut(place as usize)
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> &[Place] {
        &self.all
    }

    #[cfg(test)]
    pub(super) const fn clean(&self) -> u32 {
        self.clean
    }

    /// Extents on their way in.
    pub(super) const fn coming(&self) -> u32 {
        self.coming
    }

    /// Places that are free, or become so when they are asked for.
    pub(super) fn available(&self) -> u32 {
        self.most - self.all.len() as u32 + self.free.len() as u32 + self.clean
    }

    /// Whether no further extent finds a free place.
    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty() && self.all.len() == self.most as usize
    }

    /// Where an extent is, or [`NONE`].
    pub(super) fn of(&self, extent: u64) -> u32 {
        self.index.get(extent, |place| self[place].extent == extent)
    }

    /// Whether a place is free, or becomes so by the clean extent that was used longest ago.
    pub(super) fn makes_room(&mut self) -> bool {
        if !self.is_full() {
            return true;
        }
        let oldest = self.oldest;
        if oldest == NONE {
            return false;
        }
        self.give_back(oldest);
        true
    }

    /// Takes a place for an extent; there is one: see [`Self::makes_room`].
    pub(super) fn take(&mut self, extent: u64, state: State) -> u32 {
        let empty = Stretch::default();
        let taken = Place { extent, before: NONE, after: NONE, state: State::Free, valid: empty, dirty: empty };
        let place = match self.free.pop() {
            Some(place) => {
                self[place] = taken;
                place
            }
            None => {
                self.all.push(taken);
                self.all.len() as u32 - 1
            }
        };
        self.index.insert(extent, place);
        self.becomes(place, state);
        place
    }

    /// An extent has its place no longer.
    pub(super) fn give_back(&mut self, place: u32) {
        self.becomes(place, State::Free);
        self.index.remove(self[place].extent, place);
        self.free.push(place);
    }

    /// A clean extent was used.
    pub(super) fn used(&mut self, place: u32) {
        self.unlist(place);
        self.list(place);
    }

    /// What a place holds is another matter from now on; a clean one counts as just used.
    pub(super) fn becomes(&mut self, place: u32, state: State) {
        match std::mem::replace(&mut self[place].state, state) {
            State::Clean => self.unlist(place),
            State::Coming { .. } => self.coming -= 1,
            _ => {}
        }
        match state {
            State::Clean => self.list(place),
            State::Coming { .. } => self.coming += 1,
            _ => {}
        }
    }

    /// A clean extent was used last.
    fn list(&mut self, place: u32) {
        let newest = std::mem::replace(&mut self.newest, place);
        (self[place].before, self[place].after) = (NONE, newest);
        match self.get_mut(newest) {
            Some(newest) => newest.before = place,
            None => self.oldest = place,
        }
        self.clean += 1;
    }

    /// It is a clean one no longer.
    fn unlist(&mut self, place: u32) {
        let Place { before, after, .. } = self[place];
        match self.get_mut(before) {
            Some(found) => found.after = after,
            None => self.newest = after,
        }
        match self.get_mut(after) {
            Some(found) => found.before = before,
            None => self.oldest = before,
        }
        self.clean -= 1;
    }
}

impl ops::Index<u32> for Places {
    type Output = Place;

    fn index(&self, place: u32) -> &Place {
        &self.all[place as usize]
    }
}

impl ops::IndexMut<u32> for Places {
    fn index_mut(&mut self, place: u32) -> &mut Place {
        &mut self.all[place as usize]
    }
}
