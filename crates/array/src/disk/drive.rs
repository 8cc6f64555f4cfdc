//! A disk at work: one command in the mechanics, buffer hits at the same time.
//!
//! Model: a read that the buffer holds is answered after the hit overhead, one after the other on the interface. Everything
//! else waits in the queue until the mechanics are free. A write that may be reported early is answered like a hit and carried
//! out later as the disk's own command. A flush ends when everything reported is on the platter; while one waits, no write is
//! reported, since ATA does not queue flushes. Where the memory of such writes survives a loss of power, a flush has nothing to
//! wait for. The end of a command is computed when it starts.
//!
//! Limit: what is reported goes to its place on the platter. A part of the platter that takes writes in the order in which they
//! come, until the drive is idle, is not modelled: it does not raise what lasts.

use std::collections::VecDeque;
use std::sync::Arc;

use plimsoll_workload::rng::Draws;

use super::buffer::{Buffer, Turning};
use super::geometry::Place;
use super::mechanics::{DiskModel, Mechanics};
use super::queue::{Heads, Queue, Waiting};
use super::spindle::{Spindle, TICK_BITS};
use crate::device::command::{Command, INTERNAL};

/// A rotating disk.
#[derive(Clone, Debug)]
pub struct Disk {
    mechanics: Arc<Mechanics>,
    state: State,
}

/// What changes.
#[derive(Clone, Debug)]
struct State {
    /// Where the platter stood at the beginning.
    phase: u32,
    queue: Queue,
    buffer: Buffer,
    /// Commands answered from the buffer that have not been reported yet.
    answered: Vec<(u32, u64)>,
    answers_under_way: usize,
    interface_free_ns: u64,
    /// The command in the mechanics.
    moving: Option<Moving>,
    arm: Place,
    /// The sector after the last one that passed under the arm.
    arm_lba: u64,
    /// The sector after the last one the mechanics carried out.
    lba: u64,
    /// Reported and not on the platter.
    unwritten_sectors: u64,
    /// Writes that will be reported when there is room for them.
    stalled: VecDeque<Command>,
    /// Flushes that wait until nothing is unwritten.
    flushes: Vec<u32>,
    busy_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Moving {
    handle: u32,
    sectors: u32,
    end_ns: u64,
}

impl Disk {
    /// A disk at rest at its outer edge; seed and number decide the phase of its platters.
    pub fn new(model: &DiskModel, seed: u64, number: u32) -> Self {
        let mechanics = model.shared();
        let state = State {
            phase: Self::phase(seed, number),
            queue: Queue::new(mechanics.window, mechanics.held_window),
            buffer: Buffer::new(mechanics.segments, mechanics.segment_sectors),
            answered: Vec::with_capacity(4),
            answers_under_way: 0,
            interface_free_ns: 0,
            moving: None,
            arm: Place::default(),
            arm_lba: 0,
            lba: 0,
            unwritten_sectors: 0,
            stalled: VecDeque::new(),
            flushes: Vec::new(),
            busy_ns: 0,
        };
        Self { mechanics, state }
    }

    /// The angle at instant 0, of 2^28 in a turn.
    pub fn phase(seed: u64, number: u32) -> u32 {
        (Draws::new(seed, &[u64::from(number)]).at(0) >> (64 - TICK_BITS)) as u32
    }

    /// How many sectors it has.
    #[inline]
    pub fn sectors(&self) -> u64 {
        self.mechanics.geometry.sectors()
    }

    /// Queues a command, or answers it from the buffer.
    #[inline]
    pub fn offer(&mut self, command: Command, now_ns: u64) {
        let (state, mechanics) = (&mut self.state, &*self.mechanics);
        if !command.write {
            if !state.read(&command, now_ns, mechanics) {
                state.queue.push(command, now_ns + mechanics.waiting_overhead_ns, mechanics);
            }
            return;
        }
        state.forget(&command, now_ns, mechanics);
        if u64::from(command.sectors) > mechanics.write_buffer_sectors {
            state.queue.push(command, now_ns + mechanics.waiting_overhead_ns, mechanics);
        } else {
            state.stalled.push_back(command);
            state.report_writes(now_ns, mechanics);
        }
    }

    /// Whether writes were reported that a loss of power would cost.
    pub(crate) fn owes_writes(&self) -> bool {
        self.state.unwritten_sectors > 0 && !self.mechanics.writes_protected
    }

    /// Has a flush wait for the writes that it owes.
    pub(crate) fn flush(&mut self, handle: u32) {
        debug_assert!(self.owes_writes(), "flush {handle} has something to wait for");
        self.state.flushes.push(handle);
    }

