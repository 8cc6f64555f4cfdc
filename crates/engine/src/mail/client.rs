//! One thread of Plimsoll that acts for many users: begins what is due, carries dialogues on, and records what came of each task.
//!
//! Model: one loop over the connections that are ready ([`super::connections`]), as a server has it; nothing in it waits for one user. The
//! next due instant and the end of the interval bound the wait, so that a task is begun within microseconds of when it is due. Before the
//! start every user logs in, which is not measured: a working day begins with users at their desks.
//!
//! Limits: a user does one task at a time; a server that answers nothing fails a task after the server's timeout.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use plimsoll_workload::job::OnError;
use plimsoll_workload::mail::{Due, Letter, Letters, MailPlan, MailSeat, MailStreamPlan, MailTask, Workday};

use super::connections::{Connections, Heard, place_of};
use super::ledger::Ledger;
use super::link::{Failure, code};
use super::person::{Desk, Next, Person};
use super::report::{Report, TaskError};
use super::server::MailJob;
use super::smtp::Fate;
use super::socket::Ready;
use super::tls::Tls;
use crate::clock::Clock;
use crate::collector::Line;
use crate::control::{Control, StoppedBy};
use crate::recorder::{InFlight, LATE_NS, Recorder, Slice};
use crate::silence::Pulse;

/// How long the loop waits at most.
const LOOK_NS: u64 = 50_000_000;
/// How often it looks for servers that do not answer, and speaks of what waits.
const ROUND_NS: u64 = 100_000_000;
/// Users of a thread that log in at once before the start.
const ENTERING: usize = 32;
/// What all threads share.
pub(crate) struct Stage<'a> {
    pub(crate) job: &'a MailJob,
    pub(crate) plan: &'a MailPlan,
    pub(crate) control: &'a Control,
    pub(crate) ledger: &'a Ledger,
    /// What TLS is begun with, to the IMAP server and to the one that takes letters.
    pub(crate) imap_tls: Option<Tls>,
    pub(crate) submission_tls: Option<Tls>,
}

/// See the module.
pub(crate) struct Client<'a> {
    stage: &'a Stage<'a>,
    plan: &'a MailStreamPlan,
    stream: usize,
    shard: u32,
    clock: Clock,
    persons: Vec<Person>,
    connections: Connections<'a>,
    letters: Letters<'a>,
    /// Number of the next letter.
    number: u64,
    /// Users whose task at hand has been begun and not ended.
    busy: u64,
    answered: bool,
    /// Users whose next task can begin.
    free: Vec<usize>,
    /// Users who have not logged in before the start; `None` from the start on.
    entering: Option<VecDeque<usize>>,
    refused: Option<Failure>,
    recorder: Option<Recorder<Line>>,
    report: Report,
    /// The measured time.
    measured_ns: Range<u64>,
}

/// The span of a run on the clock.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) origin_ns: u64,
    /// The end of the warm-up.
    pub(crate) measure_ns: u64,
    pub(crate) end_ns: u64,
}

impl<'a> Client<'a> {
    /// The thread at `seat`.
    pub(crate) fn new(stage: &'a Stage<'a>, seat: MailSeat) -> io::Result<Self> {
        let MailSeat { stream, shard, number } = seat;
        let plan = &stage.plan.streams[stream];
        let users = plan.users_of(shard);
        let person = |place: u32| {
            let user = plan.first_user + shard + place * plan.threads;
            let first_uid = stage.job.server.accounts[user as usize].first_uid;
            Person::new(user, plan.folders, plan.everybody, first_uid)
        };
        Ok(Self {
            stage,
            plan,
            stream,
            shard,
            clock: Clock::calibrated(),
            persons: (0..users).map(person).collect(),
            connections: Connections::new(
                &stage.job.server,
                stage.imap_tls.as_ref(),
                stage.submission_tls.as_ref(),
                users,
            )?,
            letters: Letters::new(plan, &stage.job.run, "plimsoll.invalid"),
            number: number << 40,
            busy: 0,
            answered: false,
            free: Vec::new(),
            entering: None,
            refused: None,
            recorder: None,
            report: Report::default(),
            measured_ns: 0..0,
        })
    }

