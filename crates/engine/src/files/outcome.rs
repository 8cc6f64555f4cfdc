//! The outcome of a run of file operations as the JSON that is stored: the shape of block requests' outcome
//! ([`crate::record::outcome`]), and what is known of the trees.

use plimsoll_workload::files::FileOp;
use serde_json::{Map, Value, json};

use super::actor::FirstError;
use super::run::FileOutcome;
use crate::errno::errno_name;
use crate::record;
use crate::recorder::SHORT;

/// What is known of a run when it is over; `asked` is the backend that was asked for.
pub fn outcome(outcome: &FileOutcome, asked: &'static str) -> Value {
    json!({
        "backend": { "asked": asked, "used": "files", "fallback_reason": null },
        "engine": {
            "workers": outcome.threads,
            "virtual_time": false,
            "facts": {},
            "clock": { "source": outcome.clock.0.name(), "drift_ppm": outcome.clock.1 },
            "iou_wrk_threads": null,
            "unissued": outcome.unissued,
        },
        "silence": outcome.silence.map(record::silence),
        "start": { "monotonic_ns": outcome.start_ns.0, "wall_ns": outcome.start_ns.1, "began_ns": outcome.began_ns },
        "end_ns": outcome.end_ns,
        "first_io_ns": outcome.first_done_ns,
        "stopped_by": outcome.stopped_by.name(),
        "first_error": outcome.first_error.as_ref().map(first_error),
        "cpu_ns": { "user": outcome.cpu_ns.0, "system": outcome.cpu_ns.1 },
        "verify": null,
        "offered_per_s": offered(outcome),
        "parts": [],
        "files": {
            "ran_out": outcome.ran_out,
            "skipped": skipped(outcome),
            "left": left(outcome),
        },
    })
}

fn first_error(error: &FirstError) -> Value {
    let what = match error.errno {
        SHORT => "transferred less than was asked for; did somebody else change the file?".to_owned(),
        errno => {
            let text = std::io::Error::from_raw_os_error(errno);
            format!("failed with {} ({text}){}", errno_name(errno), advice(error.op, errno))
        }
    };
    let message = format!("{} of {} in tree {} {what}", error.op.name(), error.path, error.tree);
    json!({ "op": error.op.name(), "offset": null, "errno": errno_name(error.errno), "message": message })
}

/// What became of a tree that somebody else has changed during a run.
fn advice(op: FileOp, errno: i32) -> &'static str {
    match errno {
        libc::ELOOP => "; a symbolic link stands there now, and Plimsoll does not follow links in a tree",
        libc::EMLINK => {
            "; the file has another name outside the tree, and what is written to it would be written there, too; \
             repeat the command: the file is made anew before it begins"
        }
        libc::EXDEV if !matches!(op, FileOp::Move | FileOp::Deliver) => {
            "; something is mounted there now, and Plimsoll stays out of it"
        }
        libc::EEXIST => "; somebody else has put something there, which Plimsoll does not replace",
        _ => "",
    }
}

/// Offered operations per second of all open streams together; null when there is none.
fn offered(outcome: &FileOutcome) -> Value {
    let window = outcome.window_ns.clone();
    let rates: Vec<f64> =
        outcome.plan.streams.iter().filter_map(|plan| plan.arrival.offered_per_s(window.clone())).collect();
    if rates.is_empty() { Value::Null } else { rates.iter().sum::<f64>().into() }
}

/// By stream, the operations that were drawn and could not be done to anything.
fn skipped(outcome: &FileOutcome) -> Value {
    let by_op = |counts: &[u64; FileOp::COUNT]| -> Map<String, Value> {
        let some = FileOp::ALL.into_iter().filter(|op| counts[*op as usize] > 0);
        some.map(|op| (op.name().to_owned(), counts[op as usize].into())).collect()
    };
    let streams = outcome.plan.streams.iter().zip(&outcome.skipped);
    let some = streams.filter(|(_, counts)| counts.iter().any(|count| *count > 0));
    Value::Object(some.map(|(stream, counts)| (stream.name.clone(), by_op(counts).into())).collect())
}

/// By tree, the files and directories that exist at the end, the anchor left out.
fn left(outcome: &FileOutcome) -> Value {
    let trees = outcome.plan.trees.iter().zip(&outcome.left);
    let entry = |files: u64, directories: u64| json!({ "files": files, "directories": directories - 1 });
    Value::Object(trees.map(|(tree, (files, directories))| (tree.name.clone(), entry(*files, *directories))).collect())
}
