//! Which extents of a group lie in a flash cache before it, and what of them the group does not have yet.
//!
//! Model: an extent has a place on the flash, or none. It is on its way there, clean, dirty, being written to the group, or written again
//! meanwhile. Clean ones leave in exact LRU order. What a read misses comes in as a whole extent; what a write brings stays alone, and what
//! lies between two writes counts as written, too. Dirty extents go to the group in order of address, from where the last one was.
//!
//! Limits: an extent that was written before it had arrived is given up. A read that finds a part of an extent only is a miss. Extents are
//! written to the group one by one, however they lie.

mod misses;
mod stretch;

use std::collections::BTreeMap;

use crate::cache::index::Index;
use crate::controller::Destager;
use crate::raid::Extent;
use crate::slab::NONE;
use crate::spec::FlashWrites;
use misses::Misses;
use stretch::Stretch;

/// What a flash cache is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlashShape {
    pub(crate) extent_sectors: u32,
    /// Extents that it holds.
    pub(crate) places: u32,
    /// Of these, dirty ones at most.
    pub(crate) dirty_max: u32,
    /// Whole extents that the group has.
    pub(crate) extents: u64,
    /// With which miss an extent comes in.
    pub(crate) promote_on_miss: u32,
    /// Extents on their way in at most.
    pub(crate) fills_max: u32,
    /// Longer reads bring nothing in.
    pub(crate) read_sectors_max: u32,
    /// Whether it begins filled.
    pub(crate) warm: bool,
}

/// What a place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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
struct Place {
    extent: u64,
    /// Neighbours of a clean one by their last use; [`NONE`] at the ends.
    before: u32,
    after: u32,
    state: State,
    valid: Stretch,
    dirty: Stretch,
}

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
    index: Index,
    places: Vec<Place>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
    coming: u32,
    clean: u32,
    dirty: u32,
    /// Dirty extents that are not on their way, with their places.
    waiting: BTreeMap<u64, u32>,
    /// The extent behind the last that was sent on its way.
    cursor: u64,
    misses: Option<Misses>,
    pub(crate) destager: Destager,
    pub(crate) tally: Tally,
}

/// The part of a stretch of the group that lies on one extent.
#[derive(Clone, Copy)]
struct Touch {
    extent: u64,
    stretch: Stretch,
}

