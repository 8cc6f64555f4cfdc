//! Failures, spares and rebuilds: what they cost, how long they take, and what is lost.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::{Array, Completion, Request, What};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// What happened to members, in words, and when the last of it did.
fn story(array: &Array) -> (Vec<&'static str>, u64) {
    let incidents = array.incidents();
    (incidents.iter().map(|incident| incident.what.word()).collect(), incidents.last().map_or(0, |last| last.time_ns))
}

/// Time to rebuild, in seconds, while so many random reads are kept outstanding.
fn rebuilt_s(document: &Value, population: u32) -> f64 {
    let mut array = built(document, 1);
    let span = array.sectors();
    let mut first = 0;
    while array.incidents().iter().all(|incident| incident.what != What::Rebuilt) {
        if population == 0 {
            array.run_until(array.now_ns() + SECOND, &mut Vec::new());
        } else {
            closed(&mut array, population, (first, 500), random(7, 16, 100, span));
            first += 500;
        }
        assert!(array.now_ns() < 3_600 * SECOND, "{:?}", array.incidents());
    }
    let incidents = array.incidents();
    (incidents[2].time_ns - incidents[1].time_ns) as f64 / 1e9
}

#[test]
fn a_failed_member_is_replaced_and_rebuilt_at_the_pace_of_the_disks() {
    for (level, disks) in [("raid5", 4), ("raid10", 4), ("raid1", 2)] {
        let mut array = built(&failing(level, disks, 1), 1);
        array.run_until(200 * SECOND, &mut Vec::new());
        assert_eq!(story(&array).0, ["failed", "replaced by a spare", "rebuilt"], "{level}");
        assert_eq!(array.under_way(), 0);
        let seconds = rebuilt_s(&failing(level, disks, 1), 0);
        // No faster than the medium takes it, and not slower either: the next chunk is read while one is written.
        assert!(seconds > DISK_BYTES as f64 / 90e6 && seconds < DISK_BYTES as f64 / 60e6, "{level}: {seconds} s");
    }
}

#[test]
fn mirrors_are_rebuilt_sooner_than_parity_where_the_bus_is_shared() {
    let over_a_bus = |level: &str| {
        let mut document = failing(level, 8, 1);
        document["link"] = json!([{ "name": "bus", "duplex": "half", "rate_bytes_per_s": 160_000_000 }]);
        document["devices"][0]["links"] = json!(["bus"]);
        rebuilt_s(&document, 0)
    };
    let (mirrors, parity) = (over_a_bus("raid10"), over_a_bus("raid5"));
    assert!(mirrors < 0.7 * parity, "{mirrors} s and {parity} s");
}

#[test]
fn a_rebuild_takes_as_much_longer_as_its_share_of_the_time_is_less() {
    for level in ["raid5", "raid10"] {
        let mut document = failing(level, 4, 1);
        let free = rebuilt_s(&document, 0);
        for percent in [99, 75, 50, 25, 10, 5] {
            document["group"][0]["rebuild"] = json!({ "share_percent": percent });
            let ratio = rebuilt_s(&document, 0) * f64::from(percent) / 100.0 / free;
            // Where a spell begins, the drives are filled first; after the last one there is no pause.
            assert!((0.97..1.03).contains(&ratio), "{level}, {percent} %: {ratio} of {free} s over the share");
        }
    }
}

