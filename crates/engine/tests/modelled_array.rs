//! Runs on a modelled array, from the job to the record.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_engine::control::StoppedBy;
use plimsoll_engine::recorder::Cell;
use plimsoll_engine::target::TargetSpec;
use plimsoll_engine::{Control, record};
use plimsoll_workload::Op;
use serde_json::json;
use support::*;

fn mixed() -> serde_json::Value {
    json!({ "name": "m", "block_size": "8k", "threads": 4, "queue_depth": 4, "read_percent": 70 })
}

#[test]
fn a_run_in_virtual_time_says_what_its_components_did() {
    let finished = finish(&job(&small_array("direct"), mixed(), json!({ "duration": "20s", "warmup": "5s" })));
    assert!(finished.outcome.is_virtual);
    assert_eq!((finished.outcome.workers, finished.outcome.backend.name()), (1, "array"));
    let counted: u64 = finished.measured.cells.iter().flatten().map(Cell::count).sum();
    let host = finished.outcome.components.iter().find(|found| found.component.kind == "host").unwrap();
    // What was under way at the ends belongs to one side of them here and to the other there.
    assert!(host.operations.abs_diff(counted) <= 16, "{} passed the host, {counted} were measured", host.operations);
    let disks: Vec<_> = finished.outcome.components.iter().filter(|found| found.component.kind == "disk").collect();
    assert_eq!(disks.len(), 2);
    assert!(disks.iter().all(|disk| disk.utilisation > 0.9 && disk.utilisation <= 1.0), "{disks:?}");
    let stored = record::outcome(&finished.outcome, "auto");
    assert_eq!(stored["engine"]["components"][0]["name"], "host");
    assert_eq!(stored["engine"]["virtual_time"], true);
}

#[test]
fn a_write_cache_tells_what_it_holds_until_it_begins_to_write_out() {
    // 1 MiB in pages of 16 KiB; at three quarters, the usual watermark, the cache begins. A write of 4 KiB takes a page.
    let stream =
        json!({ "name": "m", "block_size": "4k", "read_percent": 0, "random_percent": 100, "think_time": "500us" });
    let finished =
        finish(&job(&small_array("direct"), stream, json!({ "duration": "2s", "warmup": "0s", "interval": "1ms" })));
    let course: Vec<_> = finished.stored.iter().filter(|one| one["phase"] == "measure").collect();
    let held = |one: &serde_json::Value| one["write_caches"]["dirty_bytes"].as_u64().unwrap();
    let destages = |one: &serde_json::Value| one["write_caches"]["destages"] == true;
    assert_eq!(course[0]["write_caches"]["begins_bytes"], 768 << 10);
    let first = course.iter().position(|one| destages(one) && held(one) > 0).unwrap();
    assert!(first > 0 && course[1..first].windows(2).all(|pair| held(pair[0]) <= held(pair[1])), "it fills first");
    assert!(held(course[first - 1]) <= 768 << 10 && course[first..].iter().all(|one| destages(one)));
    let queue = finish(&job("queue:", json!({ "name": "m" }), json!({ "duration": "1s", "warmup": "0s" })));
    assert!(queue.stored.iter().all(|one| one["write_caches"].is_null()), "a server keeps nothing");
}

#[test]
fn equal_seeds_give_equal_records_on_one_and_on_two_threads() {
    for host in ["direct", "buffered"] {
        let run = |workers: u32, seed: u64| {
            let options = json!({ "duration": "5s", "warmup": "1s", "workers": workers, "seed": seed });
            finish(&job(&small_array(host), mixed(), options)).stored
        };
        assert_eq!(run(1, 7), run(2, 7));
        assert_ne!(run(1, 7), run(1, 8));
    }
}

#[test]
fn an_open_load_below_the_mark_is_kept_up_with() {
    let stream = json!({ "name": "r", "arrival": "poisson", "rate": 60, "queue_depth": 64 });
    let finished = finish(&job(&small_array("direct"), stream, json!({ "duration": "100s", "warmup": "5s" })));
    let reads = finished.measured.cells[Op::Read as usize].as_ref().unwrap();
    assert!((reads.count() as f64 / 100.0 - 60.0).abs() < 3.0, "{}", reads.count());
    assert_eq!((finished.outcome.stopped_by, finished.outcome.unissued), (StoppedBy::Duration, 0));
}

#[test]
fn what_needs_data_is_refused_in_a_sentence() {
    for (option, value) in [("verify", json!("all")), ("content", json!("stamps"))] {
        let mut stream = mixed();
        stream[option] = value;
        let refused =
            try_finish(&job(&small_array("direct"), stream, json!({})), Recording::default(), &Control::default());
        let sentence = refused.err().unwrap().to_string();
        assert!(sentence.contains("a modelled array keeps no data"), "{sentence}");
    }
    let refused = finish_error(&job(&small_array("direct"), mixed(), json!({ "backend": "uring" })));
    assert!(refused.contains("a modelled array runs with backend array"), "{refused}");
}

