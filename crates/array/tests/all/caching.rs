//! Caches: when a write is answered, what happens when nothing has room, read-ahead, pages of the host; and the RAID work behind.

#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::*;
use plimsoll_array::{Array, Request};
use plimsoll_workload::Op;
use serde_json::json;

/// Mean response of the first `count` random writes, one at a time.
fn write_ns(array: &mut Array, count: u64) -> f64 {
    let span = array.sectors();
    closed(array, 1, (0, count), random(7, 16, 0, span)).mean_ns()
}

#[test]
fn a_write_is_answered_when_it_is_in_the_cache_and_not_when_it_is_on_a_disk() {
    let mut document = cached("raid5", 4, 4096);
    document["controller"][0]["request_ns"] = json!(10_000);
    document["link"] = json!([{ "name": "bus", "rate_bytes_per_s": 100_000_000 }]);
    document["volumes"][0]["links"] = json!(["bus"]);
    let in_cache_ns = 10_000.0 + 8192.0 * 10.0;
    let mean_ns = write_ns(&mut built(&document, 1), 500);
    assert!((mean_ns - in_cache_ns).abs() < 2.0, "{mean_ns}");

    document["controller"][0]["cache"]["battery"] = json!(false);
    let without_battery_ns = write_ns(&mut built(&document, 1), 500);
    assert!(without_battery_ns > 100.0 * in_cache_ns, "{without_battery_ns}");
    document["controller"][0]["cache"]["write_cache"] = json!("forced_on");
    assert!((write_ns(&mut built(&document, 1), 500) - in_cache_ns).abs() < 2.0);
    document["controller"][0]["cache"]["write_cache"] = json!("off");
    document["controller"][0]["cache"]["battery"] = json!(true);
    assert_eq!(write_ns(&mut built(&document, 1), 500), without_battery_ns);
}

#[test]
fn a_mirrored_cache_costs_a_second_transfer_and_half_of_the_room() {
    let mut document = cached("raid5", 4, 128);
    document["link"] = json!([{ "name": "mirror", "rate_bytes_per_s": 100_000_000 }]);
    let room = |document: &serde_json::Value| {
        // Writes are fast until nothing has room any more.
        let mut array = built(document, 1);
        let span = array.sectors();
        let seen = closed(&mut array, 1, (0, 200), random(7, 32, 0, span));
        seen.times.iter().take_while(|(begin, end)| end - begin < MS).count()
    };
    let alone = room(&document);
    document["controller"][0]["cache"]["mirror_link"] = json!("mirror");
    let mirrored = room(&document);
    assert!((60..=70).contains(&mirrored) && (124..=136).contains(&alone), "{alone} alone, {mirrored} mirrored");
    let first_ns = write_ns(&mut built(&document, 1), 1);
    assert!((first_ns - 81_920.0).abs() < 2.0, "{first_ns}");
}

#[test]
fn two_controllers_copy_to_each_other_at_the_rate_of_each_direction_of_their_link() {
    let mut document = cached("raid0", 4, 8192);
    document["controller"].as_array_mut().unwrap().push(json!({ "name": "b", "cache": { "size_bytes": 8192 << 14 } }));
    for controller in 0..2 {
        document["controller"][controller]["cache"]["mirror_link"] = json!("mirror");
    }
    document["group"] = json!([
        { "name": "g", "controller": "a", "members": ["disk[0-1]"], "raid": { "level": "raid0", "devices": 2 } },
        { "name": "h", "controller": "b", "members": ["disk[2-3]"], "raid": { "level": "raid0", "devices": 2 } },
    ]);
    document["volumes"][0]["groups"] = json!(["g", "h"]);
    // 20 MB written, half by each controller; their caches have room for all of it.
    let rate = |duplex: &str| {
        let mut document = document.clone();
        document["link"] = json!([{ "name": "mirror", "rate_bytes_per_s": 50_000_000, "duplex": duplex }]);
        let mut array = built(&document, 1);
        let half = array.sectors() / 2;
        let seen = closed(&mut array, 8, (0, 500), sequential(Op::Write, 80, vec![0, half]));
        seen.per_s() * 40_960.0
    };
    let (full, half) = (rate("full"), rate("half"));
    assert!((full / 100e6 - 1.0).abs() < 0.01, "{full} bytes/s over two directions of 50 MB/s");
    assert!((half / 50e6 - 1.0).abs() < 0.01, "{half} bytes/s over one wire of 50 MB/s");
}