    /// Tells what the buffer has answered, and starts the next command if the mechanics are free.
    #[inline]
    pub fn start(&mut self, now_ns: u64, started: &mut Vec<(u32, u64)>) {
        self.start_each(now_ns, |handle, end_ns| started.push((handle, end_ns)));
    }

    /// The same with a call for each command.
    #[inline]
    pub(crate) fn start_each(&mut self, now_ns: u64, mut started: impl FnMut(u32, u64)) {
        let state = &mut self.state;
        state.answers_under_way += state.answered.len();
        state.answered.drain(..).for_each(|(handle, end_ns)| started(handle, end_ns));
        if let Some((handle, end_ns)) = self.start_next(now_ns) {
            started(handle, end_ns);
        }
    }

    /// Starts the next command if the mechanics are free; its handle and its end.
    #[inline(always)]
    pub(crate) fn start_next(&mut self, now_ns: u64) -> Option<(u32, u64)> {
        if self.state.moving.is_some() {
            return None;
        }
        self.state.next(now_ns, &self.mechanics)
    }

    /// Whether the buffer has answered commands that have not been reported yet.
    #[inline]
    pub(crate) const fn has_answers(&self) -> bool {
        !self.state.answered.is_empty()
    }

    /// Whether the mechanics work beyond an instant.
    #[inline]
    pub(crate) fn is_busy_beyond(&self, at_ns: u64) -> bool {
        self.state.moving.is_some_and(|moving| moving.end_ns > at_ns)
    }

    /// Whether a start would find an answer to tell, or the mechanics free.
    #[inline]
    pub(crate) const fn may_start(&self) -> bool {
        self.state.moving.is_none() || self.has_answers()
    }

    /// A started command has ended.
    #[inline]
    pub fn finish(&mut self, handle: u32, now_ns: u64) {
        let state = &mut self.state;
        match state.moving {
            Some(moving) if moving.handle == handle => {
                debug_assert_eq!(moving.end_ns, now_ns, "command {handle} ends when it was said to end");
                state.moving = None;
                if handle == INTERNAL {
                    state.unwritten_sectors -= u64::from(moving.sectors);
                    state.end_flushes(now_ns, &self.mechanics);
                    state.report_writes(now_ns, &self.mechanics);
                }
            }
            _ => {
                debug_assert!(state.answers_under_way > 0, "command {handle} was started");
                state.answers_under_way -= 1;
            }
        }
    }

    /// How long an access would take until its data begin to move if it came next.
    #[inline]
    pub fn positioning_ns(&self, lba: u64, write: bool, now_ns: u64) -> u64 {
        let (state, mechanics) = (&self.state, &*self.mechanics);
        let free_ns = state.moving.map_or(now_ns, |moving| moving.end_ns.max(now_ns));
        let begin_ns = free_ns + mechanics.overhead_ns;
        let angle = Turning { mechanics, phase: state.phase }.angle(begin_ns);
        let ticks = mechanics.positioning(state.arm, angle, mechanics.geometry.locate(lba), write);
        begin_ns - now_ns + mechanics.spindle.ns(ticks)
    }

    /// How long a trim takes, which means nothing to it.
    pub(crate) fn trimming_ns(&self) -> u64 {
        self.mechanics.hit_overhead_ns
    }

    /// How long sectors are on its interface.
    #[inline]
    pub(crate) fn interface_ns(&self, sectors: u32) -> u64 {
        self.mechanics.interface_ns(sectors)
    }

    /// Commands that have not started.
    #[inline]
    pub fn queued(&self) -> usize {
        self.state.queue.len() + self.state.answered.len() + self.state.stalled.len() + self.state.flushes.len()
    }

    /// Commands that have not ended, with writes that were reported and not carried out.
    #[inline]
    pub fn outstanding(&self) -> usize {
        self.queued() + self.state.answers_under_way + usize::from(self.state.moving.is_some())
    }

    /// How long the mechanics have worked.
    pub const fn busy_ns(&self) -> u64 {
        self.state.busy_ns
    }
}

impl State {
    /// Answers a read from the buffer if it can.
    #[inline]
    fn read(&mut self, command: &Command, now_ns: u64, mechanics: &Mechanics) -> bool {
        let disk = Turning { mechanics, phase: self.phase };
        let found = self.buffer.answers(command.lba, command.sectors, now_ns, disk);
        if found {
            self.answer(command, now_ns, mechanics);
        }
        found
    }

