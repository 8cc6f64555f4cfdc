//! Streams of short sequential requests: chunks of the host, pages that two fetches share, writes that become full rows.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::{Array, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Data in a row of the test's RAID 5 of four: three strips of 64 KiB.
const ROW_SECTORS: u32 = 3 * 128;

fn run(array: &mut Array, requests: &[Request]) -> Vec<u64> {
    let now_ns = array.now_ns();
    for (token, &request) in requests.iter().enumerate() {
        array.submit(now_ns, token as u32, request);
    }
    let (mut done, mut ends_ns) = (Vec::new(), vec![0; requests.len()]);
    while array.under_way() > 0 || array.next_ns().is_some() {
        done.clear();
        array.run_until(u64::MAX, &mut done);
        for finished in &done {
            ends_ns[finished.token as usize] = finished.completed_ns;
        }
        if done.is_empty() {
            break;
        }
    }
    ends_ns
}

fn writes(lba: u64, sectors: u32, count: u32) -> Vec<Request> {
    let at = |number: u32| lba + u64::from(number * sectors);
    (0..count).map(|number| Request { op: Op::Write, lba: at(number), sectors }).collect()
}

/// RAID 5 of four with memory and without a battery: nothing is written back.
fn without_battery() -> Value {
    let mut document = cached("raid5", 4, 4096);
    document["controller"][0]["cache"]["battery"] = json!(false);
    document["controller"][0]["request_ns"] = json!(20_000);
    document["group"][0]["raid"]["strip_sectors"] = json!(128);
    document
}

#[test]
fn a_long_request_in_chunks_takes_as_long_as_its_chunks_one_after_the_other() {
    let mut document = array("raid0", 2);
    document["host"] = json!({ "page_ns": 1000, "chunk_bytes": 131_072 });
    let whole = Request { op: Op::Write, lba: 4096, sectors: 4 * 256 };
    let in_chunks = run(&mut built(&document, 1), &[whole])[0];
    document["host"]["chunk_bytes"] = json!(0);
    let mut one_by_one = built(&document, 1);
    let seen = closed(&mut one_by_one, 1, (0, 4), sequential(Op::Write, 256, vec![4096]));
    assert_eq!(in_chunks, seen.end_ns);
    let at_once = run(&mut built(&document, 1), &[whole])[0];
    // Between two writes the platter turns on: a turn of 6 ms for each.
    assert!(at_once + 12 * MS < in_chunks, "{at_once} at once, {in_chunks} in chunks");
}

#[test]
fn a_request_that_is_no_longer_than_a_chunk_knows_nothing_of_chunks() {
    let ends = |chunk_bytes: u32| {
        let mut document = array("raid5", 4);
        document["host"] = json!({ "page_ns": 1000, "chunk_bytes": chunk_bytes });
        closed(&mut built(&document, 1), 4, (0, 200), random(3, 256, 60, 1 << 22)).times
    };
    assert_eq!(ends(131_072), ends(0));
}

#[test]
fn queued_short_reads_that_share_pages_run_at_the_rate_of_the_medium() {
    let mut document = cached("raid0", 1, 4096);
    document["controller"][0]["read_ahead"] = json!({ "initial_bytes": 131_072, "max_bytes": 1_048_576 });
    let mut array = built(&document, 1);
    // 124 KiB from 63 sectors on: every request begins and ends within a page of 16 KiB.
    let (sectors, count) = (248, 400);
    let seen = closed(&mut array, 5, (0, count), sequential(Op::Read, sectors, vec![63]));
    let asked = f64::from(sectors) * 512.0 * count as f64;
    let rate = asked * 1e9 / seen.end_ns as f64;
    assert!(rate > 0.9 * 90e6, "{rate:.0} B/s");
    // Nothing is read twice; what is read ahead beyond the last request is one window, and half of the next.
    let read = disk_bytes(&array).iter().sum::<u64>() as f64;
    assert!(read < asked + 2.0 * 1_048_576.0, "{read} bytes for {asked}");
}

#[test]
fn nothing_is_read_ahead_that_a_cache_full_of_reads_under_way_cannot_keep() {
    // 1 MiB of cache, 2 MiB outstanding.
    let mut document = cached("raid0", 1, 64);
    document["controller"][0]["read_ahead"] = json!({ "initial_bytes": 131_072, "max_bytes": 1_048_576 });
    let mut array = built(&document, 1);
    let (sectors, count) = (256, 400);
    closed(&mut array, 16, (0, count), sequential(Op::Read, sectors, vec![0]));
    let (read, asked) = (disk_bytes(&array).iter().sum::<u64>(), u64::from(sectors) * 512 * count);
    // Beyond the last request one window at most; without regard to room everything is read twice.
    assert!(read <= asked + 1_048_576, "{read} bytes for {asked}");
}

