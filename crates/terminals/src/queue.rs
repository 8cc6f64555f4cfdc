//! Requests that wait for a terminal: drawn ahead of their time, taken in order.
//!
//! Model: a queue serves one terminal, or all. Requests that are due at instants of their own are taken when they are due: of the terminals
//! that wait, one watches the clock for the next, so that not all of them wake up for it.
//!
//! Limits: requests of one queue are due in the order in which they are put.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a terminal is to do.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which kind of transaction.
    pub kind: usize,
    /// In a queue of due instants, when it is due from the start of the job; else how long the terminal pauses before it.
    pub when_ns: u64,
    /// Whether it asks for something that does not exist, so that it has to be rolled back.
    pub rolls_back: bool,
    /// The message that calls it.
    pub call: Vec<u8>,
}

/// Some requests, and who waits for them.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Request>,
    /// Whether a terminal watches the clock for the next.
    watched: bool,
    stopped: bool,
}

impl Queue {
    /// Puts requests behind those that wait.
    pub fn put(&self, requests: impl IntoIterator<Item = Request>) {
        self.state().waiting.extend(requests);
        self.changed.notify_one();
    }

    /// How many wait.
    pub fn length(&self) -> usize {
        self.state().waiting.len()
    }

    /// Gives out nothing more.
    pub fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }

    /// The next request, once there is one; None when it is over.
    pub fn next(&self) -> Option<Request> {
        let mut state = self.state();
        loop {
            if state.stopped {
                return None;
            }
            if let Some(request) = state.waiting.pop_front() {
                return Some(request);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next request, once it is due; None when it is over.
    pub fn next_due(&self, now_ns: impl Fn() -> u64) -> Option<Request> {
        let mut state = self.state();
        loop {
            if state.stopped {
                return None;
            }
            let left_ns = state.waiting.front().map(|request| request.when_ns.saturating_sub(now_ns()));
            match left_ns {
                Some(0) => {
                    let request = state.waiting.pop_front();
                    drop(state);
                    self.changed.notify_one();
                    return request;
                }
                Some(left_ns) if !state.watched => {
                    state.watched = true;
                    let timeout = Duration::from_nanos(left_ns);
                    state = self.changed.wait_timeout(state, timeout).unwrap_or_else(PoisonError::into_inner).0;
                    state.watched = false;
                }
                _ => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Waits for so long, or until it is over; whether it is over.
    pub fn pause(&self, now_ns: impl Fn() -> u64, until_ns: u64) -> bool {
        let mut state = self.state();
        while !state.stopped {
            let left_ns = until_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                return false;
            }
            let timeout = Duration::from_nanos(left_ns);
            state = self.changed.wait_timeout(state, timeout).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// What is due at an instant and was not taken: its kind, and when it was due.
    pub fn due(&self, now_ns: u64) -> Vec<(usize, u64)> {
        let state = self.state();
        let due = state.waiting.iter().take_while(|request| request.when_ns <= now_ns);
        due.map(|request| (request.kind, request.when_ns)).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
