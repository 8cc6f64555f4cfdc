//! What a run tells while it goes on, and to whom.
//!
//! Model: the calling thread of a run pushes into a [`Sink`]; the run itself keeps nothing that was measured. The cells of an
//! interval are numbered, and [`Places`] say what the numbers stand for.

use plimsoll_workload::{Op, StreamPlan};

use crate::collector::Interval;
use crate::silence::Silence;

/// What the places of a slice's cells stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Names of the streams.
    pub streams: Vec<String>,
    /// Words of the operations.
    pub ops: Vec<&'static str>,
    /// Names of the target's parts.
    pub parts: Vec<String>,
}

impl Places {
    /// Those of block requests.
    pub fn of_requests(plans: &[StreamPlan], parts: &[String]) -> Self {
        let streams = plans.iter().map(|plan| plan.name.clone()).collect();
        Self { streams, ops: Op::ALL.map(Op::name).to_vec(), parts: parts.to_vec() }
    }
}

/// Where a run's intervals go. Called from the thread that runs [`crate::run`].
pub trait Sink {
    /// The job is resolved: its streams, and the parts' names of a target of several.
    fn resolved(&mut self, _plans: &[StreamPlan], _parts: &[String]) {}
    /// What the cells of intervals stand for, where they are not those of block requests.
    fn placed(&mut self, _places: Places) {}
    /// The workers start at this instant of `CLOCK_MONOTONIC` and of the wall clock, in nanoseconds.
    fn started(&mut self, _monotonic_ns: u64, _wall_ns: u64) {}
    /// Interval `index` begins now; not called in virtual time.
    fn tick(&mut self, _index: u64) {}
    /// An interval is complete.
    fn interval(&mut self, interval: &Interval);
    /// The target has answered nothing for so long; told from [`crate::silence::TOLD_FROM_NS`] on, once a second.
    fn silent(&mut self, _silence: Silence) {}
    /// Called every 50 ms at least.
    fn poll(&mut self) {}
}