#[test]
fn queued_short_writes_past_the_cache_become_a_full_row_only_in_memory() {
    let requests = writes(0, 64, ROW_SECTORS / 64);
    let mut with_memory = built(&without_battery(), 1);
    let ends_ns = run(&mut with_memory, &requests);
    // Three strips and their parity, nothing read; all are answered when all is written.
    assert_eq!(operations(&with_memory, "disk"), 4);
    assert!(ends_ns.iter().all(|end_ns| *end_ns == ends_ns[0]), "{ends_ns:?}");

    let mut document = without_battery();
    document["controller"][0].as_object_mut().unwrap().remove("cache");
    let mut without_memory = built(&document, 1);
    let last_ns = run(&mut without_memory, &requests).into_iter().max().unwrap();
    // Each of six reads and writes its own data and parity.
    assert_eq!(operations(&without_memory, "disk"), 6 * 4);
    assert!(last_ns > 3 * ends_ns[0], "{last_ns} against {}", ends_ns[0]);
}

#[test]
fn writes_join_one_that_waits_for_their_row() {
    let mut array = built(&without_battery(), 1);
    array.submit(0, 0, Request { op: Op::Write, lba: 0, sectors: 64 });
    let mut done = Vec::new();
    array.run_until(MS, &mut done);
    assert!(done.is_empty());
    // While the first modifies its row (four commands), the rest of the row comes piece by piece, then the next row.
    for (number, at_ns) in (1..12).zip((1..12).map(|step| MS + step * 10_000)) {
        array.run_until(at_ns, &mut done);
        array.submit(at_ns, number, Request { op: Op::Write, lba: u64::from(number) * 64, sectors: 64 });
    }
    while array.under_way() > 0 {
        array.run_until(u64::MAX, &mut done);
    }
    assert_eq!(done.len(), 12);
    let ends: std::collections::BTreeSet<u64> = done.iter().map(|finished| finished.completed_ns).collect();
    assert_eq!(ends.len(), 2, "the first, and all others together: {ends:?}");
    // The second operation reads what the first has written, and writes two rows: one strip and parity run on into the next row.
    assert!(operations(&array, "disk") <= 4 + 2 + 8, "{}", operations(&array, "disk"));
}

#[test]
fn a_write_on_its_own_waits_for_nobody() {
    let write = [Request { op: Op::Write, lba: 640, sectors: 16 }];
    let mut document = without_battery();
    let with_memory = run(&mut built(&document, 1), &write);
    document["controller"][0].as_object_mut().unwrap().remove("cache");
    assert_eq!(with_memory, run(&mut built(&document, 1), &write));
}

#[test]
fn a_write_too_long_for_the_cache_does_not_wait_for_ever_for_one_that_is_kept() {
    let mut document = cached("raid5", 4, 64);
    document["controller"][0]["request_ns"] = json!(20_000);
    // Longer than the memory, so that it goes past it.
    let long = Request { op: Op::Write, lba: 0, sectors: 8 << 11 };
    let mut requests = vec![long];
    requests.extend(writes(1 << 20, 8, 4));
    let ends_ns = run(&mut built(&document, 1), &requests);
    assert!(ends_ns.iter().all(|&end_ns| end_ns > 0), "{ends_ns:?}");
}

#[test]
fn joined_writes_are_no_longer_than_what_is_destaged_at_once() {
    let mut document = without_battery();
    document["controller"][0]["cache"]["destage_bytes_max"] = json!(ROW_SECTORS * 512);
    let mut array = built(&document, 1);
    let ends_ns = run(&mut array, &writes(0, 64, 4 * ROW_SECTORS / 64));
    let ends: std::collections::BTreeSet<u64> = ends_ns.into_iter().collect();
    assert!(ends.len() >= 4, "{ends:?}");
    assert_eq!(operations(&array, "disk"), 4 * 4);
}

#[test]
fn two_streams_come_nearer_to_one_the_more_is_read_ahead_for_each() {
    let rate = |streams: u64, max_bytes: u32| {
        let mut document = cached("raid0", 1, 4096);
        document["controller"][0]["read_ahead"] = json!({ "initial_bytes": 131_072, "max_bytes": max_bytes });
        let mut array = built(&document, 1);
        let starts = (0..streams).map(|stream| stream * 20_000_000).collect();
        closed(&mut array, streams as u32, (0, 600), sequential(Op::Read, 248, starts)).per_s()
    };
    let rates: Vec<f64> = [262_144, 1_048_576, 4_194_304].map(|max| rate(2, max)).into();
    assert!(rates.windows(2).all(|pair| pair[1] > 1.1 * pair[0]), "{rates:?}");
    assert!(rates[2] > 0.7 * rate(1, 4_194_304), "{rates:?}");
}
