//! Stores that are killed at any instant, and recoveries that find everything that was acknowledged; and storage that lies, which they find out.

#![allow(clippy::unwrap_used)]

mod support;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_mailstore::{Acknowledged, MailstoreWorkload, Recovery};
use plimsoll_workload::director::{Answer, Asked, Director};
use plimsoll_workload::rng::drawn;
use plimsoll_workload::{Op, TargetShape};
use serde_json::{Value, json};

const SIZE: u64 = 24 << 20;
const LOG: u32 = 2;
const WRITES: u32 = 1;

/// Remembers beyond a kill.
#[derive(Clone, Default)]
struct Memory(Arc<AtomicU64>);

impl Acknowledged for Memory {
    fn acknowledge(&mut self, commits: u64) -> Result<(), String> {
        self.0.store(commits, Ordering::Relaxed);
        Ok(())
    }
}

/// What becomes of a write that was told as done; `lies` says whether it is forgotten.
type Lies<'a> = &'a dyn Fn(&Asked, u64) -> bool;

fn document() -> Value {
    json!({ "driver": "mailstore", "threads": 6, "cache_size": "2MiB", "checkpoint_depth": "256KiB", "log_file_size": "128KiB",
            "log_buffer": "32KiB", "lazy_commit_percent": 60, "mailboxes": 40, "writes_outstanding": 8, "coalesce": "16KiB" })
}

/// A target in memory.
struct Disk {
    bytes: Vec<u8>,
    seed: u64,
}

impl Disk {
    fn new(seed: u64) -> Self {
        Self { bytes: vec![0; SIZE as usize], seed }
    }

