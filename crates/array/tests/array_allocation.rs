//! No memory is asked for per request: once an array has seen its load, it runs on in what it has.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod counting;
mod speed_goals;
mod support;

use counting::allocations;
use plimsoll_array::{Array, Completion};
use serde_json::{Value, json};
use support::{Next, built, cached, kinds, random, with_failure};

/// A closed loop that itself asks for no memory.
struct Load<'a> {
    array: Array,
    next: Next<'a>,
    number: u64,
    done: Vec<Completion>,
}

impl Load<'_> {
    fn issue(&mut self, token: u32) {
        let now_ns = self.array.now_ns();
        let request = (self.next)(self.number);
        self.array.submit(now_ns, token, request);
        self.number += 1;
    }

    /// Allocations while so many more requests are issued.
    fn run(&mut self, count: u64) -> u64 {
        let (before, end) = (allocations(), self.number + count);
        let mut done = std::mem::take(&mut self.done);
        while self.number < end {
            done.clear();
            self.array.run_until(u64::MAX, &mut done);
            for finished in &done {
                self.issue(finished.token);
            }
        }
        self.done = done;
        allocations() - before
    }
}

/// A group with a cache, of which a member is rebuilt all the time.
fn rebuilding(priority_percent: u32) -> Value {
    let mut document = with_failure(cached("raid5", 4, 256), 1);
    document["group"][0]["rebuild"] = json!({ "priority_percent": priority_percent, "rate_bytes_per_s": 20_000_000 });
    document
}

#[test]
fn the_array_loop_allocates_nothing_per_request() {
    let mut documents = kinds();
    documents.extend([speed_goals::raid0(), speed_goals::raid5()]);
    documents.extend([100, 50, 0].map(rebuilding));
    for document in documents {
        let array = built(&document, 1);
        let span = array.sectors();
        let mut load = Load { array, next: random(7, 16, 60, span), number: 0, done: Vec::with_capacity(64) };
        (0..32).for_each(|token| load.issue(token));
        let at_first = load.run(200_000);
        // The most that were ever outstanding at once, or dirty, may still be seen a little later.
        let later = load.run(60_000);
        assert!(later <= 4, "{}: {later} allocations in 60,000 requests, {at_first} before", document["name"]);
    }
}
