//! Jobs from JSON, and a sink that keeps what a test looks at.

#![allow(dead_code, clippy::unwrap_used)]

pub mod loop_device;

use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_engine::recorder::{Cell, Slice};
use plimsoll_engine::safety::Permission;
use plimsoll_engine::timeline::Phase;
use plimsoll_engine::{Control, EngineError, Interval, Job, Outcome, Places, Sink, record, run, uring};
use plimsoll_workload::{JobOptions, Op, StreamPlan, Workload};
use serde_json::{Value, json};

pub const MIB: u64 = 1 << 20;
pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// A job with these streams (one object, or a list of them).
pub fn job(target: &str, streams: Value, options: Value) -> Job {
    let streams = if streams.is_array() { streams } else { json!([streams]) };
    let workload = Workload::from_json(&json!({ "name": "test", "stream": streams }), "test").unwrap();
    workload.check("test").unwrap();
    let options = JobOptions::from_json(&options, "test").unwrap();
    options.check().unwrap();
    Job {
        workload,
        mailstore: None,
        options,
        target: target.parse().unwrap(),
        permission: Permission { destroy: true, typed: None },
    }
}

/// A target of two disks in RAID 1 behind a small cache, with a host that is `direct` or `buffered`.
pub fn small_array(host: &str) -> String {
    let document = json!({
        "name": "small",
        "host": { "mode": host, "request_ns": 2000, "page_cache": { "size_bytes": 1 << 20 } },
        "controller": [{
            "name": "a", "request_ns": 10_000, "cache": { "size_bytes": 1 << 20, "idle_ns": 50_000_000 },
        }],
        "devices": [{
            "name": "disk", "count": 2,
            "model": {
                "kind": "disk", "capacity_bytes": 1_000_000_000, "rotation_rpm": 10_000, "heads": 2,
                "outer_rate_bytes_per_s": 90_000_000, "inner_rate_bytes_per_s": 60_000_000, "command_overhead_us": 200,
                "read_seek": { "single_track_us": 200, "average_us": 4000, "full_stroke_us": 8000 },
                "write_seek": { "single_track_us": 500, "average_us": 4500, "full_stroke_us": 8500 },
                "buffer": {
                    "segments": 4, "segment_bytes": 1 << 19, "prefetch_bytes": 1 << 18,
                    "interface_rate_bytes_per_s": 300_000_000,
                },
            },
        }],
        "group": [{ "name": "g", "controller": "a", "members": ["disk"], "raid": { "level": "raid1", "devices": 2 } }],
        "volumes": [{ "name": "lun", "groups": ["g"] }],
    });
    format!("array:{document}")
}

/// One interval without its histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub index: u64,
    pub phase: Phase,
    pub start_ns: u64,
    pub end_ns: u64,
    pub count: u64,
    pub failures: u64,
    pub behind_ns: u64,
}

/// What happens at a moment of the run.
type Hook<'a> = Box<dyn FnMut() + 'a>;

/// A sink that merges intervals by phase.
pub struct Recording<'a> {
    pub plans: Vec<StreamPlan>,
    pub parts: Vec<String>,
    pub spans: Vec<Span>,
    /// Every interval as it would be stored.
    pub stored: Vec<Value>,
    pub measured: Option<Slice>,
    pub everything: Option<Slice>,
    /// Called when the target is open and nothing has been issued.
    pub when_open: Hook<'a>,
    /// Called after every interval.
    pub after_interval: Hook<'a>,
    /// Called when the sink is polled.
    pub when_polled: Hook<'a>,
}

impl Default for Recording<'_> {
    fn default() -> Self {
        Self {
            plans: Vec::new(),
            parts: Vec::new(),
            spans: Vec::new(),
            stored: Vec::new(),
            measured: None,
            everything: None,
            when_open: Box::new(|| ()),
            after_interval: Box::new(|| ()),
            when_polled: Box::new(|| ()),
        }
    }
}

