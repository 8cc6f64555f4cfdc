//! What terminals did, cut into intervals: the same as `python/plimsoll/apps/recorder.py` keeps for threads of the interpreter.
//!
//! Model: a terminal has at most one call under way. A call belongs to the interval in which it is answered, and the time it was under way
//! is shared out over the intervals that it touched. One that was due at an instant counts from that instant. Instants are nanoseconds from
//! the start of the job, and come from who records, so that tests have a time of their own.
//!
//! ```
//! use plimsoll_terminals::tally::{Begun, Ending, Tally};
//! let mut tally = Tally::new(1, 5);
//! tally.begin(0, Begun { kind: 2, due_ns: None, queued: false }, 100);
//! tally.end(0, &Ending::Committed, 350);
//! assert_eq!(tally.cut(1_000, []).cells[2].latency_sum_ns, 250);
//! ```

use std::collections::BTreeMap;

use plimsoll_engine::histogram::{self, Histogram};

/// Lag from which a call counts as late, in nanoseconds; as in the engine's recorder.
const LATE_NS: u64 = 100_000;

/// A call that is begun. One that was not `queued` had a terminal free for it when it was due: what it is late by is our own lag.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// Which kind of transaction.
    pub kind: usize,
    /// When it was due, where it had such an instant.
    pub due_ns: Option<u64>,
    /// Whether no terminal was free then.
    pub queued: bool,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its changes are durable.
    Committed,
    /// It asked for something that does not exist, and left nothing behind.
    RolledBack,
    /// Why, as a key for counting.
    Failed(String),
}

/// One kind of transaction in one interval.
pub struct Cell {
    /// From when a call was due, or begun, to its answer.
    pub latency: Histogram,
    /// The sum of those.
    pub latency_sum_ns: u64,
    /// From when it was begun, of calls that had been due.
    pub service: Option<Histogram>,
    /// The sum of those.
    pub service_sum_ns: u64,
    /// How many failed, by why.
    pub errors: BTreeMap<String, u64>,
    /// How many were committed and rolled back.
    pub committed: u64,
    /// Those that were rolled back as they should.
    pub rolled_back: u64,
}

/// One interval. Cells go by kind.
pub struct Slice {
    /// Where it began.
    pub start_ns: u64,
    /// Where it ended.
    pub end_ns: u64,
    /// How long calls were under way in it, added up.
    pub busy_ns: u64,
    /// How long those under way at its end had been so, added up.
    pub age_ns: u64,
    /// By kind.
    pub cells: Vec<Cell>,
    /// How much later than due calls were begun although a terminal was free.
    pub lag: Histogram,
    /// How many of them were late.
    pub late: u64,
    /// How long the oldest due call had been waiting to be begun at the end.
    pub behind_ns: u64,
    /// Lower bounds of the latencies of what was under way or due at the end, by kind.
    pub waiting: Vec<Option<Histogram>>,
    /// What was tried again, by why.
    pub retries: BTreeMap<&'static str, u64>,
    /// How long terminals had nothing to do because requests came too late, added up.
    pub starved_ns: u64,
}

impl Slice {
    fn new(kinds: usize, start_ns: u64) -> Self {
        let cell = || Cell {
            latency: histogram::empty(),
            latency_sum_ns: 0,
            service: None,
            service_sum_ns: 0,
            errors: BTreeMap::new(),
            committed: 0,
            rolled_back: 0,
        };
        Self {
            start_ns,
            end_ns: start_ns,
            busy_ns: 0,
            age_ns: 0,
            cells: (0..kinds).map(|_| cell()).collect(),
            lag: histogram::empty(),
            late: 0,
            behind_ns: 0,
            waiting: vec![None; kinds],
            retries: BTreeMap::new(),
            starved_ns: 0,
        }
    }

    fn wait(&mut self, kind: usize, age_ns: u64) {
        self.waiting[kind].get_or_insert_with(histogram::empty).saturating_record(age_ns.max(1));
    }
}

#[derive(Clone, Copy)]
struct Call {
    kind: usize,
    begun_ns: u64,
    due_ns: Option<u64>,
}

impl Call {
    /// From when on its latency counts.
    fn since_ns(&self) -> u64 {
        self.due_ns.unwrap_or(self.begun_ns)
    }
}

