//! Since when it is the client that everybody waits for.
//!
//! Model: the thread that reads notes when it begins to wait for bytes, and whether in the middle of a message; the one that
//! sends, when it begins to hand an answer over. The first wait begins with the agreement, before the client hears of it, so
//! clients that come one after the other have been waited for in that order, however late their threads run. A client with
//! nothing under way that says nothing, one that stops in the middle of a message and one that does not take its answers keep a
//! place, or memory, that others may need.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// See the module. Instants are nanoseconds after `begun`, 0 for none.
#[derive(Debug)]
pub(crate) struct Turn {
    begun: Instant,
    /// Waiting for the first byte of a request.
    next_ns: AtomicU64,
    /// Waiting for more of one.
    rest_ns: AtomicU64,
    /// Sending.
    sent_ns: AtomicU64,
    /// The last answer was sent.
    answered_ns: AtomicU64,
}

impl Turn {
    pub(crate) fn new() -> Self {
        let none = AtomicU64::default;
        Self { begun: Instant::now(), next_ns: none(), rest_ns: none(), sent_ns: none(), answered_ns: none() }
    }

    /// For how long the client has been connected.
    pub(crate) fn connected(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The client may send its first request.
    pub(crate) fn begins(&self) {
        self.next_ns.store(self.now_ns(), Ordering::Release);
    }

    /// What `wait` gives, which waits for the first byte of a request.
    pub(crate) fn next<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.noted(&self.next_ns, wait)
    }

    /// The same for more of a request.
    pub(crate) fn rest<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.noted(&self.rest_ns, wait)
    }

    /// The same for sending.
    pub(crate) fn sent<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.noted(&self.sent_ns, wait)
    }

    /// An answer was sent: the client may have its next request ready only now.
    pub(crate) fn answered(&self) {
        self.answered_ns.store(self.now_ns(), Ordering::Release);
    }

    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64 | 1
    }

    fn noted<T>(&self, since: &AtomicU64, wait: impl FnOnce() -> T) -> T {
        let waits_already = since.load(Ordering::Acquire) > 0;
        if !waits_already {
            since.store(self.now_ns(), Ordering::Release);
        }
        let given = wait();
        since.store(0, Ordering::Release);
        given
    }

    /// For how long it has been the client's turn, if it is. `idle` says that nothing of it is under way.
    pub(crate) fn waited(&self, idle: bool) -> Option<Duration> {
        let now_ns = self.now_ns();
        let since = |noted: &AtomicU64| Some(noted.load(Ordering::Acquire)).filter(|since_ns| *since_ns > 0);
        let next = since(&self.next_ns).filter(|_| idle).map(|next| next.max(since(&self.answered_ns).unwrap_or(0)));
        let longest = [next, since(&self.rest_ns), since(&self.sent_ns)].into_iter().flatten().min()?;
        Some(Duration::from_nanos(now_ns.saturating_sub(longest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wait_begins_with_the_agreement() {
        let turn = Turn::new();
        assert_eq!(turn.waited(true), None);
        turn.begins();
        let agreed_ns = turn.next_ns.load(Ordering::Acquire);
        turn.next(|| assert_eq!(turn.next_ns.load(Ordering::Acquire), agreed_ns));
        assert_eq!(turn.waited(true), None);
        turn.next(|| assert!(turn.next_ns.load(Ordering::Acquire) > agreed_ns));
    }
}
