//! Where recorded requests go: in range, in order within a place, and changed no more than the mode says.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use plimsoll_workload::plan::StreamPlan;
use plimsoll_workload::trace::{Prefix, TraceDevice, TraceRecord};
use plimsoll_workload::{Op, Recorded, TargetShape, TraceHeader, Workload};
use proptest::prelude::*;
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

/// A trace of devices that reach this far.
fn header(ends: &[u64]) -> TraceHeader {
    let device = |&end_bytes: &u64| TraceDevice { name: format!("disk at {end_bytes}"), end_bytes };
    TraceHeader {
        span_ns: 1_000,
        timed: true,
        ops: [1, 1, 0, 0],
        longest: [65_536, 65_536, 0, 0],
        granule: 512,
        devices: ends.iter().map(device).collect(),
        place_bytes: MIB,
        service: Default::default(),
        source: Default::default(),
        touched: Vec::new(),
    }
}

fn resolved(header: TraceHeader, options: Value, size_bytes: u64, part_ends: &[u64]) -> Result<StreamPlan, String> {
    let mut stream = json!({ "name": "again", "trace": "disk.trace" });
    stream.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let workload = Workload::from_json(&json!({ "name": "w", "stream": [stream] }), "w.toml").unwrap();
    workload.check("w.toml").map_err(|error| error.to_string())?;
    let recorded = Recorded { headers: vec![Some(Arc::new(header))], part_ends: part_ends.to_vec() };
    let plans = workload.resolve_recorded(TargetShape { size_bytes, block_bytes: 512 }, 1, &recorded);
    plans.map(|mut plans| plans.remove(0)).map_err(|error| error.to_string())
}

fn record(offset: u64, len: u32, device: u16) -> TraceRecord {
    TraceRecord { due_ns: 0, offset, len, op: Op::Write, device }
}

fn offset(plan: &StreamPlan, at: u64, device: u16) -> u64 {
    plan.trace.as_ref().unwrap().remap.place(&record(at, 512, device)).0.offset
}

proptest! {
    #[test]
    fn every_request_lies_in_the_region_and_is_aligned(
        (map, size, offset, len, align) in (
            prop::sample::select(vec!["wrap", "scale"]), 2u64..64, 0..(1u64 << 36), 1u32..65_537,
            prop::sample::select(vec![512u64, 4096, 8192]),
        )
    ) {
        let size_bytes = size * 131_072 + 512;
        let options = json!({ "trace_map": map, "align": align, "region_start": 4096 });
        let mut odd = header(&[1 << 37]);
        odd.granule = 1;
        let plan = resolved(odd, options, size_bytes, &[]).unwrap();
        let (request, change) = plan.trace.as_ref().unwrap().remap.place(&record(offset, len, 0));
        prop_assert!(request.offset >= plan.region.start);
        prop_assert!(request.offset + u64::from(request.len) <= plan.region.end);
        prop_assert_eq!(request.offset % align, 0);
        prop_assert_eq!(u64::from(request.len) % align, 0);
        prop_assert!(request.len >= len && request.len <= plan.max_len, "{} of {}", request.len, plan.max_len);
        prop_assert!(!change.shortened);
    }

    #[test]
    fn whatever_a_damaged_file_holds_stays_inside_region_and_buffer(
        (map, offset, len, device) in (
            prop::sample::select(vec!["refuse", "wrap", "scale", "squeeze"]), any::<u64>(), any::<u32>(), any::<u16>(),
        )
    ) {
        let mut lying = header(&[MIB, MIB]);
        lying.touched = vec![0, 1 << 48];
        let plan = resolved(lying, json!({ "trace_map": map }), 4 * MIB, &[]).unwrap();
        let (request, _) = plan.trace.as_ref().unwrap().remap.place(&record(offset, len, device));
        prop_assert!(request.len <= plan.max_len && request.offset + u64::from(request.len) <= 4 * MIB);
    }

    #[test]
    fn what_fits_stays_where_it_was(offset in 0..(MIB - 65_536) / 512, len in 1u32..128) {
        for map in ["refuse", "wrap"] {
            let plan = resolved(header(&[MIB]), json!({ "trace_map": map }), MIB, &[]).unwrap();
            let (request, change) = plan.trace.as_ref().unwrap().remap.place(&record(offset * 512, len * 512, 0));
            prop_assert_eq!((request.offset, request.len), (offset * 512, len * 512));
            prop_assert_eq!(change, Default::default());
        }
    }

    #[test]
    fn bytes_of_a_record_read_back(due_ns: u64, offset: u64, len: u32, op in 0usize..4, device: u16) {
        let record = TraceRecord { due_ns, offset, len, op: Op::ALL[op], device };
        prop_assert_eq!(TraceRecord::read(&record.to_bytes()), record);
    }
}