/// What all terminals did.
pub struct Tally {
    kinds: usize,
    slice: Slice,
    under_way: Vec<Option<Call>>,
    count: u64,
    /// Until when the calls under way are in `busy_ns`.
    counted_ns: u64,
    answered_ns: u64,
    first_ns: Option<u64>,
}

impl Tally {
    /// Of so many terminals and kinds of calls.
    pub fn new(terminals: usize, kinds: usize) -> Self {
        Self {
            kinds,
            slice: Slice::new(kinds, 0),
            under_way: vec![None; terminals],
            count: 0,
            counted_ns: 0,
            answered_ns: 0,
            first_ns: None,
        }
    }

    /// A terminal begins a call.
    pub fn begin(&mut self, terminal: usize, begun: Begun, now_ns: u64) {
        let now_ns = self.counted(now_ns);
        let due_ns = begun.due_ns.map(|due_ns| due_ns.min(now_ns));
        self.under_way[terminal] = Some(Call { kind: begun.kind, begun_ns: now_ns, due_ns });
        self.count += 1;
        if let Some(due_ns) = due_ns.filter(|_| !begun.queued) {
            self.slice.lag.saturating_record(now_ns - due_ns);
            self.slice.late += u64::from(now_ns - due_ns > LATE_NS);
        }
    }

    /// Its call has ended. One that was given up counts no more.
    pub fn end(&mut self, terminal: usize, ending: &Ending, now_ns: u64) {
        let now_ns = self.counted(now_ns);
        let Some(call) = self.under_way[terminal].take() else { return };
        self.count -= 1;
        self.answered_ns = now_ns;
        let cell = &mut self.slice.cells[call.kind];
        match ending {
            Ending::Committed => cell.committed += 1,
            Ending::RolledBack => cell.rolled_back += 1,
            Ending::Failed(why) => {
                *cell.errors.entry(why.clone()).or_default() += 1;
                return;
            }
        }
        self.first_ns.get_or_insert(now_ns);
        cell.latency_sum_ns += now_ns - call.since_ns();
        cell.latency.saturating_record(now_ns - call.since_ns());
        if call.due_ns.is_some() {
            cell.service_sum_ns += now_ns - call.begun_ns;
            cell.service.get_or_insert_with(histogram::empty).saturating_record(now_ns - call.begun_ns);
        }
    }

    /// A call is tried again.
    pub fn retried(&mut self, why: &'static str) {
        *self.slice.retries.entry(why).or_default() += 1;
    }

    /// A terminal had nothing to do for so long because its requests came too late.
    pub fn starved(&mut self, length_ns: u64) {
        self.slice.starved_ns += length_ns;
    }

    /// When the first call was answered.
    pub fn first_ns(&self) -> Option<u64> {
        self.first_ns
    }

    /// For how long no call has had an answer although some were under way all the time, and how many those are.
    pub fn waits(&self, now_ns: u64) -> (u64, u64) {
        match self.under_way.iter().flatten().map(|call| call.begun_ns).min() {
            Some(oldest_ns) => (now_ns.saturating_sub(oldest_ns.max(self.answered_ns)), self.count),
            None => (0, 0),
        }
    }

    /// How many calls are under way.
    pub fn under_way(&self) -> u64 {
        self.count
    }

    /// What is under way will have no answer any more: it stays outstanding in the interval that is cut next.
    pub fn abandon(&mut self, now_ns: u64) {
        let now_ns = self.counted(now_ns);
        for call in self.under_way.iter_mut().filter_map(Option::take) {
            self.slice.wait(call.kind, now_ns - call.since_ns());
        }
        self.count = 0;
    }

    /// Ends the interval that lasts; `due` is what was due and has not begun: its kind, and when it was due.
    pub fn cut(&mut self, now_ns: u64, due: impl IntoIterator<Item = (usize, u64)>) -> Slice {
        let now_ns = self.counted(now_ns);
        let mut ended = std::mem::replace(&mut self.slice, Slice::new(self.kinds, now_ns));
        for call in self.under_way.iter().flatten() {
            ended.age_ns += now_ns - call.begun_ns;
            ended.wait(call.kind, now_ns - call.since_ns());
        }
        for (kind, due_ns) in due {
            let age_ns = now_ns.saturating_sub(due_ns);
            ended.behind_ns = ended.behind_ns.max(age_ns);
            ended.wait(kind, age_ns);
        }
        ended.end_ns = now_ns;
        ended
    }

