//! How fast arrays are modelled: disk commands per second of one core, through the whole engine with statistics on.
//!
//! Two loads with goals: ten disks in RAID 0 at queue depth 64 with SPTF (5 M/s), and 48 disks in four RAID 5 behind a
//! cache of 1 GB, 70 % reads (3 M/s). Time is the processor time of the worker.
//!
//! ```text
//! cargo run --release --example array_speed
//! ```

use plimsoll_engine::safety::Permission;
use plimsoll_engine::{Control, EngineError, Interval, Job, Sink, run};
use plimsoll_workload::{JobOptions, Workload};
use serde_json::{Value, json};

#[path = "../../array/tests/speed_goals/mod.rs"]
mod speed_goals;

struct Nowhere;

impl Sink for Nowhere {
    fn interval(&mut self, _: &Interval) {}
}

/// Prints commands and requests per second of processor time.
fn measure(name: &str, array: &Value, stream: &Value, seconds: u64) -> Result<(), Box<dyn std::error::Error>> {
    let workload = Workload::from_json(&json!({ "name": "speed", "stream": [stream] }), "speed")?;
    let options = JobOptions::from_json(&json!({ "duration": format!("{seconds}s"), "warmup": "5s" }), "speed")?;
    let target = format!("array:{array}").parse()?;
    let job = Job { workload, mailstore: None, options, target, permission: Permission::default() };
    let outcome = run(&job, &mut Nowhere, &Control::default()).map_err(|error: EngineError| error.to_string())?;
    let disks = outcome.components.iter().filter(|found| found.component.kind == "disk");
    let commands: u64 = disks.map(|found| found.operations).sum();
    let host = outcome.components.iter().find(|found| found.component.kind == "host");
    let requests = host.map_or(0, |found| found.operations);
    // The processor time covers the warm-up, too.
    let share = seconds as f64 / (seconds as f64 + 5.0);
    let cpu_ns = (outcome.cpu_ns.0 + outcome.cpu_ns.1) as f64 * share;
    println!(
        "{name}: {:.2} M commands/s, {:.2} M requests/s, {:.0} ns per command, {commands} commands",
        commands as f64 / cpu_ns * 1e3,
        requests as f64 / cpu_ns * 1e3,
        cpu_ns / commands as f64,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `raid0` or `raid5` measures only one of both.
    let wanted = std::env::args().nth(1);
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    let reads = json!({ "name": "r", "block_size": "8k", "queue_depth": 64 });
    if is_wanted("raid0") {
        measure("10-disk RAID 0, queue depth 64, reads", &speed_goals::raid0(), &reads, 600)?;
    }
    let mixed = json!({ "name": "m", "block_size": "8k", "queue_depth": 256, "read_percent": 70 });
    if is_wanted("raid5") {
        measure("48-disk RAID 5 with cache, 70/30", &speed_goals::raid5(), &mixed, 200)?;
    }
    Ok(())
}
