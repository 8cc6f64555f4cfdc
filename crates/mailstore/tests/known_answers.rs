//! What can be said of a store without running it, held against what it does; and the ratios of a store of 2003.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;

use plimsoll_workload::Op;
use plimsoll_workload::director::Asked;
use serde_json::{Value, json};
use support::{disks, run};

const SECOND_NS: u64 = 1_000_000_000;
const GIB: u64 = 1 << 30;
/// Lanes, as `Role` numbers them.
const READS: u32 = 0;
const WRITES: u32 = 1;
const LOG: u32 = 2;
const SWEEP: u32 = 3;
const REPLICATION: u32 = 4;

fn store(changes: &Value) -> Value {
    let mut document = json!({ "driver": "mailstore", "threads": 1 });
    document.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    document
}

/// One thread waits for each of its hard commits alone: every one is a block, and nothing else is, with a buffer that never fills.
#[test]
fn one_thread_writes_one_block_of_the_log_for_each_hard_commit() {
    let only_replace = json!({ "insert_percent": 0, "delete_percent": 0, "replace_percent": 100, "seek_percent": 0,
                               "log_buffer": "1MiB" });
    for (lazy_percent, changes_per_block) in [(0, 1.0), (50, 2.0), (90, 10.0)] {
        let mut changes = only_replace.clone();
        changes["lazy_commit_percent"] = json!(lazy_percent);
        let ran = run(&store(&changes), 4 * GIB, 120 * SECOND_NS, disks);
        let counts = ran.counts;
        // Beside those, the last of a file when nothing more fits into it.
        assert!(counts.log_blocks.abs_diff(counts.hard_commits) <= 1 + counts.log_files, "{counts:?}");
        let per_block = counts.all_operations() as f64 / counts.log_blocks as f64;
        assert!((per_block / changes_per_block - 1.0).abs() < 0.05, "{lazy_percent} %: {per_block} changes per block");
    }
}

/// A record of 1,000 bytes replaced to 60 % is 664 bytes with its header; a block has a header of 40 and fills whole sectors.
#[test]
fn a_block_of_one_replaced_record_is_1024_bytes() {
    let changes = json!({
        "insert_percent": 0, "delete_percent": 0, "replace_percent": 100, "seek_percent": 0, "lazy_commit_percent": 0,
    });
    let ran = run(&store(&changes), 4 * GIB, 20 * SECOND_NS, disks);
    let blocks: Vec<&Asked> = ran.on(LOG).filter(|asked| asked.len != 512).collect();
    // The last of a file takes what is left of it.
    let padded = blocks.iter().filter(|asked| asked.len != 1024).count();
    assert!(blocks.len() > 1000 && padded <= 2, "{padded} of {}", blocks.len());
}

/// With many threads, those that commit while a block is on its way share the next.
#[test]
fn many_threads_share_the_blocks_of_the_log() {
    let changes = |threads: u32| {
        store(&json!({ "threads": threads, "lazy_commit_percent": 0, "insert_percent": 0, "delete_percent": 0,
                       "replace_percent": 100, "seek_percent": 0 }))
    };
    // A block takes as long as a page: every thread that is ready meanwhile goes along.
    let slow_log = |_: &Asked| 5_000_000;
    let alone = run(&changes(1), 4 * GIB, 60 * SECOND_NS, slow_log).counts;
    let together = run(&changes(64), 4 * GIB, 60 * SECOND_NS, slow_log).counts;
    assert!((alone.hard_commits as f64 / alone.log_blocks as f64 - 1.0).abs() < 0.01, "{alone:?}");
    let shared = together.hard_commits as f64 / together.log_blocks as f64;
    assert!(shared > 20.0, "{shared} commits of 64 threads share a block");
    // Never two blocks at once: 60 s hold 12,000 of 5 ms.
    assert!(together.log_blocks <= 12_000, "{together:?}");
}

