//! What is said of every key of a document with a wrong value, without one and misspelt; held by `golden/messages.txt`.
//!
//! `PLIMSOLL_BLESS=1 cargo test -p plimsoll-array --test messages` writes the file anew; look at the difference: a sentence may
//! become better, and a value that was refused must still be refused.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use plimsoll_array::{Array, ArraySpec};
use serde_json::{Value, json};

/// A step from a table or list to what is in it.
#[derive(Clone)]
enum Step {
    Key(String),
    Entry(usize),
}

/// An array that has every key there is.
fn whole() -> Value {
    json!({
        "name": "tested", "title": "Tested", "purpose": "p", "source": "s", "rationale": "r", "tags": ["t"],
        "host": {
            "mode": "buffered", "cores": 2, "request_ns": 1000, "page_ns": 100, "page_bytes": 4096,
            "request_bytes_max": 1 << 20, "chunk_bytes": 65_536, "volumes": ["lun"], "stripe_bytes": 65_536,
            "page_cache": {
                "size_bytes": 1 << 24, "dirty_background_percent": 10, "dirty_percent": 20, "idle_ns": 1000, "writes_max": 8,
                "moved_page_ns": 10, "first_fetch_bytes": 4096, "fetch_growth": 2, "warm_range_bytes": 65_536,
                "warm_block_bytes": 4096,
                "read_ahead": {
                    "sequential_reads": 2, "streams_per_volume": 4, "initial_bytes": 65_536, "max_bytes": 131_072,
                },
            },
        },
        "link": [{
            "name": "bus", "duplex": "half", "rate_bytes_per_s": 320_000_000, "efficiency_percent": 90, "overhead_ns": 2000,
            "latency_ns": 10, "sharing": "shared",
        }],
        "controller": [{
            "name": "a", "cores": 1, "request_ns": 1000, "command_ns": 100, "kib_ns": 10, "xor_bytes_per_s": 1_000_000_000,
            "copy_back": false,
            "cache": {
                "size_bytes": 1 << 24, "page_bytes": 16_384, "read_percent": 100, "write_percent": 50, "write_cache": "on",
                "battery": true, "high_percent": 75, "low_percent": 50, "idle_ns": 1000, "destage_per_device": 2,
                "destage_bytes_max": 1 << 20, "mirror_link": "bus", "memory_link": "bus",
            },
            "read_ahead": {
                "sequential_reads": 2, "streams_per_volume": 4, "initial_bytes": 65_536, "max_bytes": 131_072,
            },
            "rebuild": rebuild(),
        }],
        "devices": [
            { "name": "disk", "count": 5, "links": ["bus"], "model": disk() },
            { "name": "card", "count": 2, "model": flash(json!({ "kind": "page_map", "filled_percent": 100 })) },
            { "name": "big", "count": 6, "model": flash(json!({ "kind": "analytic", "write_amplification": 2.5 })) },
            { "name": "pooled", "count": 3, "model": flash(json!({ "kind": "analytic", "write_amplification": 2.5 })) },
        ],
        "group": [
            {
                "name": "parity", "controller": "a", "members": ["disk[0-3]"], "spares": ["disk[4]"],
                "raid": {
                    "level": "raid5", "devices": 4, "strip_sectors": 128, "layout": "left_symmetric",
                    "write_choice": "fewest_ios", "reconstruct_bias_ios": 1,
                },
                "failures": {
                    "at": [{ "time_s": 1.5, "member": 1 }], "replaced_at": [{ "time_s": 3, "member": 1 }],
                    "rate": { "afr_percent": 3.5, "weibull_shape": 1.2, "replaced_after_hours": 24 },
                },
                "rebuild": rebuild(),
            },
            {
                "name": "mirror", "controller": "a", "members": ["card"],
                "raid": { "level": "raid10", "devices": 2, "groups": 1, "read_choice": "least_queued" },
            },
            {
                "name": "nested", "controller": "a", "members": ["big"],
                "raid": { "level": "raid50", "devices": 6, "groups": 2, "strip_sectors": 64, "outer_strip_sectors": 128 },
            },
            {
                "name": "records", "controller": "a", "members": ["pooled"],
                "raid": { "level": "raidz1", "devices": 3, "groups": 1, "strip_sectors": 8, "record_sectors": 32 },
            },
        ],
        "volumes": [{
            "name": "lun", "groups": ["parity"], "count": 1, "size_bytes": 1 << 24, "offset_bytes": 512, "spread": "separate",
            "links": ["bus"], "ports": ["bus"],
        }],
        "spares": [],
    })
}

fn rebuild() -> Value {
    json!({
        "chunk_sectors": 1024, "share_percent": 50, "rate_bytes_per_s": 50_000_000, "idle_ns": 1000, "priority_percent": 50,
        "least_bytes_per_s": 1_024_000,
    })
}

