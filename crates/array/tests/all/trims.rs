//! Trims go through volumes and layouts to the devices that hold the data, and take their time.

#![allow(clippy::unwrap_used)]

use crate::drives;
use crate::support::*;
use plimsoll_array::flash::FlashSpec;
use plimsoll_array::{Array, DeviceSpec, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Flash drives with maps, of 64 MiB in one die.
fn flash_array(level: &str, count: u16) -> Value {
    let spec = FlashSpec { capacity_bytes: 64 << 20, channels: 1, dies_per_channel: 1, ..drives::flash() };
    let mut document = array(level, count);
    document["devices"][0]["model"] = serde_json::to_value(DeviceSpec::Flash(spec)).unwrap();
    document
}

fn of_flash(array: &Array, what: impl Fn(&plimsoll_array::utilisation::Reading) -> u64) -> Vec<u64> {
    let all = array.components().into_iter().zip(array.readings());
    all.filter(|(component, _)| component.kind == "flash").map(|(_, reading)| what(&reading)).collect()
}

/// How long the dies sensed for a read.
fn sensed_ns(array: &mut Array, lba: u64, sectors: u32) -> u64 {
    let busy_ns = |array: &Array| of_flash(array, |reading| reading.account.busy_ns).iter().sum::<u64>();
    let before = busy_ns(array);
    closed(array, 1, (0, 1), Box::new(move |_| Request { op: Op::Read, lba, sectors }));
    busy_ns(array) - before
}

fn trim(array: &mut Array, lba: u64, sectors: u32) -> Seen {
    closed(array, 1, (0, 1), Box::new(move |_| Request { op: Op::Trim, lba, sectors }))
}

#[test]
fn what_was_trimmed_is_known_to_be_empty_and_nothing_else_is() {
    for (level, count) in [("raid0", 3), ("raid1", 2), ("raid10", 4), ("raid5", 4), ("raid6", 5), ("raid50", 6)] {
        let mut document = flash_array(level, count);
        if level == "raid50" {
            document["group"][0]["raid"]["groups"] = json!(2);
        }
        let mut array = built(&document, 1);
        // From the middle of a strip over several rows to the middle of another.
        let (lba, sectors) = (72, 2_000);
        trim(&mut array, lba, sectors);
        assert_eq!(sensed_ns(&mut array, lba, sectors), 0, "{level}");
        assert!(sensed_ns(&mut array, lba - 8, 8) > 0, "{level}: the unit before");
        assert!(sensed_ns(&mut array, lba + u64::from(sectors), 8) > 0, "{level}: the unit behind");
    }
}

#[test]
fn both_copies_of_a_mirror_are_trimmed() {
    let mut array = built(&flash_array("raid1", 2), 1);
    trim(&mut array, 0, 256);
    assert_eq!(of_flash(&array, |reading| reading.account.operations), [1, 1]);
    assert_eq!(of_flash(&array, |reading| reading.account.bytes), [0, 0], "a trim moves no data");
    // Reads of both: they go round by strips.
    (0..2).for_each(|strip| assert_eq!(sensed_ns(&mut array, strip * 128, 128), 0));
    assert_eq!(of_flash(&array, |reading| reading.account.operations), [2, 2]);
}

#[test]
fn trims_alone_take_time_on_flash_and_on_disks() {
    for document in [flash_array("raid5", 3), array("raid5", 3), cached("raid10", 4, 64)] {
        let mut array = built(&document, 1);
        let seen = closed(&mut array, 4, (0, 100), sequential(Op::Trim, 128, vec![0]));
        assert!(seen.times.iter().all(|(begin_ns, end_ns)| end_ns > begin_ns));
    }
}

#[test]
fn a_drive_half_of_which_was_trimmed_writes_the_other_half_faster() {
    let per_s = |trimmed: bool| {
        let mut array = built(&flash_array("raid0", 1), 1);
        let half = array.sectors() / 2;
        if trimmed {
            trim(&mut array, half, half as u32);
        }
        // Overwritten once before it counts.
        let count = half / 8;
        closed(&mut array, 8, (0, count), random(3, 8, 0, half));
        closed(&mut array, 8, (count, 2 * count), random(3, 8, 0, half)).per_s()
    };
    let [full, trimmed] = [false, true].map(per_s);
    println!("{trimmed:.0}/s in place of {full:.0}/s");
    assert!(trimmed > 1.2 * full, "{trimmed}/s in place of {full}/s");
}
