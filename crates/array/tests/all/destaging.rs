//! Destages beside requests: who has the drives.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::{Array, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Disks that take the nearest command next, behind a cache of which half is for writes.
fn nearest_first(level: &str, disks: u16, pages: u64) -> Value {
    let mut document = cached(level, disks, pages);
    document["devices"][0]["model"]["queue"]["policy"] = json!("sptf");
    document["controller"][0]["cache"]["write_percent"] = json!(50);
    document["controller"][0]["cache"]["destage_per_device"] = json!(4);
    document
}

fn longest_ns(seen: &Seen) -> u64 {
    seen.times.iter().map(|(begin, end)| end - begin).max().unwrap()
}

#[test]
fn a_drive_takes_reads_between_destages_however_near_these_lie() {
    let mut array = built(&nearest_first("raid0", 1, 4096), 1);
    // One page more than the high watermark of 2048 × 75 %: a burst down to 50 % begins, 512 writes side by side.
    let near = Box::new(|number| Request { op: Op::Write, lba: number * 1024, sectors: 32 });
    closed(&mut array, 1, (0, 1537), near);
    let far = array.sectors() / 2;
    let read = move |number| Request { op: Op::Read, lba: far + number * 7_919_968 % (far / 2), sectors: 16 };
    // The first meet the four that the drive has already.
    closed(&mut array, 2, (0, 2), Box::new(read));
    let before = operations(&array, "disk");
    let seen = closed(&mut array, 2, (2, 50), Box::new(read));
    let destaged = operations(&array, "disk") - before - 50;
    assert!((1..=52).contains(&destaged), "{destaged} destages between 50 reads");
    // Each waits for the other read and for two destages, of 15 ms at most as it is itself.
    assert!(longest_ns(&seen) < 60 * MS, "{} ns", longest_ns(&seen));
}

#[test]
fn reads_do_not_wait_for_the_age_limit_while_dirty_pages_lie_between_the_watermarks() {
    for (level, disks) in [("raid0", 4), ("raid10", 8), ("raid5", 5), ("raid6", 6)] {
        let mut array = built(&nearest_first(level, disks, 2048), 1);
        let span = array.sectors();
        closed(&mut array, 2, (0, 4000), random(7, 16, 70, span));
        let seen = closed(&mut array, 2, (4000, 4000), random(7, 16, 70, span));
        // Drives of this policy leave a command for 500 ms at most.
        assert!(longest_ns(&seen) < 150 * MS, "{level}: {} ns", longest_ns(&seen));
    }
}

/// Requests per second of 32 outstanding, half of them writes, and destages for each write.
fn beside_reads(array: &mut Array) -> (f64, f64) {
    let span = array.sectors();
    closed(array, 32, (0, 4000), random(7, 16, 50, span));
    let before = operations(array, "disk");
    let seen = closed(array, 32, (4000, 4000), random(7, 16, 50, span));
    let reads = 2000.0;
    (seen.per_s(), ((operations(array, "disk") - before) as f64 - reads) / 2000.0)
}

#[test]
fn as_much_is_destaged_as_is_written_however_many_reads_there_are() {
    // With a cache that is soon full, destages come beside reads as fast as room is asked for.
    let mut array = built(&nearest_first("raid0", 4, 512), 1);
    let (_, destaged) = beside_reads(&mut array);
    assert!((0.9..1.1).contains(&destaged), "{destaged} destages for a write");
    for (level, disks) in [("raid10", 4), ("raid5", 4), ("raid6", 5)] {
        let mut array = built(&nearest_first(level, disks, 64), 1);
        beside_reads(&mut array);
        array.run_until(u64::MAX, &mut Vec::new());
        assert_eq!(array.under_way(), 0, "{level}: nothing is held back for good");
    }
}

/// Commands at the drives, summed over the time that they were there.
fn resident_ns(array: &Array) -> f64 {
    let all = array.components().into_iter().zip(array.readings());
    all.filter(|(component, _)| component.kind == "disk").map(|(_, reading)| reading.account.resident_ns as f64).sum()
}

#[test]
fn a_drive_has_no_more_commands_of_destages_with_redundancy_than_without() {
    for (level, disks) in [("raid0", 4), ("raid10", 4), ("raid5", 5), ("raid6", 6)] {
        let mut document = cached(level, disks, 4096);
        document["controller"][0]["cache"]["destage_per_device"] = json!(4);
        document["controller"][0]["cache"]["idle_ns"] = json!(20 * MS);
        let mut array = built(&document, 1);
        let span = array.sectors();
        closed(&mut array, 8, (0, 2500), random(7, 32, 0, span));
        let begin_ns = array.now_ns() + 200 * MS;
        array.run_until(begin_ns, &mut Vec::new());
        let before = resident_ns(&array);
        array.run_until(begin_ns + SECOND, &mut Vec::new());
        assert!(array.under_way() > 0, "{level}: it goes on");
        // Little: how many there are is how long they are there in a second.
        let commands = (resident_ns(&array) - before) / SECOND as f64 / f64::from(disks);
        println!("{level}: {commands:.2} commands at a drive");
        // With parity a write waits for the slower of two or three commands, twice.
        let least = if level == "raid5" || level == "raid6" { 2.0 } else { 3.6 };
        assert!((least..4.2).contains(&commands), "{level}: {commands} commands at a drive, not 4");
    }
}
