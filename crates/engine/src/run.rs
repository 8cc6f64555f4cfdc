//! One run: a resolved job at an opened target, from the first request to the last completion.
//!
//! Model: the streams' threads are dealt to workers (at most one per core), each with its own backend and buffers. All are
//! made ready first and started at one instant. The calling thread collects intervals and pushes them into the [`Sink`];
//! nothing that was measured is kept here. Modelled targets run on one worker in virtual time.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex};

use crossbeam_channel::{bounded, unbounded};
use plimsoll_mailstore::Test;
use plimsoll_workload::job::BackendWord;
use plimsoll_workload::plan::ReadAhead;
use plimsoll_workload::stamp::Findings;
use plimsoll_workload::{JobOptions, Op, Recorded, StreamOptions, StreamPlan, Verify, Workload};

use crate::accounts::{journal, ledger, verifies};
use crate::backend::is_virtual;
use crate::changeover::Changeover;
use crate::clock::{self, Clock};
use crate::collection::{Seen, collect};
use crate::collector::Collector;
use crate::control::{Control, StoppedBy};
use crate::crew::{Place, Report, Setup, family, groups, work};
use crate::display::shown;
use crate::error::EngineError;
use crate::job::Job;
use crate::journal::check;
use crate::mailstore::Mailstore;
use crate::open_files;
use crate::outcome::{Journalled, Outcome};
use crate::recorder::is_recorded_by_part;
use crate::replay::log::RequestLog;
use crate::replay::{self, Replay};
use crate::ring_threads::RingThreads;
use crate::silence::Pulse;
use crate::sink::{Places, Sink};
use crate::target::{OpenMode, Opened, TargetSpec, open};
use crate::timeline::Timeline;
use crate::uring;

/// Memory of a histogram whose values spread over three decades: ten powers of two of 1,024 counts of 8 bytes.
const HISTOGRAM_BYTES: u64 = 80 << 10;
/// Slices of a worker: the one it fills, and those on their way and back.
const SLICES_PER_WORKER: usize = 3;

/// Time between everybody being ready and the start.
const START_DELAY_NS: u64 = 50_000;

/// Runs a job to its end, or until `control` stops it, and pushes its intervals into `sink`.
///
/// # Errors
/// When the job cannot be run on this target, or a backend fails as a whole. A failed I/O is counted, not an error.
pub fn run(job: &Job, sink: &mut dyn Sink, control: &Control) -> Result<Outcome, EngineError> {
    if check::is_asked(job) {
        return looked(job, sink, control);
    }
    let (backend, fallback) = choose(job)?;
    let mut recorded = recorded(&job.workload)?;
    let store_writes = job.mailstore.as_ref().is_some_and(|store| store.test != Test::Backup);
    let writes = store_writes || writes(&job.workload, &recorded);
    let plain = OpenMode { direct: job.mailstore.as_ref().is_none_or(|store| store.direct), dsync: false, writes };
    let first = job.workload.streams.first();
    let mode = OpenMode { direct: first.map_or(plain.direct, |stream| stream.direct), ..plain };
    let opened = open(&job.target, mode, &job.permission)?;
    recorded.part_ends = opened.volume.part_ends().to_vec();
    let mailstore = Mailstore::of(job, &opened, backend, &recorded.part_ends)?;
    let workload = mailstore.as_ref().map_or(&job.workload, |store| &store.plan.streams);
    let plans = workload.resolve_recorded(opened.shape(), job.options.seed, &recorded)?;
    let log = request_log(job, &plans, backend)?;
    let most = mailstore.as_ref().map_or(usize::MAX, |store| store.plan.databases.len());
    let workers = workers(&plans, &job.options, backend).min(most);
    // Every stream has its parts open, and some backends once more for each worker.
    let descriptors: usize = plans.iter().map(|plan| plan.parts(opened.parts.len()).len()).sum();
    open_files::allow((descriptors * (workers + 1)) as u64 + OTHER_FILES);
    let descriptors = self::descriptors(&plans, &opened)?;
    let ledger = ledger(&plans)?;
    fits_in_memory(&plans, opened.parts.len(), workers)?;
    let journal = journal(job, &plans, &opened, ledger.as_ref())?;
    let changeover = may_change(job, &plans, backend).then(Changeover::default);
    let setup = Setup {
        plans: &plans,
        opened: &opened,
        files: descriptors.iter().map(AsFd::as_fd).collect(),
        timeline: timeline(&job.options),
        backend,
        job,
        ledger: ledger.as_ref(),
        journal: journal.as_ref(),
        workers,
        mailstore: mailstore.as_ref(),
        control,
        changeover: changeover.as_ref(),
        ring_threads: RingThreads::before(backend),
        pulses: if is_virtual(backend) { Vec::new() } else { (0..workers).map(|_| Pulse::default()).collect() },
        groups: groups(&plans),
        generators: Mutex::new(plans.iter().map(family).collect()),
        replays: Mutex::new(replays(&plans, log.as_ref())?),
    };
    sink.resolved(&plans, &part_names(&opened));
    if let Some(store) = &mailstore {
        sink.placed(Places::of_databases(store.plan.databases.len(), &part_names(&opened)));
    }
    let driven = drive(&setup, sink)?;
    let logged = log.zip(job.options.lateness_report.as_ref()).map(|(log, path)| log.finish(path));
    let outcome = Outcome { logged, ..outcome(&setup, fallback, driven) };
    match outcome.replays.iter().find_map(|replay| Some((replay.path.clone(), replay.failure.clone()?))) {
        Some((path, reason)) => Err(EngineError::Trace { path, reason }),
        None => Ok(outcome),
    }
}

