//! Which command is next.
//!
//! Model: the oldest commands form the window, in no order; the rest wait behind it, first in, first out. A command
//! enters the window when there is room and its overhead is over (or at once, if overheads do not overlap with
//! waiting). The choice is the least of a number per command: distance upwards from the last address (C-LOOK), or
//! movement and rotation in ticks (SPTF). When the oldest command has waited longer than the age limit, it is taken
//! instead.
//!
//! What the scan reads lies in arrays of their own; a window of first come, first served is one command long. Nothing
//! is allocated once the longest queue has been seen. Limit: between equally good commands the place in the window
//! decides, which depends on the history but not on the machine.

use std::collections::VecDeque;

use super::geometry::Place;
use super::mechanics::Mechanics;
use super::seek::SeekTables;
use super::spindle::{SLACK, TURN_MASK};
use crate::device::Command;
use crate::disk::spec::Policy;

/// The bit beside an angle that says write: shifted by [`WRITE_SHIFT`] it selects the seek table of writes.
const WRITE_BIT: u32 = 1 << 28;
const WRITE_SHIFT: u32 = 16;
const _: () = assert!(WRITE_BIT >> WRITE_SHIFT == SeekTables::WRITE && WRITE_BIT > TURN_MASK);

/// Where the heads are when the choice is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads {
    pub(crate) place: Place,
    pub(crate) angle: u32,
    /// The sector after the last one carried out.
    pub(crate) lba: u64,
}

/// A command of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) command: Command,
    pub(crate) place: Place,
}

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    behind: VecDeque<(u64, Command)>,
    waiting: Vec<Waiting>,
    cylinders: Vec<u32>,
    /// Angle and [`WRITE_BIT`].
    targets: Vec<u32>,
    /// No command of the window has waited since before this.
    oldest_ns: u64,
    window: usize,
}

impl Queue {
    pub(crate) fn new(window: usize) -> Self {
        Self {
            behind: VecDeque::new(),
            waiting: Vec::with_capacity(window),
            cylinders: Vec::with_capacity(window),
            targets: Vec::with_capacity(window),
            oldest_ns: u64::MAX,
            window,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.behind.len() + self.waiting.len()
    }

    /// A command that may be chosen from an instant on, not before those of earlier calls.
    #[inline]
    pub(crate) fn push(&mut self, command: Command, ready_ns: u64) {
        self.behind.push_back((ready_ns, command));
    }

    /// The first instant from now on at which there is something to choose, with the window filled for it.
    #[inline]
    pub(crate) fn ready_ns(&mut self, now_ns: u64, mechanics: &Mechanics) -> Option<u64> {
        self.admit(now_ns, mechanics);
        if !self.waiting.is_empty() {
            return Some(now_ns);
        }
        let ready_ns = self.behind.front()?.0;
        self.admit(ready_ns, mechanics);
        Some(ready_ns)
    }

    #[inline]
    fn admit(&mut self, now_ns: u64, mechanics: &Mechanics) {
        while let Some(&(ready_ns, command)) = self.behind.front() {
            if ready_ns > now_ns || self.waiting.len() >= self.window {
                return;
            }
            self.behind.pop_front();
            let place = mechanics.geometry.locate(command.lba);
            self.cylinders.push(place.cylinder);
            self.targets.push(mechanics.geometry.angle(place) | (u32::from(command.write) * WRITE_BIT));
            self.waiting.push(Waiting { command, place });
            self.oldest_ns = self.oldest_ns.min(command.arrived_ns);
        }
    }

    /// Takes the next command out of a window that is not empty.
    #[inline]
    pub(crate) fn take(&mut self, now_ns: u64, heads: Heads, mechanics: &Mechanics) -> Waiting {
        let chosen = match (self.waiting.len(), self.overdue(now_ns, mechanics.age_limit_ns)) {
            (1, _) => 0,
            (_, Some(overdue)) => overdue,
            _ if mechanics.policy == Policy::Sptf => self.nearest(heads, mechanics),
            _ => self.next_upwards(heads.lba),
        };
        self.cylinders.swap_remove(chosen);
        self.targets.swap_remove(chosen);
        let waiting = self.waiting.swap_remove(chosen);
        if self.waiting.is_empty() {
            self.oldest_ns = u64::MAX;
        }
        waiting
    }

    /// The oldest command, if it has waited too long.
    #[inline]
    fn overdue(&mut self, now_ns: u64, age_limit_ns: u64) -> Option<usize> {
        if now_ns.saturating_sub(self.oldest_ns) < age_limit_ns {
            return None;
        }
        let ages = self.waiting.iter().map(|waiting| waiting.command.arrived_ns);
        let (oldest_ns, oldest) = ages.zip(0..).min()?;
        self.oldest_ns = oldest_ns;
        (now_ns.saturating_sub(oldest_ns) >= age_limit_ns).then_some(oldest)
    }

    fn next_upwards(&self, lba: u64) -> usize {
        let ahead = self.waiting.iter().map(|waiting| waiting.command.lba.wrapping_sub(lba));
        ahead.zip(0..).min().map_or(0, |(_, index)| index)
    }

    /// The command with the least positioning time.
    #[inline]
    fn nearest(&self, heads: Heads, mechanics: &Mechanics) -> usize {
        let chosen = self.nearest_cylinder(heads, &mechanics.seeks);
        // The scan takes a change of surface for no movement; only if it won by that is another look needed.
        let place = self.waiting[chosen].place;
        if place.cylinder == heads.place.cylinder && place.head != heads.place.head {
            return self.nearest_track(heads, mechanics);
        }
        chosen
    }

    #[inline]
    fn nearest_cylinder(&self, heads: Heads, seeks: &SeekTables) -> usize {
        let (arm, angle) = (heads.place.cylinder, heads.angle.wrapping_sub(SLACK));
        let (mut best, mut chosen) = (u32::MAX, 0);
        for (index, (&cylinder, &target)) in self.cylinders.iter().zip(&self.targets).enumerate() {
            let movement = seeks.ticks(cylinder.abs_diff(arm), (target >> WRITE_SHIFT) & SeekTables::WRITE);
            let wait = target.wrapping_sub(angle.wrapping_add(movement)) & TURN_MASK;
            let ticks = movement + wait;
            chosen = if ticks < best { index } else { chosen };
            best = best.min(ticks);
        }
        chosen
    }

    #[cold]
    fn nearest_track(&self, heads: Heads, mechanics: &Mechanics) -> usize {
        let ticks = self
            .waiting
            .iter()
            .map(|waiting| mechanics.positioning(heads.place, heads.angle, waiting.place, waiting.command.write));
        ticks.zip(0..).min().map_or(0, |(_, index)| index)
    }
}
