//! Threads with an amount end when they have issued it, and the job with the last of them.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_engine::control::StoppedBy;
use plimsoll_engine::timeline::Phase;
use plimsoll_workload::Op;
use serde_json::{Value, json};
use support::*;

const SERVER: &str = "queue:?service=const:1ms&size=1GiB";

fn to_the_end(target: &str, streams: Value) -> Finished {
    finish(&job(target, streams, json!({ "duration": "1000s", "warmup": "0s" })))
}

#[test]
fn a_job_ends_when_its_requests_are_done_and_all_of_them_count() {
    let finished = to_the_end(SERVER, json!({ "requests": 500, "queue_depth": 4 }));
    assert_eq!(cell(&finished.measured, 0, Op::Read).count(), 500);
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Amount);
    let end_ns = finished.spans.iter().filter(|span| span.phase == Phase::Measure).map(|span| span.end_ns).max();
    assert_eq!(end_ns, Some(500 * MS), "one server at 1 ms");
}

#[test]
fn each_thread_transfers_the_amount_and_the_last_request_may_exceed_it() {
    for (amount, requests) in [(json!("64KiB"), 8), (json!("65KiB"), 9), (json!(1), 1), (json!("50%"), 65_536)] {
        let stream = json!({ "amount": amount, "block_size": "8KiB", "threads": 3, "queue_depth": 2 });
        let finished = to_the_end("queue:?service=const:1us&size=1GiB", stream);
        assert_eq!(cell(&finished.measured, 0, Op::Read).count(), 3 * requests, "{amount}");
    }
}

#[test]
fn a_job_goes_on_until_its_last_stream_has_ended() {
    let streams = json!([
        { "name": "short", "requests": 10 },
        { "name": "long", "requests": 100, "queue_depth": 1 },
    ]);
    let finished = to_the_end("queue:?service=const:1ms&servers=2", streams);
    assert_eq!(cell(&finished.measured, 0, Op::Read).count(), 10);
    assert_eq!(cell(&finished.measured, 1, Op::Read).count(), 100);
    assert_eq!(finished.outcome.end_ns, 100 * MS);
}

#[test]
fn beside_a_stream_without_end_the_duration_holds() {
    let streams = json!([{ "name": "short", "requests": 10 }, { "name": "endless" }]);
    let finished = finish(&job(SERVER, streams, json!({ "duration": "5s", "warmup": "0s" })));
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Duration);
    assert_eq!(finished.outcome.end_ns, 5 * SECOND);
}

#[test]
fn open_and_thinking_threads_end_as_well() {
    for stream in [
        json!({ "requests": 50, "arrival": "constant", "rate": 100, "queue_depth": 8 }),
        json!({ "requests": 50, "think_time": "9ms" }),
    ] {
        let finished = to_the_end(SERVER, stream.clone());
        assert_eq!(cell(&finished.measured, 0, Op::Read).count(), 50, "{stream}");
        assert_eq!(finished.outcome.unissued, 0);
        assert!(finished.outcome.end_ns <= 600 * MS, "{stream}: {}", finished.outcome.end_ns);
    }
}

#[test]
fn flushes_that_are_inserted_are_no_part_of_the_amount_and_stand_between_writes() {
    // The one that falls due with the very last write is left out; flush_at_end asks for it.
    for (more, flushes) in [(json!({}), 4), (json!({ "flush_at_end": true }), 5)] {
        let mut stream = json!({ "read_percent": 0, "requests": 40, "flush_every": 8, "queue_depth": 1 });
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let finished = to_the_end(SERVER, stream);
        assert_eq!(cell(&finished.measured, 0, Op::Write).count(), 40);
        assert_eq!(cell(&finished.measured, 0, Op::Flush).count(), flushes, "{more}");
    }
}

#[test]
fn one_flush_of_each_thread_follows_its_last_write() {
    let stream = json!({ "read_percent": 0, "requests": 40, "flush_at_end": true, "queue_depth": 8, "threads": 2 });
    let finished = to_the_end(SERVER, stream);
    assert_eq!(cell(&finished.measured, 0, Op::Write).count(), 80);
    assert_eq!(cell(&finished.measured, 0, Op::Flush).count(), 2);
    assert_eq!(finished.outcome.end_ns, 82 * MS, "flushes wait for the server after all writes");
}

#[test]
fn a_stream_that_starts_later_issues_nothing_before() {
    for more in [json!({}), json!({ "arrival": "constant", "rate": 1000 }), json!({ "think_time": "1us" })] {
        let mut stream = json!({ "start_after": "2s", "queue_depth": 1 });
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let times = json!({ "duration": "5s", "warmup": "0s", "interval": "1s" });
        let finished = finish(&job("queue:?service=const:500us", stream, times));
        let counts: Vec<bool> = finished.spans.iter().take(5).map(|span| span.count > 900).collect();
        assert_eq!(counts, [false, false, true, true, true], "{more}");
        assert!(finished.spans.iter().take(2).all(|span| span.count == 0), "{more}");
    }
}

#[test]
fn a_stream_ends_at_its_own_time_and_the_job_with_the_last() {
    for more in [json!({}), json!({ "arrival": "constant", "rate": 1000 }), json!({ "think_time": "1us" })] {
        let mut short = json!({ "name": "short", "end_after": "2s", "queue_depth": 1 });
        short.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let long = json!({ "name": "long", "end_after": "4s" });
        let finished = to_the_end("queue:?service=const:500us&servers=2", json!([short, long]));
        assert_eq!(finished.outcome.stopped_by, StoppedBy::Amount, "{more}");
        assert!((4 * SECOND..4 * SECOND + MS).contains(&finished.outcome.end_ns), "{}", finished.outcome.end_ns);
        let count = cell(&finished.measured, 0, Op::Read).count();
        let expected = if more.get("arrival").is_some() { 1990..2001 } else { 3900..4002 };
        assert!(expected.contains(&count), "{more}: {count}");
        assert_eq!(finished.outcome.unissued, 0, "what would be due later is nobody's");
    }
}

#[test]
fn a_time_that_is_never_reached_keeps_no_job_waiting() {
    let finished = to_the_end(SERVER, json!({ "requests": 10, "end_after": "500s" }));
    assert_eq!(finished.outcome.end_ns, 10 * MS);
}

#[test]
fn a_file_is_written_exactly_once_over_several_workers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let stream = json!({
        "read_percent": 0, "random_percent": 0, "sequential": "per_thread", "threads": 4, "amount": "25%",
        "block_size": "64KiB", "direct": false,
    });
    let mut job = job(path.to_str().unwrap(), stream, json!({ "duration": "60s", "warmup": "0s", "workers": 2 }));
    std::fs::write(&path, vec![0; 16 << 20]).unwrap();
    job.permission.typed = Some(path.to_str().unwrap().to_owned());
    let finished = finish(&job);
    assert_eq!(cell(&finished.measured, 0, Op::Write).count(), 256);
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Amount);
    let written = std::fs::read(&path).unwrap();
    assert!(written.chunks(65536).all(|block| block.iter().any(|&byte| byte != 0)), "every block was reached");
}
