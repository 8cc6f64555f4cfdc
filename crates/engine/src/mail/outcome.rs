//! The outcome of a run of mail users as the JSON that is stored: the shape of block requests' outcome
//! ([`crate::record::outcome`]), and what became of the letters.

use plimsoll_workload::mail::MailTask;
use serde_json::{Map, Value, json};

use super::report::TaskError;
use super::run::MailOutcome;
use crate::errno::errno_name;
use crate::histogram::{self, Histogram};
use crate::record;

/// What is known of a run when it is over; `asked` is the backend that was asked for.
pub fn outcome(outcome: &MailOutcome, asked: &'static str) -> Value {
    let report = &outcome.report;
    json!({
        "backend": { "asked": asked, "used": "mail", "fallback_reason": null },
        "engine": {
            "workers": outcome.threads,
            "virtual_time": false,
            "facts": {},
            "clock": { "source": outcome.clock.0.name(), "drift_ppm": outcome.clock.1 },
            "iou_wrk_threads": null,
            "unissued": report.unissued,
        },
        "silence": outcome.silence.map(record::silence),
        "start": { "monotonic_ns": outcome.start_ns.0, "wall_ns": outcome.start_ns.1, "began_ns": outcome.began_ns },
        "end_ns": outcome.end_ns,
        "first_io_ns": outcome.first_done_ns,
        "stopped_by": outcome.stopped_by.name(),
        "first_error": report.first_error.as_ref().map(first_error),
        "cpu_ns": { "user": outcome.cpu_ns.0, "system": outcome.cpu_ns.1 },
        "verify": null,
        "offered_per_s": outcome.offered_per_s,
        "parts": [],
        "mail": {
            "users": outcome.users,
            "letters": report.letters,
            "deliveries": report.deliveries,
            "refused_recipients": report.refused_recipients,
            "skipped": skipped(outcome),
            "handover_ms": times_ms(&report.handovers),
            // For who adds hosts up; percentiles have no sum.
            "handovers": outcome.shared.then(|| histogram::encode(&report.handovers)),
        },
    })
}

/// Mean and percentiles of times in milliseconds; null without any.
fn times_ms(times: &Histogram) -> Value {
    if times.is_empty() {
        return Value::Null;
    }
    let at = |quantile: f64| times.value_at_quantile(quantile) as f64 / 1e6;
    json!({ "count": times.len(), "mean": times.mean() / 1e6, "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": at(1.0) })
}

fn first_error(error: &TaskError) -> Value {
    let message = format!("{} of user {}: {}", error.task.name(), error.user, error.failure.sentence);
    json!({ "op": error.task.name(), "offset": null, "errno": errno_name(error.failure.code), "message": message })
}

/// By stream, the tasks for which there was no message.
fn skipped(outcome: &MailOutcome) -> Value {
    let by_task = |counts: &[u64; MailTask::COUNT]| -> Map<String, Value> {
        let some = MailTask::ALL.into_iter().filter(|task| counts[*task as usize] > 0);
        some.map(|task| (task.name().to_owned(), counts[task as usize].into())).collect()
    };
    let streams = outcome.plan.streams.iter().zip(&outcome.skipped);
    Value::Object(streams.map(|(stream, counts)| (stream.name.clone(), by_task(counts).into())).collect())
}
