//! What one connection has under way, and the answers that wait to be sent.
//!
//! Model: who reads from the client enters each request and waits while there are too many, or too many bytes; the model's timer
//! puts answers in, which never waits; a thread of the connection's own sends them. A client that does not read keeps
//! that thread waiting, then its own reader, and nobody else. Bytes that were fetched for a request the model still works
//! on are here as well, so that they go when the client does.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::budget::Budget;
use crate::locked;

/// What is to be done next.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// These bytes are sent, and a request of so many bytes is over.
    Answer(Vec<u8>, u64),
    /// What was written is to be made durable before it is answered.
    Then(super::wire::Request),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
    most_bytes: u64,
    budget: Arc<Budget>,
}

/// The two halves of a request: the model's answer and the bytes, in either order.
#[derive(Debug, Default)]
struct Halves {
    answered: Option<io::Result<()>>,
    moved: Option<io::Result<Vec<u8>>>,
}

#[derive(Debug, Default)]
struct State {
    /// Requests that the model works on, by number.
    halves: HashMap<u64, Halves>,
    begun: u64,
    waiting: VecDeque<Outgoing>,
    under_way: usize,
    bytes: u64,
    /// No further request comes.
    closed: bool,
    /// Nothing can be sent any more.
    broken: bool,
}

impl Outbox {
    pub(crate) fn new(most: usize, most_bytes: u64, budget: &Arc<Budget>) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), most, most_bytes, budget: Arc::clone(budget) }
    }

    /// Waits for room, and takes it; whether the client can still be answered. `waiting` is told for how long there has been
    /// no memory.
    pub(crate) fn enter(&self, bytes: u64, waiting: &dyn Fn(Duration)) -> bool {
        let full = |state: &mut State| {
            let much = state.bytes + bytes > self.most_bytes && state.under_way > 0;
            !state.broken && (state.under_way >= self.most || much)
        };
        let state = self.changed.wait_while(locked(&self.state), full).unwrap_or_else(PoisonError::into_inner);
        drop(state);
        // Only the one thread that reads enters, so nobody takes its room meanwhile.
        let taken = self.budget.take(bytes, |waited| {
            waiting(waited);
            !locked(&self.state).broken
        });
        let mut state = locked(&self.state);
        if taken && state.broken {
            self.budget.give(bytes);
        }
        if !taken || state.broken {
            return false;
        }
        state.under_way += 1;
        state.bytes += bytes;
        true
    }

    /// The number of a request that goes into the model.
    pub(crate) fn begin(&self) -> u64 {
        let mut state = locked(&self.state);
        state.begun += 1;
        let number = state.begun;
        if !state.broken {
            state.halves.insert(number, Halves::default());
        }
        number
    }

    /// The model has answered; what is to be sent, if the bytes are there too.
    pub(crate) fn answered(&self, number: u64, answered: io::Result<()>) -> Option<io::Result<Vec<u8>>> {
        self.half(number, |halves| halves.answered = Some(answered))
    }

    /// The bytes were moved; what is to be sent, if the model has answered too.
    pub(crate) fn moved(&self, number: u64, moved: io::Result<Vec<u8>>) -> Option<io::Result<Vec<u8>>> {
        self.half(number, |halves| halves.moved = Some(moved))
    }

    fn half(&self, number: u64, enter: impl FnOnce(&mut Halves)) -> Option<io::Result<Vec<u8>>> {
        let mut state = locked(&self.state);
        let halves = state.halves.get_mut(&number)?;
        enter(halves);
        if halves.answered.is_none() || halves.moved.is_none() {
            return None;
        }
        let Halves { answered: Some(answered), moved: Some(moved) } = state.halves.remove(&number)? else {
            return None;
        };
        Some(moved.and_then(|bytes| answered.map(|()| bytes)))
    }

    /// Puts an answer in; never waits.
    pub(crate) fn put(&self, outgoing: Outgoing) {
        let mut state = locked(&self.state);
        if !state.broken {
            state.waiting.push_back(outgoing);
            self.changed.notify_all();
        }
    }

    /// The next thing to do; `None` when there will be nothing.
    pub(crate) fn next(&self) -> Option<Outgoing> {
        let idle =
            |state: &mut State| !state.broken && state.waiting.is_empty() && !(state.closed && state.under_way == 0);
        let mut state = self.changed.wait_while(locked(&self.state), idle).unwrap_or_else(PoisonError::into_inner);
        if state.broken { None } else { state.waiting.pop_front() }
    }

    /// A request of so many bytes is over.
    pub(crate) fn over(&self, bytes: u64) {
        let mut state = locked(&self.state);
        if state.broken {
            return;
        }
        state.under_way -= 1;
        state.bytes -= bytes;
        drop(state);
        self.budget.give(bytes);
        self.changed.notify_all();
    }

    /// Whether nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        locked(&self.state).under_way == 0
    }

    /// Whether requests or answers take up memory that others could have.
    pub(crate) fn holds_memory(&self) -> bool {
        locked(&self.state).bytes > 0
    }

    /// Requests and bytes under way.
    #[cfg(test)]
    pub(crate) fn under_way(&self) -> (usize, u64) {
        let state = locked(&self.state);
        (state.under_way, state.bytes)
    }

    /// No further request comes; what is under way is still answered.
    pub(crate) fn close(&self) {
        locked(&self.state).closed = true;
        self.changed.notify_all();
    }

    /// Nothing can be sent any more: whatever waits is forgotten.
    pub(crate) fn give_up(&self) {
        let mut state = locked(&self.state);
        state.broken = true;
        self.budget.give(std::mem::take(&mut state.bytes));
        let forgotten = (std::mem::take(&mut state.waiting), std::mem::take(&mut state.halves));
        drop(state);
        drop(forgotten);
        self.changed.notify_all();
    }
}
