//! Memory for requests and answers, shared by all connections.
//!
//! Model: who reads a request takes its bytes before they are read, and gives them back when the answer is sent or the client
//! has gone. Who finds too little waits in the order of coming, so that a long request is not overtaken for ever, and reads
//! nothing more of its client meanwhile.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::locked;

/// See the module.
#[derive(Debug)]
pub(crate) struct Budget {
    state: Mutex<State>,
    changed: Condvar,
    most_bytes: u64,
}

#[derive(Debug, Default)]
struct State {
    taken_bytes: u64,
    /// Those that wait, the first first.
    queue: VecDeque<u64>,
    tickets: u64,
}

impl Budget {
    pub(crate) fn of(most_bytes: u64) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), most_bytes }
    }

    /// Takes so many bytes, which are fewer than all; waits for them in turn. `waiting` is told again and again for how long,
    /// and may give up with false. Whether they were taken.
    pub(crate) fn take(&self, bytes: u64, mut waiting: impl FnMut(Duration) -> bool) -> bool {
        const LOOK: Duration = Duration::from_millis(50);
        if bytes == 0 {
            return true;
        }
        let begun = Instant::now();
        let mut state = locked(&self.state);
        state.tickets += 1;
        let ticket = state.tickets;
        state.queue.push_back(ticket);
        loop {
            if state.queue.front() == Some(&ticket) && state.taken_bytes + bytes <= self.most_bytes {
                state.queue.pop_front();
                state.taken_bytes += bytes;
                break;
            }
            state = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            drop(state);
            // Without the lock, since room is made by those who give theirs back.
            let waits = waiting(begun.elapsed());
            state = locked(&self.state);
            if !waits {
                state.queue.retain(|other| *other != ticket);
                self.changed.notify_all();
                return false;
            }
        }
        // The next one may find enough, too.
        self.changed.notify_all();
        true
    }

    /// Gives bytes back.
    pub(crate) fn give(&self, bytes: u64) {
        if bytes > 0 {
            locked(&self.state).taken_bytes -= bytes;
            self.changed.notify_all();
        }
    }

    #[cfg(test)]
    pub(crate) fn taken_bytes(&self) -> u64 {
        locked(&self.state).taken_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_much_is_not_overtaken_by_those_who_want_little() {
        let budget = Budget::of(100);
        assert!(budget.take(60, |_| true));
        std::thread::scope(|scope| {
            let large = scope.spawn(|| budget.take(80, |_| true));
            while locked(&budget.state).queue.is_empty() {
                std::thread::yield_now();
            }
            // There is room for it, but it has come later.
            let mut looks = 0;
            assert!(!budget.take(10, |_| {
                looks += 1;
                looks < 3
            }));
            budget.give(60);
            assert!(large.join().unwrap());
        });
        assert_eq!(budget.taken_bytes(), 80);
        assert!(budget.take(20, |_| true));
    }
}
