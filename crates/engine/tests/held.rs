//! A run that is held: it begins at the instant that it is told, on every thread, and not before.

#![allow(clippy::unwrap_used)]

mod support;

use std::cell::Cell;

use plimsoll_engine::clock::monotonic_ns;
use plimsoll_engine::{Control, Interval, Sink, run};
use serde_json::json;
use support::*;

/// Says, when the run is ready, that it begins so many nanoseconds later.
struct Appointing<'a> {
    control: &'a Control,
    ahead_ns: u64,
    asked_ns: Cell<u64>,
}

impl Sink for Appointing<'_> {
    fn ready(&mut self) {
        self.asked_ns.set(monotonic_ns() + self.ahead_ns);
        self.control.begin(self.asked_ns.get());
    }

    fn interval(&mut self, _: &Interval) {}
}

#[test]
fn no_thread_of_a_held_run_begins_before_its_instant() {
    let job = job("null:", json!({ "threads": 4 }), json!({ "duration": "5ms", "warmup": "0s" }));
    let control = Control::default();
    control.hold();
    let mut sink = Appointing { control: &control, ahead_ns: 80 * MS, asked_ns: Cell::new(0) };
    let outcome = run(&job, &mut sink, &control).unwrap();
    assert!(sink.asked_ns.get() > 0, "it said that it was ready");
    assert!(outcome.start_ns.0 >= sink.asked_ns.get(), "{} before {}", outcome.start_ns.0, sink.asked_ns.get());
    assert!(monotonic_ns() >= sink.asked_ns.get() + 5 * MS, "the duration counts from the instant");
}
