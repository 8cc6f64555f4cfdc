//! Rebuilds beside requests: who goes first, what is guaranteed, and that every part is rebuilt once.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::raid::{Extent, Geometry, GroupSpec, Level};
use plimsoll_array::{Array, ArraySpec, Request, What};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Requests that are asked for at a time.
const BATCH: u64 = 2000;
const AGE_LIMIT: u64 = 500 * MS;

/// Small disks that take the nearest command first, and two spares; member 1 fails after 10 ms.
fn rebuilding(level: &str, disks: u16, rebuild: &Value) -> Value {
    let mut document = failing(level, disks, 2);
    let queue = json!({ "policy": "sptf", "window": 16, "age_limit_ms": AGE_LIMIT / MS });
    document["devices"][0]["model"]["queue"] = queue;
    document["group"][0]["rebuild"] = rebuild.clone();
    document
}

fn priority(percent: u32) -> Value {
    json!({ "priority_percent": percent })
}

/// An array whose rebuild has begun.
fn begun(document: &Value) -> Array {
    let mut array = built(document, 1);
    array.run_until(11 * MS, &mut Vec::new());
    assert_eq!(array.incidents().last().unwrap().what, What::Replaced);
    array
}

fn rebuilt_ns(array: &Array) -> Option<u64> {
    array.incidents().iter().find(|incident| incident.what == What::Rebuilt).map(|incident| incident.time_ns)
}

/// Lets time pass, whatever ends meanwhile.
fn pass(array: &mut Array, until_ns: u64) {
    while array.now_ns() < until_ns {
        array.run_until(until_ns, &mut Vec::new());
    }
}

/// Keeps `population` requests outstanding, some thousand at a time, until the rebuild has ended; how long it took, in
/// seconds, and what was seen meanwhile.
fn beside(array: &mut Array, population: u32, mut next: impl FnMut() -> Next<'static>) -> (f64, Seen) {
    let begin_ns = array.incidents().last().unwrap().time_ns;
    let mut all = Seen { begin_ns, ..Seen::default() };
    while rebuilt_ns(array).is_none() {
        let seen = closed(array, population, (all.times.len() as u64, BATCH), next());
        all.times.extend(seen.times);
        assert!(array.now_ns() < 3_600 * SECOND, "not rebuilt in an hour");
    }
    all.end_ns = array.now_ns();
    ((rebuilt_ns(array).unwrap() - begin_ns) as f64 / 1e9, all)
}

/// Random reads all over.
fn reads(span: u64) -> impl FnMut() -> Next<'static> {
    move || random(7, 16, 100, span)
}

fn longest_ns(seen: &Seen) -> u64 {
    seen.times.iter().map(|(begin, end)| end - begin).max().unwrap()
}

#[test]
fn requests_wait_the_less_and_a_rebuild_takes_the_longer_the_lower_its_priority() {
    let told: Vec<(f64, Seen)> = [100, 50, 20, 0]
        .into_iter()
        .map(|percent| {
            let mut array = begun(&rebuilding("raid10", 4, &priority(percent)));
            let span = array.sectors();
            beside(&mut array, 1, reads(span))
        })
        .collect();
    let (rebuilt, seen): (Vec<f64>, Vec<Seen>) = told.into_iter().unzip();
    assert!(rebuilt.is_sorted_by(|sooner, later| 1.2 * sooner < *later), "{rebuilt:?} s");
    let means: Vec<f64> = seen.iter().map(Seen::mean_ns).collect();
    assert!(means.is_sorted_by(|slower, faster| slower > faster), "{means:?} ns");
    // The nearest command is often the rebuild's next where one is always waiting.
    let longest: Vec<u64> = seen.iter().map(longest_ns).collect();
    assert!(longest[1..].iter().all(|lower| 2 * lower < longest[0]), "{longest:?} ns");
}

