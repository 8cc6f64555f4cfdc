//! The crew of a run: each worker thread from its making to its report.
//!
//! Model: the streams' threads are dealt to workers, every n-th to the same one. A worker makes its own backend and buffers,
//! says that it is ready, waits for the common start, runs its lanes, and reads back its share of what was written.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender};
use plimsoll_array::ComponentUse;
use plimsoll_mailstore::Role;
use plimsoll_workload::job::{BackendWord, OnError};
use plimsoll_workload::plan::ReadAhead;
use plimsoll_workload::stamp::Findings;
use plimsoll_workload::{Content, Generator, Op, StreamPlan, Verify};

use crate::appointment;
use crate::array::ModelledArray;
use crate::backend::Backend;
use crate::buffers::{Arena, Need};
use crate::changeover::Changeover;
use crate::clock::Clock;
use crate::collector::{Line, Message};
use crate::control::{Control, StoppedBy};
use crate::either::Either;
use crate::error::EngineError;
use crate::gate::ShareGroup;
use crate::job::Job;
use crate::journal::Journal;
use crate::journal::backend::Journaled;
use crate::lane::{Lane, LaneSeat};
use crate::ledger::Ledger;
use crate::mailstore::Mailstore;
use crate::mmap::Mmap;
use crate::null::Null;
use crate::pause;
use crate::queue::Queue;
use crate::recorder::{Outlet, Recorder, Slice};
use crate::replay::{Replay, ReplayReport};
use crate::ring_threads::RingThreads;
use crate::silence::Pulse;
use crate::slot::Slot;
use crate::sync::SyncIo;
use crate::target::{Opened, TargetSpec};
use crate::timeline::Timeline;
use crate::uring::{RingOptions, Uring};
use crate::volume::SpreadVolume;
use crate::worker::{Shared, Window, Worker};

/// Everything that is fixed before the workers are made.
pub(crate) struct Setup<'a> {
    pub(crate) plans: &'a [StreamPlan],
    pub(crate) opened: &'a Opened,
    /// Descriptors by stream × part.
    pub(crate) files: Vec<BorrowedFd<'a>>,
    pub(crate) timeline: Timeline,
    pub(crate) backend: BackendWord,
    pub(crate) job: &'a Job,
    pub(crate) ledger: Option<&'a Ledger>,
    pub(crate) journal: Option<&'a Journal>,
    pub(crate) workers: usize,
    /// What directs the streams, if the job is a mail store.
    pub(crate) mailstore: Option<&'a Mailstore>,
    pub(crate) control: &'a Control,
    /// Where workers learn whether to go over to system calls; none where they carry on as they began.
    pub(crate) changeover: Option<&'a Changeover>,
    /// Threads of the kernel that carry out the rings' requests.
    pub(crate) ring_threads: RingThreads,
    /// Where each worker says whether it has answers; none in virtual time.
    pub(crate) pulses: Vec<Pulse>,
    /// The group of each stream that keeps a ratio with others.
    pub(crate) groups: Vec<Option<Arc<ShareGroup>>>,
    /// The generators of each stream's threads, until a worker takes them.
    pub(crate) generators: Mutex<Vec<Vec<Option<Generator>>>>,
    /// The replays of the streams that have a trace, until a worker takes them.
    pub(crate) replays: Mutex<Vec<Option<Box<Replay>>>>,
}

/// What one worker leaves behind.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) components: Vec<ComponentUse>,
    /// How long after the start it had begun.
    pub(crate) began_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) first_done_ns: Option<u64>,
    /// When it had done all that its streams ask for; `None` where they do not end or were stopped.
    pub(crate) spent_ns: Option<u64>,
    pub(crate) first_error: Option<(Op, u64, i32)>,
    pub(crate) cpu_ns: (u64, u64),
    pub(crate) unissued: u64,
    pub(crate) findings: Findings,
    pub(crate) replays: Vec<ReplayReport>,
    /// What each of its directors says of itself.
    pub(crate) directed: Vec<serde_json::Value>,
}

/// What a worker thread needs to take part.
pub(crate) struct Place {
    pub(crate) number: usize,
    pub(crate) full: Sender<Message>,
    pub(crate) empty: Receiver<Slice>,
    pub(crate) ready: Sender<Result<(), EngineError>>,
    pub(crate) begin: Receiver<u64>,
    /// Dropped when it has run; a worker that panics drops it, too, so nobody waits for ever.
    pub(crate) running: Sender<()>,
    /// Disconnected when all have run.
    pub(crate) all_ran: Receiver<()>,
}

