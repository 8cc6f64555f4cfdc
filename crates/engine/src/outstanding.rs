//! What is outstanding at an instant: handed over and not answered, or due and never handed over.
//!
//! Model: such a request will have taken at least as long as it has been waiting, so its age is a lower bound of its latency. Ages
//! are kept per cell, rounded down to one part in 1,024, so that a backlog of any length takes little memory. Every interval tells
//! what was outstanding at its end: a process that is killed while its target hangs leaves the truth behind. The drain tells what
//! never had an answer; what completed in the drain is in its cells, with its true latency.
//!
//! Limits: a backlog longer than what is stepped through is spread as its process expects it, which is off by less than one part
//! in a thousand. While the run goes on, the operations of a backlog are those of its lane that are in flight, in turn.

use std::collections::BTreeMap;
use std::ops::Range;

use plimsoll_workload::Arrivals;

use crate::histogram::{self, Histogram};

/// Bits of an age that are kept.
const BITS: u32 = 10;
/// Pieces of time that what is not stepped through is spread over.
const PIECES: u64 = 256;

/// See the module.
#[derive(Debug, Default)]
pub struct Outstanding(BTreeMap<(usize, u64), u64>);

impl Outstanding {
    /// Nothing.
    pub(crate) const NONE: Self = Self(BTreeMap::new());

    /// So many requests of a cell have been waiting for `age_ns`.
    pub(crate) fn add(&mut self, cell: usize, age_ns: u64, count: u64) {
        let shift = (u64::BITS - age_ns.leading_zeros()).saturating_sub(BITS);
        if count > 0 {
            *self.0.entry((cell, age_ns >> shift << shift)).or_default() += count;
        }
    }

    /// Adds what another worker has outstanding.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (&key, &count) in &other.0 {
            *self.0.entry(key).or_default() += count;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Requests of all cells.
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The cells that have some, with the lower bounds of their latencies.
    pub fn by_cell(&self) -> Vec<(usize, Histogram)> {
        let mut cells: Vec<(usize, Histogram)> = Vec::new();
        for (&(cell, age_ns), &count) in &self.0 {
            if cells.last().is_none_or(|(last, _)| *last != cell) {
                cells.push((cell, histogram::empty()));
            }
            if let Some((_, ages)) = cells.last_mut() {
                ages.saturating_record_n(age_ns.max(1), count);
            }
        }
        cells
    }
}

/// Tells `each` of the requests of a process that are due in a span, which begins with one: instant and count, oldest first. After
/// `steps_max` of them the rest are told by pieces of time, at the end of each, so that none is taken for older than it is.
pub(crate) fn due_in(arrivals: &mut Arrivals, span_ns: Range<u64>, steps_max: u64, mut each: impl FnMut(u64, u64)) {
    let mut due_ns = span_ns.start;
    for _ in 0..steps_max {
        if due_ns >= span_ns.end {
            return;
        }
        each(due_ns, 1);
        due_ns = arrivals.next_ns();
    }
    if due_ns >= span_ns.end {
        return;
    }
    let length_ns = span_ns.end - due_ns;
    let (mut begin_ns, mut owed) = (due_ns, 0.0);
    for piece in 1..=PIECES {
        let end_ns = due_ns + (u128::from(length_ns) * u128::from(piece) / u128::from(PIECES)) as u64;
        owed += arrivals.expected(begin_ns..end_ns);
        let count = owed as u64;
        each(end_ns, count);
        owed -= count as f64;
        begin_ns = end_ns;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use plimsoll_workload::{TargetShape, Workload};
    use serde_json::{Value, json};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn arrivals(arrival: &Value) -> Arrivals {
        let mut stream = json!({ "name": "s" });
        stream.as_object_mut().unwrap().extend(arrival.as_object().unwrap().clone());
        let workload = Workload::from_json(&json!({ "name": "w", "stream": [stream] }), "w.toml").unwrap();
        let shape = TargetShape { size_bytes: 1 << 30, block_bytes: 512 };
        Arrivals::new(&workload.resolve(shape, 1).unwrap()[0], 0)
    }

    #[test]
    fn ages_are_never_rounded_up_and_keep_three_digits() {
        for age_ns in [1, 1_023, 1_025, 16_000_000_123, u64::from(u32::MAX)] {
            let mut outstanding = Outstanding::default();
            outstanding.add(3, age_ns, 2);
            let &(cell, kept_ns) = outstanding.0.keys().next().unwrap();
            assert_eq!((cell, outstanding.count()), (3, 2));
            assert!(kept_ns <= age_ns && age_ns - kept_ns <= age_ns / 512, "{age_ns} kept as {kept_ns}");
        }
    }

    #[test]
    fn a_huge_backlog_is_counted_without_stepping_through_it() {
        let hour = 3_600 * SECOND;
        let schedule = json!([{ "at": 0, "rate": 2_000_000 }, { "at": "1800s", "rate": 0 }]);
        for (arrival, expected) in [
            (json!({ "arrival": "constant", "rate": 1_000_000 }), 3.6e9),
            (json!({ "arrival": "poisson", "rate": 1_000_000 }), 3.6e9),
            (json!({ "arrival": "burst", "rate": 1_000_000, "burst_size": 100 }), 3.6e9),
            (json!({ "arrival": "schedule", "schedule": schedule }), 3.6e9),
        ] {
            let mut process = arrivals(&arrival);
            let first_ns = process.next_ns();
            let (mut count, mut oldest_ns, mut newest_ns) = (0, u64::MAX, 0);
            due_in(&mut process, first_ns..hour, 1_000, |due_ns, more| {
                count += more;
                if more > 0 {
                    oldest_ns = oldest_ns.min(due_ns);
                    newest_ns = newest_ns.max(due_ns);
                }
            });
            assert!((count as f64 / expected - 1.0).abs() < 1e-4, "{arrival}: {count}");
            assert!(oldest_ns == first_ns && newest_ns <= hour, "{arrival}: {oldest_ns} to {newest_ns}");
        }
    }
}
