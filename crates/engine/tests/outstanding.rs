//! What is due or in flight when the measured time ends is told, with its latency or a lower bound of it.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_engine::control::StoppedBy;
use plimsoll_engine::{Control, histogram};
use plimsoll_workload::Op;
use serde_json::{Value, json};
use support::*;

/// Eight servers of 1 ms that answer nothing from second 2 to second 32.
const HANGING: &str = "queue:?service=const:1ms&servers=8&stall=2s+30s";

fn run(target: &str, stream: Value, options: Value) -> Finished {
    finish(&job(target, stream, options))
}

fn five_seconds() -> Value {
    json!({ "duration": "5s", "warmup": "0s", "interval": "1s" })
}

/// Count and longest age in ms of what was outstanding at the end of an interval, by operation.
fn outstanding(interval: &Value) -> Vec<(String, u64, f64)> {
    let cells = interval["outstanding"].as_array().unwrap().iter();
    let told = cells.map(|cell| {
        let ages = histogram::decode(cell["latency"].as_str().unwrap()).unwrap();
        assert_eq!(Some(ages.len()), cell["count"].as_u64());
        (cell["op"].as_str().unwrap().to_owned(), ages.len(), ages.max() as f64 / 1e6)
    });
    told.collect()
}

fn of_phase<'a>(finished: &'a Finished, phase: &str) -> &'a Value {
    finished.stored.iter().rfind(|interval| interval["phase"] == phase).unwrap()
}

#[test]
fn a_hanging_target_leaves_everything_that_was_due() {
    let stream = json!({ "arrival": "constant", "rate": 500, "queue_depth": 64 });
    let finished = run(HANGING, stream, five_seconds());
    assert_eq!(cell(&finished.measured, 0, Op::Read).count(), 1_000, "500/s for 2 s");
    // At the end of second 4 what was due since second 2 waits, at the end of second 5 the 500 after it, too.
    let found = outstanding(&finished.stored[3]);
    assert_eq!((found[0].1, found.len()), (1_000, 1));
    assert_near("oldest at 4 s", found[0].2, 2_000.0, 0.002);
    let found = outstanding(of_phase(&finished, "measure"));
    assert_eq!(found[0].1, 1_500);
    assert_near("oldest at 5 s", found[0].2, 3_000.0, 0.002);
    // 64 of them were in flight: the drain waits for their answers. The 65th was due at 2.128 s.
    let drain = of_phase(&finished, "drain");
    assert_eq!(drain["cells"][0]["count"], 64);
    let late = histogram::decode(drain["cells"][0]["latency"].as_str().unwrap()).unwrap();
    assert_near("late", late.max() as f64 / 1e6, 30_001.0, 0.002);
    let found = outstanding(drain);
    assert_eq!((found[0].1, finished.outcome.unissued), (1_436, 1_436));
    assert_near("oldest that was never issued", found[0].2, 5_000.0 - 2_128.0, 0.002);
}

#[test]
fn a_closed_loop_tells_how_long_its_requests_have_waited() {
    let finished = run(HANGING, json!({ "queue_depth": 16, "threads": 2 }), five_seconds());
    let found = outstanding(of_phase(&finished, "measure"));
    assert_eq!(found[0].1, 32);
    assert_near("oldest", found[0].2, 3_004.0, 0.002); // eight at a time: four turns of 1 ms
    // Of those that the stall met, 8 had been handed over when it began, 8 each 1, 2 and 3 ms earlier.
    let ages_ms = of_phase(&finished, "measure")["inflight_age_ns"].as_f64().unwrap() / 1e6;
    assert_near("ages of all that are in flight", ages_ms, 8.0 * (4.0 * 3_000.0 + 1.0 + 2.0 + 3.0), 0.001);
    assert!(outstanding(of_phase(&finished, "drain")).is_empty(), "all had their answer in the end");
}

