//! Threads that are held back: waves, pauses, ratios between streams, overlaps. Virtual time, so instants are exact.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_workload::Op;
use serde_json::{Value, json};
use support::*;

/// As many servers as anybody asks, 1 ms each.
const SERVERS: &str = "queue:?service=const:1ms&servers=64&size=1GiB";

fn to_the_end(target: &str, streams: Value) -> Finished {
    finish(&job(target, streams, json!({ "duration": "100s", "warmup": "0s" })))
}

#[test]
fn a_queue_that_is_refilled_when_it_is_empty_goes_in_waves() {
    // One server: a queue of 4 that is topped up has 4 outstanding all the time and a mean latency of 4 ms; in waves the
    // latencies are 1, 2, 3 and 4 ms.
    let one = "queue:?service=const:1ms&servers=1&size=1GiB";
    for (refill, mean_ms) in [(json!(null), 4.0), (json!(0), 2.5), (json!(2), 3.5)] {
        let mut stream = json!({ "requests": 4000, "queue_depth": 4 });
        if !refill.is_null() {
            stream["refill_depth"] = refill.clone();
        }
        let finished = to_the_end(one, stream);
        let mean = cell(&finished.measured, 0, Op::Read).latency.mean() / 1e6;
        assert!((mean - mean_ms).abs() < 0.01, "refill_depth {refill}: {mean} ms");
    }
}

#[test]
fn a_pause_comes_after_so_many_requests_when_all_are_back() {
    let stream = json!({ "requests": 60, "queue_depth": 4, "pause": "10ms", "pause_requests": 12 });
    // Twelve requests at depth 4 are 3 ms; five rounds, four pauses between them.
    assert_eq!(to_the_end(SERVERS, stream).outcome.end_ns, (5 * 3 + 4 * 10) * MS);
}

#[test]
fn a_pause_comes_after_so_much_time() {
    let stream = json!({ "requests": 60, "queue_depth": 2, "pause": "10ms", "pause_interval": "5ms" });
    // Five milliseconds are ten requests at depth 2; six rounds, five pauses.
    assert_eq!(to_the_end(SERVERS, stream).outcome.end_ns, (6 * 5 + 5 * 10) * MS);
}

#[test]
fn streams_keep_the_ratio_of_their_shares() {
    for (threads, depth) in [(1, 1), (1, 8), (3, 2)] {
        let streams = json!([
            { "name": "much", "share": 8, "queue_depth": depth, "threads": threads, "end_after": "2s" },
            { "name": "little", "share": 1, "queue_depth": depth, "threads": threads, "end_after": "2s" },
            { "name": "free", "queue_depth": 1, "end_after": "2s" },
            { "name": "other", "share": 1, "share_group": 7, "queue_depth": 1, "end_after": "2s" },
        ]);
        let finished = to_the_end(SERVERS, streams);
        let count = |stream| cell(&finished.measured, stream, Op::Read).count();
        let ratio = count(0) as f64 / count(1) as f64;
        assert!((ratio - 8.0).abs() < 0.2, "{} to {}", count(0), count(1));
        assert_eq!((count(2), count(3)), (2001, 2001), "who shares with nobody waits for nobody");
    }
}

#[test]
fn a_stream_that_has_ended_holds_nobody_up() {
    let streams = json!([
        { "name": "short", "share": 1, "requests": 100 },
        { "name": "long", "share": 1, "requests": 1000 },
    ]);
    let finished = to_the_end(SERVERS, streams);
    assert_eq!(cell(&finished.measured, 1, Op::Read).count(), 1000);
    assert!(finished.outcome.end_ns < 1010 * MS, "{}", finished.outcome.end_ns);
}

#[test]
fn overlapping_requests_of_a_thread_come_one_after_the_other() {
    // All requests ask for the one block there is: at depth 8 they are as slow as at depth 1.
    let stream = |serialize| json!({ "requests": 100, "queue_depth": 8, "region_length": "4KiB", "serialize_overlap": serialize });
    assert_eq!(to_the_end(SERVERS, stream(true)).outcome.end_ns, 100 * MS);
    assert_eq!(to_the_end(SERVERS, stream(false)).outcome.end_ns, 13 * MS);
}

