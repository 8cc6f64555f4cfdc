//! Requests that wait: for a time, or until they are released.
//!
//! Model: one thread carries out what has become due, in the order of its instants. What hangs waits for `release` and is
//! carried out by the thread that calls it. What still waits when the process ends is never answered; the kernel fails it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::locked;

/// What is carried out later.
pub type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Waiting {
    /// When, and the number of the task.
    due: BinaryHeap<Reverse<(Instant, u64)>>,
    tasks: HashMap<u64, Task>,
    hung: Vec<Task>,
    count: u64,
}

/// See the module.
#[derive(Clone, Default)]
pub struct Later {
    shared: Arc<(Mutex<Waiting>, Condvar)>,
}

impl std::fmt::Debug for Later {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Later").finish_non_exhaustive()
    }
}

impl Later {
    /// Starts the thread.
    pub fn begin() -> Self {
        let later = Self::default();
        let shared = Arc::clone(&later.shared);
        // Without the thread what is delayed hangs, which the test that asked for a delay notices.
        let _ = std::thread::Builder::new().name("later".into()).spawn(move || carry_out(&shared));
        later
    }

    /// Carries something out after a time.
    pub fn after(&self, delay: Duration, task: Task) {
        let (waiting, changed) = &*self.shared;
        let mut waiting = locked(waiting);
        waiting.count += 1;
        let number = waiting.count;
        waiting.due.push(Reverse((Instant::now() + delay, number)));
        waiting.tasks.insert(number, task);
        changed.notify_one();
    }

    /// Keeps something until it is released.
    pub fn hang(&self, task: Task) {
        locked(&self.shared.0).hung.push(task);
    }

    /// How many hang.
    pub fn hung(&self) -> usize {
        locked(&self.shared.0).hung.len()
    }

    /// Carries out all that hangs; how many that were.
    pub fn release(&self) -> usize {
        let hung = std::mem::take(&mut locked(&self.shared.0).hung);
        let count = hung.len();
        hung.into_iter().for_each(|task| task());
        count
    }
}

fn carry_out(shared: &(Mutex<Waiting>, Condvar)) {
    let (waiting, changed) = shared;
    let mut guard = locked(waiting);
    loop {
        let wait = guard.due.peek().map(|Reverse((due, _))| due.saturating_duration_since(Instant::now()));
        match wait {
            None => guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner),
            Some(Duration::ZERO) => {
                let task = guard.due.pop().and_then(|Reverse((_, number))| guard.tasks.remove(&number));
                drop(guard);
                task.into_iter().for_each(|task| task());
                guard = locked(waiting);
            }
            Some(wait) => guard = changed.wait_timeout(guard, wait).unwrap_or_else(PoisonError::into_inner).0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn what_is_due_first_comes_first() {
        let later = Later::begin();
        let (told, heard) = mpsc::channel();
        for (delay_ms, word) in [(60, "last"), (1, "first"), (30, "second")] {
            let told = told.clone();
            later.after(Duration::from_millis(delay_ms), Box::new(move || told.send(word).unwrap()));
        }
        assert_eq!([(); 3].map(|()| heard.recv().unwrap()), ["first", "second", "last"]);
    }

    #[test]
    fn what_hangs_waits_for_its_release() {
        let later = Later::begin();
        let (told, heard) = mpsc::channel();
        later.hang(Box::new(move || told.send(()).unwrap()));
        assert!(heard.try_recv().is_err() && later.hung() == 1);
        assert_eq!(later.release(), 1);
        assert!(heard.try_recv().is_ok() && later.hung() == 0);
    }
}
