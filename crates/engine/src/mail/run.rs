//! One run of mail users: from the first login to the last answer.
//!
//! Model: threads log their users in; when all are in, the start is agreed, or the instant awaited that the run is held for, and the
//! calling thread hands intervals to the [`Sink`]. Users who cannot log in end the run before it begins, with the server's own words.
//! Of several hosts each acts for its share of the users, who are numbered as if one host did.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded, unbounded};
use plimsoll_workload::mail::{MailPlan, MailSeat, MailTask, users_at};

use super::client::{Client, Span, Stage};
use super::ledger::Ledger;
use super::link::Failure;
use super::report::{Report, TaskError};
use super::server::MailJob;
use super::tls::Tls;
use crate::appointment;
use crate::clock::{self, Clock};
use crate::collector::{Collector, Line, Message};
use crate::control::{Control, StoppedBy};
use crate::crew::thread_cpu_ns;
use crate::error::EngineError;
use crate::histogram;
use crate::open_files;
use crate::pause;
use crate::recorder::{Cell, Recorder, Slice};
use crate::run::{beginning, timeline};
use crate::silence::{Pulse, Silence, Vigil, together};
use crate::sink::{Places, Sink};
use crate::timeline::Timeline;

/// Time between the last login and the start.
const START_DELAY_NS: u64 = 5_000_000;
/// How often the calling thread looks around.
const POLL: Duration = Duration::from_millis(20);
/// How often it is told that users still log in.
const ENTERING_TOLD_NS: u64 = 1_000_000_000;
/// Files that are open beside connections.
const OTHER_FILES: u64 = 128;

/// What is known of a run when it is over, beside its intervals.
#[derive(Debug)]
pub struct MailOutcome {
    /// The resolved load, of all hosts.
    pub plan: MailPlan,
    /// The users that this host acted for.
    pub users: u32,
    /// Tasks that were due to them per second.
    pub offered_per_s: f64,
    /// Whether other hosts acted for the others.
    pub shared: bool,
    /// Threads.
    pub threads: usize,
    /// The clock's source and its drift, in parts per million.
    pub clock: (clock::Source, f64),
    /// The start, on `CLOCK_MONOTONIC` and on the wall clock.
    pub start_ns: (u64, u64),
    /// How long after it the last thread began.
    pub began_ns: u64,
    /// The measured time, from the start.
    pub window_ns: Range<u64>,
    /// The end of the drain, from the start.
    pub end_ns: u64,
    /// The first completion, from the start.
    pub first_done_ns: Option<u64>,
    /// Why it ended.
    pub stopped_by: StoppedBy,
    /// The longest time that no server answered, if it was long.
    pub silence: Option<Silence>,
    /// Processor time of the threads: user, system.
    pub cpu_ns: (u64, u64),
    pub(super) report: Report,
    /// By stream, tasks that nothing could be done to.
    pub(super) skipped: Vec<[u64; MailTask::COUNT]>,
}

/// Runs a job to its end, or until `control` stops it, and pushes its intervals into `sink`.
///
/// # Errors
/// When a user cannot log in, or the job cannot be run here. A failed task is counted, not an error.
pub fn run(job: &MailJob, sink: &mut dyn Sink, control: &Control) -> Result<MailOutcome, EngineError> {
    let plan = job.share.spread(job.workload.resolve(job.options.seed)?);
    let seats = job.share.seats(&plan);
    let (users, accounts) = (plan.users() as usize, job.server.accounts.len());
    if accounts < users {
        return Err(EngineError::Mismatch(format!(
            "{users} users need as many accounts, and there are {accounts}; name more, or lower users"
        )));
    }
    if seats.is_empty() {
        let count = job.share.count;
        return Err(EngineError::Mismatch(format!(
            "{users} users cannot be divided among {count} hosts; ask for as many users at least, or for fewer hosts"
        )));
    }
    allow_connections(u64::from(users_at(&plan, &seats)))?;
    let unwritten = |problem: std::io::Error| {
        EngineError::Mismatch(format!("the list of accepted letters cannot be made ({problem})"))
    };
    let ledger = Ledger::at(job.ledger.as_deref()).map_err(unwritten)?;
    let names: Vec<String> = plan.streams.iter().map(|stream| stream.name.clone()).collect();
    sink.placed(Places::new(&names, &MailTask::NAMES, &[]));
    let tls = |service| Tls::of(service, &job.server).map_err(EngineError::Mismatch);
    let (imap_tls, submission_tls) = (tls(&job.server.imap)?, tls(&job.server.submission)?);
    let stage = Stage { job, plan: &plan, control, ledger: &ledger, imap_tls, submission_tls };
    let crew = Crew::new(&stage, seats, timeline(&job.options));
    let (reports, silence) = crew.follow(sink)?;
    Ok(outcome(&stage, &crew, &reports, silence))
}

