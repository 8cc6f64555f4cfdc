//! One run: a resolved job at an opened target, from the first request to the last completion.
//!
//! Model: the streams' threads are dealt to workers (at most one per core), each with its own backend and buffers. All are
//! made ready first and started at one instant. The calling thread collects intervals and pushes them into the [`Sink`];
//! nothing that was measured is kept here. Modelled targets run on one worker in virtual time.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use plimsoll_workload::job::{BackendWord, OnError};
use plimsoll_workload::stamp::Findings;
use plimsoll_workload::{Content, Generator, JobOptions, Op, StreamPlan, Verify, Workload};

use crate::backend::Backend;
use crate::buffers::{Arena, Need};
use crate::clock::{self, Clock};
use crate::collector::{Collector, Interval, Line, Message};
use crate::control::{Control, StoppedBy};
use crate::error::EngineError;
use crate::lane::{Lane, LaneSeat};
use crate::ledger::{GRANULES_MAX, Ledger};
use crate::mmap::Mmap;
use crate::null::Null;
use crate::pause;
use crate::queue::Queue;
use crate::recorder::{Recorder, Slice};
use crate::safety::Permission;
use crate::sync::SyncIo;
use crate::target::{OpenMode, Opened, TargetSpec, open};
use crate::timeline::Timeline;
use crate::uring::{self, RingOptions, Uring};
use crate::worker::{Shared, Slot, Window, Worker};

/// How often the sink is polled, so that signals are noticed.
const POLL: Duration = Duration::from_millis(50);
/// Time between everybody being ready and the start.
const START_DELAY_NS: u64 = 50_000;

/// Where a run's intervals go. Called from the thread that runs [`run`].
pub trait Sink {
    /// The job is resolved: its streams, and the parts' names of a target of several.
    fn resolved(&mut self, _plans: &[StreamPlan], _parts: &[String]) {}
    /// The workers start at this instant of `CLOCK_MONOTONIC` and of the wall clock, in nanoseconds.
    fn started(&mut self, _monotonic_ns: u64, _wall_ns: u64) {}
    /// Interval `index` begins now; not called in virtual time.
    fn tick(&mut self, _index: u64) {}
    /// An interval is complete.
    fn interval(&mut self, interval: &Interval);
    /// Called every 50 ms at least.
    fn poll(&mut self) {}
}

/// A job and its target.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is issued.
    pub workload: Workload,
    /// How it is run.
    pub options: JobOptions,
    /// Where.
    pub target: TargetSpec,
    /// What the user allows.
    pub permission: Permission,
}

/// What is known of a run when it is over, beside its intervals.
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
    /// The clock's source and its drift over the process's life, in parts per million.
    pub clock: (clock::Source, f64),
    /// Whether time was virtual.
    pub is_virtual: bool,
    /// The start, on `CLOCK_MONOTONIC` (0 in virtual time), and on the wall clock.
    pub start_ns: (u64, u64),
    /// The measured time, from the start.
    pub window_ns: Range<u64>,
    /// The end of the drain, from the start.
    pub end_ns: u64,
    /// The first completion, from the start.
    pub first_done_ns: Option<u64>,
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
}

/// Everything that is fixed before the workers are made.
struct Setup<'a> {
    plans: &'a [StreamPlan],
    opened: &'a Opened,
    /// Descriptors by stream × part.
    files: Vec<BorrowedFd<'a>>,
    timeline: Timeline,
    backend: BackendWord,
    job: &'a Job,
    ledger: Option<&'a Ledger>,
    workers: usize,
    control: &'a Control,
    /// The generators of each stream's threads, until a worker takes them.
    generators: Mutex<Vec<Vec<Option<Generator>>>>,
}