    /// Shares out the time until now to the calls under way; now, which never goes back.
    fn counted(&mut self, now_ns: u64) -> u64 {
        let now_ns = now_ns.max(self.counted_ns);
        self.slice.busy_ns += self.count * (now_ns - self.counted_ns);
        self.counted_ns = now_ns;
        now_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Begun = Begun { kind: 0, due_ns: None, queued: false };

    #[test]
    fn the_time_of_a_call_is_shared_out_over_the_intervals_it_touches() {
        let mut tally = Tally::new(2, 1);
        tally.begin(0, AT_ONCE, 100);
        tally.begin(1, AT_ONCE, 400);
        let first = tally.cut(1_000, []);
        assert_eq!((first.busy_ns, first.age_ns), (900 + 600, 900 + 600));
        assert_eq!(first.waiting[0].as_ref().map(Histogram::len), Some(2));
        tally.end(0, &Ending::Committed, 1_200);
        let second = tally.cut(2_000, []);
        assert_eq!((second.start_ns, second.end_ns), (1_000, 2_000));
        assert_eq!(second.busy_ns, 200 + 1_000);
        assert_eq!((second.cells[0].committed, second.cells[0].latency_sum_ns), (1, 1_100));
    }

    #[test]
    fn latency_counts_from_the_due_instant_and_service_from_the_beginning() {
        let mut tally = Tally::new(1, 1);
        tally.begin(0, Begun { due_ns: Some(1_000), queued: true, ..AT_ONCE }, 5_000);
        tally.end(0, &Ending::Committed, 7_000);
        let ended = tally.cut(10_000, []);
        assert_eq!((ended.cells[0].latency_sum_ns, ended.cells[0].service_sum_ns), (6_000, 2_000));
        assert_eq!(ended.lag.len(), 0, "a terminal was not free: that is no lag of ours");
    }

    #[test]
    fn what_begins_late_although_a_terminal_is_free_is_our_lag() {
        let mut tally = Tally::new(1, 1);
        for (due_ns, now_ns) in [(0, 50_000), (1_000_000, 1_200_000)] {
            tally.begin(0, Begun { due_ns: Some(due_ns), ..AT_ONCE }, now_ns);
            tally.end(0, &Ending::Committed, now_ns + 1_000);
        }
        let ended = tally.cut(2_000_000, []);
        assert_eq!((ended.lag.len(), ended.late), (2, 1));
    }

    #[test]
    fn a_failed_call_has_no_latency_and_is_counted_by_its_reason() {
        let mut tally = Tally::new(1, 1);
        tally.begin(0, AT_ONCE, 0);
        tally.end(0, &Ending::Failed("53100".to_owned()), 500);
        let ended = tally.cut(1_000, []);
        assert_eq!(ended.cells[0].errors.get("53100"), Some(&1));
        assert_eq!((ended.cells[0].latency.len(), tally.first_ns()), (0, None));
    }

    #[test]
    fn what_is_given_up_stays_outstanding_and_its_late_answer_counts_no_more() {
        let mut tally = Tally::new(1, 1);
        tally.begin(0, AT_ONCE, 0);
        tally.abandon(3_000);
        tally.end(0, &Ending::Committed, 4_000);
        let ended = tally.cut(5_000, []);
        assert_eq!(ended.cells[0].committed, 0);
        assert_eq!(ended.waiting[0].as_ref().map(Histogram::len), Some(1));
        assert_eq!(tally.under_way(), 0);
    }

    #[test]
    fn what_is_due_and_not_begun_waits_and_tells_how_far_behind_we_are() {
        let mut tally = Tally::new(1, 2);
        let ended = tally.cut(10_000, [(0, 4_000), (1, 9_000)]);
        assert_eq!(ended.behind_ns, 6_000);
        assert_eq!(ended.waiting.iter().flatten().map(Histogram::len).sum::<u64>(), 2);
    }

    #[test]
    fn silence_lasts_since_the_last_answer_or_the_oldest_call() {
        let mut tally = Tally::new(2, 1);
        assert_eq!(tally.waits(1_000), (0, 0));
        tally.begin(0, AT_ONCE, 1_000);
        tally.begin(1, AT_ONCE, 2_000);
        assert_eq!(tally.waits(5_000), (4_000, 2));
        tally.end(1, &Ending::Committed, 6_000);
        assert_eq!(tally.waits(7_000), (1_000, 1));
    }
}