#[test]
fn a_rebuild_at_low_priority_leaves_requests_nearly_as_they_are_without_it() {
    let mean_ns = |spares: bool, population: u32| {
        let mut document = rebuilding("raid5", 4, &priority(0));
        if !spares {
            document["group"][0]["spares"] = json!([]);
        }
        let mut array = built(&document, 1);
        array.run_until(11 * MS, &mut Vec::new());
        let span = array.sectors();
        closed(&mut array, population, (0, 4000), random(7, 16, 100, span)).mean_ns()
    };
    // A chunk every 512 ms is two commands of about 10 ms on each survivor in a second. Between two requests, of which each
    // waits for the one before, the group has nothing to do, but not for long enough.
    for population in [1, 8] {
        let ratio = mean_ns(true, population) / mean_ns(false, population);
        assert!(ratio > 1.0 && ratio < 1.05, "{population}: {ratio}");
    }
}

#[test]
fn priority_does_not_matter_where_nothing_else_is_asked() {
    let alone = |percent| {
        let mut array = begun(&rebuilding("raid5", 4, &priority(percent)));
        array.run_until(100 * SECOND, &mut Vec::new());
        rebuilt_ns(&array).unwrap()
    };
    assert_eq!([alone(0), alone(1), alone(50)], [alone(100); 3]);
}

#[test]
fn between_requests_a_rebuild_of_any_priority_goes_on() {
    let mut array = begun(&rebuilding("raid5", 4, &priority(0)));
    let span = array.sectors();
    let mut next = random(7, 16, 100, span);
    // A request every 100 ms, each alone: nine tenths of the time are left.
    for number in 0..300 {
        pass(&mut array, u64::from(number) * 100 * MS + 20 * MS);
        let now_ns = array.now_ns();
        array.submit(now_ns, number, next(u64::from(number)));
    }
    let rebuilt_s = rebuilt_ns(&array).unwrap() as f64 / 1e9;
    assert!(rebuilt_s < DISK_BYTES as f64 / 40e6, "{rebuilt_s} s");
}

#[test]
fn the_least_pace_is_kept_under_saturation_and_no_more_is_taken() {
    for (level, disks) in [("raid5", 4), ("raid10", 4), ("raid6", 5)] {
        let rebuild = json!({ "priority_percent": 0, "least_bytes_per_s": 5_000_000 });
        let mut array = begun(&rebuilding(level, disks, &rebuild));
        let span = array.sectors();
        let (rebuilt_s, _) = beside(&mut array, 32, reads(span));
        let due_s = DISK_BYTES as f64 / 5e6;
        // Between two batches of requests the drives have nothing else to do for a moment.
        assert!((0.95..1.01).contains(&(rebuilt_s / due_s)), "{level}: {rebuilt_s} s, due in {due_s} s");
    }
}

#[test]
fn a_pause_without_requests_is_waited_for_no_longer_than_the_least_pace_allows() {
    let rebuild = json!({ "idle_ns": 50 * MS, "least_bytes_per_s": 10_000_000, "priority_percent": 100 });
    let mut array = begun(&rebuilding("raid5", 4, &rebuild));
    let span = array.sectors();
    let (rebuilt_s, _) = beside(&mut array, 4, reads(span));
    assert!((rebuilt_s / (DISK_BYTES as f64 / 10e6) - 1.0).abs() < 0.02, "{rebuilt_s} s");
}

#[test]
fn a_rate_below_the_least_pace_holds() {
    let rebuild = json!({ "rate_bytes_per_s": 10_000_000, "least_bytes_per_s": 50_000_000 });
    let mut array = begun(&rebuilding("raid10", 4, &rebuild));
    array.run_until(200 * SECOND, &mut Vec::new());
    let rebuilt_s = rebuilt_ns(&array).unwrap() as f64 / 1e9;
    assert!((rebuilt_s / (DISK_BYTES as f64 / 10e6) - 1.0).abs() < 0.01, "{rebuilt_s} s");
}

