//! The requests that a device receives are those that were asked for: as many, and as long. On loop devices, so as root only.

#![allow(clippy::unwrap_used)]

mod support;

use std::os::fd::AsRawFd;

use plimsoll_engine::target::prepare;
use plimsoll_workload::Op;
use serde_json::{Value, json};
use support::loop_device::{Loop, Mounted};
use support::*;

const REQUESTS: u64 = 1_000;
const DEPTHS: [u32; 3] = [1, 4, 32];

fn sequential(op: Op, queue_depth: u32) -> Value {
    let read_percent = if op == Op::Read { 100 } else { 0 };
    json!({ "read_percent": read_percent, "random_percent": 0, "queue_depth": queue_depth, "requests": REQUESTS })
}

fn run_on(target: &str, stream: Value, backend: &str) -> Finished {
    let options = json!({ "duration": "600s", "warmup": "0s", "backend": backend, "workers": 1 });
    let mut job = job(target, stream, options);
    // A loop device of the test's own, on which fio may have written.
    job.permission.typed = target.starts_with("/dev/loop").then(|| target.to_owned());
    let finished = finish(&job);
    assert_eq!(finished.outcome.first_error, None);
    finished
}

/// Requests and bytes of an operation that a device counts while something is done.
fn received(devices: &[&Loop], op: Op, mut work: impl FnMut()) -> (u64, u64) {
    let now = || {
        let counted = devices.iter().map(|device| device.counted());
        counted.fold((0, 0), |sum, next| (sum.0 + next.requests[op as usize], sum.1 + next.bytes[op as usize]))
    };
    let before = now();
    work();
    let after = now();
    (after.0 - before.0, after.1 - before.1)
}

#[test]
fn a_device_receives_sequential_requests_one_by_one() {
    let Some(device) = Loop::new(16 * MIB).map(Loop::without_scheduler) else { return };
    for (backend, op, depth) in cases() {
        let counted = received(&[&device], op, || drop(run_on(&device.device, sequential(op, depth), backend)));
        assert_eq!(counted, (REQUESTS, REQUESTS * 4096), "{backend}: {} at depth {depth}", op.name());
    }
}

#[test]
fn a_file_brings_its_device_sequential_requests_one_by_one() {
    let Some(mounted) = Mounted::ext4(64 * MIB) else { return };
    let path = filled(&mounted, 16 * MIB);
    for (backend, op, depth) in cases() {
        let counted = received(&[&mounted.device], op, || drop(run_on(&path, sequential(op, depth), backend)));
        // The file system reads and writes a little of its own.
        assert!(counted.0 >= REQUESTS, "{backend}: {} at depth {depth}: {counted:?}", op.name());
        assert!(counted.1 < REQUESTS * 4096 * 11 / 10, "{backend}: {} at depth {depth}: {counted:?}", op.name());
    }
}

fn cases() -> Vec<(&'static str, Op, u32)> {
    let mut cases = Vec::new();
    for backend in file_backends() {
        for op in [Op::Read, Op::Write] {
            cases.extend(DEPTHS.map(|depth| (backend, op, depth)));
        }
    }
    cases
}

/// Neighbours come from everywhere: runs, several pointers, backward, several streams, requests of a stripe.
#[test]
fn neighbours_of_every_kind_are_kept_apart() {
    let Some(one) = Loop::new(16 * MIB).map(Loop::without_scheduler) else { return };
    let Some(other) = Loop::new(16 * MIB).map(Loop::without_scheduler) else { return };
    let (single, stripe) = (one.device.clone(), format!("stripe:{},{}?unit=4KiB", one.device, other.device));
    let base = json!({ "queue_depth": 32, "requests": REQUESTS, "random_percent": 0 });
    let with = |more: Value| {
        let mut stream = base.clone();
        stream.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stream
    };
    let halves = json!([with(json!({ "name": "a" })), with(json!({ "name": "b", "region_start": "4KiB" }))]);
    let beside_others = json!([
        with(json!({ "name": "a", "region_length": "8MiB" })),
        with(json!({ "name": "b", "random_percent": 100, "region_start": "12MiB", "queue_depth": 1 })),
    ]);
    let shapes = [
        (&single, with(json!({ "random_percent": 100, "run_length": 8 })), 1),
        (&single, with(json!({ "direction": "backward" })), 1),
        (&single, with(json!({ "threads": 4, "sequential": "per_thread" })), 4),
        (&single, with(json!({ "random_percent": 100, "region_length": "1MiB", "distribution": "permutation" })), 1),
        (&single, halves, 2),
        (&single, beside_others, 2),
        (&stripe, with(json!({})), 1),
        (&stripe, with(json!({ "block_size": "32KiB", "requests": REQUESTS / 8 })), 1),
    ];
    for (target, streams, times) in shapes {
        let counted = received(&[&one, &other], Op::Read, || drop(run_on(target, streams.clone(), "auto")));
        assert_eq!(counted, (times * REQUESTS, times * REQUESTS * 4096), "{streams}");
    }
}

