//! One run of file operations: from the trees at their beginning to the last call.
//!
//! Model: the trees are brought to their beginning if they are not; threads are made and start together; the calling
//! thread hands intervals to the [`Sink`] and tells when nothing is left to do. Whatever ends the run, every file that was
//! opened is closed, and the marker in the directory says whether the trees are still as laid out.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded, unbounded};
use plimsoll_workload::JobOptions;
use plimsoll_workload::files::{FileOp, FilePlan, FileWorkload, TreePlan};
use plimsoll_workload::job::{BackendWord, OnError};

use super::actor::FirstError;
use super::candidate::Pointers;
use super::crew::{Report, Stage, blank, kits, start};
use super::desk::Desk;
use super::directories::Directories;
use super::hunger::Hunger;
use super::layout::{anchor, lay_out};
use super::marker::Condition;
use super::parts;
use super::place::Held;
use super::state::TreeState;
use crate::clock::{self, Clock};
use crate::collector::{Collector, Line, Message};
use crate::control::{Control, StoppedBy};
use crate::error::EngineError;
use crate::open_files;
use crate::run::{beginning, timeline};
use crate::safety::Permission;
use crate::silence::{Quiet, Silence, Vigil};
use crate::sink::{Places, Sink};
use crate::timeline::Timeline;

/// How often the sink is polled, so that signals are noticed.
const POLL_NS: u64 = 50_000_000;
/// How often it is looked whether anything is left to do.
const LOOK: Duration = Duration::from_millis(5);
/// Looks in a row that must find nobody able to do anything: time for each to look again, because one may have looked
/// while another held for a moment what it wanted.
const HUNGRY_LOOKS: u32 = 4;
/// Time between making the threads and their start: some, and some for each.
const START_DELAY_NS: u64 = 200_000;
const START_DELAY_EACH_NS: u64 = 30_000;
/// Descriptors that a thread may have open, and those of everything else.
const FILES_PER_THREAD: u64 = 4;
const OTHER_FILES: u64 = 128;
/// Its anchor; of one in a directory of its own that as well, and the lock on it.
const FILES_PER_TREE: u64 = 3;
/// Directories that stay open at most: the kernel keeps about a kilobyte for each.
const DIRECTORIES: u64 = 8192;

/// A job of file operations.
#[derive(Clone, Debug)]
pub struct FileJob {
    /// What is done.
    pub workload: FileWorkload,
    /// How it is run.
    pub options: JobOptions,
    /// The directories of the target: a tree names the one it lies in by number.
    pub directories: Vec<PathBuf>,
    /// What the user allows.
    pub permission: Permission,
}

/// What is known of a run when it is over, beside its intervals.
#[derive(Debug)]
pub struct FileOutcome {
    /// The resolved load.
    pub plan: FilePlan,
    /// Threads.
    pub threads: usize,
    /// The clock's source and its drift, in parts per million.
    pub clock: (clock::Source, f64),
    /// The start, on `CLOCK_MONOTONIC` and on the wall clock.
    pub start_ns: (u64, u64),
    /// When the last thread began, from the start; none where no thread could be made.
    pub began_ns: Option<u64>,
    /// The measured time, from the start.
    pub window_ns: Range<u64>,
    /// The end of the drain, from the start.
    pub end_ns: u64,
    /// The first completion, from the start.
    pub first_done_ns: Option<u64>,
    /// Why it ended.
    pub stopped_by: StoppedBy,
    /// Whether it ended because nothing was left to do.
    pub ran_out: bool,
    /// The longest time that no call came back, if it was long.
    pub silence: Option<Silence>,
    /// The first call that failed.
    pub(super) first_error: Option<FirstError>,
    /// Processor time of the threads: user, system.
    pub cpu_ns: (u64, u64),
    /// Operations that were due and never begun.
    pub unissued: u64,
    /// Operations drawn that nothing could be done to, by stream and operation.
    pub skipped: Vec<[u64; FileOp::COUNT]>,
    /// Files and directories that exist at the end, by tree.
    pub left: Vec<(u64, u64)>,
}

