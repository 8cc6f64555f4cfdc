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
//! Writes that the drive has reported and holds in memory wait in a line of their own if it sorts those among more than the
//! commands of a host. The same rule chooses among them, and no age hurries them, since nobody waits for one. They come after
//! whatever a host waits for, unless the drive is pressed: a host waits for room in its memory, or for a flush. Then the nearest
//! of both lines is next.
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

    #[inline(always)]
    fn new(command: Command, ready_ns: u64, mechanics: &Mechanics) -> Self {
        let Command { handle, write, lba, sectors, .. } = command;
        let place = mechanics.geometry.locate(lba);
        let (angle, table) = (mechanics.geometry.angle(place), u32::from(write) * SeekTables::WRITE);
        Self { lba, entered_ns: ready_ns, handle, sectors, place, angle, table, next: NONE }
    }

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

/// Commands that wait in one order: those to choose among, and the rest behind them, first in, first out.
#[derive(Clone, Debug)]
struct Line {
    /// The first and the last of those behind the window, in the order in which they came.
    behind: (u32, u32),
    window: Vec<Candidate>,
    /// No command of the window came into it before this.
    oldest_ns: u64,
    /// When the window last gave a command up, and with it a place.
    taken_ns: u64,
    window_max: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// All that wait; they stay where they are until they are taken.
    waiting: Slab<Waiting>,
    /// What a host waits for; without a line of their own, reported writes too.
    asked: Line,
    /// Writes that were reported.
    held: Option<Box<Line>>,
}

impl Queue {
    /// A queue of so many commands to choose among, and of so many reported writes if those have a line of their own.
    pub(crate) fn new(window_max: usize, held_max: Option<usize>) -> Self {
        Self {
            waiting: Slab::with_room(Waiting::BLANK, window_max),
            asked: Line::new(window_max),
            held: held_max.map(|held_max| Box::new(Line::new(held_max))),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.waiting.len()
    }

    /// A command that may be chosen from an instant on, not before those of earlier calls.
    #[inline(always)]
    pub(crate) fn push(&mut self, command: Command, ready_ns: u64, mechanics: &Mechanics) {
        let number = self.waiting.insert(Waiting::new(command, ready_ns, mechanics));
        self.asked.push(&mut self.waiting, number);
    }

    /// The same of a write that was reported.
    #[inline]
    pub(crate) fn hold(&mut self, command: Command, ready_ns: u64, mechanics: &Mechanics) {
        let number = self.waiting.insert(Waiting::new(command, ready_ns, mechanics));
        self.held.as_deref_mut().unwrap_or(&mut self.asked).push(&mut self.waiting, number);
    }

    /// The first instant from now on at which there is something to choose, with the windows filled for it.
    #[inline]
    pub(crate) fn ready_ns(&mut self, now_ns: u64) -> Option<u64> {
        let asked_ns = self.asked.ready_ns(&mut self.waiting, now_ns);
        let ready_ns = match &mut self.held {
            None => asked_ns?,
            Some(held) => asked_ns.into_iter().chain(held.ready_ns(&mut self.waiting, now_ns)).min()?,
        };
        if ready_ns > now_ns {
            self.asked.admit(&mut self.waiting, ready_ns);
            if let Some(held) = &mut self.held {
                held.admit(&mut self.waiting, ready_ns);
            }
        }
        Some(ready_ns)
    }

    /// Takes the next command; at least one window is not empty. From the sectors that `passed` under the heads since the last
    /// command, if any, a read goes on without positioning. A drive that is pressed does not put reported writes off.
    #[inline]
    pub(crate) fn take(
        &mut self,
        now_ns: u64,
        heads: &Heads,
        (passed, pressed): (Option<Range<u64>>, bool),
        mechanics: &Mechanics,
    ) -> Waiting {
        if let Some(held) = &mut self.held
            && self.asked.gives_way(held, &self.waiting, (now_ns, pressed), (heads, mechanics))
        {
            let chosen = held.chosen(&self.waiting, heads, None, mechanics);
            return held.give(&mut self.waiting, chosen, now_ns);
        }
        let line = &mut self.asked;
        let chosen = match (line.window.len(), line.overdue(&self.waiting, now_ns, mechanics.age_limit_ns)) {
            (1, _) => 0,
            (_, Some(overdue)) => overdue,
            _ => line.chosen(&self.waiting, heads, passed, mechanics),
        };
        line.give(&mut self.waiting, chosen, now_ns)
    }
}

impl Line {
    fn new(window_max: usize) -> Self {
        let window = Vec::with_capacity(window_max);
        Self { behind: (NONE, NONE), window, oldest_ns: u64::MAX, taken_ns: 0, window_max }
    }

    #[inline(always)]
    fn push(&mut self, waiting: &mut Slab<Waiting>, number: u32) {
        if self.behind.0 == NONE {
            self.behind.0 = number;
        } else {
            waiting[self.behind.1].next = number;
        }
        self.behind.1 = number;
    }