#[test]
fn wrapping_takes_the_address_modulo_the_target_and_moves_what_sticks_out_back_in() {
    let plan = resolved(header(&[100 * MIB]), json!({ "trace_map": "wrap" }), 10 * MIB, &[]).unwrap();
    assert_eq!(offset(&plan, 25 * MIB + 512, 0), 5 * MIB + 512);
    let (request, change) = plan.trace.as_ref().unwrap().remap.place(&record(10 * MIB - 512, 4096, 0));
    assert_eq!((request.offset, request.len), (10 * MIB - 4096, 4096));
    assert!(change.moved && !change.rounded);
}

#[test]
fn scaling_moves_whole_places_in_proportion() {
    let plan = resolved(header(&[100 * MIB]), json!({ "trace_map": "scale" }), 10 * MIB, &[]).unwrap();
    assert_eq!([0, 10, 55, 99].map(|place| offset(&plan, place * MIB + 4096, 0)), [0, 1, 5, 9].map(|p| p * MIB + 4096));
    let wide = resolved(header(&[10 * MIB]), json!({ "trace_map": "scale" }), 100 * MIB, &[]).unwrap();
    assert_eq!(offset(&wide, 9 * MIB, 0), 90 * MIB, "a larger target is used to its end as well");
}

#[test]
fn squeezing_puts_the_touched_places_side_by_side() {
    let mut sparse = header(&[1 << 40, 1 << 40]);
    sparse.touched = vec![3, 700_000, 700_001, 1 << 48 | 5];
    let plan = resolved(sparse.clone(), json!({ "trace_map": "squeeze" }), 4 * MIB, &[]).unwrap();
    assert_eq!(offset(&plan, 3 * MIB + 512, 0), 512);
    assert_eq!(offset(&plan, 700_001 * MIB, 0), 2 * MIB);
    assert_eq!(offset(&plan, 5 * MIB + 1024, 1), 3 * MIB + 1024, "the second device stands above the first");
    let refused = resolved(sparse, json!({ "trace_map": "squeeze" }), 3 * MIB, &[]).unwrap_err();
    assert_eq!(
        refused,
        "workload \"w\": stream \"again\": the places that the trace touches take 4MiB side by side, and the target has 3MiB \
         for them; set trace_map to wrap or scale, or take a larger target"
    );
}

#[test]
fn several_devices_stand_one_above_the_other_or_on_a_part_each() {
    let two = || header(&[3 * MIB + 512, 2 * MIB]);
    let stacked = resolved(two(), json!({}), 6 * MIB, &[]).unwrap();
    assert_eq!((offset(&stacked, 512, 0), offset(&stacked, 512, 1)), (512, 4 * MIB + 512));
    let apart = resolved(two(), json!({}), 14 * MIB, &[10 * MIB, 14 * MIB]).unwrap();
    assert_eq!((offset(&apart, 512, 0), offset(&apart, 512, 1)), (512, 10 * MIB + 512));
    let refused = resolved(two(), json!({}), 14 * MIB, &[13 * MIB, 14 * MIB]).unwrap_err();
    assert!(refused.contains("the trace reaches to 2MiB, and the target has 1MiB for it"), "{refused}");
    let asked = json!({ "region_start": "1MiB" });
    let in_a_region = resolved(two(), asked, 14 * MIB, &[10 * MIB, 14 * MIB]).unwrap();
    assert_eq!(offset(&in_a_region, 0, 1), 5 * MIB, "a region of one's own is one region");
}

#[test]
fn direct_requests_are_rounded_outward_to_blocks() {
    let mut odd = header(&[MIB]);
    odd.granule = 1;
    let plan = resolved(odd.clone(), json!({}), MIB, &[]).unwrap();
    assert_eq!(plan.max_len, 65_536 + 512, "both ends of the longest may stick out");
    let (request, change) = plan.trace.as_ref().unwrap().remap.place(&record(1000, 100, 0));
    assert_eq!((request.offset, request.len, change.rounded), (512, 1024, true));
    let buffered = resolved(odd, json!({ "direct": false }), MIB, &[]).unwrap();
    let (request, change) = buffered.trace.as_ref().unwrap().remap.place(&record(1000, 100, 0));
    assert_eq!((request.offset, request.len, change.rounded), (1000, 100, false));
}

