//! Writes of a verified run that overlap wait their turn: everything that is drawn is written, and once.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_engine::Control;
use plimsoll_engine::control::StoppedBy;
use plimsoll_workload::Op;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::*;

const SECTOR: u64 = 512;

/// A job of 1,000 s at most that has to end by its amount, clean and without an error.
fn to_the_end(target: &str, streams: Value, backend: &str) -> Finished {
    let options = json!({ "duration": "1000s", "warmup": "0s", "backend": backend });
    let finished = try_finish(&job(target, streams, options), Recording::default(), &Control::default()).unwrap();
    assert_eq!((finished.outcome.stopped_by, finished.outcome.first_error), (StoppedBy::Amount, None));
    assert!(finished.outcome.findings.as_ref().unwrap().is_clean(), "{:#?}", finished.outcome.findings);
    finished
}

fn written(finished: &Finished) -> (u64, u64) {
    let writes = cell(&finished.everything, 0, Op::Write);
    (writes.count(), writes.bytes)
}

fn sectors(finished: &Finished) -> u64 {
    finished.outcome.findings.as_ref().unwrap().sectors_checked
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn a_verified_run_writes_the_amount_whatever_overlaps(
        (blocks, passes, depth, threads) in (1u64..40, 1u64..5, 1u32..80, 1u32..4),
        (servers, random_percent, seed) in (1u32..40, prop::sample::select(vec![0, 50, 100]), any::<u32>()),
    ) {
        let stream = json!({
            "read_percent": 0, "random_percent": random_percent, "queue_depth": depth, "threads": threads, "verify": "all",
            "region_length": blocks * 4096, "amount": blocks * passes * 4096,
        });
        let target = format!("queue:?service=exp:1ms&servers={servers}&size=1MiB&seed={seed}");
        let finished = to_the_end(&target, stream, "auto");
        let requests = blocks * passes * u64::from(threads);
        prop_assert_eq!(written(&finished), (requests, requests * 4096));
    }

    /// As many bytes as the region has, and all of the region: no block twice, none left out.
    #[test]
    fn a_verified_pass_writes_every_block_once(
        (blocks, depth, servers) in (1u64..60, 1u32..80, 1u32..40),
        distribution in prop::sample::select(vec!["", "permutation"]),
    ) {
        let mut stream = json!({
            "read_percent": 0, "random_percent": 0, "queue_depth": depth, "verify": "all", "amount": blocks * 4096,
            "region_length": blocks * 4096,
        });
        if distribution == "permutation" {
            stream["random_percent"] = json!(100);
            stream["distribution"] = json!(distribution);
        }
        let finished = to_the_end(&format!("queue:?service=exp:1ms&servers={servers}&size=1MiB"), stream, "auto");
        prop_assert_eq!(written(&finished), (blocks, blocks * 4096));
        prop_assert_eq!(sectors(&finished), blocks * 4096 / SECTOR);
    }

    #[test]
    fn requests_of_several_sizes_that_overlap_in_part_are_all_written(depth in 1u32..64, requests in 1u64..300) {
        let stream = json!({
            "read_percent": 0, "block_size": "4KiB-32KiB", "align": "4KiB", "region_length": "128KiB", "verify": "all",
            "queue_depth": depth, "requests": requests,
        });
        let finished = to_the_end("queue:?service=exp:1ms&servers=16&size=1MiB", stream, "auto");
        prop_assert_eq!(written(&finished).0, requests);
    }
}

/// What the audit ran, on a file: 64 KiB at random in 16 MiB, at four depths.
#[test]
fn the_amount_is_written_to_a_file_at_every_depth() {
    for backend in file_backends().into_iter().chain(["mmap"]) {
        for queue_depth in [1, 16, 64, 256] {
            let directory = directory();
            let path = hollow_file(directory.path(), "file", 16 * MIB);
            let stream = json!({
                "read_percent": 0, "random_percent": 100, "block_size": "64KiB", "queue_depth": queue_depth, "verify": "all",
                "amount": "16MiB", "region_length": "16MiB", "direct": backend != "mmap",
            });
            let finished = to_the_end(path.to_str().unwrap(), stream, backend);
            assert_eq!(written(&finished), (256, 16 * MIB), "{backend} at depth {queue_depth}");
        }
    }
}

