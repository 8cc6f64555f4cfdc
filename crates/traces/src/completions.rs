//! Issues and completions of a trace brought together, in the order of the issues.
//!
//! Model: an issue waits for the completion at the same target, sector and length, and for those issued before it; it
//! passes on when all of them are done, or when [`MOST_WAITING`] stand in line, since some requests never complete: those
//! that were merged into others, and those under way when the trace ended.
//! Limits: of two equal requests outstanding at once, the first to complete is taken for the first issued.

use std::collections::{BTreeSet, VecDeque};

use plimsoll_workload::Op;

use crate::error::TraceError;
use crate::reading::Reading;
use crate::request::{Request, Source, Targets};

/// Requests that wait for their completion at most.
pub const MOST_WAITING: usize = 16_384;

/// What a trace of the block layer says of a request.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// It went to the device, or into the queue.
    Issued(Request),
    /// One with its address came back.
    Completed(Request),
    /// It is counted here, and nothing is awaited.
    Whole(Request),
}

/// Whatever gives events.
pub trait Events {
    /// The next event that matters; `None` at the end, behind which nothing is read.
    fn event(&mut self) -> Result<Option<Event>, TraceError>;

    /// Where it is, and what it has to say besides.
    fn reading(&mut self) -> &mut Reading;
}

/// The requests of events, with their service times.
#[derive(Debug)]
pub struct Paired<E> {
    events: E,
    pairs: Pairs,
    ended: bool,
}

impl<E: Events> Paired<E> {
    pub fn new(events: E) -> Self {
        Self { events, pairs: Pairs::default(), ended: false }
    }

    pub fn reading(&mut self) -> &mut Reading {
        self.events.reading()
    }
}

impl<E: Events> Source for Paired<E> {
    fn request(&mut self) -> Result<Option<Request>, TraceError> {
        loop {
            if let Some(request) = self.pairs.next() {
                return Ok(Some(request));
            }
            if self.ended {
                return Ok(None);
            }
            match self.events.event()? {
                Some(Event::Issued(request)) => self.pairs.issued(request),
                Some(Event::Completed(request)) => self.pairs.completed(&request),
                Some(Event::Whole(request)) => return Ok(Some(request)),
                None => (self.ended, self.pairs.waits) = (true, false),
            }
        }
    }

    fn targets(&mut self) -> &mut Targets {
        &mut self.events.reading().targets
    }
}

/// Target, first byte, length, and the number of the issue.
type Awaited = (u32, u64, u64, u64);

/// Requests whose completion is awaited.
#[derive(Debug)]
struct Pairs {
    line: VecDeque<Waiting>,
    /// The number of the first in line.
    first: u64,
    awaited: BTreeSet<Awaited>,
    /// Whether anything is waited for: not once the trace is over, nor when it has shown no completion among so many.
    waits: bool,
    seen_completion: bool,
}

#[derive(Debug)]
struct Waiting {
    request: Request,
    done: bool,
}

impl Default for Pairs {
    fn default() -> Self {
        Self { line: VecDeque::new(), first: 0, awaited: BTreeSet::new(), waits: true, seen_completion: false }
    }
}

impl Pairs {
    /// A request went to the device.
    fn issued(&mut self, request: Request) {
        let number = self.first + self.line.len() as u64;
        // A flush has no address to find its completion by; it only keeps its place.
        let done = request.op == Op::Flush;
        self.line.push_back(Waiting { request, done });
        if !self.waits {
            return;
        }
        if !done {
            self.awaited.insert(key(&request, number));
        }
        if self.line.len() <= MOST_WAITING {
            return;
        }
        if !self.seen_completion {
            self.waits = false;
            self.awaited.clear();
        } else if let Some(first) = self.line.front_mut() {
            first.done = true;
            self.awaited.remove(&key(&first.request, self.first));
        }
    }

    /// A request came back: the first with its address that is awaited.
    fn completed(&mut self, request: &Request) {
        self.seen_completion = true;
        let found = self.awaited.range(key(request, 0)..=key(request, u64::MAX)).next().copied();
        let Some(found) = found else { return };
        self.awaited.remove(&found);
        if let Some(waiting) = self.line.get_mut((found.3 - self.first) as usize) {
            let instant = |request: &Request| request.at_ns.unwrap_or(0);
            waiting.request.service_ns = Some(instant(request).saturating_sub(instant(&waiting.request)));
            waiting.done = true;
        }
    }

    /// The first in line, if it need not wait any more.
    fn next(&mut self) -> Option<Request> {
        let passes = self.line.front().is_some_and(|first| first.done || !self.waits);
        let first = if passes { self.line.pop_front() } else { None };
        self.first += u64::from(first.is_some());
        first.map(|first| first.request)
    }
}

const fn key(request: &Request, number: u64) -> Awaited {
    (request.target, request.offset, request.length, number)
}
