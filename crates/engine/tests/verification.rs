//! Verification finds what a target did to writes, names it, and finds nothing where nothing is wrong.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use plimsoll_engine::Control;
use plimsoll_workload::Op;
use plimsoll_workload::stamp::{Fault, Findings};
use serde_json::{Value, json};
use support::*;

fn checked(target: &str, streams: Value, options: Value) -> Findings {
    let finished = finish(&job(target, streams, options));
    assert_eq!(finished.outcome.first_error, None);
    finished.outcome.findings.expect("a verifying job has findings")
}

/// 2,000 requests on 256 blocks of a modelled server with one fault.
fn faulty(fault: &str) -> Findings {
    let stream = json!({ "read_percent": 50, "verify": "all", "queue_depth": 4 });
    let target = format!("queue:?service=const:1ms&servers=4&size=1MiB&{fault}");
    checked(&target, stream, json!({ "duration": "2s", "warmup": "0s" }))
}

fn kinds(findings: &Findings) -> Vec<&'static str> {
    Fault::ALL.into_iter().filter(|&fault| findings.count(fault).findings > 0).map(Fault::name).collect()
}

#[test]
fn a_sound_target_has_no_findings() {
    let findings = faulty("error_percent=0");
    assert!(findings.is_clean(), "{findings:#?}");
    assert!(findings.sectors_checked > 8_000, "reads of the mix and everything that was written: {findings:#?}");
}

#[test]
fn lost_writes_are_lost() {
    let findings = faulty("lost_percent=2");
    assert_eq!(kinds(&findings), ["lost"], "{findings:#?}");
    assert_eq!(findings.lost.sectors, findings.lost.findings * 8, "a lost write of 4 KiB is 8 sectors");
}

#[test]
fn torn_writes_are_torn() {
    let findings = faulty("torn_percent=2");
    assert_eq!(kinds(&findings), ["torn"], "{findings:#?}");
    assert_eq!(findings.torn.sectors, findings.torn.findings * 4, "the second half of 4 KiB");
}

#[test]
fn misdirected_writes_are_found_where_they_went_and_missed_where_they_belong() {
    let findings = faulty("misdirected_percent=2");
    assert_eq!(kinds(&findings), ["lost", "misdirected"], "{findings:#?}");
}

#[test]
fn stale_reads_are_stale_once_newer_data_was_seen() {
    let findings = faulty("stale_percent=5");
    // Where the newest generation was not read before, an old one cannot be told from a lost write.
    assert!(findings.stale.findings > 0, "{findings:#?}");
    assert!(kinds(&findings).iter().all(|kind| ["lost", "stale"].contains(kind)), "{findings:#?}");
}

#[test]
fn what_an_earlier_run_wrote_is_verified_by_a_reading_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, vec![0; 1 << 20]).unwrap();
    let times = || json!({ "duration": "60s", "warmup": "0s" });
    let pass = |more: Value| {
        let mut stream = json!({ "amount": "100%", "random_percent": 0, "block_size": "64KiB", "direct": false });
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut job = job(path.to_str().unwrap(), stream, times());
        job.permission.typed = Some(path.to_str().unwrap().to_owned());
        finish(&job).outcome.findings
    };
    pass(json!({ "read_percent": 0, "content": "stamps", "region_length": "512KiB", "amount": "50%" }));
    let sound = pass(json!({ "verify": "found", "region_length": "512KiB", "amount": "50%" })).unwrap();
    assert!(sound.is_clean() && sound.sectors_checked == 1024, "{sound:?}");

    let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut sector = [0; 512];
    file.read_exact_at(&mut sector, 4096).unwrap();
    file.write_all_at(&sector, 8192).unwrap();
    file.write_all_at(b"not what was there", 20_100).unwrap();
    let faulty = pass(json!({ "verify": "found" })).unwrap();
    assert_eq!(kinds(&faulty), ["misdirected", "corrupt"], "{faulty:#?}");
    assert_eq!(faulty.misdirected.sectors, 1);
    assert_eq!(faulty.corrupt.sectors, 1 + 1024, "and the half that nobody wrote");
}

