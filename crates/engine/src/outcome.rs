//! What is known of a run when it is over.

use std::ops::Range;

use plimsoll_array::ComponentUse;
use plimsoll_workload::job::BackendWord;
use plimsoll_workload::stamp::Findings;
use plimsoll_workload::{Op, StreamPlan};
use serde::Serialize;

use crate::clock;
use crate::control::StoppedBy;
use crate::journal::Kept;
use crate::journal::check::Checked;
use crate::replay::{Logged, ReplayReport};
use crate::silence::Silence;

/// What a run had to do with a journal.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum Journalled {
    /// It was written.
    Kept(Kept),
    /// The target was held against it.
    Checked(Checked),
}

/// See the module; the intervals went to the sink.
#[derive(Debug)]
pub struct Outcome {
    /// The backend that was used.
    pub backend: BackendWord,
    /// Why it is not the one asked for.
    pub fallback: Option<String>,
    /// The resolved streams.
    pub plans: Vec<StreamPlan>,
    /// The parts' names, for targets of several.
    pub parts: Vec<String>,
    /// Workers.
    pub workers: usize,
    /// What the backend says of itself.
    pub facts: Vec<(&'static str, String)>,
    /// What the components of a model did in the measured time.
    pub components: Vec<ComponentUse>,
    /// The clock's source and its drift over the process's life, in parts per million.
    pub clock: (clock::Source, f64),
    /// Whether time was virtual.
    pub is_virtual: bool,
    /// The start, on `CLOCK_MONOTONIC` (0 in virtual time), and on the wall clock.
    pub start_ns: (u64, u64),
    /// When the last worker had begun, from the start.
    pub began_ns: u64,
    /// The measured time, from the start.
    pub window_ns: Range<u64>,
    /// The end of the drain, from the start.
    pub end_ns: u64,
    /// The first completion, from the start.
    pub first_done_ns: Option<u64>,
    /// When each worker had done all that its streams ask for, from the start; empty unless all had.
    pub spent_ns: Vec<u64>,
    /// Why it ended.
    pub stopped_by: StoppedBy,
    /// The first failed I/O: operation, address, errno (0 = short).
    pub first_error: Option<(Op, u64, i32)>,
    /// Processor time of the workers: user, system.
    pub cpu_ns: (u64, u64),
    /// Requests that were due and never issued.
    pub unissued: u64,
    /// What verification found, if anything was verified.
    pub findings: Option<Findings>,
    /// Most kernel worker threads of the rings seen at once.
    pub ring_workers: usize,
    /// The longest time that the target answered nothing for, if it was long.
    pub silence: Option<Silence>,
    /// How faithfully traces were replayed, by stream.
    pub replays: Vec<ReplayReport>,
    /// What a journal says: what was told to it, or what was found by it.
    pub journal: Option<Journalled>,
    /// What became of the request log, if one was asked for.
    pub logged: Option<Logged>,
    /// What each database of a mail store did in the measured time.
    pub databases: Vec<serde_json::Value>,
}
