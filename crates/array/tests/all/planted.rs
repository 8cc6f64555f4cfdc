//! Planted bugs in whole arrays: the physics of one document are asked of an array built of another, and each difference
//! must be caught; otherwise the self-tests prove nothing.
//!
//! Plans of RAID, locks and single disks have theirs in `raid/planted.rs` and `disk_sums.rs`, the cache in its own tests.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::bounds::{Load, demands, expected};
use plimsoll_array::{ArraySpec, What};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Six disks behind a bus, which counts for long requests.
fn believed() -> Value {
    let mut document = array("raid5", 6);
    document["link"] =
        json!([{ "name": "bus", "duplex": "half", "rate_bytes_per_s": 80_000_000, "overhead_ns": 10_000 }]);
    document["volumes"][0]["links"] = json!(["bus"]);
    document["controller"][0]["request_ns"] = json!(50_000);
    document
}

/// Whether a figure is what it should be, to a share of it.
fn near(what: &str, found: f64, wanted: f64, share: f64) -> Result<(), String> {
    let is_near = (found / wanted - 1.0).abs() <= share;
    is_near.then_some(()).ok_or_else(|| format!("{what}: {found} in place of {wanted}"))
}

/// The sum of the parts of a random read at queue depth 1, from the datasheet of the believed document.
fn sums(built_of: &Value) -> Result<(), String> {
    let mut array = built(built_of, 5);
    let span = array.sectors();
    let seen = closed(&mut array, 1, (0, 20_000), random(7, 16, 100, span));
    let parts_ns = [50e3, 200e3, 4000e3, 3000e3, 8192.0 / 75e6 * 1e9, 10e3 + 8192.0 / 80e6 * 1e9];
    near("mean of a read", seen.mean_ns(), parts_ns.iter().sum(), 0.01)
}

/// Four commands of the disks for every small write.
fn small_writes(built_of: &Value) -> Result<(), String> {
    let mut array = built(built_of, 1);
    let span = array.sectors();
    closed(&mut array, 8, (0, 2000), random(7, 8, 0, span));
    near("commands of a small write", operations(&array, "disk") as f64 / 2000.0, 4.0, 0.001)
}

/// Long sequential reads are limited by the bus.
fn bus(built_of: &Value) -> Result<(), String> {
    let mut array = built(built_of, 1);
    let seen = closed(&mut array, 8, (0, 500), sequential(Op::Read, 2048, vec![0]));
    near("bytes per second", seen.per_s() * f64::from(1 << 20), 80e6, 0.02)
}

/// What mean value analysis of the believed document expects of many at once.
fn mean_values(built_of: &Value) -> Result<(), String> {
    let load = Load { name: "reads", read_share: 1.0, bytes: 8192, sequential: false };
    let analysed = expected(&demands(&ArraySpec::read(&believed()).unwrap().spec, &load, 512), 512).throughput_per_s;
    let mut array = built(built_of, 1);
    let span = array.sectors();
    let seen = closed(&mut array, 512, (0, 20_000), random(7, 16, 100, span));
    near("reads per second", seen.per_s(), analysed, 0.03)
}

/// A test of a document, and its name.
type Test = (&'static str, fn(&Value) -> Result<(), String>);

const TESTS: [Test; 4] = [("sums", sums), ("small writes", small_writes), ("bus", bus), ("mean values", mean_values)];

/// The tests that reject an array.
fn rejections(built_of: &Value) -> Vec<&'static str> {
    TESTS.iter().filter(|(_, test)| test(built_of).is_err()).map(|(name, _)| *name).collect()
}

#[test]
fn without_a_bug_every_test_passes() {
    for (name, test) in TESTS {
        assert_eq!(test(&believed()), Ok(()), "{name}");
    }
}

#[test]
fn every_planted_bug_is_caught_by_the_test_that_is_meant_for_it() {
    let disk = |key: &str, value: Value| {
        let mut document = believed();
        document["devices"][0]["model"][key] = value;
        document
    };
    let changed = |pointer: &str, value: Value| {
        let mut document = believed();
        *document.pointer_mut(pointer).unwrap() = value;
        document
    };
    let halved = json!({ "single_track_us": 100, "average_us": 2000, "full_stroke_us": 4000 });
    let bugs = [
        ("the platters turn 5 % too fast", disk("rotation_rpm", json!(10_500)), "sums"),
        ("the seek curve is halved", disk("read_seek", halved), "sums"),
        ("the overhead of a command is forgotten", disk("command_overhead_us", json!(0)), "sums"),
        ("the processor's time is forgotten", changed("/controller/0/request_ns", json!(0)), "sums"),
        ("the link is twice as fast", changed("/link/0/rate_bytes_per_s", json!(160_000_000)), "bus"),
        ("a second parity is written", changed("/group/0/raid/level", json!("raid6")), "small writes"),
        ("no parity is written", changed("/group/0/raid/level", json!("raid0")), "small writes"),
        ("commands are taken in an order of their own", disk("queue", json!({ "policy": "sptf" })), "mean values"),
    ];
    for (bug, document, test) in bugs {
        let rejected = rejections(&document);
        assert!(rejected.contains(&test), "{bug}: {test} does not catch it, {rejected:?} do");
    }
}

#[test]
fn a_rebuild_that_never_ends_or_ends_at_once_would_be_seen() {
    let mut array = built(&failing("raid5", 4, 1), 1);
    array.run_until(200 * SECOND, &mut Vec::new());
    let rebuilt = array.incidents().iter().find(|incident| incident.what == What::Rebuilt).unwrap();
    // A gigabyte cannot be written faster than at the outer edge.
    assert!(rebuilt.time_ns > 11 * SECOND, "{}", rebuilt.time_ns);
}