/// Runs a job to its end, or until `control` stops it, and pushes its intervals into `sink`.
///
/// # Errors
/// When the job cannot be run in this directory. A failed call is counted, not an error.
pub fn run(job: &FileJob, sink: &mut dyn Sink, control: &Control) -> Result<FileOutcome, EngineError> {
    if !matches!(job.options.backend, BackendWord::Auto | BackendWord::Sync) {
        let asked = job.options.backend.name();
        return Err(EngineError::Mismatch(format!(
            "backend '{asked}' does not go with file operations, which are system calls; leave it at auto"
        )));
    }
    let plan = job.workload.resolve(job.options.seed)?;
    let mut held = parts::take(&plan, &job.directories, &job.permission)?;
    lay_out(&mut held, &plan, &mut |_, _| {}, control.flag())?;
    let kits = kits(&plan);
    let kept = keepable(&plan, allow_files(&plan, kits.len() as u64));
    let trees = states(&held, &plan, &kept)?;
    mark_changed(&mut held, &plan)?;
    let names: Vec<String> = plan.streams.iter().map(|stream| stream.name.clone()).collect();
    sink.placed(Places::new(&names, &FileOp::NAMES, &[]));
    let timeline = timeline(&job.options);
    let desks = std::thread::available_parallelism().map_or(1, usize::from).min(kits.len());
    let (full, messages) = unbounded();
    let (empty, empties) = bounded(desks * 2);
    let delay_ns = START_DELAY_NS + START_DELAY_EACH_NS * kits.len() as u64;
    // Who was stopped before the instant draws nothing.
    let origin_ns = beginning(control, delay_ns, sink).unwrap_or_else(clock::monotonic_ns);
    let wall_ns = clock::wall_ns();
    let line = || {
        let plan = plan.clone();
        Line { full: full.clone(), empty: empties.clone(), blank: Box::new(move || blank(&plan)) }
    };
    let seats = kits.len().div_ceil(desks);
    let desks: Vec<Desk> = (0..desks).map(|_| Desk::new(seats, timeline, origin_ns, line())).collect();
    let pointers: Vec<Pointers> = plan.streams.iter().map(|_| Pointers::default()).collect();
    let (hunger, lost, lanes) = (Hunger::new(kits.len()), AtomicBool::new(false), kits.len());
    let stage = Stage {
        plan: &plan,
        trees: &trees,
        pointers: &pointers,
        desks: &desks,
        hunger: &hunger,
        control,
        origin_ns,
        end_ns: origin_ns + timeline.end_ns(),
        continues: job.options.on_error == OnError::Continue,
        lanes,
        lost: &lost,
    };
    let collector = Collector::new(timeline, desks.len(), empty);
    let watch = Watch { stage: &stage, timeline, messages };
    let (reports, seen) = watch.follow(kits, collector, sink, wall_ns)?;
    Ok(outcome(&stage, timeline, (origin_ns, wall_ns), &reports, seen))
}

/// Notes in the marker of every directory whose trees will have other names that they are no longer as laid out.
fn mark_changed(held: &mut [Held], plan: &FilePlan) -> Result<(), EngineError> {
    let changing = plan.streams.iter().filter(|stream| stream.changes_names());
    let changed: BTreeSet<usize> =
        changing.flat_map(|stream| stream.touched()).map(|tree| plan.trees[tree].part).collect();
    for part in changed {
        held[part].marker.condition = Condition::Changed;
        held[part].mark()?;
    }
    Ok(())
}