#[test]
fn a_rate_holds_whatever_the_step_is_made() {
    // With parity a step is whole strips: 64 sectors become 128, 1500 become 1536.
    for (level, chunk_sectors) in [("raid5", 64), ("raid5", 1500), ("raid10", 64), ("raid6", 1)] {
        let rebuild = json!({ "chunk_sectors": chunk_sectors, "rate_bytes_per_s": 4_000_000 });
        let mut array = begun(&rebuilding(level, 4, &rebuild));
        array.run_until(1000 * SECOND, &mut Vec::new());
        let rebuilt_s = rebuilt_ns(&array).unwrap() as f64 / 1e9;
        assert!((rebuilt_s / (DISK_BYTES as f64 / 4e6) - 1.0).abs() < 0.01, "{level} {chunk_sectors}: {rebuilt_s} s");
    }
}

#[test]
fn a_step_that_waits_for_its_rows_reads_nobody_who_has_failed_meanwhile() {
    // Many writes to the first rows, which the rebuild is about to lock; the second failure at one instant after the other.
    // The model asserts that whatever is read is there.
    for (level, disks, second) in [("raid6", 6, 4), ("raid5", 4, 2), ("raid10", 4, 0)] {
        let lost = (0..60).filter(|step| {
            let mut document = rebuilding(level, disks, &priority(100));
            let at_s = 0.012 + f64::from(*step) * 0.0011;
            document["group"][0]["failures"]["at"] =
                json!([{ "time_s": 0.01, "member": 1 }, { "time_s": at_s, "member": second }]);
            let mut array = built(&document, 1);
            let draws = plimsoll_workload::rng::Draws::new(7, &[1]);
            for token in 0..400_u32 {
                let (lba, sectors) = (draws.at(u64::from(token)) % 500 * 16, 16);
                array.submit(array.now_ns(), token, Request { op: Op::Write, lba, sectors });
            }
            array.run_until(100 * SECOND, &mut Vec::new());
            while array.under_way() > 0 {
                array.run_until(array.now_ns() + SECOND, &mut Vec::new());
            }
            array.incidents().iter().any(|one| one.what == What::Lost)
        });
        // Of two parities none is lost by two failures; of the others something is, as nothing of a GB is there so early.
        assert_eq!(lost.count(), if level == "raid6" { 0 } else { 60 }, "{level}");
    }
}

#[test]
fn every_part_is_read_and_written_once_whatever_the_priority() {
    let level = GroupSpec::new(Level::Raid5, 4, 128);
    for percent in [100, 50, 0] {
        let rebuild = json!({ "priority_percent": percent, "least_bytes_per_s": 20_000_000 });
        let mut array = begun(&rebuilding("raid5", 4, &rebuild));
        let geometry = Geometry::new(&level, DISK_BYTES / 512).unwrap();
        let (whole, mut draw, mut pieces) = (geometry.members(), random(7, 16, 100, array.sectors()), Vec::new());
        // Reads that do not need the member that is rebuilt, so that each is one command.
        let mut number = 0;
        let mut elsewhere = || loop {
            let Request { lba, sectors, .. } = draw(number);
            number += 1;
            pieces.clear();
            geometry.read(Extent { lba, sectors }, &whole, |_, _| 0, &mut pieces).unwrap();
            if pieces.iter().all(|piece| piece.device != 1) {
                return Request { op: Op::Read, lba, sectors };
            }
        };
        let (_, seen) = beside(&mut array, 4, || {
            let chosen: Vec<Request> = (0..BATCH).map(|_| elsewhere()).collect();
            Box::new(move |number| chosen[(number % BATCH) as usize])
        });
        let readings = array.readings();
        let named = array.components().into_iter().zip(readings);
        let moved: u64 = named.filter(|(part, _)| part.set == "disk").map(|(_, reading)| reading.account.bytes).sum();
        let asked = seen.times.len() as u64 * 16 * 512;
        // Three survivors are read, one spare is written.
        assert_eq!(moved - asked, 4 * geometry.member_sectors() * 512, "priority {percent}");
    }
}

