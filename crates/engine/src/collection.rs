//! The thread that collects what workers hand on, and what it sees meanwhile.
//!
//! Model: it pushes intervals into the sink as they end, polls the sink so that signals are noticed, listens whether workers still have
//! answers, and looks for threads with which the kernel carries out the ring's requests.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError};

use crate::backend::is_virtual;
use crate::changeover::Trial;
use crate::clock;
use crate::collector::{Collector, Message};
use crate::crew::Setup;
use crate::silence::{self, Silence, Vigil};
use crate::sink::Sink;

/// How often the sink is polled, so that signals are noticed.
const POLL: Duration = Duration::from_millis(50);

/// What the collecting thread saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What came of the trial of ring and system calls, in words, and whether calls carried the measured requests.
    pub(crate) changeover: Option<String>,
    pub(crate) by_calls: bool,
    /// The most kernel threads of the rings at once.
    pub(crate) ring_workers: usize,
    /// The longest time without an answer.
    pub(crate) silence: Option<Silence>,
}

/// Pushes intervals into the sink until all workers have finished; what was seen meanwhile.
pub(crate) fn collect(
    setup: &Setup<'_>,
    mut collector: Collector,
    messages: &Receiver<Message>,
    start_ns: u64,
    sink: &mut dyn Sink,
) -> Seen {
    let real = !is_virtual(setup.backend);
    let mut next_tick = 0;
    let (mut seen, mut vigil) = (Seen::default(), Vigil::default());
    let warmup = (start_ns, setup.timeline.warmup_ns);
    let mut trial = setup.changeover.map(|changeover| Trial::new(changeover, warmup, calls_itself(setup)));
    loop {
        let now_ns = clock::monotonic_ns();
        if let Some(trial) = trial.as_mut().filter(|_| now_ns >= start_ns) {
            trial.look(now_ns - start_ns, || setup.ring_threads.count());
        }
        while real && next_tick <= setup.timeline.intervals() && now_ns >= start_ns + setup.timeline.start_of(next_tick)
        {
            sink.tick(next_tick);
            // Threads of a ring that is not used any more linger for some seconds.
            let by_ring = !trial.as_ref().is_some_and(Trial::is_by_calls);
            seen.ring_workers = if by_ring { seen.ring_workers.max(setup.ring_threads.count()) } else { 0 };
            next_tick += 1;
        }
        let tick_ns = start_ns.saturating_add(setup.timeline.start_of(next_tick));
        let pause = if real && next_tick <= setup.timeline.intervals() {
            POLL.min(Duration::from_nanos(tick_ns.saturating_sub(clock::monotonic_ns())))
        } else {
            POLL
        };
        match messages.recv_timeout(pause) {
            Ok(message) => collector.take(message),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        while let Some(interval) = collector.next() {
            sink.interval(&interval);
            collector.recycle(interval.slice);
        }
        sink.poll();
        if real {
            let now_ns = clock::monotonic_ns();
            if let Some(silence) = vigil.look(now_ns, silence::together(&setup.pulses, now_ns)) {
                sink.silent(silence);
            }
        }
        if collector.is_over() {
            break;
        }
    }
    let by_calls = trial.as_ref().is_some_and(Trial::is_by_calls);
    Seen { silence: vigil.longest(), by_calls, changeover: trial.and_then(Trial::into_outcome), ..seen }
}

/// Whether workers make their system calls themselves, because each has one request outstanding at most.
fn calls_itself(setup: &Setup<'_>) -> bool {
    let depth: usize = setup.plans.iter().map(|plan| (plan.threads * plan.queue_depth) as usize).sum();
    depth == setup.workers && setup.opened.volume.parts() <= 1
}