    fn put(&mut self, asked: &Asked, bytes: &[u8]) {
        self.bytes[asked.offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn got(&self, asked: &Asked) -> &[u8] {
        &self.bytes[asked.offset as usize..][..asked.len as usize]
    }

    /// Lets a director run until `end` requests have come back, or it is over; then it is killed: of what is on its way, some arrives.
    fn run(&mut self, director: &mut dyn Director, end: u64, lies: Lies<'_>) {
        let (mut asks, mut heap, mut now_ns, mut number, mut done) = (Vec::new(), BinaryHeap::new(), 0, 0_u64, 0);
        let mut flying = std::collections::BTreeMap::new();
        director.begin(0, &mut asks);
        loop {
            for asked in std::mem::take(&mut asks) {
                let mut bytes = vec![0x77; asked.len as usize];
                if asked.op == Op::Write {
                    director.fill(asked.token, &mut bytes);
                }
                let service_ns = 100_000 + drawn(self.seed, number) % 3_000_000;
                heap.push(Reverse((now_ns + service_ns, number)));
                flying.insert(number, (asked, bytes));
                number += 1;
            }
            if director.is_over() || done == end {
                break;
            }
            let answered_ns = heap.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns);
            now_ns = answered_ns.min(director.due_ns().max(now_ns));
            if answered_ns <= now_ns {
                let Reverse((_, place)) = heap.pop().unwrap();
                let (asked, bytes) = flying.remove(&place).unwrap();
                if asked.op == Op::Write && !lies(&asked, place) {
                    self.put(&asked, &bytes);
                }
                done += 1;
                let read = if asked.op == Op::Read { self.got(&asked).to_vec() } else { Vec::new() };
                director.answered(Answer { token: asked.token, now_ns, failed: false, bytes: Some(&read) }, &mut asks);
            } else {
                director.wake(now_ns, &mut asks);
            }
        }
        for (place, (asked, bytes)) in flying {
            // A kill leaves a request whole, or none of it.
            if asked.op == Op::Write && drawn(self.seed ^ 1, place).is_multiple_of(2) {
                self.put(&asked, &bytes);
            }
        }
    }
}

fn lives(disk: &mut Disk, life: u64, requests: u64, lies: Lies<'_>) -> u64 {
    let memory = Memory::default();
    let mut store = support::store(&document(), SIZE, 3_600_000_000_000).living(life, Some(Box::new(memory.clone())));
    disk.run(&mut store, requests, lies);
    memory.0.load(Ordering::Relaxed)
}

fn recovered(disk: &mut Disk, acknowledged: u64) -> Value {
    let mut changed = document();
    changed["test"] = json!("recovery");
    recovered_as(disk, acknowledged, &changed)
}

fn recovered_as(disk: &mut Disk, acknowledged: u64, document: &Value) -> Value {
    let workload = MailstoreWorkload::from_json(document, "t").unwrap();
    let plan = workload.resolve(TargetShape { size_bytes: SIZE, block_bytes: 512 }, 1, &[]).unwrap();
    let mut recovery = Recovery::new(&plan.databases[0], Some(acknowledged));
    disk.run(&mut recovery, u64::MAX, &|_, _| false);
    recovery.report()["recovery"].clone()
}

fn is_clean(found: &Value) -> bool {
    ["commits_lost", "pages_lost", "pages_ahead", "pages_damaged", "gaps"].iter().all(|key| found[key] == 0)
        && found["failure"].is_null()
}

#[test]
fn whenever_a_store_is_killed_every_acknowledged_commit_is_found() {
    let (mut redone, mut beyond) = (0, 0);
    for seed in 0..60 {
        let mut disk = Disk::new(seed);
        let acknowledged = lives(&mut disk, 5, 300 + seed * 97, &|_, _| false);
        assert!(acknowledged > 20, "seed {seed}: {acknowledged}");
        let found = recovered(&mut disk, acknowledged);
        assert!(is_clean(&found), "seed {seed}: {found}");
        redone += found["changes_redone"].as_u64().unwrap();
        beyond += found["commits_found"].as_u64().unwrap() - acknowledged;
    }
    assert!(redone > 5_000, "there was something to redo: {redone}");
    assert!(beyond > 0, "some blocks had arrived and were not told yet");
}

#[test]
fn a_recovery_that_is_done_again_has_nothing_left_to_do() {
    let mut disk = Disk::new(3);
    let acknowledged = lives(&mut disk, 5, 3_000, &|_, _| false);
    let first = recovered(&mut disk, acknowledged);
    assert!(first["pages_redone"].as_u64().unwrap() > 50, "{first}");
    let again = recovered(&mut disk, acknowledged);
    assert!(is_clean(&again), "{again}");
    assert_eq!((&again["pages_redone"], &again["commits_found"]), (&json!(0), &first["commits_found"]));
}

#[test]
fn a_recovery_that_is_killed_itself_is_made_up_for_by_the_next() {
    let mut disk = Disk::new(9);
    let acknowledged = lives(&mut disk, 5, 3_000, &|_, _| false);
    let mut workload = document();
    workload["test"] = json!("recovery");
    let read = MailstoreWorkload::from_json(&workload, "t").unwrap();
    let plan = read.resolve(TargetShape { size_bytes: SIZE, block_bytes: 512 }, 1, &[]).unwrap();
    disk.run(&mut Recovery::new(&plan.databases[0], None), 60, &|_, _| false);
    let found = recovered(&mut disk, acknowledged);
    assert!(is_clean(&found) && found["pages_redone"].as_u64().unwrap() > 0, "{found}");
}

#[test]
fn a_later_life_is_recovered_and_not_the_one_before() {
    let mut disk = Disk::new(4);
    let first = lives(&mut disk, 5, 4_000, &|_, _| false);
    let second = lives(&mut disk, 6, 400, &|_, _| false);
    assert!(second < first);
    let found = recovered(&mut disk, second);
    assert!(is_clean(&found), "{found}");
    assert!(found["commits_found"].as_u64().unwrap() < first, "{found}");
}

/// Storage that acknowledges a write of the log and forgets it.
#[test]
fn a_forgotten_block_of_the_log_is_a_lost_commit() {
    let mut disk = Disk::new(1);
    // Not the first requests, which are the checkpoint; one of the last.
    let acknowledged =
        lives(&mut disk, 5, 3_000, &|asked, number| asked.lane == LOG && asked.len > 512 && number == 2_967);
    let honest = lives(&mut Disk::new(1), 5, 3_000, &|_, _| false);
    assert_eq!(acknowledged, honest, "the store does not notice");
    let last = (2_900..3_000).find(|at| {
        let mut disk = Disk::new(1);
        let acknowledged = lives(&mut disk, 5, 3_000, &|asked, number| asked.lane == LOG && number == *at);
        recovered(&mut disk, acknowledged)["commits_lost"].as_u64().unwrap() > 0
    });
    assert!(last.is_some());
}

/// Storage that acknowledges writes of pages and forgets them: what the checkpoint took for saved is older.
#[test]
fn a_forgotten_write_of_a_page_is_a_lost_page() {
    let mut disk = Disk::new(2);
    let acknowledged =
        lives(&mut disk, 5, 6_000, &|asked, number| asked.lane == WRITES && (4_000..5_000).contains(&number));
    let found = recovered(&mut disk, acknowledged);
    assert!(found["pages_lost"].as_u64().unwrap() > 0 && found["commits_lost"] == 0, "{found}");
    assert!(found["example"].as_str().unwrap().contains("was saved"), "{found}");
}

#[test]
fn half_a_page_is_a_damaged_page() {
    let mut disk = Disk::new(6);
    let acknowledged = lives(&mut disk, 5, 3_000, &|_, _| false);
    let before = disk.bytes.clone();
    let found = recovered(&mut disk, acknowledged);
    // The first sectors of what recovery wrote, with the rest of before.
    let mut wrote =
        (0..disk.bytes.len()).step_by(4096).filter(|at| disk.bytes[*at..at + 4096] != before[*at..at + 4096]);
    let place = wrote.next_back().unwrap();
    assert!(found["pages_redone"].as_u64().unwrap() > 0);
    let mut torn = Disk { bytes: before, seed: 6 };
    torn.bytes[place..place + 1024].copy_from_slice(&disk.bytes[place..place + 1024]);
    let found = recovered(&mut torn, acknowledged);
    assert_eq!(found["pages_damaged"], 1, "{found}");
    assert!(found["example"].as_str().unwrap().contains(&format!("at byte {place} ")), "{found}");
}

#[test]
fn a_place_without_a_store_and_one_of_other_sizes_are_told() {
    let found = recovered(&mut Disk::new(0), 0);
    assert_eq!(found["failure"], "no mail store was run here, or its checkpoint is gone");
    let mut disk = Disk::new(0);
    let _ = lives(&mut disk, 5, 500, &|_, _| false);
    let mut other = document();
    (other["test"], other["page_size"]) = (json!("recovery"), json!("8KiB"));
    let said = recovered_as(&mut disk, 0, &other)["failure"].as_str().unwrap().to_owned();
    assert!(
        said.starts_with(
            "the store has pages of 4096 bytes and 8 log files of 131072, and this workload has pages of 8192"
        ),
        "{said}"
    );
}
