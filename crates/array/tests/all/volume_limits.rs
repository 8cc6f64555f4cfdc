//! Limits of volumes: what a volume may do holds whatever its devices could, exactly, and shows where a load is kept back.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::bounds::{LOADS, demands, limit};
use plimsoll_array::{Array, ArraySpec, Completion, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// A drive that answers each request within 20 µs, under a limit.
fn limited(limit: &Value) -> ArraySpec {
    let mut document = array("raid0", 1);
    document["devices"][0]["model"] = json!({
        "kind": "flash", "capacity_bytes": 1_000_000_000_000_u64, "over_provisioning_percent": 28.0, "channels": 8,
        "dies_per_channel": 8, "planes_per_die": 1, "page_bytes": 16_384, "pages_per_block": 256, "page_read_us": 5,
        "page_program_us": 20, "block_erase_us": 100, "channel_rate_bytes_per_s": 800_000_000,
        "interface_rate_bytes_per_s": 3_500_000_000_u64, "read_overhead_us": 1, "write_overhead_us": 1, "commands": 256,
        "write_buffer_bytes": 1 << 26, "power_loss_protection": true, "translation": { "kind": "analytic" },
    });
    document["volumes"][0]["limit"] = limit.clone();
    ArraySpec::read(&document).unwrap().spec
}

/// Completions per second of a closed loop, in each of the first seconds.
fn per_second(spec: &ArraySpec, outstanding: u32, sectors: u32, seconds: usize) -> Vec<u64> {
    let mut array = Array::new(spec, 1).unwrap();
    let mut counts = vec![0; seconds];
    let mut done: Vec<Completion> = Vec::new();
    let request = |number: u32| Request {
        op: if number.is_multiple_of(2) { Op::Read } else { Op::Write },
        lba: u64::from(number % 1000) * u64::from(sectors),
        sectors,
    };
    (0..outstanding).for_each(|number| array.submit(0, number, request(number)));
    let mut next = outstanding;
    loop {
        array.run_until(u64::MAX, &mut done);
        for completion in std::mem::take(&mut done) {
            let second = (completion.completed_ns / SECOND) as usize;
            if second >= seconds {
                return counts;
            }
            counts[second] += 1;
            array.submit(completion.completed_ns, next, request(next));
            next += 1;
        }
    }
}

#[test]
fn a_volume_does_what_its_limit_says_however_many_wait() {
    for outstanding in [4, 64] {
        let spec = limited(&json!({ "requests_per_s": 3000 }));
        assert!(per_second(&spec, outstanding, 8, 3).iter().all(|count| count.abs_diff(3000) <= 1));
    }
}

#[test]
fn a_burst_ends_when_its_credit_is_spent_and_begins_without_any_if_that_is_said() {
    let burst = |percent| {
        limited(&json!({
            "requests_per_s": 500, "burst_requests_per_s": 2000, "burst_requests": 3000, "credit_percent": percent,
        }))
    };
    // 3,000 credits and 500 more a second last for two seconds of 2,000.
    let counts = per_second(&burst(100), 32, 8, 4);
    assert!(counts.iter().zip([2000, 2000, 500, 500]).all(|(count, wanted)| count.abs_diff(wanted) <= 2), "{counts:?}");
    assert!(per_second(&burst(0), 32, 8, 4)[1..].iter().all(|count| count.abs_diff(500) <= 1));
}

#[test]
fn large_requests_meet_the_limit_of_bytes() {
    let spec = limited(&json!({ "requests_per_s": 3000, "request_bytes": 262_144, "bytes_per_s": 125 << 20 }));
    assert!(per_second(&spec, 16, 2048, 3)[1..].iter().all(|count| count.abs_diff(125) <= 1));
}

#[test]
fn a_limit_is_what_limits_and_is_busy_while_it_keeps_somebody_back() {
    let spec = limited(&json!({ "requests_per_s": 3000 }));
    let demanded = demands(&spec, &LOADS[0], 64);
    let (found, per_s) = limit(&demanded).unwrap();
    assert_eq!((found.component.as_str(), found.kind, per_s.round()), ("lun.limit", "limit", 3000.0));
    let array = Array::new(&spec, 1).unwrap();
    assert_eq!(array.components().len(), array.readings().len());
    assert!(array.components().iter().any(|component| component.name == "lun.limit" && component.kind == "limit"));
}

#[test]
fn volumes_have_limits_of_their_own_and_flushes_pass_them() {
    let mut document = array("raid0", 1);
    document["volumes"][0]["count"] = json!(2);
    document["volumes"][0]["limit"] = json!({ "requests_per_s": 1 });
    let mut array = Array::new(&ArraySpec::read(&document).unwrap().spec, 1).unwrap();
    let half = array.sectors() / 2;
    let read = |lba| Request { op: Op::Read, lba, sectors: 8 };
    for (token, request) in
        [(0, read(0)), (1, read(half)), (2, read(64)), (3, Request { op: Op::Flush, lba: 0, sectors: 0 })]
    {
        array.submit(0, token, request);
    }
    let mut done = Vec::new();
    while array.under_way() > 0 {
        array.run_until(u64::MAX, &mut done);
    }
    let late: Vec<u32> = done.iter().filter(|one| one.completed_ns >= SECOND).map(|one| one.token).collect();
    assert_eq!((done.len(), late), (4, vec![2]));
}

#[test]
fn limits_that_cannot_be_are_refused() {
    let told = |limit: Value| {
        let mut document = array("raid0", 1);
        document["volumes"][0]["limit"] = limit;
        ArraySpec::read(&document).err().map_or_else(String::new, |error| error.to_string())
    };
    for (limit, sentence) in [
        (
            json!({ "burst_requests": 5 }),
            "volumes.lun.limit.requests_per_s: a burst needs the rate that lasts; write it, or leave the burst out",
        ),
        (
            json!({ "bytes_per_s": 5, "burst_bytes_per_s": 9 }),
            "volumes.lun.limit.burst_bytes: a burst needs credit; write it, or leave burst_bytes_per_s out",
        ),
        (
            json!({ "requests_per_s": 5, "burst_requests_per_s": 4, "burst_requests": 1 }),
            "volumes.lun.limit.burst_requests_per_s: 4 is less than requests_per_s; write at least 5",
        ),
    ] {
        assert_eq!(told(limit), format!("array \"tested\": {sentence}"));
    }
}
