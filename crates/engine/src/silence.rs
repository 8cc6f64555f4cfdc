//! Whether the target answers while requests wait for it.
//!
//! Model: every worker says ten times a second what it saw: when it last had an answer, and how many of its requests wait. The thread
//! that collects puts these together. The target is silent since the last answer that any worker had, as long as something waits.
//! A worker that says nothing for a second is held by the target inside a call, like a page fault or a submission that blocks.
//! If the thread that collects was itself away for a second, the process stood still: nobody is blamed until the workers have spoken.
//!
//! Limits: instants are known to a tenth of a second, and only in real time. One part of a target that hangs while others answer is
//! not silence; its requests are in the latencies.

use std::sync::atomic::{AtomicU64, Ordering};

/// How long a target says nothing before it is told.
pub const TOLD_FROM_NS: u64 = 5_000_000_000;
/// How often it is told from then on.
const TOLD_EVERY_NS: u64 = 1_000_000_000;
/// How long a worker may say nothing before it counts as held.
const HELD_NS: u64 = 1_000_000_000;
/// How long workers have to speak after the process stood still.
const GRACE_NS: u64 = 500_000_000;
/// Nothing to say: not begun, or over.
const ABSENT: u64 = u64::MAX;

/// What a worker says of itself.
#[derive(Debug)]
pub(crate) struct Pulse {
    spoken_ns: AtomicU64,
    answered_ns: AtomicU64,
    waiting: AtomicU64,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { spoken_ns: AtomicU64::new(ABSENT), answered_ns: AtomicU64::new(0), waiting: AtomicU64::new(0) }
    }
}

impl Pulse {
    /// At `now_ns`, `waiting` requests are outstanding; `answered` says whether any came back since it spoke last.
    pub(crate) fn speak(&self, now_ns: u64, waiting: u64, answered: bool) {
        // What was issued after it spoke last cannot have waited for longer.
        if answered || self.waiting.swap(waiting, Ordering::Relaxed) == 0 {
            self.answered_ns.store(now_ns, Ordering::Relaxed);
        }
        self.waiting.store(waiting, Ordering::Relaxed);
        self.spoken_ns.store(now_ns, Ordering::Release);
    }

    /// It waits for nothing any more.
    pub(crate) fn leave(&self) {
        self.waiting.store(0, Ordering::Relaxed);
        self.spoken_ns.store(ABSENT, Ordering::Release);
    }
}

/// Since when nothing was answered, and how many requests wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quiet {
    pub(crate) since_ns: u64,
    pub(crate) waiting: u64,
}

/// What all workers say together; `None` when nothing waits.
pub(crate) fn together(pulses: &[Pulse], now_ns: u64) -> Option<Quiet> {
    let mut quiet = Quiet { since_ns: 0, waiting: 0 };
    for pulse in pulses {
        let spoken_ns = pulse.spoken_ns.load(Ordering::Acquire);
        if spoken_ns == ABSENT {
            continue;
        }
        let held = now_ns.saturating_sub(spoken_ns) >= HELD_NS;
        quiet.waiting += pulse.waiting.load(Ordering::Relaxed).max(u64::from(held));
        quiet.since_ns = quiet.since_ns.max(pulse.answered_ns.load(Ordering::Relaxed));
    }
    Some(quiet).filter(|quiet| quiet.waiting > 0)
}

/// The longest silence of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silence {
    /// How long.
    pub ns: u64,
    /// How many requests waited.
    pub waiting: u64,
}

/// Watches, and says when to tell.
#[derive(Debug, Default)]
pub(crate) struct Vigil {
    looked_ns: u64,
    patient_until_ns: u64,
    told_ns: u64,
    longest: Silence,
}

