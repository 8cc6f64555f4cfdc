//! Terminals as threads: each takes the next request, carries it out over its connection, and records it.
//!
//! Limits: a thread for each terminal, as the server has a process for each connection.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_engine::clock::monotonic_ns;

use crate::queue::{Queue, Request};
use crate::tally::{Begun, Ending, Slice, Tally};
use crate::wire::{self, Line, Value};

/// How often a transaction is tried before it counts as failed.
const TRIES_MAX: u32 = 10;
/// The kinds of conflicts that are tried again, by their SQLSTATE.
const CONFLICTS: [(&str, &str); 2] = [("40001", "serialization"), ("40P01", "deadlock")];
const STACK_BYTES: usize = 256 << 10;
/// What a failure is counted by when there is no SQLSTATE.
const LOST: &str = "lost";

/// Who decides when a request is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Each terminal asks once it has its answer, after a pause where there is one; it has a queue of its own.
    Answers,
    /// Requests are due at instants of their own; one queue serves all terminals.
    Instants,
}

/// A transaction that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub kind: usize,
    /// SQLSTATE; empty where the connection was lost.
    pub state: String,
    /// What the server or the system says.
    pub message: String,
    /// Whether the connection lives.
    pub alive: bool,
    /// Whether what has to be in the tables was not, or the other way round.
    pub damaged: bool,
}

struct Shared {
    pace: Pace,
    stop_on_error: bool,
    /// A queue is asked for more when it holds so few.
    low: usize,
    /// When the job began, on `CLOCK_MONOTONIC`.
    origin_ns: AtomicU64,
    /// How many threads have begun, and when the last of them did, from the start.
    begun: AtomicUsize,
    began_ns: AtomicU64,
    stopped: AtomicBool,
    queues: Vec<Queue>,
    tally: Mutex<Tally>,
    failures: Mutex<Vec<Failure>>,
    wanted: Mutex<bool>,
    wants: Condvar,
}

impl Shared {
    fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.origin_ns.load(Ordering::Acquire))
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.queues.iter().for_each(Queue::stop);
        self.want();
    }

    /// Somebody has too few requests.
    fn want(&self) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wants.notify_one();
    }
}

/// Terminals over connections that are open.
pub struct TerminalThreads {
    shared: Arc<Shared>,
    sockets: Vec<UnixStream>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl TerminalThreads {
    /// A terminal for each of the sockets, which may be of any family; they begin with [`TerminalThreads::begin`]. A queue with no more
    /// than `low` requests is asked for more.
    ///
    /// # Errors
    /// What the system says of a socket.
    pub fn new(
        sockets: Vec<OwnedFd>,
        kinds: usize,
        pace: Pace,
        low: usize,
        stop_on_error: bool,
    ) -> std::io::Result<Self> {
        let sockets: Vec<UnixStream> = sockets.into_iter().map(UnixStream::from).collect();
        for socket in &sockets {
            socket.set_nonblocking(false)?;
        }
        let queues = if pace == Pace::Answers { sockets.len() } else { 1 };
        let shared = Shared {
            pace,
            stop_on_error,
            low,
            origin_ns: AtomicU64::new(0),
            begun: AtomicUsize::new(0),
            began_ns: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            queues: (0..queues).map(|_| Queue::default()).collect(),
            tally: Mutex::new(Tally::new(sockets.len(), kinds)),
            failures: Mutex::default(),
            wanted: Mutex::new(false),
            wants: Condvar::new(),
        };
        Ok(Self { shared: Arc::new(shared), sockets, threads: Mutex::default() })
    }

    /// Begins; the job began at `origin_ns` of `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// What the system says when it has no more threads.
    pub fn begin(&self, origin_ns: u64) -> std::io::Result<()> {
        self.shared.origin_ns.store(origin_ns, Ordering::Release);
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, socket) in self.sockets.iter().enumerate() {
            let (shared, line) = (Arc::clone(&self.shared), Line::new(socket.try_clone()?));
            let thread = std::thread::Builder::new().name(format!("terminal-{number}")).stack_size(STACK_BYTES);
            threads.push(thread.spawn(move || serve(&shared, number, line))?);
        }
        Ok(())
    }

    /// Puts requests into a queue.
    pub fn put(&self, queue: usize, requests: Vec<Request>) {
        self.shared.queues[queue].put(requests);
    }

    /// How many requests each queue holds, once one of them holds too few, or after so long.
    pub fn wanted(&self, timeout: Duration) -> Vec<usize> {
        let wanted = self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.shared.wants.wait_timeout_while(wanted, timeout, |wanted| !*wanted);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
        self.shared.queues.iter().map(Queue::length).collect()
    }

    /// Begins nothing more.
    pub fn stop(&self) {
        self.shared.stop();
    }

    /// Ends every connection; whoever waits for an answer has none.
    pub fn abandon(&self) {
        self.stop();
        for socket in &self.sockets {
            // One that has ended already needs no end.
            drop(socket.shutdown(Shutdown::Both));
        }
    }

