//! Volumes on their groups: where each begins, how long it is, and what is refused.

#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::*;
use plimsoll_array::{Array, ArraySpec};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Two volumes of a size that is no whole MiB, two more in a second set, and the target that is meant.
fn carved(target: &str, offset_bytes: u32) -> Value {
    let mut document = array("raid0", 4);
    document["volumes"] = json!([
        { "name": "lun", "groups": ["g"], "count": 2, "size_bytes": 300_000_000, "offset_bytes": offset_bytes },
        { "name": "rest", "groups": ["g"], "count": 2, "offset_bytes": offset_bytes },
    ]);
    document["host"] = json!({ "volumes": [target] });
    document
}

/// Commands to disks per random read of 64 KiB, which is the strip, at multiples of 64 KiB.
fn commands_per_read(document: &Value) -> f64 {
    let mut array = built(document, 1);
    let span = array.sectors();
    closed(&mut array, 8, (0, 500), random(7, 128, 100, span));
    operations(&array, "disk") as f64 / 500.0
}

#[test]
fn every_volume_begins_where_a_strip_does_whatever_the_sizes_are() {
    for target in ["lun[0]", "lun[1]", "rest[0]", "rest[1]"] {
        assert_eq!(commands_per_read(&carved(target, 0)), 1.0, "{target}");
    }
    let sectors = |target: &str| built(&carved(target, 0), 1).sectors();
    assert_eq!((sectors("lun[0]"), sectors("lun[1]")), (300_000_000 / 512, 300_000_000 / 512), "as written");
    assert_eq!((sectors("rest[0]") % 2048, sectors("rest[1]") % 2048), (0, 0));
}

#[test]
fn a_partition_that_is_not_aligned_is_so_on_every_volume_of_its_set() {
    for target in ["lun[0]", "lun[1]", "rest[0]", "rest[1]"] {
        assert_eq!(commands_per_read(&carved(target, 32_256)), 2.0, "{target}");
        assert_eq!(commands_per_read(&carved(target, 65_536)), 1.0, "{target}");
    }
    let sectors = |offset_bytes: u32| {
        let mut document = array("raid0", 4);
        document["volumes"][0]["offset_bytes"] = json!(offset_bytes);
        built(&document, 1).sectors()
    };
    assert_eq!(sectors(0) - sectors(512), 2048, "of whole MiB, what is left behind the offset");
}

#[test]
fn volumes_do_not_overlap_and_stay_on_their_group() {
    let mut document = carved("lun", 512);
    document["host"] = json!({});
    let mut array = built(&document, 1);
    // The last sector of the last volume is there.
    let last = array.sectors() - 8;
    closed(&mut array, 1, (0, 1), sequential(Op::Read, 8, vec![last]));
    let whole = built(&support::array("raid0", 4), 1).sectors();
    assert!(whole - 4 * 2 * 2048 < array.sectors() && array.sectors() < whole, "{} of {whole}", array.sectors());
}

#[test]
fn what_does_not_fit_and_offsets_that_are_none_are_told_in_a_sentence() {
    let sentence = |changed: Value| {
        let mut document = array("raid0", 4);
        for (key, value) in changed.as_object().unwrap() {
            document["volumes"][0][key] = value.clone();
        }
        match ArraySpec::read(&document).and_then(|read| Array::new(&read.spec, 1)) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        }
    };
    let most = built(&array("raid0", 4), 1).sectors() / 2048 / 3 * 2048 * 512;
    assert_eq!(sentence(json!({ "count": 3, "size_bytes": most })), "");
    assert_eq!(
        sentence(json!({ "count": 3, "size_bytes": most + 512 })),
        format!(
            "array \"tested\": volumes.lun.size_bytes: 3 volumes of {}B (44.7 GiB) do not fit; write at most {most}",
            most + 512
        )
    );
    for (changed, expected) in [
        (json!({ "offset_bytes": 100 }), "offset_bytes: 100 bytes are not whole sectors; write a multiple of 512"),
        (json!({ "offset_bytes": 1 << 20 }), "offset_bytes: 1048576 is out of range; write 0 to 1048064"),
        (
            json!({ "offset_bytes": 512, "spread": "joined" }),
            "offset_bytes: only volumes on one group each have one; leave it out, or `spread`",
        ),
        (json!({ "size_bytes": u64::MAX, "offset_bytes": 512 }), "size_bytes: 1 volume of 18446744073709551615B"),
    ] {
        let said = sentence(changed);
        assert!(said.starts_with(&format!("array \"tested\": volumes.lun.{expected}")), "{said}");
    }
}

#[test]
fn the_last_part_of_a_mib_of_a_volume_is_read_and_written() {
    for level in ["raid0", "raid10", "raid5"] {
        let mut document = array(level, 4);
        document["volumes"][0]["size_bytes"] = json!((10 << 20) + 4096);
        let mut array = built(&document, 1);
        assert_eq!(array.sectors(), 20_480 + 8, "{level}");
        for op in [Op::Read, Op::Write] {
            let seen = closed(&mut array, 1, (0, 1), sequential(op, 8, vec![20_480]));
            assert_eq!(seen.times.len(), 1, "{level}");
        }
    }
}