/// Every user has a connection, and some a second one.
fn allow_connections(users: u64) -> Result<(), EngineError> {
    let needed = users * 2 + OTHER_FILES;
    let allowed = open_files::allow(needed);
    if allowed < needed {
        return Err(EngineError::Mismatch(format!(
            "{users} users need {needed} open files, and {allowed} are allowed; raise `ulimit -Hn`, or lower users"
        )));
    }
    Ok(())
}

/// An empty slice for the streams of a plan.
fn blank(plan: &MailPlan) -> Slice {
    let cells =
        plan.streams.iter().flat_map(|stream| MailTask::ALL.map(|task| stream.does(task).then(|| Cell::new(true))));
    Slice::of(cells.collect(), true)
}

/// The threads of a run, and what they share with the one that calls.
struct Crew<'a> {
    stage: &'a Stage<'a>,
    seats: Vec<MailSeat>,
    timeline: Timeline,
    pulses: Vec<Pulse>,
    /// Threads wait here until all users are in.
    entering: Barrier,
    /// All users are in, and the start can be agreed.
    entered: AtomicBool,
    /// The start, once it is agreed.
    agreed: Mutex<Option<u64>>,
    told: Condvar,
    origin_ns: AtomicU64,
    wall_ns: AtomicU64,
    refused: Mutex<Option<Failure>>,
}

impl<'a> Crew<'a> {
    fn new(stage: &'a Stage<'a>, seats: Vec<MailSeat>, timeline: Timeline) -> Self {
        let threads = seats.len();
        Self {
            stage,
            seats,
            timeline,
            pulses: (0..threads).map(|_| Pulse::default()).collect(),
            entering: Barrier::new(threads),
            entered: AtomicBool::new(false),
            agreed: Mutex::new(None),
            told: Condvar::new(),
            origin_ns: AtomicU64::new(0),
            wall_ns: AtomicU64::new(0),
            refused: Mutex::new(None),
        }
    }