    /// Waits for the threads; what they wait for has to end, as it does after [`TerminalThreads::abandon`].
    pub fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            drop(thread.join());
        }
    }

    /// What failed since this was asked last.
    pub fn failures(&self) -> Vec<Failure> {
        std::mem::take(&mut *self.shared.failures.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many calls are under way.
    pub fn under_way(&self) -> u64 {
        self.shared.tally().under_way()
    }

    /// See [`Tally::first_ns`].
    pub fn first_ns(&self) -> Option<u64> {
        self.shared.tally().first_ns()
    }

    /// When the last thread began, from the start; none before all of them have.
    pub fn began_ns(&self) -> Option<u64> {
        let all = self.shared.begun.load(Ordering::Acquire) == self.sockets.len();
        all.then(|| self.shared.began_ns.load(Ordering::Acquire))
    }

    /// See [`Tally::waits`].
    pub fn waits(&self, now_ns: u64) -> (u64, u64) {
        self.shared.tally().waits(now_ns)
    }

    /// See [`Tally::abandon`].
    pub fn give_up(&self, now_ns: u64) {
        self.shared.tally().abandon(now_ns);
    }

    /// How many requests are due at an instant and were not begun.
    pub fn unissued(&self, now_ns: u64) -> usize {
        self.due(now_ns).len()
    }

    /// Ends the interval that lasts.
    pub fn cut(&self, now_ns: u64) -> Slice {
        let due = self.due(now_ns);
        self.shared.tally().cut(now_ns, due)
    }

    fn due(&self, now_ns: u64) -> Vec<(usize, u64)> {
        match self.shared.pace {
            Pace::Answers => Vec::new(),
            Pace::Instants => self.shared.queues[0].due(now_ns),
        }
    }
}

impl Drop for TerminalThreads {
    fn drop(&mut self) {
        self.abandon();
        self.join();
    }
}

/// One terminal, until it is over or its connection is lost.
fn serve(shared: &Shared, number: usize, mut line: Line<UnixStream>) {
    wake_in_time();
    let queue = &shared.queues[number % shared.queues.len()];
    let now_ns = || shared.now_ns();
    shared.began_ns.fetch_max(now_ns(), Ordering::AcqRel);
    shared.begun.fetch_add(1, Ordering::AcqRel);
    let mut free_ns = 0;
    while let Some(request) = taken(shared, queue) {
        let due_ns = match shared.pace {
            Pace::Answers if request.when_ns == 0 => None,
            Pace::Answers => {
                let due_ns = free_ns + request.when_ns;
                if queue.pause(now_ns, due_ns) {
                    return;
                }
                Some(due_ns)
            }
            Pace::Instants => Some(request.when_ns),
        };
        let queued = due_ns.is_some_and(|due_ns| free_ns > due_ns);
        shared.tally().begin(number, Begun { kind: request.kind, due_ns, queued }, now_ns());
        let carried = carried_out(&mut line, &request, |why| shared.tally().retried(why));
        free_ns = now_ns();
        let ending = match &carried {
            Ok(ending) => ending.clone(),
            Err(failure) => Ending::Failed(if failure.alive { failure.state.clone() } else { LOST.to_owned() }),
        };
        shared.tally().end(number, &ending, free_ns);
        if let Err(failure) = carried {
            let alive = failure.alive;
            shared.failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
            shared.want();
            if shared.stop_on_error {
                shared.stop();
            }
            if !alive {
                return;
            }
        }
    }
}

/// The next request; what a terminal waited for one that nobody had drawn yet is counted.
fn taken(shared: &Shared, queue: &Queue) -> Option<Request> {
    let left = queue.length();
    if left <= shared.low {
        shared.want();
    }
    match shared.pace {
        Pace::Instants => queue.next_due(|| shared.now_ns()),
        Pace::Answers => {
            let begun_ns = shared.now_ns();
            let request = queue.next()?;
            if left == 0 {
                shared.tally().starved(shared.now_ns() - begun_ns);
            }
            Some(request)
        }
    }
}

/// Carries a transaction out; one that ends in a conflict is tried again.
fn carried_out<S: Read + Write>(
    line: &mut Line<S>,
    request: &Request,
    mut retried: impl FnMut(&'static str),
) -> Result<Ending, Failure> {
    let mut tries = 1;
    loop {
        let failure = match tried(line, request) {
            Ok(ending) => return Ok(ending),
            Err(failure) => failure,
        };
        let conflict = CONFLICTS.iter().find(|(state, _)| *state == failure.state);
        match conflict {
            Some((_, why)) if tries < TRIES_MAX && failure.alive => retried(why),
            _ => return Err(failure),
        }
        tries += 1;
    }
}

/// Once. After an error that the server tells of, no transaction is left open.
fn tried<S: Read + Write>(line: &mut Line<S>, request: &Request) -> Result<Ending, Failure> {
    if !request.rolls_back {
        return match asked(line, request, &request.call)? {
            Value::Something => Ok(Ending::Committed),
            _ => Err(damaged(request, "an item was not found that has to exist")),
        };
    }
    asked(line, request, &wire::query("BEGIN"))?;
    let found = asked(line, request, &request.call)?;
    asked(line, request, &wire::query("ROLLBACK"))?;
    match found {
        Value::Null => Ok(Ending::RolledBack),
        _ => Err(damaged(request, "an item was found that does not exist")),
    }
}

/// Asks for one thing.
fn asked<S: Read + Write>(line: &mut Line<S>, request: &Request, question: &[u8]) -> Result<Value, Failure> {
    let lost = |message| Failure { kind: request.kind, state: String::new(), message, alive: false, damaged: false };
    let answer = line.ask(question).map_err(lost)?;
    let Some(said) = answer.error else { return Ok(answer.value) };
    if answer.in_transaction {
        line.ask(&wire::query("ROLLBACK")).map_err(lost)?;
    }
    Err(Failure { kind: request.kind, state: said.state, message: said.message, alive: true, damaged: false })
}

fn damaged(request: &Request, message: &str) -> Failure {
    Failure { kind: request.kind, state: String::new(), message: message.to_owned(), alive: true, damaged: true }
}

/// The kernel may otherwise wake a thread 50 µs late, to wake others with it.
fn wake_in_time() {
    // SAFETY: this sets a number of the calling thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}
