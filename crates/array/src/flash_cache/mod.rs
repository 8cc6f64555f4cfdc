//! Which extents of a group lie in a flash cache before it, and what of them the group does not have yet.
//!
//! Model: an extent has a place on the flash, or none. It is on its way there, clean, dirty, being written to the group, or written again
//! meanwhile. Clean ones leave in exact LRU order. What a read misses comes in as a whole extent; what a write brings stays alone, and what
//! lies between two writes counts as written, too. Dirty extents go to the group in order of address, from where the last one was.
//!
//! Limits: an extent that was written before it had arrived is given up. A read that finds a part of an extent only is a miss. Extents are
//! written to the group one by one, however they lie.

mod misses;
mod places;
mod shape;
mod stretch;

use std::collections::BTreeMap;

use crate::controller::Destager;
use crate::raid::Extent;
use crate::slab::NONE;
use crate::spec::FlashWrites;
use misses::Misses;
use places::{Place, Places, State};
pub(crate) use shape::FlashShape;
use shape::Touch;
use stretch::Stretch;

/// A stretch of the group, and where it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) extent: Extent,
    /// Where it lies on the flash; none if the group is read.
    pub(crate) flash_lba: Option<u64>,
    /// Whether the group does not have it yet.
    pub(crate) only_here: bool,
}

/// An extent on its way to the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaving {
    pub(crate) place: u32,
    /// In the group.
    pub(crate) extent: Extent,
}

/// What it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Reads, and those that found everything there.
    pub(crate) reads: u64,
    pub(crate) hits: u64,
    pub(crate) bytes: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct FlashCache {
    /// The group that it lies on.
    pub(crate) group: u16,
    pub(crate) writes: FlashWrites,
    shape: FlashShape,
    places: Places,
    dirty: u32,
    /// Dirty extents that are not on their way, with their places.
    waiting: BTreeMap<u64, u32>,
    /// The extent behind the last that was sent on its way.
    cursor: u64,
    misses: Option<Misses>,
    pub(crate) destager: Destager,
    pub(crate) tally: Tally,
}

impl FlashCache {
    pub(crate) fn new(group: u16, writes: FlashWrites, shape: FlashShape, destager: Destager) -> Self {
        Self {
            group,
            writes,
            shape,
            places: Places::new(shape.places),
            dirty: 0,
            waiting: BTreeMap::new(),
            cursor: 0,
            misses: (shape.promote_on_miss > 1).then(|| Misses::new(shape.places as usize)),
            destager,
            tally: Tally::default(),
        }
    }

    pub(crate) const fn shape(&self) -> &FlashShape {
        &self.shape
    }

    /// Extents that the group does not have yet.
    pub(crate) const fn dirty_extents(&self) -> u32 {
        self.dirty
    }

    /// Whether no further extent finds a free place.
    pub(crate) fn is_full(&self) -> bool {
        self.places.is_full()
    }

    /// An extent is there as if it had been read before; whether that is new.
    pub(crate) fn put(&mut self, lba: u64) {
        let extent = lba / u64::from(self.shape.extent_sectors);
        if extent < self.shape.extents && self.places.of(extent) == NONE && !self.is_full() {
            let place = self.places.take(extent, State::Clean);
            self.places[place].valid = self.shape.whole();
        }
    }

    /// Divides what fetch `number` reads into runs of the group and of the flash. What is to come in is read as whole extents, which are
    /// on their way from now on; see [`Self::arrived`].
    pub(crate) fn read(&mut self, wanted: Extent, number: u32, runs: &mut Vec<Run>) {
        let mut missed = false;
        for touch in self.shape.touches(wanted) {
            missed |= self.read_one(touch, (number, wanted.sectors), runs);
        }
        self.tally.reads += 1;
        self.tally.bytes += u64::from(wanted.sectors) * 512;
        self.tally.hits += u64::from(!missed);
    }

