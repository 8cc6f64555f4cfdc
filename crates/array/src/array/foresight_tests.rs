//! What is known at a read's intake changes what it costs and nothing else.

use plimsoll_workload::Op;
use plimsoll_workload::rng::Draws;
use serde_json::{Value, json};

use super::{Array, Completion, Request};
use crate::spec::{ArraySpec, Sourced};

/// One flash drive behind a link and a host of several processors.
fn flash() -> Value {
    json!({
        "name": "small",
        "host": { "mode": "direct", "cores": 4, "request_ns": 3000 },
        "link": [{ "name": "pcie", "rate_bytes_per_s": 3_500_000_000_u64, "overhead_ns": 300 }],
        "controller": [{ "name": "software", "request_ns": 0 }],
        "devices": [{ "name": "nvme", "count": 1, "links": ["pcie"], "model": {
            "kind": "flash", "capacity_bytes": 1 << 30, "over_provisioning_percent": 28.0, "channels": 4, "dies_per_channel": 2,
            "planes_per_die": 2, "page_bytes": 16_384, "pages_per_block": 64, "page_read_us": 60, "page_program_us": 700,
            "block_erase_us": 3800, "suspend_us": 20, "channel_rate_bytes_per_s": 800_000_000,
            "interface_rate_bytes_per_s": 3_500_000_000_u64, "read_overhead_us": 10, "write_overhead_us": 10, "commands": 20,
            "write_buffer_bytes": 1 << 20, "power_loss_protection": true, "translation": { "kind": "page_map", "filled_percent": 80 },
        } }],
        "group": [{ "name": "g", "controller": "software", "members": ["nvme"], "raid": { "level": "raid0", "devices": 1 } }],
        "volumes": [{ "name": "lun", "groups": ["g"] }],
    })
}

/// Three disks of RAID 0 that read on, on a controller that takes requests in one after the other, longer ones for longer.
fn disks() -> Value {
    json!({
        "name": "small",
        "link": [{ "name": "bus", "rate_bytes_per_s": 300_000_000, "duplex": "half", "overhead_ns": 1000 }],
        "controller": [{ "name": "a", "request_ns": 60_000, "kib_ns": 1_500 }],
        "devices": [{ "name": "disk", "count": 3, "model": {
            "kind": "disk", "capacity_bytes": 18_351_968_256_u64, "rotation_rpm": 10_000, "heads": 2,
            "outer_rate_bytes_per_s": 89_000_000, "inner_rate_bytes_per_s": 53_000_000, "command_overhead_us": 200,
            "read_seek": { "single_track_us": 200, "average_us": 3800, "full_stroke_us": 7800 },
            "write_seek": { "single_track_us": 500, "average_us": 4400, "full_stroke_us": 8300 },
            "buffer": {
                "segments": 4, "segment_bytes": 1 << 18, "prefetch_bytes": 1 << 17, "write_bytes": 1 << 17,
                "interface_rate_bytes_per_s": 300_000_000,
            },
            "queue": { "policy": "sptf", "window": 8 },
        } }],
        "group": [{
            "name": "g", "controller": "a", "members": ["disk"], "raid": { "level": "raid0", "devices": 3 },
        }],
        "volumes": [{ "name": "lun", "groups": ["g"], "links": ["bus"] }],
    })
}

/// Reads of a stream and of random places, long and short, with so many writes, trims and flushes among them in a hundred.
fn request(draws: &Draws, number: u64, sectors: u64, others: u64) -> Request {
    let draw = |salt: u64| draws.at(number * 4 + salt);
    let op = match draw(0) % 100 {
        kind if kind < others => [Op::Write, Op::Write, Op::Trim, Op::Flush][(draw(1) % 4) as usize],
        _ => Op::Read,
    };
    let lba = if draw(2) % 3 == 0 { number * 32 % sectors } else { draw(2) / 3 % (sectors - 2_048) / 8 * 8 };
    let length = if draw(3) % 8 == 0 { 1_024 } else { 8 << (draw(3) % 3) };
    Request { op, lba: lba.min(sectors - 2_048), sectors: if op == Op::Flush { 0 } else { length } }
}

/// What completes when of a closed loop of 24, and for how many reads no event was needed until they were with their device.
fn carried_out(document: &Value, foreseen: bool, seed: u64, others: u64) -> (Vec<Completion>, u64) {
    let Sourced { spec, .. } = ArraySpec::read(document).unwrap();
    let mut array = Array::new(&spec, seed).unwrap();
    assert!(array.storage.topology.groups[0].foreseen, "its reads can be foreseen");
    array.storage.topology.groups[0].foreseen = foreseen;
    let (draws, sectors) = (Draws::new(seed, &[]), array.sectors());
    let (mut completed, mut done, mut early) = (Vec::new(), Vec::new(), 0);
    let mut number = 0;
    let mut submit = |array: &mut Array| {
        let events = |array: &Array| array.host.in_processor + array.storage.being_taken_in();
        let before = events(array);
        array.submit(array.now_ns(), number as u32, request(&draws, number, sectors, others));
        number += 1;
        u64::from(events(array) == before)
    };
    for _ in 0..24 {
        early += submit(&mut array);
    }
    while completed.len() < 6_000 {
        done.clear();
        array.run_until(u64::MAX, &mut done);
        for &completion in &done {
            completed.push(completion);
            early += submit(&mut array);
        }
    }
    (completed, early)
}

#[test]
fn a_read_that_is_sent_early_ends_when_it_would_have_ended() {
    for (document, most) in [(disks(), 3_000), (flash(), 1_000)] {
        for (seed, others) in [(1, 0), (2, 0), (3, 2), (4, 20)] {
            let (expected, none) = carried_out(&document, false, seed, others);
            let (found, early) = carried_out(&document, true, seed, others);
            assert_eq!(found, expected, "seed {seed}");
            assert_eq!(none, 0, "all is told by events");
            assert!(early > if others == 0 { most } else { 0 }, "{early} of 6,000 reads were early");
        }
    }
}
