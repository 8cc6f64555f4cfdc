//! What one I/O costs the worker loop, without Python around it: for counting instructions and for quick comparisons.
//!
//! ```text
//! cargo run --release --example loop_cost -- null: auto 32 1 1s
//! valgrind --tool=callgrind --separate-threads=yes target/release/examples/loop_cost null: auto 32 1 1s
//! ```
//!
//! Further words are options of the stream, as in `read_percent=70`. `dev/instructions.py` holds the instructions against those of before.

use plimsoll_engine::safety::Permission;
use plimsoll_engine::{Control, EngineError, Interval, Job, Sink, run};
use plimsoll_workload::{JobOptions, Workload};
use serde_json::json;

/// Counts requests.
#[derive(Default)]
struct Count(u64);

impl Sink for Count {
    fn interval(&mut self, interval: &Interval) {
        self.0 += interval.slice.cells.iter().flatten().map(|cell| cell.count()).sum::<u64>();
    }
}

/// Target, backend, queue depth, threads, duration, options of the stream.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [target, backend, depth, threads, duration, more @ ..] = words.as_slice() else {
        return Err("give a target, a backend, a queue depth, a number of threads and a duration".into());
    };
    let (depth, threads): (u32, u32) = (depth.parse()?, threads.parse()?);
    let mut stream = json!({ "name": "reads", "block_size": "4k", "queue_depth": depth, "threads": threads });
    for (key, value) in more.iter().filter_map(|option| option.split_once('=')) {
        stream[key] = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    }
    let workload = Workload::from_json(&json!({ "name": "loop", "stream": [stream] }), "loop")?;
    let timing = json!({ "duration": duration, "warmup": "0s", "backend": backend });
    let options = JobOptions::from_json(&timing, "loop")?;
    let job = Job { workload, mailstore: None, options, target: target.parse()?, permission: Permission::default() };
    let mut count = Count::default();
    let outcome = run(&job, &mut count, &Control::default()).map_err(|error: EngineError| error.to_string())?;
    let per_io = |ns: u64| ns as f64 / count.0.max(1) as f64;
    let (user_ns, system_ns) = outcome.cpu_ns;
    println!("{} requests, {:.1} ns user, {:.1} ns system each", count.0, per_io(user_ns), per_io(system_ns));
    Ok(())
}
