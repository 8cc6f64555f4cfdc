//! Waiting for an instant: sleep while it is far, spin when it is near.
//!
//! The kernel wakes a sleeper some microseconds late; the last [`SPIN_NS`] are therefore spun. A worker thread asks for the
//! finest timer slack once ([`finest_timers`]); the default of 50 µs would be added to every sleep (prctl(2)).

use std::time::Duration;

use crate::clock::Clock;

/// How long before the instant spinning begins.
pub(crate) const SPIN_NS: u64 = 10_000;

/// Returns at `until_ns` of `clock`; at once if it has passed.
pub(crate) fn until(clock: &Clock, until_ns: u64) {
    loop {
        let left_ns = until_ns.saturating_sub(clock.now());
        if left_ns == 0 {
            return;
        }
        if left_ns > SPIN_NS {
            std::thread::sleep(Duration::from_nanos(left_ns - SPIN_NS));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Asks the kernel to wake this thread without slack.
pub(crate) fn finest_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes one integer and changes this thread only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1u64, 0u64, 0u64, 0u64) };
}
