//! What one I/O costs Plimsoll itself: `null` (no I/O at all) and `nop` (an empty trip through io_uring).
//!
//! The figures bound what can be measured: a device that answers in less than ten times the cost of the loop is measured
//! together with the loop.

use std::time::Instant;

use plimsoll_workload::{JobOptions, Workload};
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::collector::Interval;
use crate::control::Control;
use crate::error::EngineError;
use crate::histogram;
use crate::job::Job;
use crate::run::run;
use crate::safety::Permission;
use crate::sink::Sink;
use crate::timeline::Phase;

/// Counts what was measured.
#[derive(Default)]
struct Count {
    requests: u64,
}

impl Sink for Count {
    fn interval(&mut self, interval: &Interval) {
        if interval.phase == Phase::Measure {
            self.requests += interval.slice.cells.iter().flatten().map(crate::recorder::Cell::count).sum::<u64>();
        }
    }
}

/// Measures for about `seconds` in all. Costs are nanoseconds of one core per I/O.
///
/// # Errors
/// When a backend cannot be had at all; without io_uring `nop` is null.
pub fn calibrate(seconds: f64) -> Result<Value, EngineError> {
    let share = (seconds / 4.0).max(0.01);
    let null_1 = point("null", 1, share)?;
    let null_32 = point("null", 32, share)?;
    let nop = match crate::uring::probe() {
        Ok(_) => {
            json!({ "qd1": point("nop", 1, share / 2.0)?, "qd32": point("nop", 32, share)?, "qd128": point("nop", 128, share / 2.0)? })
        }
        Err(_) => Value::Null,
    };
    let best =
        |points: &[&Value]| points.iter().filter_map(|point| point["iops_per_core"].as_f64()).fold(0.0, f64::max);
    let null_best = best(&[&null_1, &null_32]);
    Ok(json!({
        "null": { "iops_per_core": null_best, "ns_per_io": 1e9 / null_best, "qd1": null_1, "qd32": null_32 },
        "nop": if nop.is_null() { Value::Null } else {
            let nop_best = best(&[&nop["qd32"], &nop["qd128"]]);
            json!({ "iops_per_core": nop_best, "ns_per_io": 1e9 / nop_best, "qd1": nop["qd1"], "qd32": nop["qd32"], "qd128": nop["qd128"] })
        },
        "parts": parts(),
        "seconds": seconds,
    }))
}

/// One backend at one depth on one worker.
fn point(backend: &str, depth: u32, seconds: f64) -> Result<Value, EngineError> {
    let stream =
        json!({ "stream": [{ "name": "cost", "block_size": "4KiB", "read_percent": 100, "queue_depth": depth }] });
    let options = json!({ "backend": backend, "duration": seconds, "warmup": seconds / 10.0, "workers": 1 });
    let target = "null:".parse().map_err(crate::target::TargetError::from)?;
    let workload = Workload::from_json(&stream, "calibrate")?;
    let options = JobOptions::from_json(&options, "calibrate")?;
    let job = Job { workload, mailstore: None, options, target, permission: Permission::default() };
    let mut count = Count::default();
    let outcome = run(&job, &mut count, &Control::default())?;
    // Processor time covers the warm-up, so the count is scaled to it.
    let counted = count.requests as f64
        * (outcome.window_ns.end as f64 / (outcome.window_ns.end - outcome.window_ns.start) as f64);
    let (user_ns, system_ns) = (outcome.cpu_ns.0 as f64, outcome.cpu_ns.1 as f64);
    Ok(json!({
        "iops_per_core": counted / (user_ns + system_ns).max(1.0) * 1e9,
        "user_ns": user_ns / counted.max(1.0),
        "system_ns": system_ns / counted.max(1.0),
    }))
}

/// What the parts of the loop cost on their own, in nanoseconds.
fn parts() -> Value {
    const TURNS: u32 = 1_000_000;
    let clock = Clock::calibrated();
    let per_turn = |started: Instant| started.elapsed().as_nanos() as f64 / f64::from(TURNS);
    let started = Instant::now();
    let mut sum = 0u64;
    (0..TURNS).for_each(|_| sum = sum.wrapping_add(std::hint::black_box(clock.now())));
    let stamp_ns = per_turn(started);
    let mut log = histogram::empty();
    let started = Instant::now();
    (0..u64::from(TURNS)).for_each(|turn| log.saturating_record(std::hint::black_box(turn & 0xffff)));
    let histogram_ns = per_turn(started);
    std::hint::black_box((sum, log.len()));
    json!({ "stamp_ns": stamp_ns, "histogram_ns": histogram_ns })
}
