//! Flash before a group in a whole array: what is hit, which commands reach which drives, and what failures leave.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::bounds::LOADS;
use plimsoll_array::point::simulated;
use plimsoll_array::{Array, ArraySpec, Request, What};
use plimsoll_workload::Op;
use plimsoll_workload::rng::Draws;
use serde_json::{Value, json};

const EXTENT: u64 = 64 << 10;
const SECTORS: u32 = (EXTENT / 512) as u32;

fn flash() -> Value {
    json!({
        "kind": "flash", "capacity_bytes": 1_000_000_000_u64, "over_provisioning_percent": 7.0, "channels": 4,
        "dies_per_channel": 4, "planes_per_die": 2, "page_bytes": 16_384, "pages_per_block": 256, "page_read_us": 60,
        "page_program_us": 700, "block_erase_us": 3000, "channel_rate_bytes_per_s": 800_000_000,
        "interface_rate_bytes_per_s": 3_500_000_000_u64, "read_overhead_us": 8, "write_overhead_us": 8,
        "write_buffer_bytes": 8_388_608, "power_loss_protection": true, "translation": { "kind": "analytic" },
    })
}

/// An array of one group with so many extents on two flash drives before it.
fn behind_flash(mut document: Value, extents: u64, (flash_level, writes): (&str, &str)) -> Value {
    document["devices"].as_array_mut().unwrap().push(json!({ "name": "ssd", "count": 2, "model": flash() }));
    let cache = json!({
        "name": "flash", "controller": "a", "members": ["ssd"], "raid": { "level": flash_level, "devices": 2 },
    });
    document["group"].as_array_mut().unwrap().push(cache);
    document["group"][0]["flash_cache"] =
        json!({ "group": "flash", "size_bytes": extents * EXTENT, "extent_bytes": EXTENT, "writes": writes });
    document
}

/// Commands to disks and to flash drives, and the bytes of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Moved {
    disk: u64,
    disk_bytes: u64,
    flash: u64,
    flash_bytes: u64,
}

fn counted(array: &Array) -> Moved {
    let mut moved = Moved::default();
    for (component, reading) in array.components().into_iter().zip(array.readings()) {
        let account = reading.account;
        match component.kind {
            "disk" => {
                (moved.disk, moved.disk_bytes) = (moved.disk + account.operations, moved.disk_bytes + account.bytes)
            }
            "flash" => {
                (moved.flash, moved.flash_bytes) =
                    (moved.flash + account.operations, moved.flash_bytes + account.bytes);
            }
            _ => {}
        }
    }
    moved
}

/// What so many requests moved, one after the other, until nothing is under way.
fn moved(array: &mut Array, count: u64, next: Next<'_>) -> Moved {
    let before = counted(array);
    closed(array, 1, (0, count), next);
    array.run_until(array.now_ns() + 10 * SECOND, &mut Vec::new());
    assert_eq!(array.under_way(), 0);
    let after = counted(array);
    Moved {
        disk: after.disk - before.disk,
        disk_bytes: after.disk_bytes - before.disk_bytes,
        flash: after.flash - before.flash,
        flash_bytes: after.flash_bytes - before.flash_bytes,
    }
}

/// One request of so many sectors in each extent, from its second half.
fn each_extent(op: Op, sectors: u32) -> Next<'static> {
    Box::new(move |number| Request { op, lba: number * u64::from(SECTORS) + u64::from(SECTORS) / 2, sectors })
}

/// As a load of the first sectors leaves it.
fn warm(array: &mut Array, sectors: u64) {
    array.warm(std::slice::from_ref(&(0..sectors)));
}

/// Reads, hits, and extents that are dirty.
fn cache_reading(array: &Array) -> (u64, u64, u64) {
    let place = array.components().iter().position(|component| component.name == "g.flash_cache").unwrap();
    let reading = array.readings()[place];
    (reading.account.operations, reading.hits, reading.dirty.0)
}