    fn read_one(&mut self, touch: Touch, (number, sectors): (u32, u32), runs: &mut Vec<Run>) -> bool {
        let place = self.places.of(touch.extent);
        let Some(&Place { state, valid, dirty, .. }) = self.places.get(place) else {
            let may_come = sectors <= self.shape.read_sectors_max && self.places.coming() < self.shape.fills_max;
            let comes = may_come && self.is_worth(touch.extent) && self.places.makes_room();
            if comes {
                self.places.take(touch.extent, State::Coming { fetch: number, stale: false });
            }
            let stretch = if comes { self.shape.whole() } else { touch.stretch };
            self.append_of_group(Touch { stretch, ..touch }, runs);
            return true;
        };
        let is_there = !matches!(state, State::Coming { .. } | State::Free) && valid.covers(touch.stretch);
        if is_there {
            if state == State::Clean {
                self.places.used(place);
            }
            let only_here = state != State::Clean && (state == State::Leaving || dirty.common(touch.stretch).is_some());
            runs.push(self.run_of_flash(touch, place, only_here));
            return false;
        }
        self.append_of_group(touch, runs);
        if let Some(stretch) =
            valid.common(touch.stretch).filter(|_| matches!(state, State::Dirty | State::Leaving | State::Rewritten))
        {
            runs.push(self.run_of_flash(Touch { stretch, ..touch }, place, true));
        } else if state == State::Clean {
            // A part of it, which a write has left: the whole of it comes in with a later miss.
            self.places.give_back(place);
        }
        true
    }

    /// Whether an extent that is not there is to come in.
    fn is_worth(&mut self, extent: u64) -> bool {
        extent < self.shape.extents && self.misses.as_mut().is_none_or(|misses| misses.again(extent))
    }

    fn append_of_group(&self, touch: Touch, runs: &mut Vec<Run>) {
        let extent = self.shape.extent_of(touch);
        match runs.last_mut() {
            Some(last)
                if last.flash_lba.is_none() && last.extent.lba + u64::from(last.extent.sectors) == extent.lba =>
            {
                last.extent.sectors += extent.sectors;
            }
            _ => runs.push(Run { extent, flash_lba: None, only_here: false }),
        }
    }

    fn run_of_flash(&self, touch: Touch, place: u32, only_here: bool) -> Run {
        Run {
            extent: self.shape.extent_of(touch),
            flash_lba: Some(self.shape.flash_lba(place, touch.stretch.from)),
            only_here,
        }
    }

    /// What fetch `number` has brought: the places that are to be written to the flash.
    pub(crate) fn arrived(&mut self, wanted: Extent, number: u32, out: &mut Vec<u32>) {
        for touch in self.shape.touches(wanted) {
            let place = self.places.of(touch.extent);
            match self.places.get(place).map(|place| place.state) {
                Some(State::Coming { fetch, stale: true }) if fetch == number => self.places.give_back(place),
                Some(State::Coming { fetch, stale: false }) if fetch == number => out.push(place),
                _ => {}
            }
        }
    }

    /// What was on its way to a place is there, or could not be written.
    pub(crate) fn settled(&mut self, place: u32, is_written: bool) {
        match self.places[place].state {
            State::Coming { stale: false, .. } if is_written => {
                self.places.becomes(place, State::Clean);
                self.places[place].valid = self.shape.whole();
            }
            State::Coming { .. } => self.places.give_back(place),
            _ => {}
        }
    }

    /// The flash of a clean extent has failed.
    pub(crate) fn lost(&mut self, lba: u64) {
        let place = self.places.of(lba / u64::from(self.shape.extent_sectors));
        if self.places.get(place).is_some_and(|found| found.state == State::Clean) {
            self.places.give_back(place);
        }
    }

    /// Whether all stretches of a write find room.
    pub(crate) fn has_room(&self, written: &[Extent]) -> bool {
        let (mut dirtied, mut new, mut reused, mut last) = (0, 0, 0, u64::MAX);
        for touch in written.iter().flat_map(|&extent| self.shape.touches(extent)) {
            if std::mem::replace(&mut last, touch.extent) == touch.extent {
                continue;
            }
            if touch.extent >= self.shape.extents {
                return false;
            }
            match self.places.get(self.places.of(touch.extent)).map(|place| place.state) {
                None => (dirtied, new) = (dirtied + 1, new + 1),
                Some(State::Clean) => (dirtied, reused) = (dirtied + 1, reused + 1),
                Some(State::Coming { .. }) => return false,
                _ => {}
            }
        }
        self.dirty + dirtied <= self.shape.dirty_max && new + reused <= self.places.available()
    }

