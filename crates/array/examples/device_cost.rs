//! What one I/O of a modelled device costs the model: `cargo run --release -p plimsoll-array --example device_cost`.
//!
//! Each line is the best of many short rounds, so that a busy machine disturbs it little. Included are the draw of an
//! address, the calendar (a scan over the devices for the next end) and a closed loop; no statistics.

use std::hint::black_box;
use std::time::Instant;

use plimsoll_array::disk::{DiskSpec, Policy, QueueSpec};
use plimsoll_array::flash::{FlashSpec, Translation};
use plimsoll_array::{Command, Device, DeviceModel, DeviceSpec};
use plimsoll_workload::rng::Draws;

#[path = "../tests/drives/mod.rs"]
mod drives;

const ROUNDS: u32 = 100;

fn main() {
    println!("one disk, random reads of 8 KiB, 16 segments, read-ahead");
    for (policy, window, depth) in [
        (Policy::Sptf, 64, 1),
        (Policy::Sptf, 64, 4),
        (Policy::Sptf, 64, 16),
        (Policy::Sptf, 64, 32),
        (Policy::Sptf, 64, 64),
        (Policy::Sptf, 16, 256),
        (Policy::CLook, 64, 32),
        (Policy::Fcfs, 1, 32),
    ] {
        let what = format!("{policy:?}, window {window}, queue depth {depth}");
        measure(&what, &disk(policy, window, true), 1, depth, 0);
    }
    measure("Sptf, window 64, queue depth 32, no buffer", &disk(Policy::Sptf, 64, false), 1, 32, 0);
    measure("Sptf, window 64, queue depth 32, 30 % writes", &disk(Policy::Sptf, 64, true), 1, 32, 30);
    println!("RAID 0, a disk drawn per I/O");
    measure("10 disks, queue depth 64", &disk(Policy::Sptf, 16, true), 10, 64, 0);
    measure("10 disks, queue depth 256", &disk(Policy::Sptf, 16, true), 10, 256, 0);
    measure("48 disks, queue depth 256", &disk(Policy::Sptf, 16, true), 48, 256, 0);
    println!("one flash drive, 4 KiB, queue depth 32");
    measure("page map, reads", &flash(drives::flash().translation), 1, 32, 0);
    measure("page map, 30 % writes", &flash(drives::flash().translation), 1, 32, 30);
    measure("page map, writes", &flash(drives::flash().translation), 1, 32, 100);
    let analytic = Translation::analytic(None);
    measure("analytic, reads", &flash(analytic), 1, 32, 0);
    measure("analytic, 30 % writes", &flash(analytic), 1, 32, 30);
}

fn disk(policy: Policy, window: u32, buffer: bool) -> DeviceSpec {
    let spec = drives::savvio_10k1();
    let buffer = if buffer { spec.buffer.clone() } else { drives::no_buffer() };
    DeviceSpec::Disk(DiskSpec {
        queue: QueueSpec { policy, window, age_limit_ms: 500, write_window: None },
        buffer,
        ..spec
    })
}

fn flash(translation: Translation) -> DeviceSpec {
    DeviceSpec::Flash(FlashSpec { translation, ..drives::flash() })
}

/// Prints the least time of one I/O in nanoseconds, and how many that are in a second.
fn measure(what: &str, spec: &DeviceSpec, devices: u32, depth: u32, write_percent: u64) {
    let model = DeviceModel::new(spec).expect("the specification is right");
    let sectors = match spec {
        DeviceSpec::Disk(_) => 16,
        DeviceSpec::Flash(_) => 8,
    };
    let mut load = Load::new(&model, devices, depth, sectors, write_percent);
    load.run(200_000);
    let count = 40_000;
    let round = |_| {
        let begin = Instant::now();
        black_box(load.run(count));
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(count)
    };
    let best = (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min);
    println!("  {what:<44} {best:>8.1} ns {:>8.2} M/s", 1e3 / best);
}

struct Load {
    devices: Vec<Device>,
    /// Ends of each device's commands, of which a disk has few.
    ends: Vec<Vec<(u64, u32)>>,
    draws: Draws,
    index: u64,
    blocks: u64,
    sectors: u32,
    write_percent: u64,
    started: Vec<(u32, u64)>,
}

impl Load {
    fn new(model: &DeviceModel, devices: u32, depth: u32, sectors: u32, write_percent: u64) -> Self {
        let devices: Vec<Device> = (0..devices).map(|number| model.device(7, number)).collect();
        let mut load = Self {
            ends: vec![Vec::new(); devices.len()],
            blocks: devices[0].sectors() / u64::from(sectors),
            devices,
            draws: Draws::new(7, &[1]),
            index: 0,
            sectors,
            write_percent,
            started: Vec::new(),
        };
        (0..depth).for_each(|handle| load.offer(handle, 0));
        load
    }

    fn offer(&mut self, handle: u32, now_ns: u64) {
        self.index += 1;
        let (low, high) = (self.draws.at(self.index) as u32, self.draws.at(self.index) >> 32);
        let lba = ((u64::from(low) * self.blocks) >> 32) * u64::from(self.sectors);
        let number = (((high & 0xffff) * self.devices.len() as u64) >> 16) as usize;
        let write = ((high >> 16) * 100) >> 16 < self.write_percent;
        self.devices[number].offer(Command { handle, write, lba, sectors: self.sectors }, now_ns);
        self.start(number, now_ns);
    }

    fn start(&mut self, number: usize, now_ns: u64) {
        self.devices[number].start(now_ns, &mut self.started);
        let ends = &mut self.ends[number];
        self.started.drain(..).for_each(|(handle, end_ns)| ends.push((end_ns, handle)));
    }

    fn run(&mut self, count: u32) -> u64 {
        let mut now_ns = 0;
        for _ in 0..count {
            let mut next = (u64::MAX, 0, 0);
            for (number, ends) in self.ends.iter().enumerate() {
                for (place, &(end_ns, _)) in ends.iter().enumerate() {
                    if end_ns < next.0 {
                        next = (end_ns, number, place);
                    }
                }
            }
            let (end_ns, number, place) = next;
            now_ns = end_ns;
            let (_, handle) = self.ends[number].swap_remove(place);
            self.devices[number].finish(handle, now_ns);
            self.start(number, now_ns);
            self.offer(handle, now_ns);
        }
        now_ns
    }
}