/// What one worker leaves behind.
#[derive(Default)]
struct Report {
    facts: Vec<(&'static str, String)>,
    end_ns: u64,
    first_done_ns: Option<u64>,
    first_error: Option<(Op, u64, i32)>,
    cpu_ns: (u64, u64),
    unissued: u64,
    findings: Findings,
}

/// Runs a job to its end, or until `control` stops it, and pushes its intervals into `sink`.
///
/// # Errors
/// When the job cannot be run on this target, or a backend fails as a whole. A failed I/O is counted, not an error.
pub fn run(job: &Job, sink: &mut dyn Sink, control: &Control) -> Result<Outcome, EngineError> {
    let (backend, fallback) = choose(job)?;
    let plain = OpenMode { direct: true, dsync: false, writes: writes(&job.workload) };
    let first = job.workload.streams.first();
    let mode = OpenMode { direct: first.is_none_or(|stream| stream.direct), ..plain };
    let opened = open(&job.target, mode, &job.permission)?;
    let seed = job.options.seed;
    let plans = job.workload.resolve(opened.shape(), seed)?;
    let descriptors = descriptors(&plans, &opened)?;
    let ledger = ledger(&plans)?;
    let setup = Setup {
        plans: &plans,
        opened: &opened,
        files: descriptors.iter().map(AsFd::as_fd).collect(),
        timeline: timeline(&job.options),
        backend,
        job,
        ledger: ledger.as_ref(),
        workers: workers(&plans, &job.options, backend),
        control,
        generators: Mutex::new(plans.iter().map(family).collect()),
    };
    sink.resolved(&plans, &part_names(&opened));
    let (start_ns, reports, ring_workers) = drive(&setup, sink)?;
    Ok(outcome(&setup, fallback, start_ns, reports, ring_workers))
}

/// The parts' names, for targets of several.
fn part_names(opened: &Opened) -> Vec<String> {
    let named = opened.parts.iter().enumerate().map(|(number, part)| format!("{number}:{}", part.path.display()));
    if opened.parts.len() > 1 { named.collect() } else { Vec::new() }
}

/// The times of a job.
pub fn timeline(options: &JobOptions) -> Timeline {
    Timeline { warmup_ns: options.warmup.0, duration_ns: options.duration.0, interval_ns: options.interval_ns() }
}

fn writes(workload: &Workload) -> bool {
    let shape = plimsoll_workload::TargetShape { size_bytes: 1 << 60, block_bytes: 1 };
    workload
        .resolve(shape, 0)
        .is_ok_and(|plans| plans.iter().any(|plan| plan.issues(Op::Write) || plan.issues(Op::Trim)))
}

/// The backend for a target, and why it is not the one asked for.
fn choose(job: &Job) -> Result<(BackendWord, Option<String>), EngineError> {
    use BackendWord as B;
    let asked = job.options.backend;
    let mismatch = |needs: &str| {
        let target = &job.target;
        Err(EngineError::Mismatch(format!("backend '{}' does not go with target {target}: {needs}", word(asked))))
    };
    match (&job.target, asked) {
        (TargetSpec::Null { .. }, B::Auto | B::Null) => Ok((B::Null, None)),
        (TargetSpec::Null { .. }, B::Nop) => Ok((B::Nop, None)),
        (TargetSpec::Null { .. }, _) => mismatch("null: runs with backend null or nop; leave it at auto"),
        (TargetSpec::Queue(_), B::Auto | B::Queue) => Ok((B::Queue, None)),
        (TargetSpec::Queue(_), _) => mismatch("a modelled server runs with backend queue; leave it at auto"),
        (_, B::Null | B::Nop | B::Queue) => {
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

/// The word of a backend.
pub const fn word(backend: BackendWord) -> &'static str {
    match backend {
        BackendWord::Auto => "auto",
        BackendWord::Uring => "uring",
        BackendWord::Sync => "sync",
        BackendWord::Mmap => "mmap",
        BackendWord::Null => "null",
        BackendWord::Nop => "nop",
        BackendWord::Queue => "queue",
    }
}

/// Descriptors of every stream, stream by stream.
fn descriptors(plans: &[StreamPlan], opened: &Opened) -> Result<Vec<OwnedFd>, EngineError> {
    let mut descriptors = Vec::new();
    for plan in plans {
        let writes = plan.issues(Op::Write) || plan.issues(Op::Trim);
        let mode = OpenMode { direct: plan.direct, dsync: plan.dsync, writes };
        descriptors.extend(opened.reopen(mode)?);
    }
    Ok(descriptors)
}

/// The account of what is written, when a stream verifies or stamps.
fn ledger(plans: &[StreamPlan]) -> Result<Option<Ledger>, EngineError> {
    use plimsoll_workload::plan::ContentKind;
    let stamps = |plan: &StreamPlan| plan.content.kind == ContentKind::Stamps && plan.issues(Op::Write);
    let stamping = |plan: &&StreamPlan| plan.verify != Verify::Off || stamps(plan);
    let Some(first) = plans.iter().find(stamping) else { return Ok(None) };
    let granule = plans.iter().filter(stamping).fold(first.granule, |granule, plan| gcd(granule, plan.granule));
    let start = plans.iter().filter(stamping).map(|plan| plan.region.start).min().unwrap_or(0);
    let end = plans.iter().filter(stamping).map(|plan| plan.region.end).max().unwrap_or(0);
    let disturbs = |plan: &&StreamPlan| plan.content.kind != ContentKind::Stamps && plan.issues(Op::Write);
    let overlaps = |plan: &&StreamPlan| plan.region.start < end && start < plan.region.end;
    if let Some(other) = plans.iter().filter(disturbs).find(overlaps).filter(|_| verifies(plans)) {
        return Err(EngineError::Mismatch(format!(
            "stream \"{}\" writes without stamps where another stream verifies; give it content = \"stamps\" or a region of its own",
            other.name
        )));
    }
    let granules = (end - start) / u64::from(granule);
    if granules > GRANULES_MAX {
        return Err(EngineError::Mismatch(format!(
            "stamping or verifying {granules} blocks of {granule} bytes needs too much memory (at most {GRANULES_MAX}); set region_length to {} bytes or less",
            GRANULES_MAX * u64::from(granule)
        )));
    }
    Ok(Some(Ledger::new(clock::wall_ns(), granule, start..end)))
}

fn verifies(plans: &[StreamPlan]) -> bool {
    plans.iter().any(|plan| plan.verify != Verify::Off)
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn workers(plans: &[StreamPlan], options: &JobOptions, backend: BackendWord) -> usize {
    if backend == BackendWord::Queue {
        return 1;
    }
    let threads: usize = plans.iter().map(|plan| plan.threads as usize).sum();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = if options.workers == 0 { cores } else { options.workers as usize };
    asked.min(threads).max(1)
}

/// What comes of driving the workers: the start on `CLOCK_MONOTONIC` and on the wall clock, what each worker leaves
/// behind, and the most kernel threads of the rings seen at once.
type Driven = ((u64, u64), Vec<Report>, usize);

/// Makes the workers, starts them, collects until all have finished.
fn drive(setup: &Setup<'_>, sink: &mut dyn Sink) -> Result<Driven, EngineError> {
    let is_virtual = setup.backend == BackendWord::Queue;
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
        let start_ns = if is_virtual { 0 } else { Clock::calibrated().now() + START_DELAY_NS };
        let wall_ns = clock::wall_ns();
        for start in &starts {
            let _ = start.send(start_ns);
        }
        sink.started(start_ns, wall_ns);
        let collector = Collector::new(setup.timeline, setup.workers, empty);
        let ring_workers = collect(setup, collector, &messages, start_ns, sink);
        let reports: Result<Vec<Report>, EngineError> =
            threads.into_iter().map(|thread| thread.join().unwrap_or(Err(EngineError::WorkerLost))).collect();
        Ok(((start_ns, wall_ns), reports?, ring_workers))
    })
}

/// Pushes intervals into the sink until all workers have finished; the most ring worker threads seen.
fn collect(
    setup: &Setup<'_>,
    mut collector: Collector,
    messages: &Receiver<Message>,
    start_ns: u64,
    sink: &mut dyn Sink,
) -> usize {
    let real = setup.backend != BackendWord::Queue;
    let mut next_tick = 0;
    let mut ring_workers = 0;
    loop {
        let now_ns = clock::monotonic_ns();
        while real && next_tick <= setup.timeline.intervals() && now_ns >= start_ns + setup.timeline.start_of(next_tick)
        {
            sink.tick(next_tick);
            ring_workers = ring_workers.max(count_ring_workers(setup.backend));
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
            Err(RecvTimeoutError::Disconnected) => return ring_workers,
        }
        while let Some(interval) = collector.next() {
            sink.interval(&interval);
            collector.recycle(interval.slice);
        }
        sink.poll();
        if collector.is_over() {
            return ring_workers;
        }
    }
}

/// Kernel threads that carry out this process's ring requests because a device could not without blocking.
fn count_ring_workers(backend: BackendWord) -> usize {
    if backend != BackendWord::Uring {
        return 0;
    }
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let names = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("iou-wrk")).count()
}

/// What a worker thread needs to take part.
struct Place {
    number: usize,
    full: Sender<Message>,
    empty: Receiver<Slice>,
    ready: Sender<Result<(), EngineError>>,
    begin: Receiver<u64>,
    /// Dropped when it has run; a worker that panics drops it, too, so nobody waits for ever.
    running: Sender<()>,
    /// Disconnected when all have run.
    all_ran: Receiver<()>,
}

/// A worker thread from its making to its report.
fn work(setup: &Setup<'_>, place: Place) -> Result<Report, EngineError> {
    pause::finest_timers();
    let seats = seats(setup, place.number);
    let arena = match prepare_arena(setup, &seats) {
        Ok(arena) => arena,
        Err(source) => {
            let advice = "lower queue_depth, threads or block_size";
            let _ = place.ready.send(Err(refused(setup, "getting memory for requests", source, advice)));
            return Ok(Report::default());
        }
    };
    let depth = seats.iter().map(|seat| setup.plans[seat.stream].queue_depth as usize).sum();
    let pieces = depth * pieces_max(setup);
    match setup.backend {
        BackendWord::Null => proceed(setup, place, seats, &arena, Ok(Null::new(depth))),
        BackendWord::Queue => {
            let TargetSpec::Queue(spec) = &setup.job.target else { return Err(EngineError::WorkerLost) };
            proceed(setup, place, seats, &arena, Ok(Queue::new(spec, setup.job.options.seed, setup.ledger.is_some())))
        }
        BackendWord::Sync => proceed(setup, place, seats, &arena, SyncIo::new(&setup.files, pieces)),
        BackendWord::Mmap => proceed(setup, place, seats, &arena, Mmap::new(&setup.files)),
        BackendWord::Nop => {
            let options = RingOptions { depth: pieces, polled: false, nop: true };
            proceed(setup, place, seats, &arena, Uring::<true>::new(&[], &arena, depth, options))
        }
        BackendWord::Uring | BackendWord::Auto => {
            let options = RingOptions { depth: pieces, polled: setup.job.options.polled, nop: false };
            proceed(setup, place, seats, &arena, Uring::<false>::new(&setup.files, &arena, depth, options))
        }
    }
}

fn refused(setup: &Setup<'_>, doing: &'static str, source: std::io::Error, advice: &'static str) -> EngineError {
    EngineError::Backend { backend: word(setup.backend), doing, source, advice }
}

/// Pieces that one request can fall into.
fn pieces_max(setup: &Setup<'_>) -> usize {
    let longest = setup.plans.iter().map(|plan| plan.max_len).max().unwrap_or(0) as usize;
    match &setup.opened.volume {
        crate::volume::Volume::Single { .. } => 1,
        crate::volume::Volume::Concat { ends } => ends.len(),
        crate::volume::Volume::Stripe { unit_bytes, parts, .. } => {
            (longest / *unit_bytes as usize + 2).max(*parts as usize)
        }
    }
}

/// The threads of the streams that fall to worker `number`: every n-th, over all streams.
fn seats(setup: &Setup<'_>, number: usize) -> Vec<LaneSeat> {
    use plimsoll_workload::plan::ContentKind;
    let parts = setup.opened.parts.len() as u32;
    let all = setup.plans.iter().enumerate().flat_map(|(stream, plan)| {
        let stamps = setup.ledger.is_some() && plan.content.kind == ContentKind::Stamps;
        (0..plan.threads).map(move |shard| LaneSeat { stream, shard, files: stream as u32 * parts, stamps })
    });
    all.enumerate().filter(|(place, _)| place % setup.workers == number).map(|(_, seat)| seat).collect()
}

/// Memory for a worker's requests: of each seat the read buffers, then the write buffers, prepared with content.
fn prepare_arena(setup: &Setup<'_>, seats: &[LaneSeat]) -> std::io::Result<Arena> {
    let modelled = matches!(setup.backend, BackendWord::Null | BackendWord::Nop);
    let need = |seat: &LaneSeat, op: Op| {
        let plan = &setup.plans[seat.stream];
        let looked_at = op == Op::Write || plan.verify != Verify::Off;
        let occurs = plan.issues(op) || (op == Op::Read && plan.verify == Verify::All);
        let len = if occurs { plan.max_len as usize } else { 0 };
        Need { slots: plan.queue_depth as usize, len, own: looked_at && !(modelled && op == Op::Read) }
    };
    let mut needs = pool_reads(setup, seats, need);
    needs.extend(seats.iter().map(|seat| need(seat, Op::Write)));
    let mut arena = Arena::new(&needs)?;
    let mut slot = needs[..needs.len() - seats.len()].iter().map(|need| need.slots).sum();
    for seat in seats {
        let plan = &setup.plans[seat.stream];
        let content = Content::new(plan);
        for number in 0..plan.queue_depth {
            if plan.issues(Op::Write) {
                content.prepare(arena.bytes_mut(slot), (u64::from(seat.shard) << 32) | u64::from(number));
            }
            slot += 1;
        }
    }
    Ok(arena)
}

/// Read needs of neighbouring seats of one stream put together, so that they share buffers as one.
fn pool_reads(setup: &Setup<'_>, seats: &[LaneSeat], need: impl Fn(&LaneSeat, Op) -> Need) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for (place, seat) in seats.iter().enumerate() {
        let more = need(seat, Op::Read);
        match needs.last_mut().filter(|_| seats[place.saturating_sub(1)].stream == seat.stream && place > 0) {
            Some(pool) => pool.slots += more.slots,
            None => needs.push(more),
        }
    }
    debug_assert!(needs.len() <= setup.plans.len());
    needs
}

