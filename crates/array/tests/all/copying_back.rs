//! New drives at times that are written down, and what a spare holds copied back to them.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::{Array, Request, What};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Small disks and so many spares; member 1 fails after 10 ms, and new drives come for members at these times.
fn replaced(level: &str, disks: u16, spares: u16, replaced_at: &[(f64, u16)]) -> Value {
    let mut document = failing(level, disks, spares);
    let come: Vec<Value> =
        replaced_at.iter().map(|(time_s, member)| json!({ "time_s": time_s, "member": member })).collect();
    document["group"][0]["failures"]["replaced_at"] = json!(come);
    document
}

/// The same behind a controller that copies back.
fn copied(level: &str, disks: u16, spares: u16, replaced_at: &[(f64, u16)]) -> Value {
    let mut document = replaced(level, disks, spares, replaced_at);
    document["controller"][0]["copy_back"] = json!(true);
    document
}

fn fails_again(document: &mut Value, time_s: f64, member: u16) {
    let at = document["group"][0]["failures"]["at"].as_array_mut().unwrap();
    at.push(json!({ "time_s": time_s, "member": member }));
}

/// What has happened after so many seconds.
fn after(seconds: u64, array: &mut Array) -> Vec<(u64, u16, &'static str)> {
    array.run_until(seconds * SECOND, &mut Vec::new());
    chronicle(array)
}

