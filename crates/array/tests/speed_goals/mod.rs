//! The two arrays that goals of speed are set for: ten disks of RAID 0, and 48 in four RAID 5 behind a cache of 1 GiB.

#![allow(dead_code)]

use serde_json::{Value, json};

fn disk() -> Value {
    json!({
        "kind": "disk", "capacity_bytes": 146_815_737_856_u64, "rotation_rpm": 10_000, "heads": 4,
        "outer_rate_bytes_per_s": 89_000_000, "inner_rate_bytes_per_s": 53_000_000, "command_overhead_us": 200,
        "read_seek": { "single_track_us": 200, "average_us": 3800, "full_stroke_us": 7800 },
        "write_seek": { "single_track_us": 500, "average_us": 4400, "full_stroke_us": 8300 },
        "buffer": {
            "segments": 16, "segment_bytes": 1 << 20, "prefetch_bytes": 1 << 19,
            "interface_rate_bytes_per_s": 300_000_000,
        },
        "queue": { "policy": "sptf", "window": 32 },
    })
}

pub fn raid0() -> Value {
    json!({
        "name": "raid0",
        "link": [{ "name": "bus", "rate_bytes_per_s": 1_066_000_000, "duplex": "half", "overhead_ns": 1000 }],
        "controller": [{ "name": "a", "request_ns": 5000 }],
        "devices": [{ "name": "disk", "count": 10, "model": disk() }],
        "group": [{ "name": "g", "controller": "a", "members": ["disk"], "raid": { "level": "raid0", "devices": 10 } }],
        "volumes": [{ "name": "lun", "groups": ["g"], "links": ["bus"] }],
    })
}

pub fn raid5() -> Value {
    let group = |number: u32| {
        json!({
            "name": format!("g{number}"), "controller": "a", "raid": { "level": "raid5", "devices": 12 },
            "members": [format!("disk[{}-{}]", number * 12, number * 12 + 11)],
        })
    };
    json!({
        "name": "raid5",
        "link": [{ "name": "bus", "rate_bytes_per_s": 1_600_000_000, "overhead_ns": 1000 }],
        "controller": [{
            "name": "a", "cores": 4, "request_ns": 5000,
            "cache": { "size_bytes": 1 << 30, "read_percent": 50, "write_percent": 50 },
        }],
        "devices": [{ "name": "disk", "count": 48, "model": disk() }],
        "group": (0..4).map(group).collect::<Vec<_>>(),
        "volumes": [{ "name": "lun", "groups": ["g0", "g1", "g2", "g3"], "links": ["bus"] }],
    })
}
