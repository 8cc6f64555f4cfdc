//! What goes wrong while a run is under way: failing I/O, targets that shrink or fill up, being told to stop.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;

use plimsoll_engine::Control;
use plimsoll_engine::control::StoppedBy;
use plimsoll_engine::recorder::SHORT;
use plimsoll_engine::timeline::Phase;
use plimsoll_workload::Op;
use serde_json::json;
use support::*;

#[test]
fn failures_are_counted_per_operation_and_the_run_goes_on() {
    let stream = json!({ "read_percent": 50, "queue_depth": 1 });
    let options = json!({ "duration": "4s", "warmup": "0s", "on_error": "continue" });
    let finished = finish(&job("queue:?service=const:100us&error_percent=10", stream, options));
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Duration);
    assert_eq!(ended(&finished.everything), 40_000, "10,000/s in 4 s, whatever became of them");
    for op in [Op::Read, Op::Write] {
        let cell = cell(&finished.everything, 0, op);
        assert_eq!(cell.errors.keys().collect::<Vec<_>>(), [&libc::EIO]);
        // 10 % of 20,000; the standard deviation is 2 % of that.
        assert_near("failures", cell.failures() as f64, 2_000.0, 0.1);
        assert_eq!(cell.bytes, cell.count() * 4096, "failures transfer nothing");
        assert_eq!(mean_ns(cell), 100_000.0, "nor do they count as latency");
    }
    let stored = finished.stored[0]["cells"][0].clone();
    assert!(stored["errors"]["EIO"].as_u64().unwrap() > 0, "by name: {stored}");
    assert!(matches!(finished.outcome.first_error, Some((_, _, libc::EIO))));
}

#[test]
fn the_first_failure_ends_the_run_and_what_was_measured_is_kept() {
    let stream = json!({ "queue_depth": 1 });
    let options = json!({ "duration": "1000s", "warmup": "0s", "on_error": "stop" });
    let finished = finish(&job("queue:?service=const:1ms&error_percent=1", stream, options));
    let reads = cell(&finished.everything, 0, Op::Read);
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Error);
    assert_eq!(reads.failures(), 1, "with one request at a time no other can fail");
    assert_eq!(finished.outcome.end_ns, (reads.count() + 1) * MS, "one per millisecond until it failed");
    finished.assert_continuous();
    assert_eq!(finished.spans.iter().map(|span| span.count).sum::<u64>(), reads.count());
}

#[test]
fn requests_outstanding_at_the_failure_are_waited_for() {
    let stream = json!({ "queue_depth": 32 });
    let options = json!({ "duration": "1000s", "warmup": "0s" });
    let finished = finish(&job("queue:?service=const:1ms&servers=4&error_percent=1", stream, options));
    // Whole milliseconds of four completions; the 28 to 31 requests outstanding after the failure take their turn.
    assert_eq!(ended(&finished.everything) % 4, 0);
    let drained = finished.spans.last().unwrap();
    assert_eq!((drained.phase, drained.count + drained.failures), (Phase::Drain, 28));
    assert_eq!(drained.end_ns - drained.start_ns, 7 * MS);
    finished.assert_continuous();
}

/// What is due while the rest is waited for is not owed any more.
#[test]
fn requests_due_after_the_failure_are_not_unissued() {
    let stream = json!({ "arrival": "constant", "rate": 1000, "queue_depth": 256 });
    let options = json!({ "duration": "1000s", "warmup": "0s" });
    let finished = finish(&job("queue:?service=uniform:1ms-50ms&servers=64&error_percent=1", stream, options));
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Error);
    let drain = finished.spans.last().unwrap();
    assert!(drain.count > 10, "the others were under way: {drain:?}");
    assert_eq!(ended(&finished.everything), drain.start_ns / MS + 1, "one per millisecond from 0 on");
    assert_eq!(finished.outcome.unissued, 0, "slots were never short");
}