    /// Starts the threads and pushes intervals until all is over; what the threads say, and the longest silence.
    fn follow(&self, sink: &mut dyn Sink) -> Result<(Vec<Report>, Option<Silence>), EngineError> {
        let (full, messages) = unbounded();
        let (empty, empties) = bounded(self.pulses.len() * 2);
        let plan = self.stage.plan;
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for number in 0..self.seats.len() {
                let blank_plan = plan.clone();
                let line =
                    Line { full: full.clone(), empty: empties.clone(), blank: Box::new(move || blank(&blank_plan)) };
                let builder = std::thread::Builder::new().name("plimsoll-mail".to_owned());
                let work = move || self.work(number, line);
                threads.push(builder.spawn_scoped(scope, work).map_err(|_| EngineError::WorkerLost)?);
            }
            drop(full);
            let silence = self.collect(Collector::new(self.timeline, threads.len(), empty), &messages, sink);
            let reports: Result<Vec<Option<Report>>, EngineError> =
                threads.into_iter().map(|thread| thread.join().map_err(|_| EngineError::WorkerLost)).collect();
            if let Some(failure) = self.refused.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return Err(EngineError::Server(failure.sentence));
            }
            Ok((reports?.into_iter().flatten().collect(), silence))
        })
    }

    /// One thread's part.
    fn work(&self, number: usize, line: Line) -> Option<Report> {
        pause::finest_timers();
        let pulse = &self.pulses[number];
        let client = Client::new(self.stage, self.seats[number]);
        let entered = match client {
            Err(problem) => Err(Failure::of("IMAP", &problem)),
            Ok(mut client) => client.enter(pulse).map(|()| client),
        };
        if let Err(failure) = &entered {
            self.refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| failure.clone());
            self.stage.control.stop(StoppedBy::Error);
        }
        if self.entering.wait().is_leader() {
            self.entered.store(true, Ordering::Release);
        }
        let mut client = entered.ok().filter(|_| !self.is_refused())?;
        let origin_ns = self.agreed_ns();
        appointment::keep(&Clock::calibrated(), origin_ns);
        let began_ns = Clock::calibrated().now().saturating_sub(origin_ns);
        let finished = line.full.clone();
        let recorder = Recorder::new((line.blank)(), line, self.timeline, origin_ns);
        let before = thread_cpu_ns();
        let (measure_ns, end_ns) = (origin_ns + self.timeline.warmup_ns, origin_ns + self.timeline.end_ns());
        let mut report = client.act(Span { origin_ns, measure_ns, end_ns }, recorder, pulse);
        let after = thread_cpu_ns();
        let _ = finished.send(Message::Finished);
        report.cpu_ns = (after.0 - before.0, after.1 - before.1);
        report.began_ns = began_ns;
        if let Some(failure) = client.refusal() {
            self.refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        }
        Some(report)
    }

    fn is_refused(&self) -> bool {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The start, once the calling thread has told it.
    fn agreed_ns(&self) -> u64 {
        let mut agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *agreed {
                Some(origin_ns) => return origin_ns,
                None => agreed = self.told.wait(agreed).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Agrees the start, now that all users are in: the instant that the run is held for, or soon. Who was stopped before does nothing.
    fn agree(&self, sink: &mut dyn Sink) {
        let origin_ns =
            beginning(self.stage.control, START_DELAY_NS, sink).unwrap_or_else(|| Clock::calibrated().now());
        let ahead_ns = origin_ns.saturating_sub(Clock::calibrated().now());
        self.wall_ns.store(clock::wall_ns() + ahead_ns, Ordering::Release);
        self.origin_ns.store(origin_ns, Ordering::Release);
        *self.agreed.lock().unwrap_or_else(PoisonError::into_inner) = Some(origin_ns);
        self.told.notify_all();
    }

    /// The calling thread's part: the start, intervals, ticks, silence.
    fn collect(&self, mut collector: Collector, messages: &Receiver<Message>, sink: &mut dyn Sink) -> Option<Silence> {
        let (mut tick, mut started, mut vigil) = (0, false, Vigil::default());
        let mut told_ns = Clock::calibrated().now();
        while !collector.is_over() {
            if !started && self.entered.load(Ordering::Acquire) && !self.is_refused() {
                self.agree(sink);
            }
            let origin_ns = self.origin_ns.load(Ordering::Acquire);
            let now_ns = Clock::calibrated().now();
            if origin_ns > 0 && !started {
                started = true;
                sink.started(origin_ns, self.wall_ns.load(Ordering::Acquire));
            }
            if !started && now_ns >= told_ns + ENTERING_TOLD_NS {
                told_ns = now_ns;
                sink.entering();
            }
            while started && tick <= self.timeline.intervals() && now_ns >= origin_ns + self.timeline.start_of(tick) {
                sink.tick(tick);
                tick += 1;
            }
            sink.poll();
            if let Some(silence) = vigil.look(now_ns, together(&self.pulses, now_ns)) {
                sink.silent(silence);
            }
            match messages.recv_timeout(POLL) {
                Ok(message) => collector.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Ok(message) = messages.try_recv() {
                collector.take(message);
            }
            while let Some(interval) = collector.next() {
                sink.interval(&interval);
                collector.recycle(interval.slice);
            }
        }
        vigil.longest()
    }
}

fn outcome(stage: &Stage<'_>, crew: &Crew<'_>, reports: &[Report], silence: Option<Silence>) -> MailOutcome {
    let clock = Clock::calibrated();
    let origin_ns = crew.origin_ns.load(Ordering::Acquire);
    let mut skipped = vec![[0; MailTask::COUNT]; stage.plan.streams.len()];
    for (seat, report) in crew.seats.iter().zip(reports) {
        skipped[seat.stream].iter_mut().zip(report.skipped).for_each(|(sum, more)| *sum += more);
    }
    let sum = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>();
    let first_error: Option<TaskError> =
        reports.iter().filter_map(|report| report.first_error.clone()).min_by_key(|error| error.at_ns);
    let mut handovers = histogram::empty();
    reports.iter().for_each(|report| handovers.add(&report.handovers));
    let first_ns = reports.iter().filter_map(|report| report.first_done_ns).min();
    let report = Report {
        first_error,
        skipped: [0; MailTask::COUNT],
        unissued: sum(|report| report.unissued),
        letters: sum(|report| report.letters),
        deliveries: sum(|report| report.deliveries),
        refused_recipients: sum(|report| report.refused_recipients),
        first_done_ns: first_ns,
        began_ns: reports.iter().map(|report| report.began_ns).max().unwrap_or(0),
        cpu_ns: (sum(|report| report.cpu_ns.0), sum(|report| report.cpu_ns.1)),
        handovers,
    };
    let plan = stage.plan;
    MailOutcome {
        plan: plan.clone(),
        users: users_at(plan, &crew.seats),
        offered_per_s: crew.seats.iter().map(|seat| plan.streams[seat.stream].tasks_per_s_of(seat.shard)).sum(),
        shared: stage.job.share.count > 1,
        threads: reports.len(),
        clock: (clock.source(), clock.drift_ppm()),
        start_ns: (origin_ns, crew.wall_ns.load(Ordering::Acquire)),
        began_ns: report.began_ns,
        window_ns: crew.timeline.warmup_ns..crew.timeline.end_ns(),
        end_ns: clock.now().saturating_sub(origin_ns),
        first_done_ns: first_ns.map(|first_ns| first_ns.saturating_sub(origin_ns)),
        stopped_by: stage.control.reason(),
        silence,
        cpu_ns: report.cpu_ns,
        skipped,
        report,
    }
}
