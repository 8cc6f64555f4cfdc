//! Which answer is due when: the array in virtual time, and who waits for each of its requests. No clock in here.
//!
//! Model: the array's calendar is the heap of deadlines. `submit` puts a request in at an instant, `run` lets the model come
//! to an instant and hands out what has been completed by then, `next_ns` is when there is something to do next. An answer
//! depends on instants of arrival alone: it is the same however often, and however late, `run` is called, as long as
//! nothing arrives in between. That is why a late timer makes answers late and nothing else.
//!
//! Limits: a completion is known when the model gets there, not ahead, because a later request may pass an earlier one.
//!
//! ```no_run
//! use plimsoll_serve::schedule::Schedule;
//! use plimsoll_workload::Op;
//! # let array: plimsoll_array::Array = unimplemented!();
//! let mut schedule = Schedule::new(array);
//! schedule.submit(1_000, plimsoll_array::Request { op: Op::Read, lba: 0, sectors: 8 }, "me");
//! let mut answers = Vec::new();
//! schedule.run(20_000_000, &mut answers);
//! ```

use plimsoll_array::{Array, Completion, Request};

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When it came.
    pub arrived_ns: u64,
    /// When the model completed it.
    pub due_ns: u64,
    /// Whether data were lost that it needed.
    pub failed: bool,
}

impl Answer {
    /// What the model took.
    pub const fn service_ns(&self) -> u64 {
        self.due_ns - self.arrived_ns
    }
}

/// See the module; `W` is whoever waits.
#[derive(Debug)]
pub struct Schedule<W> {
    array: Array,
    waiting: Vec<Option<Waiting<W>>>,
    free: Vec<u32>,
    completions: Vec<Completion>,
}

#[derive(Debug)]
struct Waiting<W> {
    who: W,
    arrived_ns: u64,
}

impl<W> Schedule<W> {
    /// An array at rest at instant 0.
    pub const fn new(array: Array) -> Self {
        Self { array, waiting: Vec::new(), free: Vec::new(), completions: Vec::new() }
    }

    /// Takes a request. Call `run` with the same instant first, so that nothing of the past is still to come.
    pub fn submit(&mut self, now_ns: u64, request: Request, who: W) {
        let arrived_ns = now_ns.max(self.array.now_ns());
        let waiting = Some(Waiting { who, arrived_ns });
        let token = self.free.pop().unwrap_or(self.waiting.len() as u32);
        match self.waiting.get_mut(token as usize) {
            Some(place) => *place = waiting,
            None => self.waiting.push(waiting),
        }
        self.array.submit(arrived_ns, token, request);
    }

    /// Comes to an instant; appends what was completed by then, earliest first.
    pub fn run(&mut self, now_ns: u64, answers: &mut Vec<(Answer, W)>) {
        while self.array.next_ns().is_some_and(|next_ns| next_ns <= now_ns) {
            self.array.run_until(now_ns, &mut self.completions);
            for Completion { token, completed_ns, failed } in self.completions.drain(..) {
                let waiting = self.waiting.get_mut(token as usize).and_then(Option::take);
                let Some(Waiting { who, arrived_ns }) = waiting else { continue };
                self.free.push(token);
                answers.push((Answer { arrived_ns, due_ns: completed_ns, failed }, who));
            }
        }
    }

    /// Gives back whoever still waits; nothing is answered after this.
    pub fn forget(&mut self) -> Vec<W> {
        self.free.clear();
        self.waiting.drain(..).flatten().map(|waiting| waiting.who).collect()
    }

    /// When something happens next, if anything does by itself.
    pub fn next_ns(&self) -> Option<u64> {
        self.array.next_ns()
    }

    /// Requests that have not been answered.
    pub const fn outstanding(&self) -> usize {
        self.waiting.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests;
