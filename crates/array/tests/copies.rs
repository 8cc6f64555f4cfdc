//! Which copy of a mirror a controller reads, when it knows queues and addresses only.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_array::{Array, Completion, Request};
use plimsoll_workload::Op;
use serde_json::json;
use support::*;

fn mirror() -> Array {
    let mut spec = array("raid10", 2);
    spec["group"][0]["raid"]["read_choice"] = json!("least_queued");
    built(&spec, 1)
}

/// Commands that each of the two drives has carried out.
fn commands(array: &Array) -> Vec<u64> {
    let devices = array.components().into_iter().zip(array.readings());
    devices.filter(|(component, _)| component.kind == "disk").map(|(_, reading)| reading.account.operations).collect()
}

fn read(array: &mut Array, lba: u64) {
    let mut done: Vec<Completion> = Vec::new();
    array.submit(array.now_ns(), 0, Request { op: Op::Read, lba, sectors: 16 });
    while done.is_empty() {
        array.run_until(u64::MAX, &mut done);
    }
}

#[test]
fn sequential_reads_stay_on_the_copy_that_reads_on() {
    let mut array = mirror();
    (0..50).for_each(|number| read(&mut array, number * 16));
    let mut found = commands(&array);
    found.sort_unstable();
    assert_eq!(found, [0, 50]);
}

#[test]
fn two_streams_far_apart_get_a_copy_each() {
    let mut array = mirror();
    let far = array.sectors() / 2;
    for number in 0..50 {
        read(&mut array, number * 16);
        read(&mut array, far + number * 16);
    }
    let found = commands(&array);
    assert!(found.iter().all(|&commands| (45..=55).contains(&commands)), "{found:?}");
}
