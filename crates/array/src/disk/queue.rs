//! Which command is next.
//!
//! Model: the oldest commands form the window, in no order; the rest wait behind it, first in, first out. A command
//! enters the window when there is room and its overhead is over (or at once, if overheads do not overlap with
//! waiting). The choice is the least of a number per command: distance upwards from the last address (C-LOOK), or
//! movement and rotation in ticks (SPTF), which a read that begins in what the head has just read on needs none of: the
//! buffer has its beginning, and the head goes on. When the oldest command of the window has been in it for longer than the age
//! limit, it is taken instead. What waits behind the window ages nothing: the drive does not know of it, and a queue
//! longer than the drive can carry out within the limit would make it first come, first served for good.
//!
//! What the scan reads lies together; all else of a command stays where it was put when it came, since copies cost more than
//! the scan of a short window. A window of first come, first served is one command long. Nothing is allocated once the
//! longest queue has been seen. Limit: between equally good commands the place in the window
//! decides, which depends on the history but not on the machine.

use std::ops::Range;

use super::geometry::Place;
use super::mechanics::Mechanics;
use super::seek::SeekTables;
use super::spindle::{SLACK, TURN_MASK};
use crate::device::command::Command;
use crate::disk::spec::Policy;
use crate::slab::{NONE, Slab};

/// Where the heads are when the choice is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads {
    pub(crate) place: Place,
    pub(crate) angle: u32,
    /// The sector after the last one carried out.
    pub(crate) lba: u64,
}

/// A command that waits, and where it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) lba: u64,
    /// When it came into the window; behind it, from when on it may.
    entered_ns: u64,
    pub(crate) handle: u32,
    pub(crate) sectors: u32,
    pub(crate) place: Place,
    /// The angle at which it begins.
    pub(crate) angle: u32,
    /// 0, or [`SeekTables::WRITE`]. A number and not a `bool`, so that the record is copied in even pieces.
    table: u32,
    /// The one that came after it, behind the window.
    next: u32,
}

impl Waiting {
    const BLANK: Self = Self {
        lba: 0,
        entered_ns: 0,
        handle: 0,
        sectors: 0,
        place: Place { cylinder: 0, sector: 0, head: 0, zone: 0 },
        angle: 0,
        table: 0,
        next: NONE,
    };

    #[inline]
    pub(crate) const fn write(&self) -> bool {
        self.table != 0
    }

    /// The sector after the last.
    #[inline]
    pub(crate) const fn end_lba(&self) -> u64 {
        self.lba + self.sectors as u64
    }
}

/// What the scan needs to know of a command of the window, and its handle among all that wait.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    cylinder: u32,
    angle: u32,
    /// 0, or [`SeekTables::WRITE`].
    table: u32,
    waiting: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// All that wait; they stay where they are until they are taken.
    waiting: Slab<Waiting>,
    /// The first and the last of those behind the window, in the order in which they came.
    behind: (u32, u32),
    window: Vec<Candidate>,
    /// No command of the window came into it before this.
    oldest_ns: u64,
    /// When the window last gave a command up, and with it a place.
    taken_ns: u64,
    window_max: usize,
}