#[test]
fn a_share_is_that_of_each_of_two_rebuilds() {
    let longest_s = |level: &str, disks: u16, failed: &[u16], percent: u32| {
        let mut document = failing(level, disks, 2);
        let at: Vec<Value> = failed.iter().map(|member| json!({ "time_s": 0.01, "member": member })).collect();
        document["group"][0]["failures"]["at"] = json!(at);
        document["group"][0]["rebuild"] = json!({ "share_percent": percent });
        let mut array = built(&document, 1);
        array.run_until(1000 * SECOND, &mut Vec::new());
        let (told, end_ns) = story(&array);
        assert_eq!(told.iter().filter(|word| **word == "rebuilt").count(), failed.len());
        end_ns as f64 / 1e9
    };
    // Members of two mirrors have nothing to do with each other.
    let free = longest_s("raid10", 4, &[1, 3], 100);
    for percent in [75, 50, 25, 10, 5] {
        let ratio = longest_s("raid10", 4, &[1, 3], percent) * f64::from(percent) / 100.0 / free;
        assert!((0.97..1.03).contains(&ratio), "{percent} %: {ratio} of {free} s over the share");
    }
    // Those of one group read the same survivors, the less at the same time the less their share is.
    let (alone, together) = (longest_s("raid6", 6, &[1], 100), longest_s("raid6", 6, &[1, 4], 100));
    for percent in [75, 50, 25, 10, 5] {
        let work = longest_s("raid6", 6, &[1, 4], percent) * f64::from(percent) / 100.0;
        assert!(work > 0.97 * alone && work < 1.08 * together, "{percent} %: {work} s, {alone} s, {together} s");
    }
}

#[test]
fn a_share_is_kept_under_load_and_never_exceeded() {
    for population in [1, 8] {
        let mut document = failing("raid10", 4, 1);
        document["group"][0]["rebuild"] = json!({ "priority_percent": 100 });
        let free = rebuilt_s(&document, population);
        document["group"][0]["rebuild"] = json!({ "priority_percent": 100, "share_percent": 20 });
        let ratio = rebuilt_s(&document, population) / free;
        assert!((4.75..5.25).contains(&ratio), "{population}: {ratio} times {free} s");
    }
}

#[test]
fn a_rebuild_waits_for_idle_time_only_where_there_are_requests() {
    let mut document = failing("raid5", 4, 1);
    let free = rebuilt_s(&document, 0);
    document["group"][0]["rebuild"] = json!({ "idle_ns": 50_000_000 });
    assert!((rebuilt_s(&document, 0) / free - 1.0).abs() < 0.01, "nothing else is asked");
    let mut array = built(&document, 1);
    let span = array.sectors();
    closed(&mut array, 4, (0, 2000), random(7, 16, 100, span));
    assert_eq!(story(&array).0, ["failed", "replaced by a spare"], "there was no pause of 50 ms");
}

#[test]
fn idle_time_begins_when_the_last_request_of_the_group_has_ended() {
    let mut document = failing("raid5", 4, 1);
    document["group"][0]["rebuild"] = json!({ "idle_ns": 20 * MS });
    let mut array = built(&document, 1);
    array.run_until(15 * MS, &mut Vec::new());
    // Reads of 4 MiB, one after the other with 5 ms between: they take longer than the pause that is waited for. They lie in
    // the second half, of which the spare has nothing yet.
    let half = array.sectors() / 2;
    let (mut next, mut done, mut number, mut asked_ns) = (random(7, 8192, 100, half), Vec::new(), 0, 0);
    while array.now_ns() < 60 * SECOND {
        let begin_ns = array.now_ns();
        let Request { lba, .. } = next(number);
        array.submit(begin_ns, 0, Request { op: Op::Read, lba: half + lba, sectors: 8192 });
        done.clear();
        while done.is_empty() {
            array.run_until(u64::MAX, &mut done);
        }
        asked_ns += array.now_ns() - begin_ns;
        array.run_until(array.now_ns() + 5 * MS, &mut Vec::new());
        number += 1;
    }
    assert!(asked_ns / number > 25 * MS, "{} ns", asked_ns / number);
    // What is rebuilt meanwhile is the least: 1000 KiB a second on a spare, which nothing else uses.
    let spare = |array: &Array| array.readings().last().unwrap().account.bytes;
    let rate = spare(&array) as f64 / array.now_ns() as f64 * 1e9 / 1_024_000.0;
    assert!((0.95..1.05).contains(&rate), "{rate} times the least pace");
    // The pause that counts is from the end of the last request on.
    let (end_ns, before) = (array.now_ns() - 5 * MS, spare(&array));
    array.run_until(end_ns + 20 * MS - 1, &mut Vec::new());
    assert!(spare(&array) <= before + (512 << 10));
    array.run_until(end_ns + 100 * MS, &mut Vec::new());
    assert!(spare(&array) > before + (2 << 20), "chunks follow each other from there on");
}

