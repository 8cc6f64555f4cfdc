//! A small array for tests: two disks in RAID 1, without a cache.

use plimsoll_array::{Array, ArraySpec};
use serde_json::{Value, json};

/// Its document.
pub(crate) fn document() -> Value {
    json!({
        "name": "small",
        "controller": [{ "name": "a", "request_ns": 10_000 }],
        "devices": [{
            "name": "disk", "count": 2,
            "model": {
                "kind": "disk", "capacity_bytes": 1_000_000_000, "rotation_rpm": 15_000, "heads": 2,
                "outer_rate_bytes_per_s": 90_000_000, "inner_rate_bytes_per_s": 60_000_000, "command_overhead_us": 200,
                "read_seek": { "single_track_us": 200, "average_us": 3000, "full_stroke_us": 6000 },
                "write_seek": { "single_track_us": 500, "average_us": 3500, "full_stroke_us": 6500 },
                "buffer": {
                    "segments": 4, "segment_bytes": 1 << 19, "prefetch_bytes": 1 << 18,
                    "interface_rate_bytes_per_s": 300_000_000,
                },
            },
        }],
        "group": [{ "name": "g", "controller": "a", "members": ["disk"], "raid": { "level": "raid1", "devices": 2 } }],
        "volumes": [{ "name": "lun", "groups": ["g"] }],
    })
}

/// One of them.
pub(crate) fn array() -> Array {
    Array::new(&ArraySpec::read(&document()).unwrap().spec, 7).unwrap()
}