impl Queue {
    pub(crate) fn new(window_max: usize) -> Self {
        Self {
            waiting: Slab::with_room(Waiting::BLANK, window_max),
            behind: (NONE, NONE),
            window: Vec::with_capacity(window_max),
            oldest_ns: u64::MAX,
            taken_ns: 0,
            window_max,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.waiting.len()
    }

    /// A command that may be chosen from an instant on, not before those of earlier calls.
    #[inline(always)]
    pub(crate) fn push(&mut self, command: Command, ready_ns: u64, mechanics: &Mechanics) {
        let Command { handle, write, lba, sectors, .. } = command;
        let place = mechanics.geometry.locate(lba);
        let (angle, table) = (mechanics.geometry.angle(place), u32::from(write) * SeekTables::WRITE);
        let waiting = Waiting { lba, entered_ns: ready_ns, handle, sectors, place, angle, table, next: NONE };
        let number = self.waiting.insert(waiting);
        if self.behind.0 == NONE {
            self.behind.0 = number;
        } else {
            self.waiting[self.behind.1].next = number;
        }
        self.behind.1 = number;
    }

    /// The first instant from now on at which there is something to choose, with the window filled for it.
    #[inline]
    pub(crate) fn ready_ns(&mut self, now_ns: u64) -> Option<u64> {
        self.admit(now_ns);
        if !self.window.is_empty() {
            return Some(now_ns);
        }
        if self.behind.0 == NONE {
            return None;
        }
        let ready_ns = self.waiting[self.behind.0].entered_ns;
        self.admit(ready_ns);
        Some(ready_ns)
    }

    #[inline]
    fn admit(&mut self, now_ns: u64) {
        while self.behind.0 != NONE {
            let waiting = self.behind.0;
            let command = &mut self.waiting[waiting];
            if command.entered_ns > now_ns || self.window.len() >= self.window_max {
                return;
            }
            // What could not come in at the last choice came when that had freed a place.
            command.entered_ns = command.entered_ns.max(self.taken_ns);
            self.oldest_ns = self.oldest_ns.min(command.entered_ns);
            self.behind.0 = command.next;
            let &mut Waiting { place: Place { cylinder, .. }, angle, table, .. } = command;
            self.window.push(Candidate { cylinder, angle, table, waiting });
        }
    }

    /// Takes the next command out of a window that is not empty. From the sectors that `passed` under the heads since the last
    /// command, if any, a read goes on without positioning.
    #[inline]
    pub(crate) fn take(
        &mut self,
        now_ns: u64,
        heads: &Heads,
        passed: Option<Range<u64>>,
        mechanics: &Mechanics,
    ) -> Waiting {
        let chosen = match (self.window.len(), self.overdue(now_ns, mechanics.age_limit_ns)) {
            (1, _) => 0,
            (_, Some(overdue)) => overdue,
            _ if mechanics.policy == Policy::Sptf => {
                passed.and_then(|passed| self.first_within(&passed)).unwrap_or_else(|| self.nearest(heads, mechanics))
            }
            _ => self.next_upwards(heads.lba),
        };
        self.taken_ns = now_ns;
        let taken = self.window.swap_remove(chosen).waiting;
        if self.window.is_empty() {
            self.oldest_ns = u64::MAX;
        }
        self.waiting.remove(taken)
    }

    /// The commands of the window.
    fn window(&self) -> impl Iterator<Item = &Waiting> {
        self.window.iter().map(|candidate| &self.waiting[candidate.waiting])
    }

    /// The oldest command, if it has been there for too long.
    #[inline]
    fn overdue(&mut self, now_ns: u64, age_limit_ns: u64) -> Option<usize> {
        if now_ns.saturating_sub(self.oldest_ns) < age_limit_ns {
            return None;
        }
        self.oldest(now_ns, age_limit_ns)
    }

    #[cold]
    fn oldest(&mut self, now_ns: u64, age_limit_ns: u64) -> Option<usize> {
        let (oldest_ns, oldest) = self.window().map(|waiting| waiting.entered_ns).zip(0..).min()?;
        self.oldest_ns = oldest_ns;
        (now_ns.saturating_sub(oldest_ns) >= age_limit_ns).then_some(oldest)
    }

    /// The read that begins first within a range.
    #[cold]
    fn first_within(&self, range: &Range<u64>) -> Option<usize> {
        let reads = self.window().zip(0..).filter(|(waiting, _)| !waiting.write() && range.contains(&waiting.lba));
        reads.map(|(waiting, index)| (waiting.lba, index)).min().map(|(_, index)| index)
    }

    fn next_upwards(&self, lba: u64) -> usize {
        let ahead = self.window().map(|waiting| waiting.lba.wrapping_sub(lba));
        ahead.zip(0..).min().map_or(0, |(_, index)| index)
    }

    /// The command with the least positioning time.
    #[inline]
    fn nearest(&self, heads: &Heads, mechanics: &Mechanics) -> usize {
        let chosen = self.nearest_cylinder(heads, &mechanics.seeks);
        // The scan takes a change of surface for no movement; only if it won by that is another look needed.
        let Candidate { cylinder, waiting, .. } = self.window[chosen];
        if cylinder == heads.place.cylinder && self.waiting[waiting].place.head != heads.place.head {
            return self.nearest_track(heads, mechanics);
        }
        chosen
    }

    #[inline]
    fn nearest_cylinder(&self, heads: &Heads, seeks: &SeekTables) -> usize {
        let (arm, heads_angle) = (heads.place.cylinder, heads.angle.wrapping_sub(SLACK));
        let (mut best, mut chosen) = (u32::MAX, 0);
        for (index, &Candidate { cylinder, angle, table, .. }) in self.window.iter().enumerate() {
            let movement = seeks.ticks(cylinder.abs_diff(arm), table);
            let wait = angle.wrapping_sub(heads_angle).wrapping_sub(movement) & TURN_MASK;
            let ticks = movement + wait;
            chosen = if ticks < best { index } else { chosen };
            best = best.min(ticks);
        }
        chosen
    }

    #[cold]
    fn nearest_track(&self, heads: &Heads, mechanics: &Mechanics) -> usize {
        let ticks = self.window().map(|to| mechanics.positioning(heads.place, heads.angle, to.place, to.write()));
        ticks.zip(0..).min().map_or(0, |(_, index)| index)
    }
}