#[test]
fn failed_writes_are_no_findings() {
    let stream = json!({ "read_percent": 50, "verify": "all", "queue_depth": 4 });
    let options = json!({ "duration": "2s", "warmup": "0s", "on_error": "continue" });
    let finished = finish(&job("queue:?service=const:1ms&servers=4&size=1MiB&error_percent=10", stream, options));
    let findings = finished.outcome.findings.unwrap();
    assert!(findings.is_clean(), "after a failed write old and new are both right: {findings:#?}");
    assert!(cell(&finished.everything, 0, Op::Write).failures() > 0);
}

#[test]
fn requests_of_many_sizes_that_overlap_are_clean() {
    let stream = json!({
        "read_percent": 40, "block_size": "4KiB-64KiB", "align": "4KiB", "verify": "all", "queue_depth": 16, "threads": 3,
    });
    let options = json!({ "duration": "1s", "warmup": "0s" });
    let findings = checked("queue:?service=exp:1ms&servers=8&size=1MiB", stream, options);
    assert!(findings.is_clean(), "{findings:#?}");
}

#[test]
fn more_slots_than_blocks_never_write_one_block_twice_at_once() {
    let stream = json!({ "read_percent": 0, "verify": "all", "queue_depth": 32 });
    let options = json!({ "duration": "50ms", "warmup": "0s" });
    let findings = checked("queue:?service=exp:1ms&servers=32&size=64KiB", stream, options);
    assert!(findings.is_clean(), "{findings:#?}");
    assert_eq!(findings.sectors_checked, 128, "all 64 KiB were written and read back");
}

/// A request of an open stream that had to be put off (its block was being written) keeps its intended instant.
#[test]
fn a_write_put_off_for_a_busy_block_counts_from_when_it_was_due() {
    let stream = json!({
        "read_percent": 0, "verify": "all", "queue_depth": 64, "arrival": "burst", "rate": 100, "burst_size": 10,
    });
    let options = json!({ "duration": "1s", "warmup": "0s" });
    // One block: ten writes are due at once, one server of 1 ms per block; they take 1, 2, … 10 ms (and up to 10 µs each
    // until the next try).
    let finished = finish(&job("queue:?service=const:1ms&servers=64&size=4KiB", stream, options));
    let writes = cell(&finished.everything, 0, Op::Write);
    assert_eq!(writes.count(), 100);
    assert_near("mean", mean_ns(writes), 5.5e6, 0.02);
    assert!(finished.outcome.findings.unwrap().is_clean());
}

/// A stream that stamps without verifying has no expectations for its reads: they are left unchecked.
#[test]
fn reads_of_a_stamping_stream_beside_a_verifying_one_are_not_checked() {
    let streams = json!([
        { "name": "checks", "read_percent": 100, "verify": "reads" },
        { "name": "stamps", "read_percent": 50, "content": "stamps" },
    ]);
    let findings =
        checked("queue:?service=const:1ms&servers=2&size=1MiB", streams, json!({ "duration": "2s", "warmup": "0s" }));
    assert!(findings.is_clean(), "{findings:#?}");
    assert!(findings.sectors_checked > 0, "what one wrote, the other checks");
}

/// A read that fails while reading back does not keep the slot's later reads from being checked.
#[test]
fn reading_back_goes_on_after_a_read_that_failed() {
    let stream = json!({ "read_percent": 0, "verify": "all", "block_size": "4KiB", "distribution": "permutation" });
    let options = json!({ "duration": "300ms", "warmup": "0s", "on_error": "continue", "seed": 3 });
    let finished = finish(&job("queue:?service=const:1ms&size=1MiB&error_percent=5", stream, options));
    let written = cell(&finished.everything, 0, Op::Write).count();
    let findings = finished.outcome.findings.unwrap();
    // 5 % of the writes fail (they have no expectation), and 5 % of the reads.
    assert!(findings.sectors_checked >= written.min(256) * 8 * 4 / 5, "{written} written: {findings:#?}");
}