/// Refuses more streams than memory has room for: each kind of request has a histogram in every slice of the record, for
/// its stream and for each part that is recorded.
fn fits_in_memory(plans: &[StreamPlan], parts: usize, workers: usize) -> Result<(), EngineError> {
    let histograms = |plan: &StreamPlan| {
        let cells = Op::ALL.iter().filter(|&&op| plan.issues(op)).count();
        cells * if plan.arrival.is_open() { 2 } else { 1 }
    };
    let kinds = Op::ALL.iter().filter(|&&op| plans.iter().any(|plan| plan.issues(op))).count();
    let by_part = if is_recorded_by_part(parts) { parts * kinds } else { 0 };
    let histograms = plans.iter().map(histograms).sum::<usize>() + by_part;
    let needed_bytes = (histograms * (SLICES_PER_WORKER * workers + 1)) as u64 * HISTOGRAM_BYTES;
    match available_bytes() {
        Some(available_bytes) if needed_bytes > available_bytes => Err(EngineError::Memory {
            streams: plans.len(),
            needed_mib: needed_bytes >> 20,
            available_mib: available_bytes >> 20,
        }),
        _ => Ok(()),
    }
}

/// Memory that can be had without swapping; format: proc(5), `/proc/meminfo`.
fn available_bytes() -> Option<u64> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// The headers of the traces that are replayed.
fn recorded(workload: &Workload) -> Result<Recorded, EngineError> {
    let header = |stream: &StreamOptions| match &stream.trace {
        None => Ok(None),
        Some(path) => {
            replay::read_header(path).map(|header| Some(Arc::new(header))).map_err(|error| unreadable(path, &error))
        }
    };
    let headers = workload.streams.iter().map(header).collect::<Result<_, _>>()?;
    Ok(Recorded { headers, part_ends: Vec::new() })
}

fn unreadable(path: &str, error: &std::io::Error) -> EngineError {
    EngineError::Trace { path: path.to_owned(), reason: error.to_string() }
}

/// The replays of the streams that have a trace.
fn replays(plans: &[StreamPlan], log: Option<&RequestLog>) -> Result<Vec<Option<Box<Replay>>>, EngineError> {
    let replay = |(stream, plan): (usize, &StreamPlan)| {
        let Some(trace) = &plan.trace else { return Ok(None) };
        let line = log.map(|log| log.line(stream as u32));
        Replay::new(plan, trace, line)
            .map(|replay| Some(Box::new(replay)))
            .map_err(|error| unreadable(&trace.path, &error))
    };
    plans.iter().enumerate().map(replay).collect()
}

