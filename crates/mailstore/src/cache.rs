//! The page cache: which pages are in memory, which of them are dirty since when, and which one goes.
//!
//! Model: exact least recently used replacement over a fixed number of frames. Dirty pages are kept in the order of the log position
//! that first made them dirty, so the oldest is the one that holds the checkpoint back. A page that is being read or written stays
//! where it is; one that changes while it is being written becomes dirty anew.
//!
//! Limits: nothing is kept of a page but its number and the log positions of its first and last change.

use crate::map::{NONE, PageMap};

/// What is known of a page in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Its number in the database; [`NONE`] in a frame that holds nothing.
    pub(crate) page: u32,
    /// It is on its way from the target.
    pub(crate) reading: bool,
    /// A version of it is on its way to the target.
    pub(crate) writing: bool,
    /// It has changed since it was last handed over for writing.
    pub(crate) dirty: bool,
    /// The log position that first made it dirty; while only `writing`, that of the version on its way.
    pub(crate) first_lsn: u64,
    /// The same of the version that is on its way.
    pub(crate) writing_lsn: u64,
    /// The log position of its last change.
    pub(crate) last_lsn: u64,
    /// How often it has changed in this life, and how often the version on its way had.
    pub(crate) version: u32,
    pub(crate) writing_version: u32,
    /// The first thread that waits for it.
    pub(crate) waiter: u32,
    newer: u32,
    older: u32,
    before: u32,
    after: u32,
}

const EMPTY: Frame = Frame {
    page: NONE,
    reading: false,
    writing: false,
    dirty: false,
    first_lsn: 0,
    writing_lsn: 0,
    last_lsn: 0,
    version: 0,
    writing_version: 0,
    waiter: NONE,
    newer: NONE,
    older: NONE,
    before: NONE,
    after: NONE,
};

/// See the module.
#[derive(Debug)]
pub(crate) struct Cache {
    frames: Vec<Frame>,
    map: PageMap,
    /// Frames that never held anything.
    unused: u32,
    newest: u32,
    oldest: u32,
    first_dirty: u32,
    last_dirty: u32,
    /// Dirty pages.
    pub(crate) dirty: u32,
}

impl Cache {
    pub(crate) fn new(frames: u32) -> Self {
        Self {
            frames: vec![EMPTY; frames as usize],
            map: PageMap::new(frames as usize),
            unused: frames,
            newest: NONE,
            oldest: NONE,
            first_dirty: NONE,
            last_dirty: NONE,
            dirty: 0,
        }
    }

    pub(crate) fn frames(&self) -> u32 {
        self.frames.len() as u32
    }

    pub(crate) fn frame(&self, frame: u32) -> &Frame {
        &self.frames[frame as usize]
    }

    pub(crate) fn frame_mut(&mut self, frame: u32) -> &mut Frame {
        &mut self.frames[frame as usize]
    }

    /// The frame of a page, or [`NONE`].
    pub(crate) fn find(&self, page: u32) -> u32 {
        self.map.get(page)
    }

    /// A page was used.
    pub(crate) fn touch(&mut self, frame: u32) {
        if self.newest != frame {
            self.unlink(frame);
            self.link_newest(frame);
        }
    }

    /// The page that goes next, or [`NONE`]: the least recently used one that is clean and rests. `passed` is told of dirty ones
    /// that were passed over; at most `steps_max` pages are looked at, and those in `kept` stay.
    pub(crate) fn victim(&self, steps_max: u32, kept: [u32; 2], mut passed: impl FnMut(u32)) -> u32 {
        let mut frame = self.oldest;
        for _ in 0..steps_max {
            if frame == NONE {
                return NONE;
            }
            let found = &self.frames[frame as usize];
            match found {
                Frame { reading: false, writing: false, dirty: false, .. } if !kept.contains(&frame) => return frame,
                Frame { dirty: true, writing: false, .. } => passed(frame),
                _ => {}
            }
            frame = found.newer;
        }
        NONE
    }

    /// Whether a frame has never held anything.
    pub(crate) const fn has_unused(&self) -> bool {
        self.unused > 0
    }

    /// Puts a page into an unused frame, or in the place of `victim`; it is clean and the most recently used one.
    pub(crate) fn admit(&mut self, page: u32, victim: u32) -> u32 {
        let frame = if self.unused > 0 {
            self.unused -= 1;
            self.unused
        } else {
            self.map.remove(self.frames[victim as usize].page);
            self.unlink(victim);
            victim
        };
        self.frames[frame as usize] = Frame { page, ..EMPTY };
        self.map.insert(page, frame);
        self.link_newest(frame);
        frame
    }