#[test]
fn what_is_written_passes_the_memory_of_its_controller_going_in_and_for_every_device_going_out() {
    // 30 MB/s of memory, far below what the disks can take.
    let rate = |level: &str, op: Op| {
        let mut document = cached(level, 4, 128);
        document["link"] = json!([{ "name": "memory", "rate_bytes_per_s": 30_000_000, "duplex": "half" }]);
        document["controller"][0]["cache"]["memory_link"] = json!("memory");
        let mut array = built(&document, 1);
        closed(&mut array, 8, (0, 500), sequential(op, 256, vec![0]));
        closed(&mut array, 8, (500, 500), sequential(op, 256, vec![0])).per_s() * 131_072.0
    };
    for (level, passes) in [("raid0", 2.0), ("raid10", 3.0)] {
        let written = rate(level, Op::Write);
        assert!((written * passes / 30e6 - 1.0).abs() < 0.02, "{level}: {written} bytes/s pass {passes} times");
        assert!(rate(level, Op::Read) > 60e6, "{level}: what is read does not stay in it");
    }
    let mut document = cached("raid5", 4, 4096);
    document["link"] = json!([{ "name": "memory", "rate_bytes_per_s": 100_000_000, "duplex": "half" }]);
    document["controller"][0]["cache"]["memory_link"] = json!("memory");
    let first_ns = write_ns(&mut built(&document, 1), 1);
    assert!((first_ns - 81_920.0).abs() < 2.0, "{first_ns}");
}

#[test]
fn a_full_cache_writes_as_fast_as_it_destages() {
    // Sustained random writes: the cache answers at the rate at which disks take its destages, above that without it.
    let document = cached("raid0", 4, 2048);
    let mut array = built(&document, 1);
    let span = array.sectors();
    closed(&mut array, 16, (0, 4000), random(7, 32, 0, span));
    let before = operations(&array, "disk");
    let seen = closed(&mut array, 16, (4000, 4000), random(7, 32, 0, span));
    let destaged = operations(&array, "disk") - before;
    let ratio = destaged as f64 / 4000.0;
    assert!((0.95..1.05).contains(&ratio), "{destaged} destages for 4000 writes");
    let mut plain = built(&support::array("raid0", 4), 1);
    let uncached = closed(&mut plain, 16, (0, 4000), random(7, 32, 0, span)).per_s();
    assert!(seen.per_s() > 1.2 * uncached, "ordered by address {}, as they come {uncached}", seen.per_s());
}

#[test]
fn everything_is_destaged_after_a_pause() {
    let mut document = cached("raid1", 2, 1024);
    document["controller"][0]["cache"]["idle_ns"] = json!(20_000_000);
    let mut array = built(&document, 1);
    write_ns(&mut array, 50);
    assert_eq!(operations(&array, "disk"), 0, "too little to destage without a pause");
    array.run_until(array.now_ns() + 19 * MS, &mut Vec::new());
    assert_eq!(operations(&array, "disk"), 0);
    array.run_until(array.now_ns() + 10 * SECOND, &mut Vec::new());
    assert_eq!(operations(&array, "disk"), 100, "each of 50 writes goes to both copies");
}

#[test]
fn small_writes_of_parity_raid_cost_four_and_six_commands_and_full_stripes_none_more_than_they_hold() {
    for (level, disks, commands) in [("raid0", 4, 1), ("raid10", 4, 2), ("raid5", 5, 4), ("raid6", 8, 6)] {
        let mut array = built(&array(level, disks), 1);
        let span = array.sectors();
        closed(&mut array, 1, (0, 200), random(7, 8, 0, span));
        assert_eq!(operations(&array, "disk"), 200 * commands, "{level}");
    }
    // Four strips of 128 sectors and their parity: five writes, no read.
    let mut array = built(&array("raid5", 5), 1);
    closed(&mut array, 1, (0, 50), sequential(Op::Write, 512, vec![0]));
    assert_eq!(operations(&array, "disk"), 50 * 5);
}