#[test]
fn a_file_that_shrinks_gives_short_transfers() {
    for backend in file_backends() {
        let directory = directory();
        let path = hollow_file(directory.path(), "file", 2 * MIB);
        let stream = json!({ "queue_depth": 4, "requests": 400 });
        let options = json!({ "duration": "600s", "warmup": "0s", "backend": backend, "on_error": "continue" });
        let shrink = || fs::File::options().write(true).open(&path).unwrap().set_len(MIB).unwrap();
        let sink = Recording { when_open: Box::new(shrink), ..Recording::default() };
        let finished = try_finish(&job(path.to_str().unwrap(), stream, options), sink, &Control::default()).unwrap();
        let reads = cell(&finished.everything, 0, Op::Read);
        assert_eq!(reads.errors.keys().collect::<Vec<_>>(), [&SHORT], "{backend}: half of the reads hit nothing");
        let (_, offset, errno) = finished.outcome.first_error.unwrap();
        assert!(offset >= MIB && errno == SHORT, "{backend}: {offset} {errno}");
        assert_eq!(reads.bytes, reads.count() * 4096, "{backend}");
    }
}

#[test]
fn a_mapped_file_that_shrinks_gives_errors_not_a_signal() {
    let directory = directory();
    let path = hollow_file(directory.path(), "file", 2 * MIB);
    let stream = json!({ "direct": false, "requests": 400 });
    let options = json!({ "duration": "600s", "warmup": "0s", "backend": "mmap", "on_error": "continue" });
    let shrink = || fs::File::options().write(true).open(&path).unwrap().set_len(MIB).unwrap();
    let sink = Recording { when_open: Box::new(shrink), ..Recording::default() };
    let finished = try_finish(&job(path.to_str().unwrap(), stream, options), sink, &Control::default());
    match finished {
        Ok(finished) => {
            let reads = cell(&finished.everything, 0, Op::Read);
            assert!(reads.errors.keys().all(|errno| [libc::EIO, libc::EINVAL].contains(errno)), "{:?}", reads.errors);
            assert!(reads.failures() > 0);
        }
        Err(error) => panic!("{error}"),
    }
}

/// A file system in memory that is full after `size`; unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new(size: &str) -> Option<Self> {
        if !is_root() {
            println!("skipped: mounting a small file system needs root");
            return None;
        }
        let directory = directory();
        let options = format!("size={size}");
        match program("mount", &["-t", "tmpfs", "-o", &options, "tmpfs", directory.path().to_str().unwrap()]) {
            Ok(_) => Some(Self(directory)),
            Err(reason) => {
                println!("skipped: {reason}");
                None
            }
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = program("umount", &["--lazy", self.0.path().to_str().unwrap()]);
    }
}

#[test]
fn a_full_disk_is_enospc() {
    for backend in file_backends() {
        let Some(disk) = SmallDisk::new("64k") else { return };
        let path = hollow_file(disk.0.path(), "file", 8 * MIB);
        let stream = json!({ "read_percent": 0, "direct": false, "distribution": "permutation", "requests": 400 });
        let options = json!({ "duration": "600s", "warmup": "0s", "backend": backend, "on_error": "continue" });
        let finished = finish(&job(path.to_str().unwrap(), stream, options));
        let writes = cell(&finished.everything, 0, Op::Write);
        assert_eq!(writes.errors.keys().collect::<Vec<_>>(), [&libc::ENOSPC], "{backend}");
        assert!(writes.count() > 0, "{backend}: the first ones fit");
        assert!(matches!(finished.outcome.first_error, Some((Op::Write, _, libc::ENOSPC))), "{backend}");
    }
}

const LIMITED: &str = "PLIMSOLL_TEST_LIMITED";

