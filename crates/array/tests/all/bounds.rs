//! Bounds hold for what is simulated, and mean value analysis where its assumptions do.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::bounds::{LOADS, Load, demands, limit, most};
use plimsoll_array::point::simulated;
use plimsoll_array::{Array, ArraySpec, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

const POPULATIONS: [u32; 4] = [1, 8, 32, 256];

/// Eight disks that choose among as many commands, behind RAID.
fn reordering(level: &str, policy: &str, window: u32) -> Value {
    let mut document = array(level, 8);
    document["devices"][0]["model"]["queue"] = json!({ "policy": policy, "window": window });
    document
}

fn flash() -> Value {
    json!({
        "name": "flash",
        "controller": [{ "name": "software" }],
        "devices": [{ "name": "nvme", "count": 1, "model": {
            "kind": "flash", "capacity_bytes": 100_000_000_000_u64, "over_provisioning_percent": 7.0, "channels": 4,
            "dies_per_channel": 4, "planes_per_die": 2, "page_bytes": 16_384, "pages_per_block": 256, "page_read_us": 60,
            "page_program_us": 700, "block_erase_us": 3000, "channel_rate_bytes_per_s": 800_000_000,
            "interface_rate_bytes_per_s": 3_500_000_000_u64, "read_overhead_us": 8, "write_overhead_us": 8,
            "write_buffer_bytes": 8_388_608, "power_loss_protection": true, "translation": { "kind": "analytic" },
        } }],
        "group": [{ "name": "g", "controller": "software", "members": ["nvme"], "raid": { "level": "raid0", "devices": 1 } }],
        "volumes": [{ "name": "lun", "groups": ["g"] }],
    })
}

/// Two controllers that mirror every write over a slow link.
fn mirrored() -> Value {
    let mut document = cached("raid0", 8, 1024);
    document["link"] = json!([{ "name": "mirror", "rate_bytes_per_s": 20_000_000 }]);
    document["controller"][0]["cache"]["mirror_link"] = json!("mirror");
    document
}

/// A controller whose memory is slow.
fn remembering() -> Value {
    let mut document = cached("raid10", 8, 1024);
    document["link"] = json!([{ "name": "memory", "rate_bytes_per_s": 30_000_000, "duplex": "half" }]);
    document["controller"][0]["cache"]["memory_link"] = json!("memory");
    document
}

fn all() -> Vec<(&'static str, Value)> {
    let mut written_back = reordering("raid5", "sptf", 16);
    written_back["controller"][0]["cache"] = json!({ "size_bytes": 16 << 20 });
    let mut records = reordering("raidz2", "sptf", 16);
    records["group"][0]["raid"]["strip_sectors"] = json!(8);
    vec![
        ("first come, first served", reordering("raid5", "fcfs", 1)),
        ("sptf", reordering("raid5", "sptf", 16)),
        ("sptf among 64", reordering("raid0", "sptf", 64)),
        ("c-look", reordering("raid6", "c_look", 16)),
        ("mirrors", reordering("raid10", "sptf", 16)),
        ("mirrors, first come, first served", reordering("raid10", "fcfs", 1)),
        ("mirrors, c-look", reordering("raid10", "c_look", 16)),
        ("written back", written_back),
        ("records", records),
        ("flash", flash()),
        ("mirror link", mirrored()),
        ("memory", remembering()),
    ]
}

#[test]
fn what_is_simulated_stays_within_the_bounds() {
    // Disks were bound by their average seek and the mean of their zones, flash without its amplification.
    let mut above = Vec::new();
    for (name, document) in all() {
        let spec = ArraySpec::read(&document).unwrap().spec;
        for load in &LOADS {
            for found in simulated(&spec, load, &POPULATIONS).unwrap() {
                let bound = most(&demands(&spec, load, found.population), found.population);
                // Within what so few requests scatter by.
                let over = found.throughput_per_s / bound - 1.0;
                if over > 0.02 {
                    above.push(format!("{name}, {}: {found:?} is {:.1} % above {bound}", load.name, over * 100.0));
                }
            }
        }
    }
    assert!(above.is_empty(), "{}", above.join("\n"));
}

#[test]
fn a_bound_is_near_what_is_reached_where_one_component_is_all_there_is() {
    let near = |document: &Value, load: &Load, least: f64| {
        let spec = ArraySpec::read(document).unwrap().spec;
        let found = simulated(&spec, load, &[256]).unwrap()[0].throughput_per_s;
        let bound = most(&demands(&spec, load, 256), 256);
        assert!(found > least * bound, "{}: {found} is far below {bound}", load.name);
    };
    near(&reordering("raid0", "sptf", 16), &LOADS[0], 0.85);
    near(&reordering("raid0", "fcfs", 1), &LOADS[0], 0.95);
    near(&reordering("raid0", "c_look", 16), &LOADS[0], 0.85);
    near(&reordering("raid0", "fcfs", 1), &LOADS[2], 0.9);
    near(&flash(), &LOADS[1], 0.85);
}

/// What limits sequential writes of 1 MiB, and at how many bytes per second.
fn limiting_writes(document: &Value) -> (String, f64) {
    let spec = ArraySpec::read(document).unwrap().spec;
    let demands = demands(&spec, &LOADS[3], 256);
    let (found, per_s) = limit(&demands).unwrap();
    (found.component.clone(), per_s * f64::from(LOADS[3].bytes))
}

#[test]
fn what_mirrors_writes_limits_them() {
    let (component, bytes_per_s) = limiting_writes(&mirrored());
    assert_eq!(component, "mirror");
    assert!((bytes_per_s / 20e6 - 1.0).abs() < 0.01, "{bytes_per_s}");
}

#[test]
fn the_memory_of_a_controller_limits_writes_which_pass_it_three_times_with_mirrors() {
    let (component, bytes_per_s) = limiting_writes(&remembering());
    assert_eq!(component, "memory");
    assert!((bytes_per_s * 3.0 / 30e6 - 1.0).abs() < 0.01, "{bytes_per_s}");
    let spec = ArraySpec::read(&remembering()).unwrap().spec;
    assert!(demands(&spec, &LOADS[2], 256).iter().all(|demand| demand.component != "memory"));
}

#[test]
fn what_is_simulated_is_equal_every_time() {
    let spec = ArraySpec::read(&reordering("raid5", "sptf", 16)).unwrap().spec;
    let once = || simulated(&spec, &LOADS[1], &POPULATIONS).unwrap();
    assert_eq!(once(), once());
}

#[test]
fn what_a_flash_drives_interface_moves_its_links_move_meanwhile() {
    // A link of the interface's own rate: the same wires.
    let mut document = flash();
    document["link"] = json!([{ "name": "lanes", "rate_bytes_per_s": 3_500_000_000_u64 }]);
    document["devices"][0]["links"] = json!(["lanes"]);
    for (op, bytes) in [(Op::Read, 1_u64 << 20), (Op::Write, 1 << 20), (Op::Write, 4096)] {
        // So few that the write buffer is not full.
        let mean_ns = |document: &Value| {
            let mut array = built(document, 1);
            closed(&mut array, 1, (0, 4), sequential(op, (bytes / 512) as u32, vec![0])).mean_ns()
        };
        let (linked, bare) = (mean_ns(&document), mean_ns(&without_links(&document)));
        let wires_ns = bytes as f64 / 3.5;
        assert!(
            (linked - bare).abs() < 0.02 * wires_ns + 2.0,
            "{op:?} of {bytes}: {linked} ns with the link, {bare} without"
        );
        // A link of half the rate takes twice as long, and hides the interface.
        document["link"][0]["rate_bytes_per_s"] = json!(1_750_000_000_u64);
        let slow = mean_ns(&document);
        document["link"][0]["rate_bytes_per_s"] = json!(3_500_000_000_u64);
        assert!(
            (slow - bare - wires_ns).abs() < 0.02 * wires_ns + 2.0,
            "{op:?} of {bytes}: {slow} ns, {bare} without a link"
        );
    }
}

fn without_links(document: &Value) -> Value {
    let mut document = document.clone();
    document["devices"][0]["links"] = json!([]);
    document
}

#[test]
fn a_write_costs_the_processor_what_is_said_besides() {
    let mut document = array("raid0", 1);
    document["controller"][0]["request_ns"] = json!(1_000);
    document["controller"][0]["write_ns"] = json!(2_000_000);
    let spec = ArraySpec::read(&document).unwrap().spec;
    for (op, expected_ns) in [(Op::Read, 1_000), (Op::Write, 2_001_000)] {
        let mut array = Array::new(&spec, 1).unwrap();
        closed(&mut array, 1, (0, 50), Box::new(move |number| Request { op, lba: number * 8, sectors: 8 }));
        let place = array.components().iter().position(|component| component.kind == "cpu").unwrap();
        assert_eq!(array.readings()[place].account.busy_ns, 50 * expected_ns, "{op:?}");
        let load = Load { read_share: f64::from(u8::from(op == Op::Read)), ..LOADS[0] };
        let cpu = demands(&spec, &load, 1).into_iter().find(|demand| demand.kind == "cpu").unwrap();
        assert!((cpu.least_ns - expected_ns as f64).abs() < 1e-6, "{cpu:?}");
    }
}