    /// Logs every user in.
    ///
    /// # Errors
    /// On the first user who is refused; who did not get an answer; or whom the server does not hear.
    pub(crate) fn enter(&mut self, pulse: &Pulse) -> Result<(), Failure> {
        self.entering = Some((0..self.persons.len()).collect());
        (0..ENTERING).for_each(|_| self.enter_next());
        let mut ready = Vec::new();
        let mut round_ns = 0;
        while self.busy > 0 && self.refused.is_none() && !self.stage.control.is_stopped() {
            self.serve(LOOK_NS, &mut ready).map_err(|problem| Failure::of("IMAP", &problem))?;
            self.round(&mut round_ns, pulse);
        }
        self.entering = None;
        self.refused.take().map_or(Ok(()), Err)
    }

    fn enter_next(&mut self) {
        let Some(place) = self.entering.as_mut().and_then(VecDeque::pop_front) else { return };
        let due = Due { due_ns: 0, user: self.persons[place].user, task: MailTask::Login, draw: 0 };
        self.begin(place, due, 0);
    }

    /// Acts from the start to the end of a run, then waits for what is under way.
    pub(crate) fn act(&mut self, span: Span, recorder: Recorder<Line>, pulse: &Pulse) -> Report {
        self.recorder = Some(recorder);
        self.measured_ns = span.measure_ns..span.end_ns;
        let mut day = Workday::new(self.plan, self.shard);
        let (mut due, mut ready, mut round_ns) = (day.next(), Vec::new(), 0);
        loop {
            let now_ns = self.clock.now();
            self.close_until(now_ns);
            if now_ns >= span.end_ns || self.stage.control.is_stopped() {
                break;
            }
            while span.origin_ns.saturating_add(due.due_ns) <= now_ns.min(span.end_ns - 1) {
                let due_ns = span.origin_ns + due.due_ns;
                self.fall_due(Due { due_ns, ..due });
                due = day.next();
            }
            let next_ns = span.origin_ns.saturating_add(due.due_ns).min(span.end_ns).min(self.boundary_ns());
            let wait_ns = next_ns.saturating_sub(self.clock.now()).min(LOOK_NS);
            if let Err(problem) = self.serve(wait_ns, &mut ready) {
                self.fail_all(&Failure::of("IMAP", &problem));
                break;
            }
            self.round(&mut round_ns, pulse);
            self.begin_queued();
        }
        self.drain(span, &mut ready, &mut round_ns, pulse)
    }

    /// Nothing more is begun; what is under way goes on until it ends or fails.
    fn drain(&mut self, span: Span, ready: &mut Vec<Ready>, round_ns: &mut u64, pulse: &Pulse) -> Report {
        let now_ns = self.clock.now().min(span.end_ns);
        if self.stage.control.is_stopped() {
            let (persons, stream, busy) = (&self.persons, self.stream, self.busy);
            if let Some(recorder) = &mut self.recorder {
                recorder.add_area(now_ns, in_flight(busy));
                recorder.cut(now_ns, |slice| look(persons, stream, now_ns, slice));
            }
        }
        for person in &mut self.persons {
            self.report.unissued += person.queue.len() as u64;
        }
        while self.busy > 0 {
            if self.serve(LOOK_NS, ready).is_err() {
                break;
            }
            self.close_until(self.clock.now());
            self.round(round_ns, pulse);
        }
        pulse.leave();
        let now_ns = self.clock.now();
        self.close_until(now_ns);
        if let Some(mut recorder) = self.recorder.take() {
            recorder.add_area(now_ns, in_flight(self.busy));
            // What was due and never begun has had no answer.
            look(&self.persons, self.stream, span.end_ns.min(now_ns), &mut recorder.slice);
            drop(recorder.finish(now_ns));
        }
        std::mem::take(&mut self.report)
    }

    fn boundary_ns(&self) -> u64 {
        self.recorder.as_ref().map_or(u64::MAX, |recorder| recorder.boundary_ns)
    }

    fn close_until(&mut self, now_ns: u64) {
        let (persons, stream, busy) = (&self.persons, self.stream, self.busy);
        if let Some(recorder) = &mut self.recorder {
            recorder.close_until(now_ns, in_flight(busy), |at_ns, slice| look(persons, stream, at_ns, slice));
            recorder.add_area(now_ns, in_flight(busy));
        }
    }

    /// A task is due.
    fn fall_due(&mut self, due: Due) {
        let place = ((due.user - self.plan.first_user - self.shard) / self.plan.threads) as usize;
        if self.persons[place].doing.is_some() {
            self.persons[place].queue.push_back(due);
            return;
        }
        let now_ns = self.clock.now();
        if let Some(recorder) = &mut self.recorder {
            let lag_ns = now_ns.saturating_sub(due.due_ns);
            if let Some(lag) = &mut recorder.slice.lag {
                lag.saturating_record(lag_ns);
                recorder.slice.late += u64::from(lag_ns > LATE_NS);
            }
        }
        self.begin(place, due, now_ns);
    }

