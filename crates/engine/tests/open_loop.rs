//! Open arrival: a stall of the device is seen by every request that was due during it, however few slots there are.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_workload::Op;
use serde_json::{Value, json};
use support::*;

/// 10 s at a server that takes 100 µs, and nothing from second 4 to second 5.
const STALLING: &str = "queue:?service=const:100us&stall=4s+1s";

fn ten_seconds(target: &str, stream: Value) -> Finished {
    finish(&job(target, stream, json!({ "duration": "10s", "warmup": "0s" })))
}

fn constant(queue_depth: u32, threads: u32) -> Finished {
    let stream = json!({ "arrival": "constant", "rate": 1000, "queue_depth": queue_depth, "threads": threads });
    ten_seconds(STALLING, stream)
}

/// Request number i of the stall is due at 4 s + i ms and leaves at 5 s + (i + 1) · 0.1 ms: it took 1000.1 − 0.9 i ms.
fn stalled_ms(i: f64) -> f64 {
    1000.1 - 0.9 * i
}

#[test]
fn a_stall_is_in_the_percentiles_whether_slots_are_many_or_few() {
    for (queue_depth, threads) in [(2048, 1), (16, 1), (1, 1), (64, 4)] {
        let finished = constant(queue_depth, threads);
        let reads = cell(&finished.measured, 0, Op::Read);
        assert_eq!(reads.count(), 10_000, "1,000/s in 10 s");
        // The 9,900th of 10,000 in order is the 101st from the top: i = 100. Histogram steps are 1/1024.
        let p99_ms = reads.latency.value_at_quantile(0.99) as f64 / 1e6;
        assert_near("p99", p99_ms, stalled_ms(100.0), 0.002);
        assert_near("max", reads.latency.max() as f64 / 1e6, stalled_ms(0.0), 0.001);
        assert_near("p50", reads.latency.value_at_quantile(0.5) as f64, 100_000.0, 0.001);
        // Σ over the 1,111 requests that wait (1000.1 − 0.9 i > 0.1 ms), and 0.1 ms for each other.
        let waiting: f64 = (0..=1111).map(|i| stalled_ms(f64::from(i)) - 0.1).sum();
        assert_near("mean", mean_ns(reads), (waiting + 0.1 * 10_000.0) / 10_000.0 * 1e6, 0.001);
        assert_eq!(finished.outcome.unissued, 0, "everything that was due was issued in the end");
    }
}

#[test]
fn with_few_slots_service_time_hides_what_latency_shows() {
    let finished = constant(1, 1);
    let reads = cell(&finished.measured, 0, Op::Read);
    let service = reads.service.as_ref().unwrap();
    assert_near("p99.9 of service", service.value_at_quantile(0.999) as f64, 100_000.0, 0.001);
    assert!(reads.latency.value_at_quantile(0.99) > 900 * MS);
}

#[test]
fn a_closed_loop_hides_the_stall_but_for_one_request_per_slot() {
    let finished = ten_seconds(STALLING, json!({ "queue_depth": 1 }));
    let reads = cell(&finished.measured, 0, Op::Read);
    assert!(reads.service.is_none(), "latency and service time are the same");
    // One completion at the very end of the run belongs to the drain.
    assert_eq!(cell(&finished.everything, 0, Op::Read).count(), 90_000, "10,000/s in the 9 s that were left");
    assert_near("p99.99", reads.latency.value_at_quantile(0.9999) as f64, 100_000.0, 0.001);
    assert_near("max", reads.latency.max() as f64, 1_000_100_000.0, 0.001);
}

#[test]
fn being_behind_is_shown_for_every_interval_of_the_stall() {
    let stream = json!({ "arrival": "constant", "rate": 1000, "queue_depth": 1 });
    let times = json!({ "duration": "10s", "warmup": "0s", "interval": "1s" });
    let finished = finish(&job(STALLING, stream, times));
    let behind_ms: Vec<u64> = finished.spans.iter().take(10).map(|span| span.behind_ns / MS).collect();
    // At 5 s the request due at 4.001 s is the oldest that waits for the slot; at other times nothing does.
    assert_eq!(behind_ms, [0, 0, 0, 0, 999, 0, 0, 0, 0, 0]);
}

#[test]
fn an_overloaded_server_leaves_a_backlog_that_adds_up() {
    let stream = json!({ "arrival": "constant", "rate": 2000, "queue_depth": 16 });
    let finished = ten_seconds("queue:?service=const:1ms", stream);
    let issued = cell(&finished.everything, 0, Op::Read).count();
    // One completes per ms, the one at 10 s exactly belongs to the drain, as do the 15 that then are still outstanding.
    assert_eq!(cell(&finished.measured, 0, Op::Read).count(), 9_999);
    assert_eq!(issued, 10_015);
    assert_eq!(issued + finished.outcome.unissued, 20_000, "2,000/s in 10 s");
    // The next one was due at 10,015 / 2,000 s.
    let last = finished.spans.iter().rev().nth(1).unwrap();
    assert_near("behind", last.behind_ns as f64 / 1e9, 10.0 - 10_015.0 / 2_000.0, 0.001);
    // Request i is due at i / 2 ms and leaves at i + 1 ms.
    let max_ms = cell(&finished.measured, 0, Op::Read).latency.max() as f64 / 1e6;
    assert_near("the last one's latency", max_ms, 9_999.0 - 9_998.0 / 2.0, 0.001);
    finished.assert_continuous();
}

