//! Real files and loop devices: what was asked for is what was done, as counted by somebody else.

#![allow(clippy::unwrap_used)]

mod support;

use std::cell::Cell as Place;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plimsoll_engine::Control;
use plimsoll_engine::histogram;
use plimsoll_engine::target::prepare;
use plimsoll_workload::Op;
use serde_json::{Value, json};
use support::loop_device::{Counted, Loop};
use support::*;

const BLOCK: u64 = 4096;

fn short(backend: &str) -> Value {
    json!({ "duration": "400ms", "warmup": "0s", "interval": "100ms", "backend": backend, "workers": 2 })
}

fn on(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A filled scratch file.
fn scratch(directory: &Path, name: &str, size_bytes: u64) -> PathBuf {
    let path = directory.join(name);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let spec = on(&path).parse().unwrap();
    prepare(&spec, Some(size_bytes), &Default::default(), &mut |_, _| (), &stop).unwrap();
    path
}

#[test]
fn reads_and_writes_of_several_threads_add_up() {
    for backend in file_backends() {
        let directory = directory();
        let path = scratch(directory.path(), "file", 8 * MIB);
        let stream = json!({ "read_percent": 60, "block_size": "8KiB", "threads": 4, "queue_depth": 4 });
        let finished = finish(&job(on(&path), stream, short(backend)));
        assert_eq!(finished.outcome.workers, 2);
        assert_eq!(finished.outcome.first_error, None);
        for op in [Op::Read, Op::Write] {
            let cell = cell(&finished.everything, 0, op);
            assert!(cell.count() > 0, "{backend}");
            assert_eq!(cell.bytes, cell.count() * 8192, "{backend}: requests × size = bytes");
        }
        finished.assert_continuous();
        assert!(finished.in_flight_mean() <= 16.0 * 1.001, "{backend}: never more than 4 × 4 outstanding");
        assert!(finished.outcome.first_done_ns.is_some_and(|done_ns| done_ns <= finished.outcome.end_ns));
        assert_eq!(fs::metadata(&path).unwrap().len(), 8 * MIB, "the file keeps its size");
    }
}

#[test]
fn latency_adds_up_to_the_time_that_requests_were_outstanding() {
    for backend in file_backends() {
        let directory = directory();
        let path = scratch(directory.path(), "file", 8 * MIB);
        let finished = finish(&job(on(&path), json!({ "queue_depth": 1 }), short(backend)));
        let reads = cell(&finished.everything, 0, Op::Read);
        // One request at a time: its latencies cannot overlap, so they fit into the time of the run.
        assert!(reads.latency_sum_ns as u128 <= u128::from(finished.outcome.end_ns), "{backend}");
        let area = finished.everything.in_flight_area as u128;
        assert!(
            area >= reads.latency_sum_ns as u128,
            "{backend}: Little's law, with the cost of issuing on the one side"
        );
    }
}

#[test]
fn the_time_between_due_and_submitted_is_not_time_in_flight() {
    // Few and fast requests, before each of which a thread is woken: what that takes must not count as the target's. In the only interval
    // requests count from the turn that issued them, and what was not theirs is taken back at their end; where that comes after the end of
    // the interval, as for one place of the queue at most, it is too late. No such request was under way for longer than the slowest.
    for (backend, queue_depth) in [("sync", 1), ("sync", 4), ("mmap", 1)] {
        let directory = directory();
        let path = scratch(directory.path(), "file", 8 * MIB);
        let stream = json!({ "arrival": "constant", "rate": 1000, "queue_depth": queue_depth, "direct": false });
        let mut options = short(backend);
        options["interval"] = options["duration"].clone();
        for _ in 0..5 {
            let finished = finish(&job(on(&path), stream.clone(), options.clone()));
            let reads = cell(&finished.everything, 0, Op::Read);
            let (area, service) = (finished.everything.in_flight_area, reads.service_sum_ns);
            let apart_max = service / 50 + queue_depth * reads.latency.max();
            assert!(
                area.abs_diff(service) <= apart_max,
                "{backend}, depth {queue_depth}: {area} ns in flight, {service} ns of service, {apart_max} ns apart at most"
            );
        }
    }
}

#[test]
fn a_stored_interval_has_the_counts_of_the_histogram_in_it() {
    let directory = directory();
    let path = scratch(directory.path(), "file", MIB);
    let finished = finish(&job(on(&path), json!({ "read_percent": 50, "queue_depth": 2 }), short("auto")));
    let mut count = 0;
    for cell in finished.stored.iter().flat_map(|interval| interval["cells"].as_array().unwrap()) {
        let decoded = histogram::decode(cell["latency"].as_str().unwrap()).unwrap();
        assert_eq!(decoded.len(), cell["count"].as_u64().unwrap());
        count += decoded.len();
    }
    assert_eq!(count, ended(&finished.everything));
}

#[test]
fn the_parts_of_a_stripe_add_up_to_the_whole() {
    for backend in file_backends() {
        let directory = directory();
        let paths: Vec<PathBuf> = ["a", "b", "c"].map(|name| scratch(directory.path(), name, 2 * MIB)).into();
        let target = format!("stripe:{},{},{}?unit=64KiB", on(&paths[0]), on(&paths[1]), on(&paths[2]));
        let stream =
            json!({ "read_percent": 50, "block_size": "4KiB=50,256KiB=50", "align": "4KiB", "queue_depth": 8 });
        let finished = finish(&job(&target, stream, short(backend)));
        assert_eq!(finished.outcome.first_error, None, "{backend}");
        assert_eq!(finished.outcome.parts.len(), 3);
        for op in [Op::Read, Op::Write] {
            let whole = cell(&finished.everything, 0, op);
            let parts: Vec<_> = (0..3).map(|part| part_cell(&finished.everything, part, op)).collect();
            assert_eq!(parts.iter().map(|part| part.bytes).sum::<u64>(), whole.bytes, "{backend}");
            assert!(parts.iter().all(|part| part.count() > 0), "{backend}");
            // 256 KiB over units of 64 KiB is 4 or 5 pieces, 4 KiB is one.
            let pieces: u64 = parts.iter().map(|part| part.count()).sum();
            assert!(pieces > whole.count() && pieces <= whole.count() * 5, "{backend}");
            let slowest = parts.iter().map(|part| part.latency.max()).max().unwrap();
            assert!(whole.latency.max() >= slowest, "{backend}: a request takes as long as its slowest piece");
        }
    }
}

#[test]
fn what_is_written_to_a_stripe_and_a_concatenation_is_verified() {
    for (backend, kind) in file_backends().into_iter().flat_map(|backend| [(backend, "stripe"), (backend, "concat")]) {
        let directory = directory();
        let paths: Vec<PathBuf> = ["a", "b", "c"].map(|name| hollow_file(directory.path(), name, MIB)).into();
        let unit = if kind == "stripe" { "?unit=16KiB" } else { "" };
        let target = format!("{kind}:{},{},{}{unit}", on(&paths[0]), on(&paths[1]), on(&paths[2]));
        let stream = json!({
            "read_percent": 40, "block_size": "4KiB-64KiB", "align": "4KiB", "verify": "all", "queue_depth": 8,
        });
        let finished = finish(&job(&target, stream, short(backend)));
        let findings = finished.outcome.findings.unwrap();
        assert!(findings.is_clean() && findings.sectors_checked > 0, "{backend} {kind}: {findings:#?}");
    }
}

#[test]
fn threads_that_share_a_sequence_cover_it_once_without_gaps() {
    for backend in file_backends() {
        let directory = directory();
        let path = hollow_file(directory.path(), "file", 8 * MIB);
        // At most 1,000 writes are due, so the 2,048 blocks are never all written, however fast or slow the disk is.
        let stream = json!({
            "read_percent": 0, "random_percent": 0, "threads": 4, "queue_depth": 4, "arrival": "constant", "rate": 2000,
        });
        let options = json!({ "duration": "500ms", "warmup": "0s", "backend": backend, "workers": 2 });
        let finished = finish(&job(on(&path), stream, options));
        let written = cell(&finished.everything, 0, Op::Write).count();
        assert_eq!(written + finished.outcome.unissued, 1_000, "{backend}");
        let bytes = fs::read(&path).unwrap();
        let full: Vec<bool> = bytes.chunks(BLOCK as usize).map(|block| block.iter().any(|&byte| byte != 0)).collect();
        // As many different blocks as writes: each exactly once. What was due at the end and not issued any more has its block, too.
        assert_eq!(full.iter().filter(|&&full| full).count() as u64, written, "{backend}");
        assert!(full[1_000..].iter().all(|&full| !full), "{backend}: a gap");
        let sectors = bytes.chunks(512).filter(|sector| sector.iter().any(|&byte| byte != 0));
        let distinct: std::collections::HashSet<_> = sectors.collect();
        assert_eq!(distinct.len() as u64, written * 8, "{backend}: no two sectors written are alike");
    }
}

#[test]
fn every_so_many_writes_are_followed_by_a_flush() {
    for backend in file_backends() {
        let directory = directory();
        let path = scratch(directory.path(), "file", 2 * MIB);
        let stream = json!({ "read_percent": 20, "flush_every": 8, "queue_depth": 1 });
        let finished = finish(&job(on(&path), stream, short(backend)));
        let writes = cell(&finished.everything, 0, Op::Write).count();
        let flushes = cell(&finished.everything, 0, Op::Flush).count();
        // One at a time, in order; the last flush may not have been issued any more.
        assert!((writes / 8).abs_diff(flushes) <= 1, "{backend}: {writes} writes, {flushes} flushes");
        assert_eq!(cell(&finished.everything, 0, Op::Flush).bytes, 0);
    }
}

#[test]
fn trims_of_a_file_punch_holes() {
    for backend in file_backends() {
        let directory = directory();
        let path = scratch(directory.path(), "file", 4 * MIB);
        let before = fs::metadata(&path).unwrap().blocks();
        // 64 blocks of 64 KiB, none trimmed twice in the first 64 requests; 48 are due.
        let stream = json!({
            "read_percent": 0, "write_percent": 0, "trim_percent": 100, "block_size": "64KiB",
            "distribution": "permutation", "arrival": "constant", "rate": 160,
        });
        let options = json!({ "duration": "300ms", "warmup": "0s", "backend": backend, "on_error": "continue" });
        let finished = finish(&job(on(&path), stream, options));
        let trims = cell(&finished.everything, 0, Op::Trim);
        if trims.errors.contains_key(&libc::EOPNOTSUPP) {
            println!("skipped: this file system has no holes");
            return;
        }
        assert_eq!(trims.failures(), 0, "{backend}: {:?}", trims.errors);
        assert_eq!(trims.count() + finished.outcome.unissued, 48, "{backend}");
        let after = fs::metadata(&path).unwrap();
        // 64 KiB are 128 blocks of 512 bytes; the file system's own account of the holes takes a few.
        assert_near(
            &format!("{backend}: blocks freed"),
            (before - after.blocks()) as f64,
            trims.count() as f64 * 128.0,
            0.01,
        );
        assert_eq!(after.len(), 4 * MIB);
    }
}

#[test]
fn a_pattern_is_on_the_disk_as_written() {
    for backend in file_backends() {
        let directory = directory();
        let path = hollow_file(directory.path(), "file", MIB);
        let stream = json!({
            "read_percent": 30, "content": "pattern", "pattern": "0xdeadbeef", "region_start": "256KiB",
            "region_length": "512KiB", "queue_depth": 4, "dsync": true,
        });
        let finished = finish(&job(on(&path), stream, short(backend)));
        assert!(cell(&finished.everything, 0, Op::Write).count() > 0);
        let bytes = fs::read(&path).unwrap();
        let (outside, inside) = ([&bytes[..256 << 10], &bytes[768 << 10..]].concat(), &bytes[256 << 10..768 << 10]);
        assert!(outside.iter().all(|&byte| byte == 0), "{backend}: nothing outside the region");
        let blocks = inside.chunks(4).collect::<std::collections::HashSet<_>>();
        assert!(blocks.contains(&[0xde, 0xad, 0xbe, 0xef][..]), "{backend}");
        assert!(blocks.len() <= 2, "{backend}: the pattern, and zeros where nothing was written yet");
    }
}

#[test]
fn streams_open_the_target_each_in_its_own_way() {
    let directory = directory();
    let path = scratch(directory.path(), "file", 2 * MIB);
    let streams = json!([
        { "name": "direct", "read_percent": 50 },
        { "name": "cached", "direct": false, "block_size": 1000, "read_percent": 100 },
        { "name": "durable", "dsync": true, "read_percent": 0 },
    ]);
    let finished = finish(&job(on(&path), streams, short("auto")));
    assert_eq!(finished.outcome.first_error, None);
    assert_eq!(cell(&finished.everything, 1, Op::Read).bytes, cell(&finished.everything, 1, Op::Read).count() * 1000);
    assert!(
        (0..3).all(|stream| finished.everything.cells[stream * 4..][..4].iter().flatten().any(|cell| cell.count() > 0))
    );
}

#[test]
fn many_threads_of_depth_32_share_two_workers() {
    for backend in file_backends() {
        let directory = directory();
        let path = scratch(directory.path(), "file", 4 * MIB);
        let (threads, queue_depth) = if backend == "uring" { (64, 32) } else { (16, 4) };
        let stream = json!({ "threads": threads, "queue_depth": queue_depth });
        let finished = finish(&job(on(&path), stream, short(backend)));
        assert_eq!((finished.outcome.workers, finished.outcome.first_error), (2, None));
        assert!(ended(&finished.everything) >= threads * queue_depth, "{backend}: every slot has had its turn");
        finished.assert_continuous();
    }
}

#[test]
fn the_kernel_counts_the_requests_that_plimsoll_recorded() {
    for backend in file_backends() {
        // Whoever looks through all devices meanwhile reads this one as well: where the first of three attempts is off, both others count right.
        let off = miscounted(backend);
        if !off.is_empty() {
            let again = [miscounted(backend), miscounted(backend)];
            assert!(again.iter().all(Vec::is_empty), "{backend}: {off:?}, then {again:?}");
        }
    }
}

/// What the kernel counted otherwise than Plimsoll by more than two percent; nothing where there is no device for it.
fn miscounted(backend: &str) -> Vec<String> {
    let Some(device) = Loop::new(64 * MIB) else { return Vec::new() };
    let streams = json!([
        { "name": "small", "read_percent": 70, "queue_depth": 4 },
        { "name": "large", "read_percent": 0, "block_size": "64KiB", "arrival": "constant", "rate": 200 },
    ]);
    let options = json!({ "duration": "1s", "warmup": "0s", "backend": backend });
    let (before, after) = (Place::new(Counted::default()), Place::new(Counted::default()));
    let sink = Recording {
        when_open: Box::new(|| before.set(device.counted())),
        after_interval: Box::new(|| after.set(device.counted())),
        ..Recording::default()
    };
    let finished = try_finish(&job(&device.device, streams, options), sink, &Control::default()).unwrap();
    assert_eq!(finished.outcome.first_error, None, "{backend}");
    let (before, after) = (before.get(), after.get());
    let mut off = Vec::new();
    for op in [Op::Read, Op::Write] {
        let mine: Vec<_> = finished.everything.cells.iter().skip(op as usize).step_by(4).flatten().collect();
        let requests: u64 = mine.iter().map(|cell| cell.count()).sum();
        let bytes: u64 = mine.iter().map(|cell| cell.bytes).sum();
        let place = op as usize;
        for (what, counted, recorded) in [
            ("requests", after.requests[place] - before.requests[place], requests),
            ("bytes", after.bytes[place] - before.bytes[place], bytes),
        ] {
            if counted.abs_diff(recorded) as f64 > 0.02 * recorded as f64 {
                off.push(format!("{what} of {}: the kernel counted {counted}, Plimsoll {recorded}", op.name()));
            }
        }
    }
    off
}

#[test]
fn the_kernel_sees_the_flushes_and_discards_of_a_device() {
    for backend in file_backends() {
        let Some(device) = Loop::new(16 * MIB) else { return };
        let stream = json!({
            "read_percent": 0, "write_percent": 80, "trim_percent": 20, "flush_every": 16, "block_size": "64KiB",
        });
        let options = json!({ "duration": "500ms", "warmup": "0s", "backend": backend, "on_error": "continue" });
        let before = device.counted();
        let finished = finish(&job(&device.device, stream, options));
        let after = device.counted();
        let flushes = cell(&finished.everything, 0, Op::Flush);
        assert_eq!(flushes.failures(), 0, "{backend}: {:?}", flushes.errors);
        assert!(flushes.count() > 0);
        // At least, because closing the device flushes, too.
        assert!(after.requests[3] - before.requests[3] >= flushes.count(), "{backend}");
        let trims = cell(&finished.everything, 0, Op::Trim);
        if trims.failures() > 0 {
            println!("skipped: {backend} cannot discard on {}: {:?}", device.device, trims.errors);
            continue;
        }
        assert_eq!(after.bytes[2] - before.bytes[2], trims.count() * 65_536, "{backend}: bytes discarded");
    }
}