fn words(told: &[(u64, u16, &'static str)]) -> Vec<&'static str> {
    told.iter().map(|(_, _, what)| *what).collect()
}

/// Bytes that a drive has moved.
fn moved(array: &Array, name: &str) -> u64 {
    let at = array.components().iter().position(|part| part.name == name).unwrap();
    array.readings()[at].account.bytes
}

fn time_ns(array: &Array, what: What) -> u64 {
    array.incidents().iter().find(|one| one.what == what).unwrap().time_ns
}

#[test]
fn without_a_spare_the_rebuild_begins_when_the_new_drive_comes() {
    for document in [replaced("raid5", 4, 0, &[(20.0, 1)]), copied("raid5", 4, 0, &[(20.0, 1)])] {
        let mut array = built(&document, 1);
        let told = after(100, &mut array);
        assert_eq!(told[..2], [(0, 1, "failed"), (20, 1, "replaced by a new drive")]);
        assert_eq!((told[2].2, told.len()), ("rebuilt", 3));
        assert!(moved(&array, "disk[1]") > DISK_BYTES * 99 / 100, "it is the drive in the bay of the failed one");
    }
}

#[test]
fn where_a_spare_has_taken_over_the_controller_decides_what_the_new_drive_is() {
    let mut stays = built(&replaced("raid5", 4, 1, &[(60.0, 1)]), 1);
    let told = after(200, &mut stays);
    assert_eq!(words(&told), ["failed", "replaced by a spare", "rebuilt", "given a new spare"]);
    assert_eq!((told[3].0, moved(&stays, "disk[1]")), (60, 0));

    let mut back = built(&copied("raid5", 4, 1, &[(60.0, 1)]), 1);
    let told = after(200, &mut back);
    let expected = ["failed", "replaced by a spare", "rebuilt", "copying back to a new drive", "copied back"];
    assert_eq!((words(&told), told[3].0), (expected.to_vec(), 60));
    assert_eq!(back.under_way(), 0);
    // All of the spare is read once, beside what it was given; the survivors were read for the rebuild alone.
    let all = DISK_BYTES / 512 / 128 * 128 * 512;
    assert_eq!([moved(&back, "disk[1]"), moved(&back, "disk[4]"), moved(&back, "disk[0]")], [all, 2 * all, all]);
}

#[test]
fn copying_back_goes_at_the_pace_of_a_rebuild() {
    let spent_s = |rebuild: Value| {
        let mut document = copied("raid10", 4, 1, &[(200.0, 1)]);
        document["controller"][0]["rebuild"] = rebuild;
        let mut array = built(&document, 1);
        array.run_until(1000 * SECOND, &mut Vec::new());
        (time_ns(&array, What::CopiedBack) - time_ns(&array, What::Copying)) as f64 / 1e9
    };
    let free_s = spent_s(json!({}));
    assert!(free_s > DISK_BYTES as f64 / 90e6 && free_s < DISK_BYTES as f64 / 60e6, "{free_s} s");
    let paced_s = spent_s(json!({ "rate_bytes_per_s": 10_000_000 }));
    assert!((paced_s / 100.0 - 1.0).abs() < 0.01, "1 GB at 10 MB/s: {paced_s} s");
}

#[test]
fn a_new_drive_that_comes_while_the_spare_is_rebuilt_waits_for_it() {
    let mut array = built(&copied("raid5", 4, 1, &[(3.0, 1)]), 1);
    let told = after(200, &mut array);
    let expected =
        ["failed", "replaced by a spare", "given a new drive", "rebuilt", "copying back to a new drive", "copied back"];
    assert_eq!(words(&told), expected);
    assert_eq!((told[2].0, time_ns(&array, What::Copying)), (3, time_ns(&array, What::Rebuilt)));
}

#[test]
fn a_spare_that_was_copied_back_takes_the_next_failed_member() {
    let mut document = copied("raid5", 4, 1, &[(60.0, 1)]);
    fails_again(&mut document, 120.0, 2);
    let mut array = built(&document, 1);
    let told = after(300, &mut array);
    assert_eq!(told[5..7], [(120, 2, "failed"), (120, 2, "replaced by a spare")]);
    assert_eq!((told[7].2, told.len()), ("rebuilt", 8));
    // Rebuilt, read back, rebuilt again; and the drive that came serves in its place.
    assert!(moved(&array, "disk[4]") > DISK_BYTES * 29 / 10);
    let before = moved(&array, "disk[1]");
    let span = array.sectors();
    closed(&mut array, 1, (0, 400), random(7, 16, 100, span));
    assert!(moved(&array, "disk[1]") > before, "it serves reads");
}

#[test]
fn a_member_that_waits_for_a_spare_gets_the_one_that_was_copied_back() {
    let mut document = copied("raid6", 6, 1, &[(60.0, 1)]);
    fails_again(&mut document, 2.0, 4);
    let mut array = built(&document, 1);
    let told = after(300, &mut array);
    let of_4: Vec<_> = told.iter().filter(|(_, member, _)| *member == 4).map(|(_, _, what)| *what).collect();
    assert_eq!(of_4, ["failed", "replaced by a spare", "rebuilt"]);
    let taken = array.incidents().iter().find(|one| one.member == 4 && one.what == What::Replaced).unwrap();
    assert_eq!(taken.time_ns, time_ns(&array, What::CopiedBack));
}

#[test]
fn a_spare_that_fails_while_it_is_copied_leaves_the_new_drive_to_be_rebuilt() {
    for (fails_s, told_before) in [(65.0, "copying back to a new drive"), (5.0, "given a new drive")] {
        let mut document = copied("raid5", 4, 1, &[(if fails_s > 60.0 { 60.0 } else { 3.0 }, 1)]);
        fails_again(&mut document, fails_s, 1);
        let mut array = built(&document, 1);
        let told = words(&after(300, &mut array));
        let end = [told_before, "failed", "replaced by a new drive", "rebuilt"];
        assert_eq!(told[told.len() - 4..], end, "{told:?}");
        assert!(moved(&array, "disk[1]") > DISK_BYTES * 99 / 100);
        assert_eq!(array.under_way(), 0);
    }
}

#[test]
fn the_new_drive_of_a_spare_that_failed_is_a_spare_again() {
    let mut document = copied("raid5", 4, 1, &[(60.0, 1), (150.0, 1)]);
    fails_again(&mut document, 65.0, 1);
    let mut array = built(&document, 1);
    let told = after(300, &mut array);
    assert_eq!(told.last().unwrap(), &(150, 1, "given a new spare"));
    assert_eq!(words(&told).iter().filter(|what| **what == "copied back").count(), 0);
}

/// What the spare moves more than the new drive while strips are written from a sector on, when half of it is copied.
fn more_than_the_new_drive(level: &str, first: u64) -> u64 {
    let mut document = copied(level, 4, 1, &[(200.0, 1)]);
    document["controller"][0]["rebuild"] = json!({ "rate_bytes_per_s": 10_000_000 });
    let mut array = built(&document, 1);
    array.run_until(250 * SECOND, &mut Vec::new());
    let copying: Vec<_> = array.rebuilding().map(|one| (one.copying, (one.share * 10.0).round())).collect();
    assert_eq!(copying, [(true, 5.0)], "{level}");
    let before = ["disk[4]", "disk[1]"].map(|name| moved(&array, name));
    let mut done = Vec::new();
    for number in 0..WRITES {
        let lba = (first / 128 + number) * 128;
        array.submit(array.now_ns(), number as u32, Request { op: Op::Write, lba, sectors: 128 });
    }
    while done.len() < WRITES as usize {
        array.run_until(u64::MAX, &mut done);
    }
    assert!(done.iter().all(|one| !one.failed));
    let [spare, new] = ["disk[4]", "disk[1]"].map(|name| moved(&array, name));
    (spare - before[0]) - (new - before[1])
}

const WRITES: u64 = 2400;

#[test]
fn what_is_written_below_the_mark_goes_to_both_drives_and_what_is_above_to_the_spare() {
    // The copy reads of the spare what it writes to the new drive, but for two chunks under way; a strip is 64 KiB.
    let chunks = 2.0 * 524_288.0;
    let sectors = |level: &str| built(&copied(level, 4, 1, &[]), 1).sectors();
    let below_and_above = |level: &str| {
        let span = sectors(level);
        [span / 8, span * 3 / 4].map(|first| more_than_the_new_drive(level, first) as f64)
    };
    // Member 1 has every second strip of a mirror.
    let [below, above] = below_and_above("raid10");
    assert!(below <= chunks, "{below}");
    assert!((above - (WRITES / 2 * 65_536) as f64).abs() <= chunks, "{above}");
    // Of parity groups, the spare is also read: as much as is written to it, in half of all rows' strips or a little more.
    let [below, above] = below_and_above("raid5");
    assert!(below > (WRITES / 4 * 65_536) as f64 && (above - 2.0 * below).abs() <= 2.0 * chunks, "{below}, {above}");
}

#[test]
fn copying_back_under_load_ends_and_loses_no_request() {
    for level in ["raid1", "raid10", "raid5", "raid6"] {
        let disks = if level == "raid1" { 2 } else { 6 };
        let mut document = copied(level, disks, 1, &[(3.0, 1)]);
        document["controller"][0]["cache"] = json!({ "size_bytes": 16 << 20 });
        document["controller"][0]["rebuild"] = json!({ "priority_percent": 100 });
        let mut array = built(&document, 1);
        let span = array.sectors();
        let mut first = 0;
        while array.incidents().iter().all(|one| one.what != What::CopiedBack) {
            closed(&mut array, 8, (first, 500), random(7, 16, 60, span));
            first += 500;
            assert!(array.now_ns() < 3_600 * SECOND, "{level}: {:?}", array.incidents());
        }
        closed(&mut array, 8, (first, 500), random(7, 16, 60, span));
        array.run_until(array.now_ns() + 100 * SECOND, &mut Vec::new());
        assert_eq!(array.under_way(), 0, "{level}");
    }
}

#[test]
fn a_replacement_of_what_has_not_failed_is_told_in_a_sentence() {
    let sentence = |replaced_at: &[(f64, u16)]| {
        let document = replaced("raid5", 4, 1, replaced_at);
        let read = plimsoll_array::ArraySpec::read(&document).unwrap();
        Array::new(&read.spec, 1).map(|_| ()).unwrap_err().to_string()
    };
    let told = |what: &str| format!("array \"tested\": group.g.failures: key {what}");
    assert_eq!(sentence(&[(2.0, 4)]), told("'member': 4 is no member; give 0 to 3"));
    assert_eq!(
        sentence(&[(2.0, 3)]),
        told("'replaced_at': member 3 does not fail; let it fail before, or leave this out")
    );
    assert_eq!(
        sentence(&[(0.005, 1)]),
        told("'replaced_at': member 1 has not failed at 0.005 s; give a time after its failure")
    );
    assert_eq!(
        sentence(&[(2.0, 1), (3.0, 1)]),
        told("'replaced_at': member 1 is replaced more often than it has failed at 3 s; leave one out")
    );
}
