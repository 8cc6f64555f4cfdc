//! Puts the workers' slices together: one interval at a time goes to the sink, in order.
//!
//! Model: an interval is complete when every worker has handed on its slice of that number or has finished. Emptied slices
//! go back to the workers, so a run of any length uses the same memory.

use std::collections::BTreeMap;

use crossbeam_channel::{Receiver, Sender};

use crate::recorder::{Outlet, Slice};
use crate::timeline::{Phase, Timeline};

/// A worker's line to the collector.
pub(crate) struct Line {
    pub(crate) full: Sender<Message>,
    pub(crate) empty: Receiver<Slice>,
    pub(crate) blank: Box<dyn Fn() -> Slice + Send>,
}

/// What a worker says.
#[allow(clippy::large_enum_variant)] // a few messages per second, and one that is small
pub(crate) enum Message {
    /// An interval is over.
    Full(Slice),
    /// No more will come from this worker.
    Finished,
}

impl Outlet for Line {
    fn exchange(&mut self, full: Slice) -> Slice {
        // A collector that is gone has no use for slices; the run ends by other means.
        let _ = self.full.send(Message::Full(full));
        self.empty.try_recv().unwrap_or_else(|_| (self.blank)())
    }
}

/// A complete interval.
#[derive(Debug)]
pub struct Interval {
    /// What it is for.
    pub phase: Phase,
    /// What happened, over all workers.
    pub slice: Slice,
}

/// See the module.
pub(crate) struct Collector {
    timeline: Timeline,
    workers: usize,
    finished: usize,
    /// The end of the last interval that was complete.
    covered_ns: u64,
    /// Merged so far, and from how many workers.
    waiting: BTreeMap<u64, (Slice, usize)>,
    empty: Sender<Slice>,
}

impl Collector {
    pub(crate) fn new(timeline: Timeline, workers: usize, empty: Sender<Slice>) -> Self {
        Self { timeline, workers, finished: 0, covered_ns: 0, waiting: BTreeMap::new(), empty }
    }

    /// Whether every worker has finished.
    pub(crate) fn is_over(&self) -> bool {
        self.finished == self.workers
    }

    pub(crate) fn take(&mut self, message: Message) {
        match message {
            Message::Finished => self.finished += 1,
            Message::Full(slice) => match self.waiting.get_mut(&slice.index) {
                None => {
                    self.waiting.insert(slice.index, (slice, 1));
                }
                Some((merged, workers)) => {
                    merged.merge(&slice);
                    *workers += 1;
                    self.recycle(slice);
                }
            },
        }
    }

    /// The next complete interval.
    pub(crate) fn next(&mut self) -> Option<Interval> {
        let (&index, &(_, workers)) = self.waiting.first_key_value()?;
        if workers < self.workers && !self.is_over() {
            return None;
        }
        let (mut slice, _) = self.waiting.remove(&index)?;
        // Workers that are told to stop do so one after the other: the drain begins when the last has stopped.
        slice.start_ns = slice.start_ns.max(self.covered_ns);
        slice.end_ns = slice.end_ns.max(slice.start_ns);
        self.covered_ns = slice.end_ns;
        Some(Interval { phase: self.timeline.phase_of(index), slice })
    }

    /// Gives a slice back to the workers.
    pub(crate) fn recycle(&self, mut slice: Slice) {
        slice.clear();
        let _ = self.empty.try_send(slice);
    }
}