/// The request log, if one is asked for.
fn request_log(job: &Job, plans: &[StreamPlan], backend: BackendWord) -> Result<Option<RequestLog>, EngineError> {
    let Some(path) = &job.options.lateness_report else { return Ok(None) };
    if plans.iter().all(|plan| plan.trace.is_none()) {
        return Err(EngineError::Mismatch(
            "lateness_report is about the requests of a trace, and no stream has one; drop it, or give a stream a trace".to_owned(),
        ));
    }
    let names = plans.iter().map(|plan| plan.name.clone()).collect();
    let log = RequestLog::begin(path, names, backend == BackendWord::Queue);
    log.map(Some).map_err(|error| {
        EngineError::Mismatch(format!(
            "lateness_report {path} cannot be written ({error}); name a new file in a directory that exists and has room"
        ))
    })
}

/// The parts' names, for targets of several.
fn part_names(opened: &Opened) -> Vec<String> {
    let named = opened.parts.iter().enumerate().map(|(number, part)| format!("{number}:{}", shown(&part.path)));
    if opened.parts.len() > 1 { named.collect() } else { Vec::new() }
}

/// The times of a job.
pub fn timeline(options: &JobOptions) -> Timeline {
    Timeline { warmup_ns: options.warmup.0, duration_ns: options.duration.0, interval_ns: options.interval_ns() }
}

fn writes(workload: &Workload, recorded: &Recorded) -> bool {
    let shape = plimsoll_workload::TargetShape { size_bytes: 1 << 60, block_bytes: 1 };
    workload
        .anywhere()
        .resolve_recorded(shape, 0, recorded)
        .is_ok_and(|plans| plans.iter().any(|plan| plan.issues(Op::Write) || plan.issues(Op::Trim)))
}

/// The backend for a target, and why it is not the one asked for.
fn choose(job: &Job) -> Result<(BackendWord, Option<String>), EngineError> {
    use BackendWord as B;
    let asked = job.options.backend;
    let mismatch = |needs: &str| {
        let target = &job.target;
        Err(EngineError::Mismatch(format!("backend '{}' does not go with target {target}: {needs}", asked.name())))
    };
    match (&job.target, asked) {
        (TargetSpec::Null { .. }, B::Auto | B::Null) => Ok((B::Null, None)),
        (TargetSpec::Null { .. }, B::Nop) => Ok((B::Nop, None)),
        (TargetSpec::Null { .. }, _) => mismatch("null: runs with backend null or nop; leave it at auto"),
        (TargetSpec::Queue(_), B::Auto | B::Queue) => Ok((B::Queue, None)),
        (TargetSpec::Queue(_), _) => mismatch("a modelled server runs with backend queue; leave it at auto"),
        (TargetSpec::Array(_), B::Auto | B::Array) if verifies_or_stamps(&job.workload) => Err(EngineError::Mismatch(
            "a modelled array keeps no data, so nothing can be stamped or verified on it; leave verify and content = \"stamps\" out"
                .to_owned(),
        )),
        (TargetSpec::Array(_), B::Auto | B::Array) => Ok((B::Array, None)),
        (TargetSpec::Array(_), _) => mismatch("a modelled array runs with backend array; leave it at auto"),
        (_, B::Null | B::Nop | B::Queue | B::Array) => {
            mismatch("files and devices run with uring, sync or mmap; leave it at auto")
        }
        (_, B::Auto | B::Uring) => Ok(match uring::probe() {
            Ok(_) => (B::Uring, None),
            Err(error) => (
                B::Sync,
                Some(format!("io_uring is not available here ({error}); reads and writes go through threads")),
            ),
        }),
        (_, other) => Ok((other, None)),
    }
}

/// Whether workers may go over to system calls in the warm-up: nobody asked for the ring, and what its threads carry out is not what
/// the kernel never does without them.
fn may_change(job: &Job, plans: &[StreamPlan], backend: BackendWord) -> bool {
    let JobOptions { backend: asked, polled, warmup, .. } = &job.options;
    let plain = |plan: &StreamPlan| !plan.issues(Op::Flush) && !plan.issues(Op::Trim);
    *asked == BackendWord::Auto && backend == BackendWord::Uring && !polled && warmup.0 > 0 && plans.iter().all(plain)
}

/// Open files beside those of the target: rings, the store, timers.
const OTHER_FILES: u64 = 1024;