fn disk() -> Value {
    json!({
        "kind": "disk", "capacity_bytes": 73_407_868_928_u64, "rotation_rpm": 10_000, "heads": 4, "cylinders": 51_052,
        "zones": 16, "outer_rate_bytes_per_s": 65_000_000, "inner_rate_bytes_per_s": 43_700_000,
        "read_seek": { "single_track_us": 200, "average_us": 4_000, "full_stroke_us": 8_100 },
        "write_seek": { "single_track_us": 600, "average_us": 4_400, "full_stroke_us": 8_600 },
        "read_head_switch_us": 200, "write_head_switch_us": 600, "track_skew_us": 600, "cylinder_skew_us": 700,
        "command_overhead_us": 200, "overlapped_overhead": true,
        "buffer": {
            "segments": 16, "segment_bytes": 524_288, "prefetch_bytes": 262_144, "hit_overhead_us": 100,
            "interface_rate_bytes_per_s": 300_000_000, "write_bytes": 65_536,
        },
        "queue": { "policy": "sptf", "window": 16, "age_limit_ms": 500 },
    })
}

fn flash(translation: Value) -> Value {
    json!({
        "kind": "flash", "capacity_bytes": 1 << 28, "over_provisioning_percent": 28.0, "channels": 2, "dies_per_channel": 1,
        "planes_per_die": 2, "page_bytes": 8192, "pages_per_block": 64, "unit_bytes": 4096, "page_read_us": 60,
        "page_program_us": 600, "block_erase_us": 3000, "suspend_us": 20, "channel_rate_bytes_per_s": 400_000_000,
        "interface_rate_bytes_per_s": 600_000_000, "read_overhead_us": 5, "write_overhead_us": 5, "commands": 32,
        "write_buffer_bytes": 1 << 20, "power_loss_protection": true, "translation": translation,
        "page_types": [{ "name": "lower", "read_percent": 80, "program_percent": 50 }, { "name": "upper", "read_percent": 120,
            "program_percent": 150 }],
        "read_retry_percent": 1.0, "read_retry_us": 40, "reads_first_max": 8, "erase_suspend_us": 40, "command_ns": 500,
        "slc_cache": { "size_bytes": 1 << 24, "program_us": 100, "idle_ms": 10, "folds_first": true },
    })
}

/// Every value, by how one gets to it.
fn paths(value: &Value, here: &[Step], found: &mut Vec<Vec<Step>>) {
    let inside: Vec<(Step, &Value)> = match value {
        Value::Object(table) => table.iter().map(|(key, value)| (Step::Key(key.clone()), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(index, value)| (Step::Entry(index), value)).collect(),
        _ => return,
    };
    for (step, value) in inside {
        let there = [here, &[step]].concat();
        paths(value, &there, found);
        found.push(there);
    }
}

/// What is at the end of a path.
fn at<'a>(document: &'a mut Value, path: &[Step]) -> &'a mut Value {
    path.iter().fold(document, |value, step| match step {
        Step::Key(key) => value.get_mut(key).unwrap(),
        Step::Entry(index) => value.get_mut(*index).unwrap(),
    })
}

/// The sentence about a document, or that it is taken.
fn told(document: &Value) -> String {
    let said = match ArraySpec::read(document) {
        Err(error) => error.to_string(),
        Ok(read) => Array::new(&read.spec, 1).err().map_or_else(|| "is taken".to_owned(), |error| error.to_string()),
    };
    said.replace("array \"tested\": ", "")
}

/// A letter of the key twice, so that no other key is meant.
fn misspelt(key: &str) -> String {
    let (first, rest) = key.split_at(1);
    format!("{first}{first}{rest}")
}

/// A line for every change of what is at the end of a path.
fn lines(path: &[Step], out: &mut String) {
    let shown: Vec<String> = path
        .iter()
        .map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Entry(index) => index.to_string(),
        })
        .collect();
    let shown = shown.join(".");
    let huge = 1_000_000_000_000_000_000_u64;
    for value in
        [json!("many"), json!(-1), json!(0), json!(1.5), json!(huge), json!(true), json!([]), json!({}), json!(null)]
    {
        let mut document = whole();
        *at(&mut document, path) = value.clone();
        let _ = writeln!(out, "{shown} = {value}: {}", told(&document));
    }
    let Some((Step::Key(key), parents)) = path.split_last() else { return };
    let mut document = whole();
    let value = at(&mut document, parents).as_object_mut().unwrap().remove(key).unwrap();
    let _ = writeln!(out, "{shown} missing: {}", told(&document));
    let wrong = misspelt(key);
    at(&mut document, parents)[&wrong] = value;
    let _ = writeln!(out, "{shown} as {wrong}: {}", told(&document));
}

#[test]
fn every_key_has_a_sentence_for_what_is_wrong_with_it() {
    assert_eq!(told(&whole()), "is taken");
    let mut found = Vec::new();
    paths(&whole(), &[], &mut found);
    let mut text = String::new();
    found.iter().for_each(|path| lines(path, &mut text));
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/messages.txt");
    if env::var_os("PLIMSOLL_BLESS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    let changed = text.lines().zip(stored.lines()).find(|(now, before)| now != before);
    assert!(text == stored, "tests/golden/messages.txt differs, first in: {changed:?}");
}