/// Announces readiness, waits for the start, runs, reads back, reports.
fn proceed<B: Backend>(
    setup: &Setup<'_>,
    place: Place,
    seats: Vec<LaneSeat>,
    arena: &Arena,
    backend: std::io::Result<B>,
) -> Result<Report, EngineError> {
    let backend = match backend {
        Ok(backend) => backend,
        Err(source) => {
            let advice = "try --set backend=sync, or a lower queue_depth";
            let _ = place.ready.send(Err(refused(setup, "setting up", source, advice)));
            return Ok(Report::default());
        }
    };
    let (lanes, slots) = furnish(setup, &seats, arena);
    let blank_plans = setup.plans.to_vec();
    let parts = setup.opened.volume.parts();
    let blank = move || Slice::new(&blank_plans, parts);
    let first = blank();
    let _ = place.ready.send(Ok(()));
    // Nobody says when to begin if another worker could not be made.
    let Ok(origin_ns) = place.begin.recv() else { return Ok(Report::default()) };
    let line = Line { full: place.full.clone(), empty: place.empty, blank: Box::new(blank) };
    let recorder = Recorder::new(first, line, setup.timeline, origin_ns);
    let window = Window { origin_ns, end_ns: origin_ns + setup.timeline.end_ns() };
    let shared = Shared {
        volume: &setup.opened.volume,
        ledger: setup.ledger,
        control: setup.control,
        continues: setup.job.options.on_error == OnError::Continue,
    };
    let mut worker = Worker::new(backend, shared, (lanes, slots), (recorder, window), arena);
    while worker.backend.now() < origin_ns {
        std::hint::spin_loop();
    }
    let before = thread_cpu_ns();
    let mut ran = worker.run();
    let end_ns = worker.backend.now() - origin_ns;
    let after = thread_cpu_ns();
    if ran.is_err() {
        setup.control.stop(StoppedBy::Error);
    }
    drop(place.running);
    let _ = place.all_ran.recv();
    let share = share_of_reading_back(setup, place.number).filter(|_| setup.control.reason() != StoppedBy::Signal);
    if let (Ok(()), Some((share, shares))) = (&ran, share) {
        ran = worker.read_back(share, shares);
    }
    let report = Report {
        facts: worker.backend.facts(),
        end_ns,
        first_done_ns: worker.first_done_ns.map(|done_ns| done_ns - origin_ns),
        first_error: worker.first_error,
        cpu_ns: (after.0 - before.0, after.1 - before.1),
        unissued: worker.unissued,
        findings: std::mem::take(&mut worker.findings),
    };
    drop(worker.into_outlet(origin_ns + end_ns));
    let _ = place.full.send(Message::Finished);
    ran.map_err(|source| refused(setup, "submitting requests", source, "try --set backend=sync")).map(|()| report)
}

