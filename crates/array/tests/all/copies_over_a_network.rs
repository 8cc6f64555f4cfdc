//! Copies on several nodes: what is written crosses the network once for every further copy, what is read never does.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::bounds::{LOADS, demands};
use plimsoll_array::{Array, ArraySpec, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Six disks in two sets of three copies; the network takes a millisecond.
fn replicated() -> Value {
    let mut document = array("raid10", 6);
    document["group"][0]["raid"]["groups"] = json!(2);
    document["link"] = json!([{ "name": "network", "rate_bytes_per_s": 1_000_000_000, "latency_ns": MS }]);
    document["group"][0]["copy_links"] = json!(["network"]);
    document
}

/// Bytes over the network by 50 requests all over the array, and how long they took one after the other.
fn moved(document: &Value, op: Op) -> (u64, u64) {
    let mut array = Array::new(&ArraySpec::read(document).unwrap().spec, 1).unwrap();
    let mut done = Vec::new();
    for number in 0..50 {
        let lba = u64::from(number) * (array.sectors() / 64) / 8 * 8;
        array.submit(array.now_ns(), number, Request { op, lba, sectors: 16 });
        array.run_until(u64::MAX, &mut done);
    }
    assert_eq!(done.len(), 50);
    let place = array.components().iter().position(|component| component.name == "network").unwrap();
    let reading = array.readings()[place];
    (reading.account.bytes + reading.opposite.bytes, array.now_ns())
}

#[test]
fn every_write_crosses_the_network_once_for_each_further_copy() {
    assert_eq!(moved(&replicated(), Op::Write).0, 50 * 2 * 8192);
    assert_eq!(moved(&replicated(), Op::Read).0, 0);
}

#[test]
fn a_write_waits_for_the_network_and_a_read_does_not() {
    let mut near = replicated();
    near["link"][0]["latency_ns"] = json!(0);
    let of = |document: &Value, op| moved(document, op).1;
    assert_eq!(of(&replicated(), Op::Read), of(&near, Op::Read));
    // All copies have to be there; on the first, which is near, the disk may be the slowest now and then.
    let longer_ns = of(&replicated(), Op::Write) - of(&near, Op::Write);
    assert!((20 * MS..=60 * MS).contains(&longer_ns), "{longer_ns}");
}

#[test]
fn bounds_know_what_the_network_has_to_carry() {
    let spec = ArraySpec::read(&replicated()).unwrap().spec;
    let network = |load| demands(&spec, load, 1).into_iter().find(|demand| demand.component == "network");
    assert!(network(&LOADS[0]).is_none());
    let per_write_ns = network(&LOADS[3]).unwrap().least_ns;
    assert!((per_write_ns / 2.0 - f64::from(1 << 20)).abs() < 10.0, "{per_write_ns}");
}

#[test]
fn copies_that_there_are_not_cross_no_network() {
    let mut document = replicated();
    document["group"][0]["raid"] = json!({ "level": "raid0", "devices": 6 });
    let told = |document: &Value| ArraySpec::read(document).unwrap_err().to_string();
    assert_eq!(
        told(&document),
        "array \"tested\": group.g.copy_links: raid0 has no copies; write raid1 or raid10, or leave copy_links out"
    );
    let mut document = replicated();
    document["link"][0]["sharing"] = json!("per_device");
    assert_eq!(
        told(&document),
        "array \"tested\": group.g.copy_links: `network` is a link per device; write a shared one"
    );
}