    /// Keeps what [`Self::has_room`] has room for; appends where it is written on the flash.
    pub(crate) fn keep(&mut self, written: Extent, out: &mut Vec<Extent>) {
        for touch in self.shape.touches(written) {
            let mut place = self.places.of(touch.extent);
            if place == NONE {
                if !self.places.makes_room() {
                    continue;
                }
                place = self.places.take(touch.extent, State::Dirty);
                self.dirty += 1;
                self.waiting.insert(touch.extent, place);
            } else if self.places[place].state == State::Clean {
                self.places.becomes(place, State::Dirty);
                self.dirty += 1;
                self.waiting.insert(touch.extent, place);
            } else if self.places[place].state == State::Leaving {
                self.places.becomes(place, State::Rewritten);
            }
            let found = &mut self.places[place];
            (found.valid, found.dirty) = (found.valid.joined(touch.stretch), found.dirty.joined(touch.stretch));
            out.push(self.shape.flash_extent(place, touch.stretch));
        }
    }

    /// A write goes to the group: the cache gives up what it has of it, or appends where it is written on the flash as well.
    pub(crate) fn pass(&mut self, written: Extent, out: &mut Vec<Extent>) {
        for touch in self.shape.touches(written) {
            let place = self.places.of(touch.extent);
            let Some(found) = self.places.get_mut(place) else { continue };
            match &mut found.state {
                State::Coming { stale, .. } => *stale = true,
                State::Clean if self.writes == FlashWrites::Around => {
                    self.places.give_back(place);
                }
                _ => {
                    found.valid = found.valid.joined(touch.stretch);
                    out.push(self.shape.flash_extent(place, touch.stretch));
                }
            }
        }
    }

    /// Forgets clean extents of a stretch that was trimmed.
    pub(crate) fn forget(&mut self, trimmed: Extent) {
        for touch in self.shape.touches(trimmed) {
            let place = self.places.of(touch.extent);
            match self.places.get_mut(place).map(|found| &mut found.state) {
                Some(State::Coming { stale, .. }) => *stale = true,
                Some(State::Clean) => {
                    self.places.give_back(place);
                }
                _ => {}
            }
        }
    }

    /// The next dirty extent, which is on its way to the group from now on.
    pub(crate) fn next_leaving(&mut self) -> Option<Leaving> {
        let next = self.waiting.range(self.cursor..).next().or_else(|| self.waiting.iter().next());
        let (&extent, &place) = next?;
        self.waiting.remove(&extent);
        self.cursor = extent + 1;
        self.places.becomes(place, State::Leaving);
        let stretch = std::mem::take(&mut self.places[place].dirty);
        Some(Leaving { place, extent: self.shape.extent_of(Touch { extent, stretch }) })
    }

    /// Where a stretch of an extent that has a place lies on the flash.
    pub(crate) fn located(&self, place: u32, extent: Extent) -> Extent {
        let from = (extent.lba % u64::from(self.shape.extent_sectors)) as u32;
        self.shape.flash_extent(place, Stretch { from, to: from + extent.sectors })
    }

    /// What was on its way to the group is there, or was lost before: then nobody has it any more.
    pub(crate) fn left(&mut self, place: u32, is_there: bool) {
        let Place { extent, state, valid, .. } = self.places[place];
        if !is_there {
            self.places.becomes(place, State::Dirty);
            self.places[place].dirty = valid;
            return;
        }
        if state == State::Rewritten {
            self.places.becomes(place, State::Dirty);
            self.waiting.insert(extent, place);
            return;
        }
        self.dirty -= 1;
        self.places.becomes(place, State::Clean);
    }

    /// Where a whole extent lies on the flash.
    pub(crate) fn whole_extent(&self, place: u32) -> Extent {
        self.shape.flash_extent(place, self.shape.whole())
    }
}

#[cfg(test)]
mod tests;