/// The place of worker `number` among those that can read back, and how many there are.
fn share_of_reading_back(setup: &Setup<'_>, number: usize) -> Option<(usize, usize)> {
    let reads_back =
        |&number: &usize| seats(setup, number).iter().any(|seat| setup.plans[seat.stream].verify == Verify::All);
    let readers: Vec<usize> = (0..setup.workers).filter(reads_back).collect();
    let share = readers.iter().position(|&reader| reader == number)?;
    Some((share, readers.len()))
}

/// The lanes and slots of a worker.
fn furnish(setup: &Setup<'_>, seats: &[LaneSeat], arena: &Arena) -> (Vec<Lane>, Vec<Slot>) {
    let mut generators = setup.generators.lock().unwrap_or_else(PoisonError::into_inner);
    let depth: usize = seats.iter().map(|seat| setup.plans[seat.stream].queue_depth as usize).sum();
    let (mut lanes, mut slots) = (Vec::new(), Vec::with_capacity(depth));
    for (number, seat) in seats.iter().enumerate() {
        let plan = &setup.plans[seat.stream];
        let Some(generator) = generators[seat.stream][seat.shard as usize].take() else { continue };
        lanes.push(Lane::new(plan, generator, seat));
        for _ in 0..plan.queue_depth {
            let slot = slots.len();
            slots.push(Slot::new(number as u32, arena.buffer(slot), arena.buffer(depth + slot)));
        }
    }
    (lanes, slots)
}