#[test]
fn sequential_small_writes_are_destaged_as_full_stripes() {
    let mut array = built(&cached("raid5", 5, 1024), 1);
    // 64 MiB in 8 KiB: 256 rows of 256 KiB.
    closed(&mut array, 4, (0, 8192), sequential(Op::Write, 16, vec![0]));
    array.run_until(array.now_ns() + 10 * SECOND, &mut Vec::new());
    let commands = operations(&array, "disk");
    assert!(commands <= 256 * 5, "{commands} commands for at most 256 rows of five");
}

#[test]
fn reads_of_what_was_read_or_written_are_answered_by_the_cache() {
    let mut array = built(&cached("raid5", 4, 4096), 1);
    closed(&mut array, 4, (0, 300), random(7, 16, 50, 1 << 20));
    let before = operations(&array, "disk");
    let again = closed(&mut array, 4, (0, 300), random(7, 16, 100, 1 << 20));
    assert_eq!(operations(&array, "disk"), before);
    assert_eq!(again.end_ns, again.begin_ns, "nothing of this array takes time but its disks");
}

#[test]
fn sequential_reads_run_at_the_rate_of_the_disks() {
    let mut document = cached("raid0", 4, 4096);
    document["controller"][0]["read_ahead"] = json!({ "initial_bytes": 1 << 18, "max_bytes": 1 << 20 });
    let mut array = built(&document, 1);
    let rate = closed(&mut array, 1, (0, 8000), sequential(Op::Read, 16, vec![0])).per_s() * 8192.0;
    assert!(rate > 0.85 * 4.0 * 90e6, "{rate} bytes/s of four disks at 90 MB/s");
}

#[test]
fn the_host_answers_from_its_pages_and_pays_for_each() {
    let mut document = array("raid0", 2);
    document["host"] = json!({
        "mode": "buffered", "request_ns": 3000, "page_ns": 5000, "page_cache": { "size_bytes": 64 << 20 },
    });
    let mut array = built(&document, 1);
    let seen = closed(&mut array, 1, (0, 100), random(7, 32, 100, 1 << 14));
    assert!(seen.mean_ns() > 1e6);
    let again = closed(&mut array, 1, (0, 100), random(7, 32, 100, 1 << 14));
    assert_eq!(again.mean_ns(), 3000.0 + 4.0 * 5000.0);
    // 16 at once share one processor: the pages are the bottleneck.
    let many = closed(&mut array, 16, (0, 100), random(7, 32, 100, 1 << 14));
    assert!((many.per_s() - 1e9 / 23_000.0).abs() < 500.0, "{}", many.per_s());
}

#[test]
fn buffered_writes_are_done_in_memory_until_too_much_is_dirty_and_a_flush_waits_for_all() {
    let mut document = array("raid0", 2);
    document["host"] = json!({
        "mode": "buffered", "page_cache": { "size_bytes": 16 << 20, "dirty_background_percent": 10, "dirty_percent": 20 },
    });
    let mut array = built(&document, 1);
    // 20 % of 4096 pages, in requests of two pages.
    let seen = closed(&mut array, 1, (0, 600), random(7, 16, 0, 1 << 24));
    let at_once = seen.times.iter().take_while(|(begin, end)| begin == end).count();
    assert!((405..=450).contains(&at_once), "{at_once}");
    let mut done = Vec::new();
    let now_ns = array.now_ns();
    array.submit(now_ns, 0, Request { op: Op::Flush, lba: 0, sectors: 0 });
    array.run_until(u64::MAX, &mut done);
    assert!(done[0].completed_ns > now_ns + 100 * MS, "hundreds of writes in order of address take a while");
    assert_eq!(array.under_way(), 0);
}

/// What a flush at a buffered host is tried with: pages of 4 KiB, nothing written out before a flush asks for it.
fn flushed() -> Array {
    let pages = json!({
        "size_bytes": 64 << 20, "dirty_background_percent": 100, "dirty_percent": 100, "idle_ns": 0, "writes_max": 4,
    });
    built(&buffered(pages), 1)
}

/// Writes one page at each of so many places, each in a stretch of its own that is written out at once.
fn dirty(array: &mut Array, places: std::ops::Range<u64>) {
    let count = places.end - places.start;
    let next = Box::new(move |number| Request { op: Op::Write, lba: (places.start + number) * 1024, sectors: 8 });
    closed(array, 1, (0, count), next);
}

