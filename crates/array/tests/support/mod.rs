//! Arrays from a few words, and a closed loop that drives them.

#![allow(dead_code, unused_imports, clippy::unwrap_used)]

mod deeds;

pub use deeds::*;

use plimsoll_array::{Array, ArraySpec, Completion, Request};
use plimsoll_workload::Op;
use plimsoll_workload::rng::Draws;
use serde_json::{Value, json};

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// A small disk of 10,000 rpm; first come, first served.
pub fn disk() -> Value {
    json!({
        "kind": "disk", "capacity_bytes": 36_000_000_000_u64, "rotation_rpm": 10_000, "heads": 4,
        "outer_rate_bytes_per_s": 90_000_000, "inner_rate_bytes_per_s": 60_000_000, "command_overhead_us": 200,
        "read_seek": { "single_track_us": 200, "average_us": 4000, "full_stroke_us": 8000 },
        "write_seek": { "single_track_us": 500, "average_us": 4500, "full_stroke_us": 8500 },
        "buffer": {
            "segments": 16, "segment_bytes": 1 << 20, "prefetch_bytes": 1 << 19,
            "interface_rate_bytes_per_s": 300_000_000,
        },
        "queue": { "policy": "fcfs" },
    })
}

/// Disks in one group behind one controller, and one volume.
pub fn array(level: &str, disks: u16) -> Value {
    json!({
        "name": "tested",
        "controller": [{ "name": "a" }],
        "devices": [{ "name": "disk", "count": disks, "model": disk() }],
        "group": [{
            "name": "g", "controller": "a", "members": ["disk"], "raid": { "level": level, "devices": disks },
        }],
        "volumes": [{ "name": "lun", "groups": ["g"] }],
    })
}

/// The same with a cache of so many pages of 16 KiB, all of them for reads and for writes.
pub fn cached(level: &str, disks: u16, pages: u64) -> Value {
    let mut document = array(level, disks);
    document["controller"][0]["cache"] = json!({ "size_bytes": pages << 14 });
    document
}

/// What a disk holds that is soon rebuilt.
pub const DISK_BYTES: u64 = 1_000_000_000;

/// Such disks in one group with so many spares of its own; member 1 fails after 10 ms.
pub fn failing(level: &str, disks: u16, spares: u16) -> Value {
    let mut document = array(level, disks);
    document["devices"][0]["model"]["capacity_bytes"] = json!(DISK_BYTES);
    with_failure(document, spares)
}

/// An array of one group with so many more devices, its spares; member 1 fails after 10 ms.
pub fn with_failure(mut document: Value, spares: u16) -> Value {
    let disks = document["devices"][0]["count"].as_u64().unwrap();
    let all = disks + u64::from(spares);
    document["devices"][0]["count"] = json!(all);
    document["group"][0]["members"] = json!([format!("disk[0-{}]", disks - 1)]);
    document["group"][0]["spares"] = (disks..all).map(|number| json!(format!("disk[{number}]"))).collect();
    document["group"][0]["failures"] = json!({ "at": [{ "time_s": 0.01, "member": 1 }] });
    document
}

/// Arrays that together use every part of the model.
pub fn kinds() -> Vec<Value> {
    let mut plain = array("raid5", 5);
    plain["link"] = json!([
        { "name": "bus", "duplex": "half", "rate_bytes_per_s": 320_000_000, "overhead_ns": 2000 },
        { "name": "phy", "rate_bytes_per_s": 300_000_000, "sharing": "per_device" },
    ]);
    plain["volumes"][0]["links"] = json!(["bus"]);
    plain["devices"][0]["links"] = json!(["phy"]);
    plain["controller"][0]["request_ns"] = json!(20_000);
    let mut small_cache = cached("raid6", 6, 64);
    small_cache["controller"][0]["cache"]["idle_ns"] = json!(10_000_000);
    small_cache["controller"][0]["cache"]["read_percent"] = json!(30);
    small_cache["controller"][0]["cache"]["write_percent"] = json!(60);
    small_cache["controller"][0]["read_ahead"] = json!({ "initial_bytes": 65_536, "max_bytes": 524_288 });
    let mut two = cached("raid10", 4, 256);
    two["link"] = json!([{ "name": "mirror", "rate_bytes_per_s": 1_000_000_000 }]);
    two["controller"][0]["cache"]["mirror_link"] = json!("mirror");
    two["volumes"][0]["count"] = json!(3);
    two["host"] = json!({ "stripe_bytes": 65_536, "request_ns": 5000 });
    let mut buffered = array("raid0", 3);
    buffered["host"] = json!({
        "mode": "buffered", "page_ns": 2000, "request_bytes_max": 131_072,
        "page_cache": {
            "size_bytes": 4 << 20, "idle_ns": 50_000_000,
            "read_ahead": { "initial_bytes": 16_384, "max_bytes": 131_072 },
        },
    });
    vec![array("raid0", 2), plain, small_cache, two, buffered]
}