#[test]
fn the_first_step_of_a_rebuild_waits_for_idle_time_as_well() {
    let mut document = failing("raid5", 4, 1);
    document["group"][0]["rebuild"] = json!({ "idle_ns": 50 * MS });
    let mut array = built(&document, 1);
    array.submit(9 * MS, 0, Request { op: Op::Read, lba: 0, sectors: 8192 });
    let mut done: Vec<Completion> = Vec::new();
    while done.is_empty() {
        array.run_until(u64::MAX, &mut done);
    }
    let (end_ns, spare) = (array.now_ns(), |array: &Array| array.readings().last().unwrap().account.bytes);
    assert_eq!(story(&array).0, ["failed", "replaced by a spare"], "while the read was under way");
    array.run_until(end_ns + 50 * MS, &mut Vec::new());
    assert_eq!(spare(&array), 0);
    array.run_until(end_ns + 150 * MS, &mut Vec::new());
    assert!(spare(&array) > 1 << 20);
}

#[test]
fn a_rate_holds_for_all_chunks_together() {
    let mut document = failing("raid10", 4, 1);
    document["group"][0]["rebuild"] = json!({ "rate_bytes_per_s": 20_000_000 });
    let expected = DISK_BYTES as f64 / 20e6;
    assert!((rebuilt_s(&document, 0) / expected - 1.0).abs() < 0.01, "{} s", rebuilt_s(&document, 0));
}

#[test]
fn writes_during_a_rebuild_wait_for_the_chunk_and_nothing_is_left_locked() {
    let mut document = failing("raid5", 4, 1);
    document["group"][0]["failures"]["at"] = json!([{ "time_s": 0.01, "member": 1 }, { "time_s": 2.0, "member": 1 }]);
    let mut array = built(&document, 1);
    let near = array.sectors() / 50;
    closed(&mut array, 8, (0, 4000), random(7, 16, 50, near));
    array.run_until(200 * SECOND, &mut Vec::new());
    assert_eq!(story(&array).0, ["failed", "replaced by a spare", "failed"], "the spare failed while it was rebuilt");
    assert_eq!(array.under_way(), 0);
    let seen = closed(&mut array, 8, (0, 2000), random(7, 16, 0, near));
    assert_eq!(seen.times.len(), 2000);
}

#[test]
fn reads_of_a_missing_member_cost_a_read_of_every_other() {
    let mut document = failing("raid5", 4, 1);
    document["group"][0]["spares"] = json!([]);
    let mut array = built(&document, 1);
    array.run_until(20 * MS, &mut Vec::new());
    let span = array.sectors();
    closed(&mut array, 1, (0, 4000), random(7, 16, 100, span));
    // A quarter of the strips is missing: 3 reads for it, 1 for the others.
    let commands = operations(&array, "disk") as f64 / 4000.0;
    assert!((commands - 1.5).abs() < 0.05, "{commands} commands per read");
}