/// Descriptors of the parts that each stream uses, stream by stream.
fn descriptors(plans: &[StreamPlan], opened: &Opened) -> Result<Vec<OwnedFd>, EngineError> {
    let mut descriptors = Vec::new();
    for plan in plans {
        let writes = plan.issues(Op::Write) || plan.issues(Op::Trim);
        let mode = OpenMode { direct: plan.direct, dsync: plan.dsync, writes };
        let files = opened.reopen(mode, &plan.parts(opened.parts.len()))?;
        files.iter().for_each(|file| advise(file, plan.read_ahead));
        descriptors.extend(files);
    }
    Ok(descriptors)
}

/// Tells the page cache how far to read ahead in an open file; a file system that takes no advice goes on as usual.
fn advise(file: &OwnedFd, read_ahead: ReadAhead) {
    let advice = match read_ahead {
        ReadAhead::Usual => return,
        ReadAhead::Off => libc::POSIX_FADV_RANDOM,
        ReadAhead::Far => libc::POSIX_FADV_SEQUENTIAL,
    };
    // SAFETY: plain numbers on an open descriptor.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice) };
}

/// A run that looks for what a journal names.
fn looked(job: &Job, sink: &mut dyn Sink, control: &Control) -> Result<Outcome, EngineError> {
    let start_ns = (clock::monotonic_ns(), clock::wall_ns());
    sink.started(start_ns.0, start_ns.1);
    let (opened, checked) = check::check(job, sink, control)?;
    let clock = Clock::calibrated();
    Ok(Outcome {
        backend: BackendWord::Sync,
        fallback: None,
        plans: Vec::new(),
        parts: part_names(&opened),
        workers: 1,
        facts: Vec::new(),
        components: Vec::new(),
        clock: (clock.source(), clock.drift_ppm()),
        is_virtual: false,
        start_ns,
        began_ns: 0,
        window_ns: 0..0,
        end_ns: clock::monotonic_ns().saturating_sub(start_ns.0),
        first_done_ns: None,
        spent_ns: Vec::new(),
        stopped_by: if checked.complete { StoppedBy::Amount } else { control.reason() },
        first_error: None,
        cpu_ns: (0, 0),
        unissued: 0,
        findings: None,
        ring_workers: 0,
        silence: None,
        replays: Vec::new(),
        journal: Some(Journalled::Checked(checked)),
        logged: None,
        databases: Vec::new(),
    })
}

/// Whether data would have to be kept.
fn verifies_or_stamps(workload: &Workload) -> bool {
    use plimsoll_workload::plan::ContentKind;
    let shape = plimsoll_workload::TargetShape { size_bytes: 1 << 60, block_bytes: 1 };
    let needs = |plan: &StreamPlan| plan.verify != Verify::Off || plan.content.kind == ContentKind::Stamps;
    workload.anywhere().resolve(shape, 0).is_ok_and(|plans| plans.iter().any(needs))
}

fn workers(plans: &[StreamPlan], options: &JobOptions, backend: BackendWord) -> usize {
    if is_virtual(backend) {
        return 1;
    }
    let threads: usize = plans.iter().map(|plan| plan.threads as usize).sum();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = if options.workers == 0 { cores } else { options.workers as usize };
    asked.min(threads).max(1)
}

/// What comes of driving the workers: the start on `CLOCK_MONOTONIC` and on the wall clock, what each worker leaves
/// behind, and what was seen meanwhile.
type Driven = ((u64, u64), Vec<Report>, Seen);