    fn begin(&mut self, place: usize, due: Due, now_ns: u64) {
        self.close_until(now_ns);
        self.busy += 1;
        self.persons[place].begin(due, now_ns);
        self.go_on(place);
    }

    /// Begins the next exchange of a user's task, or ends it.
    fn go_on(&mut self, place: usize) {
        let accounts = &self.stage.job.server.accounts;
        let account = |user: u32| {
            let account = &accounts[user as usize];
            (account.name.clone(), account.password.clone())
        };
        let date = &self.stage.job.date;
        let mut desk = Desk { letters: &self.letters, date, number: self.number, accounts: &account };
        let next = self.persons[place].next(&mut desk);
        self.number = desk.number;
        match next {
            Next::Exchange(exchange) => {
                let now_ns = self.clock.now();
                if let Err(failure) = self.connections.begin(place, &mut self.persons[place], exchange, now_ns) {
                    self.fail(place, failure);
                }
            }
            Next::Done => self.end(place, Ok(true)),
            Next::Nothing => self.end(place, Ok(false)),
        }
    }

    /// Waits for what is ready, and carries the dialogues on.
    fn serve(&mut self, wait_ns: u64, ready: &mut Vec<Ready>) -> io::Result<()> {
        self.connections.wait(wait_ns, ready)?;
        for event in ready.drain(..) {
            let place = place_of(event);
            match self.connections.hear(event, &mut self.persons[place]) {
                Heard::Nothing => {}
                Heard::Answered => {
                    self.answered = true;
                    self.go_on(place);
                }
                Heard::Settled(fate, letter) => self.settle(place, letter.as_ref(), fate),
                Heard::Failed(failure, uncertain) => {
                    self.keep_uncertain(uncertain.as_ref());
                    self.fail(place, failure);
                }
            }
        }
        Ok(())
    }

    /// What became of a letter is known.
    fn settle(&mut self, place: usize, letter: Option<&Letter>, fate: Fate) {
        self.answered = true;
        match fate {
            Fate::Known => self.go_on(place),
            Fate::Refused(code, text) => {
                let sentence = format!("the SMTP server refused a letter ({code} {text})");
                self.fail(place, Failure { code: -i32::from(code), sentence });
            }
            Fate::Denied(code, text) => {
                let user = &self.stage.job.server.accounts[self.persons[place].user as usize].name;
                let sentence = format!("the SMTP server refused the login of {user} ({code} {text})");
                self.fail(place, Failure { code: -i32::from(code), sentence });
            }
            Fate::Taken(places) => {
                let now_ns = self.clock.now();
                if self.measured_ns.contains(&now_ns) {
                    self.report.handovers.saturating_record(now_ns.saturating_sub(self.connections.asked_ns(place)));
                }
                if let Some(letter) = letter {
                    self.report.letters += 1;
                    self.report.deliveries += places.len() as u64;
                    self.report.refused_recipients += (letter.to.len() - places.len()) as u64;
                    self.keep(|ledger| ledger.taken(letter, &places));
                }
                self.go_on(place);
            }
        }
    }

    /// Writes into the ledger; without it nothing could be accounted for, so that the run ends.
    fn keep(&mut self, entry: impl FnOnce(&Ledger) -> io::Result<()>) {
        if let Err(problem) = entry(self.stage.ledger) {
            let sentence = format!("the list of accepted letters cannot be written ({problem})");
            self.refused.get_or_insert(Failure { code: problem.raw_os_error().unwrap_or(libc::EIO), sentence });
            self.stage.control.stop(StoppedBy::Error);
        }
    }

    /// Notes a letter that the server may have without having said so.
    fn keep_uncertain(&mut self, letter: Option<&Letter>) {
        if let Some(letter) = letter {
            self.keep(|ledger| ledger.uncertain(letter));
        }
    }

    /// The task at hand has failed; the user is logged out by that, unless the server only refused.
    fn fail(&mut self, place: usize, mut failure: Failure) {
        // Servers have been seen to say it back.
        let password = &self.stage.job.server.accounts[self.persons[place].user as usize].password;
        if !password.is_empty() {
            failure.sentence = failure.sentence.replace(password.as_str(), "***");
        }
        if self.connections.close(place, &failure) {
            if self.persons[place].is_moving() {
                let user = self.persons[place].user;
                self.keep(|ledger| ledger.moving(user));
            }
            self.persons[place].lost();
        }
        if self.persons[place].doing.is_some() {
            self.end(place, Err(failure));
        }
    }

