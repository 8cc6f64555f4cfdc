//! Tells when nothing is left to do: every thread has either ended or found nothing that any of its operations can be
//! done to, and nothing has changed since.

use std::sync::atomic::{AtomicU64, Ordering};

const BUSY: u64 = u64::MAX;
const ENDED: u64 = u64::MAX - 1;

/// See the module.
pub(crate) struct Hunger {
    /// Counts what may have given somebody something to do.
    changes: AtomicU64,
    /// Of each thread, the count at which it last looked in vain.
    threads: Box<[AtomicU64]>,
}

impl Hunger {
    pub(crate) fn new(threads: usize) -> Self {
        Self { changes: AtomicU64::new(0), threads: (0..threads).map(|_| AtomicU64::new(BUSY)).collect() }
    }

    /// Something has changed.
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// The count before a thread looks.
    pub(crate) fn before(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// A thread has looked in vain since `before`.
    pub(crate) fn in_vain(&self, thread: usize, before: u64) {
        self.threads[thread].store(before, Ordering::Release);
    }

    /// A thread has found something.
    pub(crate) fn found(&self, thread: usize) {
        self.threads[thread].store(BUSY, Ordering::Release);
    }

    /// A thread does nothing more.
    pub(crate) fn ended(&self, thread: usize) {
        self.threads[thread].store(ENDED, Ordering::Release);
    }

    /// Whether everybody has looked in vain or ended, and not all have ended.
    pub(crate) fn is_general(&self) -> bool {
        let now = self.changes.load(Ordering::Acquire);
        let states: Vec<u64> = self.threads.iter().map(|thread| thread.load(Ordering::Acquire)).collect();
        let unchanged = self.changes.load(Ordering::Acquire) == now;
        unchanged && states.contains(&now) && states.iter().all(|state| *state == now || *state == ENDED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunger_is_general_only_when_nobody_can_do_anything_any_more() {
        let hunger = Hunger::new(2);
        hunger.in_vain(0, hunger.before());
        assert!(!hunger.is_general(), "the other one is still busy");
        let before = hunger.before();
        hunger.changed();
        hunger.in_vain(1, before);
        assert!(!hunger.is_general(), "something has changed since both looked");
        hunger.in_vain(0, hunger.before());
        hunger.in_vain(1, hunger.before());
        assert!(hunger.is_general());
        hunger.ended(1);
        assert!(hunger.is_general());
        hunger.ended(0);
        assert!(!hunger.is_general(), "who has ended is not hungry");
    }
}
