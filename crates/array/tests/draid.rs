//! dRAID in a whole array: what a request costs, and rebuilds that all members take part in.

#![allow(clippy::unwrap_used)]

mod support;

use plimsoll_array::{Request, What};
use plimsoll_workload::Op;
use serde_json::{Value, json};
use support::*;

/// Disks in dRAID2 of four data members with a distributed spare: records of 64 KiB in units of 4 KiB, rows of 1 MiB.
fn pool(mut document: Value, spares: u16) -> Value {
    let raid = &mut document["group"][0]["raid"];
    for (key, value) in [("strip_sectors", 8), ("record_sectors", 128), ("data_members", 4), ("row_sectors", 2048)] {
        raid[key] = json!(value);
    }
    raid["distributed_spares"] = json!(spares);
    document
}

#[test]
fn a_small_request_costs_a_record_of_fixed_width() {
    let mut array = built(&pool(array("draid2", 12), 1), 1);
    // Four data columns of 16 KiB; parity is written and not read.
    assert_eq!(moved(&mut array, &fifty(Op::Read, 8, 128)), (50 * 4, 50 * 65_536));
    assert_eq!(moved(&mut array, &fifty(Op::Write, 8, 128)), (50 * 10, 50 * (65_536 + 98_304)));
    assert_eq!(moved(&mut array, &fifty(Op::Write, 128, 128)), (50 * 6, 50 * 98_304));
}

#[test]
fn what_does_not_fill_the_width_is_written_as_zeros_and_not_read() {
    let mut document = pool(array("draid2", 12), 1);
    document["group"][0]["raid"]["record_sectors"] = json!(24);
    let mut array = built(&document, 1);
    // Three of four data columns have a unit; all six are written.
    assert_eq!(moved(&mut array, &fifty(Op::Read, 8, 128)), (50 * 3, 50 * 3 * 4096));
    assert_eq!(moved(&mut array, &fifty(Op::Write, 24, 24)), (50 * 6, 50 * 6 * 4096));
}

/// What a rebuild of member 1 did: seconds, and the bytes that each disk moved.
fn rebuilt(document: &Value) -> (f64, Vec<u64>) {
    let mut array = built(document, 1);
    array.run_until(6000 * SECOND, &mut Vec::new());
    let told = told(&array);
    assert_eq!((told[0], told[2]), (What::Failed, What::Rebuilt), "{told:?}");
    let spent_s = (array.incidents()[2].time_ns - array.incidents()[0].time_ns) as f64 / 1e9;
    (spent_s, disk_bytes(&array))
}

fn wide(members: u16) -> Value {
    let mut document = pool(failing("draid2", members, 0), 1);
    document["group"][0]["rebuild"] = json!({ "chunk_sectors": 2048 });
    document
}

#[test]
fn a_rebuild_into_a_distributed_spare_is_as_quick_as_the_pool_is_wide() {
    let long = |members| {
        let mut document = wide(members);
        document["devices"][0]["model"]["capacity_bytes"] = json!(16 * DISK_BYTES);
        rebuilt(&document).0
    };
    let times: Vec<f64> = [12, 24, 48].map(long).into();
    for pair in times.windows(2) {
        // Others are 11, 23 and 47.
        assert!((1.7..2.5).contains(&(pair[0] / pair[1])), "{times:?}");
    }
}

#[test]
fn all_members_read_and_write_alike_while_one_is_rebuilt_into_spare_space() {
    let (_, bytes) = rebuilt(&wide(24));
    let others: Vec<u64> =
        bytes.iter().enumerate().filter(|(member, _)| *member != 1).map(|(_, bytes)| *bytes).collect();
    let all: u64 = others.iter().sum();
    // What member 1 held, 23/24 of its slices, is read of four others and written once.
    let held = DISK_BYTES as f64 * 23.0 / 24.0;
    assert!((all as f64 / (5.0 * held) - 1.0).abs() < 0.05, "{all} bytes");
    let mean = all as f64 / 23.0;
    assert!(others.iter().all(|&bytes| (bytes as f64 / mean - 1.0).abs() < 0.2), "{others:?}");
}

#[test]
fn a_new_drive_takes_everything_back_and_the_spare_is_free_for_the_next_failure() {
    let mut document = wide(12);
    document["group"][0]["failures"] = json!({
        "at": [{ "time_s": 0.01, "member": 1 }, { "time_s": 300, "member": 2 }],
        "replaced_at": [{ "time_s": 100, "member": 1 }],
    });
    let mut array = built(&document, 1);
    array.run_until(600 * SECOND, &mut Vec::new());
    let told: Vec<(u16, &str)> = array.incidents().iter().map(|one| (one.member, one.what.word())).collect();
    let expected = [
        (1, "failed"),
        (1, "replaced by a distributed spare"),
        (1, "rebuilt"),
        (1, "copying back to a new drive"),
        (1, "copied back"),
        (2, "failed"),
        (2, "replaced by a distributed spare"),
        (2, "rebuilt"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_rebuild_beside_requests_goes_on_in_turns_and_all_of_both_end() {
    let document = wide(12);
    let alone_s = rebuilt(&document).0;
    let mut array = built(&document, 1);
    array.run_until(20 * MS, &mut Vec::new());
    let span = array.sectors() / 128 * 128;
    closed(&mut array, 4, (0, 600), random(3, 16, 60, span));
    let share = array.rebuilding().map(|rebuilt| rebuilt.share).sum::<f64>();
    let alone = array.now_ns() as f64 / 1e9 / alone_s;
    assert!(share > 0.02 && share < 0.7 * alone, "{share} beside requests, {alone} alone");
    array.run_until(array.now_ns() + 6000 * SECOND, &mut Vec::new());
    assert_eq!(array.incidents()[2].what, What::Rebuilt);
    assert_eq!(array.under_way(), 0);
}

/// A member fails and is rebuilt while requests arrive, all the time; few enough things happen meanwhile.
fn few_instants_beside_requests(document: &Value) {
    let mut array = built(document, 1);
    let (span, mut done, mut instants) = (array.sectors() / 128, Vec::new(), 0);
    for number in 0..2_000_u64 {
        let lba = number * 7_919 % span * 128;
        array.submit(array.now_ns(), number as u32, Request { op: Op::Read, lba, sectors: 16 });
        let until_ns = (number + 1) * 5 * MS;
        while let Some(next_ns) = array.next_ns().filter(|&next_ns| next_ns < until_ns) {
            array.run_until(next_ns, &mut done);
            instants += 1;
            assert!(instants < 1_000_000, "after {number} requests, at {next_ns} ns");
        }
        array.run_until(until_ns, &mut done);
    }
    assert!(array.rebuilding().map(|rebuilt| rebuilt.share).sum::<f64>() > 0.1);
}

// A step in which the member holds nothing takes no time: it was taken for how long a chunk takes, so that the rebuild looked every
// nanosecond whether its group was quiet, and began as soon as it was for one. So it did until the first chunk had ended.
#[test]
fn steps_with_nothing_to_do_do_not_hurry_a_rebuild() {
    for spares in [1, 2] {
        let mut document = wide(12);
        document["group"][0]["raid"]["distributed_spares"] = json!(spares);
        document["group"][0]["raid"]["data_members"] = json!(3);
        few_instants_beside_requests(&document);
    }
}

#[test]
fn more_failures_than_parity_fail_what_needs_them() {
    let mut array = without(pool(array("draid1", 6), 0), &[1, 2, 3]);
    for op in [Op::Read, Op::Write] {
        assert!(fails(&mut array, op, 8), "{op:?}");
    }
}