#[test]
fn a_miss_reads_a_whole_extent_of_the_disks_and_writes_it_to_the_flash_and_a_hit_reads_the_flash_alone() {
    let mut array = built(&behind_flash(array("raid0", 4), 100, ("raid0", "through")), 1);
    let missed = moved(&mut array, 50, each_extent(Op::Read, 8));
    assert_eq!(missed, Moved { disk: 50, disk_bytes: 50 * EXTENT, flash: 50, flash_bytes: 50 * EXTENT });
    let hit = moved(&mut array, 50, each_extent(Op::Read, 8));
    assert_eq!(hit, Moved { disk: 0, disk_bytes: 0, flash: 50, flash_bytes: 50 * 4096 });
    assert_eq!(cache_reading(&array), (100, 50, 0));
}

#[test]
fn mirrored_flash_is_filled_twice_and_read_once() {
    let mut array = built(&behind_flash(array("raid5", 4), 100, ("raid1", "through")), 1);
    let missed = moved(&mut array, 50, each_extent(Op::Read, 8));
    assert_eq!((missed.flash, missed.flash_bytes), (100, 100 * EXTENT));
    assert_eq!(moved(&mut array, 50, each_extent(Op::Read, 8)).flash, 50);
}

#[test]
fn with_the_second_miss_extents_come_in_that_are_missed_again() {
    let mut document = behind_flash(array("raid0", 4), 100, ("raid0", "through"));
    document["group"][0]["flash_cache"]["promote_on_miss"] = json!(2);
    let mut array = built(&document, 1);
    let first = moved(&mut array, 50, each_extent(Op::Read, 8));
    assert_eq!(first, Moved { disk: 50, disk_bytes: 50 * 4096, flash: 0, flash_bytes: 0 });
    let second = moved(&mut array, 50, each_extent(Op::Read, 8));
    assert_eq!((second.disk_bytes, second.flash_bytes), (50 * EXTENT, 50 * EXTENT));
    assert_eq!(moved(&mut array, 50, each_extent(Op::Read, 8)).disk, 0);
}

#[test]
fn while_as_many_extents_come_in_as_may_misses_bring_nothing_in() {
    let mut document = behind_flash(array("raid0", 4), 100, ("raid0", "through"));
    document["group"][0]["flash_cache"]["fills_max"] = json!(3);
    let mut array = built(&document, 1);
    closed(&mut array, 20, (0, 20), each_extent(Op::Read, 8));
    array.run_until(array.now_ns() + SECOND, &mut Vec::new());
    let found = counted(&array);
    assert_eq!((found.flash, found.disk_bytes), (3, 3 * EXTENT + 17 * 4096));
}

#[test]
fn longer_reads_bring_nothing_in() {
    let mut document = behind_flash(array("raid0", 4), 100, ("raid0", "through"));
    document["group"][0]["flash_cache"]["read_bytes_max"] = json!(4096);
    let mut array = built(&document, 1);
    assert_eq!(moved(&mut array, 50, each_extent(Op::Read, 16)).flash, 0);
    assert_eq!(moved(&mut array, 50, each_extent(Op::Read, 8)).flash, 50);
}

#[test]
fn a_write_goes_around_through_or_back_as_is_said() {
    let after_fill = |writes: &str| {
        let mut array = built(&behind_flash(array("raid5", 4), 100, ("raid1", writes)), 1);
        moved(&mut array, 50, each_extent(Op::Read, 8));
        let written = moved(&mut array, 50, each_extent(Op::Write, 8));
        let read = moved(&mut array, 50, each_extent(Op::Read, 8));
        (written, read)
    };
    let raid5 = Moved { disk: 50 * 4, disk_bytes: 50 * 4 * 4096, ..Moved::default() };
    let copies = Moved { flash: 50 * 2, flash_bytes: 50 * 2 * 4096, ..Moved::default() };
    let (written, read) = after_fill("around");
    assert_eq!((written, read.disk), (raid5, 50), "the cache has given it up");
    let (written, read) = after_fill("through");
    let both = Moved { flash: copies.flash, flash_bytes: copies.flash_bytes, ..raid5 };
    assert_eq!((written, read.disk), (both, 0), "the cache has it still");
    let (written, read) = after_fill("back");
    assert_eq!((written, read.disk), (copies, 0), "the disks hear of it later");
    // What the cache does not have, through leaves out and back keeps.
    let fresh = |writes: &str| {
        moved(&mut built(&behind_flash(array("raid5", 4), 100, ("raid1", writes)), 1), 50, each_extent(Op::Write, 8))
    };
    assert_eq!((fresh("through"), fresh("back")), (raid5, copies));
}