fn states(held: &[Held], plan: &FilePlan, kept: &[u64]) -> Result<Vec<TreeState>, EngineError> {
    let comes_and_goes = |op: FileOp| plan.streams.iter().any(|stream| stream.issues(op));
    let moving = comes_and_goes(FileOp::Mkdir) || comes_and_goes(FileOp::Rmdir);
    let state = |(tree, kept): (&TreePlan, &u64)| {
        let open = Directories::below(anchor(&held[tree.part], tree, false)?, *kept);
        Ok(TreeState::laid_out(tree, open, moving))
    };
    plan.trees.iter().zip(kept).map(state).collect()
}

/// Raises the limit of open files as far as these threads and trees need it and the hard limit allows; how many are left
/// for directories.
fn allow_files(plan: &FilePlan, threads: u64) -> u64 {
    let others = threads * FILES_PER_THREAD + plan.trees.len() as u64 * FILES_PER_TREE + OTHER_FILES;
    let directories: u64 = plan.trees.iter().map(|tree| tree.shape.directories()).sum();
    let needed = others + directories.min(DIRECTORIES);
    open_files::allow(needed).saturating_sub(others).min(DIRECTORIES)
}

/// How many directories of each tree stay open when `left` do in all.
fn keepable(plan: &FilePlan, mut left: u64) -> Vec<u64> {
    let mut trees: Vec<(usize, u64)> = plan.trees.iter().map(|tree| tree.shape.directories()).enumerate().collect();
    let mut kept = vec![0; trees.len()];
    // The smallest first, so that what they do not need is the larger ones'.
    trees.sort_by_key(|(_, directories)| *directories);
    let count = trees.len();
    for (place, (tree, directories)) in trees.into_iter().enumerate() {
        kept[tree] = directories.min(left / (count - place) as u64);
        left -= kept[tree];
    }
    kept
}

/// What the calling thread saw of a run.
struct Seen {
    ran_out: bool,
    silence: Option<Silence>,
}

/// The calling thread's part of a run.
struct Watch<'s, 'a> {
    stage: &'s Stage<'a>,
    timeline: Timeline,
    messages: Receiver<Message>,
}