#[test]
fn who_asks_for_it_has_neighbours_joined() {
    if !file_backends().contains(&"uring") {
        return;
    }
    let Some(device) = Loop::new(16 * MIB).map(Loop::without_scheduler) else { return };
    let mut stream = sequential(Op::Read, 32);
    // The first batch is handed over before any of it can have come back.
    stream["requests"] = json!(32);
    for (merge_depth, requests) in [(1, 32), (2, 32), (8, 4), (32, 1)] {
        stream["merge_depth"] = json!(merge_depth);
        let counted = received(&[&device], Op::Read, || drop(run_on(&device.device, stream.clone(), "uring")));
        assert_eq!(counted, (requests, 32 * 4096), "merge_depth {merge_depth}");
    }
}

/// A page that is touched is one read where the kernel is told that nothing follows; otherwise it reads what lies around.
#[test]
fn a_mapping_reads_ahead_as_far_as_it_is_told() {
    let Some(mounted) = Mounted::ext4(64 * MIB) else { return };
    let path = filled(&mounted, 4 * MIB);
    let reads = |read_ahead: &str| {
        forget(&path);
        let stream = json!({
            "block_size": "64KiB", "distribution": "permutation", "amount": "4MiB", "read_ahead": read_ahead, "direct": false,
        });
        received(&[&mounted.device], Op::Read, || drop(run_on(&path, stream.clone(), "mmap")))
    };
    let (off, usual) = (reads("off"), reads("usual"));
    assert!((1024..1100).contains(&off.0) && off.1 >= 4 * MIB, "{off:?}");
    assert!(usual.0 < 512 && usual.1 >= 4 * MIB, "{usual:?}");
}

#[test]
fn durable_writes_to_a_mapping_reach_the_device_one_by_one() {
    let Some(mounted) = Mounted::ext4(64 * MIB) else { return };
    let path = filled(&mounted, 4 * MIB);
    for (dsync, least, most) in [(true, 64, u64::MAX), (false, 0, 16)] {
        let stream = json!({
            "read_percent": 0, "block_size": "64KiB", "distribution": "permutation", "requests": 64, "dsync": dsync, "direct": false,
        });
        let (flushes, _) = received(&[&mounted.device], Op::Flush, || drop(run_on(&path, stream.clone(), "mmap")));
        assert!((least..=most).contains(&flushes), "dsync {dsync}: {flushes} flushes");
    }
}

/// A scratch file whose blocks are all on the device.
fn filled(mounted: &Mounted, size_bytes: u64) -> String {
    let path = mounted.folder.path().join("file").to_str().unwrap().to_owned();
    let stop = std::sync::atomic::AtomicBool::new(false);
    prepare(&path.parse().unwrap(), Some(size_bytes), &Default::default(), &mut |_, _| (), &stop).unwrap();
    program("sync", &["--file-system", &path]).unwrap();
    path
}

/// Empties the page cache of a file.
fn forget(path: &str) {
    let file = std::fs::File::open(path).unwrap();
    // SAFETY: plain numbers on an open descriptor.
    let answer = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    assert_eq!(answer, 0);
}

#[test]
fn fio_brings_a_device_the_same_requests() {
    let Some(device) = Loop::new(16 * MIB).map(Loop::without_scheduler) else { return };
    if program("fio", &["--version"]).is_err() {
        println!("skipped: fio is not installed");
        return;
    }
    for (op, depth) in [(Op::Read, 4), (Op::Read, 32), (Op::Write, 32)] {
        let words = format!(
            "--name=s --filename={} --direct=1 --rw={} --bs=4k --iodepth={depth} --ioengine=libaio --number_ios={REQUESTS} \
             --size=16m --invalidate=0 --output=/dev/null",
            device.device,
            op.name()
        );
        let theirs = received(&[&device], op, || {
            program("fio", &words.split_whitespace().collect::<Vec<_>>()).unwrap();
        });
        let ours = received(&[&device], op, || drop(run_on(&device.device, sequential(op, depth), "auto")));
        assert_eq!(ours, theirs, "{} at depth {depth}", op.name());
    }
}