    /// The first instant from now on at which it has something to choose; what may be chosen now is in the window then.
    #[inline]
    fn ready_ns(&mut self, waiting: &mut Slab<Waiting>, now_ns: u64) -> Option<u64> {
        self.admit(waiting, now_ns);
        if !self.window.is_empty() {
            return Some(now_ns);
        }
        (self.behind.0 != NONE).then(|| waiting[self.behind.0].entered_ns)
    }

    #[inline]
    fn admit(&mut self, all: &mut Slab<Waiting>, now_ns: u64) {
        while self.behind.0 != NONE {
            let waiting = self.behind.0;
            let command = &mut all[waiting];
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

    /// Whether one of the writes that were reported comes before these commands, for which a host waits.
    fn gives_way(
        &mut self,
        held: &Self,
        waiting: &Slab<Waiting>,
        (now_ns, pressed): (u64, bool),
        (heads, mechanics): (&Heads, &Mechanics),
    ) -> bool {
        if held.window.is_empty() || self.window.is_empty() {
            return self.window.is_empty();
        }
        if !pressed || self.overdue(waiting, now_ns, mechanics.age_limit_ns).is_some() {
            return false;
        }
        let [own, other] = [held, self].map(|line| {
            let chosen = line.chosen(waiting, heads, None, mechanics);
            &waiting[line.window[chosen].waiting]
        });
        match mechanics.policy {
            Policy::Fcfs => own.entered_ns < other.entered_ns,
            Policy::CLook => own.lba.wrapping_sub(heads.lba) < other.lba.wrapping_sub(heads.lba),
            Policy::Sptf => {
                let [own, other] =
                    [own, other].map(|next| mechanics.positioning(heads.place, heads.angle, next.place, next.write()));
                own < other
            }
        }
    }

    /// The place in the window of what the policy takes.
    #[inline]
    fn chosen(
        &self,
        waiting: &Slab<Waiting>,
        heads: &Heads,
        passed: Option<Range<u64>>,
        mechanics: &Mechanics,
    ) -> usize {
        if mechanics.policy != Policy::Sptf {
            return self.next_upwards(waiting, heads.lba);
        }
        let streamed = passed.and_then(|passed| self.first_within(waiting, &passed));
        streamed.unwrap_or_else(|| self.nearest(waiting, heads, mechanics))
    }

    /// Takes a command out of the window.
    #[inline]
    fn give(&mut self, waiting: &mut Slab<Waiting>, chosen: usize, now_ns: u64) -> Waiting {
        self.taken_ns = now_ns;
        let taken = self.window.swap_remove(chosen).waiting;
        if self.window.is_empty() {
            self.oldest_ns = u64::MAX;
        }
        waiting.remove(taken)
    }

    /// The commands of the window.
    fn commands<'a>(&'a self, waiting: &'a Slab<Waiting>) -> impl Iterator<Item = &'a Waiting> {
        self.window.iter().map(|candidate| &waiting[candidate.waiting])
    }

    /// The oldest command, if it has been there for too long.
    #[inline]
    fn overdue(&mut self, waiting: &Slab<Waiting>, now_ns: u64, age_limit_ns: u64) -> Option<usize> {
        if now_ns.saturating_sub(self.oldest_ns) < age_limit_ns {
            return None;
        }
        self.oldest(waiting, now_ns, age_limit_ns)
    }

    #[cold]
    fn oldest(&mut self, waiting: &Slab<Waiting>, now_ns: u64, age_limit_ns: u64) -> Option<usize> {
        let (oldest_ns, oldest) = self.commands(waiting).map(|command| command.entered_ns).zip(0..).min()?;
        self.oldest_ns = oldest_ns;
        (now_ns.saturating_sub(oldest_ns) >= age_limit_ns).then_some(oldest)
    }

    /// The read that begins first within a range.
    #[cold]
    fn first_within(&self, waiting: &Slab<Waiting>, range: &Range<u64>) -> Option<usize> {
        let commands = self.commands(waiting).zip(0..);
        let reads = commands.filter(|(command, _)| !command.write() && range.contains(&command.lba));
        reads.map(|(command, index)| (command.lba, index)).min().map(|(_, index)| index)
    }

    fn next_upwards(&self, waiting: &Slab<Waiting>, lba: u64) -> usize {
        let ahead = self.commands(waiting).map(|command| command.lba.wrapping_sub(lba));
        ahead.zip(0..).min().map_or(0, |(_, index)| index)
    }

    /// The command with the least positioning time.
    #[inline]
    fn nearest(&self, all: &Slab<Waiting>, heads: &Heads, mechanics: &Mechanics) -> usize {
        let chosen = self.nearest_cylinder(heads, &mechanics.seeks);
        // The scan takes a change of surface for no movement; only if it won by that is another look needed.
        let Candidate { cylinder, waiting, .. } = self.window[chosen];
        if cylinder == heads.place.cylinder && all[waiting].place.head != heads.place.head {
            return self.nearest_track(all, heads, mechanics);
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
    fn nearest_track(&self, waiting: &Slab<Waiting>, heads: &Heads, mechanics: &Mechanics) -> usize {
        let commands = self.commands(waiting);
        let ticks = commands.map(|to| mechanics.positioning(heads.place, heads.angle, to.place, to.write()));
        ticks.zip(0..).min().map_or(0, |(_, index)| index)
    }
}