#[test]
fn of_uniform_reads_as_many_are_hits_as_the_cache_has_of_what_is_read() {
    for (flash_level, promote) in [("raid0", 1), ("raid1", 2)] {
        let mut document = behind_flash(array("raid0", 4), 2000, (flash_level, "through"));
        document["group"][0]["flash_cache"]["promote_on_miss"] = json!(promote);
        let mut array = built(&document, 1);
        let span = 8000 * u64::from(SECTORS);
        warm(&mut array, span);
        closed(&mut array, 1, (0, 20_000), random(5, 8, 100, span));
        let (reads, hits, _) = cache_reading(&array);
        let share = hits as f64 / reads as f64;
        // A quarter, within three standard deviations of 20,000 draws.
        assert!((share - 0.25).abs() < 0.01, "{share}");
    }
}

/// The share of hits of an LRU of `places` by Che's approximation: each thing stays for as long as it takes to ask for so many others.
fn che(shares: &[f64], places: f64) -> f64 {
    let held = |time: f64| shares.iter().map(|share| 1.0 - (-share * time).exp()).sum::<f64>();
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle: f64 = (low + high) / 2.0;
        if held(middle) < places { low = middle } else { high = middle }
    }
    shares.iter().map(|share| share * (1.0 - (-share * low).exp())).sum()
}

#[test]
fn of_skewed_reads_as_many_are_hits_as_ches_approximation_says() {
    let count = 5000_u64;
    let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-0.9)).collect();
    let all: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / all).collect();
    let mut sums: Vec<f64> = Vec::new();
    for share in &shares {
        sums.push(sums.last().unwrap_or(&0.0) + share);
    }
    for places in [250_u64, 1000] {
        let mut array = built(&behind_flash(array("raid0", 4), places, ("raid0", "through")), 1);
        let draws = Draws::new(11, &[places]);
        let mut next = |number: u64| {
            let drawn = draws.at(number) as f64 / u64::MAX as f64;
            let rank = sums.partition_point(|&sum| sum < drawn).min(count as usize - 1) as u64;
            Request { op: Op::Read, lba: rank * u64::from(SECTORS), sectors: 8 }
        };
        closed(&mut array, 1, (0, 20_000), Box::new(&mut next));
        let before = cache_reading(&array);
        closed(&mut array, 1, (20_000, 40_000), Box::new(&mut next));
        let after = cache_reading(&array);
        let found = (after.1 - before.1) as f64 / (after.0 - before.0) as f64;
        let expected = che(&shares, places as f64);
        assert!((found - expected).abs() < 0.01, "{places} places: {found} where {expected} is expected");
    }
}

#[test]
fn a_warm_cache_has_its_share_of_every_part_at_once() {
    let mut document = behind_flash(array("raid0", 4), 1000, ("raid0", "through"));
    // Single misses bring nothing in that could push out what was there.
    document["group"][0]["flash_cache"]["promote_on_miss"] = json!(2);
    let hits = |document: &Value| {
        let mut array = built(document, 1);
        warm(&mut array, 4000 * u64::from(SECTORS));
        // Four hundred that lie side by side, somewhere.
        let next = |number: u64| Request { op: Op::Read, lba: (1234 + number) * u64::from(SECTORS), sectors: 8 };
        let all = closed(&mut array, 1, (0, 400), Box::new(next));
        assert_eq!(all.times.len(), 400);
        cache_reading(&array).1
    };
    assert!(hits(&document).abs_diff(100) < 10, "a quarter");
    document["group"][0]["flash_cache"]["warm"] = json!(false);
    assert_eq!(hits(&document), 0);
}

