//! Where threads have their operations recorded: one desk for several, so that memory does not grow with the threads.
//!
//! Model: a thread says when it begins a call, without a lock, and hands in what came of it, with one. A call belongs to the
//! interval in which it completed; the time it was under way is shared out over the intervals it touched. Whoever comes
//! first after a boundary hands the old interval on, at the latest the thread that collects.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_workload::files::FileOp;

use crate::collector::{Line, Message};
use crate::outstanding::Outstanding;
use crate::recorder::{BLANK, LATE_NS, Outlet, Slice};
use crate::silence::Quiet;
use crate::timeline::Timeline;

/// No call under way; nothing due.
const NONE: u64 = u64::MAX;

/// What came of a call.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) stream: usize,
    pub(crate) op: FileOp,
    /// When it was due, began and ended, on the clock.
    pub(crate) intended_ns: u64,
    pub(crate) submitted_ns: u64,
    pub(crate) completed_ns: u64,
}

/// What a thread is seen to do.
pub(crate) struct Seat {
    begun_ns: AtomicU64,
    due_ns: AtomicU64,
    /// When the call under way was due, and the place of its cell.
    intended_ns: AtomicU64,
    place: AtomicUsize,
}

impl Seat {
    const fn empty() -> Self {
        Self {
            begun_ns: AtomicU64::new(NONE),
            due_ns: AtomicU64::new(NONE),
            intended_ns: AtomicU64::new(NONE),
            place: AtomicUsize::new(0),
        }
    }

    /// A call begins, which was due at `intended_ns`.
    pub(crate) fn begin(&self, stream: usize, op: FileOp, intended_ns: u64, now_ns: u64) {
        self.place.store(place(stream, op), Ordering::Relaxed);
        self.intended_ns.store(intended_ns, Ordering::Relaxed);
        self.begun_ns.store(now_ns, Ordering::Release);
    }

    /// The call is given up.
    pub(crate) fn withdraw(&self) {
        self.begun_ns.store(NONE, Ordering::Release);
    }

    /// When the next operation is due, on the clock; `u64::MAX` for never.
    pub(crate) fn due(&self, due_ns: u64) {
        self.due_ns.store(due_ns, Ordering::Relaxed);
    }
}

/// The place of an operation's cell.
const fn place(stream: usize, op: FileOp) -> usize {
    stream * FileOp::COUNT + op as usize
}

/// See the module.
pub(crate) struct Desk {
    seats: Box<[Seat]>,
    timeline: Timeline,
    origin_ns: u64,
    book: Mutex<Book>,
}

struct Book {
    slice: Slice,
    line: Line,
    boundary_ns: u64,
    first_ns: u64,
    last_ns: u64,
    finished: bool,
    /// What was due and will never be begun.
    given_up: Outstanding,
}

impl Desk {
    pub(crate) fn new(seats: usize, timeline: Timeline, origin_ns: u64, line: Line) -> Self {
        let slice = (line.blank)();
        let desk = Self {
            seats: (0..seats).map(|_| Seat::empty()).collect(),
            timeline,
            origin_ns,
            book: Mutex::new(Book {
                slice,
                line,
                boundary_ns: 0,
                first_ns: NONE,
                last_ns: origin_ns,
                finished: false,
                given_up: Outstanding::NONE,
            }),
        };
        desk.open(&mut desk.book(), 0);
        desk
    }

    /// The place of one of its threads.
    pub(crate) fn seat(&self, number: usize) -> &Seat {
        &self.seats[number]
    }

    /// A call has succeeded.
    pub(crate) fn record(&self, seat: usize, call: &Call, bytes: u64) {
        self.settle(seat, call, |slice, place| {
            if let Some(cell) = &mut slice.cells[place] {
                let latency_ns = call.completed_ns.saturating_sub(call.intended_ns);
                cell.record(0, latency_ns, call.completed_ns.saturating_sub(call.submitted_ns));
                cell.bytes += bytes;
            }
        });
    }

    /// A call has failed.
    pub(crate) fn fail(&self, seat: usize, call: &Call, errno: i32) {
        self.settle(seat, call, |slice, place| {
            if let Some(cell) = &mut slice.cells[place] {
                cell.fail(errno);
            }
        });
    }

    /// A thread that was idle when something became due has begun it so much later.
    pub(crate) fn lag(&self, lag_ns: u64) {
        let mut book = self.book();
        let slice = &mut book.slice;
        if let Some(lag) = &mut slice.lag {
            lag.saturating_record(lag_ns);
            slice.late += u64::from(lag_ns > LATE_NS);
        }
    }

    /// Hands on every interval that is over.
    pub(crate) fn look(&self, now_ns: u64) {
        let mut book = self.book();
        self.roll(&mut book, now_ns);
    }

    /// Ends the interval that lasts, at `now_ns`, and begins the drain.
    pub(crate) fn cut(&self, now_ns: u64) {
        let mut book = self.book();
        self.roll(&mut book, now_ns);
        if book.slice.index < self.timeline.intervals() {
            let start_ns = self.origin_ns + book.slice.start_ns;
            self.close(&mut book, now_ns.max(start_ns));
            self.open(&mut book, self.timeline.intervals());
            book.slice.start_ns = now_ns.saturating_sub(self.origin_ns);
        }
    }

    /// Operations that were due and will never be begun: of a stream, so many of one that have waited for `age_ns`.
    pub(crate) fn give_up(&self, stream: usize, op: FileOp, age_ns: u64, count: u64) {
        self.book().given_up.add(place(stream, op), age_ns, count);
    }

