//! Erasure coding over a network in a whole array: what crosses it, what a request and a rebuild cost, and that nothing is lost.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::bounds::{LOADS, Load, demands};
use plimsoll_array::{Array, ArraySpec, Request, What};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// What passes the network, and commands to disks and their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moved {
    up: u64,
    down: u64,
    commands: u64,
    bytes: u64,
}

/// Members in sets of k + m, each behind a network that the host passes as well.
fn coded(mut document: Value, groups: u16, parities: u16) -> Value {
    let raid = &mut document["group"][0]["raid"];
    (raid["groups"], raid["parities"], raid["strip_sectors"]) = (json!(groups), json!(parities), json!(32));
    document["link"] = json!([{ "name": "network", "rate_bytes_per_s": 1_000_000_000, "latency_ns": MS }]);
    document["devices"][0]["links"] = json!(["network"]);
    document["volumes"][0]["links"] = json!(["network"]);
    document
}

fn counted(array: &Array) -> Moved {
    let mut all = array.components().into_iter().zip(array.readings());
    let (_, network) = all.find(|(component, _)| component.name == "network").unwrap();
    Moved {
        up: network.opposite.bytes,
        down: network.account.bytes,
        commands: operations(array, "disk"),
        bytes: disk_bytes(array).iter().sum(),
    }
}

/// By fifty requests one after the other, all over the array.
fn crossed(array: &mut Array, op: Op, sectors: u32) -> Moved {
    let before = counted(array);
    let span = array.sectors() / 64 / 8192 * 8192;
    closed(array, 1, (0, 50), Box::new(move |number| Request { op, lba: number * span, sectors }));
    let after = counted(array);
    Moved {
        up: after.up - before.up,
        down: after.down - before.down,
        commands: after.commands - before.commands,
        bytes: after.bytes - before.bytes,
    }
}

/// Strips of 16 KiB in rows of four data strips and two of redundancy.
const STRIP: u64 = 16 << 10;

#[test]
fn only_the_strips_that_are_asked_for_are_read_and_cross_the_network_twice() {
    let mut array = built(&coded(array("erasure", 12), 2, 2), 1);
    assert_eq!(
        crossed(&mut array, Op::Read, 8),
        Moved { up: 50 * 2 * 4096, down: 0, commands: 50, bytes: 50 * 4096 },
        "a part of a strip"
    );
    assert_eq!(
        crossed(&mut array, Op::Read, 128),
        Moved { up: 50 * 2 * 4 * STRIP, down: 0, commands: 50 * 4, bytes: 50 * 4 * STRIP },
        "a row"
    );
}

#[test]
fn a_small_write_reads_and_writes_one_strip_and_all_redundancy_and_a_row_reads_nothing() {
    let mut array = built(&coded(array("erasure", 12), 2, 2), 1);
    // Old data and two parities come up; the request, new data and two parities go down.
    assert_eq!(
        crossed(&mut array, Op::Write, 8),
        Moved { up: 50 * 3 * 4096, down: 50 * 4 * 4096, commands: 50 * 6, bytes: 50 * 6 * 4096 }
    );
    assert_eq!(
        crossed(&mut array, Op::Write, 128),
        Moved { up: 0, down: 50 * (4 + 6) * STRIP, commands: 50 * 6, bytes: 50 * 6 * STRIP }
    );
}

#[test]
fn coding_costs_time_by_what_passes_it() {
    let took = |rate: u64| {
        let mut document = coded(array("erasure", 6), 1, 2);
        document["controller"][0]["xor_bytes_per_s"] = json!(rate);
        let mut array = built(&document, 1);
        crossed(&mut array, Op::Write, 128);
        array.now_ns()
    };
    // Both parities pass four strips, fifty times: 6.55 MB, at 10 MB/s. The disks turn meanwhile.
    let more_ns = took(10_000_000) - took(0);
    assert!(more_ns.abs_diff(655_360_000) < 300 * MS, "{more_ns}");
}

#[test]
fn of_missing_strips_k_others_are_read_and_come_over_the_network() {
    let mut array = without(coded(array("erasure", 6), 1, 2), &[3, 4]);
    let found = crossed(&mut array, Op::Read, 128);
    // Four of the four that are left, whichever hold data; the host gets the row.
    assert_eq!(found, Moved { up: 50 * 8 * STRIP, down: 0, commands: 50 * 4, bytes: 50 * 4 * STRIP });
    let found = crossed(&mut array, Op::Write, 128);
    assert_eq!((found.commands, found.up), (50 * 4, 0), "what is missing is not written");
}

#[test]
fn a_rebuild_reads_k_members_over_the_network_and_ends_with_the_set_whole() {
    for (disks, parities) in [(6, 2), (7, 3), (5, 1)] {
        let mut array = built(&coded(failing("erasure", disks, 1), 1, parities), 1);
        array.run_until(600 * SECOND, &mut Vec::new());
        assert_eq!(told(&array), [What::Failed, What::Replaced, What::Rebuilt], "{disks}, {parities}");
        let found = counted(&array);
        let data = u64::from(disks - parities);
        assert!(found.down.abs_diff(DISK_BYTES) < 1 << 20, "{found:?}");
        assert!(found.up.abs_diff(data * DISK_BYTES) < data << 20, "{found:?}");
    }
}

#[test]
fn requests_beside_a_rebuild_all_end_and_nothing_is_lost() {
    requests_beside_a_rebuild(&coded(failing("erasure", 7, 1), 1, 3));
}

#[test]
fn more_failures_than_redundancy_fail_what_needs_them() {
    let mut array = without(coded(array("erasure", 6), 1, 2), &[0, 1, 2]);
    assert!(fails(&mut array, Op::Write, 128));
}

#[test]
fn bounds_add_up_what_crosses_the_network_each_way() {
    let spec = ArraySpec::read(&coded(array("erasure", 12), 2, 2)).unwrap().spec;
    let network = |load: &Load| {
        let all = demands(&spec, load, 1);
        all.into_iter().find(|demand| demand.component == "network").unwrap().least_ns
    };
    // A byte is a nanosecond. Each way by itself: a read comes up twice; a write goes down once, and one and a half times as strips.
    let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.01, "{found} of {expected}");
    near(network(&LOADS[0]), 2.0 * 8192.0);
    near(network(&LOADS[3]), 2.5 * f64::from(1 << 20));
    // 70 % reads of 8 KiB: up 1.4 and 0.9 of old strips, down 0.3 and 0.9.
    near(network(&LOADS[1]), 2.3 * 8192.0);
    // All writes: up three old strips, down the request and three new ones.
    near(network(&Load { read_share: 0.0, ..LOADS[1] }), 4.0 * 8192.0);
    // One read in ten: up 0.2 and 2.7, down 0.9 and 2.7; the busier way counts, not the sum of the busier ones of each kind.
    near(network(&Load { read_share: 0.1, ..LOADS[1] }), 3.6 * 8192.0);
}
