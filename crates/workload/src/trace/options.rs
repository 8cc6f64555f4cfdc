//! What of a stream's options goes with a trace, and the access line that stands for it in a plan.

use super::file::TraceHeader;
use crate::error::WorkloadError;
use crate::option::Record;
use crate::plan::{AccessEntryPlan, SizePlan};
use crate::request::Op;
use crate::stream::{Arrival, ContentWord, StreamOptions, TraceMap};

/// Options that say what the trace says.
const DECIDED: [&str; 31] = [
    "read_percent",
    "write_percent",
    "trim_percent",
    "flush_percent",
    "access",
    "block_size",
    "read_block_size",
    "write_block_size",
    "trim_block_size",
    "random_percent",
    "distribution",
    "sequential",
    "direction",
    "stride",
    "threads",
    "think_time",
    "think_distribution",
    "verify",
    "zone_length",
    "zone_amount",
    "zone_skip",
    "run_length",
    "run_repeats",
    "trim_first",
    "share",
    "share_group",
    "pause",
    "pause_requests",
    "pause_interval",
    "refill_depth",
    "serialize_overlap",
];

fn refused(sentence: String) -> Result<(), WorkloadError> {
    Err(WorkloadError::impossible(sentence))
}

/// Refuses what a trace decides, and what only a trace could use.
pub(crate) fn a_trace_stands_alone(stream: &StreamOptions) -> Result<(), WorkloadError> {
    let untouched = StreamOptions::default();
    if stream.trace.is_none() {
        let shapes = [
            ("trace_speed", stream.trace_speed != untouched.trace_speed),
            ("trace_map", stream.trace_map != TraceMap::Refuse),
            ("trace_skip", !stream.trace_skip.is_empty()),
            ("arrival = \"trace\"", stream.arrival == Arrival::Trace),
        ];
        return match shapes.iter().find(|(_, given)| *given) {
            Some((key, _)) => refused(format!("{key} needs a trace; write for example trace = \"hm_0.csv\"")),
            None => Ok(()),
        };
    }
    let differs =
        |key: &&&str| stream.fields().iter().zip(untouched.fields()).any(|(is, was)| is.0 == **key && is.1 != was.1);
    if let Some(key) = DECIDED.iter().find(differs) {
        return refused(format!(
            "trace and {key} exclude each other, because the trace decides it; drop one of the two"
        ));
    }
    if !matches!(stream.arrival, Arrival::Closed | Arrival::Trace) {
        return refused(format!(
            "a trace has its own instants, and {} arrival others; set arrival to trace, or to closed for as fast as possible",
            stream.arrival.name()
        ));
    }
    if stream.trace_speed != untouched.trace_speed && stream.arrival == Arrival::Closed {
        return refused(
            "trace_speed has no effect with closed arrival; set arrival to trace, or drop trace_speed".to_owned(),
        );
    }
    if stream.content == Some(ContentWord::Stamps) {
        return refused(
            "stamps cannot follow a trace, whose writes overlap as they like; choose another content".to_owned(),
        );
    }
    skips(stream).map(drop)
}

/// The operations that `trace_skip` names, indexed by [`Op`].
pub(super) fn skips(stream: &StreamOptions) -> Result<[bool; 4], WorkloadError> {
    let mut found = [false; 4];
    for word in &stream.trace_skip {
        let Some(op) = Op::ALL.iter().find(|op| op.name() == word) else {
            return Err(WorkloadError::impossible(format!(
                "trace_skip: '{word}' is not an operation; write read, write, trim or flush"
            )));
        };
        found[*op as usize] = true;
    }
    Ok(found)
}

/// An access line that stands for the trace where a plan needs one: its mix, and the longest request.
pub(super) fn recorded_entry(header: &TraceHeader, skips: &[bool; 4], longest: u32, unit: u32) -> AccessEntryPlan {
    let counts = Op::ALL.map(|op| if skips[op as usize] { 0 } else { header.ops[op as usize] });
    let total = counts.iter().sum::<u64>().max(1) as f64;
    let [read, write, trim] = [(); 3].map(|()| SizePlan::Fixed(longest));
    AccessEntryPlan {
        weight: 1.0,
        op_percent: counts.map(|count| count as f64 * 100.0 / total),
        sizes: [read, write, trim, SizePlan::Fixed(0)],
        random_percent: 100.0,
        align: unit,
        burst: 1,
        delay_ns: 0,
    }
}