const FLUSH: Request = Request { op: Op::Flush, lba: 0, sectors: 0 };

#[test]
fn a_flush_waits_for_what_is_dirty_when_it_comes_and_not_for_what_becomes_dirty_later() {
    let mut array = flushed();
    dirty(&mut array, 100..200);
    assert_eq!(operations(&array, "disk"), 0);
    let now_ns = array.now_ns();
    array.submit(now_ns, 1000, FLUSH);
    let mut done = Vec::new();
    array.run_until(now_ns + 50 * MS, &mut done);
    assert!(done.is_empty(), "100 writes are not done in 50 ms");
    // Beside it, others before and behind, and again the first of what it waits for.
    dirty(&mut array, 0..100);
    dirty(&mut array, 200..400);
    dirty(&mut array, 100..101);
    array.run_until(u64::MAX, &mut done);
    assert_eq!((done.len(), done[0].token), (1, 1000));
    assert_eq!(operations(&array, "disk"), 100, "what was dirty, and nothing else");
    array.run_until(array.now_ns() + 10 * SECOND, &mut Vec::new());
    assert_eq!(operations(&array, "disk"), 100, "nobody has asked for the rest");
    done.clear();
    array.submit(array.now_ns(), 1000, FLUSH);
    array.run_until(u64::MAX, &mut done);
    assert_eq!(operations(&array, "disk"), 100 + 301);
}

#[test]
fn a_flush_waits_for_a_page_that_was_written_again_while_it_was_on_its_way() {
    let mut array = flushed();
    dirty(&mut array, 0..1);
    let now_ns = array.now_ns();
    array.submit(now_ns, 1000, FLUSH);
    array.run_until(now_ns + 10_000, &mut Vec::new());
    dirty(&mut array, 0..1);
    let now_ns = array.now_ns();
    array.submit(now_ns, 1001, FLUSH);
    let mut done = Vec::new();
    array.run_until(u64::MAX, &mut done);
    assert_eq!((done[0].token, operations(&array, "disk")), (1000, 1));
    done.clear();
    array.run_until(u64::MAX, &mut done);
    assert_eq!((done[0].token, operations(&array, "disk")), (1001, 2));
}

#[test]
fn a_stream_that_flushes_after_every_write_goes_on_beside_random_and_sequential_writers() {
    let pages = json!({ "size_bytes": 16 << 20 });
    let mut array = built(&buffered(pages), 1);
    let half = array.sectors() / 2;
    let mut others = random(7, 8, 0, half);
    let (mut number, mut own, mut behind, mut ended_own, mut done) = (0, 0, half, 0, Vec::new());
    let mut ask = |array: &mut Array, token: u32| {
        number += 1;
        let request = match token {
            0 => {
                own += 1;
                if own % 2 == 0 { FLUSH } else { Request { op: Op::Write, lba: own * 1024, sectors: 8 } }
            }
            1 => {
                behind += 2048;
                Request { op: Op::Write, lba: behind, sectors: 2048 }
            }
            _ => others(number),
        };
        array.submit(array.now_ns(), token, request);
    };
    (0..8).for_each(|token| ask(&mut array, token));
    while array.now_ns() < 60 * SECOND {
        done.clear();
        array.run_until(u64::MAX, &mut done);
        for ended in &done {
            ended_own += u32::from(ended.token == 0);
            ask(&mut array, ended.token);
        }
    }
    // A write and a flush in turn.
    let flushes = ended_own / 2;
    assert!(flushes >= 20, "{flushes} flushes in a minute");
}

/// A host with a page cache over two disks.
fn buffered(pages: serde_json::Value) -> serde_json::Value {
    let mut document = array("raid0", 2);
    document["host"] = json!({ "mode": "buffered", "request_ns": 3000, "page_cache": pages });
    document
}

/// Reads of `sectors` at a hundred places that are not near to each other.
fn scattered(sectors: u32) -> Next<'static> {
    Box::new(move |number| Request { op: Op::Read, lba: number * 7919 % 1000 * 1024, sectors })
}