    /// The record at `lsn` has changed a page.
    pub(crate) fn change(&mut self, frame: u32, lsn: u64) {
        let before = self.last_dirty;
        let changed = &mut self.frames[frame as usize];
        changed.last_lsn = lsn;
        changed.version = changed.version.wrapping_add(1);
        if changed.dirty {
            return;
        }
        (changed.dirty, changed.first_lsn) = (true, lsn);
        (changed.before, changed.after) = (before, NONE);
        match before {
            NONE => self.first_dirty = frame,
            before => self.frames[before as usize].after = frame,
        }
        self.last_dirty = frame;
        self.dirty += 1;
    }

    /// The page that has been dirty longest, or [`NONE`].
    pub(crate) const fn first_dirty(&self) -> u32 {
        self.first_dirty
    }

    /// The dirty page after this one, or [`NONE`].
    pub(crate) fn next_dirty(&self, frame: u32) -> u32 {
        self.frames[frame as usize].after
    }

    /// A dirty page is handed over for writing.
    pub(crate) fn begin_write(&mut self, frame: u32) {
        let Frame { before, after, .. } = self.frames[frame as usize];
        match before {
            NONE => self.first_dirty = after,
            before => self.frames[before as usize].after = after,
        }
        match after {
            NONE => self.last_dirty = before,
            after => self.frames[after as usize].before = before,
        }
        self.dirty -= 1;
        let written = &mut self.frames[frame as usize];
        (written.dirty, written.writing) = (false, true);
        (written.writing_lsn, written.writing_version) = (written.first_lsn, written.version);
    }

    fn unlink(&mut self, frame: u32) {
        let Frame { newer, older, .. } = self.frames[frame as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.frames[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.frames[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, frame: u32) {
        let newest = self.newest;
        (self.frames[frame as usize].newer, self.frames[frame as usize].older) = (NONE, newest);
        match newest {
            NONE => self.oldest = frame,
            newest => self.frames[newest as usize].newer = frame,
        }
        self.newest = frame;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn use_page(cache: &mut Cache, page: u32) -> bool {
        match cache.find(page) {
            NONE => {
                let victim = if cache.has_unused() { NONE } else { cache.victim(u32::MAX, [NONE; 2], |_| {}) };
                let _ = cache.admit(page, victim);
                false
            }
            frame => {
                cache.touch(frame);
                true
            }
        }
    }

    proptest! {
        #[test]
        fn the_page_that_goes_is_the_least_recently_used_one(pages in prop::collection::vec(0_u32..12, 1..300)) {
            let (mut cache, mut plain) = (Cache::new(5), Vec::new());
            for page in pages {
                let held = plain.iter().position(|&other| other == page);
                prop_assert_eq!(use_page(&mut cache, page), held.is_some());
                held.map(|place| plain.remove(place));
                plain.push(page);
                if plain.len() > 5 {
                    plain.remove(0);
                }
            }
        }

        #[test]
        fn dirty_pages_stand_in_the_order_of_their_first_change(steps in prop::collection::vec((0_u32..8, any::<bool>()), 1..200)) {
            let (mut cache, mut plain) = (Cache::new(8), Vec::<(u32, u64)>::new());
            for page in 0..8 {
                let _ = use_page(&mut cache, page);
            }
            for (lsn, (page, write)) in (1_u64..).zip(steps) {
                let frame = cache.find(page);
                let place = plain.iter().position(|(other, _)| *other == page);
                if !write {
                    cache.change(frame, lsn);
                    if place.is_none() { plain.push((page, lsn)); }
                } else if let Some(place) = place {
                    cache.begin_write(frame);
                    cache.frame_mut(frame).writing = false;
                    plain.remove(place);
                }
                let (mut found, mut at) = (Vec::new(), cache.first_dirty());
                while at != NONE {
                    found.push((cache.frame(at).page, cache.frame(at).first_lsn));
                    at = cache.next_dirty(at);
                }
                prop_assert_eq!(&found, &plain);
                prop_assert_eq!(cache.dirty as usize, plain.len());
            }
        }
    }

    #[test]
    fn a_dirty_page_is_passed_over_and_told() {
        let mut cache = Cache::new(2);
        let (one, two) = (cache.admit(1, NONE), cache.admit(2, NONE));
        cache.change(one, 7);
        let mut passed = Vec::new();
        assert_eq!(cache.victim(8, [NONE; 2], |frame| passed.push(frame)), two);
        assert_eq!(passed, [one]);
        cache.begin_write(one);
        assert_eq!(cache.victim(1, [NONE; 2], |_| {}), NONE, "it is being written");
        assert_eq!(cache.victim(8, [two, NONE], |_| {}), NONE, "the other one is kept");
    }
}