#[test]
fn bursts_queue_behind_each_other() {
    let stream = json!({ "arrival": "burst", "rate": 1000, "burst_size": 10, "queue_depth": 64 });
    let finished = ten_seconds("queue:?service=const:500us", stream);
    let reads = cell(&finished.measured, 0, Op::Read);
    assert_eq!(reads.count(), 10_000);
    // Ten at once every 10 ms take 0.5, 1.0, … 5.0 ms.
    assert_eq!(reads.latency_sum_ns, 10_000 * 2_750_000);
    assert_near("max", reads.latency.max() as f64, 5e6, 0.001);
    assert_near("min", reads.latency.min() as f64, 5e5, 0.001);
}

#[test]
fn a_schedule_changes_the_rate_when_it_says() {
    let schedule = json!([{ "at": 0, "rate": 20_000 }, { "at": "4s", "rate": 0 }, { "at": "6s", "rate": 80_000 }]);
    let stream = json!({ "arrival": "schedule", "schedule": schedule, "queue_depth": 64 });
    let times = json!({ "duration": "10s", "warmup": "0s", "interval": "2s" });
    let finished = finish(&job("queue:?service=const:1us", stream, times));
    let counts: Vec<f64> = finished.spans.iter().map(|span| span.count as f64).collect();
    // Poisson counts: the standard deviation is the root, 0.5 % of 40,000; the drain has at most one.
    for (found, expected) in counts.iter().zip([40_000.0, 40_000.0, 0.0, 160_000.0, 160_000.0]) {
        assert!((found - expected).abs() <= 4.0 * f64::sqrt(expected), "{counts:?}");
    }
    let window = finished.outcome.window_ns.clone();
    let offered = finished.outcome.plans[0].arrival.offered_per_s(window).unwrap();
    assert_near("offered", offered, 40_000.0, 1e-9); // (4 · 20,000 + 4 · 80,000) / 10
}

#[test]
fn open_and_closed_streams_run_side_by_side() {
    let streams = json!([
        { "name": "open", "arrival": "constant", "rate": 1000, "queue_depth": 8 },
        { "name": "closed", "queue_depth": 1, "think_time": "1ms", "read_percent": 0 },
    ]);
    let finished = ten_seconds("queue:?service=const:100us&servers=4", streams);
    assert_eq!(cell(&finished.measured, 0, Op::Read).count(), 10_000);
    // A cycle of 1.1 ms; the first completes at 0.1 ms, the last before 10 s.
    assert_eq!(cell(&finished.measured, 1, Op::Write).count(), (10_000_000 - 100_000_u64 / 1_000) / 1_100 + 1);
    assert!(finished.measured.cells[4].is_none(), "the closed stream does not read");
}

/// Keeps the boundaries that are announced.
#[derive(Default)]
struct Ticks(Vec<u64>);

impl plimsoll_engine::Sink for Ticks {
    fn tick(&mut self, index: u64) {
        self.0.push(index);
    }

    fn interval(&mut self, _: &plimsoll_engine::Interval) {}
}

#[test]
fn every_boundary_is_announced_once_in_real_time_and_none_in_virtual_time() {
    for (target, expected) in [("null:?size=1MiB", (0..=4).collect()), ("queue:?service=const:1ms", vec![])] {
        let options = json!({ "duration": "300ms", "warmup": "50ms", "interval": "100ms" });
        let mut ticks = Ticks::default();
        let job = job(target, json!({ "think_time": "1ms" }), options);
        plimsoll_engine::run(&job, &mut ticks, &plimsoll_engine::Control::default()).unwrap();
        assert_eq!(ticks.0, expected, "{target}: one of warm-up, three measured, and the end");
    }
}

#[test]
fn requests_due_while_a_real_device_is_slow_are_counted_from_when_they_were_due() {
    // Real time: nothing here depends on how fast the machine is, only on sums.
    let stream = json!({ "arrival": "constant", "rate": 2000, "queue_depth": 4, "threads": 2 });
    let finished = finish(&job("null:?size=1MiB", stream, json!({ "duration": "500ms", "warmup": "0s" })));
    let reads = cell(&finished.everything, 0, Op::Read);
    assert_eq!(reads.count() + finished.outcome.unissued, 1_000, "2,000/s in 0.5 s");
    assert!(reads.latency_sum_ns >= reads.service_sum_ns);
    finished.assert_continuous();
}