#[test]
fn incidents_tell_groups_by_their_names() {
    let mut document = document();
    document["group"][0]["name"] = json!("vd 7; x");
    document["volumes"][0]["groups"] = json!(["vd 7; x"]);
    document["group"][0]["failures"] = json!({ "at": [{ "time_s": 0.5, "member": 1 }] });
    let target = format!("array:{document}");
    let finished = finish(&job(&target, mixed(), json!({ "duration": "1s", "warmup": "0s" })));
    let facts = &record::outcome(&finished.outcome, "auto")["engine"]["facts"];
    assert_eq!(facts["incidents"], "0.500 s: member 1 of group vd 7; x failed");
}

/// Two disks and a spare; member 1 fails at once.
fn rebuilding() -> serde_json::Value {
    let mut document = document();
    document["devices"][0]["count"] = json!(3);
    document["group"][0]["members"] = json!(["disk[0-1]"]);
    document["group"][0]["spares"] = json!(["disk[2]"]);
    document["group"][0]["failures"] = json!({ "at": [{ "time_s": 0.0, "member": 1 }] });
    document
}

/// What is told of an array after so long.
fn facts(document: &serde_json::Value, duration: &str) -> serde_json::Value {
    let finished = finish(&job(&format!("array:{document}"), mixed(), json!({ "duration": duration, "warmup": "0s" })));
    record::outcome(&finished.outcome, "auto")["engine"]["facts"].clone()
}

#[test]
fn a_rebuild_that_has_not_ended_tells_how_far_it_has_come() {
    let share = |duration| {
        let told = facts(&rebuilding(), duration)["rebuilding"].as_str().unwrap().to_owned();
        told.strip_suffix(" % of member 1 of group g").unwrap().parse::<f64>().unwrap()
    };
    let (sooner, later) = (share("2s"), share("4s"));
    assert!(0.0 < sooner && sooner < later && later < 100.0, "{sooner} %, then {later} %");
}

#[test]
fn copying_back_is_told_as_rebuilds_are_but_apart() {
    let mut document = rebuilding();
    document["controller"][0]["copy_back"] = json!(true);
    document["controller"][0]["rebuild"] = json!({ "priority_percent": 100 });
    document["group"][0]["failures"]["replaced_at"] = json!([{ "time_s": 1.0, "member": 1 }]);
    let ended = facts(&document, "20m");
    let seconds = |key: &str| ended[key].as_str().unwrap().parse::<f64>().unwrap();
    assert!(ended["incidents"].as_str().unwrap().ends_with(" s: member 1 of group g copied back"));
    assert!(seconds("rebuild_s") > 0.0 && seconds("copy_back_s") > 0.0);
    assert_eq!([&ended["rebuilding"], &ended["copying_back"]], [&serde_json::Value::Null; 2]);
    // In the midst of it.
    let within_s = seconds("rebuild_s") + seconds("copy_back_s") / 2.0;
    let told = facts(&document, &format!("{within_s:.3}s"));
    let share = told["copying_back"].as_str().unwrap().strip_suffix(" % of member 1 of group g").unwrap();
    assert!((10.0..90.0).contains(&share.parse::<f64>().unwrap()), "{share}");
    assert_eq!([&told["rebuilding"], &told["copy_back_s"]], [&serde_json::Value::Null; 2]);
}

#[test]
fn volumes_that_cannot_be_carved_say_what_could() {
    for (key, value, told) in [
        ("size_bytes", json!(10), "size_bytes: 10 bytes are less than a sector in each group, 512 bytes; write"),
        ("size_bytes", json!(1u64 << 40), "size_bytes: 1 volume of 1TiB does not fit; write at most 1000000000"),
        (
            "count",
            json!(1000),
            "count: what is free of the groups is less than 1 MiB for each of 1000 volumes; write fewer",
        ),
    ] {
        let mut document = document();
        document["volumes"][0][key] = value;
        let sentence = format!("array:{document}").parse::<TargetSpec>().unwrap_err().to_string();
        assert!(sentence.contains(&format!("volumes.lun.{told}")), "{sentence}");
    }
}

fn document() -> serde_json::Value {
    serde_json::from_str(small_array("direct").strip_prefix("array:").unwrap()).unwrap()
}

fn finish_error(job: &plimsoll_engine::Job) -> String {
    try_finish(job, Recording::default(), &Control::default()).err().unwrap().to_string()
}
