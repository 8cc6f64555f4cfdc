//! What threads draw: the mix within sampling error, equal for equal seeds, different for different threads.

#![allow(clippy::unwrap_used)]

use plimsoll_workload::files::{FileOp, FilePlan, FileWorkload, Script, fingerprint};
use serde_json::{Value, json};

fn workload(stream: Value) -> FileWorkload {
    let file = json!({ "driver": "files", "tree": [{ "files": 1000 }], "stream": [stream] });
    FileWorkload::from_json(&file, "script.toml").unwrap()
}

fn plan(stream: Value, seed: u64) -> FilePlan {
    workload(stream).resolve(seed).unwrap()
}

fn drawn(plan: &FilePlan, shard: u32, count: usize) -> Vec<FileOp> {
    let mut script = Script::new(&plan.streams[0], shard);
    (0..count).map(|_| script.operation()).collect()
}

#[test]
fn operations_follow_their_shares_within_sampling_error() {
    let plan = plan(json!({ "operation": { "create": 12.5, "delete": 12.5, "stat": 50, "read": 25 } }), 1);
    let ops = drawn(&plan, 0, 40_000);
    for (op, percent) in
        [(FileOp::Create, 12.5_f64), (FileOp::Delete, 12.5), (FileOp::Stat, 50.0), (FileOp::Read, 25.0)]
    {
        let count = ops.iter().filter(|drawn| **drawn == op).count() as f64;
        let deviation = (40_000.0 * percent / 100.0 * (1.0 - percent / 100.0)).sqrt();
        assert!((count - 400.0 * percent).abs() < 4.5 * deviation, "{op:?}: {count}");
    }
}

#[test]
fn equal_seeds_draw_the_same_and_other_seeds_and_threads_do_not() {
    let mixed = || json!({ "operation": { "read": 50, "write": 50 }, "threads": 2 });
    let (first, again, other) = (plan(mixed(), 1), plan(mixed(), 1), plan(mixed(), 2));
    assert_eq!(drawn(&first, 0, 200), drawn(&again, 0, 200));
    assert_ne!(drawn(&first, 0, 200), drawn(&first, 1, 200));
    assert_ne!(drawn(&first, 0, 200), drawn(&other, 0, 200));
    assert_eq!(fingerprint(&first, 500), fingerprint(&again, 500));
    assert_ne!(fingerprint(&first, 500), fingerprint(&other, 500));
}

#[test]
fn candidates_are_even_and_inside() {
    let plan = plan(json!({ "operation": "stat" }), 1);
    let mut script = Script::new(&plan.streams[0], 0);
    let mut counts = [0_u32; 10];
    (0..10_000).for_each(|_| counts[script.candidate(10) as usize] += 1);
    assert!(counts.iter().all(|count| count.abs_diff(1000) < 150), "standard deviation 30: {counts:?}");
}

#[test]
fn skewed_candidates_fall_exponentially_and_go_on_from_the_first() {
    let plan = plan(json!({ "operation": "stat", "file_skew": 3 }), 1);
    let mut script = Script::new(&plan.streams[0], 0);
    let mut counts = [0_u32; 10];
    for _ in 0..100_000 {
        counts[(script.candidate(1000) / 100) as usize] += 1;
    }
    // −ln(u) ÷ 3 modulo 1 has the density 3·exp(−3x) ÷ (1 − exp(−3)) on 0 to 1.
    let below = |x: f64| (1.0 - (-3.0 * x).exp()) / (1.0 - (-3.0_f64).exp());
    for (place, count) in counts.iter().enumerate() {
        let expected = 100_000.0 * (below((place + 1) as f64 / 10.0) - below(place as f64 / 10.0));
        assert!((f64::from(*count) - expected).abs() < 4.5 * expected.sqrt(), "{place}: {count}, {expected}");
    }
}

#[test]
fn what_comes_with_an_operation_is_recorded_and_not_drawn() {
    let ops = |stream: Value| {
        let plan = plan(stream, 1);
        let issued = FileOp::ALL.into_iter().filter(|op| plan.streams[0].issues(*op));
        issued.map(FileOp::name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ops(json!({ "operation": "read" })), "read open close");
    assert_eq!(ops(json!({ "operation": "create" })), "create close");
    let spool = json!({ "operation": "create", "write_created": true, "flush_at_close": true });
    assert_eq!(ops(spool), "write flush create close");
    assert_eq!(ops(json!({ "operation": { "stat": 50, "delete": 50 } })), "stat delete");
}

#[test]
fn lengths_follow_their_table() {
    let plan = plan(json!({ "operation": "read", "transfer_size": { "4KiB": 75, "64KiB": 25 } }), 1);
    let mut script = Script::new(&plan.streams[0], 0);
    let small = (0..10_000).filter(|_| script.transfer_bytes() == 4096).count();
    assert!(small.abs_diff(7500) < 200, "standard deviation 43: {small}");
    assert_eq!(plan.streams[0].max_transfer, 65_536);
}
