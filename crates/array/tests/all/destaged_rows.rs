//! What is dirty in a row of parity goes to the devices as one write.

#![allow(clippy::unwrap_used)]

use crate::drives;
use crate::support::*;
use plimsoll_array::flash::FlashSpec;
use plimsoll_array::utilisation::Reading;
use plimsoll_array::{Array, DeviceSpec, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Rows that are written to, each of four strips of 128 sectors: pages are of 32.
const ROWS: u64 = 50;

/// Behind a cache that is emptied after 20 ms without requests.
fn draining(level: &str, devices: u16) -> Value {
    let mut document = cached(level, devices, 4096);
    document["controller"][0]["cache"]["idle_ns"] = json!(20 * MS);
    if level == "raid50" || level == "raid60" {
        document["group"][0]["raid"]["groups"] = json!(2);
    }
    document
}

/// The array when pages of every row were written, each once, and all of them were destaged.
fn destaged(document: &Value, pages: &[u64]) -> Array {
    let mut array = built(document, 1);
    array.run_until(50 * MS, &mut Vec::new());
    let count = pages.len() as u64;
    let next = |number: u64| (number / count) * 512 + pages[(number % count) as usize] * 32;
    let write = move |number| Request { op: Op::Write, lba: next(number), sectors: 32 };
    closed(&mut array, 4, (0, ROWS * count), Box::new(write));
    array.run_until(array.now_ns() + 10 * SECOND, &mut Vec::new());
    assert_eq!(array.under_way(), 0);
    array
}

const EVERY_SECOND: [u64; 8] = [0, 2, 4, 6, 8, 10, 12, 14];

#[test]
fn a_row_that_is_dirty_in_many_places_has_one_update_of_its_parity() {
    // Four strips are read for their gaps and written, and every parity is written.
    for (level, devices, commands) in [("raid5", 5, 9), ("raid6", 6, 10), ("raid50", 10, 9), ("raid60", 12, 10)] {
        let array = destaged(&draining(level, devices), &EVERY_SECOND);
        assert_eq!(operations(&array, "disk"), ROWS * commands, "{level}");
    }
    // Two pages of one strip: old data and parity are read and written.
    assert_eq!(operations(&destaged(&draining("raid5", 5), &[0, 3]), "disk"), ROWS * 4);
}

#[test]
fn without_parity_every_stretch_is_a_write() {
    for (level, devices, copies) in [("raid0", 4, 1), ("raid10", 8, 2)] {
        let array = destaged(&draining(level, devices), &EVERY_SECOND);
        assert_eq!(operations(&array, "disk"), ROWS * 8 * copies, "{level}");
    }
}

#[test]
fn rows_with_a_missing_member_go_as_one_write_too() {
    let mut document = draining("raid5", 5);
    document["group"][0]["failures"] = json!({ "at": [{ "time_s": 0.01, "member": 1 }] });
    // Where its parity is missing, four strips are read and written; elsewhere four survivors are read, three strips and the
    // parity written.
    assert_eq!(operations(&destaged(&document, &EVERY_SECOND), "disk"), ROWS * 8);
}

#[test]
fn a_row_is_not_divided_by_the_longest_destage() {
    let mut document = draining("raid5", 5);
    document["controller"][0]["cache"]["destage_bytes_max"] = json!(65_536);
    let whole: Vec<u64> = (0..16).collect();
    assert_eq!(operations(&destaged(&document, &whole), "disk"), ROWS * 5);
}

#[test]
fn flash_is_not_worn_by_gaps() {
    let spec = FlashSpec { capacity_bytes: 64 << 20, channels: 1, dies_per_channel: 1, ..drives::flash() };
    let mut document = draining("raid5", 5);
    document["devices"][0]["model"] = serde_json::to_value(DeviceSpec::Flash(spec)).unwrap();
    let array = destaged(&document, &EVERY_SECOND);
    let sum = |what: &dyn Fn(&Reading) -> u64| {
        let all = array.components().into_iter().zip(array.readings());
        all.filter(|(component, _)| component.kind == "flash").map(|(_, reading)| what(&reading)).sum::<u64>()
    };
    // Eight pages and the parity at two heights are written, and the page between the two is read of each strip.
    assert_eq!(sum(&|reading| reading.account.operations), ROWS * (10 + 4));
    assert_eq!(sum(&|reading| reading.account.bytes), ROWS * (10 + 4) * 16_384);
}

#[test]
fn rows_of_a_small_area_are_destaged_while_a_member_fails_and_is_rebuilt() {
    for (level, devices) in [("raid5", 5), ("raid6", 6), ("raid50", 10)] {
        let mut document = draining(level, devices + 1);
        let last = usize::from(devices) - 1;
        document["group"][0]["raid"]["devices"] = json!(devices);
        document["group"][0]["members"] = json!([format!("disk[0-{last}]")]);
        document["group"][0]["spares"] = json!([format!("disk[{devices}]")]);
        document["group"][0]["failures"] = json!({ "at": [{ "time_s": 0.3, "member": 1 }] });
        document["devices"][0]["model"]["capacity_bytes"] = json!(600_000_000);
        let mut array = built(&document, 1);
        let seen = closed(&mut array, 16, (0, 8_000), random(7, 16, 40, 400_000));
        assert_eq!(seen.times.len(), 8_000);
        array.run_until(array.now_ns() + 1000 * SECOND, &mut Vec::new());
        assert_eq!(array.under_way(), 0, "{level}");
    }
}