#[test]
fn writes_that_are_kept_reach_the_disks_between_the_watermarks_and_all_of_them_in_the_end() {
    let mut document = behind_flash(array("raid5", 4), 400, ("raid1", "back"));
    let cache = &mut document["group"][0]["flash_cache"];
    (cache["high_percent"], cache["low_percent"], cache["write_percent"]) = (json!(50), json!(25), json!(80));
    let mut array = built(&document, 1);
    let span = 3000 * u64::from(SECTORS);
    let mut highest = 0;
    for step in 0..40 {
        closed(&mut array, 4, (step * 100, 100), random(9, 8, 0, span));
        highest = highest.max(cache_reading(&array).2);
    }
    // 320 may be dirty: from 160 on they leave, until 80 are left.
    assert!((161..=320).contains(&highest), "{highest}");
    array.run_until(array.now_ns() + 100 * SECOND, &mut Vec::new());
    let dirty = cache_reading(&array).2;
    // Four at a time, one for each disk, so up to three were on their way when the last that had to leave had left.
    assert!((77..=80).contains(&dirty) && array.under_way() == 0, "{dirty}");
    let caches = array.write_caches().unwrap();
    assert_eq!((caches.dirty_bytes, caches.begins_bytes, caches.destages), (dirty * EXTENT, 160 * EXTENT, true));
}

#[test]
fn an_extent_that_leaves_is_read_of_the_flash_and_written_as_the_level_has_it() {
    let mut document = behind_flash(array("raid5", 4), 100, ("raid1", "back"));
    let cache = &mut document["group"][0]["flash_cache"];
    (cache["high_percent"], cache["low_percent"]) = (json!(0), json!(0));
    let mut array = built(&document, 1);
    // Two copies on the flash, one read of them, and read-modify-write of the disks.
    let found = moved(&mut array, 50, each_extent(Op::Write, 8));
    let expected = Moved { disk: 50 * 4, disk_bytes: 50 * 4 * 4096, flash: 50 * 3, flash_bytes: 50 * 3 * 4096 };
    assert_eq!((found, cache_reading(&array).2), (expected, 0));
    assert_eq!(moved(&mut array, 50, each_extent(Op::Read, 8)).disk, 0, "it stays as a clean one");
}

#[test]
fn a_write_that_finds_no_room_goes_to_the_disks() {
    let mut document = behind_flash(array("raid0", 4), 100, ("raid1", "back"));
    document["group"][0]["flash_cache"]["write_percent"] = json!(20);
    document["group"][0]["flash_cache"]["high_percent"] = json!(100);
    let mut array = built(&document, 1);
    let found = moved(&mut array, 50, each_extent(Op::Write, 8));
    assert_eq!((found.disk, found.flash, cache_reading(&array).2), (30, 20 * 2, 20));
    // What is dirty is written on the flash again, without a further place.
    let found = moved(&mut array, 20, each_extent(Op::Write, 8));
    assert_eq!((found.disk, found.flash), (0, 20 * 2));
}

fn failing_flash(document: &mut Value, members: &[u16]) {
    let at: Vec<Value> = members.iter().map(|member| json!({ "time_s": 20.0, "member": member })).collect();
    document["group"][1]["failures"] = json!({ "at": at });
}