impl Sink for Recording<'_> {
    fn resolved(&mut self, plans: &[StreamPlan], parts: &[String]) {
        (self.plans, self.parts) = (plans.to_vec(), parts.to_vec());
        self.measured = Some(blank(plans, parts));
        self.everything = Some(blank(plans, parts));
        (self.when_open)();
    }

    fn interval(&mut self, interval: &Interval) {
        let slice = &interval.slice;
        self.spans.push(Span {
            index: slice.index,
            phase: interval.phase,
            start_ns: slice.start_ns,
            end_ns: slice.end_ns,
            count: slice.cells.iter().flatten().map(Cell::count).sum(),
            failures: slice.cells.iter().flatten().map(Cell::failures).sum(),
            behind_ns: slice.behind_ns,
        });
        self.stored.push(record::interval(interval, &Places::of_requests(&self.plans, &self.parts)));
        self.everything.as_mut().unwrap().merge(slice);
        if interval.phase == Phase::Measure {
            self.measured.as_mut().unwrap().merge(slice);
        }
        (self.after_interval)();
    }

    fn poll(&mut self) {
        (self.when_polled)();
    }
}

fn blank(plans: &[StreamPlan], parts: &[String]) -> Slice {
    Slice::new(plans, parts.len())
}

/// A finished run.
pub struct Finished {
    pub outcome: Outcome,
    pub spans: Vec<Span>,
    pub stored: Vec<Value>,
    /// The measured time.
    pub measured: Slice,
    /// Warm-up, measured time and drain.
    pub everything: Slice,
}

impl Finished {
    /// Mean number of requests outstanding over the measured time.
    pub fn in_flight_mean(&self) -> f64 {
        let window = self.outcome.window_ns.clone();
        self.measured.in_flight_area as f64 / (window.end - window.start) as f64
    }

    /// Asserts that the intervals follow each other from the start without gap or overlap, numbered in order.
    pub fn assert_continuous(&self) {
        let mut at_ns = 0;
        for span in &self.spans {
            assert_eq!(span.start_ns, at_ns, "{:#?}", self.spans);
            assert!(span.end_ns >= span.start_ns, "{span:?}");
            at_ns = span.end_ns;
        }
        assert!(self.spans.is_sorted_by(|one, next| one.index < next.index), "{:?}", self.spans);
        assert_eq!(self.spans.iter().filter(|span| span.phase == Phase::Drain).count(), 1, "{:?}", self.spans);
    }
}

/// The cell of the stream with this index.
pub fn cell(slice: &Slice, stream: usize, op: Op) -> &Cell {
    slice.cells[stream * 4 + op as usize].as_ref().unwrap()
}

/// The cell of the part with this index.
pub fn part_cell(slice: &Slice, part: usize, op: Op) -> &Cell {
    slice.parts[part * 4 + op as usize].as_ref().unwrap()
}

/// Requests that ended in any way.
pub fn ended(slice: &Slice) -> u64 {
    slice.cells.iter().flatten().map(|cell| cell.count() + cell.failures()).sum()
}

/// Exact mean latency in nanoseconds.
pub fn mean_ns(cell: &Cell) -> f64 {
    cell.latency_sum_ns as f64 / cell.count() as f64
}

/// Runs a job to its end.
pub fn finish(job: &Job) -> Finished {
    try_finish(job, Recording::default(), &Control::default()).unwrap()
}

/// Runs a job with hooks and a control.
pub fn try_finish(job: &Job, mut sink: Recording<'_>, control: &Control) -> Result<Finished, EngineError> {
    let outcome = run(job, &mut sink, control)?;
    Ok(Finished {
        outcome,
        spans: sink.spans,
        stored: sink.stored,
        measured: sink.measured.unwrap(),
        everything: sink.everything.unwrap(),
    })
}

/// Asserts that a figure is within a share of what it should be.
pub fn assert_near(what: &str, found: f64, expected: f64, share: f64) {
    let off = found / expected - 1.0;
    assert!(off.abs() <= share, "{what}: {found} is {:+.3} % off {expected}", off * 100.0);
}

/// A directory on a disk (not in memory, where direct I/O may be refused).
pub fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A file of zeros, all holes.
pub fn hollow_file(directory: &Path, name: &str, size_bytes: u64) -> PathBuf {
    let path = directory.join(name);
    std::fs::File::create(&path).unwrap().set_len(size_bytes).unwrap();
    path
}

/// The backends that can work on files here; a line says which is missing.
pub fn file_backends() -> Vec<&'static str> {
    match uring::probe() {
        Ok(_) => vec!["uring", "sync"],
        Err(error) => {
            println!("skipped: uring: {error}");
            vec!["sync"]
        }
    }
}

pub fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}

/// The standard output of a program, or why it failed.
pub fn program(name: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(name).args(arguments).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}