    /// What is written over need not be remembered.
    #[inline]
    fn forget(&mut self, command: &Command, now_ns: u64, mechanics: &Mechanics) {
        let reached = self.buffer.forget(command.lba, command.sectors, now_ns, mechanics);
        if let (Some(reached), None) = (reached, self.moving) {
            self.come_to(reached, mechanics);
        }
    }

    /// Reports writes for which there is room, in order, and carries them out as the disk's own.
    #[inline(never)]
    fn report_writes(&mut self, now_ns: u64, mechanics: &Mechanics) {
        while let (true, Some(&command)) = (self.flushes.is_empty(), self.stalled.front()) {
            let unwritten_sectors = self.unwritten_sectors + u64::from(command.sectors);
            if unwritten_sectors > mechanics.write_buffer_sectors {
                return;
            }
            self.unwritten_sectors = unwritten_sectors;
            self.stalled.pop_front();
            self.answer(&command, now_ns, mechanics);
            let own = Command { handle: INTERNAL, ..command };
            self.queue.hold(own, now_ns + mechanics.waiting_overhead_ns, mechanics);
        }
    }

    /// Answers the flushes if nothing is unwritten any more.
    fn end_flushes(&mut self, now_ns: u64, mechanics: &Mechanics) {
        if self.unwritten_sectors == 0 {
            let end_ns = now_ns + mechanics.hit_overhead_ns;
            self.answered.extend(self.flushes.drain(..).map(|handle| (handle, end_ns)));
        }
    }

    #[inline]
    fn answer(&mut self, command: &Command, now_ns: u64, mechanics: &Mechanics) {
        let begin_ns = self.interface_free_ns.max(now_ns + mechanics.hit_overhead_ns);
        self.interface_free_ns = begin_ns + mechanics.interface_ns(command.sectors);
        self.answered.push((command.handle, self.interface_free_ns));
    }

    /// Starts the next command of the queue; its handle and its end.
    #[inline(always)]
    fn next(&mut self, now_ns: u64, mechanics: &Mechanics) -> Option<(u32, u64)> {
        let ready_ns = self.queue.ready_ns(now_ns)?;
        let begin_ns = ready_ns + mechanics.serial_overhead_ns;
        let disk = Turning { mechanics, phase: self.phase };
        let reached = self.buffer.reached(begin_ns, mechanics);
        if let Some(reached) = reached {
            self.come_to(reached, mechanics);
        }
        let heads = Heads { place: self.arm, angle: disk.angle(begin_ns), lba: self.lba };
        let pressed = !(self.stalled.is_empty() && self.flushes.is_empty());
        // Behind the last command, only what passed since then can have been missed.
        let passed = reached.filter(|&reached| reached > self.lba).and_then(|reached| self.buffer.passing(reached));
        let next = self.queue.take(ready_ns, &heads, (passed, pressed), mechanics);
        let streamed = reached.filter(|_| !next.write());
        let streamed =
            streamed.and_then(|reached| self.buffer.streams((next.lba, next.sectors), reached, begin_ns, disk));
        let end_ns = match streamed {
            Some(end_ns) => {
                self.come_to(next.end_lba(), mechanics);
                end_ns
            }
            None => self.carry_out(&next, begin_ns, &heads, mechanics),
        };
        self.lba = next.end_lba();
        self.moving = Some(Moving { handle: next.handle, sectors: next.sectors, end_ns });
        self.busy_ns += end_ns - now_ns;
        Some((next.handle, end_ns))
    }

    /// Moves to a command's first sector and over it; returns the end.
    #[inline]
    fn carry_out(&mut self, next: &Waiting, begin_ns: u64, heads: &Heads, mechanics: &Mechanics) -> u64 {
        self.buffer.stop(self.arm_lba);
        let movement = mechanics.movement(heads.place, next.place, next.write());
        let ticks = movement + Spindle::wait(heads.angle.wrapping_add(movement), next.angle);
        (self.arm, self.arm_lba) = (next.place, next.end_lba());
        let transfer_ns = mechanics.geometry.pass_over(&mut self.arm, next.lba, next.sectors);
        let end_ns = begin_ns + mechanics.spindle.ns(ticks) + transfer_ns;
        if !next.write() {
            self.buffer.fill(next.lba, next.sectors, end_ns, mechanics);
        }
        end_ns
    }

    /// The arm has gone on to a sector while it read on.
    #[inline]
    fn come_to(&mut self, reached: u64, mechanics: &Mechanics) {
        if reached != self.arm_lba {
            (self.arm, self.arm_lba) = (mechanics.geometry.locate(reached - 1), reached);
        }
    }
}
