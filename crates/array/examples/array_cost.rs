//! What a command of a whole modelled array costs the model, without the engine around it.
//!
//! The arrays are those of `array_speed` of the engine; beside it, this shows what the engine adds. Each line is the best
//! of several rounds, so that a busy machine disturbs it little; the last column tells two builds of one model from two models.
//!
//! ```text
//! cargo run --release -p plimsoll-array --example array_cost
//! ```

use std::time::Instant;

use plimsoll_array::{Array, ArraySpec, Completion, Request};
use plimsoll_workload::Op;
use plimsoll_workload::rng::Draws;

#[path = "../tests/speed_goals/mod.rs"]
mod speed_goals;

fn main() {
    let rounds: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200);
    let wanted = std::env::args().nth(2);
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    if is_wanted("raid0") {
        measure("10-disk RAID 0, queue depth 64, reads", &speed_goals::raid0(), (64, 100), rounds);
    }
    if is_wanted("raid5") {
        measure("48-disk RAID 5 with cache, 70/30", &speed_goals::raid5(), (256, 70), rounds);
    }
}

fn measure(what: &str, document: &serde_json::Value, (depth, read_percent): (u32, u64), rounds: u32) {
    let spec = ArraySpec::read(document).expect("the document is right").spec;
    let mut load = Load::new(Array::new(&spec, 1).expect("the array is right"), depth, read_percent);
    load.run(400_000);
    let round = |_| {
        let (before, begin) = (load.commands(), Instant::now());
        load.run(10_000);
        begin.elapsed().as_secs_f64() * 1e9 / (load.commands() - before) as f64
    };
    let best_ns = (0..rounds).map(round).fold(f64::INFINITY, f64::min);
    println!("{what}: {best_ns:.1} ns per command, {:.2} M/s, print {:016x}", 1e3 / best_ns, load.print);
}

/// A closed loop of 8 KiB at random.
struct Load {
    array: Array,
    draws: Draws,
    number: u64,
    blocks: u64,
    read_percent: u64,
    done: Vec<Completion>,
    print: u64,
}

impl Load {
    fn new(array: Array, depth: u32, read_percent: u64) -> Self {
        let blocks = array.sectors() / 16;
        let mut load =
            Self { array, draws: Draws::new(7, &[1]), number: 0, blocks, read_percent, done: Vec::new(), print: 0 };
        (0..depth).for_each(|token| load.issue(token));
        load
    }

    fn issue(&mut self, token: u32) {
        let place = self.draws.at(self.number * 2);
        let lba = ((u128::from(place) * u128::from(self.blocks)) >> 64) as u64 * 16;
        let reads = self.draws.at(self.number * 2 + 1) % 100 < self.read_percent;
        self.number += 1;
        let now_ns = self.array.now_ns();
        self.array.submit(now_ns, token, Request { op: if reads { Op::Read } else { Op::Write }, lba, sectors: 16 });
    }

    fn run(&mut self, count: u64) {
        let end = self.number + count;
        let mut done = std::mem::take(&mut self.done);
        while self.number < end {
            done.clear();
            self.array.run_until(u64::MAX, &mut done);
            for finished in &done {
                self.print = (self.print ^ finished.completed_ns).wrapping_mul(0x0000_0100_0000_01b3);
                self.issue(finished.token);
            }
        }
        self.done = done;
    }

    fn commands(&self) -> u64 {
        let disks = self.array.components().into_iter().zip(self.array.readings());
        disks.filter(|(component, _)| component.kind == "disk").map(|(_, reading)| reading.account.operations).sum()
    }
}
