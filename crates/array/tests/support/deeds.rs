//! What the disks of an array did for requests, and what became of the array with failures.

use plimsoll_array::{Array, Request, What};
use plimsoll_workload::Op;
use serde_json::{Value, json};

use super::{MS, SECOND, built, closed, operations, random};

/// Bytes that each disk has moved so far, spares included.
pub fn disk_bytes(array: &Array) -> Vec<u64> {
    let all = array.components().into_iter().zip(array.readings());
    all.filter(|(component, _)| component.kind == "disk").map(|(_, reading)| reading.account.bytes).collect()
}

/// Commands to disks and bytes that they moved, by requests one after the other.
pub fn moved(array: &mut Array, requests: &[Request]) -> (u64, u64) {
    let so_far = |array: &Array| (operations(array, "disk"), disk_bytes(array).iter().sum::<u64>());
    let before = so_far(array);
    closed(array, 1, (0, requests.len() as u64), Box::new(|number| requests[number as usize]));
    let after = so_far(array);
    (after.0 - before.0, after.1 - before.1)
}

/// Fifty requests that begin with a record of so many sectors, each in another record.
pub fn fifty(op: Op, sectors: u32, record_sectors: u64) -> Vec<Request> {
    (0..50).map(|number| Request { op, lba: number * record_sectors * 37, sectors }).collect()
}

/// What happened, in this order.
pub fn told(array: &Array) -> Vec<What> {
    array.incidents().iter().map(|incident| incident.what).collect()
}

/// These members have failed before the first request.
pub fn without(mut document: Value, members: &[u16]) -> Array {
    let gone: Vec<Value> = members.iter().map(|member| json!({ "time_s": 0.0, "member": member })).collect();
    document["group"][0]["failures"] = json!({ "at": gone });
    let mut array = built(&document, 1);
    array.run_until(MS, &mut Vec::new());
    array
}

/// Whether a request at the beginning of the array fails.
pub fn fails(array: &mut Array, op: Op, sectors: u32) -> bool {
    let mut done = Vec::new();
    array.submit(array.now_ns(), 0, Request { op, lba: 0, sectors });
    array.run_until(u64::MAX, &mut done);
    done[0].failed
}

/// Requests go on until the member that failed is rebuilt; all of them end.
pub fn requests_beside_a_rebuild(document: &Value) {
    let mut array = built(document, 1);
    let span = array.sectors() / 256 * 256;
    let mut first = 0;
    while !told(&array).contains(&What::Rebuilt) {
        closed(&mut array, 4, (first, 1000), random(3, 16, 60, span));
        first += 1000;
        assert!(array.now_ns() < 3600 * SECOND);
    }
    array.run_until(array.now_ns() + SECOND, &mut Vec::new());
    assert_eq!(array.under_way(), 0);
}