#[test]
fn every_operation_has_its_own() {
    let stream = json!({ "arrival": "poisson", "rate": 500, "queue_depth": 64, "read_percent": 75 });
    let finished = run(HANGING, stream, five_seconds());
    for phase in ["measure", "drain"] {
        let found = outstanding(of_phase(&finished, phase));
        let [(read, reads, _), (write, writes, _)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((read.as_str(), write.as_str()), ("read", "write"));
        let all = (reads + writes) as f64;
        // Standard deviations of the share: 0.4 / √64 in flight, of which what waits takes its mix before the end.
        assert!((*reads as f64 / all - 0.75).abs() < 0.2, "{phase}: {found:?}");
    }
    let drained = outstanding(of_phase(&finished, "drain"));
    assert_eq!(drained.iter().map(|entry| entry.1).sum::<u64>(), finished.outcome.unissued);
}

#[test]
fn what_any_queue_holds_at_any_instant_is_served_in_the_drain() {
    // Two servers at 90 %, few slots: at the end some requests usually wait for a slot.
    let mut waited = 0;
    for seed in 0..20 {
        let stream = json!({ "arrival": "poisson", "rate": 1_800, "queue_depth": 8 });
        let options = json!({ "duration": "1s", "warmup": "0s", "seed": seed });
        let finished = run("queue:?service=exp:1ms&servers=2", stream, options);
        let last = outstanding(of_phase(&finished, "measure"));
        let due = cell(&finished.measured, 0, Op::Read).count() + last.first().map_or(0, |entry| entry.1);
        let served = cell(&finished.everything, 0, Op::Read).count();
        waited += u64::from(last.first().is_some_and(|entry| entry.1 > 8));
        if finished.outcome.unissued == 0 {
            assert_eq!(served, due, "seed {seed}");
            assert!(outstanding(of_phase(&finished, "drain")).is_empty());
        } else {
            assert!(finished.outcome.unissued > 8, "seed {seed}: a backlog that is given up is longer than the queue");
        }
    }
    assert!(waited > 0, "at no end did anything wait for a slot, so nothing was shown");
}

/// Eight servers that answer nothing before second 30, and some of it with an error; 100 requests are due in the 200 ms of the run.
#[test]
fn an_error_while_the_end_is_waited_for_leaves_what_was_still_to_be_served() {
    let overlapping = json!({ "region_length": "4KiB", "read_percent": 0, "verify": "all" });
    for (more, in_flight) in [(json!({}), 64), (overlapping, 1)] {
        let mut stream = json!({ "arrival": "constant", "rate": 500, "queue_depth": 64 });
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let target = "queue:?service=const:1ms&servers=8&size=1MiB&stall=0s+30s&error_percent=100";
        let finished = run(target, stream, json!({ "duration": "200ms", "warmup": "0s" }));
        assert_eq!(finished.outcome.stopped_by, StoppedBy::Error);
        assert_eq!(finished.outcome.unissued, 100 - in_flight);
        let found = outstanding(of_phase(&finished, "drain"));
        assert_eq!(found.iter().map(|entry| entry.1).sum::<u64>(), 100 - in_flight, "{found:?}");
    }
}

#[test]
fn an_overload_gives_up_its_backlog_and_tells_its_ages() {
    let stream = json!({ "arrival": "constant", "rate": 2_000, "queue_depth": 16 });
    let finished = run("queue:?service=const:1ms", stream, five_seconds());
    let found = outstanding(of_phase(&finished, "drain"));
    assert_eq!((found[0].1, finished.outcome.unissued), (4_985, 4_985), "5,015 of 10,000 were issued");
    assert_near("oldest", found[0].2, 5_000.0 - 5_015.0 / 2.0, 0.002);
}

#[test]
fn the_end_of_the_warm_up_tells_what_the_measured_time_begins_with() {
    let options = json!({ "duration": "1s", "warmup": "1s", "interval": "500ms" });
    let finished = run("queue:?service=const:1ms&servers=8", json!({ "queue_depth": 32 }), options);
    assert_eq!(outstanding(of_phase(&finished, "warmup"))[0].1, 32);
}

#[test]
fn a_stream_that_ends_early_owes_what_was_due_until_then() {
    let stream = json!({ "arrival": "constant", "rate": 500, "queue_depth": 64, "end_after": "3s" });
    let finished = run(HANGING, stream, five_seconds());
    // Due from 2 s to 3 s: 500, of which 64 are in flight.
    assert_eq!(finished.outcome.unissued, 436);
    let found = outstanding(of_phase(&finished, "drain"));
    assert_eq!(found[0].1, 436);
    assert_near("oldest when its time was over", found[0].2, 3_000.0 - 2_128.0, 0.002);
}

#[test]
fn whoever_is_stopped_tells_what_waited_then() {
    let control = Control::default();
    let mut intervals = 0;
    let recording = Recording {
        after_interval: Box::new(|| {
            intervals += 1;
            if intervals == 3 {
                control.stop(StoppedBy::Signal);
            }
        }),
        ..Recording::default()
    };
    let stream = json!({ "arrival": "constant", "rate": 500, "queue_depth": 64 });
    let options = json!({ "duration": "1000s", "warmup": "0s", "interval": "1s" });
    let finished = try_finish(&job(HANGING, stream, options), recording, &control).unwrap();
    // Virtual time ran on until the worker looked; whatever was due by then had an answer or is told.
    let last = of_phase(&finished, "measure");
    let due = last["end_ns"].as_u64().unwrap().div_ceil(2_000_000);
    let open = outstanding(last).first().map_or(0, |entry| entry.1);
    assert_eq!(cell(&finished.measured, 0, Op::Read).count() + open, due);
}
