//! Which copy of a mirror is read: by who knows queues and addresses only, and of drives whose positioning is all the same.

#![allow(clippy::unwrap_used)]

use crate::drives;
use crate::support::*;
use plimsoll_array::{Array, Completion, DeviceSpec, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

fn mirror() -> Array {
    let mut spec = array("raid10", 2);
    spec["group"][0]["raid"]["read_choice"] = json!("least_queued");
    built(&spec, 1)
}

/// Commands that each of the two drives has carried out.
fn commands(array: &Array) -> Vec<u64> {
    let devices = array.components().into_iter().zip(array.readings());
    devices
        .filter(|(component, _)| component.kind == "disk" || component.kind == "flash")
        .map(|(_, reading)| reading.account.operations)
        .collect()
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

/// Two flash drives in a mirror, by the default choice unless another is given.
fn flash_mirror(level: &str, read_choice: Option<&str>) -> Value {
    let mut spec = array(level, 2);
    spec["devices"][0]["model"] = serde_json::to_value(DeviceSpec::Flash(drives::flash())).unwrap();
    if let Some(choice) = read_choice {
        spec["group"][0]["raid"]["read_choice"] = json!(choice);
    }
    spec
}

#[test]
fn idle_flash_copies_share_random_reads() {
    for choice in [None, Some("least_queued")] {
        for population in [1, 8] {
            let mut array = built(&flash_mirror("raid10", choice), 1);
            let span = array.sectors();
            closed(&mut array, population, (0, 4000), random(5, 8, 100, span));
            let found = commands(&array);
            assert!(
                found.iter().all(|&commands| (1800..=2200).contains(&commands)),
                "{choice:?} {population}: {found:?}"
            );
        }
    }
}

#[test]
fn both_copies_of_a_flash_mirror_bring_long_reads() {
    let per_s = |document: &Value| {
        let mut array = built(document, 1);
        closed(&mut array, 64, (0, 1000), sequential(Op::Read, 2048, vec![0])).per_s()
    };
    let one = per_s(&flash_mirror("raid0", None));
    // RAID 0 of two drives has both at work, too.
    for choice in [None, Some("least_queued")] {
        let both = per_s(&flash_mirror("raid10", choice));
        println!("{choice:?}: {both:.0}/s of {one:.0}/s");
        assert!(both > 0.9 * one, "{choice:?}: {both}/s of {one}/s");
    }
}

#[test]
fn a_mirror_that_reads_its_first_copy_only_would_be_seen() {
    let mut array = built(&flash_mirror("raid10", Some("primary_only")), 1);
    let span = array.sectors();
    closed(&mut array, 8, (0, 500), random(5, 8, 100, span));
    assert_eq!(commands(&array), [500, 0]);
}