#[test]
fn instants_are_divided_by_the_speed() {
    let due = |options: Value, due_ns: u64| {
        let plan = resolved(header(&[MIB]), options, MIB, &[]).unwrap();
        plan.trace.unwrap().due_ns(&TraceRecord { due_ns, ..record(0, 512, 0) })
    };
    assert_eq!(due(json!({ "arrival": "trace" }), u64::MAX / 2), u64::MAX / 2);
    assert_eq!(due(json!({ "arrival": "trace", "trace_speed": 2 }), 1_001), 501);
    assert_eq!(due(json!({ "arrival": "trace", "trace_speed": 0.5 }), 1_001), 2_002);
    assert_eq!(due(json!({}), 1_001), 0, "as fast as possible");
}

#[test]
fn a_stream_ends_with_what_is_left_of_its_trace() {
    let mut found = header(&[MIB]);
    found.ops = [5, 7, 11, 13];
    let requests = |options| resolved(found.clone(), options, MIB, &[]).map(|plan| plan.budget.requests);
    assert_eq!(requests(json!({})), Ok(36));
    assert_eq!(requests(json!({ "requests": 9 })), Ok(9));
    assert_eq!(requests(json!({ "trace_skip": ["write", "flush"] })), Ok(16));
    let nothing = requests(json!({ "trace_skip": ["read", "write", "trim", "flush"] })).unwrap_err();
    assert!(nothing.ends_with("has nothing else than what trace_skip leaves out; name fewer operations"), "{nothing}");
}

#[test]
fn what_cannot_hold_is_refused_with_a_sentence() {
    let cases = [
        (json!({ "block_size": 4096 }), "trace and block_size exclude each other, because the trace decides it"),
        (json!({ "threads": 2 }), "trace and threads exclude each other"),
        (json!({ "verify": "reads" }), "trace and verify exclude each other"),
        (json!({ "arrival": "poisson", "rate": 5 }), "a trace has its own instants, and poisson arrival others"),
        (json!({ "trace_speed": 2 }), "trace_speed has no effect with closed arrival"),
        (json!({ "content": "stamps" }), "stamps cannot follow a trace"),
        (
            json!({ "trace_skip": ["reads"] }),
            "trace_skip: 'reads' is not an operation; write read, write, trim or flush",
        ),
        (json!({ "arrival": "trace", "rate": 5 }), "rate 5/s has no effect with trace arrival"),
        (json!({ "align": 768 }), "align 768 is no multiple of the target's logical block of 512 bytes"),
        (json!({ "region_length": "64KiB" }), "the trace reaches to 1MiB, and the target has 64KiB for it"),
    ];
    for (options, sentence) in cases {
        let refused = resolved(header(&[MIB]), options.clone(), MIB, &[]).unwrap_err();
        assert!(refused.contains(sentence), "{options}: {refused}");
    }
    let mut timeless = header(&[MIB]);
    timeless.timed = false;
    let refused = resolved(timeless, json!({ "arrival": "trace" }), MIB, &[]).unwrap_err();
    assert!(refused.contains("the trace disk.trace has no times, so nothing can be due when it says"), "{refused}");
    for (options, key) in [(json!({ "trace_map": "wrap" }), "trace_map"), (json!({ "arrival": "trace" }), "arrival")] {
        let alone = Workload::from_json(&json!({ "name": "w", "stream": [options] }), "w").unwrap();
        let refused = alone.check("w").unwrap_err().to_string();
        assert!(refused.contains(key) && refused.ends_with("needs a trace; write for example trace = \"hm_0.csv\""));
    }
}

#[test]
fn a_file_that_is_no_compact_trace_is_told_from_a_damaged_one() {
    let mut bytes = [0; Prefix::BYTES];
    assert!(Prefix::read(&bytes, 64).unwrap_err().starts_with("it is no compact trace"));
    bytes[..8].copy_from_slice(b"PLIMTRC1");
    for (at, number) in [(8, 1u64), (16, 88), (24, 2), (32, 88), (40, 0)] {
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
    assert_eq!(Prefix::read(&bytes, 90).unwrap().records, 1);
    assert!(Prefix::read(&bytes, 89).unwrap_err().starts_with("the file is cut off"));
    bytes[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(Prefix::read(&bytes, 90).unwrap_err().starts_with("the file is cut off"));
}