/// Blocks that other workers write: nobody tells when such a write has come back.
#[test]
fn streams_of_several_workers_that_share_blocks_write_their_amounts() {
    for backend in file_backends() {
        let directory = directory();
        let path = hollow_file(directory.path(), "file", MIB);
        let stream = json!({
            "read_percent": 0, "random_percent": 0, "sequential": "same_start", "threads": 4, "queue_depth": 8,
            "region_length": "64KiB", "amount": "1MiB", "verify": "all",
        });
        let mut job =
            job(path.to_str().unwrap(), stream, json!({ "duration": "1000s", "warmup": "0s", "backend": backend }));
        job.options.workers = 4;
        let finished = finish(&job);
        assert_eq!(finished.outcome.stopped_by, StoppedBy::Amount);
        assert_eq!(written(&finished), (1024, 4 * MIB), "{backend}");
        assert_eq!(sectors(&finished), 128, "{backend}");
        assert!(finished.outcome.findings.unwrap().is_clean(), "{backend}");
    }
}

/// One block, a server of 1 ms for each of the requests that are due at once: each waits for those before it.
#[test]
fn a_write_that_waits_has_its_turn_and_counts_from_when_it_was_due() {
    let stream = json!({
        "read_percent": 0, "verify": "all", "queue_depth": 64, "arrival": "burst", "rate": 100, "burst_size": 10,
    });
    let finished = finish(&job(
        "queue:?service=const:1ms&servers=64&size=4KiB",
        stream,
        json!({ "duration": "1s", "warmup": "0s" }),
    ));
    let writes = cell(&finished.everything, 0, Op::Write);
    assert_eq!(writes.count(), 100);
    assert_near("mean", mean_ns(writes), 5.5e6, 1e-9);
}

/// One block, and requests of 1 ms that are due every 0.4 ms; the third is a flush, back at 1.8 ms. The second waits for the first until
/// 1 ms, and for the flush if that holds it; the last, which was due at 1.2 ms, waits for the second.
#[test]
fn a_write_that_waits_is_held_by_a_flush_as_well() {
    let stream = |holds| {
        json!({
            "read_percent": 0, "random_percent": 100, "verify": "all", "queue_depth": 8, "arrival": "constant", "rate": 2500,
            "flush_every": 2, "flush_holds": holds, "requests": 3,
        })
    };
    for (holds, longest_ms) in [(true, 2.6), (false, 1.8)] {
        let finished = finish(&job(
            "queue:?service=const:1ms&servers=8&size=4KiB",
            stream(holds),
            json!({ "duration": "1s", "warmup": "0s" }),
        ));
        let (writes, flushes) = (cell(&finished.everything, 0, Op::Write), cell(&finished.everything, 0, Op::Flush));
        assert_eq!((writes.count(), flushes.count()), (3, 1));
        assert_near("longest", writes.latency.max() as f64 / 1e6, longest_ms, 0.002);
    }
}

/// On one block a write begins when the one before it has come back; a read would not have to wait, but does not overtake.
#[test]
fn nothing_overtakes_a_sequential_write_that_waits() {
    let stream = json!({
        "read_percent": 50, "random_percent": 0, "verify": "all", "queue_depth": 64, "arrival": "burst", "rate": 1000,
        "burst_size": 10, "region_length": "4KiB",
    });
    let target = "queue:?service=const:1ms&servers=64&size=1MiB";
    let job = job(target, stream, json!({ "duration": "1s", "warmup": "0s" }));
    let shape = plimsoll_workload::TargetShape { size_bytes: MIB, block_bytes: 512 };
    let plan = job.workload.resolve(shape, job.options.seed).unwrap().remove(0);
    let mut generator = plimsoll_workload::Generator::new(&plan, 0);
    let mut expected = Vec::new();
    for _ in 0..100 {
        let mut writes = 0;
        for _ in 0..10 {
            match generator.next().op {
                Op::Write => writes += 1,
                // In service from when the last write before it begins.
                _ => expected.push(f64::from(writes.max(1)) * 1e6),
            }
        }
    }
    let reads = finish(&job).everything.cells[Op::Read as usize].take().unwrap();
    assert_eq!(reads.count(), expected.len() as u64);
    assert_near("mean", mean_ns(&reads), expected.iter().sum::<f64>() / expected.len() as f64, 1e-9);
}