/// A worker thread from its making to its report.
pub(crate) fn work(setup: &Setup<'_>, place: Place) -> Result<Report, EngineError> {
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
        BackendWord::Array => {
            let TargetSpec::Array(target) = &setup.job.target else { return Err(EngineError::WorkerLost) };
            let measured = setup.timeline.warmup_ns..setup.timeline.end_ns();
            let addressed: Vec<_> = setup.plans.iter().map(|plan| plan.region.clone()).collect();
            let backend = ModelledArray::new(&target.spec, setup.job.options.seed, measured, &addressed);
            proceed(setup, place, seats, &arena, backend)
        }
        BackendWord::Sync => proceed(setup, place, seats, &arena, SyncIo::new(&setup.files, pieces)),
        BackendWord::Mmap => proceed(setup, place, seats, &arena, Mmap::new(&setup.files, &read_aheads(setup))),
        BackendWord::Nop => {
            let options = RingOptions { depth: pieces, polled: false, nop: true };
            proceed(setup, place, seats, &arena, Uring::<true>::new(&[], &[], &arena, depth, options))
        }
        BackendWord::Uring | BackendWord::Auto => {
            let options = RingOptions { depth: pieces, polled: setup.job.options.polled, nop: false };
            let ring = Uring::<false>::new(&setup.files, &together(setup), &arena, depth, options);
            match setup.changeover {
                None => proceed(setup, place, seats, &arena, ring),
                Some(changeover) => {
                    let either = |ring| Either::new(ring, (&setup.files, pieces), changeover);
                    proceed(setup, place, seats, &arena, ring.map(either))
                }
            }
        }
    }
}

/// For each file of each stream, how many requests that touch each other may be handed over at once: any number where the page
/// cache joins them anyway, or where there are hardly any.
fn together(setup: &Setup<'_>) -> Vec<usize> {
    let together = |plan: &StreamPlan| match plan.direct && plan.may_touch() {
        true => plan.merge_depth as usize,
        false => usize::MAX,
    };
    setup.plans.iter().flat_map(|plan| std::iter::repeat_n(together(plan), files_of(setup, plan))).collect()
}

/// For each file of each stream, how far the kernel reads ahead.
fn read_aheads(setup: &Setup<'_>) -> Vec<ReadAhead> {
    setup.plans.iter().flat_map(|plan| std::iter::repeat_n(plan.read_ahead, files_of(setup, plan))).collect()
}

fn refused(setup: &Setup<'_>, doing: &'static str, source: std::io::Error, advice: &'static str) -> EngineError {
    EngineError::Backend { backend: setup.backend.name(), doing, source, advice }
}

/// What to do when a backend cannot be had.
const fn alternative(backend: BackendWord) -> &'static str {
    match backend {
        BackendWord::Uring | BackendWord::Auto => "try `--set backend=sync`, or a lower queue_depth",
        BackendWord::Mmap => "try `--set backend=uring`",
        _ => "try a lower queue_depth or fewer threads",
    }
}

/// How many files a stream has in the backend's table.
fn files_of(setup: &Setup<'_>, plan: &StreamPlan) -> usize {
    plan.parts(setup.opened.parts.len()).len()
}

/// Pieces that one request can fall into: of the target, and of a stream that spreads its requests itself.
fn pieces_max(setup: &Setup<'_>) -> usize {
    let pieces = |plan: &StreamPlan| {
        let spread = plan.placed.spread.as_ref().map(SpreadVolume::new);
        spread.map_or(0, |spread| spread.pieces_max(plan.longest()))
    };
    let longest = setup.plans.iter().map(StreamPlan::longest).max().unwrap_or(0);
    setup.plans.iter().map(pieces).max().unwrap_or(0).max(setup.opened.volume.pieces_max(longest))
}