#[test]
fn a_read_cache_that_loses_a_drive_loses_no_data() {
    let mut document = behind_flash(array("raid5", 4), 100, ("raid0", "through"));
    failing_flash(&mut document, &[0, 1]);
    let mut array = built(&document, 1);
    moved(&mut array, 100, each_extent(Op::Read, 8));
    array.run_until(30 * SECOND, &mut Vec::new());
    let read = moved(&mut array, 100, each_extent(Op::Read, 8));
    assert_eq!((read.disk, read.flash), (100, 0), "all of it comes from the disks");
    let written = moved(&mut array, 100, each_extent(Op::Write, 8));
    assert_eq!((written.disk, written.flash), (400, 0));
}

#[test]
fn a_write_cache_that_loses_a_copy_writes_everything_to_the_disks_and_keeps_nothing_more() {
    let mut document = behind_flash(array("raid5", 4), 100, ("raid1", "back"));
    failing_flash(&mut document, &[1]);
    let mut array = built(&document, 1);
    moved(&mut array, 50, each_extent(Op::Write, 8));
    assert_eq!(cache_reading(&array).2, 50);
    array.run_until(40 * SECOND, &mut Vec::new());
    assert_eq!((cache_reading(&array).2, array.under_way()), (0, 0));
    let written = moved(&mut array, 50, each_extent(Op::Write, 8));
    assert_eq!((written.disk, written.flash, cache_reading(&array).2), (200, 50, 0), "both have it");
    assert_eq!(moved(&mut array, 50, each_extent(Op::Read, 8)).disk, 0);
}

#[test]
fn what_only_the_flash_had_is_lost_with_its_last_copy_and_nothing_else() {
    let mut document = behind_flash(array("raid5", 4), 100, ("raid1", "back"));
    failing_flash(&mut document, &[0, 1]);
    let mut array = built(&document, 1);
    moved(&mut array, 40, each_extent(Op::Write, 8));
    array.run_until(40 * SECOND, &mut Vec::new());
    let fails = |array: &mut Array, number: u64| {
        let mut done = Vec::new();
        let lba = number * u64::from(SECTORS) + u64::from(SECTORS) / 2;
        array.submit(array.now_ns(), 0, Request { op: Op::Read, lba, sectors: 8 });
        array.run_until(u64::MAX, &mut done);
        done[0].failed
    };
    let lost: Vec<bool> = (0..60).map(|number| fails(&mut array, number)).collect();
    // Both copies fail at one instant: what had begun to leave, one for each disk, was still read.
    let (dirty, clean) = lost.split_at(40);
    assert!(dirty.iter().filter(|&&fails| fails).count() >= 36, "{dirty:?}");
    assert!(clean.iter().all(|&fails| !fails), "{clean:?}");
}

#[test]
fn behind_a_group_that_lacks_a_disk_hits_cost_no_reconstruction() {
    let mut document = behind_flash(array("raid5", 4), 100, ("raid0", "through"));
    document["group"][0]["failures"] = json!({ "at": [{ "time_s": 20.0, "member": 1 }] });
    let mut array = built(&document, 1);
    moved(&mut array, 100, each_extent(Op::Read, 8));
    array.run_until(30 * SECOND, &mut Vec::new());
    let read = moved(&mut array, 100, each_extent(Op::Read, 8));
    assert_eq!((read.disk, read.flash), (0, 100));
}

#[test]
fn a_rebuild_of_the_group_beside_requests_ends_with_all_of_them_answered() {
    for writes in ["around", "through", "back"] {
        let mut document = behind_flash(failing("raid5", 4, 1), 2000, ("raid1", writes));
        document["controller"][0]["rebuild"] = json!({ "priority_percent": 100 });
        let mut array = built(&document, 1);
        let span = array.sectors() / 256 * 256;
        warm(&mut array, span);
        let mut first = 0;
        while !array.incidents().iter().any(|one| one.what == What::Rebuilt) {
            closed(&mut array, 4, (first, 1000), random(3, 16, 60, span));
            first += 1000;
            assert!(array.now_ns() < 3600 * SECOND);
        }
        array.run_until(array.now_ns() + 100 * SECOND, &mut Vec::new());
        assert_eq!(array.under_way(), 0, "{writes}");
    }
}

