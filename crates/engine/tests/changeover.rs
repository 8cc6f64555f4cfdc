//! `auto` leaves the ring where the kernel hands its requests to threads of its own, as Linux does for files in memory.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;

use plimsoll_engine::Outcome;
use plimsoll_workload::Op;
use plimsoll_workload::job::BackendWord;
use serde_json::{Value, json};
use support::*;

/// A file in memory, whose reads the kernel's rings hand to threads; `None`, and a line that says why, where there is none.
fn in_memory() -> Option<(tempfile::TempDir, String)> {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: no directory in /dev/shm");
        return None;
    };
    let path = directory.path().join("file");
    fs::write(&path, vec![1; 8 << 20]).unwrap();
    let path = path.to_str().unwrap().to_owned();
    Some((directory, path))
}

fn measured(path: &str, stream: Value, options: Value) -> (Outcome, Option<String>) {
    let mut all_options = json!({ "duration": "200ms", "warmup": "1s", "interval": "100ms" });
    all_options.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let finished = finish(&job(path, stream, all_options));
    finished.assert_continuous();
    assert_eq!(finished.outcome.first_error, None);
    assert!(cell(&finished.everything, 0, Op::Read).count() > 0);
    let told = finished.outcome.facts.iter().find(|(name, _)| *name == "changeover").map(|(_, told)| told.clone());
    (finished.outcome, told)
}

#[test]
fn auto_goes_over_to_system_calls_where_the_kernel_would_hand_requests_to_threads() {
    let Some((_directory, path)) = in_memory() else { return };
    if !file_backends().contains(&"uring") {
        return;
    }
    let stream = json!({ "block_size": "4KiB", "queue_depth": 1, "direct": false });
    let (ring, told) = measured(&path, stream.clone(), json!({ "backend": "uring" }));
    assert_eq!((ring.backend, told), (BackendWord::Uring, None), "what was asked for stays");
    if ring.ring_workers == 0 {
        println!("skipped: this kernel's rings read files in memory themselves");
        return;
    }
    let (short, told) = measured(&path, stream.clone(), json!({ "backend": "auto", "warmup": "100ms" }));
    assert_eq!((short.backend, told), (BackendWord::Uring, None), "there was no time to try");
    let (auto, told) = measured(&path, stream, json!({ "backend": "auto" }));
    let told = told.expect("both were tried");
    assert!(told.contains("system calls carry them"), "{told}");
    assert_eq!((auto.backend, auto.ring_workers), (BackendWord::Sync, 0), "{told}");
    assert!(
        auto.facts.iter().any(|(name, _)| *name == "pool_threads"),
        "what is told is told of calls: {:?}",
        auto.facts
    );
}

#[test]
fn several_requests_at_once_leave_continuous_intervals_whatever_was_chosen() {
    let Some((_directory, path)) = in_memory() else { return };
    let stream = json!({ "block_size": "4KiB", "queue_depth": 4, "threads": 2, "direct": false });
    let (outcome, told) = measured(&path, stream, json!({ "backend": "auto" }));
    let by_calls = told.is_some_and(|told| told.contains("system calls carry them"));
    let uring = file_backends().contains(&"uring");
    let expected = if by_calls || !uring { BackendWord::Sync } else { BackendWord::Uring };
    assert_eq!(outcome.backend, expected);
}

#[test]
fn auto_stays_with_the_ring_on_a_file() {
    let directory = directory();
    let path = directory.path().join("file");
    fs::write(&path, vec![1; 8 << 20]).unwrap();
    let stream = json!({ "block_size": "4KiB", "queue_depth": 8, "direct": false });
    let (outcome, _) = measured(path.to_str().unwrap(), stream, json!({ "warmup": "300ms", "backend": "auto" }));
    let expected = if file_backends().contains(&"uring") { BackendWord::Uring } else { BackendWord::Sync };
    assert_eq!(outcome.backend, expected);
}