#[test]
fn two_members_of_one_group_are_rebuilt_at_a_time() {
    let mut document = rebuilding("raid6", 6, &priority(0));
    document["group"][0]["failures"]["at"] = json!([{ "time_s": 0.005, "member": 1 }, { "time_s": 0.01, "member": 4 }]);
    let mut array = begun(&document);
    let span = array.sectors();
    closed(&mut array, 8, (0, 2000), random(7, 16, 50, span));
    array.run_until(array.now_ns() + 100 * SECOND, &mut Vec::new());
    let rebuilt: Vec<u16> =
        array.incidents().iter().filter(|one| one.what == What::Rebuilt).map(|one| one.member).collect();
    assert!(rebuilt == [1, 4] || rebuilt == [4, 1], "{rebuilt:?}");
    assert_eq!(array.under_way(), 0);
}

#[test]
fn equal_seeds_rebuild_alike_beside_reads_writes_and_destages() {
    for percent in [100, 50, 0] {
        let told = || {
            let mut document = rebuilding("raid5", 4, &priority(percent));
            document["controller"][0]["cache"] = json!({ "size_bytes": 1 << 22, "idle_ns": 10 * MS });
            let mut array = begun(&document);
            let span = array.sectors();
            let seen = closed(&mut array, 8, (0, 3000), random(7, 16, 50, span));
            array.run_until(array.now_ns() + 200 * SECOND, &mut Vec::new());
            assert_eq!(array.under_way(), 0);
            (seen, array.incidents().to_vec())
        };
        let (seen, incidents) = told();
        assert_eq!(incidents.last().unwrap().what, What::Rebuilt);
        assert_eq!(told(), (seen, incidents), "priority {percent}");
    }
}

#[test]
fn a_group_without_a_table_of_its_own_has_its_controllers() {
    let mut document = rebuilding("raid5", 4, &Value::Null);
    document["group"][0].as_object_mut().unwrap().remove("rebuild");
    document["controller"][0]["rebuild"] = json!({ "rate_bytes_per_s": 20_000_000 });
    let rebuilt_s = |document: &Value| {
        let mut array = begun(document);
        array.run_until(200 * SECOND, &mut Vec::new());
        rebuilt_ns(&array).unwrap() as f64 / 1e9
    };
    assert!((rebuilt_s(&document) / (DISK_BYTES as f64 / 20e6) - 1.0).abs() < 0.01);
    document["group"][0]["rebuild"] = json!({});
    assert!(rebuilt_s(&document) < DISK_BYTES as f64 / 40e6);
}

#[test]
fn a_wrong_priority_or_least_pace_is_told_in_a_sentence() {
    let sentence = |rebuild: Value, of: &str| {
        let mut document = rebuilding("raid5", 4, &json!({}));
        document["group"][0].as_object_mut().unwrap().remove("rebuild");
        document[of][0]["rebuild"] = rebuild;
        let read = ArraySpec::read(&document);
        read.and_then(|sourced| Array::new(&sourced.spec, 1).map(|_| ())).unwrap_err().to_string()
    };
    assert_eq!(
        sentence(json!({ "priority_percent": 101 }), "group"),
        "array \"tested\": group.g.rebuild.priority_percent: 101 is out of range; write 0 to 100"
    );
    assert_eq!(
        sentence(json!({ "least_bytes_per_s": 0 }), "controller"),
        "array \"tested\": controller.a.rebuild.least_bytes_per_s: 0 is too small; write 1 or more"
    );
    for (value, shown) in [(json!("high"), "high"), (json!(-1), "-1"), (json!(2.5), "2.5")] {
        let sentence = sentence(json!({ "priority_percent": value }), "controller");
        assert!(
            sentence.contains("controller") && sentence.contains("priority_percent") && sentence.contains(shown),
            "{sentence}"
        );
    }
}