#[test]
fn behind_a_controllers_cache_it_answers_what_that_misses() {
    let mut document = behind_flash(cached("raid5", 4, 64), 1000, ("raid1", "back"));
    document["controller"][0]["read_ahead"] = json!({ "initial_bytes": 65_536, "max_bytes": 524_288 });
    let mut array = built(&document, 1);
    let span = 1000 * u64::from(SECTORS);
    warm(&mut array, span);
    closed(&mut array, 8, (0, 5000), random(3, 16, 70, span));
    array.run_until(array.now_ns() + 100 * SECOND, &mut Vec::new());
    assert_eq!(array.under_way(), 0);
    let (reads, hits, dirty) = cache_reading(&array);
    assert!(hits > reads * 9 / 10 && dirty > 0, "{hits} of {reads}, {dirty} dirty");
}

#[test]
fn equal_seeds_give_equal_arrays() {
    let run = || {
        let mut array = built(&behind_flash(array("raid5", 4), 300, ("raid1", "back")), 1);
        warm(&mut array, 1000 * u64::from(SECTORS));
        closed(&mut array, 8, (0, 3000), random(3, 16, 70, 1000 * u64::from(SECTORS)))
    };
    assert_eq!(run(), run());
}

#[test]
fn a_short_simulation_begins_with_a_warm_cache() {
    let mut document = behind_flash(array("raid0", 4), 8000, ("raid0", "through"));
    document["volumes"][0]["size_bytes"] = json!(8000 * EXTENT);
    let spec = ArraySpec::read(&document).unwrap().spec;
    let found = &simulated(&spec, &LOADS[0], &[1]).unwrap()[0];
    assert!(found.hit_share > 0.99, "{found:?}");
}

/// What is wrong, the change that makes it so, and what is said.
type Case = (&'static str, fn(&mut Value), &'static str);

#[test]
fn what_cannot_be_is_one_sentence() {
    let cases: [Case; 9] = [
        (
            "unknown",
            |document| document["group"][0]["flash_cache"]["group"] = json!("fast"),
            "there is no other group `fast`",
        ),
        ("itself", |document| document["group"][0]["flash_cache"]["group"] = json!("g"), "there is no other group `g`"),
        (
            "level",
            |document| document["group"][1]["raid"]["level"] = json!("raid5"),
            "`flash` is raid5; write raid0, raid1 or raid10",
        ),
        (
            "back",
            |document| document["group"][0]["flash_cache"]["writes"] = json!("back"),
            "a drive of `flash` that fails would take writes with it",
        ),
        ("volume", |document| document["volumes"][0]["groups"] = json!(["g", "flash"]), "`flash` is used by others"),
        (
            "extent",
            |document| document["group"][0]["flash_cache"]["extent_bytes"] = json!(1000),
            "1000 bytes are not whole sectors",
        ),
        (
            "marks",
            |document| document["group"][0]["flash_cache"]["high_percent"] = json!(20),
            "50 lies above high_percent",
        ),
        (
            "size",
            |document| document["group"][0]["flash_cache"]["size_bytes"] = json!(1_u64 << 40),
            "are more than `flash` has; write at most",
        ),
        (
            "none",
            |document| document["group"][0]["flash_cache"]["size_bytes"] = json!(512),
            "holds no extent; write at least 65536",
        ),
    ];
    for (name, change, said) in cases {
        let mut document = behind_flash(array("raid5", 4), 100, ("raid0", "through"));
        if name == "level" {
            document["devices"][1]["count"] = json!(3);
            document["group"][1]["raid"]["devices"] = json!(3);
        }
        change(&mut document);
        let found = ArraySpec::read(&document).map_err(|error| error.to_string());
        let told = found
            .and_then(|read| Array::new(&read.spec, 1).map_err(|error| error.to_string()))
            .map(|_| ())
            .unwrap_err();
        assert!(told.contains(said), "{name}: {told}");
    }
}