/// In a process of its own, because the limit holds for all of it.
#[test]
fn a_file_size_limit_is_efbig() {
    if std::env::var_os(LIMITED).is_none() {
        let myself = std::env::current_exe().unwrap();
        let arguments = ["--exact", "a_file_size_limit_is_efbig", "--nocapture"];
        let output = std::process::Command::new(myself).args(arguments).env(LIMITED, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let directory = directory();
    let path = hollow_file(directory.path(), "file", 2 * MIB);
    let limit = libc::rlimit { rlim_cur: MIB, rlim_max: MIB };
    // SAFETY: plain values; this process runs nothing but this test.
    unsafe {
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    for backend in file_backends() {
        let stream = json!({ "read_percent": 0, "queue_depth": 2, "requests": 400 });
        let options = json!({ "duration": "600s", "warmup": "0s", "backend": backend, "on_error": "continue" });
        let finished = finish(&job(path.to_str().unwrap(), stream, options));
        let writes = cell(&finished.everything, 0, Op::Write);
        assert_eq!(writes.errors.keys().collect::<Vec<_>>(), [&libc::EFBIG], "{backend}");
        assert!(finished.outcome.first_error.is_some_and(|(_, offset, _)| offset >= MIB), "{backend}");
    }
}

#[test]
fn somebody_else_ends_the_run_and_everything_measured_is_kept() {
    let streams = json!([{ "threads": 2, "queue_depth": 4, "read_percent": 50 }]);
    let options = json!({ "duration": "3600s", "warmup": "0s", "interval": "50ms", "workers": 2 });
    let control = Control::default();
    let (told, hears) = std::sync::mpsc::channel();
    let finished = std::thread::scope(|scope| {
        let control = &control;
        scope.spawn(move || {
            hears.recv().unwrap();
            control.stop(StoppedBy::Signal);
        });
        let mut intervals = 0;
        let after_interval = move || {
            intervals += 1;
            if intervals == 3 {
                told.send(()).unwrap();
            }
        };
        let sink = Recording { after_interval: Box::new(after_interval), ..Recording::default() };
        try_finish(&job("null:?size=1MiB", streams, options), sink, control).unwrap()
    });
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Signal);
    assert!(finished.outcome.end_ns < 3_600 * SECOND);
    finished.assert_continuous();
    let whole = &finished.spans[..2];
    assert!(whole.iter().all(|span| span.end_ns - span.start_ns == 50 * MS), "{whole:?}");
    let counted: u64 = finished.spans.iter().map(|span| span.count).sum();
    assert_eq!(counted, ended(&finished.everything));
    assert!(counted > 0);
    // The drain has what was outstanding when the last worker stopped issuing.
    assert!(finished.spans.last().unwrap().count <= 8, "{:?}", finished.spans);
}

/// A worker that waits for a far instant looks at the control meanwhile.
#[test]
fn a_run_in_which_nothing_is_due_can_be_stopped() {
    let stream = json!({ "think_time": "1h" });
    let options = json!({ "duration": "7200s", "warmup": "0s", "interval": "3600s" });
    let control = Control::default();
    let sink = Recording { when_polled: Box::new(|| control.stop(StoppedBy::Signal)), ..Recording::default() };
    let finished = try_finish(&job("null:?size=1MiB", stream, options), sink, &control).unwrap();
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Signal);
    // Noise-proof: it would be an hour, and is a tenth of a second.
    assert!(finished.outcome.end_ns < 60 * SECOND, "{}", finished.outcome.end_ns);
    finished.assert_continuous();
}

#[test]
fn stopping_before_the_start_issues_no_more_than_one_request_per_slot() {
    let control = Control::default();
    control.stop(StoppedBy::Signal);
    let options = json!({ "duration": "3600s", "warmup": "0s" });
    let job = job("null:?size=1MiB", json!({ "queue_depth": 4 }), options);
    let finished = try_finish(&job, Recording::default(), &control).unwrap();
    assert!(ended(&finished.everything) <= 4);
    assert_eq!(finished.outcome.stopped_by, StoppedBy::Signal);
}

#[test]
fn the_drain_ends_with_its_last_completion() {
    let stream = json!({ "queue_depth": 8, "read_percent": 0, "verify": "all", "distribution": "permutation" });
    let options = json!({ "duration": "1s", "warmup": "0s", "interval": "100ms" });
    let finished = finish(&job("queue:?service=const:10ms&size=1MiB", stream, options));
    // 8 take turns of 10 ms; the one that completes at 1 s sharp is the drain's first.
    let drain = finished.spans.last().unwrap();
    assert_eq!((drain.start_ns, drain.end_ns, drain.count), (SECOND, 1_070 * MS, 8));
    assert_eq!(finished.outcome.end_ns, drain.end_ns, "reading back is no part of it");
    finished.assert_continuous();
}

#[test]
fn a_target_that_cannot_be_used_is_refused_in_a_sentence() {
    let refuse = |target: &str, options| {
        let job = job(target, json!({}), options);
        try_finish(&job, Recording::default(), &Control::default()).err().unwrap().to_string()
    };
    let missing = refuse("/nowhere/at/all", json!({}));
    assert!(missing.contains("/nowhere/at/all"), "{missing}");
    let sentence = refuse("null:", json!({ "backend": "sync" }));
    assert_eq!(
        sentence,
        "backend 'sync' does not go with target null:?size=1TiB: null: runs with backend null or nop; leave it at auto"
    );
}