impl Vigil {
    /// Looks at what is quiet; the silence, when it is to be told now.
    pub(crate) fn look(&mut self, now_ns: u64, quiet: Option<Quiet>) -> Option<Silence> {
        if now_ns > self.looked_ns + HELD_NS {
            self.patient_until_ns = now_ns + GRACE_NS;
        }
        self.looked_ns = now_ns;
        let quiet = quiet.filter(|_| now_ns >= self.patient_until_ns)?;
        let silence = Silence { ns: now_ns.saturating_sub(quiet.since_ns), waiting: quiet.waiting };
        if silence.ns < TOLD_FROM_NS {
            return None;
        }
        if silence.ns > self.longest.ns {
            self.longest = silence;
        }
        let due = now_ns >= self.told_ns + TOLD_EVERY_NS;
        due.then(|| self.told_ns = now_ns).map(|()| silence)
    }

    /// The longest that was told.
    pub(crate) fn longest(&self) -> Option<Silence> {
        Some(self.longest).filter(|longest| longest.ns > 0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Looks ten times a second until `until_s`; what was told, in seconds.
    fn told(vigil: &mut Vigil, span_s: (u64, u64), quiet: impl Fn(u64) -> Option<Quiet>) -> Vec<u64> {
        let steps = span_s.0 * 10..=span_s.1 * 10;
        steps
            .filter_map(|tenth| vigil.look(tenth * SECOND / 10, quiet(tenth * SECOND / 10)))
            .map(|silence| silence.ns / SECOND)
            .collect()
    }

    #[test]
    fn a_silence_is_told_from_five_seconds_on_once_a_second() {
        let pulses = [Pulse::default(), Pulse::default()];
        pulses[0].speak(SECOND, 32, true);
        pulses[1].speak(2 * SECOND, 32, true);
        let mut vigil = Vigil::default();
        let found = told(&mut vigil, (2, 10), |now_ns| {
            pulses.iter().for_each(|pulse| pulse.speak(now_ns, 32, now_ns <= 2 * SECOND));
            together(&pulses, now_ns)
        });
        assert_eq!(found, [5, 6, 7, 8]);
        assert_eq!(vigil.longest().unwrap(), Silence { ns: 8 * SECOND, waiting: 64 });
    }

    #[test]
    fn one_answer_ends_it_and_where_nothing_waits_nothing_is_missed() {
        let pulse = [Pulse::default()];
        let mut vigil = Vigil::default();
        let idle = told(&mut vigil, (1, 60), |now_ns| {
            pulse[0].speak(now_ns, 0, false);
            together(&pulse, now_ns)
        });
        let late = told(&mut vigil, (61, 65), |now_ns| {
            pulse[0].speak(now_ns, 1, false);
            together(&pulse, now_ns)
        });
        let now_and_then = told(&mut vigil, (66, 90), |now_ns| {
            pulse[0].speak(now_ns, 1, now_ns % (4 * SECOND) == 2 * SECOND);
            together(&pulse, now_ns)
        });
        assert_eq!((idle, late, now_and_then), (vec![], vec![], vec![]));
        assert_eq!(vigil.longest(), None);
    }

    #[test]
    fn a_worker_that_is_held_inside_a_call_waits_too() {
        let pulse = [Pulse::default()];
        pulse[0].speak(SECOND, 0, true);
        assert_eq!(together(&pulse, SECOND + HELD_NS / 2), None);
        assert_eq!(together(&pulse, 9 * SECOND), Some(Quiet { since_ns: SECOND, waiting: 1 }));
        pulse[0].leave();
        assert_eq!(together(&pulse, 20 * SECOND), None);
    }

    #[test]
    fn a_process_that_stood_still_blames_nobody() {
        let pulse = [Pulse::default()];
        pulse[0].speak(SECOND, 8, true);
        let mut vigil = Vigil::default();
        assert!(told(&mut vigil, (1, 2), |now_ns| together(&pulse, now_ns)).is_empty());
        assert_eq!(vigil.look(60 * SECOND, together(&pulse, 60 * SECOND)), None, "it was stopped for a minute");
        pulse[0].speak(60 * SECOND, 8, true);
        assert!(told(&mut vigil, (61, 64), |now_ns| together(&pulse, now_ns)).is_empty());
    }
}
