//! RAIDZ in a whole array: what a request costs, healthy, degraded and while a member is rebuilt.

#![allow(clippy::unwrap_used)]

use crate::support::*;
use plimsoll_array::What;
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Six disks in RAIDZ2 with units of 4 KiB, and records of so many KiB.
fn pool(mut document: Value, record_kib: u32) -> Value {
    document["group"][0]["raid"]["strip_sectors"] = json!(8);
    document["group"][0]["raid"]["record_sectors"] = json!(2 * record_kib);
    document
}

#[test]
fn a_small_request_costs_a_whole_record() {
    let mut array = built(&pool(array("raidz2", 6), 128), 1);
    // Four data columns of 32 KiB; parity is written and not read.
    assert_eq!(moved(&mut array, &fifty(Op::Read, 8, 256)), (50 * 4, 50 * 131_072));
    assert_eq!(moved(&mut array, &fifty(Op::Write, 8, 256)), (50 * 10, 50 * (131_072 + 196_608)));
    assert_eq!(moved(&mut array, &fifty(Op::Write, 256, 256)), (50 * 6, 50 * 196_608));
}

#[test]
fn degraded_records_take_parity_in_place_of_what_is_missing() {
    let mut array = without(pool(array("raidz2", 6), 128), &[3, 4]);
    assert_eq!(moved(&mut array, &fifty(Op::Read, 8, 256)), (50 * 4, 50 * 131_072));
    assert_eq!(moved(&mut array, &fifty(Op::Write, 256, 256)), (50 * 4, 50 * 131_072));
}

#[test]
fn members_of_a_pool_do_random_reads_together_and_not_each_its_own() {
    let per_s = |document: &Value| {
        let mut array = built(document, 1);
        let span = array.sectors() / 256 * 256;
        closed(&mut array, 16, (0, 3000), random(5, 16, 100, span)).per_s()
    };
    let one = per_s(&array("raid0", 1));
    let (pool, rows) = (per_s(&pool(array("raidz2", 6), 128)), per_s(&array("raid6", 6)));
    // Four of six turn for every read, and the slowest of the four counts.
    assert!(pool < 1.5 * one && rows > 3.0 * pool, "{pool}/s in records, {rows}/s in strips, {one}/s of one disk");
}

#[test]
fn sequential_writes_through_a_cache_read_nothing_and_write_parity_and_padding_once() {
    let mut document = pool(cached("raidz2", 6, 1024), 16);
    document["controller"][0]["cache"]["idle_ns"] = json!(MS);
    document["controller"][0]["cache"]["low_percent"] = json!(0);
    let mut array = built(&document, 1);
    closed(&mut array, 8, (0, 512), sequential(Op::Write, 256, vec![0]));
    array.run_until(array.now_ns() + 60 * SECOND, &mut Vec::new());
    let bytes: u64 = disk_bytes(&array).iter().sum();
    // Four units of data and two of parity for each record.
    assert_eq!(bytes, 512 * 131_072 * 6 / 4);
    // Records that follow one another are long commands: 64 KiB at least, where each alone is six of 4 KiB.
    assert!(bytes / operations(&array, "disk") > 65_536, "{} commands", operations(&array, "disk"));
}

#[test]
fn a_rebuild_reads_every_survivor_and_ends_with_the_pool_whole() {
    for level in ["raidz1", "raidz2", "raidz3"] {
        let mut array = built(&pool(failing(level, 6, 1), 128), 1);
        array.run_until(600 * SECOND, &mut Vec::new());
        assert_eq!(told(&array), [What::Failed, What::Replaced, What::Rebuilt], "{level}");
        let readings: Vec<u64> = array.readings().iter().rev().take(7).map(|reading| reading.account.bytes).collect();
        let [spare, survivors @ ..] = &readings[..] else { unreachable!() };
        assert!(spare.abs_diff(DISK_BYTES) < 1 << 20, "{level}: {spare}");
        let read: u64 = survivors.iter().sum();
        // As many columns as hold data, and what lies between two of them; never more than all survivors hold.
        let parities = level[5..].parse::<u64>().unwrap();
        assert!(read > (6 - parities) * DISK_BYTES * 9 / 10 && read <= 5 * (DISK_BYTES + (1 << 22)), "{level}: {read}");
        let rebuilt_s = array.incidents()[2].time_ns as f64 / 1e9;
        assert!(rebuilt_s > DISK_BYTES as f64 / 90e6 && rebuilt_s < DISK_BYTES as f64 / 20e6, "{level}: {rebuilt_s} s");
    }
}

#[test]
fn requests_beside_a_rebuild_all_end_and_nothing_is_lost() {
    for document in [pool(failing("raidz1", 5, 1), 128), pool(failing("raidz2", 6, 1), 16)] {
        requests_beside_a_rebuild(&document);
    }
}

#[test]
fn more_failures_than_parity_fail_what_needs_them() {
    let mut array = without(pool(array("raidz1", 5), 128), &[1, 2]);
    for op in [Op::Read, Op::Write] {
        assert!(fails(&mut array, op, 8), "{op:?}");
    }
}