pub fn built(document: &Value, seed: u64) -> Array {
    Array::new(&ArraySpec::read(document).unwrap().spec, seed).unwrap()
}

/// What a closed loop asks for next.
pub type Next<'a> = Box<dyn FnMut(u64) -> Request + 'a>;

/// Random requests of `sectors`, of which so many percent are reads, over the first `span` sectors.
pub fn random(seed: u64, sectors: u32, read_percent: u64, span: u64) -> Next<'static> {
    let draws = Draws::new(seed, &[1]);
    Box::new(move |number| {
        let lba = draws.at(number * 2) % (span / u64::from(sectors)) * u64::from(sectors);
        let op = if draws.at(number * 2 + 1) % 100 < read_percent { Op::Read } else { Op::Write };
        Request { op, lba, sectors }
    })
}

/// Streams that take turns, each one address after the other from its own start.
pub fn sequential(op: Op, sectors: u32, starts: Vec<u64>) -> Next<'static> {
    let streams = starts.len() as u64;
    Box::new(move |number| {
        let lba = starts[(number % streams) as usize] + number / streams * u64::from(sectors);
        Request { op, lba, sectors }
    })
}

/// What a loop saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Submitted and completed, in order of completion.
    pub times: Vec<(u64, u64)>,
    pub begin_ns: u64,
    pub end_ns: u64,
}

impl Seen {
    pub fn per_s(&self) -> f64 {
        self.times.len() as f64 * 1e9 / (self.end_ns - self.begin_ns) as f64
    }

    pub fn mean_ns(&self) -> f64 {
        self.times.iter().map(|(begin, end)| (end - begin) as f64).sum::<f64>() / self.times.len() as f64
    }
}

/// Keeps `population` requests outstanding until `count` have completed; the numbers of requests go on from `first`.
pub fn closed(array: &mut Array, population: u32, (first, count): (u64, u64), mut next: Next<'_>) -> Seen {
    let mut number = first;
    let mut began = vec![0; population as usize];
    let mut seen = Seen { begin_ns: array.now_ns(), ..Seen::default() };
    let issue = |array: &mut Array, token: u32, number: &mut u64, began: &mut Vec<u64>, next: &mut Next<'_>| {
        if *number < first + count {
            began[token as usize] = array.now_ns();
            let now_ns = array.now_ns();
            array.submit(now_ns, token, next(*number));
            *number += 1;
        }
    };
    for token in 0..population {
        issue(array, token, &mut number, &mut began, &mut next);
    }
    let mut done: Vec<Completion> = Vec::new();
    while (seen.times.len() as u64) < count {
        done.clear();
        array.run_until(u64::MAX, &mut done);
        assert!(!done.is_empty(), "the array stands still with {} under way", array.under_way());
        for finished in &done {
            assert!(!finished.failed);
            seen.times.push((began[finished.token as usize], finished.completed_ns));
            issue(array, finished.token, &mut number, &mut began, &mut next);
        }
    }
    seen.end_ns = array.now_ns();
    seen
}

/// What happened to whom, with the second.
pub fn chronicle(array: &Array) -> Vec<(u64, u16, &'static str)> {
    array.incidents().iter().map(|one| (one.time_ns / SECOND, one.member, one.what.word())).collect()
}

/// Operations of all components of a kind so far.
pub fn operations(array: &Array, kind: &str) -> u64 {
    let all = array.components().into_iter().zip(array.readings());
    all.filter(|(component, _)| component.kind == kind).map(|(_, reading)| reading.account.operations).sum()
}