/// Every page is saved before the log has gone the depth beyond its oldest change, as long as the target keeps up.
#[test]
fn pages_are_written_when_their_oldest_change_lies_the_checkpoint_depth_back() {
    for depth in [2_u64 << 20, 8 << 20] {
        let document =
            store(&json!({ "threads": 8, "checkpoint_depth": depth, "log_file_size": "1MiB", "log_files": 64,
                                     "cache_size": "256MiB" }));
        let ran = run(&document, 4 * GIB, 120 * SECOND_NS, disks);
        // A checkpoint is written whenever it has moved by an eighth of the depth.
        let moved = ran.counts.log_bytes as f64 / (depth / 8) as f64;
        let written = ran.counts.checkpoints as f64;
        assert!((written / moved - 1.0).abs() < 0.15, "depth {depth}: {written} checkpoints, {moved} eighths");
        assert!(
            ran.counts.evictions * 20 < ran.counts.page_writes,
            "the checkpoint writes pages, not the cache: {:?}",
            ran.counts
        );
    }
}

/// The deeper the checkpoint, the more changes one write of a page saves.
#[test]
fn a_deeper_checkpoint_saves_page_writes() {
    let writes = |depth: u64| {
        let document =
            store(&json!({ "threads": 8, "checkpoint_depth": depth, "log_file_size": "1MiB", "cache_size": "128MiB" }));
        let counts = run(&document, 4 * GIB, 60 * SECOND_NS, disks).counts;
        counts.pages_written as f64 / counts.modifying() as f64
    };
    let (shallow, deep) = (writes(1 << 20), writes(32 << 20));
    assert!(deep < 0.8 * shallow, "{deep} pages per change against {shallow}");
}

/// Health targets of a tuned store of 2003 (learn.microsoft.com/archive/blogs/hmlee): reads to writes 3:2 to 2:1, database to log
/// transfers 8:1 to 12:1, log writes of 6 to 8 KB.
#[test]
fn a_store_of_2003_has_the_ratios_of_a_tuned_one() {
    for (size_bytes, threads) in [(4 * GIB, 4), (32 * GIB, 8), (100 * GIB, 16), (290 * GIB, 32)] {
        let ran = run(&store(&json!({ "threads": threads })), size_bytes, 60 * SECOND_NS, disks);
        let (counts, reads) = (&ran.counts, ran.on(READS).count() as f64);
        let (writes, blocks) = (counts.page_writes as f64, counts.log_blocks as f64);
        let what = format!("{} GiB, {threads} threads: {counts:?}", size_bytes / GIB);
        assert!((1.5..=2.0).contains(&(reads / writes)), "{} reads per write; {what}", reads / writes);
        assert!(
            (8.0..=12.0).contains(&((reads + writes) / blocks)),
            "{} per log write; {what}",
            (reads + writes) / blocks
        );
        let block_bytes = counts.log_bytes as f64 / blocks;
        assert!((6_000.0..=8_192.0).contains(&block_bytes), "{block_bytes} bytes; {what}");
    }
}

/// What a failed write leaves on the target is not known, so nothing that waited for it may be told as done.
#[test]
fn a_database_whose_write_fails_asks_for_nothing_more_and_commits_nothing() {
    use plimsoll_workload::director::{Answer, Director};
    let document = store(&json!({ "threads": 4, "lazy_commit_percent": 0 }));
    let mut failing = support::store(&document, GIB, 60 * SECOND_NS);
    let mut asks = Vec::new();
    failing.begin(0, &mut asks);
    let mut now_ns = 0;
    let block = loop {
        now_ns = now_ns.max(failing.due_ns().min(now_ns + 1_000));
        failing.wake(now_ns, &mut asks);
        if let Some(block) = asks.iter().find(|asked| asked.lane == LOG) {
            break *block;
        }
        for asked in std::mem::take(&mut asks) {
            now_ns += 1_000;
            failing.answered(Answer { token: asked.token, now_ns, failed: false, bytes: None }, &mut asks);
        }
    };
    let committed = failing.counts();
    asks.clear();
    failing.answered(Answer { token: block.token, now_ns: now_ns + 1, failed: true, bytes: None }, &mut asks);
    assert!(failing.is_over() && asks.is_empty());
    assert_eq!(failing.counts().all_operations(), committed.all_operations());
    assert_eq!(failing.counts().log_blocks, committed.log_blocks);
}