/// The threads of the streams that fall to worker `number`: every n-th, over all streams.
fn seats(setup: &Setup<'_>, number: usize) -> Vec<LaneSeat> {
    use plimsoll_workload::plan::ContentKind;
    let mut files = 0;
    let all = setup.plans.iter().enumerate().flat_map(|(stream, plan)| {
        let stamps = setup.ledger.is_some() && plan.content.kind == ContentKind::Stamps;
        let first = files;
        files += files_of(setup, plan) as u32;
        let seat = move |shard| {
            let group = setup.groups[stream].clone();
            let director = setup.mailstore.map(|_| (stream / Role::ALL.len() / setup.workers) as u32);
            LaneSeat { stream, shard, ordinal: 0, files: first, stamps, group, director }
        };
        (0..plan.threads).map(seat)
    });
    // The streams of a database go to one worker, because what one of them does follows from the others.
    let worker = |place: usize, seat: &LaneSeat| match seat.director {
        Some(_) => seat.stream / Role::ALL.len() % setup.workers,
        None => place % setup.workers,
    };
    let own = all.enumerate().filter(|(place, seat)| worker(*place, seat) == number);
    own.map(|(place, seat)| LaneSeat { ordinal: place as u32, ..seat }).collect()
}

/// Memory for a worker's requests: of each seat the read buffers, then the write buffers, prepared with content.
fn prepare_arena(setup: &Setup<'_>, seats: &[LaneSeat]) -> std::io::Result<Arena> {
    let modelled = matches!(setup.backend, BackendWord::Null | BackendWord::Nop);
    let need = |seat: &LaneSeat, op: Op| {
        let plan = &setup.plans[seat.stream];
        let looked_at = op == Op::Write || plan.verify != Verify::Off || setup.mailstore.is_some_and(Mailstore::looks);
        let occurs = plan.issues(op) || (op == Op::Read && plan.verify == Verify::All);
        let occurs = occurs && carries_data(setup.backend);
        let len = if occurs { plan.max_len as usize } else { 0 };
        Need { slots: plan.queue_depth as usize, len, own: looked_at && !(modelled && op == Op::Read) }
    };
    let mut needs = pool_reads(setup, seats, need);
    needs.extend(seats.iter().map(|seat| need(seat, Op::Write)));
    let mut arena = Arena::new(&needs, setup.job.options.memory)?;
    let mut slot = needs[..needs.len() - seats.len()].iter().map(|need| need.slots).sum();
    for seat in seats {
        let plan = &setup.plans[seat.stream];
        let content = Content::new(plan);
        for number in 0..plan.queue_depth {
            if plan.issues(Op::Write) && carries_data(setup.backend) {
                content.prepare(arena.bytes_mut(slot), (u64::from(seat.shard) << 32) | u64::from(number));
            }
            slot += 1;
        }
    }
    Ok(arena)
}

