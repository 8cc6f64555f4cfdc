//! What a run tells while it goes on, and to whom.
//!
//! Model: the calling thread of a run pushes into a [`Sink`]; the run itself keeps nothing that was measured. The cells of an
//! interval are numbered, and [`Places`] say what the numbers stand for.

use plimsoll_mailstore::Role;
use plimsoll_workload::{Op, StreamPlan};

use crate::collector::Interval;
use crate::silence::Silence;

/// What the places of a slice's cells stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Words of the operations, in the order of results.
    pub ops: Vec<&'static str>,
    /// Words of the operations that the cells of parts stand for.
    pub part_ops: Vec<&'static str>,
    /// Names of the target's parts.
    pub parts: Vec<String>,
    /// Stream and operation of each cell.
    cells: Vec<(String, &'static str)>,
}

impl Places {
    /// Of streams, each with all these operations.
    pub fn new(streams: &[String], ops: &[&'static str], parts: &[String]) -> Self {
        let cells = streams.iter().flat_map(|stream| ops.iter().map(|op| (stream.clone(), *op))).collect();
        Self { ops: ops.to_vec(), part_ops: ops.to_vec(), parts: parts.to_vec(), cells }
    }

    /// Those of block requests.
    pub fn of_requests(plans: &[StreamPlan], parts: &[String]) -> Self {
        let streams: Vec<String> = plans.iter().map(|plan| plan.name.clone()).collect();
        Self::new(&streams, &Op::ALL.map(Op::name), parts)
    }

    /// Those of the databases of a mail store: what each of their streams is for has a word of its own.
    pub fn of_databases(count: usize, parts: &[String]) -> Self {
        let cell = |(number, role, op): (usize, Role, Op)| (format!("database-{number}"), role.word(op));
        let of_role = |number: usize, role: Role| Op::ALL.map(|op| (number, role, op));
        let of_database = |number: usize| Role::ALL.into_iter().flat_map(move |role| of_role(number, role));
        let cells = (1..=count).flat_map(of_database).map(cell).collect();
        let part_ops = Op::ALL.map(Op::name).to_vec();
        Self { ops: Role::WORDS.to_vec(), part_ops, parts: parts.to_vec(), cells }
    }

    /// Stream and operation of a cell.
    pub fn cell(&self, place: usize) -> (&str, &'static str) {
        let (stream, op) = &self.cells[place];
        (stream, op)
    }
}

/// Where a run's intervals go. Called from the thread that runs [`crate::run`].
pub trait Sink {
    /// The job is resolved: its streams, and the parts' names of a target of several.
    fn resolved(&mut self, _plans: &[StreamPlan], _parts: &[String]) {}
    /// What the cells of intervals stand for, where they are not those of block requests.
    fn placed(&mut self, _places: Places) {}
    /// Everything is ready, and a held run waits for its instant.
    fn ready(&mut self) {}
    /// Users log in before the start; told once a second.
    fn entering(&mut self) {}
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
