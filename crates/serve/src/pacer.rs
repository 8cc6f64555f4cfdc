//! The schedule along the wall clock: one timer thread hands out answers when they are due.
//!
//! Model: a request is taken at the instant it arrives; whatever was due before is handed out first. The timer thread sleeps
//! until shortly before the next instant of the model ([`SPIN_NS`]) and then looks at the clock until it is there, because
//! a sleeping thread wakes tens of microseconds late. A request that brings a nearer instant wakes it. There is no sleep
//! per request, so any number of requests costs one thread.
//!
//! Limits: spinning takes processor time in proportion to the model's events, up to one core. Whoever is handed an answer
//! is called from the timer thread or from that of another request, and must be quick.
//!
//! ```no_run
//! use plimsoll_serve::pacer::Pacer;
//! # let array: plimsoll_array::Array = unimplemented!();
//! # let request: plimsoll_array::Request = unimplemented!();
//! let pacer = Pacer::start(array).unwrap();
//! pacer.submit(request, Box::new(|answer| println!("{} ns", answer.service_ns())));
//! ```

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_array::{Array, Request};
use plimsoll_engine::clock::Clock;

use crate::locked;
use crate::schedule::{Answer, Schedule};

/// So long before an instant the timer stops sleeping: what a sleep is late by on a machine that is not overloaded.
pub const SPIN_NS: u64 = 80_000;

/// Who is told of the end of a request.
pub type Done = Box<dyn FnOnce(Answer) + Send>;

/// See the module.
#[derive(Debug)]
pub struct Pacer {
    shared: Arc<Shared>,
    timer: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    clock: Clock,
    origin_ns: u64,
    state: Mutex<State>,
    nearer: Condvar,
    spin_ns: u64,
    /// The model's next instant, to be seen without the lock while the timer spins.
    next_ns: AtomicU64,
}

struct State {
    schedule: Schedule<Done>,
    /// Until when the timer means to sleep, while it does.
    asleep_until_ns: Option<u64>,
    stopping: bool,
    outstanding_max: usize,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("origin_ns", &self.origin_ns).finish_non_exhaustive()
    }
}

impl Pacer {
    /// Starts the model now.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub fn start(array: Array) -> io::Result<Self> {
        let clock = Clock::calibrated();
        // With one processor, whoever spins keeps everybody else from going on.
        let alone = std::thread::available_parallelism().is_ok_and(|processors| processors.get() == 1);
        let state =
            State { schedule: Schedule::new(array), asleep_until_ns: None, stopping: false, outstanding_max: 0 };
        let shared = Arc::new(Shared {
            clock,
            origin_ns: clock.now(),
            state: Mutex::new(state),
            nearer: Condvar::new(),
            spin_ns: if alone { 0 } else { SPIN_NS },
            next_ns: AtomicU64::new(u64::MAX),
        });
        let timed = Arc::clone(&shared);
        let timer = std::thread::Builder::new().name("plimsoll-timer".into()).spawn(move || timed.keep_time())?;
        Ok(Self { shared, timer: Mutex::new(Some(timer)) })
    }

    /// Nanoseconds since the model was started.
    pub fn now_ns(&self) -> u64 {
        self.shared.now_ns()
    }

    /// Takes a request that arrives now.
    pub fn submit(&self, request: Request, done: Done) {
        let mut due = Vec::new();
        {
            let mut state = locked(&self.shared.state);
            let now_ns = self.shared.now_ns();
            state.schedule.run(now_ns, &mut due);
            state.schedule.submit(now_ns, request, done);
            state.outstanding_max = state.outstanding_max.max(state.schedule.outstanding());
            let next_ns = self.shared.publish(&state);
            if state.asleep_until_ns.is_some_and(|until_ns| next_ns.saturating_sub(self.shared.spin_ns) < until_ns) {
                self.shared.nearer.notify_one();
            }
        }
        hand_out(due);
    }

    /// Most requests that were under way at once.
    pub fn outstanding_max(&self) -> usize {
        locked(&self.shared.state).outstanding_max
    }

    /// Ends the timer; whoever still waits is forgotten.
    pub fn stop(&self) {
        locked(&self.shared.state).stopping = true;
        self.shared.nearer.notify_one();
        self.shared.next_ns.store(0, Ordering::Relaxed);
        if let Some(timer) = locked(&self.timer).take() {
            let _ = timer.join();
        }
        // Dropped without the lock, since whoever waits may hold the last reference to this.
        let forgotten = locked(&self.shared.state).schedule.forget();
        drop(forgotten);
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn now_ns(&self) -> u64 {
        self.clock.now() - self.origin_ns
    }

    /// Says when something happens next.
    fn publish(&self, state: &State) -> u64 {
        let next_ns = state.schedule.next_ns().unwrap_or(u64::MAX);
        self.next_ns.store(next_ns, Ordering::Relaxed);
        next_ns
    }

    /// The timer thread.
    fn keep_time(&self) {
        wake_punctually();
        let mut due = Vec::new();
        let mut state = locked(&self.state);
        while !state.stopping {
            state.schedule.run(self.now_ns(), &mut due);
            let next_ns = self.publish(&state);
            if !due.is_empty() {
                drop(state);
                hand_out(std::mem::take(&mut due));
                state = locked(&self.state);
                continue;
            }
            let sleep_ns = next_ns.saturating_sub(self.spin_ns).saturating_sub(self.now_ns());
            if sleep_ns > 0 {
                // A Duration of u64::MAX nanoseconds is five hundred years.
                state.asleep_until_ns = Some(next_ns.saturating_sub(self.spin_ns));
                let woken = self.nearer.wait_timeout(state, Duration::from_nanos(sleep_ns));
                state = woken.unwrap_or_else(PoisonError::into_inner).0;
                state.asleep_until_ns = None;
            } else {
                drop(state);
                while self.now_ns() < self.next_ns.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                state = locked(&self.state);
            }
        }
    }
}

fn hand_out(due: Vec<(Answer, Done)>) {
    due.into_iter().for_each(|(answer, done)| done(answer));
}

/// The kernel may delay a sleeping thread by 50 µs to save a wake-up; not this one.
fn wake_punctually() {
    // SAFETY: takes an integer and concerns the calling thread alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}