/// Whether bytes of requests are looked at by anybody.
const fn carries_data(backend: BackendWord) -> bool {
    !matches!(backend, BackendWord::Array)
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

/// Goes on with a backend that could be had, behind the journal if there is one.
fn proceed<B: Backend>(
    setup: &Setup<'_>,
    place: Place,
    seats: Vec<LaneSeat>,
    arena: &Arena,
    backend: std::io::Result<B>,
) -> Result<Report, EngineError> {
    match (backend, setup.journal) {
        (Ok(backend), None) => carry_out(setup, place, seats, arena, backend),
        (Ok(backend), Some(journal)) => {
            let journaled = Journaled::new(Box::new(backend), journal, setup.plans, setup.opened.volume.parts());
            carry_out(setup, place, seats, arena, journaled)
        }
        (Err(source), _) => {
            let advice = alternative(setup.backend);
            let _ = place.ready.send(Err(refused(setup, "setting up", source, advice)));
            Ok(Report::default())
        }
    }
}

/// Announces readiness, waits for the start, runs, reads back, reports.
fn carry_out<B: Backend>(
    setup: &Setup<'_>,
    place: Place,
    seats: Vec<LaneSeat>,
    arena: &Arena,
    backend: B,
) -> Result<Report, EngineError> {
    let (lanes, slots) = furnish(setup, &seats, arena);
    let directed = setup.mailstore.map(|store| store.directed((place.number, setup.workers), &setup.timeline));
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
    let mut worker = Worker::new(backend, shared(setup, place.number), (lanes, slots), (recorder, window), arena);
    worker.directed = directed.unwrap_or_default();
    await_start(setup, &worker.backend, origin_ns);
    let began_ns = worker.backend.now() - origin_ns;
    let before = thread_cpu_ns();
    let mut ran = worker.run();
    let end_ns = worker.backend.now() - origin_ns;
    let after = thread_cpu_ns();
    if ran.is_err() {
        setup.control.stop(StoppedBy::Error);
    }
    drop(place.running);
    leave(setup, place.number);
    let _ = place.all_ran.recv();
    let share = share_of_reading_back(setup, place.number).filter(|_| setup.control.reason() != StoppedBy::Signal);
    if let (Ok(()), Some((share, shares))) = (&ran, share) {
        ran = worker.read_back(share, shares);
    }
    leave(setup, place.number);
    let cpu_ns = (after.0 - before.0, after.1 - before.1);
    let report = Report { began_ns, end_ns, cpu_ns, ..told(setup, &mut worker, origin_ns) };
    drop(worker.into_outlet(origin_ns + end_ns));
    let _ = place.full.send(Message::Finished);
    ran.map(|()| report).map_err(|source| match setup.journal.and_then(Journal::failure) {
        Some(sentence) => EngineError::Journal(sentence),
        None => refused(setup, "submitting requests", source, alternative(setup.backend)),
    })
}

/// What worker `number` has in common with the others.
fn shared<'a>(setup: &'a Setup<'_>, number: usize) -> Shared<'a> {
    Shared {
        volume: &setup.opened.volume,
        ledger: setup.ledger,
        control: setup.control,
        carries_data: carries_data(setup.backend),
        continues: setup.job.options.on_error == OnError::Continue,
        workers: setup.workers,
        pulse: setup.pulses.get(number),
    }
}

/// Waits until it is `origin_ns` on the backend's clock.
#[inline(always)]
fn await_start(setup: &Setup<'_>, backend: &impl Backend, origin_ns: u64) {
    if !setup.pulses.is_empty() {
        // Far ahead when the run was held; only clocks of real time come nearer by waiting.
        appointment::keep(&Clock::calibrated(), origin_ns);
    }
    while backend.now() < origin_ns {
        std::hint::spin_loop();
    }
}

/// Says that worker `number` waits for no answers any more.
fn leave(setup: &Setup<'_>, number: usize) {
    if let Some(pulse) = setup.pulses.get(number) {
        pulse.leave();
    }
}

/// What a worker that has ended says of itself, but for its times, which are measured around it.
#[inline(always)]
fn told<B: Backend, O: Outlet>(setup: &Setup<'_>, worker: &mut Worker<'_, B, O>, origin_ns: u64) -> Report {
    Report {
        facts: worker.backend.facts(),
        components: worker.backend.components(),
        first_done_ns: worker.first_done_ns.map(|done_ns| done_ns - origin_ns),
        spent_ns: worker.spent_ns.map(|spent_ns| spent_ns.saturating_sub(origin_ns)),
        first_error: worker.first_error,
        unissued: worker.unissued,
        findings: std::mem::take(&mut worker.findings),
        replays: worker.replayed(|stream| setup.plans[stream].name.clone()),
        directed: worker.directed.iter().map(|directed| directed.director.report()).collect(),
        ..Report::default()
    }
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
    let mut replays = setup.replays.lock().unwrap_or_else(PoisonError::into_inner);
    let depth: usize = seats.iter().map(|seat| setup.plans[seat.stream].queue_depth as usize).sum();
    let (mut lanes, mut slots) = (Vec::new(), Vec::with_capacity(depth));
    for (number, seat) in seats.iter().enumerate() {
        let plan = &setup.plans[seat.stream];
        let Some(generator) = generators[seat.stream][seat.shard as usize].take() else { continue };
        lanes.push(Lane::new(plan, generator, seat, replays[seat.stream].take()));
        for _ in 0..plan.queue_depth {
            let slot = slots.len();
            slots.push(Slot::new(number as u32, arena.buffer(slot), arena.buffer(depth + slot)));
        }
    }
    (lanes, slots)
}

pub(crate) fn family(plan: &StreamPlan) -> Vec<Option<Generator>> {
    Generator::family(plan).into_iter().map(Some).collect()
}

/// The groups of the streams that keep a ratio, with the weights of all their threads.
pub(crate) fn groups(plans: &[StreamPlan]) -> Vec<Option<Arc<ShareGroup>>> {
    let mut known: BTreeMap<u64, Arc<ShareGroup>> = BTreeMap::new();
    let group = |plan: &StreamPlan| {
        let (number, weight) = plan.hold.share?;
        let group = known.entry(number).or_default();
        (0..plan.threads).for_each(|_| group.join(weight));
        Some(Arc::clone(group))
    };
    plans.iter().map(group).collect()
}

/// User and system time of this thread, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> (u64, u64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the struct; zeroes are a valid one if it fails.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}