/// Makes the workers, starts them, collects until all have finished.
fn drive(setup: &Setup<'_>, sink: &mut dyn Sink) -> Result<Driven, EngineError> {
    let is_virtual = is_virtual(setup.backend);
    let (full, messages) = if is_virtual { bounded(4) } else { unbounded() };
    let (empty, empties) = bounded(setup.workers * 2);
    let (ready, readiness) = unbounded();
    let (running, all_ran) = bounded(0);
    std::thread::scope(|scope| {
        let mut starts = Vec::new();
        let mut threads = Vec::new();
        for number in 0..setup.workers {
            let (start, begin) = bounded(1);
            starts.push(start);
            let place = Place {
                number,
                full: full.clone(),
                empty: empties.clone(),
                ready: ready.clone(),
                begin,
                running: running.clone(),
                all_ran: all_ran.clone(),
            };
            threads.push(scope.spawn(move || work(setup, place)));
        }
        drop((ready, full, running));
        for _ in 0..setup.workers {
            match readiness.recv() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(EngineError::WorkerLost),
            }
        }
        let begins_ns = if is_virtual { Some(0) } else { beginning(setup.control, START_DELAY_NS, sink) };
        let (start_ns, wall_ns) = (begins_ns.unwrap_or_else(clock::monotonic_ns), clock::wall_ns());
        if begins_ns.is_some() {
            for start in &starts {
                let _ = start.send(start_ns);
            }
            sink.started(start_ns, wall_ns);
        }
        // Without a start the workers leave at once.
        drop(starts);
        let collector = Collector::new(setup.timeline, setup.workers, empty);
        let seen = collect(setup, collector, &messages, start_ns, sink);
        let reports: Result<Vec<Report>, EngineError> =
            threads.into_iter().map(|thread| thread.join().unwrap_or(Err(EngineError::WorkerLost))).collect();
        Ok(((start_ns, wall_ns), reports?, seen))
    })
}

/// The instant at which a run that is ready begins: the one it is held for, or as soon as its workers can, `delay_ns` from now.
/// None when it was held and stopped before it knew its instant.
pub(crate) fn beginning(control: &Control, delay_ns: u64, sink: &mut dyn Sink) -> Option<u64> {
    let held = control.appointment.is_kept();
    if held {
        sink.ready();
    }
    let appointed = control.appointment.wait(|| {
        sink.poll();
        !control.is_stopped()
    });
    let soonest_ns = Clock::calibrated().now() + delay_ns;
    match appointed {
        Some(at_ns) => Some(at_ns.max(soonest_ns)),
        None if held => None,
        None => Some(soonest_ns),
    }
}

fn outcome(setup: &Setup<'_>, fallback: Option<String>, (start_ns, reports, seen): Driven) -> Outcome {
    let mut findings = Findings::default();
    reports.iter().for_each(|report| findings.merge(&report.findings));
    let clock = Clock::calibrated();
    let facts = reports.first().map(|report| report.facts.clone()).unwrap_or_default();
    let changeover = seen.changeover.map(|told| ("changeover", told));
    Outcome {
        backend: if seen.by_calls { BackendWord::Sync } else { setup.backend },
        fallback,
        plans: setup.plans.to_vec(),
        parts: part_names(setup.opened),
        workers: setup.workers,
        facts: facts.into_iter().chain(changeover).collect(),
        components: reports.iter().flat_map(|report| report.components.iter().cloned()).collect(),
        clock: (clock.source(), clock.drift_ppm()),
        is_virtual: is_virtual(setup.backend),
        start_ns,
        window_ns: setup.timeline.warmup_ns..setup.timeline.end_ns(),
        began_ns: reports.iter().map(|report| report.began_ns).max().unwrap_or(0),
        end_ns: reports.iter().map(|report| report.end_ns).max().unwrap_or(0),
        first_done_ns: reports.iter().filter_map(|report| report.first_done_ns).min(),
        spent_ns: reports.iter().map(|report| report.spent_ns).collect::<Option<_>>().unwrap_or_default(),
        stopped_by: setup.control.reason(),
        first_error: reports.iter().find_map(|report| report.first_error),
        cpu_ns: reports.iter().fold((0, 0), |sum, report| (sum.0 + report.cpu_ns.0, sum.1 + report.cpu_ns.1)),
        unissued: reports.iter().map(|report| report.unissued).sum(),
        findings: verifies(setup.plans).then_some(findings),
        ring_workers: seen.ring_workers,
        silence: seen.silence,
        databases: databases(&reports),
        replays: reports.into_iter().flat_map(|report| report.replays).collect(),
        journal: setup.journal.map(|journal| Journalled::Kept(journal.kept())),
        logged: None,
    }
}

/// What the databases of a mail store did, in their order.
fn databases(reports: &[Report]) -> Vec<serde_json::Value> {
    let most = reports.iter().map(|report| report.directed.len()).max().unwrap_or(0);
    let in_turn = (0..most).flat_map(|place| reports.iter().filter_map(move |report| report.directed.get(place)));
    in_turn.cloned().collect()
}