#[test]
fn held_threads_start_later_and_flush_as_others_do() {
    let stream = json!({
        "read_percent": 0, "requests": 40, "queue_depth": 4, "refill_depth": 0, "flush_every": 10, "flush_at_end": true,
        "start_after": "1s",
    });
    let finished = to_the_end(SERVERS, stream);
    assert_eq!(cell(&finished.measured, 0, Op::Write).count(), 40);
    assert_eq!(cell(&finished.measured, 0, Op::Flush).count(), 4);
    assert!(finished.outcome.end_ns > SECOND + 10 * MS);
}

#[test]
fn what_holds_a_thread_goes_with_verification() {
    let stream = json!({
        "read_percent": 50, "requests": 400, "queue_depth": 8, "refill_depth": 4, "serialize_overlap": true,
        "region_length": "64KiB", "verify": "all",
    });
    let finished = to_the_end("queue:?service=const:1ms&servers=8&size=1MiB", stream);
    let findings = finished.outcome.findings.unwrap();
    assert!(findings.is_clean() && findings.sectors_checked > 0, "{findings:?}");
}

/// Writes of 1 ms, as many at a time as the queue has room for, and a flush after every fourth: with it all four come back.
#[test]
fn a_flush_that_holds_its_thread_lets_nothing_be_issued_until_it_is_back() {
    let counts = |more: Value| {
        let mut stream = json!({ "read_percent": 0, "queue_depth": 16, "flush_every": 4 });
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let options = json!({ "duration": "1s", "warmup": "0s" });
        let finished = finish(&job(SERVERS, stream, options));
        (cell(&finished.everything, 0, Op::Write).count(), cell(&finished.everything, 0, Op::Flush).count())
    };
    assert_eq!(counts(json!({ "flush_holds": true })), (4_000, 1_000));
    assert_eq!(counts(json!({})), (12_800, 3_200), "16 slots, of which every fifth flushes");
    let every_millisecond = json!({ "arrival": "burst", "rate": 16_000, "burst_size": 16, "flush_holds": true });
    assert_eq!(counts(every_millisecond).1, 1_000, "of a thread whose requests are due, too");
    assert_eq!(counts(json!({ "flush_holds": true, "threads": 3 })), (12_000, 3_000), "each thread by itself");
    assert_eq!(
        counts(json!({ "flush_holds": true, "flush_every": 1, "pause": "1ms", "pause_requests": 2 })),
        (500, 500)
    );
}

/// Of two slots one has a write whose delay ends after 2 ms, the other a flush that is back after 4 ms.
#[test]
fn a_flush_that_holds_its_thread_holds_delayed_requests_until_it_is_back() {
    let ended = |holds, duration: &str, more: Value| {
        let access = json!([{ "size": "4KiB", "read_percent": 0, "delay": "2ms" }]);
        let mut stream = json!({ "access": access, "queue_depth": 2, "flush_every": 1, "flush_holds": holds });
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let target = "queue:?service=const:4ms&servers=64&size=1GiB";
        let finished = finish(&job(target, stream, json!({ "duration": duration, "warmup": "0s" })));
        (cell(&finished.measured, 0, Op::Write).count(), cell(&finished.everything, 0, Op::Write).count())
    };
    assert_eq!(ended(false, "7ms", json!({})).0, 1, "issued after 2 ms");
    assert_eq!(ended(true, "7ms", json!({})).0, 0, "issued after 4 ms");
    assert_eq!(ended(true, "9ms", json!({})).0, 1);
    assert_eq!(ended(true, "3ms", json!({})), (0, 0), "the end comes while it is held");
    assert_eq!(ended(true, "100s", json!({ "requests": 40 })).1, 40);
    assert_eq!(ended(true, "100s", json!({ "requests": 40, "end_after": "3ms" })).1, 0, "its stream ends before");
}