/// A stream in order has reads that wait behind its writes, and blocks of theirs that others want to write.
#[test]
fn who_waits_for_a_read_that_waits_has_its_turn_after_it() {
    for seed in 0..20 {
        let stream = |name: &str, random_percent, read_percent, depth| {
            json!({
                "name": name, "random_percent": random_percent, "read_percent": read_percent, "queue_depth": depth,
                "region_length": "64KiB", "verify": "all", "requests": 300,
            })
        };
        let streams = json!([stream("ordered", 0, 50, 8), stream("random", 100, 0, 6)]);
        let target = format!("queue:?service=exp:1ms&servers=8&size=1MiB&seed={seed}");
        let finished = to_the_end(&target, streams, "auto");
        let count = |stream, op| cell(&finished.everything, stream, op).count();
        assert_eq!(count(0, Op::Read) + count(0, Op::Write), 300, "seed {seed}");
        assert_eq!(count(1, Op::Write), 300, "seed {seed}");
    }
}

/// Three slots, one block, 1 ms for each write: a request that waits for another is no request of the target's yet.
#[test]
fn a_closed_write_that_waited_is_as_old_as_its_hand_over_when_the_end_comes() {
    let stream = json!({ "read_percent": 0, "verify": "all", "queue_depth": 3 });
    let options = json!({ "duration": "2500us", "warmup": "0s", "interval": "2500us" });
    let finished = finish(&job("queue:?service=const:1ms&servers=3&size=4KiB", stream, options));
    let outstanding = finished.stored[0]["outstanding"][0].clone();
    assert_eq!(outstanding["count"], 1);
    let ages = plimsoll_engine::histogram::decode(outstanding["latency"].as_str().unwrap()).unwrap();
    assert_near("age in ms", ages.max() as f64 / 1e6, 0.5, 0.002);
}

/// Twenty are due at once on one block that takes 1 ms for each.
fn twenty_at_once(more: &str, options: Value) -> Finished {
    let stream = json!({
        "read_percent": 0, "verify": "all", "queue_depth": 64, "arrival": "burst", "rate": 20, "burst_size": 20,
    });
    finish(&job(&format!("queue:?service=const:1ms&servers=64&size=4KiB{more}"), stream, options))
}

#[test]
fn requests_that_still_wait_at_the_end_were_due_and_have_their_turn() {
    let finished = twenty_at_once("", json!({ "duration": "5500us", "warmup": "0s", "interval": "5500us" }));
    assert_eq!(cell(&finished.measured, 0, Op::Write).count(), 5);
    assert_eq!(finished.measured.outstanding.count(), 15, "one has the block, the others wait for it");
    assert_eq!((written(&finished).0, finished.outcome.unissued), (20, 0));
    assert_eq!(cell(&finished.everything, 0, Op::Write).latency.max() / MS, 20);
}

#[test]
fn requests_that_wait_when_the_target_is_gone_were_due_and_never_issued() {
    let finished = twenty_at_once("&error_percent=30", json!({ "duration": "1s", "warmup": "0s" }));
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Error);
    let writes = cell(&finished.everything, 0, Op::Write);
    assert_eq!(writes.failures(), 1);
    assert!(finished.outcome.unissued > 0);
    assert_eq!(writes.count() + writes.failures() + finished.outcome.unissued, 20);
}
