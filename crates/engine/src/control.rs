//! How a run is told to end early, and when to begin.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use crate::appointment::Appointment;

/// Shared by whoever may end a run and its workers.
#[derive(Debug, Default)]
pub struct Control {
    stopped: AtomicBool,
    reason: AtomicU8,
    /// Something has failed that ends the run, whatever it was told to stop by before.
    failed: AtomicBool,
    /// Workers that have nothing left to issue.
    spent: AtomicUsize,
    /// When it begins.
    pub(crate) appointment: Appointment,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StoppedBy {
    /// Its time was over.
    Duration = 0,
    /// Somebody asked for it.
    Signal = 1,
    /// An I/O failed and the policy is to stop, or the target is gone.
    Error = 2,
    /// Every stream has issued its amount.
    Amount = 3,
}

impl StoppedBy {
    /// The word used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duration => "duration",
            Self::Signal => "signal",
            Self::Error => "error",
            Self::Amount => "amount",
        }
    }
}

impl Control {
    /// Has the run wait, once it is ready, until [`Control::begin`] says when it begins, or it is stopped.
    pub fn hold(&self) {
        self.appointment.hold();
    }

    /// A held run begins at this instant of `CLOCK_MONOTONIC`; at once, if it has passed.
    pub fn begin(&self, at_ns: u64) {
        self.appointment.begin(at_ns);
    }

    /// Asks the workers to stop issuing and to wait for what is outstanding. The first reason stands.
    pub fn stop(&self, reason: StoppedBy) {
        if reason == StoppedBy::Error {
            self.failed.store(true, Ordering::Release);
        }
        let _ = self.reason.compare_exchange(0, reason as u8, Ordering::AcqRel, Ordering::Acquire);
        self.stopped.store(true, Ordering::Release);
    }

    /// Says that a worker has nothing left to issue, and asks all to stop when it is the last of `workers`.
    pub(crate) fn spend(&self, workers: usize) {
        if self.spent.fetch_add(1, Ordering::AcqRel) + 1 == workers {
            self.stop(StoppedBy::Amount);
        }
    }

    /// Whether the workers are asked to stop.
    #[inline(always)]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Whether an I/O or a worker has failed so that nothing more is issued, perhaps only while the run was ending anyway.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// The flag itself, for whatever takes one.
    pub const fn flag(&self) -> &AtomicBool {
        &self.stopped
    }

    /// Why the run ended.
    pub fn reason(&self) -> StoppedBy {
        match self.reason.load(Ordering::Acquire) {
            1 => StoppedBy::Signal,
            2 => StoppedBy::Error,
            3 => StoppedBy::Amount,
            _ => StoppedBy::Duration,
        }
    }
}