#[test]
fn only_pages_that_are_moved_cost_what_moving_costs() {
    let mut array = built(&buffered(json!({ "size_bytes": 64 << 20, "moved_page_ns": 500_000 })), 1);
    let busy_ns = |array: &Array| array.readings()[0].account.busy_ns;
    assert_eq!(array.components()[0].kind, "host");
    closed(&mut array, 1, (0, 100), scattered(32));
    // A hundred requests of four pages of 4 KiB each.
    assert_eq!(busy_ns(&array), 100 * (3000 + 4 * 500_000));
    let again = closed(&mut array, 1, (0, 100), scattered(32));
    assert_eq!(again.mean_ns(), 3000.0);
    assert_eq!(busy_ns(&array), 100 * (3000 + 4 * 500_000) + 100 * 3000);
}

#[test]
fn a_read_is_fetched_in_pieces_that_grow_and_wait_for_each_other() {
    // 64 KiB in pieces of 8 KiB; of 8, 16, 32 and 8; of 8, 32 and 24; of 8 and 56.
    for (growth, pieces) in [(1, 8), (2, 4), (4, 3), (8, 2)] {
        let pages = json!({ "size_bytes": 64 << 20, "first_fetch_bytes": 8192, "fetch_growth": growth });
        let mut document = buffered(pages);
        document["group"][0]["raid"]["strip_sectors"] = json!(1024);
        let mut array = built(&document, 1);
        closed(&mut array, 1, (0, 100), scattered(128));
        assert_eq!(operations(&array, "disk"), 100 * pieces, "growth {growth}");

        let mut done = Vec::new();
        let began_ns = array.now_ns();
        array.submit(began_ns, 0, Request { op: Op::Read, lba: 8_000_000, sectors: 128 });
        let mut most = 0;
        while done.is_empty() {
            let until_ns = array.now_ns() + 10_000;
            array.run_until(until_ns, &mut done);
            most = most.max(array.under_way());
        }
        // The request, its fetch, and of one piece at a time a job and its command.
        assert_eq!(most, 4, "growth {growth}");
        assert_eq!(array.under_way(), 0);
    }
}

#[test]
fn a_page_cache_that_begins_warm_answers_its_share_at_once() {
    // A quarter of 16 MiB, in blocks of 16 KiB.
    let pages = json!({ "size_bytes": 4 << 20, "warm_range_bytes": 16 << 20, "warm_block_bytes": 16_384 });
    let mut warm = built(&buffered(pages), 1);
    let seen = closed(&mut warm, 1, (0, 4000), random(7, 32, 100, 1 << 15));
    let hits = |times: &[(u64, u64)]| {
        times.iter().filter(|(begin, end)| end - begin == 3000).count() as f64 / times.len() as f64
    };
    let (first, last) = (hits(&seen.times[..1000]), hits(&seen.times[3000..]));
    assert!((first - 0.25).abs() < 0.04 && (last - 0.25).abs() < 0.04, "{first} at first, {last} in the end");
}

/// Reads of as many pages as a cache has, all under way, and behind them a write: when each ends.
fn write_behind_reads(document: &serde_json::Value, page_sectors: u32) -> Vec<(u32, u64)> {
    let mut array = built(document, 1);
    for token in 0..8 {
        let lba = u64::from(token) * 100_000;
        array.submit(0, token, Request { op: Op::Read, lba, sectors: page_sectors });
    }
    array.submit(1000, 8, Request { op: Op::Write, lba: 5_000_000, sectors: page_sectors });
    let mut done = Vec::new();
    while array.next_ns().is_some() {
        array.run_until(u64::MAX, &mut done);
    }
    assert_eq!(array.under_way(), 0);
    done.iter().map(|ended| (ended.token, ended.completed_ns)).collect()
}

#[test]
fn a_write_that_waits_for_pages_that_are_fetched_enters_when_the_first_fetch_has_ended() {
    let pages = json!({ "size_bytes": 8 * 4096, "dirty_background_percent": 100, "dirty_percent": 100 });
    for (document, page_sectors) in [(cached("raid0", 2, 8), 32), (buffered(pages), 8)] {
        let ended = write_behind_reads(&document, page_sectors);
        let end_ns = |token: u32| ended.iter().find(|(found, _)| *found == token).map(|(_, end_ns)| *end_ns);
        assert_eq!(ended.len(), 9, "{ended:?}");
        assert_eq!(end_ns(8), (0..8).filter_map(end_ns).min(), "{ended:?}");
    }
}