#[test]
fn a_real_file_is_clean_on_every_backend() {
    for backend in file_backends().into_iter().chain(["mmap"]) {
        let directory = directory();
        let path = hollow_file(directory.path(), "file", 8 * MIB);
        let stream = json!({
            "read_percent": 40, "block_size": "4KiB-32KiB", "align": "4KiB", "verify": "all", "queue_depth": 8,
            "threads": 4, "direct": backend != "mmap",
        });
        let options = json!({ "duration": "500ms", "warmup": "0s", "backend": backend, "workers": 2 });
        let findings = checked(path.to_str().unwrap(), stream, options);
        assert!(findings.is_clean(), "{backend}: {findings:#?}");
        assert!(findings.sectors_checked > 0, "{backend}");
    }
}

/// Two workers, of which one carries no verifying stream: everything that was written is read back all the same.
#[test]
fn everything_is_read_back_by_the_workers_that_verify() {
    for backend in file_backends() {
        let directory = directory();
        let path = hollow_file(directory.path(), "file", 8 * MIB);
        let streams = json!([
            { "name": "writes", "read_percent": 0, "verify": "all", "distribution": "permutation", "block_size": "64KiB",
              "region_length": "1MiB", "arrival": "constant", "rate": 1000, "queue_depth": 4 },
            { "name": "reads", "region_start": "4MiB", "arrival": "constant", "rate": 100 },
        ]);
        let options = json!({ "duration": "500ms", "warmup": "0s", "backend": backend, "workers": 2 });
        let finished = finish(&job(path.to_str().unwrap(), streams, options));
        let findings = finished.outcome.findings.unwrap();
        let blocks = cell(&finished.everything, 0, Op::Write).count().min(16);
        assert!(findings.is_clean(), "{backend}: {findings:#?}");
        assert_eq!(findings.sectors_checked, blocks * 128, "{backend}: every block written, once");
    }
}

#[test]
fn stamps_are_what_is_on_the_disk() {
    for backend in file_backends() {
        let directory = directory();
        let path = hollow_file(directory.path(), "file", MIB);
        let stream = json!({
            "read_percent": 0, "content": "stamps", "random_percent": 0, "region_length": "4KiB", "requests": 10,
        });
        let options = json!({ "duration": "600s", "warmup": "0s", "backend": backend });
        finish(&job(path.to_str().unwrap(), stream, options));
        assert!(std::fs::read(&path).unwrap().starts_with(b"PLIMSOLL"), "{backend}");
    }
}

/// What somebody else writes, at an address that fits a disk's sectors.
#[repr(align(512))]
struct Sector([u8; 512]);

static SECTOR: Sector = Sector([0xFF; 512]);

#[test]
fn a_block_that_somebody_else_overwrites_is_found() {
    for backend in file_backends() {
        let directory = directory();
        // One block; after each of ten foreign writes the chance that the next request is one of the 80 % reads.
        let stream = json!({ "read_percent": 80, "verify": "reads", "region_length": "4KiB" });
        let options = json!({ "duration": "500ms", "warmup": "0s", "interval": "50ms", "backend": backend });
        // In a file of its own each time: what is left of a run before would be found as well.
        let found = |number: u32| {
            let path = hollow_file(directory.path(), &format!("file {number}"), MIB);
            let file = File::options().write(true).custom_flags(libc::O_DIRECT).open(&path).unwrap();
            let job = job(path.to_str().unwrap(), stream.clone(), options.clone());
            // Past the cache: there the whole page would be written, with what the job had written before on both sides.
            let overwrite = || file.write_all_at(&SECTOR.0, 512).unwrap();
            let sink = Recording { after_interval: Box::new(overwrite), ..Recording::default() };
            try_finish(&job, sink, &Control::default()).unwrap().outcome.findings.unwrap()
        };
        // While the disk stands still nobody reads; one who reads and does not see it does so every time.
        let findings = (0..5).map(found).find(|findings| !findings.is_clean()).expect(backend);
        assert!(findings.examples.iter().all(|example| (example.address, example.len) == (512, 512)), "{findings:#?}");
    }
}

#[test]
fn stamps_where_another_stream_writes_without_are_refused_in_words() {
    let streams = json!([
        { "name": "checks", "read_percent": 50, "verify": "all" },
        { "name": "noise", "read_percent": 0 },
    ]);
    let refused = try_finish(&job("queue:", streams, json!({})), Recording::default(), &Control::default());
    let sentence = refused.err().unwrap().to_string();
    assert!(sentence.starts_with("stream \"noise\" writes without stamps where another stream verifies"), "{sentence}");
}