fn family(plan: &StreamPlan) -> Vec<Option<Generator>> {
    Generator::family(plan).into_iter().map(Some).collect()
}

/// User and system time of this thread, in nanoseconds.
fn thread_cpu_ns() -> (u64, u64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the struct; zeroes are a valid one if it fails.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}

fn outcome(
    setup: &Setup<'_>,
    fallback: Option<String>,
    start_ns: (u64, u64),
    reports: Vec<Report>,
    ring_workers: usize,
) -> Outcome {
    let mut findings = Findings::default();
    reports.iter().for_each(|report| findings.merge(&report.findings));
    let clock = Clock::calibrated();
    Outcome {
        backend: setup.backend,
        fallback,
        plans: setup.plans.to_vec(),
        parts: part_names(setup.opened),
        workers: setup.workers,
        facts: reports.first().map(|report| report.facts.clone()).unwrap_or_default(),
        clock: (clock.source(), clock.drift_ppm()),
        is_virtual: setup.backend == BackendWord::Queue,
        start_ns,
        window_ns: setup.timeline.warmup_ns..setup.timeline.end_ns(),
        end_ns: reports.iter().map(|report| report.end_ns).max().unwrap_or(0),
        first_done_ns: reports.iter().filter_map(|report| report.first_done_ns).min(),
        stopped_by: setup.control.reason(),
        first_error: reports.iter().find_map(|report| report.first_error),
        cpu_ns: reports.iter().fold((0, 0), |sum, report| (sum.0 + report.cpu_ns.0, sum.1 + report.cpu_ns.1)),
        unissued: reports.iter().map(|report| report.unissued).sum(),
        findings: verifies(setup.plans).then_some(findings),
        ring_workers,
    }
}