impl Watch<'_, '_> {
    /// Starts the threads, and pushes intervals until all is over; what was seen meanwhile.
    fn follow(
        &self,
        kits: Vec<super::crew::Kit>,
        mut collector: Collector,
        sink: &mut dyn Sink,
        wall_ns: u64,
    ) -> Result<(Vec<Report>, Seen), EngineError> {
        let stage = self.stage;
        std::thread::scope(|scope| {
            let threads = start(scope, stage, kits);
            sink.started(stage.origin_ns, wall_ns);
            let (mut tick, mut polled_ns, mut hungry, mut vigil) = (0, 0, 0, Vigil::default());
            while !collector.is_over() {
                let now_ns = Clock::calibrated().now();
                self.tick(&mut tick, now_ns, sink);
                hungry = self.look(now_ns, hungry);
                if threads.iter().all(|thread| thread.is_finished()) {
                    let end_ns = Clock::calibrated().now();
                    stage.desks.iter().for_each(|desk| desk.finish(end_ns));
                }
                if now_ns >= polled_ns + POLL_NS {
                    polled_ns = now_ns;
                    sink.poll();
                    if let Some(silence) = vigil.look(now_ns, self.quiet()) {
                        sink.silent(silence);
                    }
                }
                match self.messages.recv_timeout(self.pause(tick)) {
                    Ok(message) => collector.take(message),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                while let Ok(message) = self.messages.try_recv() {
                    collector.take(message);
                }
                while let Some(interval) = collector.next() {
                    sink.interval(&interval);
                    collector.recycle(interval.slice);
                }
            }
            let reports: Result<Vec<Report>, EngineError> =
                threads.into_iter().map(|thread| thread.join().map_err(|_| EngineError::WorkerLost)).collect();
            if stage.lost.load(Ordering::Acquire) {
                return Err(EngineError::Mismatch(format!(
                    "the system does not allow {} threads; lower threads, or raise `ulimit -u`",
                    stage.lanes
                )));
            }
            Ok((reports?, Seen { ran_out: hungry >= HUNGRY_LOOKS, silence: vigil.longest() }))
        })
    }

    /// Since when no thread has had an answer, and how many wait.
    fn quiet(&self) -> Option<Quiet> {
        let answered_ns = self.stage.desks.iter().map(Desk::last_ns).max().unwrap_or(0);
        let quiet = self.stage.desks.iter().filter_map(Desk::quiet);
        let (since_ns, waiting) = quiet.fold((u64::MAX, 0), |sum, one| (sum.0.min(one.since_ns), sum.1 + one.waiting));
        Some(Quiet { since_ns: since_ns.max(answered_ns), waiting }).filter(|quiet| quiet.waiting > 0)
    }

    fn tick(&self, next: &mut u64, now_ns: u64, sink: &mut dyn Sink) {
        while *next <= self.timeline.intervals() && now_ns >= self.stage.origin_ns + self.timeline.start_of(*next) {
            sink.tick(*next);
            *next += 1;
        }
    }

    fn pause(&self, tick: u64) -> Duration {
        let tick_ns = self.stage.origin_ns.saturating_add(self.timeline.start_of(tick));
        let left_ns = tick_ns.saturating_sub(Clock::calibrated().now()).max(100_000);
        if tick > self.timeline.intervals() { LOOK } else { LOOK.min(Duration::from_nanos(left_ns)) }
    }

    /// Hands on intervals that are over, and ends the run when nobody can do anything any more; how often in a row that
    /// was seen.
    fn look(&self, now_ns: u64, hungry: u32) -> u32 {
        let stage = self.stage;
        stage.desks.iter().for_each(|desk| desk.look(now_ns));
        if hungry >= HUNGRY_LOOKS || stage.control.is_stopped() {
            return hungry;
        }
        let hungry = if stage.hunger.is_general() { hungry + 1 } else { 0 };
        if hungry >= HUNGRY_LOOKS {
            // Nobody has done anything since the last call ended.
            let last_ns = stage.desks.iter().map(Desk::last_ns).max().unwrap_or(now_ns);
            stage.desks.iter().for_each(|desk| desk.cut(last_ns));
            stage.control.stop(StoppedBy::Amount);
        }
        hungry
    }
}

fn outcome(stage: &Stage<'_>, timeline: Timeline, start_ns: (u64, u64), reports: &[Report], seen: Seen) -> FileOutcome {
    let clock = Clock::calibrated();
    let mut skipped = vec![[0; FileOp::COUNT]; stage.plan.streams.len()];
    for report in reports {
        skipped[report.stream].iter_mut().zip(report.skipped).for_each(|(sum, more)| *sum += more);
    }
    let first_ns = stage.desks.iter().filter_map(Desk::first_ns).min();
    FileOutcome {
        plan: stage.plan.clone(),
        threads: reports.len(),
        clock: (clock.source(), clock.drift_ppm()),
        start_ns,
        began_ns: reports.iter().map(|report| report.began_ns).max(),
        window_ns: timeline.warmup_ns..timeline.end_ns(),
        end_ns: clock.now().saturating_sub(stage.origin_ns),
        first_done_ns: first_ns.map(|first_ns| first_ns.saturating_sub(stage.origin_ns)),
        stopped_by: stage.control.reason(),
        ran_out: seen.ran_out,
        silence: seen.silence,
        first_error: reports.iter().filter_map(|report| report.first_error.clone()).min_by_key(|error| error.at_ns),
        cpu_ns: reports.iter().fold((0, 0), |sum, report| (sum.0 + report.cpu_ns.0, sum.1 + report.cpu_ns.1)),
        unissued: reports.iter().map(|report| report.unissued).sum(),
        skipped,
        left: stage.trees.iter().map(|tree| (tree.files.ones(), tree.directories.ones())).collect(),
    }
}