#[test]
fn equal_seeds_give_equal_requests_and_other_threads_others() {
    let document = store(&json!({ "threads": 8, "copies": 1, "maintenance": "5MB" }));
    let (one, other) = (run(&document, 2 * GIB, 5 * SECOND_NS, disks), run(&document, 2 * GIB, 5 * SECOND_NS, disks));
    assert!(one.asked.len() > 5_000 && one.asked == other.asked);
    assert_eq!(one.report, other.report);
    let third = run(&store(&json!({ "threads": 9, "copies": 1, "maintenance": "5MB" })), 2 * GIB, 5 * SECOND_NS, disks);
    assert!(one.asked != third.asked);
}

#[test]
fn no_page_is_asked_for_twice_at_once_and_none_is_written_while_it_is_on_its_way() {
    let document = store(&json!({ "threads": 64, "cache_size": "2MiB", "writes_outstanding": 16 }));
    let workload = plimsoll_mailstore::MailstoreWorkload::from_json(&document, "t").unwrap();
    assert!(workload.resolve(plimsoll_workload::TargetShape { size_bytes: GIB, block_bytes: 512 }, 1, &[]).is_ok());
    let ran = run(&document, GIB, 20 * SECOND_NS, |asked| 1_000_000 + asked.offset % 7_919 * 1_000);
    let mut busy: Vec<(u64, u64, u64)> = Vec::new();
    let mut reads = 0;
    for (at_ns, asked) in ran.asked.iter().filter(|(_, asked)| asked.lane == READS || asked.lane == WRITES) {
        busy.retain(|(_, _, until_ns)| until_ns > at_ns);
        let (start, end) = (asked.offset, asked.offset + u64::from(asked.len));
        assert!(busy.iter().all(|(from, to, _)| *to <= start || end <= *from), "{asked:?} at {at_ns}");
        busy.push((start, end, at_ns + 1_000_000 + asked.offset % 7_919 * 1_000));
        reads += u64::from(asked.op == Op::Read);
    }
    assert!(reads > 10_000 && ran.counts.evictions > 10 && ran.counts.cache_waits > 100, "{:?}", ran.counts);
}

#[test]
fn maintenance_reads_the_database_through_at_its_rate_and_no_faster() {
    let ran = run(&store(&json!({ "maintenance": 5_000_000 })), 4 * GIB, 60 * SECOND_NS, disks);
    let offsets: Vec<u64> = ran.on(SWEEP).map(|asked| asked.offset).collect();
    let bytes: u64 = ran.on(SWEEP).map(|asked| u64::from(asked.len)).sum();
    assert!(offsets.windows(2).all(|pair| pair[1] == pair[0] + 262_144));
    let per_s = bytes as f64 / 60.0;
    assert!((per_s / 5e6 - 1.0).abs() < 0.01, "{per_s} B/s");
}

#[test]
fn every_closed_file_of_the_log_is_read_once_for_each_copy() {
    let ran =
        run(&store(&json!({ "threads": 16, "copies": 2, "log_file_size": "1MiB" })), 4 * GIB, 60 * SECOND_NS, disks);
    let read: u64 = ran.on(REPLICATION).map(|asked| u64::from(asked.len)).sum();
    let closed = ran.counts.log_files * (1 << 20) * 2;
    assert!(ran.counts.log_files > 50 && closed.abs_diff(read) <= 4 << 20, "{read} read, {closed} closed");
}

#[test]
fn a_paced_load_keeps_its_rate() {
    let ran = run(&store(&json!({ "threads": 16, "rate": 200 })), 4 * GIB, 60 * SECOND_NS, disks);
    let per_s = ran.counts.all_operations() as f64 / 60.0;
    assert!((per_s / 200.0 - 1.0).abs() < 0.01, "{per_s} operations per second");
}

#[test]
fn a_backup_reads_every_page_once_and_ends() {
    let ran = run(&store(&json!({ "test": "backup", "maintenance": "1GB" })), GIB, 60 * SECOND_NS, disks);
    let bytes: u64 = ran.on(SWEEP).map(|asked| u64::from(asked.len)).sum();
    let distinct: BTreeSet<u64> = ran.on(SWEEP).map(|asked| asked.offset).collect();
    assert_eq!(distinct.len(), ran.on(SWEEP).count());
    assert_eq!(ran.asked.len(), distinct.len(), "nothing else is asked for");
    assert_eq!(json!(bytes), ran.report["final_bytes"]);
}
