//! When a run begins that others begin with: everything is made ready, then it waits until somebody says the instant.
//!
//! Model: who holds a run does so before it is started. Once it is ready it says so ([`crate::Sink::ready`]) and waits for
//! an instant of `CLOCK_MONOTONIC`, which another thread names. Its workers sleep until shortly before that instant and spin
//! for the rest, in threads that know nothing of an interpreter. A run that nobody holds begins at once.
//!
//! Limits: an instant that has passed, or is nearer than the workers need, is kept as well as can be: the run begins late,
//! and says by how much ([`crate::outcome::Outcome::began_ns`]).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Clock;
use crate::pause;

/// Nobody holds the run.
const FREE: u64 = 0;
/// It is held, and no instant is known yet.
const HELD: u64 = u64::MAX;
/// How often a held run looks for its instant.
const LOOK: Duration = Duration::from_millis(5);
/// A sleeper on a busy host can wake up that late, so the last of the wait is spun.
const SPIN_NS: u64 = 2_000_000;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Appointment(AtomicU64);

impl Appointment {
    /// From now on the run waits for an instant when it is ready.
    pub(crate) fn hold(&self) {
        self.0.store(HELD, Ordering::Release);
    }

    /// The run begins at this instant.
    pub(crate) fn begin(&self, at_ns: u64) {
        self.0.store(at_ns.clamp(FREE + 1, HELD - 1), Ordering::Release);
    }

    /// Whether the run has to wait for an instant, or had to.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.load(Ordering::Acquire) != FREE
    }

    /// Waits for the instant; none where nobody holds the run, or `look` says to wait no longer.
    pub(crate) fn wait(&self, mut look: impl FnMut() -> bool) -> Option<u64> {
        loop {
            match self.0.load(Ordering::Acquire) {
                FREE => return None,
                HELD if !look() => return None,
                HELD => std::thread::sleep(LOOK),
                at_ns => return Some(at_ns),
            }
        }
    }
}

/// Returns at `until_ns`: asleep while that is far, awake for the last two milliseconds.
pub(crate) fn keep(clock: &Clock, until_ns: u64) {
    pause::until(clock, until_ns.saturating_sub(SPIN_NS));
    while clock.now() < until_ns {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_nobody_holds_does_not_wait() {
        assert_eq!(Appointment::default().wait(|| panic!("there is nothing to wait for")), None);
    }

    #[test]
    fn a_held_run_waits_until_somebody_says_the_instant() {
        let appointment = Appointment::default();
        appointment.hold();
        let mut looks = 0;
        let found = appointment.wait(|| {
            looks += 1;
            if looks == 3 {
                appointment.begin(77);
            }
            true
        });
        assert_eq!((found, looks), (Some(77), 3));
    }

    #[test]
    fn a_held_run_that_is_stopped_waits_no_longer() {
        let appointment = Appointment::default();
        appointment.hold();
        assert_eq!(appointment.wait(|| false), None);
    }

    #[test]
    fn an_instant_that_has_passed_is_not_waited_for() {
        let clock = Clock::calibrated();
        let before = clock.now();
        keep(&clock, before.saturating_sub(1_000_000_000));
        let appointment = Appointment::default();
        appointment.begin(0);
        assert_eq!(appointment.wait(|| true), Some(1), "no instant means that nobody holds the run");
    }

    #[test]
    fn nobody_returns_before_the_instant() {
        let clock = Clock::calibrated();
        let at_ns = clock.now() + 3_000_000;
        keep(&clock, at_ns);
        assert!(clock.now() >= at_ns);
    }
}
