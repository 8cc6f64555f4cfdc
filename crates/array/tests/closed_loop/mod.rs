//! A closed loop around one device: so many commands at a time, each followed by another as soon as it ends.
#![allow(dead_code, reason = "every test file uses some of it")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_array::{Command, Device, INTERNAL};
use plimsoll_workload::rng::Draws;

/// What a command asks for.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    pub write: bool,
    pub lba: u64,
    pub sectors: u32,
}

/// One command of the host that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    pub handle: u32,
    pub arrived_ns: u64,
    pub ended_ns: u64,
}

impl Ended {
    pub fn response_ns(self) -> u64 {
        self.ended_ns - self.arrived_ns
    }
}

/// Carries out `count` commands, `depth` at a time; they are listed in the order in which they end. Every command ends
/// once and not before it arrives, and nothing is left at the end.
pub fn run(device: &mut Device, depth: u32, count: u32, mut want: impl FnMut(u32) -> Want) -> Vec<Ended> {
    let (mut calendar, mut started) = (BinaryHeap::new(), Vec::new());
    let (mut arrivals, mut ended) = (vec![u64::MAX; count as usize], Vec::new());
    let mut next = 0;
    let mut offer = |device: &mut Device, arrivals: &mut [u64], now_ns: u64| {
        if next < count {
            let Want { write, lba, sectors } = want(next);
            device.offer(Command { handle: next, write, lba, sectors }, now_ns);
            arrivals[next as usize] = now_ns;
            next += 1;
        }
    };
    (0..depth).for_each(|_| offer(device, &mut arrivals, 0));
    device.start(0, &mut started);
    let mut sequence = 0_u64;
    loop {
        for (handle, ends_ns) in started.drain(..) {
            sequence += 1;
            calendar.push(Reverse((ends_ns, sequence, handle)));
        }
        let Some(Reverse((now_ns, _, handle))) = calendar.pop() else { break };
        device.finish(handle, now_ns);
        if handle != INTERNAL {
            let arrived_ns = std::mem::replace(&mut arrivals[handle as usize], u64::MAX);
            assert!(arrived_ns <= now_ns, "command {handle} ends once, and after it has arrived");
            ended.push(Ended { handle, arrived_ns, ended_ns: now_ns });
            offer(device, &mut arrivals, now_ns);
        }
        device.start(now_ns, &mut started);
    }
    assert_eq!(ended.len(), count as usize, "every command ends");
    assert_eq!((device.queued(), device.outstanding()), (0, 0));
    ended
}

/// Random reads of a size, aligned to it, over a part of the device.
pub fn random_reads(seed: u64, span_sectors: u64, sectors: u32) -> impl FnMut(u32) -> Want {
    random(seed, span_sectors, sectors, 0)
}

/// The same with some writes.
pub fn random(seed: u64, span_sectors: u64, sectors: u32, write_percent: u64) -> impl FnMut(u32) -> Want {
    let (places, kinds) = (Draws::new(seed, &[0]), Draws::new(seed, &[1]));
    let blocks = span_sectors / u64::from(sectors);
    move |index| {
        let block = ((u128::from(places.at(u64::from(index))) * u128::from(blocks)) >> 64) as u64;
        let write = kinds.at(u64::from(index)) % 100 < write_percent;
        Want { write, lba: block * u64::from(sectors), sectors }
    }
}

/// One command after another from an address on.
pub fn sequential(from: u64, sectors: u32, write: bool) -> impl FnMut(u32) -> Want {
    move |index| Want { write, lba: from + u64::from(index) * u64::from(sectors), sectors }
}

pub fn mean_ns(ended: &[Ended]) -> f64 {
    ended.iter().map(|one| one.response_ns() as f64).sum::<f64>() / ended.len() as f64
}

/// Throughput between the first end and the last, without what it takes to begin.
pub fn steady_per_s(ended: &[Ended]) -> f64 {
    let [first, .., last] = ended else { unreachable!("at least two have ended") };
    (ended.len() - 1) as f64 / (last.ended_ns - first.ended_ns) as f64 * 1e9
}

pub fn per_s(ended: &[Ended]) -> f64 {
    ended.len() as f64 / ended.last().expect("something ended").ended_ns as f64 * 1e9
}