#[test]
fn what_two_failures_of_raid_5_have_lost_fails_and_the_rest_goes_on() {
    let mut document = failing("raid5", 4, 1);
    document["group"][0]["failures"]["at"] = json!([{ "time_s": 0.01, "member": 1 }, { "time_s": 0.02, "member": 2 }]);
    for cache in [None, Some(json!({ "size_bytes": 1 << 22, "idle_ns": 1_000_000 }))] {
        if let Some(cache) = cache {
            document["controller"][0]["cache"] = cache;
        }
        let mut array = built(&document, 1);
        array.run_until(30 * MS, &mut Vec::new());
        let mut done: Vec<Completion> = Vec::new();
        for token in 0..400_u32 {
            let op = if token % 2 == 0 { Op::Read } else { Op::Write };
            array.submit(array.now_ns(), token, Request { op, lba: u64::from(token) * 128, sectors: 8 });
        }
        while array.next_ns().is_some_and(|next_ns| next_ns < 100 * SECOND) {
            array.run_until(100 * SECOND, &mut done);
        }
        assert_eq!(done.len(), 400);
        let failed = done.iter().filter(|finished| finished.failed && finished.token % 2 == 0).count();
        assert!((90..=110).contains(&failed), "half of the reads, whose member is missing: {failed} of 200");
        assert_eq!(story(&array).0, ["failed", "replaced by a spare", "failed", "cannot be rebuilt"]);
    }
}

/// The same, with new drives for failed ones after 36 s.
fn looked_after(level: &str, disks: u16, spares: u16, failed: &[(f64, u16)]) -> Value {
    let mut document = failing(level, disks, spares);
    document["spares"] = document["group"][0].as_object_mut().unwrap().remove("spares").unwrap();
    let at: Vec<Value> = failed.iter().map(|(time_s, member)| json!({ "time_s": time_s, "member": member })).collect();
    // A rate so low that nothing else fails.
    let rate = json!({ "afr_percent": 1e-9, "replaced_after_hours": 0.01 });
    document["group"][0]["failures"] = json!({ "at": at, "rate": rate });
    document
}

#[test]
fn without_a_spare_a_new_drive_takes_the_place_of_a_failed_one_and_is_rebuilt() {
    let mut array = built(&looked_after("raid6", 6, 0, &[(1.0, 1)]), 1);
    array.run_until(37 * SECOND - 1, &mut Vec::new());
    assert_eq!(chronicle(&array), [(1, 1, "failed")]);
    array.run_until(100 * SECOND, &mut Vec::new());
    let told = chronicle(&array);
    assert_eq!(told[1], (37, 1, "replaced by a new drive"));
    assert!(told.len() == 3 && told[2].2 == "rebuilt" && (50..60).contains(&told[2].0), "{told:?}");
    assert_eq!(array.under_way(), 0);
    let span = array.sectors();
    closed(&mut array, 1, (0, 1000), random(7, 16, 100, span));
    let commands = 1000 + 5 * 1_000_000_000 / (512 << 10) + 100;
    assert!(operations(&array, "disk") < commands, "every read is one command again");
}

#[test]
fn where_a_spare_has_taken_over_the_new_drive_is_the_next_spare() {
    let mut array = built(&looked_after("raid5", 4, 1, &[(1.0, 1), (100.0, 2)]), 1);
    array.run_until(99 * SECOND, &mut Vec::new());
    let told = chronicle(&array);
    assert_eq!(told[..2], [(1, 1, "failed"), (1, 1, "replaced by a spare")]);
    assert_eq!((told[2].1, told[2].2, told[3]), (1, "rebuilt", (37, 1, "given a new spare")));
    // The bay of the first that failed.
    let written = |array: &Array| {
        let at = array.components().iter().position(|part| part.name == "disk[1]").unwrap();
        array.readings()[at].account.bytes
    };
    assert!(written(&array) < 1_000_000, "nothing was copied back");
    array.run_until(200 * SECOND, &mut Vec::new());
    let told = chronicle(&array);
    assert_eq!(told[4..6], [(100, 2, "failed"), (100, 2, "replaced by a spare")]);
    assert_eq!((told[6].2, told[7], told.len()), ("rebuilt", (136, 2, "given a new spare"), 8));
    assert!(written(&array) > 990_000_000);
}

