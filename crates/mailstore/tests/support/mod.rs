//! A target for stores in virtual time: every request takes so long, as many at once as there are.

#![allow(dead_code, clippy::unwrap_used)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_mailstore::{Counts, MailstoreWorkload, Store, Times};
use plimsoll_workload::director::{Answer, Asked, Director};
use plimsoll_workload::{Op, TargetShape};
use serde_json::Value;

/// What was asked of the target, in order.
pub struct Ran {
    pub counts: Counts,
    pub asked: Vec<(u64, Asked)>,
    pub report: Value,
}

impl Ran {
    /// Requests of a lane, by its number.
    pub fn on(&self, lane: u32) -> impl Iterator<Item = &Asked> {
        self.asked.iter().map(|(_, asked)| asked).filter(move |asked| asked.lane == lane)
    }
}

pub fn store(document: &Value, size_bytes: u64, measured_ns: u64) -> Store {
    let workload = MailstoreWorkload::from_json(document, "test.toml").unwrap();
    let plan = workload.resolve(TargetShape { size_bytes, block_bytes: 512 }, 1, &[]).unwrap();
    Store::new(&plan.databases[0], Times { measured_ns: 0..measured_ns, modelled: true })
}

/// Runs a store for some time; `service_ns` says how long a request takes.
pub fn run(document: &Value, size_bytes: u64, end_ns: u64, service_ns: impl Fn(&Asked) -> u64) -> Ran {
    let mut store = store(document, size_bytes, end_ns);
    let (mut heap, mut all, mut asks, mut now_ns, mut number) = (BinaryHeap::new(), Vec::new(), Vec::new(), 0, 0_u64);
    let mut flying = [0_u32; 5];
    store.begin(0, &mut asks);
    loop {
        for asked in asks.drain(..) {
            flying[asked.lane as usize] += 1;
            assert!(asked.len > 0 && asked.len % 512 == 0 && asked.offset % 512 == 0, "{asked:?}");
            assert!(asked.offset + u64::from(asked.len) <= size_bytes, "{asked:?}");
            heap.push(Reverse((now_ns + service_ns(&asked), number, asked.token, asked.lane)));
            all.push((now_ns, asked));
            number += 1;
        }
        let answered_ns = heap.peek().map_or(u64::MAX, |Reverse((at_ns, ..))| *at_ns);
        let next_ns = answered_ns.min(store.due_ns());
        if next_ns >= end_ns {
            break;
        }
        now_ns = next_ns;
        if answered_ns <= next_ns {
            let Some(Reverse((_, _, token, lane))) = heap.pop() else { break };
            flying[lane as usize] -= 1;
            store.answered(Answer { token, now_ns, failed: false, bytes: None }, &mut asks);
        } else {
            store.wake(now_ns, &mut asks);
        }
    }
    // The instant of the end is seen, so that nothing after it counts.
    store.wake(end_ns, &mut Vec::new());
    Ran { counts: store.counts(), asked: all, report: store.report() }
}

/// Page reads take 8 ms, writes and log blocks 0.2 ms, as on disks behind a write cache.
pub fn disks(asked: &Asked) -> u64 {
    if asked.op == Op::Read { 8_000_000 } else { 200_000 }
}
