//! Lanes whose requests a director asks for: what came back decides what is issued next.
//!
//! Model: a director has lanes of its own, which follow each other. An answer is handed to it with the slot it came in, which is free
//! then; what it asks for takes free slots of the lanes it names. The instant at which it wants to be woken is a timer.
//!
//! Limits: a director that asks for more on a lane than the lane has slots is a mistake of ours, and ends the run.

use std::io;

use plimsoll_workload::director::{Answer, Asked, Director};
use plimsoll_workload::{Op, Request};

use super::Worker;
use crate::backend::Backend;
use crate::recorder::Outlet;

/// Marks a timer that belongs to a director.
pub(super) const DIRECTOR: u32 = 1 << 29;

/// A director with its lanes.
pub(crate) struct Directed {
    pub(crate) director: Box<dyn Director>,
    /// The first of its lanes.
    pub(crate) first_lane: u32,
    /// How many there are.
    pub(crate) lanes: u32,
    /// The instant for which a timer is set.
    armed_ns: u64,
}

impl Directed {
    pub(crate) const fn new(director: Box<dyn Director>, first_lane: u32, lanes: u32) -> Self {
        Self { director, first_lane, lanes, armed_ns: u64::MAX }
    }
}

impl<B: Backend, O: Outlet> Worker<'_, B, O> {
    /// Lets every director begin.
    pub(super) fn begin_directed(&mut self, now_ns: u64) -> io::Result<()> {
        self.tokens.resize(if self.directed.is_empty() { 0 } else { self.slots.len() }, 0);
        for number in 0..self.directed.len() as u32 {
            self.direct(number, now_ns, |director, asks| director.begin(now_ns, asks))?;
        }
        Ok(())
    }

    /// The request of a slot of a directed lane has come back.
    pub(super) fn answer(&mut self, number: u32, director: u32, now_ns: u64) -> io::Result<()> {
        let slot = &mut self.slots[number as usize];
        let (token, failed) = (self.tokens[number as usize], slot.failure.take().is_some());
        let bytes = (self.shared.carries_data && slot.request.op == Op::Read && !failed).then(|| {
            // SAFETY: the slot's buffer is its own and the read has completed.
            unsafe { std::slice::from_raw_parts(slot.read_buffer.cast_const(), slot.request.len as usize) }
        });
        self.lanes[slot.lane as usize].free.put(number, now_ns);
        let answer = Answer { token, now_ns, failed, bytes };
        self.direct(director, now_ns, |director, asks| director.answered(answer, asks))
    }

    /// The instant has come for which a director set a timer.
    pub(super) fn wake_director(&mut self, number: u32, now_ns: u64) -> io::Result<()> {
        self.directed[number as usize].armed_ns = u64::MAX;
        if self.directed[number as usize].director.due_ns() > now_ns {
            return self.direct(number, now_ns, |_, _| {});
        }
        self.direct(number, now_ns, |director, asks| director.wake(now_ns, asks))
    }

    /// Tells a director something, and issues what it asks for.
    fn direct(
        &mut self,
        number: u32,
        now_ns: u64,
        tell: impl FnOnce(&mut dyn Director, &mut Vec<Asked>),
    ) -> io::Result<()> {
        let mut asks = std::mem::take(&mut self.asks);
        tell(&mut *self.directed[number as usize].director, &mut asks);
        let issued = asks.drain(..).try_for_each(|asked| self.issue_asked(number, asked, now_ns));
        self.asks = asks;
        let directed = &mut self.directed[number as usize];
        let due_ns = directed.director.due_ns();
        if due_ns < directed.armed_ns {
            directed.armed_ns = due_ns;
            self.set_timer(due_ns, number | DIRECTOR);
        }
        if self.directed[number as usize].director.is_over() {
            self.end_directed(number);
        }
        issued
    }

    fn issue_asked(&mut self, number: u32, asked: Asked, now_ns: u64) -> io::Result<()> {
        let Directed { first_lane, lanes, .. } = self.directed[number as usize];
        let lane = &mut self.lanes[(first_lane + asked.lane) as usize];
        let place = (asked.lane < lanes).then(|| lane.free.take()).flatten();
        let Some((slot_number, _)) = place else {
            return Err(io::Error::other(format!(
                "a director has more outstanding on lane {} than it has room for",
                asked.lane
            )));
        };
        let offset = asked.offset + lane.base;
        let slot = &mut self.slots[slot_number as usize];
        slot.request = Request { offset, len: asked.len, op: asked.op, delay_ns: 0 };
        (slot.intended_ns, slot.failure) = (now_ns, None);
        self.tokens[slot_number as usize] = asked.token;
        if asked.op == Op::Write && self.shared.carries_data {
            // SAFETY: the slot's buffer is its own and nothing is outstanding on it.
            let bytes = unsafe { std::slice::from_raw_parts_mut(slot.write_buffer, asked.len as usize) };
            self.directed[number as usize].director.fill(asked.token, bytes);
        }
        self.hand_over(slot_number)
    }

    /// A director will ask for nothing more: its lanes have issued all they had to.
    #[cold]
    fn end_directed(&mut self, number: u32) {
        let Directed { first_lane, lanes, .. } = self.directed[number as usize];
        (first_lane..first_lane + lanes).for_each(|lane| self.lanes[lane as usize].end());
        self.ends = true;
    }
}