impl FlashCache {
    pub(crate) fn new(group: u16, writes: FlashWrites, shape: FlashShape, destager: Destager) -> Self {
        Self {
            group,
            writes,
            shape,
            index: Index::new(shape.places as usize),
            places: Vec::new(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
            coming: 0,
            clean: 0,
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
        self.free.is_empty() && self.places.len() == self.shape.places as usize
    }

    /// An extent is there as if it had been read before; whether that is new.
    pub(crate) fn put(&mut self, lba: u64) {
        let extent = lba / u64::from(self.shape.extent_sectors);
        if extent < self.shape.extents && self.place(extent) == NONE && !self.is_full() {
            let place = self.take(extent, State::Clean);
            self.places[place as usize].valid = self.whole();
            self.list(place);
        }
    }

    /// Divides what fetch `number` reads into runs of the group and of the flash. What is to come in is read as whole extents, which are
    /// on their way from now on; see [`Self::arrived`].
    pub(crate) fn read(&mut self, wanted: Extent, number: u32, runs: &mut Vec<Run>) {
        let mut missed = false;
        for touch in self.touches(wanted) {
            missed |= self.read_one(touch, (number, wanted.sectors), runs);
        }
        self.tally.reads += 1;
        self.tally.bytes += u64::from(wanted.sectors) * 512;
        self.tally.hits += u64::from(!missed);
    }

    fn read_one(&mut self, touch: Touch, (number, sectors): (u32, u32), runs: &mut Vec<Run>) -> bool {
        let place = self.place(touch.extent);
        let Some(&Place { state, valid, dirty, .. }) = self.places.get(place as usize) else {
            let may_come = sectors <= self.shape.read_sectors_max && self.coming < self.shape.fills_max;
            let comes = may_come && self.is_worth(touch.extent) && self.makes_room();
            if comes {
                self.coming += 1;
                self.take(touch.extent, State::Coming { fetch: number, stale: false });
            }
            let stretch = if comes { self.whole() } else { touch.stretch };
            self.append_of_group(Touch { stretch, ..touch }, runs);
            return true;
        };
        let is_there = !matches!(state, State::Coming { .. } | State::Free) && valid.covers(touch.stretch);
        if is_there {
            if state == State::Clean {
                self.unlist(place);
                self.list(place);
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
            self.unlist(place);
            self.give_back(place);
        }
        true
    }

    /// Whether an extent that is not there is to come in.
    fn is_worth(&mut self, extent: u64) -> bool {
        extent < self.shape.extents && self.misses.as_mut().is_none_or(|misses| misses.again(extent))
    }

    fn append_of_group(&self, touch: Touch, runs: &mut Vec<Run>) {
        let extent = self.extent_of(touch);
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
        Run { extent: self.extent_of(touch), flash_lba: Some(self.flash_lba(place, touch.stretch.from)), only_here }
    }

    /// What fetch `number` has brought: the places that are to be written to the flash.
    pub(crate) fn arrived(&mut self, wanted: Extent, number: u32, out: &mut Vec<u32>) {
        for touch in self.touches(wanted) {
            let place = self.place(touch.extent);
            match self.places.get(place as usize).map(|place| place.state) {
                Some(State::Coming { fetch, stale: true }) if fetch == number => self.give_back(place),
                Some(State::Coming { fetch, stale: false }) if fetch == number => out.push(place),
                _ => {}
            }
        }
    }

    /// What was on its way to a place is there, or could not be written.
    pub(crate) fn settled(&mut self, place: u32, is_written: bool) {
        match self.places[place as usize].state {
            State::Coming { stale: false, .. } if is_written => {
                self.coming -= 1;
                self.places[place as usize].state = State::Clean;
                self.places[place as usize].valid = self.whole();
                self.list(place);
            }
            State::Coming { .. } => self.give_back(place),
            _ => {}
        }
    }

    /// The flash of a clean extent has failed.
    pub(crate) fn lost(&mut self, lba: u64) {
        let place = self.place(lba / u64::from(self.shape.extent_sectors));
        if self.places.get(place as usize).is_some_and(|found| found.state == State::Clean) {
            self.unlist(place);
            self.give_back(place);
        }
    }

    /// Whether all stretches of a write find room.
    pub(crate) fn has_room(&self, written: &[Extent]) -> bool {
        let (mut dirtied, mut new, mut reused, mut last) = (0, 0, 0, u64::MAX);
        for touch in written.iter().flat_map(|&extent| self.touches(extent)) {
            if std::mem::replace(&mut last, touch.extent) == touch.extent {
                continue;
            }
            if touch.extent >= self.shape.extents {
                return false;
            }
            match self.places.get(self.place(touch.extent) as usize).map(|place| place.state) {
                None => (dirtied, new) = (dirtied + 1, new + 1),
                Some(State::Clean) => (dirtied, reused) = (dirtied + 1, reused + 1),
                Some(State::Coming { .. }) => return false,
                _ => {}
            }
        }
        let unused = self.shape.places - self.places.len() as u32 + self.free.len() as u32;
        self.dirty + dirtied <= self.shape.dirty_max && new + reused <= unused + self.clean
    }

    /// Keeps what [`Self::has_room`] has room for; appends where it is written on the flash.
    pub(crate) fn keep(&mut self, written: Extent, out: &mut Vec<Extent>) {
        for touch in self.touches(written) {
            let mut place = self.place(touch.extent);
            if place == NONE {
                if !self.makes_room() {
                    continue;
                }
                place = self.take(touch.extent, State::Dirty);
                self.dirty += 1;
                self.waiting.insert(touch.extent, place);
            } else if self.places[place as usize].state == State::Clean {
                self.unlist(place);
                self.places[place as usize].state = State::Dirty;
                self.dirty += 1;
                self.waiting.insert(touch.extent, place);
            } else if self.places[place as usize].state == State::Leaving {
                self.places[place as usize].state = State::Rewritten;
            }
            let found = &mut self.places[place as usize];
            (found.valid, found.dirty) = (found.valid.joined(touch.stretch), found.dirty.joined(touch.stretch));
            out.push(self.flash_extent(place, touch.stretch));
        }
    }

    /// A write goes to the group: the cache gives up what it has of it, or appends where it is written on the flash as well.
    pub(crate) fn pass(&mut self, written: Extent, out: &mut Vec<Extent>) {
        for touch in self.touches(written) {
            let place = self.place(touch.extent);
            let Some(found) = self.places.get_mut(place as usize) else { continue };
            match &mut found.state {
                State::Coming { stale, .. } => *stale = true,
                State::Clean if self.writes == FlashWrites::Around => {
                    self.unlist(place);
                    self.give_back(place);
                }
                _ => {
                    found.valid = found.valid.joined(touch.stretch);
                    out.push(self.flash_extent(place, touch.stretch));
                }
            }
        }
    }

    /// Forgets clean extents of a stretch that was trimmed.
    pub(crate) fn forget(&mut self, trimmed: Extent) {
        for touch in self.touches(trimmed) {
            let place = self.place(touch.extent);
            match self.places.get_mut(place as usize).map(|found| &mut found.state) {
                Some(State::Coming { stale, .. }) => *stale = true,
                Some(State::Clean) => {
                    self.unlist(place);
                    self.give_back(place);
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
        let found = &mut self.places[place as usize];
        found.state = State::Leaving;
        let stretch = std::mem::take(&mut found.dirty);
        Some(Leaving { place, extent: self.extent_of(Touch { extent, stretch }) })
    }

    /// Where a stretch of an extent that has a place lies on the flash.
    pub(crate) fn located(&self, place: u32, extent: Extent) -> Extent {
        let from = (extent.lba % u64::from(self.shape.extent_sectors)) as u32;
        self.flash_extent(place, Stretch { from, to: from + extent.sectors })
    }

    /// What was on its way to the group is there, or was lost before: then nobody has it any more.
    pub(crate) fn left(&mut self, place: u32, is_there: bool) {
        let Place { extent, state, valid, .. } = self.places[place as usize];
        if !is_there {
            self.places[place as usize].state = State::Dirty;
            self.places[place as usize].dirty = valid;
            return;
        }
        if state == State::Rewritten {
            self.places[place as usize].state = State::Dirty;
            self.waiting.insert(extent, place);
            return;
        }
        self.dirty -= 1;
        self.places[place as usize].state = State::Clean;
        self.list(place);
    }

    /// Where a whole extent lies on the flash.
    pub(crate) fn whole_extent(&self, place: u32) -> Extent {
        self.flash_extent(place, self.whole())
    }

    const fn whole(&self) -> Stretch {
        Stretch { from: 0, to: self.shape.extent_sectors }
    }

    const fn flash_lba(&self, place: u32, from: u32) -> u64 {
        place as u64 * self.shape.extent_sectors as u64 + from as u64
    }

    const fn flash_extent(&self, place: u32, stretch: Stretch) -> Extent {
        Extent { lba: self.flash_lba(place, stretch.from), sectors: stretch.to - stretch.from }
    }

    fn extent_of(&self, Touch { extent, stretch }: Touch) -> Extent {
        let lba = extent * u64::from(self.shape.extent_sectors) + u64::from(stretch.from);
        Extent { lba, sectors: stretch.to - stretch.from }
    }

    fn touches(&self, wanted: Extent) -> impl Iterator<Item = Touch> + use<> {
        let each = u64::from(self.shape.extent_sectors);
        let end = wanted.lba + u64::from(wanted.sectors);
        (wanted.lba / each..end.div_ceil(each)).map(move |extent| {
            let start = extent * each;
            let stretch =
                Stretch { from: (wanted.lba.max(start) - start) as u32, to: (end.min(start + each) - start) as u32 };
            Touch { extent, stretch }
        })
    }

    /// Where an extent is, or [`NONE`].
    fn place(&self, extent: u64) -> u32 {
        self.index.get(extent, |place| self.places[place as usize].extent == extent)
    }

    /// Whether a place is free, or becomes so by the clean extent that was used longest ago.
    fn makes_room(&mut self) -> bool {
        if !self.is_full() {
            return true;
        }
        let oldest = self.oldest;
        if oldest == NONE {
            return false;
        }
        self.unlist(oldest);
        self.give_back(oldest);
        true
    }

    /// Takes a place for an extent; there is one.
    fn take(&mut self, extent: u64, state: State) -> u32 {
        let empty = Stretch::default();
        let taken = Place { extent, before: NONE, after: NONE, state, valid: empty, dirty: empty };
        let place = match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = taken;
                place
            }
            None => {
                self.places.push(taken);
                self.places.len() as u32 - 1
            }
        };
        self.index.insert(extent, place);
        place
    }

    fn give_back(&mut self, place: u32) {
        let Place { extent, state, .. } = self.places[place as usize];
        self.index.remove(extent, place);
        self.coming -= u32::from(matches!(state, State::Coming { .. }));
        self.places[place as usize].state = State::Free;
        self.free.push(place);
    }

    /// A clean extent was used last.
    fn list(&mut self, place: u32) {
        let newest = std::mem::replace(&mut self.newest, place);
        (self.places[place as usize].before, self.places[place as usize].after) = (NONE, newest);
        match self.places.get_mut(newest as usize) {
            Some(newest) => newest.before = place,
            None => self.oldest = place,
        }
        self.clean += 1;
    }

    /// It is a clean one no longer.
    fn unlist(&mut self, place: u32) {
        let Place { before, after, .. } = self.places[place as usize];
        match self.places.get_mut(before as usize) {
            Some(found) => found.after = after,
            None => self.newest = after,
        }
        match self.places.get_mut(after as usize) {
            Some(found) => found.before = before,
            None => self.oldest = before,
        }
        self.clean -= 1;
    }
}

#[cfg(test)]
mod tests;