    /// Since when nothing has come back, and how many calls wait; `None` when none does.
    pub(crate) fn quiet(&self) -> Option<Quiet> {
        let begun =
            || self.seats.iter().map(|seat| seat.begun_ns.load(Ordering::Acquire)).filter(|begun_ns| *begun_ns != NONE);
        let first_ns = begun().min()?;
        Some(Quiet { since_ns: self.last_ns().max(first_ns), waiting: begun().count() as u64 })
    }

    /// When the last call so far completed.
    pub(crate) fn last_ns(&self) -> u64 {
        self.book().last_ns
    }

    /// When the first call completed.
    pub(crate) fn first_ns(&self) -> Option<u64> {
        Some(self.book().first_ns).filter(|first_ns| *first_ns != NONE)
    }

    /// Hands on the last interval, and says that no more will come.
    pub(crate) fn finish(&self, now_ns: u64) {
        let mut book = self.book();
        if std::mem::replace(&mut book.finished, true) {
            return;
        }
        self.roll(&mut book, now_ns);
        let start_ns = self.origin_ns + book.slice.start_ns;
        self.close(&mut book, now_ns.max(start_ns));
        let _ = book.line.full.send(Message::Finished);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, seat: usize, call: &Call, enter: impl FnOnce(&mut Slice, usize)) {
        let mut book = self.book();
        self.roll(&mut book, call.completed_ns);
        self.seats[seat].begun_ns.store(NONE, Ordering::Release);
        book.first_ns = book.first_ns.min(call.completed_ns);
        book.last_ns = book.last_ns.max(call.completed_ns);
        let start_ns = self.origin_ns + book.slice.start_ns;
        book.slice.in_flight_area += call.completed_ns.saturating_sub(call.submitted_ns.max(start_ns));
        enter(&mut book.slice, place(call.stream, call.op));
    }

    fn roll(&self, book: &mut Book, now_ns: u64) {
        while now_ns >= book.boundary_ns {
            let (at_ns, next) = (book.boundary_ns, book.slice.index + 1);
            self.close(book, at_ns);
            self.open(book, next);
        }
    }

    /// Hands the interval on as it was at `at_ns`.
    fn close(&self, book: &mut Book, at_ns: u64) {
        let start_ns = self.origin_ns + book.slice.start_ns;
        for seat in &self.seats {
            let begun_ns = seat.begun_ns.load(Ordering::Acquire);
            if begun_ns != NONE && begun_ns <= at_ns {
                let intended_ns = seat.intended_ns.load(Ordering::Relaxed);
                book.slice.outstanding.add(seat.place.load(Ordering::Relaxed), at_ns.saturating_sub(intended_ns), 1);
                book.slice.in_flight_area += at_ns.saturating_sub(begun_ns.max(start_ns));
                book.slice.in_flight_age_ns += at_ns.saturating_sub(begun_ns);
            }
            let behind_ns = at_ns.saturating_sub(seat.due_ns.load(Ordering::Relaxed));
            book.slice.behind_ns = book.slice.behind_ns.max(behind_ns);
        }
        book.slice.outstanding.merge(&book.given_up);
        book.slice.end_ns = at_ns - self.origin_ns;
        let full = std::mem::replace(&mut book.slice, BLANK);
        book.slice = book.line.exchange(full);
    }

    fn open(&self, book: &mut Book, index: u64) {
        let drains = index >= self.timeline.intervals();
        let end_ns = self.timeline.end_of(index);
        book.slice.index = index;
        book.slice.start_ns = self.timeline.start_of(index);
        book.slice.end_ns = end_ns;
        book.boundary_ns = if drains { u64::MAX } else { self.origin_ns + end_ns };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crossbeam_channel::{bounded, unbounded};

    use super::*;
    use crate::recorder::Cell;

    #[test]
    fn a_call_that_hangs_and_what_is_never_begun_are_told_at_every_boundary() {
        let (full, messages) = unbounded();
        let (_keep, empty) = bounded(1);
        let cells = || Slice::of((0..FileOp::COUNT).map(|_| Some(Cell::new(false))).collect(), false);
        let timeline = Timeline { warmup_ns: 0, duration_ns: 4_096, interval_ns: 1_024 };
        let desk = Desk::new(2, timeline, 1_000_000, Line { full, empty, blank: Box::new(cells) });
        desk.seat(1).begin(0, FileOp::Write, 1_000_512, 1_000_600);
        desk.look(1_002_048);
        desk.give_up(0, FileOp::Read, 256, 7);
        desk.finish(1_004_096);
        let (mut told, mut ages) = (Vec::new(), Vec::new());
        while let Ok(Message::Full(slice)) = messages.try_recv() {
            let cells = slice.outstanding.by_cell();
            ages.push(slice.in_flight_age_ns);
            told.push(cells.iter().map(|(cell, ages)| (*cell, ages.len(), ages.min())).collect::<Vec<_>>());
        }
        let (read, write) = (FileOp::Read as usize, FileOp::Write as usize);
        assert_eq!(told[0], [(write, 1, 512)], "due at 512, and the interval ends at 1,024");
        assert_eq!(told[1], [(write, 1, 1_536)]);
        assert_eq!(ages[..2], [424, 1_448], "in flight from 600 on");
        assert!(told[3].contains(&(read, 7, 256)) && told[3].contains(&(write, 1, 3_584)), "{told:?}");
    }
}