#[test]
fn a_member_that_waits_for_a_spare_gets_the_first_new_drive() {
    let mut array = built(&looked_after("raid6", 6, 1, &[(1.0, 1), (2.0, 4)]), 1);
    array.run_until(200 * SECOND, &mut Vec::new());
    let told = chronicle(&array);
    let of_4: Vec<_> = told.iter().filter(|(_, member, what)| *member == 4 && *what != "rebuilt").collect();
    assert_eq!(of_4, [&(2, 4, "failed"), &(37, 4, "replaced by a spare"), &(38, 4, "given a new spare")]);
    assert_eq!(told.iter().filter(|(_, _, what)| *what == "rebuilt").count(), 2);
}

#[test]
fn a_new_drive_is_a_spare_for_whom_the_one_before_was() {
    for (dedicated, taken) in [(true, false), (false, true)] {
        let mut document = looked_after("raid5", 4, 1, &[(1.0, 1)]);
        document["devices"][0]["count"] = json!(9);
        let spare = document.as_object_mut().unwrap().remove("spares").unwrap();
        if dedicated {
            document["group"][0]["spares"] = spare;
        } else {
            document["spares"] = spare;
        }
        let mut other = document["group"][0].clone();
        other["name"] = json!("h");
        other["members"] = json!(["disk[5-8]"]);
        other["failures"] = json!({ "at": [{ "time_s": 50.0, "member": 2 }] });
        other.as_object_mut().unwrap().remove("spares");
        document["group"].as_array_mut().unwrap().push(other);
        let mut array = built(&document, 1);
        array.run_until(200 * SECOND, &mut Vec::new());
        let replaced = |one: &plimsoll_array::Incident| one.group == 1 && one.what == What::Replaced;
        assert_eq!(array.incidents().iter().any(replaced), taken, "{:?}", array.incidents());
    }
}

#[test]
fn a_group_that_is_looked_after_goes_on_for_years() {
    let mut document = looked_after("raid6", 6, 0, &[]);
    document["group"][0]["failures"] = json!({ "rate": { "afr_percent": 99.0, "replaced_after_hours": 0.01 } });
    let mut array = built(&document, 1);
    array.run_until(730 * 86_400 * SECOND, &mut Vec::new());
    let count = |what: What| array.incidents().iter().filter(|one| one.what == what).count();
    // Six members, 4.6 failures a year each: 55 in two years; five standard deviations are 37.
    assert!((18..92).contains(&count(What::Failed)), "{}", count(What::Failed));
    let counts = [count(What::Renewed), count(What::Rebuilt), count(What::Lost)];
    assert_eq!(counts, [count(What::Failed), count(What::Failed), 0]);
}

#[test]
fn failures_at_a_rate_are_those_of_their_seed() {
    let mut document = failing("raid6", 6, 1);
    document["group"][0]["failures"] = json!({ "rate": { "afr_percent": 60.0 } });
    let told = |seed| {
        let mut array = built(&document, seed);
        array.run_until(2 * 365 * 86_400 * SECOND, &mut Vec::new());
        array.incidents().to_vec()
    };
    assert_eq!(told(1), told(1));
    assert_ne!(told(1), told(2));
    assert!(!told(1).is_empty());
}

#[test]
fn mistakes_in_spares_and_failures_are_told_in_a_sentence() {
    let sentence = |document: &Value| {
        plimsoll_array::ArraySpec::read(document)
            .and_then(|sourced| Array::new(&sourced.spec, 1).map(|_| ()))
            .unwrap_err()
            .to_string()
    };
    let mut document = failing("raid5", 4, 1);
    document["group"][0]["spares"] = json!(["disk[2]"]);
    assert_eq!(sentence(&document), "array \"tested\": group.g.spares: device number 2 is a member or a spare already");
    document["group"][0]["spares"] = json!([]);
    document["group"][0]["failures"]["at"][0]["member"] = json!(4);
    let expected = "array \"tested\": group.g.failures: key 'member': 4 is no member; give 0 to 3";
    assert_eq!(sentence(&document), expected);
}
