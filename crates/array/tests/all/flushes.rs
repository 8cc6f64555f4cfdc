//! What a flush waits for.

#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::*;
use plimsoll_array::{Array, Request};
use plimsoll_workload::Op;
use serde_json::{Value, json};

/// Disks that report writes from a buffer of so many bytes.
fn buffering(mut document: Value, write_bytes: u64) -> Value {
    document["devices"][0]["model"]["buffer"]["write_bytes"] = json!(write_bytes);
    document
}

fn write(array: &mut Array, writes: u64) -> Seen {
    let span = array.sectors();
    closed(array, 1, (0, writes), random(9, 16, 0, span))
}

/// How long a flush takes now.
fn flush_ns(array: &mut Array) -> u64 {
    let seen = closed(array, 1, (0, 1), Box::new(|_| Request { op: Op::Flush, lba: 0, sectors: 0 }));
    seen.end_ns - seen.begin_ns
}

#[test]
fn a_flush_waits_until_what_the_disks_have_reported_is_on_the_platters() {
    for (level, disks) in [("raid0", 1), ("raid0", 3), ("raid10", 4)] {
        let mut array = built(&buffering(array(level, disks), 1 << 20), 1);
        write(&mut array, 40);
        let mut copy = built(&buffering(support::array(level, disks), 1 << 20), 1);
        write(&mut copy, 40);
        let flushed_ns = flush_ns(&mut array);
        // Every write needs some milliseconds of its disk, and each disk has more than five.
        assert!(flushed_ns > 15 * MS, "{level}: {flushed_ns}");
        // No longer than the disks need without a flush: after that time nothing is owed.
        let now_ns = copy.now_ns();
        copy.run_until(now_ns + flushed_ns, &mut Vec::new());
        assert_eq!(flush_ns(&mut copy), 0, "{level}");
        assert_eq!(flush_ns(&mut array), 0, "{level}: a second flush has nothing to wait for");
    }
}

#[test]
fn a_flush_ends_where_writes_are_safe() {
    // Disks without a buffer for writes, and with one that survives; a cache that survives, whatever its disks do.
    let mut protected = buffering(array("raid5", 3), 1 << 20);
    protected["devices"][0]["model"]["buffer"]["write_protected"] = json!(true);
    let kept = [cached("raid5", 3, 512), buffering(cached("raid5", 3, 512), 1 << 20)];
    for document in [array("raid5", 3), protected].into_iter().chain(kept) {
        let mut array = built(&document, 1);
        write(&mut array, 20);
        assert_eq!(flush_ns(&mut array), 0);
    }
}

#[test]
fn writes_behind_a_flush_are_reported_after_it_and_all_of_them_end() {
    let mut array = built(&buffering(array("raid0", 2), 1 << 18), 1);
    let span = array.sectors();
    let mut writes = random(4, 16, 30, span);
    let next = move |number: u64| match number % 5 {
        0 => Request { op: Op::Flush, lba: 0, sectors: 0 },
        _ => writes(number),
    };
    let seen = closed(&mut array, 16, (0, 2000), Box::new(next));
    assert_eq!(seen.times.len(), 2000);
    flush_ns(&mut array);
    assert_eq!((flush_ns(&mut array), array.under_way()), (0, 0));
}