    /// The task at hand is over: done, or there was nothing to do it to, or it failed. The next one in the queue begins.
    fn end(&mut self, place: usize, how: Result<bool, Failure>) {
        let now_ns = self.clock.now();
        self.close_until(now_ns);
        self.busy -= 1;
        let Some(doing) = self.persons[place].doing.take() else { return };
        if self.entering.is_some() {
            match how {
                Ok(_) => self.enter_next(),
                Err(failure) => {
                    let user = &self.stage.job.server.accounts[doing.due.user as usize].name;
                    let sentence = format!("user {user} cannot log in: {}", failure.sentence);
                    self.refused.get_or_insert(Failure { sentence, ..failure });
                }
            }
            return;
        }
        self.record(&doing, now_ns, how);
        if self.stage.control.is_stopped() || self.boundary_ns() == u64::MAX {
            return;
        }
        self.free.push(place);
    }

    /// Begins what waits for users who are free again.
    fn begin_queued(&mut self) {
        while let Some(place) = self.free.pop() {
            if self.persons[place].doing.is_none()
                && let Some(due) = self.persons[place].queue.pop_front()
            {
                self.begin(place, due, self.clock.now());
            }
        }
    }

    fn record(&mut self, doing: &super::person::Doing, now_ns: u64, how: Result<bool, Failure>) {
        let task = doing.due.task;
        let Some(recorder) = &mut self.recorder else { return };
        let Some(cell) = &mut recorder.slice.cells[self.stream * MailTask::COUNT + task as usize] else { return };
        match how {
            Ok(true) => {
                cell.record(0, now_ns.saturating_sub(doing.due.due_ns), now_ns.saturating_sub(doing.begun_ns));
                cell.bytes += doing.bytes;
                self.report.first_done_ns.get_or_insert(now_ns);
            }
            Ok(false) => self.report.skipped[task as usize] += 1,
            Err(failure) => {
                cell.fail(failure.code);
                let error = TaskError { at_ns: now_ns, task, user: doing.due.user, failure };
                self.report.first_error.get_or_insert(error);
                if self.stage.job.options.on_error == OnError::Stop {
                    self.stage.control.stop(StoppedBy::Error);
                }
            }
        }
    }

    fn fail_all(&mut self, failure: &Failure) {
        (0..self.persons.len()).for_each(|place| self.fail(place, failure.clone()));
    }

    /// Ten times a second: speaks of what waits, and fails what has had no answer for too long.
    fn round(&mut self, round_ns: &mut u64, pulse: &Pulse) {
        let now_ns = self.clock.now();
        if now_ns < *round_ns + ROUND_NS {
            return;
        }
        *round_ns = now_ns;
        pulse.speak(now_ns, self.busy, std::mem::take(&mut self.answered));
        let timeout_ns = (self.stage.job.server.timeout_s * 1e9) as u64;
        for place in 0..self.persons.len() {
            if self.persons[place].doing.is_some() && now_ns > self.connections.asked_ns(place) + timeout_ns {
                let sentence = format!("the server gave no answer for {} s", self.stage.job.server.timeout_s);
                let uncertain = self.connections.uncertain(place);
                self.keep_uncertain(uncertain.as_ref());
                self.fail(place, Failure { code: code::TIMEOUT, sentence });
            }
        }
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        self.refused.clone()
    }
}

const fn in_flight(busy: u64) -> InFlight {
    InFlight { all: busy, older: busy, handed_over_ns: 0 }
}

/// What waits at an instant: tasks under way, and those due and not begun.
fn look(persons: &[Person], stream: usize, at_ns: u64, slice: &mut Slice) {
    for person in persons {
        if let Some(doing) = person.doing.as_ref().filter(|doing| doing.begun_ns <= at_ns) {
            let place = stream * MailTask::COUNT + doing.due.task as usize;
            slice.outstanding.add(place, at_ns.saturating_sub(doing.due.due_ns), 1);
            slice.in_flight_age_ns += at_ns - doing.begun_ns;
        }
        for due in person.queue.iter().filter(|due| due.due_ns <= at_ns) {
            let place = stream * MailTask::COUNT + due.task as usize;
            slice.outstanding.add(place, at_ns - due.due_ns, 1);
            slice.behind_ns = slice.behind_ns.max(at_ns - due.due_ns);
        }
    }
}
